"""How many multisets a projective histogram can tell apart, whoever chooses them: theorem 2.3, corrected and sharpened.

All statements are for uniform bins, any precision δ, and φ chosen after the multisets; the printed b = 2/δ + 1 is not
needed, since the cells of x need not be those of φ(x). Counts in cells of diameter δ turn t multisets into t count
vectors, told apart by t - 1 entries (`phist.theory.labels`). What φ does with these entries:

* ``star``: each goes to a cell of its own of the star, all else to one cell that collects it, or out of the cube.
  Sound for t ≤ d(b-1) + 1 within [-1, 1]^d and t ≤ d(b-1) + 2 if φ may leave the cube. More cannot be had on the star:
  t single elements in t cells need t different places.
* ``coordinates``: each goes to one bin of one coordinate, its other coordinates lie outside of [-1, 1] and are counted
  nowhere. The bd bins are then independent: t ≤ bd + 1. The printed bound bd is therefore right for unrestricted φ,
  though not by the printed lemma, and m! = (bd)! different assignments is right too.
* ``labels``: cells share bins. With q = b within [-1, 1]^d, or q = b + 1 if φ may leave it in any coordinate,
  t(t-1)/2 < q^d + q^(d-1) is enough: exponential in d, where the paper has bd.

No φ does better than t = b^d within the cube, and (b+1)^d without: t single elements have at most as many histograms.
"""

import math
from typing import Any, Literal, get_args

from phist.errors import ConfigError, check_choice
from phist.theory.geometry import check_at_least
from phist.theory.projective import lattice_rank
from phist.theory.separation import subset_outputs

HistogramMethod = Literal["star", "coordinates", "labels"]


def guaranteed_capacity(dim: int, bins: int, method: HistogramMethod = "star", confined: bool = False) -> int:
    """The largest t for which a method separates any t multisets.

    Args:
        dim: outputs of φ, d.
        bins: bins per coordinate, b.
        confined: whether φ stays within [-1, 1]^d, as behind a tanh; else it may leave it to discard an element.

    >>> [guaranteed_capacity(3, 4, method) for method in ("star", "coordinates", "labels")]
    [11, 13, 17]
    >>> [guaranteed_capacity(3, 4, method, confined=True) for method in ("star", "labels")]
    [10, 13]
    """
    check_choice("method", method, get_args(HistogramMethod))
    rank = lattice_rank(dim, bins)
    if method == "star":
        return rank if confined else rank + 1
    if method == "coordinates":
        if confined:
            raise ConfigError('method="coordinates" sends coordinates out of [-1, 1]; take "star" or "labels" for a confined phi')
        return dim * bins + 1
    places = bins if confined else bins + 1
    if places == 1:
        return 1  # one bin that everything falls into shows the size of a multiset only
    pairs = int(places**dim + places ** (dim - 1) - 1)
    return (1 + math.isqrt(8 * pairs + 1)) // 2  # the largest t with t (t - 1) / 2 <= pairs


def capacity_ceiling(dim: int, bins: int, confined: bool = False) -> int:
    """b^d, or (b + 1)^d where φ may leave the cube: histograms that a single element can have."""
    lattice_rank(dim, bins)
    places = bins if confined else bins + 1
    return int(places**dim)


def capacity_report(dim: int, bins: int) -> dict[str, Any]:
    """What is known of the projective histogram with ``dim`` coordinates and ``bins`` uniform bins, ready for JSON.

    ``"capacity"`` and ``"capacity_bounded"`` are those of the star, d(b-1) + 2 and d(b-1) + 1; ``"guaranteed"`` has the
    best proved for φ free and confined, ``"ceiling"`` what no φ exceeds.

    >>> report = capacity_report(3, 4)
    >>> report["rank"], report["capacity"], report["capacity_bounded"], report["printed"]
    (10, 11, 10, 12)
    """
    rank, printed = lattice_rank(dim, bins), dim * bins
    free = {method: guaranteed_capacity(dim, bins, method) for method in get_args(HistogramMethod)}
    confined = {method: guaranteed_capacity(dim, bins, method, confined=True) for method in ("star", "labels")}
    return {
        "dim": dim,
        "bins": bins,
        "outputs": printed,
        "rank": rank,
        "capacity": free["star"],
        "capacity_bounded": confined["star"],
        "printed": printed,
        "guaranteed": {"free": max(free.values()), "confined": max(confined.values())},
        "by_method": {"free": free, "confined": confined},
        "ceiling": {"free": capacity_ceiling(dim, bins), "confined": capacity_ceiling(dim, bins, confined=True)},
        "log10_maps": {"star": _log10_factorial(rank), "coordinates": _log10_factorial(printed)},
        "theorem_2_3": _judgement(dim, bins, max(confined.values())),
    }


def parameters_at_capacity(dim: int, bins: int, hidden: int = 64, inputs: int | None = None) -> list[dict[str, Any]]:
    """Weights of an MLP φ with one hidden layer: the histogram's d outputs against those `sum` needs for the same t.

    Where each cell has a bin of its own (t = bd + 1), `sum` needs t - 1 = bd outputs, b times as many. Where cells share
    bins, `sum` may share outputs as well, and `subset_outputs` of them, about d log2 b, are enough.

    Args:
        hidden: hidden units.
        inputs: entries of x; ``dim`` where left out.
    """
    inputs = check_at_least("inputs", dim if inputs is None else inputs, 1)
    check_at_least("hidden", hidden, 1)
    rows = []
    for method in get_args(HistogramMethod):
        count = guaranteed_capacity(dim, bins, method)
        sum_outputs = subset_outputs(count) if method == "labels" else count - 1
        sizes = {name: _mlp_size(inputs, hidden, outputs) for name, outputs in (("histogram", dim), ("sum", sum_outputs))}
        rows.append({
            "method": method,
            "capacity": count,
            "histogram_outputs": dim,
            "sum_outputs": sum_outputs,
            **{f"{name}_parameters": size for name, size in sizes.items()},
        })  # fmt: skip
    return rows


def _judgement(dim: int, bins: int, confined: int) -> dict[str, str]:
    if bins == 1:
        return {"all of it": "not stated: the theorem asks for at least two bins"}
    printed = dim * bins
    if printed <= confined:
        within = f"proved: any {printed} multisets"
    else:
        within = f"proved up to {confined} multisets, open up to {printed}"
    return {
        "lemma": "refuted: S* is dependent" if dim > 1 else "holds in one dimension",
        "free phi": f"proved by another construction: any {printed + 1} multisets",
        "phi within [-1, 1]^d": within,
    }


def _mlp_size(inputs: int, hidden: int, outputs: int) -> int:
    return (inputs + 1) * hidden + (hidden + 1) * outputs


def _log10_factorial(number: int) -> float:
    return math.lgamma(number + 1) / math.log(10)
