"""The network in the straightforward form of PyTorch Geometric, the yardstick of benchmarks/engine.py.

    python benchmarks/pyg_form.py [--datasets MUTAG ENZYMES] [--repeats 6] [--threads 2]

One copy of the batch per sampled root with a one on the root's node, PyG's own layers on all copies at once, a histogram by
broadcasting nodes against bins, and scatter: what someone who knows PyG writes first. Nothing in it is slower than it needs
to be in that form: there is no loop over graphs or roots, and nothing is computed twice on purpose.

It computes what `phist.nn` computes with the default recipe: gaussian bins, densities in f_node and counts in f_graph, joint
statistics, standardised embeddings, for unweighted graphs without loops.
"""

import argparse
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.polynomial import chebyshev
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.data import Batch, Data
from torch_geometric.nn import ChebConv
from torch_geometric.utils import scatter

from phist.errors import ConfigError
from phist.graphs.datasets import load_dataset
from phist.graphs.graphset import GraphSet
from phist.nn.config import NetworkConfig
from phist.nn.network import StructuralNetwork
from phist.nn.normalization import RunningStandardizer
from phist.training.config import TrainingConfig
from phist.training.presets import APPENDIX, make_preset

LAMBDA_MAX = 2.0  # ChebConv then works with L - I
EPSILON = 1e-4  # of the whitening, as in phist.nn
COVERED = {
    "kernel": "gaussian",
    "learnable_bins": False,
    "aggregation": "histogram",
    "node_histogram": "density",
    "graph_histogram": "count",
    "statistics": "joint",
    "moments": "none",
    "standardize": True,
    "convolution": "chebyshev",
    "operator": "laplacian",
}


@dataclass(frozen=True)
class Copies:
    """A batch once per root, one copy after the other; copy r of a graph has its r-th root."""

    edge_index: Tensor  # (2, roots * arcs)
    graph_of: Tensor  # (roots * nodes): the graph in the batch
    copy_of: Tensor  # (roots * nodes): the copy of a graph, numbered roots first
    x: Tensor  # (roots * nodes, 1): one on the root, zero elsewhere


class PygLevel(nn.Module):
    """Convolutions with an ELU between any two, whitening, tanh, and a histogram for every channel."""

    def __init__(self, in_channels: int, config: NetworkConfig) -> None:
        super().__init__()
        widths = (in_channels, *config.channels)
        self.convolutions = nn.ModuleList(
            ChebConv(before, after, order, normalization="sym")
            for before, after, order in zip(widths, config.channels, config.orders, strict=False)
        )
        deviation = config.kernel_width * 2 / config.bins
        self.scale = 1 / (math.sqrt(2) * deviation)  # a bump is exp(-z²) in z = scale * (x - centre)
        centers = (2 * torch.arange(config.bins) + 1) / config.bins - 1
        self.register_buffer("scaled_centers", self.scale * centers, persistent=False)

    def forward(self, x: Tensor, edge_index: Tensor, graph_of: Tensor, copy_of: Tensor, n_graphs: int, n_copies: int) -> Tensor:
        """Counts (copies, channels * bins), whitened over all copies of a graph together."""
        for layer, convolution in enumerate(self.convolutions):
            x = convolution(F.elu(x) if layer else x, edge_index, lambda_max=LAMBDA_MAX)
        mean = scatter(x, graph_of, dim_size=n_graphs, reduce="mean")
        x = x - mean.index_select(0, graph_of)
        variance = scatter(x.square(), graph_of, dim_size=n_graphs, reduce="mean")
        x = torch.tanh(x * (variance + EPSILON).rsqrt().index_select(0, graph_of))
        z = (self.scale * x).unsqueeze(-1) - self.scaled_centers
        bumps = torch.exp(-z.square()).flatten(1)  # (nodes, channels * bins)
        return scatter(bumps, copy_of, dim_size=n_copies, reduce="sum")


class PygNetwork(nn.Module):
    """f_node on one copy of the batch per root, f_graph on the batch with the roots' embeddings, and a linear head."""

    def __init__(self, config: NetworkConfig, n_classes: int) -> None:
        super().__init__()
        for name, needed in COVERED.items():
            if getattr(config, name) != needed:
                raise ConfigError(f"{name}={getattr(config, name)!r} was given; the PyG form covers {name}={needed!r} only")
        self.config = config
        wide = config.channels[-1] * config.bins
        self.f_node = PygLevel(1, config)
        self.f_graph = PygLevel(wide, config)
        self.node_standardizer = RunningStandardizer(wide)
        self.graph_standardizer = RunningStandardizer(wide)
        self.head = nn.Linear(wide, n_classes)

    def forward(self, batch: Batch, roots: Tensor) -> Tensor:
        """Class scores of every graph, seen from ``roots`` (roots, graphs), nodes numbered through the batch."""
        copies = copy_per_root(batch, roots)
        sizes = batch.ptr.diff().repeat(len(roots))
        counts = self.f_node(
            copies.x, copies.edge_index, copies.graph_of, copies.copy_of, n_graphs=batch.num_graphs, n_copies=roots.numel()
        )
        embeddings = self.node_standardizer(counts / sizes.unsqueeze(1))  # (roots * graphs, m_node)
        signal = scatter(embeddings, roots.flatten(), dim_size=batch.num_nodes, reduce="sum")  # (nodes, m_node)
        counts = self.f_graph(
            signal, batch.edge_index, batch.batch, batch.batch, n_graphs=batch.num_graphs, n_copies=batch.num_graphs
        )
        return self.head(self.graph_standardizer(counts))  # (graphs, classes)


