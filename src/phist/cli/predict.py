"""phist predict"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.bulk import STREAM_DEFAULTS, StreamOptions, refuse_in_streams, run_stream
from phist.cli.holdout import Accuracy
from phist.cli.options import READING_DEFAULTS, Data, Json, Labels, Model, ReadingOptions
from phist.cli.output import write_text
from phist.cli.output_checks import check_file_place, model_files
from phist.cli.predictions import fitted_notice, predictions_csv
from phist.cli.saved_models import MODEL_DEFAULTS, ModelOptions, input_notices, load_classifier, with_labels_of
from phist.cli.screen import console
from phist.errors import shown

if TYPE_CHECKING:
    from phist.estimators.fitted import FittedClassifier
    from phist.graphs.graphset import GraphSet

Out = Annotated[Path | None, typer.Option(help="A file to write instead of standard output, which is also -.")]


def predict(
    model: Model,
    data: Data,
    out: Out = None,
    as_json: Json = False,
    how: ModelOptions = MODEL_DEFAULTS,
    labels: Labels = None,
    reading: ReadingOptions = READING_DEFAULTS,
    streams: StreamOptions = STREAM_DEFAULTS,
) -> None:
    """Classify graphs with a saved model: id, predicted label and the probability of each class.

    The result is CSV, or JSON with --json. Where the data have labels, the
    accuracy in percent goes to standard error, and into the JSON. Directed data
    are read as the model's were, unless --directed says otherwise. In CSV, ids
    and labels that a spreadsheet would take for formulas begin with an
    apostrophe, and control characters are spelled out. A folder or pattern of
    Parquet, JSONL or TU files is streamed into a folder of Parquet files, and
    goes on where it was after a kill; --json then tells what was written.

    Examples:
      phist predict mymodel new.jsonl
      phist predict mymodel new.jsonl --exact --out predictions.csv
      phist predict mymodel new.jsonl --json
      phist predict mymodel lake --out answers --shard 1/4
    """
    if streams.are_for(data):
        refuse_in_streams(labels=labels, node_table=reading.node_table)
        run_stream("predict", model, data, out, how, reading, streams, as_json=as_json)
        return
    check_file_place(out, data, labels, reading.node_table, *model_files(model))
    classifier = load_classifier(model, how)

    from phist.graphs.datasets import load_graphs

    graphs = with_labels_of(classifier, load_graphs(data, labels, **reading.arguments(classifier)))
    with input_notices() as notices:
        probabilities = classifier.predict_proba(graphs)
    flags = classifier.flags(graphs)
    notices += fitted_notice(flags)
    predicted = classifier.classes_[probabilities.argmax(1)].tolist()
    accuracy = _accuracy(graphs, classifier, predicted)
    notices += _held_out_notice(graphs, classifier, predicted, flags)

    text = _as_json(graphs, classifier, predicted, probabilities, accuracy, flags, notices) if as_json else ""
    write_text(out, text or predictions_csv(graphs, classifier.classes_.tolist(), probabilities))
    for notice in notices:
        console(to_program=True).print(f"note: {notice}")
    if accuracy is not None:
        console(to_program=True).print(f"accuracy {accuracy}")


def _held_out_notice(graphs: "GraphSet", classifier: "FittedClassifier", predicted: list[Any], flags: list[list[str]]) -> list[str]:
    """Of the file that the model was fitted on: how it does on the graphs that were kept apart then."""
    from phist.graphs.labels import plain_ids

    kept, true = set(classifier.held_out_), graphs.label_list()
    chosen = [number for number, identity in enumerate(plain_ids(graphs.ids)) if identity in kept]
    if not true or not fitted_notice(flags) or len(chosen) != len(kept) or not kept:
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
