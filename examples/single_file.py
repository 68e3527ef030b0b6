"""Structural graph classification in one file: from a TU dataset to test accuracy, with NumPy and PyTorch alone.

    python examples/single_file.py MUTAG.zip --epochs 60

This is "Discriminative structural graph classification" to be read with the paper in hand. Graphs come one at a time and as
dense matrices, so that every line is a formula; `phist` computes the same numbers in batches of sparse ones.

The idea: strike a node and watch how the graph rings. An impulse at a root node j passes through graph convolutions, and
the histogram of the responses over all nodes is the root's embedding e_j (f_node). The embeddings of some random roots,
each at its node, are a signal again: the same kind of network turns it into the graph's embedding e_G (f_graph).

Three things are ours, not the paper's. Embeddings are standardised by running statistics, which makes training several
times faster. f_node takes densities (means) instead of counts. Training is Adam with decoupled weight decay and a cosine
schedule instead of 600 epochs at a constant 3e-4.
"""

import argparse
import copy
import zipfile
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SCALE = 0.8  # bounds the spectrum of the Laplacian away from the ends of [-1, 1], where Chebyshev polynomials are steep
EPSILON = 1e-4  # keeps quotients finite where a channel is constant


def read_tu(path):
    """The adjacency matrices and class numbers of a TU dataset, a folder or zip; node and edge labels are left unread."""
    if Path(path).is_dir():
        files = {file.name: file.read_text() for file in Path(path).rglob("*.txt")}
    else:
        with zipfile.ZipFile(path) as archive:
            files = {Path(name).name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".txt")}
    name = next(file for file in files if file.endswith("_A.txt")).removesuffix("_A.txt")
    column = {ending: np.array(files[f"{name}_graph_{ending}.txt"].split(), int) for ending in ("indicator", "labels")}
    arcs = np.array(files[f"{name}_A.txt"].replace(",", " ").split(), int).reshape(-1, 2) - 1

    graph_of = column["indicator"] - 1  # (nodes of all graphs)
    sizes = np.bincount(graph_of)
    local = np.empty_like(graph_of)  # the number of each node within its graph
    local[np.argsort(graph_of, kind="stable")] = np.concatenate([np.arange(size) for size in sizes])
    adjacency = [np.zeros((size, size)) for size in sizes]
    for source, target in arcs:
        if source != target:  # loops are dropped, edges that are listed twice count once
            i, j = local[source], local[target]
            adjacency[graph_of[source]][i, j] = adjacency[graph_of[source]][j, i] = 1
    return adjacency, np.unique(column["labels"], return_inverse=True)[1]


def scaled_laplacian(adjacency):
    """SCALE · (L - I) for the symmetric normalised Laplacian L = I - D^-1/2 A D^-1/2: eigenvalues within [-SCALE, SCALE]."""
    degrees = adjacency.sum(1)
    inverse_root = np.divide(1, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)  # isolated nodes: zero rows
    return -SCALE * inverse_root[:, None] * adjacency * inverse_root  # (nodes, nodes)


def sample_roots(n_nodes, count, rng):
    """Section 3.2: draw roots with replacement. Each distinct one is computed once and counts as often as it was drawn."""
    roots, multiplicity = np.unique(rng.integers(0, n_nodes, count), return_counts=True)
    return torch.from_numpy(roots), torch.from_numpy(multiplicity).float()  # (roots), (roots)


class ChebyshevConv(nn.Module):
    """Section 3.1, spectral convolution: y = Σ_k T_k(L) x W_k + b, a polynomial of the Laplacian per pair of channels."""

    def __init__(self, in_channels, out_channels, order):
        super().__init__()
        angles = np.arccos(np.linspace(-SCALE, SCALE, 1001))  # T_k(cos θ) = cos kθ
        gain = sum(np.mean(np.cos(k * angles) ** 2) for k in range(order))  # so a response is as large at any order
        self.weight = nn.Parameter(torch.randn(order, in_channels, out_channels) / (out_channels * gain) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(out_channels))

    def forward(self, x, laplacian):
        terms = [x, laplacian @ x]
        while len(terms) < len(self.weight):
            terms.append(2 * laplacian @ terms[-1] - terms[-2])  # T_k(x) = 2x T_(k-1)(x) - T_(k-2)(x)
        return sum(term @ weight for term, weight in zip(terms, self.weight, strict=False)) + self.bias  # (roots, nodes, channels)