def copy_per_root(batch: Batch, roots: Tensor) -> Copies:
    """The batch as many times as there are ``roots`` (roots, graphs) of each graph."""
    n_nodes, n_roots = batch.num_nodes, len(roots)
    number = torch.arange(n_roots).unsqueeze(1)  # (roots, 1)
    x = torch.zeros(n_roots * n_nodes, 1)
    x[(roots + number * n_nodes).flatten()] = 1
    return Copies(
        edge_index=(batch.edge_index.unsqueeze(1) + number * n_nodes).flatten(1),
        graph_of=batch.batch.repeat(n_roots),
        copy_of=(batch.batch + number * batch.num_graphs).flatten(),
        x=x,
    )


def draw_roots(batch: Batch, count: int, generator: torch.Generator) -> Tensor:
    """``count`` nodes of every graph with replacement, (count, graphs)."""
    sizes = batch.ptr.diff()
    places = torch.rand(count, len(sizes), generator=generator, dtype=torch.float64)
    return batch.ptr[:-1] + (places * sizes).long()


def as_data_list(graphs: GraphSet, targets: Tensor) -> list[Data]:
    """Each graph as PyG keeps it."""
    arcs = [np.stack([np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr)), graph.indices]) for graph in graphs]
    return [
        Data(edge_index=torch.from_numpy(edge_index), y=target, num_nodes=graph.n_nodes)
        for edge_index, target, graph in zip(arcs, targets, graphs, strict=True)
    ]


def load_parameters(network: PygNetwork, reference: StructuralNetwork) -> None:
    """Make ``network`` the same function as ``reference``.

    ChebConv sums polynomials T_k of L - I, phist.nn of scale·(L - I); the spaces they span are the same, so the weights of
    one basis follow from those of the other.
    """
    for name in ("f_node", "f_graph"):
        theirs, ours = getattr(network, name).convolutions, getattr(reference, name).convolutions
        for conv, source in zip(theirs, ours, strict=True):
            basis = _rescaled_basis(source.order, source.scale).to(source.weight.dtype)
            weights = torch.einsum("kj,kio->joi", basis, source.weight.detach())
            for linear, weight in zip(conv.lins, weights, strict=True):
                linear.weight.data.copy_(weight)
            conv.bias.data.copy_(source.bias.detach())
    for name in ("node_standardizer", "graph_standardizer", "head"):
        getattr(network, name).load_state_dict(getattr(reference, name).state_dict())


def _rescaled_basis(order: int, scale: float) -> Tensor:
    """Row k has the coefficients of T_k(scale·x) in T_0(x), T_1(x), ..."""
    rows = torch.zeros(order, order, dtype=torch.float64)
    for k in range(order):
        powers = chebyshev.cheb2poly([0.0] * k + [1.0])
        series = chebyshev.poly2cheb([value * scale**power for power, value in enumerate(powers)])
        rows[k, : len(series)] = torch.from_numpy(series)
    return rows  # (order, order)


def make_optimizer(network: PygNetwork, config: TrainingConfig) -> torch.optim.AdamW:
    """AdamW as the training loop has it: weights decay, biases do not."""
    matrices = [parameter for parameter in network.parameters() if parameter.dim() > 1]
    others = [parameter for parameter in network.parameters() if parameter.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": config.weight_decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=config.learning_rate, fused=True)


def pyg_step(
    network: PygNetwork, optimizer: torch.optim.Optimizer, chosen: list[Data], clip: float | None, generator: torch.Generator
) -> float:
    """One full training step: batch assembly, roots, forward, backward, clipping, AdamW; the loss."""
    batch = Batch.from_data_list(chosen)
    roots = draw_roots(batch, network.config.sampler.count, generator)
    loss = F.cross_entropy(network(batch, roots), batch.y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    if clip is not None:
        nn.utils.clip_grad_norm_(network.parameters(), clip)
    optimizer.step()
    return float(loss.detach())


def make_step(name: str, seed: int = 0) -> Callable[[], float]:
    """A function that takes one step on random graphs of a dataset, with the appendix's sizes."""
    graphs, preset = load_dataset(name, download=False), make_preset(name)
    targets = torch.from_numpy(np.unique(graphs.label_list(), return_inverse=True)[1])
    data = as_data_list(graphs, targets)
    network = PygNetwork(preset.network, n_classes=int(targets.max()) + 1)
    optimizer = make_optimizer(network, preset.training)
    order, generator = np.random.default_rng(seed), torch.Generator().manual_seed(seed)

    def step() -> float:
        chosen = [data[position] for position in order.choice(len(data), preset.training.batch_size, replace=False)]
        return pyg_step(network, optimizer, chosen, preset.training.gradient_clip, generator)

    return step


def main() -> None:
    """Milliseconds of a step for each dataset."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", nargs="+", default=list(APPENDIX), choices=list(APPENDIX), metavar="NAME")
    parser.add_argument("--repeats", type=int, default=6)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"{'':14} {'median':>9} {'least':>9}  ms a step")
    for name in options.datasets:
        step, seconds = make_step(name), []
        step()  # the first one is not counted
        for _ in range(options.repeats):
            begin = time.perf_counter()
            step()
            seconds.append(time.perf_counter() - begin)
        print(f"{name:14} {1000 * statistics.median(seconds):9.1f} {1000 * min(seconds):9.1f}", flush=True)


if __name__ == "__main__":
    main()
