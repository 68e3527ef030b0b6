"""FusedNetwork: a network of `phist.nn`, computed by the engine, with gradients."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phist.engine.arena import PHASES, Arena, counting_arena, make_arena, most_held
from phist.engine.budget import KEPT, needs
from phist.engine.optimizer import AdamWArrays, AdamWState, no_adamw, no_motion
from phist.engine.parameters import Parameters
from phist.engine.plan import Plan, make_plan
from phist.engine.shape import Network, columns_of, shape_of
from phist.engine.statistics import Statistics, no_statistics, update_from_embeddings, update_from_moments
from phist.engine.steps import Steps
from phist.engine.threads import make_shards, run_workers, threads_worth
from phist.engine.torch_threads import MAX_THREADS, thread_budget, workers_for
from phist.engine.work import STATES, Exchange, Job, Work
from phist.engine.worker import BACKWARD, FORWARD, TRAIN, Training, run_worker
from phist.graphs.arrays import ranges, starts_of
from phist.graphs.graphset import GraphSet
from phist.nn.network import StructuralNetwork
from phist.nn.sampling import Draws, Views

Array = NDArray[Any]
PAIRS_A_CALL = 1 << 20  # about a quarter of a second, and between two calls an interrupt is noticed
HELD = 64  # times max_elements: responses that are held where roots come in turns, 4 GB unless limited
PAIRS_SHARED = 4096  # for each thread, about a millisecond: with fewer pairs a graph's roots are not shared
SPARE_SHARDS = 4  # of every step in training, done by the worker that is ready first
SPARE_PAYS = 0.5  # pairs in a step for each parameter, whose gradient every shard has for itself
_NO_FLOATS, _NO_INTEGERS = np.empty(0, np.float32), np.empty(0, np.int64)
_NO_DRAWS = Draws(np.zeros(1, np.int64), np.empty(0, np.int32), _NO_FLOATS)
NO_TRAINING = Training(no_adamw(), no_statistics(), no_statistics())


class FusedNetwork:
    """A network whose embeddings the engine computes; its parameters stay in ``network``, for optimisers and files to find."""

    def __init__(self, network: StructuralNetwork) -> None:
        self.network = network
        self.shape = shape_of(network)
        self.channels = network.config.channels
        self.threads = thread_budget()
        self.max_pairs = max(1, network.config.max_elements // self.shape.widest)
        self.max_held = most_held(HELD * network.config.max_elements)
        self.clocks = np.zeros((MAX_THREADS, 0), np.int64)  # of each thread, by phase
        layers: list[Any] = [*network.f_node.convolutions, *network.f_graph.convolutions, network.head]
        self.parameters = Parameters(self.shape, self.channels, [part for layer in layers for part in (layer.weight, layer.bias)])
        bins, width, moments = self.shape.bins.number, int(self.shape.widths[-1]), self.shape.moments
        columns, further = columns_of(bins, self.channels[-1]), columns_of(bins, self.channels[-1], moments)
        self.node_statistics = Statistics(network.node_standardizer, columns, bins * width)
        self.graph_statistics = Statistics(network.graph_standardizer, further, (bins + moments) * width)
        self._arenas: list[list[Arena]] = []
        self._adamw: AdamWState | None = None

    def plan(self, graphs: GraphSet) -> Plan:
        """What the engine works out once for a set of graphs."""
        config = self.network.config
        # whitened root by root, the background is another one for every root; and nothing can be taken out of a maximum
        balls = self.shape.joint and config.aggregation != "max"
        return make_plan(graphs, config.operator_scale, self.shape.reach, balls, config.operator)

    def graph_embeddings(self, plan: Plan, graphs: Array, draws: Draws) -> Tensor:
        """e_G of some graphs of the plan, standardised as `StructuralNetwork.graph_embeddings` does."""
        call = _Pass(self, plan, graphs, draws)
        if not torch.is_grad_enabled():  # a function would not notice: its inputs need gradients all the same
            return torch.from_numpy(call.embed_graphs(keep=False))
        convolutions = self.parameters.tensors[:-2]
        embeddings: Tensor = _Embedding.apply(call, *convolutions)  # type: ignore[no-untyped-call]
        return embeddings  # (graphs, m_graph)

    @torch.no_grad()
    def mean_embeddings(self, plan: Plan, graphs: Array, views: Views) -> Tensor:
        """The mean of e_G over several draws, their roots embedded once."""
        return torch.from_numpy(_Pass(self, plan, graphs, views.roots).embed_views(views.draws))

    @torch.no_grad()
    def both_levels(self, plan: Plan, graphs: Array, views: Views) -> tuple[Tensor, Tensor]:
        """`mean_embeddings`, and `node_embeddings` of the roots, in one pass."""
        call = _Pass(self, plan, graphs, views.roots)
        embeddings = call.embed_views(views.draws, with_nodes=True)
        return torch.from_numpy(embeddings), torch.from_numpy(call.found_nodes())

    @torch.no_grad()
    def train(self, plan: Plan, steps: Steps, optimizer: torch.optim.AdamW, clip: float | None) -> tuple[float, int]:
        """Take all steps; returns the losses of all graphs, added up, and the hits."""
        total, hits = 0.0, 0
        if self._adamw is None or not self._adamw.is_of(optimizer):
            self._adamw = AdamWState(optimizer, self.parameters)
        state, skip = self._adamw, (False, False)
        if self.node_statistics.is_first or self.graph_statistics.is_first:
            start = steps.part(0, 1)
            skip = _Pass(self, plan, start.graphs, start.draws).initialise_statistics()
        costs = plan.costs(steps.graphs, np.diff(steps.draws.ptr))
        spare = SPARE_SHARDS if costs.sum() > SPARE_PAYS * self.parameters.own_size * len(steps.rates) else 0
        for part in steps.parts(costs, PAIRS_A_CALL):
            call = _Pass(self, plan, part.graphs, part.draws, part.ptr, spare)
            with self._all_or_nothing():
                losses, own = call.train(part, state.arrays(part.rates, clip, call.n_threads), skip)
                self.parameters.write()
                state.advance(len(part.rates))
            total, hits, skip = total + losses, hits + own, (False, False)
        return total, hits

    @torch.no_grad()
    def gradients(self, plan: Plan, step: Steps) -> tuple[float, int, list[Tensor]]:
        """The loss of a single step, its hits and the gradients of all parameters, which stay as they are; statistics move.

        Both passes go together, as in `train`: graphs are still in the cache when their backward pass begins.
        """
        call = _Pass(self, plan, step.graphs, step.draws, step.ptr)
        skip = call.initialise_statistics()
        with self._all_or_nothing():
            losses, hits = call.train(step, no_motion(self.parameters, call.n_threads), skip)
        return losses / len(step.graphs), hits, self.parameters.collect(call.work.gradients)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """What was not completed has not been: statistics go back, and the optimiser's state is read from torch again."""
        saved = [(array, array.copy()) for part in (self.node_statistics, self.graph_statistics) for array in part.arrays()]
        try:
            yield
        except BaseException:
            self._adamw = None
            self.parameters.packed[:] = 0  # padding too
            for array, before in saved:
                array[:] = before
            raise

    @torch.no_grad()
    def node_embeddings(self, plan: Plan, graphs: Array, draws: Draws) -> Tensor:
        """e_j of the drawn nodes, one graph after the other, standardised; without gradients."""
        return torch.from_numpy(_Pass(self, plan, graphs, draws).embed_nodes())  # (roots, m_node)

    def keep_time(self) -> None:
        """From now on count processor cycles by phase in ``clocks``, for benchmarks."""
        self.clocks = np.zeros((MAX_THREADS, len(PHASES)), np.int64)
        self._arenas.clear()

    def borrow_arenas(self, sizes: Array) -> list[Arena]:
        """An arena for each worker, with space for as many floats, integers, doubles and positions as ``sizes`` says."""
        found = self._arenas.pop() if self._arenas else []
        result = []
        for number, size in enumerate(sizes[:, :KEPT].tolist()):
            arena = found[number] if number < len(found) else None
            if arena is None or any(len(part) < needed for part, needed in zip(arena, size, strict=False)):
                arena = make_arena([needed + needed // 2 for needed in size], self.clocks[number])
            arena.tops[:] = 0
            result.append(arena)
        return result

    def return_arenas(self, arena: list[Arena]) -> None:
        """Let another pass use them."""
        self._arenas.append(arena)


class _Pass:
    """One pass over a batch: what the backward pass needs of the forward pass."""

    network: Network
    work: Work

    def __init__(
        self, fused: FusedNetwork, plan: Plan, graphs: Array, draws: Draws, ptr: Array | None = None, spare: int = 0
    ) -> None:
        self.fused, self.plan, self.draws = fused, plan, draws
        self.graphs = np.ascontiguousarray(graphs, np.int64)
        in_step = ptr is not None  # the threads wait for each other in every step
        ptr = np.array([0, len(graphs)]) if ptr is None else ptr
        costs = plan.costs(self.graphs, draws.ptr[1:] - draws.ptr[:-1])
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
        self._run(FORWARD)
        self._end()
        return self.found_nodes()

    def found_nodes(self) -> Array:
        """Standardised embeddings of the drawn nodes, after a pass that left them."""
        return self.fused.node_statistics.to_torch(self.work.node_embeddings, self.network.node_standardizer)

    def embed_graphs(self, keep: bool) -> Array:
        """Standardised embeddings of the graphs in torch's order; ``keep`` what the backward pass needs."""
        first = self.initialise_statistics()
        self._begin(keep)
        self._run(FORWARD)
        if not keep:
            self._end()
        self._update_statistics(first)
        return self.fused.graph_statistics.to_torch(self.work.graph_embeddings, self.network.graph_standardizer)

    def embed_views(self, draws: list[Draws], with_nodes: bool = False) -> Array:
        """Standardised embeddings of the graphs, the mean over several draws of their roots, in torch's order."""
        self._begin(keep=False, with_nodes=with_nodes)
        self.work = self.work._replace(views=_by_graph(draws), n_views=len(draws))
        self._run(FORWARD)
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
        self._run(BACKWARD)
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
        self._run(TRAIN, training)
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

    def _run(self, mode: int, training: Training = NO_TRAINING) -> None:
        def task(number: int, cells: Array, this_round: int) -> None:
            run_worker(this_round, mode, self._job(self.arenas[number], number, cells), training)

        run_workers(task, self.n_workers)

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
            self._run(FORWARD)
            self._end()
            nodes.update(self._exact_moments(), update_from_moments)
        if first[1]:
            self._begin(keep=False)
            self._run(FORWARD)
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


class _Embedding(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, call: _Pass, *parameters: Tensor) -> Tensor:
        ctx.call = call
        ctx.save_for_backward(*parameters)  # torch then notices if they were changed before the backward pass
        return torch.from_numpy(call.embed_graphs(keep=any(ctx.needs_input_grad)))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        call: _Pass = ctx.call
        convolutions = len(ctx.saved_tensors)
        return None, *call.backward(gradients[0].numpy())[:convolutions]
