"""delta-equality of multisets, decided exactly, with the matching or the obstacle as witness (definition 2.3).

The printed definition asks for a bijection φ with ‖φ(x) - y‖_p ≤ δ for all x and all y; taken literally, no multiset of
diameter above δ would then equal itself. Meant is, and decided here: every x lies within δ of its own image φ(x).

Such a bijection is a perfect matching of the bipartite graph that joins x and y where ‖x - y‖_p ≤ δ. A maximum flow
finds one, multiplicities being capacities; where there is none, the minimum cut is a set of elements with too few
neighbours (Hall). Distances are compared as they come out in double precision, without tolerance.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phist.errors import ConfigError
from phist.theory.geometry import Floats, Ints, check_delta, check_norm, distances
from phist.theory.multiset import Multiset, check_same_dimension

MOST_ELEMENTS = 2**31 - 1  # the flow is counted in 32 bits


@dataclass(frozen=True, eq=False)
class DeltaMatching:
    """Witness that two multisets are delta-equal: which distinct vectors are matched, and how often."""

    first: Multiset
    second: Multiset
    delta: float
    p: float
    pairs: Ints  # (matched, 2): positions in first.vectors and second.vectors
    counts: Ints  # (matched)

    @property
    def equal(self) -> bool:
        return True

    def __bool__(self) -> bool:
        return True

    def largest_distance(self) -> float:
        """How far the matching moves an element at most."""
        moved = distances(self.first.vectors, self.second.vectors, self.p)
        return float(moved[self.pairs[:, 0], self.pairs[:, 1]].max())

    def verify(self) -> bool:
        """Every element is matched as often as it occurs, on both sides, and within delta."""
        if len(self.counts) != len(self.pairs) or (self.counts < 1).any():
            return False
        sides = (self.first.counts, self.second.counts)
        if any((column < 0).any() or (column >= len(own)).any() for own, column in zip(sides, self.pairs.T, strict=True)):
            return False
        totals = [np.zeros_like(own) for own in sides]
        for total, column in zip(totals, self.pairs.T, strict=True):
            np.add.at(total, column, self.counts)  # whole numbers, unlike a weighted bincount
        matched = all(np.array_equal(total, own) for total, own in zip(totals, sides, strict=True))
        return matched and self.largest_distance() <= self.delta


@dataclass(frozen=True, eq=False)
class DeltaObstacle:
    """Witness that two multisets are not delta-equal: elements of one side with fewer neighbours than they are themselves."""

    first: Multiset
    second: Multiset
    delta: float
    p: float
    side: Literal["first", "second"]
    elements: Ints  # positions in the vectors of that side

    @property
    def equal(self) -> bool:
        return False

    def __bool__(self) -> bool:
        return False

    def _own_and_other(self) -> tuple[Multiset, Multiset]:
        return (self.first, self.second) if self.side == "first" else (self.second, self.first)

    def sizes(self) -> tuple[int, int]:
        """Elements of the set, and elements of the other side within delta of any of them."""
        own, other = self._own_and_other()
        near = distances(own.vectors[self.elements], other.vectors, self.p) <= self.delta
        return int(own.counts[self.elements].sum()), int(other.counts[near.any(axis=0)].sum())

    def verify(self) -> bool:
        """The set has more elements than neighbours, so no bijection can serve all of it."""
        own, _ = self._own_and_other()
        if len(np.unique(self.elements)) != len(self.elements) or not np.isin(self.elements, np.arange(len(own.counts))).all():
            return False
        elements, neighbours = self.sizes()
        return elements > neighbours


def delta_equal(first: Multiset, second: Multiset, delta: float, p: float = np.inf) -> DeltaMatching | DeltaObstacle:
    """Is there a bijection φ: 𝒳 → 𝒴 with ‖x - φ(x)‖_p ≤ δ for every x? The answer is its own witness.

    Args:
        first: a multiset.
        second: another of the same dimension.
        delta: how far matched elements may be apart.
        p: which norm: 1, 2, ..., or infinity for the largest entry.

    Returns:
        A `DeltaMatching`, which is true, or a `DeltaObstacle`, which is false; ``verify()`` rechecks either.

    >>> left, right = Multiset([[0.0], [1.0]]), Multiset([[0.4], [0.6]])
    >>> bool(delta_equal(left, right, 0.4)), bool(delta_equal(left, right, 0.3))
    (True, False)
    """
    delta, p = check_delta(delta), check_norm(p)
    check_same_dimension([first, second])
    if first.size != second.size:
        side: Literal["first", "second"] = "first" if first.size > second.size else "second"
        larger = first if side == "first" else second
        return DeltaObstacle(first, second, delta, p, side, np.arange(len(larger.counts)))
    return _decide(first, second, delta, p, distances(first.vectors, second.vectors, p))


def bottleneck_distance(first: Multiset, second: Multiset, p: float = np.inf) -> float:
    """The smallest delta at which two multisets are equal, min_φ max_x ‖x - φ(x)‖_p over bijections φ; inf where sizes differ.

    Args:
        first: a multiset.
        second: another of the same dimension.
        p: which norm: 1, 2, ..., or infinity for the largest entry.

    >>> bottleneck_distance(Multiset([[0.0], [1.0]]), Multiset([[0.5], [1.25]]))
    0.5
    """
    p = check_norm(p)
    check_same_dimension([first, second])
    if first.size != second.size:
        return float("inf")
    apart = distances(first.vectors, second.vectors, p)
    least = max(apart.min(axis=0).max(), apart.min(axis=1).max())  # nobody can be matched nearer than to the nearest
    radii = np.unique(apart[apart >= least])
    low, high = 0, len(radii) - 1
    while low < high:
        middle = (low + high) // 2
        if _decide(first, second, radii[middle], p, apart):
            high = middle
        else:
            low = middle + 1
    return float(radii[low])


def _decide(first: Multiset, second: Multiset, delta: float, p: float, apart: Floats) -> DeltaMatching | DeltaObstacle:
    flow = _largest_flow(first.counts, second.counts, apart <= delta)
    if flow.value == first.size:
        between = flow.matched
        return DeltaMatching(
            first, second, delta, p, np.stack(between.coords, axis=1).astype(np.int64), between.data.astype(np.int64)
        )
    return DeltaObstacle(first, second, delta, p, "first", flow.stranded)


class _Flow(NamedTuple):
    value: int
    matched: Any  # sparse (first, second): how often two vectors are matched
    stranded: Ints  # vectors of the first side that the source still reaches: together they have too few neighbours


def _largest_flow(supply: Ints, demand: Ints, near: NDArray[np.bool_]) -> _Flow:
    """Source → first side → second side → sink, in this order of the nodes."""
    from scipy.sparse import coo_array, csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    if supply.sum() > MOST_ELEMENTS:
        raise ConfigError(f"multisets of {supply.sum()} elements were given; at most {MOST_ELEMENTS} can be matched")
    n_first, n_second = near.shape
    own, other = np.nonzero(near)
    start, sink = n_first + 1, n_first + n_second + 1
    sources = np.concatenate([np.zeros(n_first, np.int64), own + 1, start + np.arange(n_second)])
    targets = np.concatenate([1 + np.arange(n_first), start + other, np.full(n_second, sink)])
    capacities = np.concatenate([supply, np.minimum(supply[own], demand[other]), demand]).astype(np.int32)
    network = csr_array((capacities, (sources, targets)), shape=(sink + 1, sink + 1))
    found = maximum_flow(network, 0, sink)

    residual = csr_array(network - found.flow)
    residual.eliminate_zeros()
    reached = np.asarray(breadth_first_order(residual, 0, return_predecessors=False))
    stranded = np.sort(reached[(reached >= 1) & (reached < start)]) - 1
    matched = coo_array(found.flow[1:start, start:sink])
    matched.eliminate_zeros()
    return _Flow(int(found.flow_value), matched, stranded.astype(np.int64))
