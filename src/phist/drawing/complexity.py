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


def plot_complexity(curves: Sequence[Curve]) -> "Figure":
    """One panel a curve on logarithmic axes: points as measured, and the claimed growth beside a part that stays."""
    columns = min(3, len(curves))
    rows = -(-len(curves) // columns)
    figure = new_figure(8.6, 2.65 * rows)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel, curve in zip(panels, curves, strict=False):
        _draw_curve(panel, curve)
    for panel in panels[len(curves) :]:
        panel.axis("off")
    for row in range(rows):
        panels[row * columns].set_ylabel("time of a step", fontsize=10, color=INK)
    return figure


def _draw_curve(axes: "Axes", curve: Curve) -> None:
    color = COLORS[0] if CLAIMS[curve.name] == 1 else COLORS[1]
    places = np.geomspace(min(curve.sizes), max(curve.sizes), 100)
    claim = CLAIM_NAMES[CLAIMS[curve.name]]
    axes.plot(places, curve.claimed(places), color=FAINT, linewidth=1.4, linestyle="--", label=f"constant + {claim}", zorder=1)
    axes.plot(curve.sizes, curve.seconds, "o", color=color, markersize=6, label="measured", zorder=2)
    axes.set(xscale="log", yscale="log")
    finish_axes(axes, "", "")
    axes.set_xticks(*_size_ticks(curve.sizes))
    axes.set_title(curve.name, fontsize=11, color=INK)
    axes.legend(fontsize=8.5, frameon=False, labelcolor=INK, loc="upper left", handlelength=1.6)
    axes.text(0.97, 0.06, f"exponent {curve.exponent:.2f}", transform=axes.transAxes, fontsize=9.5, color=color, ha="right")
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.42)  # room for the legend
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
