"""The door between the two rooms: a network of `phist.nn`, computed by the engine, with gradients."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from phist.engine.bins import make_bins
from phist.engine.budget import KEPT, needs
from phist.engine.fused import STATES, Network, backward, forward
from phist.engine.head import learn_head
from phist.engine.memory import PHASES, Memory, make_memory
from phist.engine.parameters import LevelParameters
from phist.engine.plan import Plan, make_plan
from phist.engine.shape import Shape, Standardizer, padded
from phist.engine.statistics import begin_slopes, finish_graphs, learn_graphs, learn_nodes, settle
from phist.engine.threads import run_shares, share_out
from phist.graphs.graphset import GraphSet
from phist.nn.histogram import ProjectiveHistogram
from phist.nn.network import StructuralNetwork
from phist.nn.normalization import RunningStandardizer
from phist.nn.sampling import Draws

Array = NDArray[Any]
MOST_THREADS = 64


def shape_of(network: StructuralNetwork) -> Shape:
    """A network's configuration as compiled code takes it."""
    config, aggregation = network.config, network.f_node.aggregation
    if isinstance(aggregation, ProjectiveHistogram):
        width = config.kernel_width * aggregation.kernel.natural_width(config.bins)
        bins = make_bins(config.kernel, aggregation.centers.numpy(), width)
        densities = (config.node_histogram == "density", config.graph_histogram == "density")
    else:
        bins = make_bins("identity", np.zeros(1, np.float32), 1.0)
        densities = (config.aggregation == "mean", config.aggregation == "mean")
    return Shape(
        orders=np.array(config.orders, np.int64),
        widths=np.array([padded(width) for width in config.channels], np.int64),
        widest=padded(max(config.channels)),
        bins=bins,
        reach=sum(order - 1 for order in config.orders),
        joint=config.statistics == "joint",
        epsilon=network.f_node.norm.epsilon,
        node_density=densities[0],
        graph_density=densities[1],
    )


class _Statistics:
    """Running statistics of a `RunningStandardizer` as arrays that share its memory; without one, zeros and ones."""

    def __init__(self, module: nn.Module, size: int) -> None:
        self.module = module if isinstance(module, RunningStandardizer) else None
        self._plain = np.zeros(size, np.float32), np.ones(size, np.float32)
        self.epsilon = 0.0 if self.module is None else self.module.epsilon

    @property
    def mean(self) -> Array:
        return self._plain[0] if self.module is None else self.module.mean.numpy()

    @property
    def variance(self) -> Array:
        return self._plain[1] if self.module is None else self.module.variance.numpy()

    def scale(self) -> Array:
        return 1 / np.sqrt(self.variance + np.float32(self.epsilon))

    @property
    def is_first(self) -> bool:
        """Whether the batch at hand is the first they learn from."""
        return self.module is not None and self.module.training and int(self.module.updates) == 0

    def next_step(self) -> float:
        """How far to go towards the next batch's statistics; nowhere unless they are learnt."""
        return self.module.next_step() if self.module is not None and self.module.training else 0.0


