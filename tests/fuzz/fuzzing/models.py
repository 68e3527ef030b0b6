"""Saved models, checkpoints and records of studies: what a run of phist wrote, with random changes to its files."""

import atexit
import functools
import json
import shutil
import struct
import tempfile
import warnings
from pathlib import Path

import networkx as nx
import numpy as np

from fuzzing.invariants import Violation, check_message
from fuzzing.mutation import as_json, mutate_bytes, mutate_value
from phist import as_graphset

SETTINGS = {
    "orders": (2, 2),
    "channels": (3, 3),
    "bins": 3,
    "roots": 2,
    "realizations": 2,
    "engine": "reference",
    "random_state": 0,
}
HEADS = {"linear": {}, "forest": {"head": "forest"}, "kernel": {"head": "kernel"}}


def fuzz_model(random, folder):
    from phist import StructuralClassifier

    place = folder / "model"
    shutil.copytree(_saved_models() / random.choice(sorted(HEADS)), place)
    files = [file for file in sorted(place.iterdir()) if file.suffix != ".md"]
    for file in random.sample(files, random.choice((1, 1, 2))):
        _change_file(random, file)

    def use():
        model = StructuralClassifier.load(place)
        answer = model.predict_proba(_graphs())
        if answer.shape != (len(_graphs()), len(model.classes_)) or not np.isfinite(answer).all():
            raise Violation(f"probabilities of shape {answer.shape} that are not finite")

    return use


def fuzz_checkpoint(random, folder):
    place = folder / "run.safetensors"
    shutil.copyfile(_saved_models() / "run.safetensors", place)
    _change_file(random, place)

    def resume():
        model = _classifier(max_epochs=2, checkpoint=place).fit(_graphs())
        if not np.isfinite(model.predict_proba(_graphs())).all():
            raise Violation("a model that answers with what is not finite")

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
def _graphs():
    graphs = [nx.path_graph(4 + i % 3) for i in range(6)] + [nx.cycle_graph(4 + i % 3) for i in range(6)]
    return as_graphset(graphs, ["path"] * 6 + ["cycle"] * 6)


def _classifier(**settings):
    from phist import StructuralClassifier

    return StructuralClassifier(**{**SETTINGS, "max_epochs": 1, "validation_fraction": 0.25, "progress": False, **settings})


@functools.cache
def _saved_models():
    """A folder with a model for every head, and a checkpoint; made once per process."""
    place = _temporary_folder()
    for name, settings in HEADS.items():
        _classifier(**settings).fit(_graphs()).save(place / name)
    _classifier(checkpoint=place / "run.safetensors").fit(_graphs())
    return place


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
