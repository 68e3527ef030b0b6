"""Pass: one batch through the engine, forward, backward, or as steps of training; what only Python does of it."""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phist.engine.arena import Arena, counting_arena
from phist.engine.budget import KEPT, needs
from phist.engine.optimizer import AdamWArrays, no_adamw
from phist.engine.shape import Network
from phist.engine.statistics import no_statistics, update_from_embeddings, update_from_moments
from phist.engine.steps import Steps
from phist.engine.threads import ArgumentsOf, make_shards, team_of, threads_worth
from phist.engine.torch_threads import workers_for
from phist.engine.work import STATES, Exchange, Job, Work
from phist.engine.worker import BACKWARD, FORWARD, TRAIN, Training, run_worker
from phist.graphs.arrays import ranges, starts_of
from phist.nn.sampling import Draws

if TYPE_CHECKING:
    from phist.engine.fused import Fused

Array = NDArray[Any]
PAIRS_SHARED = 4096  # for each thread, about a millisecond: with fewer pairs a graph's roots are not shared
_NO_FLOATS, _NO_INTEGERS = np.empty(0, np.float32), np.empty(0, np.int64)
_NO_DRAWS = Draws(np.zeros(1, np.int64), np.empty(0, np.int32), _NO_FLOATS)
NO_TRAINING = Training(no_adamw(), no_statistics(), no_statistics())


