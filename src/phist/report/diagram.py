"""The critical-difference diagram of ranks, as markup for the report or as a figure."""

import re
from html import unescape
from io import StringIO
from typing import TYPE_CHECKING, Any

from phist.extras import require
from phist.report.ranks import LEVEL, Ranks
from phist.report.svg import tag, words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#123456"  # stands for the colour of the text around the drawing, and is replaced by it
LEFT, RIGHT = "{label} {rank:.1f}", "{rank:.1f} {label}"  # names on either side of the drawing
MARGIN = {"left": 0.2, "right": 0.8, "top": 0.92, "bottom": 0.02}


def plot_ranks(ranks: Ranks) -> "Figure":
    """Mean ranks on a line; bars join methods that Nemenyi's test cannot tell apart."""
    posthocs = require("scikit_posthocs", "report", "the critical-difference diagram")
    figure: Figure = require("matplotlib.figure", "report", "drawing").Figure(figsize=(9, 1.1 + 0.17 * len(ranks.labels)))
    figure.subplots_adjust(**MARGIN)
    axes = figure.subplots()
    means = ranks.means
    significance = posthocs.posthoc_nemenyi_friedman(_named(ranks))
    with require("matplotlib", "report", "drawing").rc_context({"font.size": 9}):
        posthocs.critical_difference_diagram(
            means,
            significance,
            ax=axes,
            alpha=LEVEL,
            text_h_margin=0.15,
            label_fmt_left=LEFT,
            label_fmt_right=RIGHT,
            color_palette=dict.fromkeys(means, INK),
            crossbar_props={"color": INK},
            elbow_props={"linewidth": 0.8},
        )
    _recolour(axes)
    return figure


def diagram_html(ranks: Ranks | None, name: str = "ranks") -> str:
    """The diagram with its explanation, its ids begun with ``name``; nothing where there is nothing to rank."""
    if ranks is None:
        return ""
    what = (
        "Mean ranks; 1 is the best. Bars join methods that cannot be told apart at the 5 percent level. A name opens its results."
    )
    drawing = tag("figure", _svg(plot_ranks(ranks), name, ranks), class_="diagram")
    return tag("p", words(what)) + drawing + tag("p", words(f"{ranks.summary()} {ranks.power()}"))


def _named(ranks: Ranks) -> Any:
    pandas = require("pandas", "report", "the critical-difference diagram")
    return pandas.DataFrame(ranks.scores, columns=list(ranks.labels))


def _recolour(axes: Any) -> None:
    axes.tick_params(colors=INK)
    for spine in axes.spines.values():
        spine.set_color(INK)
    for text in axes.texts:
        text.set_color(INK)


def _svg(figure: "Figure", name: str, ranks: Ranks) -> str:
    """The drawing without what belongs to a file of its own, in the colour and font of the page, with ids of its own."""
    buffer = StringIO()
    settings = {"svg.fonttype": "none", "svg.hashsalt": "phist", "font.family": "sans-serif"}
    with require("matplotlib", "report", "drawing").rc_context(settings):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    for before in ('id="', '"#', "url(#"):
        text = text.replace(before, f"{before}{name}-")
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    return _opening(text.replace("<svg ", '<svg role="group" aria-label="Mean ranks of all methods" ', 1), ranks)


def _opening(drawing: str, ranks: Ranks) -> str:
    """Every name in the drawing opens the results of its method."""
    names = {form.format(label=label, rank=rank): label for label, rank in ranks.means.items() for form in (LEFT, RIGHT)}

    def open_method(found: re.Match[str]) -> str:
        shown = unescape(found[2])
        if shown not in names:
            return found[0]
        spoken = f"{shown}; open all results of {names[shown]}"
        opener = tag("g", class_="opens", role="button", tabindex=0, aria_label=spoken, data_label=names[shown], data_dataset="")
        return opener.replace("></g>", f">{found[0]}</g>")

    return re.sub(r"<text([^>]*)>([^<]*)</text>", open_method, drawing)
