"""The measured curves of section 3, beside what the paper claims."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phist.drawing.style import COLORS, FAINT, INK, finish_axes, new_figure
from phist.theory.scaling import CLAIMS, Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CLAIM_NAMES = {1: "linear", 2: "quadratic"}
SHOWN = ("nodes", "all nodes as roots")  # whose points are drawn too: one of each claim


def plot_complexity(curves: Sequence[Curve]) -> "Figure":
    """The exponents by which the time of a step grows beside those claimed, and the points of a linear and a quadratic curve."""
    drawn = [curve for curve in curves if curve.name in SHOWN]
    figure = new_figure(8.6, 3.6)
    left, *panels = figure.subplots(1, 1 + len(drawn), squeeze=False, width_ratios=(1.5, *[1.0] * len(drawn)))[0]
    _draw_exponents(left, curves)
    for panel, curve in zip(panels, drawn, strict=True):
        _draw_curve(panel, curve)
    return figure


def _draw_exponents(axes: "Axes", curves: Sequence[Curve]) -> None:
    """A row for each thing that grows: a bar from the claimed exponent to the measured one."""
    for row, curve in enumerate(reversed(curves)):
        claim, color = CLAIMS[curve.name], COLORS[CLAIMS[curve.name] - 1]
        axes.plot([claim, curve.exponent], [row, row], color=color, linewidth=3, zorder=1)
        axes.plot(claim, row, "|", color=INK, markersize=17, markeredgewidth=1.8, zorder=2, label="claimed" if row == 0 else None)
        axes.plot(curve.exponent, row, "o", color=color, markersize=8, zorder=3, label="measured" if row == 0 else None)
        axes.text(curve.exponent + 0.09, row, f"{curve.exponent:.2f}", fontsize=9.5, color=color, va="center")
    axes.set_yticks(range(len(curves)), [curve.name for curve in reversed(curves)])
    axes.set(xlim=(0.5, 2.75), ylim=(-0.6, len(curves) + 0.1))
    finish_axes(axes, "exponent p: time ≈ constant + size$^p$", "")
    axes.set_title("how the time of a training step grows", fontsize=11, color=INK, loc="left")
    axes.legend(fontsize=9, frameon=False, labelcolor=INK, loc="upper right")


def _draw_curve(axes: "Axes", curve: Curve) -> None:
    color = COLORS[CLAIMS[curve.name] - 1]
    places = np.geomspace(min(curve.sizes), max(curve.sizes), 100)
    claim = CLAIM_NAMES[CLAIMS[curve.name]]
    axes.plot(places, curve.claimed(places), color=FAINT, linewidth=1.6, linestyle="--", label=f"constant + {claim}", zorder=1)
    axes.plot(curve.sizes, curve.seconds, "o", color=color, markersize=6, label="measured", zorder=2)
    axes.set(xscale="log", yscale="log")
    finish_axes(axes, curve.name, "")
    axes.set_xticks(*_size_ticks(curve.sizes))
    axes.legend(fontsize=9, frameon=False, labelcolor=INK, loc="upper left", handlelength=1.6)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.3)  # room for the legend
    axes.set_yticks(*_second_ticks(low, high))
    axes.minorticks_off()


def _size_ticks(sizes: Sequence[int]) -> tuple[list[int], list[str]]:
    """Every other size where there are many, written short."""
    shown = list(sizes) if len(sizes) <= 4 else list(sizes[::2])
    return shown, [_short(size) for size in shown]


def _short(size: int) -> str:
    if size >= 1_000_000:
        return f"{size / 1_000_000:g} M"
    return f"{size / 1000:g} k" if size >= 1000 and size % 100 == 0 else str(size)


def _second_ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Powers of ten, and twice and five times those where the range is short."""
    wide = high / low > 50
    places = [factor * 10.0**power for power in range(-4, 4) for factor in ((1,) if wide else (1, 2, 5))]
    shown = [place for place in places if low <= place <= high]
    return shown, [f"{place:g} s" if place >= 1 else f"{1000 * place:g} ms" for place in shown]