class StructuralEmbedding(nn.Module):
    """One level: convolutions, whitening and tanh, projective histogram."""

    def __init__(self, in_channels, orders, channels, bins, density):
        super().__init__()
        widths = (in_channels, *channels)
        self.convolutions = nn.ModuleList(ChebyshevConv(*shape) for shape in zip(widths, channels, orders, strict=False))
        centers = (2 * np.arange(1, bins + 1) - 1) / bins - 1  # p_l of equation 2
        self.register_buffer("centers", torch.tensor(centers, dtype=torch.float32), persistent=False)
        self.density = density
        self.out_channels = channels[-1] * bins

    def forward(self, x, laplacian, multiplicity):
        for layer, convolution in enumerate(self.convolutions):
            x = convolution(F.elu(x) if layer else x, laplacian)  # (roots, nodes, channels)
        x = torch.tanh(self.whiten(x, multiplicity))  # (roots, nodes, channels), within [-1, 1]

        z = (x.unsqueeze(-1) - self.centers) * len(self.centers) / 2  # distance to each centre, in bins
        bumps = torch.exp(-0.5 * z**2)  # (roots, nodes, channels, bins): overlapping and smooth, as the paper recommends
        return (bumps.mean(1) if self.density else bumps.sum(1)).flatten(1)  # (roots, channels * bins)

    def whiten(self, x, multiplicity):
        """Section 3.2, multiset normalisation: statistics over all nodes and roots of the graph together."""
        share = multiplicity[:, None, None] / (multiplicity.sum() * x.shape[1])  # (roots, 1, 1)
        mean = (share * x).sum((0, 1))  # (channels)
        variance = (share * (x - mean) ** 2).sum((0, 1))  # (channels)
        return (x - mean) / torch.sqrt(variance + EPSILON)


class RunningStandardizer(nn.Module):
    """Zero mean and unit deviation by running statistics: a node that is no root then stands at the average embedding."""

    def __init__(self, channels, momentum=0.02):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))
        self.register_buffer("updates", torch.zeros((), dtype=torch.long))

    def forward(self, x, weights):
        before = self.mean, self.variance  # so a graph's result does not depend on the others in the batch...
        if self.training:
            self.update(x.detach(), weights)
        mean, variance = (self.mean, self.variance) if self.updates == 1 else before  # ...but for the very first
        return (x - mean) / torch.sqrt(variance + EPSILON)  # (rows, channels)

    def update(self, x, weights):
        share = (weights / weights.sum()).unsqueeze(1)  # (rows, 1)
        mean = (share * x).sum(0)
        variance = (share * (x - mean) ** 2).sum(0)
        self.updates += 1
        step = max(self.momentum, 1 / int(self.updates))
        self.variance = (1 - step) * self.variance + step * variance + step * (1 - step) * (mean - self.mean) ** 2
        self.mean = (1 - step) * self.mean + step * mean


class StructuralNetwork(nn.Module):
    """Section 3: f_node on impulses, f_graph on the embeddings of the roots, a linear head."""

    def __init__(self, n_classes, orders=(4, 4), channels=(16, 24), bins=8):
        super().__init__()
        self.f_node = StructuralEmbedding(1, orders, channels, bins, density=True)
        self.f_graph = StructuralEmbedding(self.f_node.out_channels, orders, channels, bins, density=False)
        self.node_standardizer = RunningStandardizer(self.f_node.out_channels)
        self.graph_standardizer = RunningStandardizer(self.f_graph.out_channels)
        self.head = nn.Linear(self.f_graph.out_channels, n_classes)

    def forward(self, laplacians, roots):
        return self.head(self.graph_embeddings(laplacians, roots))  # (graphs, classes)

    def node_embeddings(self, laplacians, roots):
        """e_j = f_node(δ_j; G) for the roots of every graph, one graph after the other."""
        embeddings = []
        for laplacian, (nodes, multiplicity) in zip(laplacians, roots, strict=True):
            impulses = torch.eye(len(laplacian), dtype=laplacian.dtype)[nodes].unsqueeze(-1)  # (roots, nodes, 1)
            embeddings.append(self.f_node(impulses, laplacian, multiplicity))  # (roots, m_node)
        standardized = self.node_standardizer(torch.cat(embeddings), torch.cat([multiplicity for _, multiplicity in roots]))
        return standardized.split([len(nodes) for nodes, _ in roots])

    def graph_embeddings(self, laplacians, roots):
        """e_G = f_graph(E; G): row i of E is the embedding of node i times the draws of i, so nodes not drawn have zeros."""
        embeddings = []
        for laplacian, (nodes, multiplicity), drawn in zip(laplacians, roots, self.node_embeddings(laplacians, roots), strict=True):
            signal = drawn.new_zeros(len(laplacian), drawn.shape[1])
            signal = signal.index_add(0, nodes, drawn * multiplicity.unsqueeze(1))  # (nodes, m_node)
            embeddings.append(self.f_graph(signal.unsqueeze(0), laplacian, signal.new_ones(1)))  # (1, m_graph)
        return self.graph_standardizer(torch.cat(embeddings), drawn.new_ones(len(embeddings)))  # (graphs, m_graph)


