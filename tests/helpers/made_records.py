"""Records as a study would write them, with figures that a test can foretell."""

import json
from dataclasses import replace

import numpy as np

from phist.baselines.method import Account
from phist.evaluation.cell import Cell
from phist.evaluation.records import Outcome, Record, journal_of

GRAPHS = 20  # of a test fold
VERSIONS = {"phist": "0.1.0", "python": "3.11.2", "torch": "2.13.0"}


def make_record(
    method="phist", dataset="MUTAG", fold=0, right=16, *, training=0.9, epochs=0, seconds=1.5, status="ok", notes=(), **changes
):
    """One record: ``right`` of 20 test graphs classified rightly; further fields of the cell or the record by name."""
    of_cell = {name: changes.pop(name) for name in list(changes) if name in Cell.__dataclass_fields__}
    cell = Cell(
        **{"method": method, "dataset": dataset, "fingerprint": "f00d", "protocol": "paper", "fold": fold, "seed": 0} | of_cell
    )
    usual = {"finished": f"2026-01-01T00:00:{fold:02d}", "split": "5917", "seconds": seconds, "versions": VERSIONS}
    record = Record(cell, status, **(usual | changes))
    if status != "ok":
        return record
    account = Account(
        chosen={"epoch": epochs},
        history=[_epoch(number, epochs) for number in range(epochs)],
        training_accuracy=training,
        validation_accuracy=0.8,
        notes=list(notes),
    )
    return replace(record, outcome=_outcome(right), account=account, peak_memory=120.0)


def make_records(rights, **fields):
    """One record for every fold."""
    return [make_record(fold=fold, right=right, **fields) for fold, right in enumerate(rights)]


def make_study_records(
    methods=("phist", "wl-subtree", "gcn", "ldp", "majority"), datasets=("MUTAG", "ENZYMES", "PROTEINS"), seed=0
):
    """A whole little study, in which the methods are worse the later they come."""
    generator = np.random.default_rng(seed)
    records = []
    for method_place, method in enumerate(methods):
        for dataset_place, dataset in enumerate(datasets):
            rights = generator.binomial(GRAPHS, 0.85 - 0.07 * method_place - 0.03 * dataset_place, 10)
            seconds = float(10.0 ** generator.uniform(-1, 2))
            epochs = 30 if method in ("phist", "gcn") else 0
            records += make_records(rights, method=method, dataset=dataset, seconds=seconds, epochs=epochs)
    return records


def write_records(folder, records):
    """The records as files, all at once: a study writes them one by one, which takes longer."""
    for record in records:
        path = journal_of(folder, record.cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(json.dumps(record.to_line()) + "\n")
    return folder


def _outcome(right):
    truth = [graph % 2 for graph in range(GRAPHS)]
    predicted = [label if graph < right else 1 - label for graph, label in enumerate(truth)]
    probabilities = np.array([[0.9, 0.1] if label == 0 else [0.1, 0.9] for label in predicted])
    return Outcome(["-1", "1"], list(range(GRAPHS)), truth, predicted, probabilities)


def _epoch(number, epochs):
    share = (number + 1) / epochs
    return {
        "epoch": number,
        "loss": 1 - 0.7 * share,
        "accuracy": 0.5 + 0.4 * share,
        "validation_loss": 1 - 0.5 * share,
        "validation_accuracy": 0.5 + 0.3 * share,
    }