class FusedNetwork:
    """A network whose embeddings the engine computes; its parameters stay in ``network``, for optimisers and files to find."""

    def __init__(self, network: StructuralNetwork) -> None:
        self.network = network
        self.shape = shape_of(network)
        channels = network.config.channels
        self.node_level = LevelParameters(self.shape, channels, on_embeddings=False)
        self.graph_level = LevelParameters(self.shape, channels, on_embeddings=True)
        self.threads = min(torch.get_num_threads(), MOST_THREADS)  # the budget that torch was given is the engine's
        self.most_places = max(1, network.config.max_elements // self.shape.widest)
        self.clocks = np.zeros((MOST_THREADS, len(PHASES)), np.int64)  # processor cycles of each thread, for benchmarks
        layers: list[Any] = [*network.f_node.convolutions, *network.f_graph.convolutions]
        self.parameters: list[Tensor] = [part for layer in layers for part in (layer.weight, layer.bias)]
        self.bins, self.width = self.shape.bins.number, int(self.shape.widths[-1])
        self.node_statistics = _Statistics(network.node_standardizer, self.bins * channels[-1])
        self.graph_statistics = _Statistics(network.graph_standardizer, self.bins * channels[-1])
        self._memories: list[list[Memory]] = []

    def plan(self, graphs: GraphSet) -> Plan:
        """What the engine works out once for a set of graphs."""
        balls = self.shape.joint  # whitened root by root, the background is another one for every root
        return make_plan(graphs, self.network.config.operator_scale, self.shape.reach, balls)

    def graph_embeddings(self, plan: Plan, graphs: Array, draws: Draws) -> Tensor:
        """e_G of some graphs of the plan, standardised as `StructuralNetwork.graph_embeddings` does."""
        call = _Call(self, plan, graphs, draws)
        if not torch.is_grad_enabled():  # a function would not notice: its inputs need gradients all the same
            return torch.from_numpy(call.finish(call.run([part.detach() for part in self.parameters], keep=False)))
        embeddings: Tensor = _Embedding.apply(call, *self.parameters)  # type: ignore[no-untyped-call]
        return embeddings  # (graphs, m_graph)

    @torch.no_grad()
    def learn(self, plan: Plan, graphs: Array, draws: Draws, targets: Array, weights: Array) -> tuple[float, int]:
        """A training step's loss and hits; leaves the gradients where an optimiser looks for them."""
        head, call = self.network.head, _Call(self, plan, graphs, draws)
        embeddings = call.finish(call.run([part.detach() for part in self.parameters], keep=True))
        matrix, bias = head.weight.numpy(), head.bias.numpy()
        toward, matrix_gradient, bias_gradient = np.empty_like(embeddings), np.zeros_like(matrix), np.zeros_like(bias)
        loss, hits = learn_head(embeddings, matrix, bias, targets, weights, toward, matrix_gradient, bias_gradient)
        gradients = [*call.run_back(toward), torch.from_numpy(matrix_gradient), torch.from_numpy(bias_gradient)]
        for parameter, gradient in zip([*self.parameters, head.weight, head.bias], gradients, strict=True):
            parameter.grad = gradient
        return loss, hits

    @torch.no_grad()
    def node_embeddings(self, plan: Plan, graphs: Array, draws: Draws) -> Tensor:
        """e_j of the drawn nodes, one graph after the other, standardised; without gradients."""
        call = _Call(self, plan, graphs, draws)
        found = call.run([part.detach() for part in self.parameters], keep=False, only_nodes=True)
        embeddings = np.empty((len(draws.nodes), len(self.node_statistics.mean)), np.float32)
        finish_graphs(found, self.bins, self.width, self.node_statistics.mean, self.node_statistics.scale(), embeddings)
        return torch.from_numpy(embeddings)  # (roots, m_node)

    def settle_standardizer(self) -> Standardizer:
        """What f_graph subtracts from and multiplies node embeddings with, as it is now."""
        running, size = self.node_statistics, self.bins * self.width
        both = Standardizer(np.zeros(size, np.float32), np.ones(size, np.float32))  # a pass keeps its own for the way back
        if running.module is not None:
            settle(running.mean, running.variance, running.epsilon, self.bins, self.width, both.shift, both.scale)
        return both

    def borrow_memory(self, sizes: Array) -> list[Memory]:
        """Memory for each thread, with room for as many floats, integers, doubles and positions as ``sizes`` says."""
        found = self._memories.pop() if self._memories else []
        result = []
        for number, size in enumerate(sizes[:, :KEPT].tolist()):
            memory = found[number] if number < len(found) else None
            if memory is None or any(len(part) < needed for part, needed in zip(memory, size, strict=False)):
                memory = make_memory([needed + needed // 2 for needed in size], self.clocks[number])
            memory.tops[:] = 0
            result.append(memory)
        return result

    def return_memory(self, memory: list[Memory]) -> None:
        """Let another pass use it."""
        self._memories.append(memory)


class _Call:
    """One pass over a batch: what the backward pass needs of the forward pass."""

    def __init__(self, fused: FusedNetwork, plan: Plan, graphs: Array, draws: Draws) -> None:
        self.fused, self.plan, self.draws = fused, plan, draws
        self.graphs = np.ascontiguousarray(graphs, np.int64)
        rows = plan.row_ptr[self.graphs + 1] - plan.row_ptr[self.graphs]
        self.shares = share_out(rows * (draws.ptr[1:] - draws.ptr[:-1]), fused.threads)
        self.most_places = max(1, fused.most_places // len(self.shares))
        self.states = np.zeros((len(self.graphs), STATES), np.int64)

    def run(self, parameters: list[Tensor], keep: bool, only_nodes: bool = False) -> Array:
        """Embeddings of the graphs, or of the drawn nodes, in the engine's order."""
        running = self.fused.node_statistics
        is_first = running.is_first and not only_nodes
        if is_first:
            self._settle_first(parameters)
        fused, layers, n_shares = self.fused, len(self.fused.node_level.channels), len(self.shares)
        nodes, graphs = fused.node_level.pack(parameters[: 2 * layers]), fused.graph_level.pack(parameters[2 * layers :])
        self.network = Network(fused.shape, nodes, graphs, fused.settle_standardizer())
        size = len(self.network.standardizer.shift)
        results = np.empty(len(self.graphs) * size, np.float32)
        drawn = np.empty(len(self.draws.nodes) * size if only_nodes else 0, np.float32)
        moments = np.zeros((n_shares, 1 + 2 * size))
        sizes = np.zeros((n_shares, KEPT + 1), np.int64)
        for share, own in zip(self.shares, sizes, strict=True):
            needs(fused.shape, self.plan, self.graphs, self.draws, share, self.most_places, keep, own)
        self.memories = fused.borrow_memory(sizes)

        self.embeddings = [0] * n_shares

        def work(number: int) -> None:
            self.embeddings[number] = forward(
                self.shares[number], self.plan, self.graphs, self.draws, self.network, self.memories[number], self.most_places,
                sizes[number, KEPT], self.states, results, moments[number], drawn,
            )  # fmt: skip

        run_shares(work, n_shares)
        if not keep:
            fused.return_memory(self.memories)
        if not only_nodes and not is_first and (step := running.next_step()):
            learn_nodes(moments, fused.bins, fused.width, step, running.mean, running.variance)
        return drawn if only_nodes else results

    def _settle_first(self, parameters: list[Tensor]) -> None:
        """The very first batch sets the statistics that it is standardised with: look at its roots before all else."""
        fused, running = self.fused, self.fused.node_statistics
        found = self.run(parameters, keep=False, only_nodes=True).reshape(-1, fused.bins * fused.width).astype(np.float64)
        found -= self.network.standardizer.shift
        counts = self.draws.counts.astype(np.float64)
        sums = np.concatenate([[counts.sum()], counts @ found, counts @ found**2])
        learn_nodes(sums[None], fused.bins, fused.width, running.next_step(), running.mean, running.variance)

    def finish(self, results: Array) -> Array:
        """From histograms in the engine's order to standardised embeddings in torch's."""
        fused, running = self.fused, self.fused.graph_statistics
        is_first = running.is_first
        if is_first:
            self._learn_graphs(results)
        self.scale = running.scale()
        embeddings = np.empty((len(self.graphs), len(self.scale)), np.float32)
        finish_graphs(results, fused.bins, fused.width, running.mean, self.scale, embeddings)
        if not is_first:
            self._learn_graphs(results)
        return embeddings

    def _learn_graphs(self, results: Array) -> None:
        fused, running = self.fused, self.fused.graph_statistics
        if step := running.next_step():
            learn_graphs(results, len(self.graphs), fused.bins, fused.width, step, running.mean, running.variance)

    def run_back(self, gradient: Array) -> list[Tensor]:
        """Gradients of the parameters, given that of the embeddings."""
        fused = self.fused
        if not self.memories:
            raise RuntimeError("this pass was walked back before, and its memory is in other hands; compute the embeddings again")
        slopes = np.empty(len(self.graphs) * fused.bins * fused.width, np.float32)
        begin_slopes(np.ascontiguousarray(gradient), fused.bins, fused.width, self.scale, slopes)
        nodes = np.zeros((len(self.shares), fused.node_level.size), np.float32)
        graphs = np.zeros((len(self.shares), fused.graph_level.size), np.float32)

        def work(number: int) -> None:
            backward(
                self.shares[number], self.plan, self.graphs, self.draws, self.network, self.memories[number], self.most_places,
                self.states, self.embeddings[number], slopes, nodes[number], graphs[number],
            )  # fmt: skip

        run_shares(work, len(self.shares))
        fused.return_memory(self.memories)
        self.memories = []
        return fused.node_level.unpack(nodes.sum(axis=0)) + fused.graph_level.unpack(graphs.sum(axis=0))


class _Embedding(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, call: _Call, *parameters: Tensor) -> Tensor:
        ctx.call = call
        ctx.save_for_backward(*parameters)  # torch then notices if they were changed before the backward pass
        results = call.run([parameter.detach() for parameter in parameters], keep=any(ctx.needs_input_grad))
        return torch.from_numpy(call.finish(results))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        call: _Call = ctx.call
        _ = ctx.saved_tensors
        return None, *call.run_back(gradients[0].numpy())
