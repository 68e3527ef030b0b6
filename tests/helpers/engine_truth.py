"""The engine against the reference: both in single precision, measured by the reference in double."""

from copy import deepcopy

import numpy as np
import torch
from torch.nn import functional as F

from phist.engine.arena import make_arena
from phist.engine.budget import KEPT
from phist.engine.computation import Reference
from phist.engine.fused import Fused
from phist.graphs.packing import Reading, pack
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.nn.normalization import RunningStandardizer
from phist.nn.sampling import Draws, RootSampler, draw_all

SMALL = NetworkConfig(orders=(3, 2), channels=(4, 5), bins=5)
CLASSES = 3
RELATIVE = 1e-4  # what the engine promises
LIKE_REFERENCE = 4  # or so many times the reference's own rounding, where that is larger
SMALLEST = 5e-6  # the last digits of a histogram, standardised: up to a hundredfold
GUARD, MARK = 4096, 77  # numbers behind an arena, and what they are
OF_LARGEST = 1e-4  # of the largest gradient: some are zero but for rounding, the bias ahead of a whitening for one


def make_graphs(sizes, edges, weights=None, **reading):
    """Graphs of given sizes; edges are numbered through all of them."""
    source, target = np.array(edges, int).reshape(-1, 2).T
    return pack(np.array(sizes), source, target, weights, reading=Reading(**reading))


def random_graphs(sizes, seed=0, probability=0.4, weights=None, **reading):
    """Edges at random; ``weights`` are None or the largest power of ten by which they differ from one."""
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    pairs = [start + np.argwhere(rng.random((size, size)) < probability) for start, size in zip(starts, sizes, strict=False)]
    edges = np.concatenate(pairs)
    values = None if weights is None else 10 ** rng.uniform(-weights, weights, len(edges))
    return make_graphs(sizes, edges, values, **reading)


def path(n_nodes):
    """The edges of a path."""
    return [(node, node + 1) for node in range(n_nodes - 1)]


STAR = [(0, leaf) for leaf in range(1, 9)]
CLIQUE = [(u, v) for u in range(7) for v in range(u)]
ODD_GRAPHS = {
    "one node": make_graphs([1], []),
    "edgeless": make_graphs([4, 2], []),
    "isolated nodes": make_graphs([5, 1], [(0, 1), (1, 2)]),
    "disconnected": make_graphs([7, 4], [(0, 1), (1, 2), (3, 4), (4, 5), (4, 6), (7, 8), (9, 10)]),
    "complete": make_graphs([7], CLIQUE),
    "star": make_graphs([9], STAR),
    "star of two weights": make_graphs([9], STAR, [1.0] * 4 + [2.0] * 4),
    "long path": make_graphs([60], path(60)),
    "path of cliques": make_graphs([21], [(7 * k + u, 7 * k + v) for k in range(3) for u, v in CLIQUE] + [(0, 7), (7, 14)]),
    "weighted": random_graphs([9, 5], seed=3, weights=1),
    "hugely varying weights": make_graphs([6], path(6), [1e-6, 1.0, 1e6, 1e-3, 1e3]),
    "kept loops": random_graphs([8, 5], seed=4, self_loops="keep"),
    "weighted loops": random_graphs([8, 5], seed=4, weights=1, self_loops="keep"),
    "a loop alone": make_graphs([3, 1], [(0, 0), (0, 1), (3, 3)], self_loops="keep"),
}


