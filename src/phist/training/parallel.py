"""DataParallel: every step of training shared out over processes, which move together."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch

from phist.engine.computation import Computation
from phist.engine.fused import Fused
from phist.engine.steps import Steps
from phist.engine.threads import make_shards
from phist.graphs.arrays import starts_of
from phist.nn.normalization import RunningStandardizer
from phist.training.group import Group, Numbers
from phist.training.windows import Positions, Windowed

_NO_LENGTH = 1e-6  # as in torch.nn.utils.clip_grad_norm_, which divides by nothing less


class DataParallel:
    """Trains a network with the other processes of a group.

    Each takes some graphs of a step, by what the engine estimates that they cost. Gradients and the sums that running statistics
    are made of are added up in a fixed order, and every process takes the same step. Up to rounding it is the step of a
    single process with the same graphs.

    Args:
        computation: of the network on all graphs, in every process the same.
        group: of several processes.
    """

    def __init__(self, computation: Computation, group: Group) -> None:
        self.computation, self.group, self.network = computation, group, computation.network
        self.costs = _costs(computation, group)
        standardizers = self.network.node_standardizer, self.network.graph_standardizer
        self._gradient = _FlatGradient([parameter for parameter in self.network.parameters() if parameter.requires_grad])
        self._standardizers = [own if isinstance(own, RunningStandardizer) else None for own in standardizers]

    def train(self, steps: Steps, optimizer: torch.optim.AdamW, clip: float | None) -> tuple[float, int]:
        """Take all steps; returns the losses of all graphs, added up, and the hits: those of all processes."""
        known = self._initialise_statistics(steps.part(0, 1))
        own, fractions = self._own_part(steps)
        computation, positions = self.computation, own.graphs
        if isinstance(computation, Windowed) and len(positions):
            computation, positions = computation.window(positions), np.arange(len(positions))
        own, counts, total, hits = replace(own, graphs=positions), np.diff(steps.ptr), 0.0, 0
        for step, rate in enumerate(steps.rates.tolist()):
            part = own.part(step, step + 1)
            loss, found = self._step(computation, part, fractions[step], known if step == 0 else (False, False), clip)
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            total, hits = total + loss * int(counts[step]), hits + found
        return total, hits

    def _own_part(self, steps: Steps) -> tuple[Steps, Numbers]:
        """The graphs of this process, and what they count for in each step."""
        shards, rank, n_steps = (
            make_shards(self.costs[steps.graphs], steps.ptr, self.group.size, 0),
            self.group.rank,
            len(steps.rates),
        )
        own = np.zeros(len(steps.graphs), np.bool_)
        if rank < shards.ptr.shape[1] - 1:  # else no step has a graph for this process
            for begin, end in shards.ptr[:, rank : rank + 2].tolist():
                own[shards.order[begin:end]] = True
        step_of = np.repeat(np.arange(n_steps), np.diff(steps.ptr))
        fractions: Numbers = np.bincount(step_of[own], steps.weight_fractions()[own].astype(np.float64), n_steps).astype(np.float64)
        ptr = starts_of(np.bincount(step_of[own], minlength=n_steps))
        part = Steps(ptr, steps.rates, steps.graphs[own], steps.draws.select(own), steps.targets[own], steps.weights[own])
        return part, fractions

    @torch.no_grad()
    def _initialise_statistics(self, step: Steps) -> tuple[bool, bool]:
        """The very first step sets the statistics it is standardised with: every process looks at all of its graphs.

        Returns whether the statistics of nodes and of graphs know that step now.
        """
        first = [own is not None and int(own.updates) == 0 for own in self._standardizers]
        if any(first):
            self.computation.scores(step.graphs, step.draws)
        return first[0], first[1]

    def _step(
        self, computation: Computation, part: Steps, fraction: float, known: tuple[bool, bool], clip: float | None
    ) -> tuple[float, int]:
        """Leave the gradients of all processes in the parameters, and move the statistics; returns loss and hits of all."""
        weights = float(part.draws.counts.sum()), float(len(part.graphs))
        self._gradient.clear()
        with _aside(self._standardizers) as seen:
            loss, hits = (0.0, 0)
            if len(part.graphs):
                loss, hits = computation.loss_backward(part.graphs, part.draws, part.targets, part.weights)
            sums = [seen.sums(number, weight) for number, weight in enumerate(weights)]
        own = [self._gradient.read() * fraction, *sums]
        total = self.group.sum(np.concatenate([*own, [fraction * loss, hits]]))  # one message: its latency is what it costs
        gradient, nodes, graphs, (loss, found) = np.split(total, np.cumsum([len(values) for values in own]))
        self._gradient.write(gradient, clip)
        for standardizer, values, is_known in zip(self._standardizers, (nodes, graphs), known, strict=True):
            if standardizer is not None and not is_known:
                _absorb(standardizer, values)
        return float(loss), round(found)


class _FlatGradient:
    """The gradients of all parameters as one array: a step has few graphs, and each call for each parameter would count."""

    def __init__(self, parameters: list[torch.nn.Parameter]) -> None:
        self._parameters = parameters
        self._flat = torch.cat([parameter.detach().reshape(-1) for parameter in parameters])
        pieces = self._flat.split([parameter.numel() for parameter in parameters])
        self._views = [piece.view_as(parameter) for piece, parameter in zip(pieces, parameters, strict=True)]

    def clear(self) -> None:
        for parameter in self._parameters:
            parameter.grad = None

    def read(self) -> Numbers:
        """What the parameters have now; zeros where one has nothing."""
        grads = [torch.zeros_like(own) if own.grad is None else own.grad for own in self._parameters]
        flat: Numbers = torch.cat([grad.reshape(-1) for grad in grads]).cpu().double().numpy()
        return flat

    def write(self, values: Numbers, clip: float | None) -> None:
        """Give each parameter its gradient, all together shortened to ``clip``."""
        if clip is not None:
            length = float(np.linalg.norm(values))
            values *= min(1.0, clip / (length + _NO_LENGTH))
        self._flat.copy_(torch.from_numpy(values))
        for parameter, view in zip(self._parameters, self._views, strict=True):
            parameter.grad = view


class _Seen(NamedTuple):
    """Standardisers that hold the statistics of this process's part of a step alone."""

    standardizers: list[RunningStandardizer | None]

    def sums(self, number: int, weight: float) -> Numbers:
        """The weight of what was seen, and its sums and sums of squares; zeros where nothing was."""
        own = self.standardizers[number]
        if own is None:
            return np.zeros(0)
        mean, variance = (part.detach().cpu().double().numpy() for part in (own.mean, own.variance))
        if weight == 0:
            return np.zeros(1 + 2 * len(mean))
        return np.concatenate([[weight], weight * mean, weight * (variance + mean**2)])


