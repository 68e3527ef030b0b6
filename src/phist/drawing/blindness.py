"""Figure 1: two multisets that a projective histogram cannot tell apart, until they are rotated."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from phist.drawing.style import COLORS, FAINT, INK, new_figure
from phist.nn.histogram import ProjectiveHistogram

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BINS = 6
POINTS = 10  # in each multiset
GREEN, BLUE = (COLORS[2], "o"), (COLORS[0], "s")
KERNEL_COLOR = "#d4d4d4"


def plot_projective_histogram() -> "Figure":
    """Green and blue points in the square with their histograms along both axes, as they are and rotated by 45 degrees."""
    figure = new_figure(8.6, 4.7)
    multisets = make_blind_pair()
    titles = {0: "as they are: equal histograms", 45: "rotated by 45 degrees: different histograms"}
    for axes, (angle, title) in zip(figure.subplots(1, 2), titles.items(), strict=True):
        _draw_half(axes, [rotate(points, angle) for points in multisets], title)
    return figure


def make_blind_pair(seed: int = 5) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points along one diagonal, and the same coordinates paired the other way round: along the other diagonal."""
    generator = np.random.default_rng(seed)
    ladder = np.linspace(-0.62, 0.62, POINTS)
    x, y = np.sort(ladder + generator.uniform(-0.07, 0.07, (2, POINTS)), axis=1)
    return np.stack([x, y], axis=1), np.stack([x, y[::-1]], axis=1)  # (points, 2) each


def rotate(points: NDArray[np.float64], degrees: float) -> NDArray[np.float64]:
    """Points (points, 2) turned about the origin, counter-clockwise."""
    angle = np.deg2rad(degrees)
    turned: NDArray[np.float64] = points @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return turned


def _draw_half(square: "Axes", multisets: list[NDArray[np.float64]], title: str) -> None:
    _draw_square(square, multisets)
    above, beside = square.inset_axes((0, 1.05, 1, 0.42)), square.inset_axes((1.05, 0, 0.42, 1))
    histogram = ProjectiveHistogram(BINS, density=True)
    outputs = [histogram(torch.from_numpy(points))[0].reshape(2, BINS).numpy() for points in multisets]  # (coordinates, bins)
    _draw_bars(above, [output[0] for output in outputs], histogram, upright=True)
    _draw_bars(beside, [output[1] for output in outputs], histogram, upright=False)
    above.set_title(title, fontsize=12, color=INK, loc="left", pad=10)


def _draw_square(axes: "Axes", multisets: list[NDArray[np.float64]]) -> None:
    for border in np.linspace(-1, 1, BINS + 1)[1:-1]:
        axes.axvline(border, color="#eeeeee", linewidth=0.8, zorder=0)
        axes.axhline(border, color="#eeeeee", linewidth=0.8, zorder=0)
    for (x, y), (color, marker) in zip((points.T for points in multisets), (GREEN, BLUE), strict=True):
        axes.scatter(x, y, s=48, color=color, marker=marker, edgecolors="white", linewidths=0.8, zorder=2)
    axes.set(xlim=(-1, 1), ylim=(-1, 1), aspect="equal")
    axes.set_xticks([-1, 0, 1])
    axes.set_yticks([-1, 0, 1])
    axes.tick_params(labelsize=9, colors=INK)
    axes.spines[:].set_color(FAINT)
    axes.set_xlabel("first coordinate", fontsize=10, color=INK)
    axes.set_ylabel("second coordinate", fontsize=10, color=INK)


def _draw_bars(axes: "Axes", outputs: list[NDArray[np.float64]], histogram: ProjectiveHistogram, upright: bool) -> None:
    """Kernels in grey, and a green and a blue bar in every bin."""
    centers, widths = histogram.centers.numpy(), histogram.widths.numpy()
    places = torch.linspace(-1, 1, 301)
    for center, width in zip(centers, widths, strict=True):
        bump = 0.6 * histogram.kernel.value((places - center) / width)
        axes.plot(*((places, bump) if upright else (bump, places)), color=KERNEL_COLOR, linewidth=1, zorder=1)
    thickness = 0.36 * 2 / BINS
    for offset, values, (color, _) in zip((-0.5, 0.5), outputs, (GREEN, BLUE), strict=True):
        draw = axes.bar if upright else axes.barh
        draw(centers + offset * thickness, values, thickness, color=color, zorder=2)
    axes.set(**({"xlim": (-1, 1), "ylim": (0, 0.95)} if upright else {"xlim": (0, 0.95), "ylim": (-1, 1)}))
    axes.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
    axes.spines[["top", "right", "left" if upright else "bottom"]].set_visible(False)
    axes.spines[["bottom" if upright else "left"]].set_color(FAINT)
