"""Which aggregation tells two multisets apart: the answer, and what proves it.

For any φ, mean sees relative frequencies, max sees which vectors occur, sum and histogram see counts. Hence

* sum, and a histogram of at least two bins, tell 𝒳 and 𝒴 apart for some φ exactly if 𝒳 ≠ 𝒴;
* mean exactly if the multiplicities are not proportional;
* max exactly if the two do not have the same distinct vectors.

Where it is possible, the indicator of one vector v is such a φ, 1 at v and 0 elsewhere (-1 elsewhere for the histogram,
which puts it into another bin), and a random projection tanh(W x + c) is looked for
as well; where it is not, no φ helps, whatever it is. All this is decided in whole numbers, of any length. Only what random
projections and φ(x) = x give is computed in double precision, where differences within rounding are taken for none.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from phist.theory.geometry import Floats, check_at_least
from phist.theory.multiset import Multiset, check_same_dimension
from phist.theory.projective import uniform_histogram

AggregationName = Literal["mean", "max", "sum", "histogram"]
Counts = NDArray[np.object_]
TOLERANCE = 1e-12  # outputs in double precision that differ by less, relative to what they sum up, are taken for equal
TRIES = 64


@dataclass(frozen=True)
class View:
    """One way to see two things as multisets."""

    name: str
    first: Multiset
    second: Multiset
    meaning: str  # what it says when the two are equal


class Projection(NamedTuple):
    """φ(x) = tanh(W x + c), and the largest difference of the two aggregations under it."""

    weights: Floats  # (dimension, dim)
    bias: Floats  # (dim)
    gap: float

    def phi(self, rows: Floats) -> Floats:
        """φ of every row."""
        return np.tanh(rows @ self.weights + self.bias)


@dataclass(frozen=True, eq=False)
class Verdict:
    """Whether one aggregation tells two multisets apart, with the witness or the reason why no φ can."""

    aggregation: AggregationName
    first: Multiset
    second: Multiset
    bins: int
    tells_apart: bool  # for some φ
    as_is: bool  # for φ(x) = x
    vector: Floats | None  # v, whose indicator is the witness
    projection: Projection | None
    reason: str

    def verify(self) -> bool:
        """Recompute from the two multisets: the witnesses make a difference, or no φ can; and so does φ(x) = x, or not."""
        if self.as_is != _differs(self.aggregation, self.first, self.second, self.bins):
            return False
        if not self.tells_apart:
            return self.vector is None and not _possible(self.aggregation, self.first, self.second, self.bins)
        if self.vector is None or not self._indicator_differs():
            return False
        if self.projection is None:
            return True
        phi = self.projection.phi
        return _differs(self.aggregation, self.first.map(phi), self.second.map(phi), self.bins)

    def indicator(self, rows: Floats) -> Floats:
        """φ of every row: 1 at the vector, elsewhere 0, or -1 for the histogram."""
        return np.where((rows == self.vector).all(axis=1), 1.0, _elsewhere(self.aggregation))[:, None]

    def _indicator_differs(self) -> bool:
        times = _times(self.vector[None], self.first), _times(self.vector[None], self.second)  # type: ignore[index]
        return bool(_differences(self.aggregation, *times, self.first.size, self.second.size, self.bins).any())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        found = self.projection
        return {
            "aggregation": self.aggregation,
            "tells_apart": self.tells_apart,
            "as_is": self.as_is,
            "reason": self.reason,
            "vector": None if self.vector is None else self.vector.tolist(),
            "projection": None
            if found is None
            else {"weights": found.weights.tolist(), "bias": found.bias.tolist(), "gap": found.gap},
        }


def compare_aggregations(
    first: Multiset, second: Multiset, *, dim: int | None = None, bins: int = 4, seed: int = 0
) -> list[Verdict]:
    """Mean, max, sum and projective histogram (``bins`` uniform bins, φ within [-1, 1]^dim) on the same two multisets.

    Args:
        first: a multiset.
        second: another of the same dimension.
        dim: outputs of the random projections; the vectors' dimension where left out.
        bins: of each coordinate.
        seed: of the random projections.

    >>> corners = Multiset([[0.5, 0.5], [-0.5, -0.5]]), Multiset([[0.5, -0.5], [-0.5, 0.5]])
    >>> [(verdict.aggregation, verdict.tells_apart, verdict.as_is) for verdict in compare_aggregations(*corners, bins=2)]
    [('mean', True, False), ('max', True, False), ('sum', True, False), ('histogram', True, False)]
    """
    dimension = check_same_dimension([first, second])
    dim = check_at_least("dim", dimension if dim is None else dim, 1)
    check_at_least("bins", bins, 1)
    return [_judge(name, first, second, dim, bins, seed) for name in get_args(AggregationName)]


def output_gap(aggregation: AggregationName, first: Multiset, second: Multiset, bins: int) -> float:
    """The largest difference of any output of an aggregation, φ having been applied already."""
    outputs = [_aggregate(aggregation, multiset, bins) for multiset in (first, second)]
    return float(np.abs(outputs[0] - outputs[1]).max())


def _aggregate(aggregation: AggregationName, multiset: Multiset, bins: int) -> Floats:
    if aggregation == "histogram":
        return uniform_histogram(multiset, bins).astype(np.float64)
    if aggregation == "max":
        largest: Floats = multiset.vectors.max(axis=0)
        return largest
    total: Floats = multiset.counts @ multiset.vectors
    return total / multiset.size if aggregation == "mean" else total


def _judge(name: AggregationName, first: Multiset, second: Multiset, dim: int, bins: int, seed: int) -> Verdict:
    vector = _telling_vector(name, first, second, bins)
    possible = vector is not None
    as_is = possible and _differs(name, first, second, bins)
    projection = _find_projection(name, first, second, dim, bins, seed) if possible else None
    return Verdict(name, first, second, bins, possible, as_is, vector, projection, _reason(name, first, second, bins))


def _differs(name: AggregationName, first: Multiset, second: Multiset, bins: int) -> bool:
    """Whether the outputs differ by more than rounding; histograms are whole numbers, in which there is none."""
    gap = output_gap(name, first, second, bins)
    return gap > 0 if name == "histogram" else gap > TOLERANCE * max(_scale(name, first), _scale(name, second))


def _scale(name: AggregationName, multiset: Multiset) -> float:
    """What an output sums up, in size: rounding grows with it."""
    sizes = np.abs(multiset.vectors)
    if name == "max":
        return float(sizes.max())
    total = float((multiset.counts @ sizes).max())
    return total / multiset.size if name == "mean" else total


def _find_projection(name: AggregationName, first: Multiset, second: Multiset, dim: int, bins: int, seed: int) -> Projection | None:
    """The first of a few random projections that makes a difference."""
    generator = np.random.default_rng(seed)
    spread = np.concatenate([first.vectors, second.vectors])
    center, scale = spread.mean(axis=0), math.sqrt(first.dimension) * (spread.std() + 1e-12)
    for _ in range(TRIES):
        weights = generator.normal(0, 1.5, (first.dimension, dim)) / scale
        bias = generator.normal(0, 0.5, dim) - center @ weights
        phi = Projection(weights, bias, 0.0).phi
        seen = first.map(phi), second.map(phi)
        if _differs(name, *seen, bins):
            return Projection(weights, bias, output_gap(name, *seen, bins))
    return None


def _telling_vector(name: AggregationName, first: Multiset, second: Multiset, bins: int) -> Floats | None:
    """The vector whose indicator differs most under the aggregation, if any does."""
    vectors = np.unique(np.concatenate([first.vectors, second.vectors]), axis=0)
    differences = _differences(name, _times(vectors, first), _times(vectors, second), first.size, second.size, bins)
    vector: Floats = vectors[differences.argmax()]
    return vector if differences.any() else None


def _differences(name: AggregationName, first: Counts, second: Counts, size: int, other_size: int, bins: int) -> Counts:
    """How far the indicators of vectors that occur so often are apart under an aggregation, in Python's whole numbers."""
    if name == "histogram" and bins == 1:
        return np.full(len(first), abs(size - other_size), object)
    if name == "max":
        seen, other_seen = (first > 0).astype(object), (second > 0).astype(object)
    elif name == "mean":
        seen, other_seen = first * other_size, second * size  # frequencies over a common denominator
    else:
        seen, other_seen = first, second
    found: Counts = np.abs(seen - other_seen)
    if name == "histogram":  # the other bin, which has all that is elsewhere
        found = np.maximum(found, np.abs((size - first) - (other_size - second)))
    return found


def _times(vectors: Floats, multiset: Multiset) -> Counts:
    """How often each row occurs in a multiset."""
    counts = {tuple(vector): count for vector, count in zip(multiset.vectors.tolist(), multiset.counts.tolist(), strict=True)}
    return np.array([counts.get(tuple(row), 0) for row in vectors.tolist()], object)


def _elsewhere(name: AggregationName) -> float:
    return -1.0 if name == "histogram" else 0.0


def _possible(name: AggregationName, first: Multiset, second: Multiset, bins: int) -> bool:
    return _telling_vector(name, first, second, bins) is not None


def _reason(name: AggregationName, first: Multiset, second: Multiset, bins: int) -> str:
    if first == second:
        return "the multisets are equal: no aggregation function tells them apart"
    if _possible(name, first, second, bins):
        return f"phi(x) = 1 for x = vector and {_elsewhere(name):g} elsewhere gives different outputs"
    if name == "mean":
        return "all multiplicities are proportional: every phi has the same mean over both"
    if name == "max":
        return "both have the same distinct vectors: every phi has the same maximum over both"
    return "one bin within which phi stays counts elements only, and the sizes are equal"
