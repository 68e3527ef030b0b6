"""Pictures of the gallery: every matplotlib figure that a block of an example leaves in a variable."""

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def figure_scraper(_block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save figures that have not been saved before, and return the markup that shows them."""
    saved = block_vars["example_globals"].setdefault("__saved_figures__", [])
    paths = []
    for figure in [value for value in block_vars["example_globals"].values() if isinstance(value, Figure)]:
        if not any(figure is other for other in saved):
            saved.append(figure)
            paths.append(next(block_vars["image_path_iterator"]))
            figure.savefig(paths[-1], dpi=110)
    return figure_rst(paths, gallery_conf["src_dir"])
