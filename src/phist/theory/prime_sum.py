"""One output is enough: the counterexample to theorem 2.1, and what it says of theorem 2.2.

Number the cells of the domain and let φ(x) be the logarithm of the i-th prime for x in cell i. Then

    sum(𝒳) = Σ_{x in 𝒳} log p_{cell(x)} = log Π_i p_i^[v(𝒳)]_i,

a computable number from which unique factorisation gives all counts back. So `sum` with a single output is δ-injective on
any bounded domain, in any dimension, for multisets of any size. What grows with the dimension is the precision needed to
read the output, not the number of outputs; the t - 1 outputs of theorem 2.2 are likewise the price of outputs that count.
"""

import math
from dataclasses import dataclass

import numpy as np

from phist.errors import ConfigError, GraphInputError
from phist.theory.geometry import Box, Floats, Ints, check_delta
from phist.theory.multiset import Multiset
from phist.theory.voronoi import Cells, GridCells

MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class PrimeSum(Cells):
    """The sum Σ log p_{cell(x)} over a box, with its exponential as an exact whole number.

    Args:
        box: where all elements lie.
        delta: the largest diameter of a cell.
        p: which norm: 1, 2, ..., or infinity for the largest entry.

    >>> aggregation = PrimeSum(Box.cube(3), delta=0.5)
    >>> left = Multiset([[0, 0, 0], [0.9, 0.9, 0.9]])
    >>> aggregation.outputs, aggregation.counts(aggregation.code(left)).sum()
    (1, np.int64(2))
    """

    box: Box
    delta: float
    p: float = math.inf

    outputs = 1

    def __post_init__(self) -> None:
        check_delta(self.delta, positive=True)
        if math.prod(self.shape) > MOST_CELLS:
            raise ConfigError(f"the box has {math.prod(self.shape)} cells, more than {MOST_CELLS}; give a larger delta")

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along each side of the box."""
        side = GridCells(self.box.dimension, self.delta, self.p).side
        return tuple(math.ceil((high - low) / side) for low, high in zip(self.box.lower, self.box.upper, strict=True))

    def keys(self, vectors: Floats) -> Floats:
        """The number of each vector's cell; the upper faces of the box belong to the last cells.

        Args:
            vectors: one in each row, (vectors, dimension).
        """
        if vectors.shape[1] != self.box.dimension or not self.box.contains(vectors).all():
            raise GraphInputError("a vector lies outside of the box; give a box that holds all of them")
        side = GridCells(self.box.dimension, self.delta, self.p).side
        places = np.floor((vectors - self.box.lower) / side).astype(np.int64)
        numbers = np.ravel_multi_index(tuple(np.minimum(places, np.array(self.shape) - 1).T), self.shape)
        return np.asarray(numbers, dtype=np.float64)[:, None]

    def code(self, multiset: Multiset) -> int:
        """Π p_i^count_i, exactly.

        Args:
            multiset: its elements lie in the box.
        """
        numbers = self.keys(multiset.vectors)[:, 0].astype(np.int64)
        primes = first_primes(int(numbers.max()) + 1)
        return math.prod(int(primes[number]) ** int(count) for number, count in zip(numbers, multiset.counts, strict=True))

    def value(self, multiset: Multiset) -> float:
        """The output itself, rounded: the logarithm of `code`.

        Args:
            multiset: its elements lie in the box.
        """
        return math.log(self.code(multiset))

    def counts(self, code: int) -> Ints:
        """The Voronoi sum that a code stands for, cell by cell up to the last that is not empty.

        Args:
            code: what `code` returned.
        """
        found: list[int] = []
        for prime in first_primes(math.prod(self.shape)).tolist():
            exponent = 0
            while code % prime == 0:
                code //= prime
                exponent += 1
            found.append(exponent)
            if code == 1:
                break
        return np.array(found)


def first_primes(count: int) -> Ints:
    """The first ``count`` primes.

    >>> first_primes(5)
    array([ 2,  3,  5,  7, 11])
    """
    limit = max(15, math.ceil(count * (math.log(count) + math.log(math.log(count))))) if count > 1 else 15  # Rosser's bound
    is_prime = np.ones(limit + 1, dtype=bool)
    is_prime[:2] = False
    for number in range(2, math.isqrt(limit) + 1):
        if is_prime[number]:
            is_prime[number * number :: number] = False
    return np.flatnonzero(is_prime)[:count]
