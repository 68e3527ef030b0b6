"""Is the Voronoi sum δ-injective in practice? Random and adversarial pairs of multisets, rounding included."""

import math
from dataclasses import dataclass

import numpy as np

from phist.theory.geometry import Floats, check_at_least, check_delta, check_norm
from phist.theory.matching import delta_equal
from phist.theory.multiset import Multiset
from phist.theory.voronoi import GridCells, VoronoiSum


@dataclass(frozen=True)
class VoronoiStudy:
    """What became of the pairs; ``violations`` are pairs with equal counts that are not delta-equal, and must be 0."""

    pairs: int
    equal_counts: int
    violations: int
    torn: int  # delta-equal, yet told apart: a border runs between their elements, which δ-injectivity allows


def study_voronoi_sum(
    dimension: int, delta: float, p: float = math.inf, *, pairs: int = 100, size: int = 8, seed: int
) -> VoronoiStudy:
    """Compare Voronoi sums with delta-equality on seeded pairs of multisets in [-1, 1]^dimension.

    A third of the pairs is drawn independently; a third keeps every element within its cell, at its far corners, where an
    error of the lemma would show; a third moves every element by less than delta, across borders too.

    Args:
        dimension: of the elements.
        delta: what elements may be apart and count as equal.
        p: of the norm that says how far apart elements are.
        pairs: how many pairs of multisets.
        size: how many elements each multiset has.
        seed: of all that is drawn.
    """
    check_at_least("pairs", pairs, 1)
    check_at_least("dimension", dimension, 1)
    cells = GridCells(dimension, check_delta(delta, positive=True), check_norm(p))
    generator = np.random.default_rng(seed)
    makers = (_independent, _within_cells, _moved)
    found = [_judge(*makers[number % 3](cells, size, generator), cells) for number in range(pairs)]
    return VoronoiStudy(
        pairs=pairs,
        equal_counts=sum(same for same, _ in found),
        violations=sum(same and not near for same, near in found),
        torn=sum(near and not same for same, near in found),
    )


def _judge(first: Floats, second: Floats, cells: GridCells) -> tuple[bool, bool]:
    left, right, counted = Multiset(first), Multiset(second), VoronoiSum(cells)
    return counted(left) == counted(right), bool(delta_equal(left, right, cells.delta, cells.p))


def _independent(cells: GridCells, size: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    first, second = generator.uniform(-1, 1, (2, size, cells.dimension))
    return first, second


def _within_cells(cells: GridCells, size: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    places = np.floor(generator.uniform(-1, 1, (size, cells.dimension)) / cells.side)
    corners = generator.choice([1e-9, 1 - 1e-9], (2, size, cells.dimension))  # just inside, whatever rounding does
    first, second = (places + corners) * cells.side
    return first, generator.permutation(second)


def _moved(cells: GridCells, size: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    first = generator.uniform(-1, 1, (size, cells.dimension))
    steps = generator.uniform(-1, 1, first.shape) * cells.side
    return first, generator.permutation(first + steps)
