"""Where to cut the spectrum: how far responses can move, given a partition, and a partition that says so tightly."""

from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise

import numpy as np

from phist.theory.spectral import FloatArray, PolynomialKernels, Spectrum, StepKernels, approximate, projector_distance


def response_bound(steps: StepKernels, distances: FloatArray) -> float:
    """A bound of the change of one root's responses, in the Euclidean norm over nodes and channels."""
    gaps = np.abs(steps.levels[:, :, None] - steps.levels[:, None])  # (channels, intervals, offsets)
    least = np.einsum("cpa,p->ca", gaps, distances).min(axis=1)  # a weighted median, which is one of the levels
    return float(np.linalg.norm(2 * steps.errors + least))


def best_partition(
    kernels: PolynomialKernels, spectrum: Spectrum, other: Spectrum, most: int = 12, candidates: int = 32
) -> FloatArray:
    """A partition that makes the sound bound small: cuts in the widest gaps of both spectra, one by one while they help.

    Args:
        kernels: what to approximate.
        spectrum, other: of the graph before and after.
        most: intervals at most.
        candidates: gaps to choose cuts from.
    """
    pooled = np.unique(np.concatenate([[0.0], spectrum.values, other.values, [2.0]]).round(9))
    widest = np.sort(np.argsort(-np.diff(pooled), kind="stable")[:candidates])
    free = ((pooled[:-1] + pooled[1:]) / 2)[widest].tolist()
    distance = cache(partial(projector_distance, spectrum, other))  # most intervals of a trial were there before
    edges = np.array([0.0, 2.0])
    bound = _bound_of(kernels, edges, distance)
    while free and len(edges) <= most:
        trials = [np.sort(np.append(edges, cut)) for cut in free]
        bounds = [_bound_of(kernels, trial, distance) for trial in trials]
        best = int(np.argmin(bounds))
        if bounds[best] >= bound:
            break
        edges, bound = trials[best], bounds[best]
        free.pop(best)
    return edges


def _bound_of(kernels: PolynomialKernels, edges: FloatArray, distance: Callable[[float, float], float]) -> float:
    distances = np.array([distance(low, high) for low, high in pairwise(edges.tolist())])
    return response_bound(approximate(kernels, edges), distances)
