"""Fused: a network on a set of graphs, computed by the engine, with gradients."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phist.engine.arena import PHASES, Arena, make_arena, most_held
from phist.engine.batch_pass import Pass
from phist.engine.budget import KEPT
from phist.engine.computation import Computation, Positions, Weights
from phist.engine.optimizer import AdamWState, no_motion
from phist.engine.parameters import Parameters
from phist.engine.plan import make_plan
from phist.engine.shape import columns_of, shape_of
from phist.engine.statistics import Statistics
from phist.engine.steps import Steps
from phist.engine.torch_threads import MAX_THREADS, openmp_limit, thread_budget
from phist.graphs.graphset import GraphSet
from phist.nn.network import StructuralNetwork
from phist.nn.sampling import Draws, Views

Array = NDArray[Any]
PAIRS_A_CALL = 1 << 20  # about a quarter of a second, and between two calls an interrupt is noticed
HELD = 64  # times max_elements: responses that are held where roots come in turns, 4 GB unless limited
SPARE_SHARDS = 4  # of every step in training, done by the worker that is ready first
SPARE_PAYS = 0.5  # pairs in a step for each parameter, whose gradient every shard has for itself


class Fused(Computation):
    """By the engine, on the processor; parameters stay in ``network``, for optimisers and files to find."""

    engine = "fused"
    roots_at_once = 1 << 15  # embeddings of so many roots take some tens of megabytes

    def __init__(self, network: StructuralNetwork, graphs: GraphSet) -> None:
        super().__init__(network, graphs)
        config = network.config
        self.shape = shape_of(network)
        # whitened root by root, the background is another one for every root; and nothing can be taken out of a maximum
        balls = self.shape.joint and config.aggregation != "max"
        self.plan = make_plan(graphs, config.operator_scale, self.shape.reach, balls, config.operator)
        self.threads = thread_budget()
        self.max_pairs = max(1, config.max_elements // self.shape.widest)
        self.max_held = most_held(HELD * config.max_elements)
        self.clocks = np.zeros((MAX_THREADS, 0), np.int64)  # of each thread, by phase
        layers: list[Any] = [*network.f_node.convolutions, *network.f_graph.convolutions, network.head]
        self.parameters = Parameters(self.shape, config.channels, [part for layer in layers for part in (layer.weight, layer.bias)])
        bins, width, moments = self.shape.bins.number, int(self.shape.widths[-1]), self.shape.moments
        columns, further = columns_of(bins, config.channels[-1]), columns_of(bins, config.channels[-1], moments)
        self.node_statistics = Statistics(network.node_standardizer, columns, bins * width)
        self.graph_statistics = Statistics(network.graph_standardizer, further, (bins + moments) * width)
        self._arenas: list[list[Arena]] = []
        self._adamw: AdamWState | None = None

    def graph_embeddings(self, chosen: Positions, draws: Draws) -> Tensor:
        call = Pass(self, chosen, draws)
        if not torch.is_grad_enabled():  # a function would not notice: its inputs need gradients all the same
            return torch.from_numpy(call.embed_graphs(keep=False))
        convolutions = self.parameters.tensors[:-2]
        embeddings: Tensor = _Embedding.apply(call, *convolutions)  # type: ignore[no-untyped-call]
        return embeddings  # (graphs, m_graph)

    @torch.no_grad()
    def mean_embeddings(self, chosen: Positions, views: Views) -> Tensor:
        return torch.from_numpy(Pass(self, chosen, views.roots).embed_views(views.draws))

    @torch.no_grad()
    def both_levels(self, chosen: Positions, views: Views) -> tuple[Tensor, Tensor]:
        call = Pass(self, chosen, views.roots)
        embeddings = call.embed_views(views.draws, with_nodes=True)
        return torch.from_numpy(embeddings), torch.from_numpy(call.found_nodes())

    @torch.no_grad()
    def node_embeddings(self, chosen: Positions, draws: Draws) -> Tensor:
        return torch.from_numpy(Pass(self, chosen, draws).embed_nodes())

    def train(self, steps: Steps, optimizer: torch.optim.AdamW, clip: float | None) -> tuple[float, int]:
        if not self._trains_all:
            return super().train(steps, optimizer, clip)  # torch's optimiser leaves frozen parameters alone
        if self._adamw is None or not self._adamw.is_of(optimizer):
            self._adamw = AdamWState(optimizer, self.parameters)
        state, skip, total, hits = self._adamw, (False, False), 0.0, 0
        with torch.no_grad():
            if self.node_statistics.is_first or self.graph_statistics.is_first:
                start = steps.part(0, 1)
                skip = Pass(self, start.graphs, start.draws).initialise_statistics()
            costs = self.plan.costs(steps.graphs, np.diff(steps.draws.ptr))
            spare = SPARE_SHARDS if costs.sum() > SPARE_PAYS * self.parameters.own_size * len(steps.rates) else 0
            for part in steps.parts(costs, PAIRS_A_CALL):
                call = Pass(self, part.graphs, part.draws, part.ptr, spare)
                with self._all_or_nothing():
                    losses, own = call.train(part, state.arrays(part.rates, clip, call.n_threads), skip)
                    self.parameters.write()
                    state.advance(len(part.rates))
                total, hits, skip = total + losses, hits + own, (False, False)
        return total, hits

    def loss_backward(self, chosen: Positions, draws: Draws, targets: NDArray[np.int64], weights: Weights) -> tuple[float, int]:
        """Both passes together, as in `train`: graphs are still in the cache when their backward pass begins."""
        if not self._trains_all:
            return super().loss_backward(chosen, draws, targets, weights)
        step = Steps(np.array([0, len(chosen)]), np.zeros(1), chosen, draws, targets, np.asarray(weights, np.float64))
        with torch.no_grad():
            call = Pass(self, chosen, draws, step.ptr)
            skip = call.initialise_statistics()
            with self._all_or_nothing():
                losses, hits = call.train(step, no_motion(self.parameters, call.n_threads), skip)
            gradients = self.parameters.collect(call.work.gradients)
        for parameter, gradient in zip(self.parameters.tensors, gradients, strict=True):
            parameter.grad = gradient
        return losses / len(chosen), hits

    @property
    def _trains_all(self) -> bool:
        """Whether no parameter is frozen."""
        return all(parameter.requires_grad for parameter in self.parameters.tensors)

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

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Torch's own operations are too small here to share out, and its waiting threads would take the engine's time."""
        with openmp_limit():
            yield

    def batches(self, roots: Any) -> Iterator[Positions]:
        """Graphs as they come; a single one of any size is taken in turns by the engine itself."""
        filled = np.cumsum(roots) // self.roots_at_once
        yield from np.split(np.arange(len(self.graphs)), np.flatnonzero(np.diff(filled)) + 1)

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


class _Embedding(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, call: Pass, *parameters: Tensor) -> Tensor:
        ctx.call = call
        ctx.save_for_backward(*parameters)  # torch then notices if they were changed before the backward pass
        return torch.from_numpy(call.embed_graphs(keep=any(ctx.needs_input_grad)))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        call: Pass = ctx.call
        convolutions = len(ctx.saved_tensors)
        return None, *call.backward(gradients[0].numpy())[:convolutions]
