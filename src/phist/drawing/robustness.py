"""Which bands of the spectrum a classifier uses, and how far its predictions move when graphs are slightly wrong."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phist.drawing.style import COLORS, FAINT, INK, MARKERS, finish_axes, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from phist.theory.spectral_sensitivity import Band
    from phist.theory.stability import Shift


def plot_robustness(bands: "Sequence[Band]", shifts: "Sequence[Shift]") -> "Figure":
    """Two panels: the bands of the spectrum (left out where there are none), and flips against the strength of errors."""
    figure = new_figure(10.0 if bands else 5.5, 4.0)
    axes = figure.subplots(1, 2 if bands else 1, squeeze=False)[0]
    if bands:
        _draw_bands(axes[0], bands)
    _draw_flips(axes[-1], shifts)
    return figure


def _draw_bands(axes: "Axes", bands: "Sequence[Band]") -> None:
    centers = np.array([(band.low + band.high) / 2 for band in bands])
    third = (bands[0].high - bands[0].low) / 3.6
    rows: list[tuple[str, str, list[float | None]]] = [
        ("eigenvalues", FAINT, [band.eigenvalues for band in bands]),
        ("response energy", COLORS[0], [band.energy for band in bands]),
        ("flips when muted", COLORS[1], [band.flipped for band in bands]),
    ]
    shown = [row for row in rows if None not in row[2]]
    for place, (name, color, shares) in enumerate(shown):
        offset = (place - (len(shown) - 1) / 2) * third
        axes.bar(centers + offset, [100 * (share or 0) for share in shares], width=0.92 * third, color=color, label=name)
    axes.set_title("Bands of the spectrum", fontsize=11, color=INK)
    axes.set(xlim=(0, 2), ylim=(0, 1.18 * axes.get_ylim()[1]))
    axes.set_xticks(np.linspace(0, 2, 5))
    finish_axes(axes, "eigenvalue of the Laplacian", "share [%]")
    axes.legend(fontsize=9, frameon=False, ncols=len(shown), loc="upper center", columnspacing=1.2)


def _draw_flips(axes: "Axes", shifts: "Sequence[Shift]") -> None:
    names = dict.fromkeys(shift.perturbation for shift in shifts if shift.strength > 0)
    for number, name in enumerate(names):
        mine = sorted((shift.strength, shift.flipped) for shift in shifts if shift.perturbation == name)
        strengths, flips = np.array([(0.0, 0.0), *mine]).T * 100
        axes.plot(strengths, flips, color=COLORS[number], marker=MARKERS[number], markersize=5, label=name)
    axes.set_title("Predictions that flip", fontsize=11, color=INK)
    axes.set_ylim(bottom=0)
    finish_axes(axes, "edges changed, or error of weights [%]", "share of graphs [%]")
    axes.legend(fontsize=9, frameon=False)
