"""A training run, epoch by epoch."""

from typing import TYPE_CHECKING

from phist.drawing.style import COLORS, FAINT, finish_axes, new_figure
from phist.errors import ConfigError
from phist.training.history import History

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_history(history: History) -> "Figure":
    """Losses and accuracies over the epochs of a training run; the epoch whose weights were kept is marked.

    Args:
        history: an element of ``model.histories_``.
    """
    if not history.epochs:
        raise ConfigError("the history has no epochs, so there is nothing to draw; fit the estimator with labels first")
    figure = new_figure(8.0, 3.2)
    epochs = [epoch.number + 1 for epoch in history.epochs]
    for axes, measure in zip(figure.subplots(1, 2), ("loss", "accuracy"), strict=True):
        scale = 100 if measure == "accuracy" else 1
        for name, prefix, color in (("training", "", COLORS[0]), ("validation", "validation_", COLORS[1])):
            values = [getattr(epoch, prefix + measure) for epoch in history.epochs]
            if None not in values:
                axes.plot(epochs, [scale * value for value in values], color=color, linewidth=1.6, label=name)
        axes.axvline(history.best + 1, color=FAINT, linestyle="--", linewidth=1, label=f"kept: epoch {history.best + 1}", zorder=0)
        finish_axes(axes, "epoch", "accuracy in percent" if measure == "accuracy" else "loss")
    axes.legend(frameon=False, fontsize=9)
    return figure
