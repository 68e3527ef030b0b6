"""How much arithmetic a training step needs, and how fast the machine can do arithmetic.

What counts as an operation: an addition or a multiplication of single-precision numbers, and an exponential as one. Counted
are the Chebyshev recursions, the linear maps and the bins, forward and backward; nothing is counted twice that is computed
twice to save memory, and neither whitening, tanh and ELU nor the optimiser, which are few. ``needed`` is what remains after
the engine's exact reductions: distinct roots, merged twins, balls with one background, the wide input of f_graph multiplied
at the roots only and propagated when it is narrow; terms that are zero towards the rim of a ball are counted, though the engine
leaves them out (2 % on DD). ``printed`` is the network as the paper writes it: every draw, every node.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

from phist.nn.config import NetworkConfig

PER_BIN = 6  # scaled difference (2), square, exponential, weighted sum (2); the slope on the way back takes as many


@dataclass
class Operations:
    """Operations of one step by kind."""

    recursion: float = 0.0
    linear: float = 0.0
    bins: float = 0.0

    @property
    def total(self) -> float:
        return self.recursion + self.linear + self.bins

    def add_recursion(self, order: int, channels: int, pairs: float, entries: float, passes: int) -> None:
        """``order`` terms of so many channels, on a matrix with so many entries."""
        terms = 2 * max(order - 1, 0) * entries + 2 * max(order - 2, 0) * pairs
        self.recursion += passes * channels * terms

    def add_linear(self, inputs: int, outputs: int, pairs: float, passes: int) -> None:
        """A dense map of every place; on the way back one more for the weights and one more for the inputs."""
        self.linear += passes * 2 * inputs * outputs * pairs

    def add_later_layers(self, config: NetworkConfig, pairs: float, entries: float) -> None:
        """All layers after the first, and the bins."""
        for below, width, order in zip(config.channels, config.channels[1:], config.orders[1:], strict=False):
            self.add_recursion(order, below, pairs, entries, passes=2)
            self.add_linear(order * below, width, pairs, passes=3)
        self.bins += 2 * PER_BIN * config.channels[-1] * config.bins * pairs


def needed_operations(config: NetworkConfig, plan: Any, chosen: Any, draws: Any) -> Operations:
    """Of a step on the ``chosen`` graphs of an engine's plan, seen from ``draws``."""
    operations, order, width = Operations(), config.orders[0], config.channels[0]
    for place, graph in enumerate(chosen.tolist()):
        drawn = draws.nodes[draws.ptr[place] : draws.ptr[place + 1]]
        roots = np.unique(plan.root_row[plan.node_ptr[graph] + drawn])
        near, pairs, near_entries, entries = _extent(config, plan, graph, roots)
        operations.add_recursion(order, 1, near, near_entries, passes=1)
        operations.add_linear(order, width, near, passes=2)  # nothing learns through an impulse
        operations.add_later_layers(config, pairs, entries)

        n_nodes = plan.node_ptr[graph + 1] - plan.node_ptr[graph]
        n_entries = plan.nodes.entry_ptr[graph + 1] - plan.nodes.entry_ptr[graph]
        operations.add_linear(config.channels[-1] * config.bins, order * width, len(roots), passes=3)
        operations.add_recursion(order, width, n_nodes, n_entries, passes=2)
        operations.add_later_layers(config, n_nodes, n_entries)
    return operations


def printed_operations(config: NetworkConfig, plan: Any, chosen: Any, draws: Any) -> Operations:
    """The same with all nodes of all graphs for every draw."""
    operations, order, width = Operations(), config.orders[0], config.channels[0]
    wide = config.channels[-1] * config.bins
    for place, graph in enumerate(chosen.tolist()):
        n_draws = float(draws.counts[draws.ptr[place] : draws.ptr[place + 1]].sum())
        n_nodes = float(plan.node_ptr[graph + 1] - plan.node_ptr[graph])
        n_entries = float(plan.nodes.entry_ptr[graph + 1] - plan.nodes.entry_ptr[graph])
        operations.add_recursion(order, 1, n_draws * n_nodes, n_draws * n_entries, passes=1)
        operations.add_linear(order, width, n_draws * n_nodes, passes=2)
        operations.add_later_layers(config, n_draws * n_nodes, n_draws * n_entries)
        operations.add_recursion(order, wide, n_nodes, n_entries, passes=2)
        operations.add_linear(order * wide, width, n_nodes, passes=3)
        operations.add_later_layers(config, n_nodes, n_entries)
    return operations


def _extent(config: NetworkConfig, plan: Any, graph: int, roots: Any) -> tuple[float, float, float, float]:
    """Places within reach of one layer and of all, and the entries of the matrices between them."""
    begin, end = plan.row_ptr[graph], plan.row_ptr[graph + 1]
    entry, last = plan.rows.entry_ptr[graph], plan.rows.entry_ptr[graph + 1]
    n_rows, n_entries = float(end - begin), float(last - entry)
    if not plan.by_balls[graph]:
        pairs, entries = len(roots) * n_rows, len(roots) * n_entries
        return pairs, pairs, entries, entries
    indptr = plan.rows.indptr[begin + graph : end + graph + 1]
    matrix = csr_array((np.ones(last - entry, np.float32), plan.rows.indices[entry:last], indptr), shape=(end - begin,) * 2)
    reached = np.zeros((end - begin, len(roots)), np.float32)
    reached[roots, np.arange(len(roots))] = 1
    near, near_entries = 0.0, 0.0
    for hop in range(1 + sum(order - 1 for order in config.orders)):
        around = matrix @ reached
        if hop == config.orders[0] - 1:
            near, near_entries = float(reached.sum()), float((reached * around).sum())
        pairs, entries = float(reached.sum()), float((reached * around).sum())
        reached = ((reached + around) > 0).astype(np.float32)
    return near, pairs + n_rows, near_entries, entries + n_entries  # with the background, which the first layer leaves constant


def multiply_rate(threads: int, size: int = 1024, repeats: int = 12) -> float:
    """Operations per second of torch's single-precision matrix product, the best of some."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    a, b = torch.rand(size, size), torch.rand(size, size)
    best = min(_seconds_of(a, b) for _ in range(repeats))
    torch.set_num_threads(before)
    return 2 * size**3 / best


def _seconds_of(a: torch.Tensor, b: torch.Tensor) -> float:
    begin = time.perf_counter()
    a @ b
    return time.perf_counter() - begin


def cycles_per_second() -> float:
    """The rate of the clock that the engine's phases are counted in."""
    from numba import njit

    from phist.engine.processor import cycles

    now = njit(lambda: cycles())
    now()
    begin, first = time.perf_counter(), now()
    time.sleep(0.2)
    return float((now() - first) / (time.perf_counter() - begin))
