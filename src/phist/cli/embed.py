"""phist embed"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.bulk import STREAM_DEFAULTS, StreamOptions, refuse_in_streams, run_stream
from phist.cli.options import READING_DEFAULTS, Data, Model, ReadingOptions
from phist.cli.output import is_standard_output, output_path
from phist.cli.output_checks import check_file_place, model_files
from phist.cli.saved_models import MODEL_DEFAULTS, ModelOptions, input_notices, load_model
from phist.cli.screen import console, print_json
from phist.cli.text import csv_cell
from phist.errors import ConfigError, OutputError, check_choice

if TYPE_CHECKING:
    from phist.graphs.graphset import GraphSet

FORMATS = ("npz", "npy", "csv")

Out = Annotated[Path, typer.Option(help="The file to write: .npz, .npy or .csv; - for standard output.", show_default=False)]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="|".join(FORMATS), help="As the file's name ends, unless given; CSV on standard output."),
]
Summary = Annotated[bool, typer.Option("--json", help="Say what was written as JSON on standard output.")]
Nodes = Annotated[bool, typer.Option("--nodes", help="An embedding of every node, instead of one of each graph.")]


def embed(
    model: Model,
    data: Data,
    out: Out,
    form: Format = None,
    as_json: Summary = False,
    nodes: Nodes = False,
    how: ModelOptions = MODEL_DEFAULTS,
    reading: ReadingOptions = READING_DEFAULTS,
    streams: StreamOptions = STREAM_DEFAULTS,
) -> None:
    """Write the embeddings of graphs, or of all their nodes, as NumPy arrays or CSV.

    .npz holds embeddings, ids and, where there are any, labels; with --nodes
    also node_ptr, the row at which each graph begins, and the end. .csv begins
    each row with the graph's id (and the node's number). .npy holds the matrix
    alone. A folder or pattern of Parquet, JSONL or TU files is streamed into a
    folder of Parquet files, and goes on where it was after a kill.

    Examples:
      phist embed mymodel mine.jsonl --out embeddings.npz
      phist embed mymodel MUTAG --nodes --out nodes.csv
      phist embed mymodel MUTAG --out - --format csv | head
      phist embed mymodel 'lake/*.parquet' --out vectors --on-error skip
    """
    if streams.are_for(data):
        refuse_in_streams(nodes=nodes, node_table=reading.node_table, format=form)
        run_stream("embed", model, data, out, how, reading, streams, as_json=as_json)
        return
    form = _format_of(out, form)
    if as_json and is_standard_output(out):
        raise ConfigError("--json and --out - both write to standard output; give the name of a file")
    check_file_place(out, data, reading.node_table, *model_files(model))

    embedder = load_model(model, how)

    import numpy as np

    from phist.graphs.datasets import load_graphs

    graphs = load_graphs(data, **reading.arguments(embedder))
    with input_notices() as notices:
        embeddings = np.concatenate(embedder.node_embeddings(graphs)) if nodes else embedder.transform(graphs)
    _write(out, form, graphs, embeddings, nodes)
    rows, width = embeddings.shape
    what = "nodes" if nodes else "graphs"
    for notice in notices:
        console(to_program=True).print(f"note: {notice}")
    if as_json:
        print_json({"out": str(out), "format": form, "rows": rows, "columns": width, "each": what, "notices": notices})
    console(to_program=as_json or is_standard_output(out)).print(f"Wrote {out}: {rows:,} {what}, {width:,} numbers each")


def _format_of(out: Path, given: str | None) -> str:
    """The format asked for, else that of the name; standard output has no name."""
    if given is not None:
        check_choice("--format", given, FORMATS)
        return given
    if is_standard_output(out):
        return "csv"
    ending = out.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise OutputError(f"--out {out} ends in {out.suffix or 'nothing'}; it must end in {endings}, unless --format says it")
    return ending


def _write(out: Path, form: str, graphs: "GraphSet", embeddings: Any, nodes: bool) -> None:
    import numpy as np

    with output_path(out) as temporary:
        if form == "csv":
            with temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="") as text:
                _write_csv(text, graphs, embeddings, nodes)
            return
        with temporary.open("wb") as file:  # numpy would add a suffix to the name of a file
            if form == "npy":
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
            yield from ((csv_cell(identity), node) for node in range(size))
        else:
            yield (csv_cell(identity),)
