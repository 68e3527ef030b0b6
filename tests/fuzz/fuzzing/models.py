"""Saved models, checkpoints and records of studies: what a run of phist wrote, with random changes to its files."""

import atexit
import contextlib
import functools
import json
import shutil
import struct
import tempfile
import warnings
from pathlib import Path
from unittest import mock

import networkx as nx
import numpy as np

from fuzzing.invariants import Violation, check_message
from fuzzing.mutation import as_json, mutate_bytes, mutate_value
from phist import as_graphset

SETTINGS = {
    "network": {"orders": (2, 2), "channels": (3, 3), "bins": 3, "roots": 2},
    "training": {"epochs": 3, "restarts": 1},
    "engine": "reference",
    "random_state": 0,
    "progress": False,
}
MODELS = ("ensemble", "heads", "embedder")
CHECKPOINTS = {"bag": {"effort": "low", "members": "network"}, "preset": {"preset": "MUTAG"}}


def fuzz_model(random, folder):
    place = folder / "model"
    shutil.copytree(saved_models() / random.choice(MODELS), place)
    files = [file for file in sorted(place.iterdir()) if file.suffix != ".md"]
    for file in random.sample(files, random.choice((1, 1, 2))):
        _change_file(random, file)

    return functools.partial(_use_model, place)


def _use_model(place):
    from phist.estimators import load_estimator

    model = load_estimator(place)
    if hasattr(model, "predict_proba"):
        _check_finite(model.predict_proba(fuzz_graphs()), len(model.classes_))
    if hasattr(model, "out_of_fold_"):
        model.predict_set(fuzz_graphs())
    if hasattr(model, "neighbours_"):
        model.similar(fuzz_graphs())
    _check_finite(model.transform(fuzz_graphs()), len(model.get_feature_names_out()))


def _check_finite(answer, columns):
    if answer.shape != (len(fuzz_graphs()), columns) or not np.isfinite(answer).all():
        raise Violation(f"an answer of shape {answer.shape} that is not finite, or not of {columns} columns")


def fuzz_checkpoint(random, folder):
    name = random.choice(sorted(CHECKPOINTS))
    for file in saved_models().glob(f"{name}.safetensors*"):
        shutil.copyfile(file, folder / file.name)
    _change_file(random, random.choice(sorted(folder.glob(f"{name}.safetensors*"))))

    def resume():
        model = _classifier(**CHECKPOINTS[name], checkpoint=folder / f"{name}.safetensors").fit(fuzz_graphs())
        _check_finite(model.predict_proba(fuzz_graphs()), len(model.classes_))

    return resume


def fuzz_records(random, folder):
    from phist.report.study import load_study
    from phist.report.summary import summary_markdown

    shutil.copytree(_saved_records(), folder / "records")
    files = sorted((folder / "records").rglob("*.jsonl"))
    for file in random.sample(files, random.choice((1, 1, 2))):
        _change_file(random, file)

    def read():
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            study = load_study(folder / "records")
            summary_markdown(study), study.records
        for warning in said:
            check_message(warning.message)

    return read


MODEL_FORMATS = {"model": fuzz_model, "checkpoint": fuzz_checkpoint, "records": fuzz_records}


def _temporary_folder():
    place = Path(tempfile.mkdtemp(prefix="phist-fuzz-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


@functools.cache
def fuzz_graphs():
    graphs = [nx.path_graph(4 + i % 3) for i in range(6)] + [nx.cycle_graph(4 + i % 3) for i in range(6)]
    return as_graphset(graphs, ["path"] * 6 + ["cycle"] * 6)


def _classifier(**settings):
    from phist import StructuralClassifier

    return StructuralClassifier(**{**SETTINGS, **settings})


@functools.cache
def saved_models():
    """A folder with models that hold every kind of file, and with checkpoints after two of three epochs; made once."""
    from phist import StructuralEmbedder

    place = _temporary_folder()
    _classifier(effort="low", members=("network", "colours", "profiles")).fit(fuzz_graphs()).save(place / "ensemble")
    _classifier(preset="MUTAG", heads=("linear", "forest", "kernel")).fit(fuzz_graphs()).save(place / "heads")
    StructuralEmbedder(**SETTINGS).fit(fuzz_graphs()).save(place / "embedder")
    for name, settings in CHECKPOINTS.items():
        _save_checkpoint(place / f"{name}.safetensors", settings)
    for name in MODELS:
        _use_model(place / name)  # so that what is compiled at first use is not counted as time an input takes
    return place


def _save_checkpoint(place, settings):
    """What a fit leaves that is interrupted in its last epoch, the weights at the end of its first cycle among it."""
    from phist.training.loop import Trainer

    run_epoch = Trainer.run_epoch

    def interrupted(trainer):
        if len(trainer.history.epochs) == 2:
            raise KeyboardInterrupt
        return run_epoch(trainer)

    with mock.patch.object(Trainer, "run_epoch", interrupted), contextlib.suppress(KeyboardInterrupt):
        _classifier(**settings, checkpoint=place).fit(fuzz_graphs())


@functools.cache
def _saved_records():
    from made_records import make_study_records, write_records

    place = _temporary_folder()
    return write_records(place, make_study_records(methods=("phist", "gcn", "majority"), datasets=("MUTAG", "ENZYMES")))


def _change_file(random, file):
    if random.random() < 0.25:
        file.write_bytes(mutate_bytes(random, file.read_bytes()))
    elif file.suffix == ".json":
        file.write_text(as_json(mutate_value(random, json.loads(file.read_text()))))
    elif file.suffix == ".jsonl":
        lines = file.read_text().splitlines()
        line = random.randrange(len(lines))
        lines[line] = as_json(mutate_value(random, json.loads(lines[line])))
        file.write_text("\n".join(lines) + "\n")
    else:
        file.write_bytes(_changed_tensors(random, file.read_bytes()))


def _changed_tensors(random, content):
    """A safetensors file with another header, another note in it, or other numbers."""
    size = struct.unpack("<Q", content[:8])[0]
    header, numbers = json.loads(content[8 : 8 + size]), bytearray(content[8 + size :])
    note = header.get("__metadata__", {}).get("phist")
    if note is not None and random.random() < 0.5:
        header["__metadata__"]["phist"] = as_json(mutate_value(random, json.loads(note)))
    elif random.random() < 0.4:
        header = mutate_value(random, header)
    else:
        odd = random.choice((np.nan, np.inf, 1e30, -1.0, 2**62, -(2**63), 2**40, -1, 0))
        value = np.array([odd]).astype(random.choice((np.float32, np.float64)) if isinstance(odd, float) else np.int64).tobytes()
        first = random.randrange(max(1, len(numbers) // len(value))) * len(value)
        numbers[first : first + len(value)] = value
    text = as_json(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(numbers)
