"""Pictures of what a network has learnt.

Each function returns a matplotlib figure of its own; no window is opened and no global state is touched.
"""

from phist.drawing.history import plot_history
from phist.drawing.plane import plot_plane
from phist.drawing.responses import plot_responses
from phist.drawing.style import save_figure

__all__ = ["plot_history", "plot_plane", "plot_responses", "save_figure"]
