"""Running standardisation in compiled code: the same numbers as `RunningStandardizer`, without a dozen small tensors a step.

Embeddings lie bin by bin in the engine, (bins, width), and channel by channel in torch, (channels, bins), as the running
statistics do.
"""

from typing import Any

import numpy as np

from phist.engine.vectors import compiled


@compiled
def settle(mean: Any, variance: Any, epsilon: float, bins: int, width: int, shift: Any, scale: Any) -> None:
    """Shift and scale of embeddings, in the engine's order, from running statistics in torch's."""
    for channel in range(len(mean) // bins):
        for number in range(bins):
            at, to = channel * bins + number, number * width + channel
            shift[to] = mean[at]
            scale[to] = 1 / np.sqrt(variance[at] + epsilon)


@compiled
def learn_nodes(sums: Any, bins: int, width: int, step: float, mean: Any, variance: Any) -> None:
    """Move running statistics towards those of a batch, given every thread's weights, sums and sums of squares about the mean."""
    weight, size = 0.0, bins * width
    for share in range(len(sums)):
        weight += sums[share, 0]
    for channel in range(len(mean) // bins):
        for number in range(bins):
            at, total, square = 1 + number * width + channel, 0.0, 0.0
            for share in range(len(sums)):
                total += sums[share, at]
                square += sums[share, at + size]
            average = total / weight
            spread = max(square / weight - average * average, 0.0)
            _approach(mean, variance, channel * bins + number, mean[channel * bins + number] + average, spread, step)


@compiled
def _approach(mean: Any, variance: Any, at: int, new_mean: float, new_variance: float, step: float) -> None:
    away = new_mean - mean[at]
    variance[at] += step * (new_variance + (1 - step) * away * away - variance[at])
    mean[at] += step * away


@compiled
def learn_graphs(results: Any, bins: int, width: int, step: float, mean: Any, variance: Any) -> None:
    """Move running statistics towards those of a batch of graphs' histograms."""
    n_graphs = len(results) // (bins * width)
    for channel in range(len(mean) // bins):
        for number in range(bins):
            first, average, spread = number * width + channel, 0.0, 0.0
            for graph in range(n_graphs):
                average += results[graph * bins * width + first]
            average /= n_graphs
            for graph in range(n_graphs):
                away = results[graph * bins * width + first] - average
                spread += away * away
            _approach(mean, variance, channel * bins + number, average, spread / n_graphs, step)