def split(targets, fold, rng):
    """Training, validation and test graphs of stratified cross-validation: fold i is test, fold i - 1 validation.

    Each class is shuffled and dealt out in turn, by hand: scikit-learn's StratifiedKFold follows the same rule, other shuffle.
    """
    by_class = [rng.permutation(np.flatnonzero(targets == target)) for target in np.unique(targets)]
    fold_of = np.empty(len(targets), int)
    fold_of[np.concatenate(by_class)] = np.arange(len(targets)) % 10
    behind = (fold - fold_of) % 10  # 0 is test, 1 validation
    return np.flatnonzero(behind > 1), np.flatnonzero(behind == 1), np.flatnonzero(behind == 0)


@torch.no_grad()
def evaluate(model, laplacians, targets, n_roots, realizations, seed=0):
    """Loss and accuracy of the logits averaged over several draws of roots (section 3.2)."""
    model.eval()
    rng = np.random.default_rng(seed)  # the same roots in every epoch
    draws = [[sample_roots(len(laplacian), n_roots, rng) for laplacian in laplacians] for _ in range(realizations)]
    logits = torch.stack([model(laplacians, roots) for roots in draws]).mean(0)  # (graphs, classes)
    return F.cross_entropy(logits, targets).item(), (logits.argmax(1) == targets).float().mean().item()


def train_epoch(model, optimizer, schedule, laplacians, targets, options, rng):
    model.train()
    for chosen in np.array_split(rng.permutation(len(laplacians)), np.ceil(len(laplacians) / options.batch_size)):
        graphs = [laplacians[graph] for graph in chosen]
        loss = F.cross_entropy(model(graphs, [sample_roots(len(graph), options.roots, rng) for graph in graphs]), targets[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    schedule.step()


def run_fold(adjacency, targets, fold, options):
    """Train on eight folds, keep the epoch of lowest validation loss, and return its accuracy on the test fold."""
    rng = np.random.default_rng(options.seed)
    torch.manual_seed(options.seed)
    laplacians = [torch.from_numpy(scaled_laplacian(matrix)).float() for matrix in adjacency]
    parts = split(targets, fold, rng)
    training, validation, test = [([laplacians[i] for i in part], torch.from_numpy(targets[part])) for part in parts]

    model = StructuralNetwork(targets.max() + 1, [options.order] * 2, options.channels, options.bins)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.epochs)
    best_loss, best_epoch, best_state = np.inf, 0, None
    for epoch in range(1, options.epochs + 1):
        train_epoch(model, optimizer, schedule, *training, options, rng)
        loss, accuracy = evaluate(model, *validation, options.roots, realizations=3)
        if loss < best_loss:
            best_loss, best_epoch, best_state = loss, epoch, copy.deepcopy(model.state_dict())
        if epoch % max(1, options.epochs // 10) == 0:
            on_training = evaluate(model, *training, options.roots, realizations=1)[1]
            print(f"epoch {epoch:4d}: accuracy {on_training:.3f} training, {accuracy:.3f} validation", flush=True)

    model.load_state_dict(best_state)
    accuracy = evaluate(model, *test, options.roots, realizations=10)[1]
    print(f"fold {fold}: test accuracy {accuracy:.3f} with the weights of epoch {best_epoch}")
    return accuracy


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder or zip of a TU dataset")
    parser.add_argument("--folds", type=int, nargs="+", default=[0], help="which of the folds 0 to 9 to be the test fold")
    for name, default in {"epochs": 100, "batch-size": 8, "roots": 32, "order": 4, "bins": 8, "seed": 0}.items():
        parser.add_argument(f"--{name}", type=int, default=default)  # the sizes are the appendix's for MUTAG
    parser.add_argument("--channels", type=int, nargs=2, default=(16, 24))
    options = parser.parse_args()
    torch.set_num_threads(1)  # matrices this small are not worth sharing

    adjacency, targets = read_tu(options.data)
    shares = np.bincount(targets) / len(targets)
    print(f"{len(targets)} graphs, {len(shares)} classes, the largest with a share of {shares.max():.3f}")
    print(f"mean test accuracy {np.mean([run_fold(adjacency, targets, fold, options) for fold in options.folds]):.3f}")


if __name__ == "__main__":
    main()
