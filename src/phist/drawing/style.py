"""One look for all pictures: colours, figures, axes, and how they are written."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from phist.extras import require
from phist.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which people with any colour vision can tell apart; the faint yellow is left out.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX"
INK, FAINT = "#333333", "#9a9a9a"


def matplotlib_part(name: str) -> Any:
    """A module of matplotlib, or an error that names the extra to install."""
    return require(name, "report", "drawing")


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure of so many inches, which belongs to no window."""
    figure: Figure = matplotlib_part("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")
    return figure


def finish_axes(axes: "Axes", x: str, y: str) -> None:
    """Name the axes and leave out what is not needed."""
    axes.set_xlabel(x, fontsize=10, color=INK)
    axes.set_ylabel(y, fontsize=10, color=INK)
    axes.tick_params(labelsize=9, colors=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)


def save_figure(figure: "Figure", path: str | Path) -> list[Path]:
    """Write a figure as ``path``.png and ``path``.svg, equal figures as equal files.

    Args:
        figure: what a function of this package drew.
        path: the name without its ending.
    """
    written = []
    for kind, details in (("png", {"dpi": 160}), ("svg", {"metadata": {"Date": None}})):
        target = Path(f"{path}.{kind}")
        with matplotlib_part("matplotlib").rc_context({"svg.hashsalt": "phist"}), atomic_path(target) as temporary:
            figure.savefig(temporary, format=kind, **details)
        written.append(target)
    return written
