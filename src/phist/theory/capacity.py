"""How many multisets a projective histogram can tell apart, however they are chosen: theorem 2.3, corrected and sharpened.

All statements are for uniform bins, any precision δ, and φ chosen after the multisets; the printed b = 2/δ + 1 is not
needed, since the cells of x need not be those of φ(x). Counts in cells of diameter δ turn t multisets into t count
vectors, told apart by t - 1 entries (`phist.theory.labels`). What φ does with these entries:

* ``star``: each goes to a cell of its own of the star, all else to one cell that collects it, or out of the cube.
  Sound for t ≤ d(b-1) + 1 within [-1, 1]^d and t ≤ d(b-1) + 2 if φ may leave the cube. More cannot be had on the star:
  t single elements in t cells need t different places.
* ``corner``: two entries share a cell of the star, or each has a cell of its own of the star and one more corner.
  Sound for t ≤ d(b-1) + 2 within [-1, 1]^d, where d, b ≥ 2. Proof: t vectors have t entries, the collected rest included.
  Merging entries i and j fails only if two vectors differ by a (e_i - e_j), and a pair of vectors prevents one merge at
  most. If one of the t(t-1)/2 merges is left, t - 1 entries remain for the star. If none is, every one of the t(t-1)/2
  differences has exactly two nonzero entries, while the columns of the star and the corner have one relation, a square
  of four cells: no difference is a multiple of it.
* ``coordinates``: each goes to one bin of one coordinate, its other coordinates lie outside of [-1, 1] and are counted
  nowhere. The bd bins are then independent: t ≤ bd + 1. The printed bound bd is therefore right for unrestricted φ,
  though not by the printed lemma, and m! = (bd)! different assignments is right too.
* ``labels``: cells share bins. With q = b within [-1, 1]^d, or q = b + 1 if φ may leave it in any coordinate,
  t(t-1)/2 < q^d + q^(d-1) is enough: exponential in d, where the paper has bd.
* ``scatter``: entries go to distinct random places among Q = q^d, and t(t-1)/2 · 2^d < (Q-t+2)(Q-t+1) with t ≤ Q is
  enough. Proof: let w be the difference of two vectors. Up to two nonzero entries in distinct places always show. Three or
  more include two, i and j, with w_i + w_j ≠ 0. Place all others first. In every coordinate at most two pairs of labels of
  i and j then cancel what the others sum to: if this is zero in all bins, only discarding both; if it is nonzero in one
  bin p, either both in p or one of them in p and the other discarded, in one or the other order if w_i = w_j; if in two
  bins, one each. So at most 2^d of the (Q-t+2)(Q-t+1) pairs of free places hide w. (The place that discards in all
  coordinates is taken by the rest if φ may leave the cube.) Summed over all pairs of vectors, some placement shows all.
  In one coordinate all placements do, and t ≤ Q is enough.

Within the cube t ≤ bd, the printed number, holds for all d ≥ 1 and b ≥ 2: d = 1 by the star, d = 2 by the corner, d = 3 by
labels for b ≥ 4, as b² + 1.5 > 3.5b, and by scattering for b = 3, d ≥ 4 by labels (with b ≥ 3 or d ≥ 5: each further
coordinate multiplies q^d + q^(d-1) by b, and bd(bd-1)/2 by less). Left are (d, b) = (3, 2) and (4, 2), where the placements
that hide a difference are counted one by one instead of bounded by 2^d (`phist.theory.enumeration`).

No φ does better than t = b^d within the cube, and (b+1)^d without: t single elements have at most as many histograms.
"""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, get_args

from phist.errors import ConfigError, check_choice
from phist.theory.geometry import check_at_least
from phist.theory.projective import lattice_rank
from phist.theory.separation import subset_outputs

HistogramMethod = Literal["star", "corner", "coordinates", "labels", "scatter"]
CONFINED_METHODS: tuple[HistogramMethod, ...] = ("star", "corner", "labels", "scatter")
ENUMERATED = {(3, 2): 6, (4, 2): 8}  # (dim, bins): what counting placements adds within the cube
MOST_BITS = 500_000  # of a capacity: a few seconds of exact arithmetic
LONGEST = 10**300  # beyond, a report has the logarithm only