def settled_network(config, seed=0, usual=None):
    """A network with biases and running statistics that are neither zero nor one.

    Args:
        usual: graphs that the statistics are of; small random ones unless given.
    """
    network = make_network(config, CLASSES, seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith("bias"):
                parameter.copy_(0.3 * torch.randn(parameter.shape, generator=generator))
    computation = Reference(network, random_graphs([7, 5, 9], seed=1) if usual is None else usual)
    with torch.no_grad():
        computation.scores(np.arange(len(computation.graphs)), draw_all(computation.sizes))
    return network


def some_draws(graphs, count=6, seed=0):
    """Roots with replacement, so that some come twice."""
    return RootSampler(count=count).draw(graphs.node_counts(), np.random.default_rng(seed))


def repeated(draws):
    """The same draws, every root as often as it was drawn instead of once with a count."""
    times = draws.counts.astype(int)
    ends = np.concatenate([[0], np.cumsum(times)])
    return Draws(ends[draws.ptr], np.repeat(draws.nodes, times), np.ones(times.sum(), np.float32))


def outcome(computation, draws, *, training=True):
    """Everything that a step computes, by name, in double precision."""
    network, chosen = computation.network, np.arange(len(computation.graphs))
    targets = torch.from_numpy(chosen % CLASSES)
    network.train(training)
    network.zero_grad()
    scores = computation.scores(chosen, draws)
    loss = F.cross_entropy(scores, targets)
    loss.backward()
    found = {"scores": scores, "loss": loss}
    found |= {f"gradient of {name}": parameter.grad for name, parameter in network.named_parameters()}
    for name, module in network.named_modules():
        if isinstance(module, RunningStandardizer):
            found |= {f"{name}.mean": module.mean, f"{name}.variance": module.variance}
    found = {name: value.detach().double().numpy().copy() for name, value in found.items()}
    network.eval()
    with torch.no_grad():
        found["graph embeddings"] = computation.graph_embeddings(chosen, draws).double().numpy()
        found["node embeddings"] = computation.node_embeddings(chosen, draws).double().numpy()
    return found


def fused_computation(network, graphs, by_balls=None, threads=1, beside=None):
    """The engine on a copy of the network; ``by_balls`` and ``beside`` overrule the plan."""
    computation = Fused(deepcopy(network), graphs)
    computation.threads = threads
    if by_balls is not None:
        computation.plan = computation.plan._replace(by_balls=np.full(len(graphs), by_balls))
    if beside is not None:
        computation.plan = computation.plan._replace(beside=np.where(computation.plan.by_balls, 1, beside))
    return computation


def references(network, graphs, draws, *, training=True):
    """The truth, and what single precision makes of it."""
    truth = outcome(Reference(deepcopy(network).double(), graphs), draws, training=training)
    return truth, outcome(Reference(deepcopy(network), graphs), draws, training=training)


def check_close(found, truth, single, slack=1):
    """Within the engine's promise of the truth, or about as close as the reference comes in this case.

    Args:
        slack: how much more is allowed, where graphs may be so odd that all is rounding.
    """
    gradients = {name for name in truth if name.startswith("gradient")}
    values = truth.keys() - gradients
    largest = max(_size(truth, name) for name in gradients)
    clear = {name for name in gradients if _size(truth, name) > 0.01 * largest}
    for names, measured, floor in ((values, values, SMALLEST), (gradients, clear, OF_LARGEST * largest)):
        usual = max(_error(single, truth, name) / max(_size(truth, name), 1e-3) for name in measured)
        for name in names:
            own = LIKE_REFERENCE * _error(single, truth, name)
            allowed = max(max(RELATIVE, LIKE_REFERENCE * usual) * _size(truth, name), own, floor)
            error = _error(found, truth, name)
            assert error <= slack * allowed, f"{name}: off by {error:.3g}, allowed {allowed:.3g}, of {_size(truth, name):.3g}"


def _size(values, name):
    return abs(values[name]).max()


def _error(found, truth, name):
    error = abs(found[name] - truth[name]).max()
    return np.inf if np.isnan(error) else error


def check_engine(config, graphs, draws=None, *, seed=0, training=True, by_balls=None, threads=1, slack=1, usual=None, beside=None):
    """The engine computes what the reference does."""
    network = settled_network(config, seed, usual)
    draws = some_draws(graphs) if draws is None else draws
    truth, single = references(network, graphs, draws, training=training)
    fused = fused_computation(network, graphs, by_balls, threads, beside)
    check_close(outcome(fused, draws, training=training), truth, single, slack)


def guarded_memory(computation, monkeypatch):
    """Let every pass have exactly the memory that it asks for, with a guarded zone behind; returns what is handed out."""
    handed = []

    def borrow(sizes):
        arenas = []
        for floats, integers, doubles, positions in sizes[:, :KEPT].tolist():
            arena = make_arena([floats + GUARD, integers + GUARD, doubles + GUARD, positions], np.zeros(4, np.int64))
            for part in arena[:3]:
                part[-GUARD:] = MARK
            arenas.append(arena)
        handed.extend(arenas)
        return arenas

    monkeypatch.setattr(computation, "borrow_arenas", borrow)
    return handed


def intact(handed):
    """Whether nothing was written behind any arena."""
    return all((part[-GUARD:] == MARK).all() for arena in handed for part in arena[:3])
