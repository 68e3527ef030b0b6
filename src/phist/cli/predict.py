"""phist predict"""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.bulk import (
    BATCH_ROWS,
    PART_ROWS,
    BatchRows,
    OnError,
    PartRows,
    Shard,
    Stream,
    is_bulk,
    refuse_in_streams,
    run_stream,
)
from phist.cli.holdout import Accuracy
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
from phist.cli.output import write_text
from phist.cli.output_checks import check_file_place, model_files
from phist.cli.screen import console
from phist.cli.text import csv_cell
from phist.errors import shown
from phist.progress import waiting

if TYPE_CHECKING:
    from phist.estimators.fitted import FittedClassifier
    from phist.graphs.graphset import GraphSet

Out = Annotated[Path | None, typer.Option(help="A file to write instead of standard output, which is also -.")]
Exact = Annotated[bool, typer.Option("--exact", help="Every node as a root, instead of an average over samples of roots.")]


def predict(
    model: Model,
    data: Data,
    out: Out = None,
    as_json: Json = False,
    exact: Exact = False,
    engine: OtherEngine = None,
    threads: Threads = None,
    labels: Labels = None,
    directed: Directed = None,
    self_loops: SelfLoops = None,
    weights: Weights = "use",
    empty: Empty = "error",
    node_table: NodeTable = None,
    max_bytes: MaxBytes = None,
    stream: Stream = False,
    shard: Shard = None,
    on_error: OnError = "stop",
    part_rows: PartRows = PART_ROWS,
    batch_rows: BatchRows = BATCH_ROWS,
) -> None:
    """Classify graphs with a saved model: id, predicted label and the probability of each class.

    The result is CSV, or JSON with --json. Where the data have labels, the
    accuracy in percent goes to standard error, and into the JSON. Directed data
    are read as the model's were, unless --directed says otherwise. In CSV, ids
    and labels that a spreadsheet would take for formulas begin with an
    apostrophe, and control characters are spelled out. A folder or pattern of
    Parquet, JSONL or TU files is streamed into a folder of Parquet files, and
    goes on where it was after a kill.

    Examples:
      phist predict mymodel new.jsonl
      phist predict mymodel new.jsonl --exact --out predictions.csv
      phist predict mymodel new.jsonl --json
      phist predict mymodel lake --out answers --shard 1/4
    """
    loose: dict[str, Any] = {"self_loops": self_loops, "weights": weights, "empty": empty, "max_bytes": max_bytes}
    if is_bulk(data, stream, shard):
        refuse_in_streams(json=as_json, labels=labels, node_table=node_table)
        run_stream(
            "predict", model, data, out, exact=exact, engine=engine, threads=threads, reading={"directed": directed, **loose},
            shard=shard, on_error=on_error, part_rows=part_rows, batch_rows=batch_rows,
        )  # fmt: skip
        return
    check_file_place(out, data, labels, node_table, *model_files(model))

    import warnings

    with waiting("loading PyTorch and the model"):
        from phist.estimators.fitted import FittedClassifier
        from phist.estimators.reading import InputNotice
        from phist.graphs.datasets import load_graphs

        use_threads(threads)
        classifier = FittedClassifier.load(model)
    if exact:
        classifier.inference = "exact"
    use_engine(classifier, engine)
    graphs = load_graphs(data, labels, directed=direction_of(classifier, directed), nodes=node_table, **loose)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        probabilities = classifier.predict_proba(graphs)
    flags = classifier.flags(graphs)
    notices = [*(str(one.message) for one in said if issubclass(one.category, InputNotice)), *_notices(flags)]
    predicted = classifier.classes_[probabilities.argmax(1)].tolist()
    accuracy = _accuracy(graphs, classifier, predicted)
    notices += _held_out_notice(graphs, classifier, predicted, flags)

    text = _as_json(graphs, classifier, predicted, probabilities, accuracy, flags, notices) if as_json else ""
    write_text(out, text or _as_csv(graphs, classifier, predicted, probabilities))
    for notice in notices:
        console(to_program=True).print(f"note: {notice}")
    if accuracy is not None:
        console(to_program=True).print(f"accuracy {accuracy}")


def _notices(flags: list[list[str]]) -> list[str]:
    """What most graphs have in common, and a person should know."""
    seen = sum("look-alike" in own for own in flags)
    if 2 * seen <= len(flags):
        return []
    return [
        f"{seen} of {len(flags)} graphs look exactly like graphs that the model was fitted to; how well it does on them "
        "is no measure of it (see card.md, or 'phist validate')"
    ]


def _held_out_notice(graphs: "GraphSet", classifier: "FittedClassifier", predicted: list[Any], flags: list[list[str]]) -> list[str]:
    """Of the file that the model was fitted on: how it does on the graphs that were kept apart then."""
    from phist.graphs.labels import plain_ids

    kept, true = set(classifier.held_out_), graphs.label_list()
    chosen = [number for number, identity in enumerate(plain_ids(graphs.ids)) if identity in kept]
    if not true or not _notices(flags) or len(chosen) != len(kept) or not kept:
        return []
    right = sum(true[number] == predicted[number] for number in chosen)
    return [f"on the graphs with the ids of those kept apart in fitting: accuracy {Accuracy(right, len(chosen))}"]


def _accuracy(graphs: "GraphSet", classifier: "FittedClassifier", predicted: list[Any]) -> Accuracy | None:
    """How many labels were found, where there are any; a label the model never saw counts as missed."""
    known = set(classifier.classes_.tolist())
    true = graphs.label_list()
    if not true:
        return None
    if not known & set(true):
        console(to_program=True).print(
            f"no accuracy: the data's labels ({true[0]!r}, ...) are none of the model's ({', '.join(map(repr, known))})"
        )
        return None
    if unknown := [label for label in true if label not in known]:
        console(to_program=True).print(
            f"note: {len(unknown)} of {len(true)} graphs have labels that the model does not know ({shown(unknown[0])}, ...); "
            "they count as missed"
        )
    return Accuracy(sum(a == b for a, b in zip(true, predicted, strict=True)), len(true))


def _as_csv(graphs: "GraphSet", classifier: "FittedClassifier", predicted: list[Any], probabilities: Any) -> str:
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(["graph", "predicted", *(csv_cell(f"p({label})") for label in classifier.classes_.tolist())])
    for identity, label, row in zip(graphs.ids.tolist(), predicted, probabilities.tolist(), strict=True):
        writer.writerow([csv_cell(identity), csv_cell(label), *(f"{value:.6f}" for value in row)])
    return lines.getvalue()


def _as_json(
    graphs: "GraphSet",
    classifier: "FittedClassifier",
    predicted: list[Any],
    probabilities: Any,
    accuracy: Accuracy | None,
    flags: list[list[str]],
    notices: list[str],
) -> str:
    import json

    true = graphs.label_list() or [None] * len(graphs)
    columns = zip(graphs.ids.tolist(), true, predicted, probabilities.tolist(), flags, strict=True)
    predictions = [
        {"graph": identity, "label": label, "predicted": answer, "probabilities": [round(value, 6) for value in row], "flags": own}
        for identity, label, answer, row, own in columns
    ]
    content = {
        "classes": classifier.classes_.tolist(),
        "accuracy": None if accuracy is None else round(accuracy.percent, 2),
        "test": None if accuracy is None else accuracy.to_dict(),
        "notices": notices,
        "predictions": predictions,
    }
    return json.dumps(content, indent=2, allow_nan=False, default=str) + "\n"
