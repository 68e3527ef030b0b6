"""φ of theorem 2.2 as a small neural network: how wide a hidden layer has to be before its sums separate."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from phist.theory.geometry import check_at_least
from phist.theory.separation import SumSeparation


@dataclass(frozen=True)
class WidthResult:
    """One hidden layer fitted to φ."""

    width: int
    error: float  # largest |sum of the network's outputs - count|, over multisets and outputs
    separates: bool  # error below 1/2, so that rounding gives the exact counts back and with them the certificate


@dataclass(frozen=True)
class PerceptronStudy:
    """Fits of growing width; ``width`` is the first that separates, ``None`` if none does."""

    results: tuple[WidthResult, ...]

    @property
    def width(self) -> int | None:
        return next((result.width for result in self.results if result.separates), None)


def study_perceptron(
    separation: SumSeparation, widths: Sequence[int] = (1, 2, 4, 8, 16, 32, 64), *, steps: int = 600, seed: int
) -> PerceptronStudy:
    """Fit x → W₂ tanh(W₁ x + b₁) + b₂ to φ on all elements of the multisets, one width after the other, until one separates.

    Any network, a random one included, gives different multisets different sums as a rule, if by a hair. Asked for is
    more: every sum within 1/2 of the count that it stands for.

    Args:
        separation: what to learn, from `separate_by_sum`.
        widths: hidden units to try, in this order.
        steps: of Adam on the mean squared error, for each width.
        seed: of the initial weights.
    """
    check_at_least("steps", steps, 1)
    results: list[WidthResult] = []
    for width in widths:
        error = _fit_error(separation, check_at_least("width", width, 1), steps, seed)
        results.append(WidthResult(width, error, error < 0.5))
        if results[-1].separates:
            break
    return PerceptronStudy(tuple(results))


def _fit_error(separation: SumSeparation, width: int, steps: int, seed: int) -> float:
    elements = np.unique(np.concatenate([multiset.vectors for multiset in separation.multisets]), axis=0)
    center, scale = elements.mean(axis=0), elements.std(axis=0) + 1e-12
    network = _fit(
        torch.from_numpy((elements - center) / scale), torch.from_numpy(separation.phi(elements)).double(), width, steps, seed
    )
    largest = 0.0
    for multiset in separation.multisets:
        with torch.no_grad():
            outputs = network(torch.from_numpy((multiset.vectors - center) / scale)).numpy()
        missed = np.abs(multiset.counts @ outputs - np.array(separation.aggregate(multiset), np.float64))
        largest = max(largest, float(missed.max(initial=0.0)))
    return largest


def _fit(x: torch.Tensor, target: torch.Tensor, width: int, steps: int, seed: int) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = nn.Sequential(nn.Linear(x.shape[1], width), nn.Tanh(), nn.Linear(width, target.shape[1])).double()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        optimizer.zero_grad()
        (network(x) - target).square().mean().backward()
        optimizer.step()
        schedule.step()
    return network