class Pass:
    """One pass over a batch: what the backward pass needs of the forward pass."""

    network: Network
    work: Work

    def __init__(self, fused: "Fused", graphs: Array, draws: Draws, ptr: Array | None = None, spare: int = 0) -> None:
        self.fused, self.plan, self.draws = fused, fused.plan, draws
        self.graphs = np.ascontiguousarray(graphs, np.int64)
        in_step = ptr is not None  # the threads wait for each other in every step
        ptr = np.array([0, len(graphs)]) if ptr is None else ptr
        costs = fused.plan.costs(self.graphs, draws.ptr[1:] - draws.ptr[:-1])
        threads = threads_worth(costs, len(ptr) - 1, fused.threads)
        self.shards = make_shards(costs, ptr, threads, spare, self._may_share(threads))
        self.n_shards = self.shards.ptr.shape[1] - 1
        self.n_threads = min(threads, self.n_shards)
        self.shared = self.shards.order[ranges(self.shards.ptr[:, -1], self.shards.ends - self.shards.ptr[:, -1])]
        self.n_workers = workers_for(self.n_threads) if in_step or len(self.shared) else self.n_threads
        self.max_pairs = max(1, fused.max_pairs // self.n_threads)
        self.max_held = fused.max_held // self.n_threads
        self.arenas: list[Arena] = []
        fused.parameters.read()

    def _may_share(self, threads: int) -> Array:
        """Which graphs all workers may share: large ones without balls, whitened as one, whose passes go together."""
        if threads == 1 or not self.fused.shape.joint or torch.is_grad_enabled():
            return np.zeros(len(self.graphs), np.bool_)
        rows, n_draws = self.plan.row_counts[self.graphs], np.diff(self.draws.ptr)
        is_large: Array = np.minimum(n_draws, rows) * rows >= PAIRS_SHARED * threads
        return is_large & ~self.plan.by_balls[self.graphs]

    def embed_nodes(self) -> Array:
        """Standardised embeddings of the drawn nodes in torch's order."""
        self._begin(keep=False, with_nodes=True)
        team_of(self.n_workers).run(run_worker, self._arguments(FORWARD))
        self._end()
        return self.found_nodes()

    def found_nodes(self) -> Array:
        """Standardised embeddings of the drawn nodes, after a pass that left them."""
        return self.fused.node_statistics.to_torch(self.work.node_embeddings, self.network.node_standardizer)

    def embed_graphs(self, keep: bool) -> Array:
        """Standardised embeddings of the graphs in torch's order; ``keep`` what the backward pass needs."""
        first = self.initialise_statistics()
        self._begin(keep)
        team_of(self.n_workers).run(run_worker, self._arguments(FORWARD))
        if not keep:
            self._end()
        self._update_statistics(first)
        return self.fused.graph_statistics.to_torch(self.work.graph_embeddings, self.network.graph_standardizer)

    def embed_views(self, draws: list[Draws], with_nodes: bool = False) -> Array:
        """Standardised embeddings of the graphs, the mean over several draws of their roots, in torch's order."""
        self._begin(keep=False, with_nodes=with_nodes)
        self.work = self.work._replace(views=_by_graph(draws), n_views=len(draws))
        team_of(self.n_workers).run(run_worker, self._arguments(FORWARD))
        self._end()
        return self.fused.graph_statistics.to_torch(self.work.graph_embeddings, self.network.graph_standardizer)

    def backward(self, gradient: Array) -> list[Tensor]:
        """Gradients of the parameters, given that of the embeddings."""
        if not self.arenas:
            raise RuntimeError(
                "the backward pass of these embeddings was run before, and its arenas are in use elsewhere; "
                "compute the embeddings again"
            )
        grad_embeddings = self.fused.graph_statistics.from_torch(gradient, self.network.graph_standardizer)
        self.work = self.work._replace(grad_graph_embeddings=grad_embeddings)
        team_of(self.n_workers).run(run_worker, self._arguments(BACKWARD))
        self._end()
        return self.fused.parameters.collect(self.work.gradients)

    def train(self, steps: Steps, adamw: AdamWArrays, skip: tuple[bool, bool]) -> tuple[float, int]:
        """The losses of all graphs, added up, and hits; parameters and statistics move step by step.

        Args:
            skip: whether the statistics of nodes and of graphs know the first step already.
        """
        self._begin(keep=True)
        self.work = self.work._replace(
            targets=steps.targets,
            weights=steps.weight_fractions(),
            grad_graph_embeddings=np.empty_like(self.work.graph_embeddings),
        )
        training = Training(
            adamw, self.fused.node_statistics.running(int(skip[0])), self.fused.graph_statistics.running(int(skip[1]))
        )
        team_of(self.n_workers).run(run_worker, self._arguments(TRAIN, training))
        self._end()
        counts = np.diff(steps.ptr)
        return float(self.work.losses @ np.repeat(counts, counts)), int(self.work.hits.sum())

    def _begin(self, keep: bool, with_nodes: bool = False) -> None:
        fused, parameters = self.fused, self.fused.parameters
        self.network = Network(
            fused.shape, parameters.node, parameters.graph, parameters.head, fused.node_statistics.standardizer(),
            fused.graph_statistics.standardizer(),
        )  # fmt: skip
        self.work = self._make_work(with_nodes, parameters.own_size if keep else 0)
        sizes = self.sizes(keep)
        self.work = self.work._replace(keep=np.ascontiguousarray(sizes[:, KEPT]))
        spare = sizes[self.n_workers :].max(axis=0, initial=0)
        self.arenas = fused.borrow_arenas(np.maximum(sizes[: self.n_workers], spare))

    def sizes(self, keep: bool) -> Array:
        """What each shard needs of an arena, and what it may keep for the backward pass."""
        found = np.zeros((self.n_shards, KEPT + 1), np.int64)
        needs(self._job(counting_arena(), 0, _NO_INTEGERS), keep, found)
        return found

    def _job(self, arena: Arena, number: int, cells: Array) -> Job:
        return Job(self.plan, self.network, self.work, self.max_pairs, self.max_held, arena, number, cells)

    def _make_exchange(self) -> Exchange:
        n_parts, width = (self.n_threads, int(self.fused.shape.widths[-1])) if len(self.shared) else (0, 0)
        size = int(np.diff(self.draws.ptr)[self.shared].max(initial=0)) * self.fused.node_statistics.size
        return Exchange(
            np.empty((n_parts, 1 + 2 * width)),
            np.empty((n_parts, 2 * width)),
            np.empty(size, np.float32),
            np.empty(size, np.float32),
        )

    def _make_work(self, with_nodes: bool, n_gradients: int) -> Work:
        n_graphs, size = len(self.graphs), self.fused.node_statistics.size
        return Work(
            graphs=self.graphs,
            draws=self.draws,
            targets=_NO_INTEGERS,
            weights=_NO_FLOATS,
            shards=self.shards,
            taken=np.zeros(len(self.shards.ptr), np.int64),
            keep=_NO_INTEGERS,
            states=np.zeros((n_graphs + self.n_workers, STATES), np.int64),
            exchange=self._make_exchange(),
            root_embeddings=np.zeros(self.n_shards, np.int64),
            node_embeddings=np.empty(len(self.draws.nodes) * size, np.float32) if with_nodes else _NO_FLOATS,
            views=_NO_DRAWS,
            n_views=0,
            graph_embeddings=np.empty(n_graphs * self.fused.graph_statistics.size, np.float32),
            grad_graph_embeddings=_NO_FLOATS,
            moments=np.zeros((self.n_shards, 1 + 2 * size)),
            losses=np.zeros(n_graphs),
            hits=np.zeros(n_graphs, np.bool_),
            gradients=np.empty((self.n_shards, n_gradients), np.float32),
        )

    def _arguments(self, mode: int, training: Training = NO_TRAINING) -> ArgumentsOf:
        """Those of `run_worker` behind the round, for each worker."""
        return lambda number, cells: (mode, self._job(self.arenas[number], number, cells), training)

    def _end(self) -> None:
        self.fused.return_arenas(self.arenas)
        self.arenas = []

    def initialise_statistics(self) -> tuple[bool, bool]:
        """The very first batch sets the statistics that it is standardised with: look at it before all else.

        Returns whether it was the first for the statistics of nodes and of graphs.
        """
        nodes, graphs = self.fused.node_statistics, self.fused.graph_statistics
        first = nodes.is_first, graphs.is_first
        if first[0]:
            self._begin(keep=False, with_nodes=True)
            team_of(self.n_workers).run(run_worker, self._arguments(FORWARD))
            self._end()
            nodes.update(self._exact_moments(), update_from_moments)
        if first[1]:
            self._begin(keep=False)
            team_of(self.n_workers).run(run_worker, self._arguments(FORWARD))
            self._end()
            graphs.update(self.work.graph_embeddings, update_from_embeddings)
        return first

    def _exact_moments(self) -> Array:
        """Those of the drawn nodes in double precision: no mean is known yet about which single precision would do."""
        shift, counts = self.network.node_standardizer.shift, self.draws.counts.astype(np.float64)
        away = self.work.node_embeddings.reshape(-1, len(shift)).astype(np.float64) - shift
        return np.concatenate([[counts.sum()], counts @ away, counts @ away**2])[None]

    def _update_statistics(self, first: tuple[bool, bool]) -> None:
        """From this pass, unless it has updated them already."""
        if not first[0]:
            self.fused.node_statistics.update(self.work.moments, update_from_moments)
        if not first[1]:
            self.fused.graph_statistics.update(self.work.graph_embeddings, update_from_embeddings)


def _by_graph(draws: list[Draws]) -> Draws:
    """Several draws from each graph as one: all of the first graph, all of the second, and so on."""
    counts = np.stack([np.diff(one.ptr) for one in draws], axis=1)  # (graphs, draws)
    slots = np.arange(counts.size).reshape(counts.shape)
    order = np.argsort(
        np.concatenate([np.repeat(slots[:, number], counts[:, number]) for number in range(len(draws))]), kind="stable"
    )
    nodes, times = (np.concatenate(parts)[order] for parts in zip(*(one[1:] for one in draws), strict=True))
    return Draws(starts_of(counts.ravel()), nodes, times)