def guaranteed_capacity(dim: int, bins: int, method: HistogramMethod = "star", confined: bool = False) -> int:
    """The largest t for which a method separates any t multisets.

    Args:
        dim: outputs of φ, d.
        bins: bins per coordinate, b.
        confined: whether φ stays within [-1, 1]^d, as behind a tanh; else it may leave it to discard an element.

    >>> [guaranteed_capacity(3, 4, method) for method in ("star", "corner", "coordinates", "labels", "scatter")]
    [11, 11, 13, 17, 42]
    >>> [guaranteed_capacity(3, 4, method, confined=True) for method in ("star", "corner", "labels", "scatter")]
    [10, 11, 13, 22]
    """
    check_choice("method", method, get_args(HistogramMethod))
    rank = lattice_rank(dim, bins)
    if method == "star":
        return rank if confined else rank + 1
    if method == "corner":
        return rank + (dim > 1 and bins > 1)
    if method == "coordinates":
        if confined:
            raise ConfigError('method="coordinates" sends coordinates out of [-1, 1]; take another for a confined phi')
        return dim * bins + 1
    places = bins if confined else bins + 1
    if places == 1:
        return 1  # one bin that everything falls into shows the size of a multiset only
    ceiling = capacity_ceiling(dim, bins, confined)
    if method == "labels":
        pairs = ceiling + ceiling // places - 1
        return (1 + math.isqrt(8 * pairs + 1)) // 2  # the largest t with t (t - 1) / 2 <= pairs
    enumerated = ENUMERATED.get((dim, bins), 1) if confined else 1
    return max(enumerated, _scattered(ceiling, dim))


def capacity_ceiling(dim: int, bins: int, confined: bool = False) -> int:
    """b^d, or (b + 1)^d where φ may leave the cube: histograms that a single element can have."""
    lattice_rank(dim, bins)
    places = bins if confined else bins + 1
    if dim * math.log2(places) > MOST_BITS:
        raise ConfigError(f"dim={dim} and bins={bins} were given; {places}^{dim} is too long a number: give a smaller dim")
    return int(places**dim)


def scatter_suffices(count: int, ceiling: int, dim: int) -> bool:
    """t(t-1)/2 · 2^d < (Q-t+2)(Q-t+1) and t ≤ Q."""
    return count <= ceiling and count * (count - 1) << (dim - 1) < (ceiling - count + 2) * (ceiling - count + 1)


@cache
def _scattered(ceiling: int, dim: int) -> int:
    """The largest t for which `scatter_suffices`: the condition is a quadratic inequality, solved and then made exact."""
    if dim == 1:
        return ceiling  # every entry has a bin of its own
    square = (1 << (dim - 1)) - 1
    linear, constant = 2 * ceiling + 2 - square, (ceiling + 2) * (ceiling + 1)
    count = (math.isqrt(linear * linear + 4 * square * constant) - linear) // (2 * square)
    while not scatter_suffices(count, ceiling, dim):
        count -= 1
    while scatter_suffices(count + 1, ceiling, dim):
        count += 1
    return count


def capacity_report(dim: int, bins: int) -> dict[str, Any]:
    """What is known of the projective histogram with ``dim`` coordinates and ``bins`` uniform bins, ready for JSON.

    ``"capacity"`` and ``"capacity_bounded"`` are those of the star, d(b-1) + 2 and d(b-1) + 1; ``"guaranteed"`` has the
    best proved for φ free and confined, ``"ceiling"`` what no φ exceeds. Numbers of more than 300 digits are ``None``, with
    their decimal logarithms under ``"log10"``.

    >>> report = capacity_report(3, 4)
    >>> report["rank"], report["guaranteed"], report["printed"]
    (10, {'free': 42, 'confined': 22}, 12)
    """
    rank, printed = lattice_rank(dim, bins), dim * bins
    free: dict[str, int] = {method: guaranteed_capacity(dim, bins, method) for method in get_args(HistogramMethod)}
    confined: dict[str, int] = {name: guaranteed_capacity(dim, bins, name, confined=True) for name in CONFINED_METHODS}
    best = {"free": max(free.values()), "confined": max(confined.values())}
    ceiling = {"free": capacity_ceiling(dim, bins), "confined": capacity_ceiling(dim, bins, confined=True)}
    return {
        "dim": dim,
        "bins": bins,
        "outputs": printed,
        "rank": rank,
        "capacity": free["star"],
        "capacity_bounded": confined["star"],
        "printed": printed,
        "guaranteed": _plain(best),
        "by_method": {"free": _plain(free), "confined": _plain(confined)},
        "ceiling": _plain(ceiling),
        "log10": {"guaranteed": _logarithms(best), "ceiling": _logarithms(ceiling)},
        "log10_maps": log10_maps(dim, bins),
        "theorem_2_3": _judgement(dim, bins),
    }


