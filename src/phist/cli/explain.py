"""phist explain"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.options import (
    Data,
    Directed,
    Empty,
    Json,
    Labels,
    MaxBytes,
    Model,
    NodeTable,
    OtherEngine,
    SelfLoops,
    Threads,
    Weights,
    direction_of,
    use_engine,
    use_threads,
)
from phist.cli.output import is_standard_output, write_text
from phist.cli.output_checks import check_file_place, model_files
from phist.cli.screen import console
from phist.cli.text import printable
from phist.errors import ConfigError, GraphInputError, shown
from phist.progress import waiting

if TYPE_CHECKING:
    from phist.estimators.fitted.classifier import FittedClassifier
    from phist.explain import Explanation
    from phist.graphs.graphset import GraphSet

Graphs = Annotated[
    list[str] | None, typer.Option("--graph", help="The id of a graph to explain; may be repeated. All graphs unless given.")
]
Target = Annotated[str | None, typer.Option(help="The class to explain; that which is predicted unless given.")]
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
Exact = Annotated[bool, typer.Option("--exact", help="Every node as a root, instead of an average over samples of roots.")]


def explain(
    model: Model,
    data: Data,
    graph: Graphs = None,
    target: Target = None,
    out: Out = None,
    as_json: Json = False,
    max_deletions: MaxDeletions = None,
    exact: Exact = False,
    engine: OtherEngine = None,
    threads: Threads = 1,
    labels: Labels = None,
    directed: Directed = None,
    self_loops: SelfLoops = None,
    weights: Weights = "use",
    empty: Empty = "error",
    node_table: NodeTable = None,
    max_bytes: MaxBytes = None,
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
    check_file_place(out, data, labels, node_table, *model_files(model))
    as_page = out is not None and out.suffix.lower() in PAGES
    if as_page and as_json:
        raise ConfigError(f"--json and --out {shown(str(out))} exclude each other; leave out one, or end the name in .json")

    import warnings

    with waiting("loading PyTorch and the model"):
        from phist.estimators.fitted.classifier import FittedClassifier
        from phist.estimators.reading import InputNotice
        from phist.graphs.datasets import load_graphs

        use_threads(threads)
        classifier = FittedClassifier.load(model)
    if exact:
        classifier.inference = "exact"
    use_engine(classifier, engine)
    reading: dict[str, Any] = {"directed": direction_of(classifier, directed), "self_loops": self_loops, "weights": weights}
    reading |= {"empty": empty, "nodes": node_table, "max_bytes": max_bytes}
    graphs = load_graphs(data, labels, **reading)
    positions = _positions(graphs, graph)
    explained = _class(classifier, target)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        if as_page:
            text = _as_page(classifier, graphs, positions, explained, Path(data).name, max_deletions)
        else:
            chosen = graphs[positions] if graph else graphs
            found = classifier.explain(chosen, explained, max_deletions=max_deletions)
            text = _as_json(found) if as_json else _as_text(found)
    write_text(out, text)
    for notice in dict.fromkeys(str(one.message) for one in said if issubclass(one.category, InputNotice)):
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
