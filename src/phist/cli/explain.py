"""phist explain"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.options import READING_DEFAULTS, Data, Json, Labels, Model, ReadingOptions
from phist.cli.output import is_standard_output, write_text
from phist.cli.output_checks import check_file_place, model_files
from phist.cli.saved_models import MODEL_DEFAULTS, ModelOptions, input_notices, load_classifier, with_labels_of
from phist.cli.screen import console
from phist.cli.text import printable
from phist.errors import ConfigError, GraphInputError, shown

if TYPE_CHECKING:
    from phist.estimators.fitted.classifier import FittedClassifier
    from phist.explain import Explanation
    from phist.graphs.graphset import GraphSet

Graphs = Annotated[
    list[str] | None,
    typer.Option("--graph", metavar="ID", help="The id of a graph to explain; may be repeated. All graphs unless given."),
]
Target = Annotated[str | None, typer.Option(metavar="CLASS", help="The class to explain; that which is predicted unless given.")]
Out = Annotated[
    Path | None, typer.Option(help="A file to write instead of standard output, which is also -; a name in .html makes a page.")
]
MaxDeletions = Annotated[
    int | None,
    typer.Option(
        min=0, help="The most edges, and nodes, to delete of a graph; all of a small one unless given.", show_default=False
    ),
]
PAGES = (".html", ".htm")


def explain(
    model: Model,
    data: Data,
    graph: Graphs = None,
    target: Target = None,
    out: Out = None,
    as_json: Json = False,
    max_deletions: MaxDeletions = None,
    how: ModelOptions = MODEL_DEFAULTS,
    labels: Labels = None,
    reading: ReadingOptions = READING_DEFAULTS,
) -> None:
    """Say which nodes and edges made a saved model decide as it does.

    Of every graph the strongest nodes by their exact shares in the logit, the
    strongest edges by what becomes of the probability without them, and the
    strongest channels of the networks. With --json everything: shares, votes,
    deletion effects of all nodes and edges, draws, bins (docs/explain.md).
    With --out NAME.html a page to open in a browser: a map of all graphs, each
    graph with what its nodes and edges do, and why; edges can be edited there.

    Examples:
      phist explain mymodel new.jsonl --graph g7
      phist explain mymodel new.jsonl --target mutagenic --json --out why.json
      phist explain mymodel new.jsonl --out why.html
    """
    check_file_place(out, data, labels, reading.node_table, *model_files(model))
    as_page = out is not None and out.suffix.lower() in PAGES
    if as_page and as_json:
        raise ConfigError(f"--json and --out {shown(str(out))} exclude each other; leave out one, or end the name in .json")

    classifier = load_classifier(model, how)

    from phist.graphs.datasets import load_graphs

    graphs = with_labels_of(classifier, load_graphs(data, labels, **reading.arguments(classifier)))
    positions = _positions(graphs, graph)
    explained = _class(classifier, target)
    with input_notices() as notices:
        if as_page:
            text = _as_page(classifier, graphs, positions, explained, Path(data).name, max_deletions)
        else:
            chosen = graphs[positions] if graph else graphs
            found = classifier.explain(chosen, explained, max_deletions=max_deletions)
            text = _as_json(found) if as_json else _as_text(found)
    write_text(out, text)
    for notice in notices:
        console(to_program=True).print(f"note: {notice}")
    if out is not None and not is_standard_output(out):
        size = f"{len(text.encode()) / 1e6:.1f} MB"
        console(to_program=True).print(f"Wrote {out}, {size}: open it in a browser" if as_page else f"Wrote {out}, {size}")


def _positions(graphs: "GraphSet", wanted: list[str] | None) -> list[int]:
    """Of the graphs with these ids, in the order of the data."""
    if not wanted:
        return []
    ids = [str(identity) for identity in graphs.ids.tolist()]
    unknown = [identity for identity in wanted if identity not in ids]
    if unknown:
        raise GraphInputError(f"no graph has the id {shown(unknown[0])}; the data have {shown(ids, 120)}")
    return [position for position, identity in enumerate(ids) if identity in wanted]


def _class(classifier: "FittedClassifier", target: str | None) -> Any:
    """The label that is written so."""
    if target is None:
        return None
    written = {str(label): label for label in classifier.classes_.tolist()}
    if target not in written:
        raise ConfigError(f"--target {shown(target)} is no class of this model; its classes are {shown(list(written), 120)}")
    return written[target]


def _as_page(
    classifier: "FittedClassifier", graphs: "GraphSet", wanted: list[int], target: Any, name: str, max_deletions: int | None
) -> str:
    from phist.explain.page.html import make_page

    return make_page(classifier, graphs, wanted=wanted, target=target, name=name, max_deletions=max_deletions)


def _as_text(found: "Sequence[Explanation]") -> str:
    return "".join(f"{printable(str(one))}\n" for one in found)


def _as_json(found: "Sequence[Explanation]") -> str:
    content = {"explanations": [one.to_dict() for one in found]}
    return json.dumps(content, allow_nan=False, default=str) + "\n"