def log10_maps(dim: int, bins: int) -> dict[str, float | None]:
    """How many maps of cells work, as decimal logarithms: the printed m! = (bd)!, and what replaces it.

    ``"coordinates"``: bd cells to bd independent bins, φ free, any of (bd)! ways. ``"star"``: d(b-1) + 1 cells to the star,
    φ within the cube, any of (d(b-1) + 1)! ways. ``"scatter"``: t = bd cells to distinct ones of N = b^d, φ within the cube:
    at least a share 1 - t(t-1)/2 · 2^d / ((N-t+2)(N-t+1)) of the N!/(N-t)! ways, ``None`` where this says nothing.
    """
    rank, printed = lattice_rank(dim, bins), dim * bins
    ceiling = capacity_ceiling(dim, bins, confined=True)
    scatter = None
    if bins > 1 and scatter_suffices(printed, ceiling, dim):
        hidden, pairs = printed * (printed - 1) << (dim - 1), (ceiling - printed + 2) * (ceiling - printed + 1)
        scatter = printed * math.log10(ceiling - printed + 1) + math.log10(pairs - hidden) - math.log10(pairs)
    return {"star": _log10_factorial(rank), "coordinates": _log10_factorial(printed), "scatter": scatter}


def parameters_at_capacity(dim: int, bins: int, hidden: int = 64, inputs: int | None = None) -> list[dict[str, Any]]:
    """Weights of an MLP φ with one hidden layer: the histogram's d outputs against those `sum` needs for the same t.

    What `sum` needs depends on what its φ may be (`separate_by_sum`): t - 1 outputs if each is 1 in one cell and 0 elsewhere
    ("entries", the paper's construction); about 2 log2 t if each is 0 or 1 ("subsets"), never fewer than log2 t; and
    one if φ takes whole numbers up to t(t-1)/2 ("weights"). So the histogram saves parameters against sums of indicators of
    single cells, and against 0/1 outputs only where d is less than about 2 log2 t.

    Args:
        hidden: hidden units.
        inputs: entries of x; ``dim`` where left out.
    """
    inputs = check_at_least("inputs", dim if inputs is None else inputs, 1)
    check_at_least("hidden", hidden, 1)
    rows = []
    for method in get_args(HistogramMethod):
        count = guaranteed_capacity(dim, bins, method)
        outputs = {"entries": count - 1, "subsets": subset_outputs(count), "weights": min(1, count - 1)}
        rows.append({
            "method": method,
            "capacity": _plain({"t": count})["t"],
            "log10_capacity": math.log10(count),
            "histogram_outputs": dim,
            "histogram_parameters": _mlp_size(inputs, hidden, dim),
            "sum_outputs": _plain(outputs),
            "sum_parameters": _plain({name: _mlp_size(inputs, hidden, number) for name, number in outputs.items()}),
        })  # fmt: skip
    return rows


def _judgement(dim: int, bins: int) -> dict[str, str]:
    if bins == 1:
        return {"all of it": "not stated: the theorem asks for at least two bins"}
    printed = dim * bins
    return {
        "lemma": "refuted: S* is dependent" if dim > 1 else "holds in one dimension",
        "free phi": f"proved by another construction: any {printed + 1} multisets",
        "phi within [-1, 1]^d": f"proved by other constructions: any {printed} multisets",
    }


def _plain(numbers: Mapping[Any, int]) -> dict[str, int | None]:
    return {name: number if number < LONGEST else None for name, number in numbers.items()}


def _logarithms(numbers: dict[str, int]) -> dict[str, float]:
    return {name: math.log10(number) for name, number in numbers.items()}


def _mlp_size(inputs: int, hidden: int, outputs: int) -> int:
    return (inputs + 1) * hidden + (hidden + 1) * outputs


def _log10_factorial(number: int) -> float:
    return math.lgamma(number + 1) / math.log(10)
