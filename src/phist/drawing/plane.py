"""Graph embeddings in the plane."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA

from phist.drawing.style import COLORS, INK, MARKERS, finish_axes, new_figure
from phist.errors import GraphInputError
from phist.graphs.labels import as_labels, distinct_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_plane(
    embeddings: ArrayLike,
    labels: Sequence[Hashable] | NDArray[Any],
    correct: ArrayLike | None = None,
    *,
    background: ArrayLike | None = None,
    title: str = "Graphs in the plane of their two principal components",
) -> "Figure":
    """Graph embeddings in the plane of their principal components, coloured by class.

    Args:
        embeddings: one row for each graph.
        labels: one for each graph.
        correct: whether each graph was classified correctly; those that were not are ringed.
        background: further embeddings, such as those of the training graphs, which then define the plane; drawn faintly.
        title: above the picture.
    """
    points, faint, shares = _project(embeddings, background)
    classes = as_labels(labels)
    if len(classes) != len(points):
        raise GraphInputError(f"{len(classes)} labels were given for {len(points)} embeddings; give one for each")
    figure = new_figure(7.0, 5.0)
    axes = figure.subplots()
    if faint is not None:
        axes.scatter(faint[:, 0], faint[:, 1], s=14, color="#d9d9d9", linewidths=0, label="training graphs", zorder=1)
    for number, label in enumerate(distinct_labels(classes)):
        x, y = points[np.array([other == label for other in classes.tolist()])].T
        style: dict[str, Any] = {
            "color": COLORS[number % len(COLORS)],
            "marker": MARKERS[number % len(MARKERS)],
            "label": f"class {label} ({len(x)})",
        }
        axes.scatter(x, y, s=52, edgecolors="white", linewidths=0.8, zorder=2, **style)
    missed = points[~np.asarray(correct, dtype=bool)] if correct is not None else points[:0]
    if len(missed):
        x, y = missed.T
        label = f"misclassified ({len(missed)})"
        axes.scatter(x, y, s=170, facecolors="none", edgecolors=INK, linewidths=1.4, label=label, zorder=3)
    finish_axes(axes, f"first component ({shares[0]:.0%} of the variance)", f"second ({shares[1]:.0%})")
    axes.legend(frameon=False, fontsize=9, loc="best")
    axes.set_title(title, fontsize=12, color=INK)
    return figure


def _project(embeddings: ArrayLike, background: ArrayLike | None) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any]]:
    """Points in the plane, those of the background, and the share of variance of each axis."""
    points = np.asarray(embeddings, dtype=float)
    basis = points if background is None else np.asarray(background, dtype=float)
    if points.ndim != 2 or basis.ndim != 2 or min(basis.shape) < 2:
        raise GraphInputError(
            f"embeddings of shape {points.shape} with a plane from shape {basis.shape} were given; "
            "a plane needs a table of at least two rows and two columns"
        )
    with np.errstate(invalid="ignore"):  # points that all lie in one place have no variance to share
        plane = PCA(2, svd_solver="full").fit(basis)
    shares = np.nan_to_num(plane.explained_variance_ratio_)
    return plane.transform(points), None if background is None else plane.transform(basis), shares
