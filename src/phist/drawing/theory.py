"""The figures of the theory by name: those of the paper, redrawn, and those it would have needed."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from phist.drawing.blindness import plot_projective_histogram
from phist.drawing.complexity import plot_complexity
from phist.drawing.curse import plot_curse
from phist.drawing.lattice import plot_matrix
from phist.drawing.schematic import plot_architecture
from phist.drawing.toy import plot_toy
from phist.errors import check_choice

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from phist.theory.scaling import Curve

COMPLEXITY = "complexity"  # the one that is drawn from measurements
_DRAW: "dict[str, Callable[[], Figure]]" = {
    "histogram": plot_projective_histogram,
    "matrix": plot_matrix,
    "robustness": plot_toy,
    "architecture": plot_architecture,
    "curse": plot_curse,
}
FIGURES = (*_DRAW, COMPLEXITY)


def plot_theory(name: str, curves: "Sequence[Curve]" = ()) -> "Figure":
    """Draw one of `FIGURES`; ``curves`` are what ``"complexity"`` shows."""
    check_choice("figure", name, FIGURES)
    return plot_complexity(curves) if name == COMPLEXITY else _DRAW[name]()