@contextmanager
def _aside(standardizers: list[RunningStandardizer | None]) -> Iterator[_Seen]:
    """Let a step move the statistics all the way to what it sees, and put them back: all processes move them together."""
    present = [own for own in standardizers if own is not None]
    saved = [(own, own.momentum, [part.clone() for part in (own.mean, own.variance, own.updates)]) for own in present]
    try:
        for own in present:
            own.momentum = 1.0
        yield _Seen(standardizers)
    finally:
        for own, momentum, parts in saved:
            own.momentum = momentum
            for part, before in zip((own.mean, own.variance, own.updates), parts, strict=True):
                part.copy_(before)


def _absorb(standardizer: RunningStandardizer, sums: Numbers) -> None:
    n = len(standardizer.mean)
    mean = sums[1 : 1 + n] / sums[0]
    variance = np.maximum(sums[1 + n :] / sums[0] - mean**2, 0)
    standardizer.absorb(*(torch.from_numpy(own).to(standardizer.mean) for own in (mean, variance)))


def _costs(computation: Computation, group: Group) -> Positions:
    """What each graph costs in a step, by the engine's estimate; where it plans window by window, each process looks at some."""
    sizes = computation.sizes
    n_roots = computation.network.config.sampler.most_roots(sizes)
    if isinstance(computation, Fused):
        return computation.plan.costs(np.arange(len(sizes)), n_roots).astype(np.int64)
    if not isinstance(computation, Windowed):
        return sizes * n_roots
    costs = np.zeros(len(sizes))
    for number, chosen in enumerate(computation.batches(n_roots)):
        if number % group.size == group.rank:
            window = computation.window(chosen)
            plan = window.plan if isinstance(window, Fused) else None
            every = np.arange(len(chosen))
            costs[chosen] = sizes[chosen] * n_roots[chosen] if plan is None else plan.costs(every, n_roots[chosen])
    return group.sum(costs).astype(np.int64)
