"""phist embed"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.options import (
    Data,
    Directed,
    Empty,
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
from phist.cli.places import check_file_place
from phist.cli.screen import console
from phist.errors import OutputError

if TYPE_CHECKING:
    from phist.graphs.graphset import GraphSet

SUFFIXES = (".npz", ".npy", ".csv")

Out = Annotated[Path, typer.Option(help="The file to write: .npz, .npy or .csv.", show_default=False)]
Nodes = Annotated[bool, typer.Option("--nodes", help="An embedding of every node, instead of one of each graph.")]
Exact = Annotated[bool, typer.Option("--exact", help="Every node as a root, instead of an average over samples of roots.")]


def embed(
    model: Model,
    data: Data,
    out: Out,
    nodes: Nodes = False,
    exact: Exact = False,
    engine: OtherEngine = None,
    threads: Threads = 1,
    directed: Directed = None,
    self_loops: SelfLoops = None,
    weights: Weights = "use",
    empty: Empty = "error",
    node_table: NodeTable = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Write the embeddings of graphs, or of all their nodes, as NumPy arrays or CSV.

    .npz holds embeddings, ids and, where there are any, labels; with --nodes
    also node_ptr, the row at which each graph begins, and the end. .csv begins
    each row with the graph's id (and the node's number). .npy holds the matrix
    alone.

    Examples:
      phist embed mine-model mine.jsonl --out embeddings.npz
      phist embed mine-model MUTAG --nodes --out nodes.csv
    """
    if out.suffix.lower() not in SUFFIXES:
        raise OutputError(f"--out {out} ends in {out.suffix or 'nothing'}; it must end in {', '.join(SUFFIXES)}")
    check_file_place(out)

    import numpy as np

    from phist.estimators import load_estimator
    from phist.graphs.datasets import load_graphs

    use_threads(threads)
    embedder = load_estimator(model)
    if exact:
        embedder.set_params(inference="exact")
    use_engine(embedder, engine)
    direction = direction_of(embedder, directed)
    reading: dict[str, Any] = {"directed": direction, "self_loops": self_loops, "weights": weights, "empty": empty}
    reading |= {"nodes": node_table, "max_bytes": max_bytes}
    graphs = load_graphs(data, **reading)
    embeddings = np.concatenate(embedder.node_embeddings(graphs)) if nodes else embedder.transform(graphs)
    _write(out, graphs, embeddings, nodes)
    rows, width = embeddings.shape
    console().print(f"Wrote {out}: {rows:,} {'nodes' if nodes else 'graphs'}, {width:,} numbers each")


def _write(out: Path, graphs: "GraphSet", embeddings: Any, nodes: bool) -> None:
    import numpy as np

    from phist.files import atomic_path

    with atomic_path(out) as temporary:
        if out.suffix.lower() == ".csv":
            with temporary.open("w", encoding="utf-8", newline="") as text:
                _write_csv(text, graphs, embeddings, nodes)
            return
        with temporary.open("wb") as file:  # numpy would add a suffix to the name of a file
            if out.suffix.lower() == ".npy":
                np.save(file, embeddings, allow_pickle=False)
            else:
                np.savez_compressed(file, allow_pickle=False, **_arrays(graphs, embeddings, nodes))


def _arrays(graphs: "GraphSet", embeddings: Any, nodes: bool) -> dict[str, Any]:
    """Arrays that numpy reads back without unpickling: ids and labels of mixed kinds become strings."""
    arrays = {"embeddings": embeddings, "ids": graphs.ids}
    if graphs.labels is not None:
        arrays["labels"] = graphs.labels
    if nodes:
        arrays["node_ptr"] = graphs.node_ptr
    return {name: values.astype(str) if values.dtype == object else values for name, values in arrays.items()}


def _write_csv(text: Any, graphs: "GraphSet", embeddings: Any, nodes: bool) -> None:
    import csv

    writer = csv.writer(text, lineterminator="\n")
    columns = [f"phist{number}" for number in range(embeddings.shape[1])]
    writer.writerow(["graph", "node", *columns] if nodes else ["graph", *columns])
    for name, row in zip(_row_names(graphs, nodes), embeddings, strict=True):
        writer.writerow([*name, *(f"{value:.9g}" for value in row)])  # nine digits give every single-precision number back


def _row_names(graphs: "GraphSet", nodes: bool) -> Iterable[tuple[Any, ...]]:
    for identity, size in zip(graphs.ids.tolist(), graphs.node_counts().tolist(), strict=True):
        if nodes:
            yield from ((identity, node) for node in range(size))
        else:
            yield (identity,)
