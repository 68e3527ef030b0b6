"""Crafted inputs beside graphs on disk: values, edits, studies, batches and damaged models that were once mishandled."""

import json
import shutil
import struct

import networkx as nx
import numpy as np

from fuzzing.crafted import CRAFTED, case, refused
from fuzzing.models import fuzz_graphs, saved_models
from fuzzing.uses import explained_model, results_of_validation, validate

NO_DIMENSION = np.array(3)
SETTINGS = {
    "bins of two and a half": {"network": {"bins": 2.5}},
    "true as bins": {"network": {"bins": True}},
    "roots that are text": {"network": {"roots": "x"}},
    "roots that are an array": {"network": {"roots": np.array([1, 2])}},
    "a thousand million roots": {"network": {"roots": 10**9}},
    "a million layers": {"network": {"orders": (2,) * 10**6, "channels": (2,) * 10**6}},
    "an order without end": {"network": {"orders": (float("inf"),)}},
    "a network that is a list": {"network": []},
    "a preset that is a number": {"preset": 5},
    "a preset of 5,000 characters": {"preset": "x" * 5000},
    "a seed below zero": {"random_state": -1},
    "a seed that is text": {"random_state": "abc"},
    "a thousand million draws": {"training": {"validation_realizations": 10**9}},
    "a decay that is no number": {"training": {"weight_decay": float("nan")}},
    "weights of classes in an array": {"class_weight": np.array([1.0, 2.0])},
    "a thousand folds of a forest": {"heads": {"forest": {"folds": 1000}}},
}
SPECS = {
    "a name that no file can have": "[[runs]]\nmethods = ['majority']\ndatasets = ['" + "x" * 9000 + "']",
    "a user who is not there": "[[runs]]\nmethods = ['majority']\ndatasets = ['~nouser-of-this-name/x']",
    "labels of 9,000 characters": "[[runs]]\nmethods = ['majority']\ndatasets = ['MUTAG']\nlabelled = '" + "x" * 9000 + "'",
    "nested ten thousand deep": "runs = " + "[" * 10_000 + "]" * 10_000,
    "a number of 5,000 digits": "seeds = [" + "9" * 5000 + "]",
    "a date as a number of graphs": "[generated.X]\nfamily = 'trees'\narguments = {n_graphs = 2020-01-01, seed = 0}\n",
    "bad UTF-8": b"name = '\xff'",
}
RECIPES = {
    "a thousand million graphs": ("trees", {"n_graphs": 10**9, "seed": 0}),
    "every pair of a million nodes": ("planted-partitions", {"n_graphs": 1, "n_nodes": 10**6, "seed": 0}),
    "two triangles of three nodes": ("triangles", {"n_graphs": 4, "nodes": [3, 3], "most": 2, "seed": 0}),
    "a degree of 400 digits": ("regular-pairs", {"n_pairs": 1, "degrees": [10**400], "seed": 0}),
    "text as a seed": ("trees", {"n_graphs": 4, "seed": "abc"}),
}


def _settings(kind, name, given):
    def make(folder):
        import phist

        return refused(lambda: getattr(phist, kind)(progress=False, **given).fit(fuzz_graphs()))

    CRAFTED[f"{kind}: {name}"] = make


for _name, _given in SETTINGS.items():
    _settings("StructuralClassifier", _name, _given)
    if "heads" not in _given:
        _settings("StructuralEmbedder", _name, _given)


def _spec(name, text):
    def make(folder):
        from phist.evaluation.spec_file import read_spec

        head = b"name = 'x'\nprotocol = 'paper'\n"
        (folder / "x.toml").write_bytes(head + (text if isinstance(text, bytes) else text.encode()))
        return refused(lambda: read_spec(folder / "x.toml"))

    CRAFTED[f"study: {name}"] = make


for _name, _text in SPECS.items():
    _spec(_name, _text)


def _recipe(name, family, arguments):
    def make(folder):
        from phist.evaluation.generated import Recipe

        return refused(lambda: Recipe.make(family, arguments).graphs())

    CRAFTED[f"recipe: {name}"] = make


for _name, (_family, _arguments) in RECIPES.items():
    _recipe(_name, _family, _arguments)


@case
def pairs_without_a_graph(folder):
    from phist.theory.pairs import read_pairs

    (folder / "x.tsv").write_text("category\tfirst\tsecond\nmine\t\t\n")
    return refused(lambda: read_pairs(folder / "x.tsv"))


@case
def counts_that_lack_a_variant(folder):
    from phist.theory.expressiveness_record import Record

    (folder / "x.json").write_text(json.dumps({**Record().to_dict(), "suite": {"basic": {"pairs": 1}}}))
    return refused(lambda: Record.read(folder / "x.json"))


@case
def edit_that_is_an_array_without_a_dimension(folder):
    from phist.explain import what_if

    return refused(lambda: what_if(explained_model(), nx.path_graph(5), remove=NO_DIMENSION))


@case
def edit_in_a_list_that_is_an_array_without_a_dimension(folder):
    from phist.explain import what_if

    return refused(lambda: what_if(explained_model(), nx.path_graph(5), add=[NO_DIMENSION]))


@case
def sets_to_delete_that_are_an_array_without_a_dimension(folder):
    from phist.explain import delete

    return refused(lambda: delete(explained_model(), nx.path_graph(5), NO_DIMENSION))


@case
def validation_whose_positions_are_fractions(folder):
    rows = [json.loads(line) for line in results_of_validation().decode().splitlines()]
    rows[0]["positions"] = [float(position) for position in rows[0]["positions"]]
    (folder / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return refused(lambda: validate(folder / "x.jsonl").summary())


@case
def batch_of_numbers_beyond_64_bits(folder):
    from phist.scale import predict_batches

    return refused(lambda: predict_batches(saved_models() / "ensemble")({"n_nodes": [2**64], "sources": [[0]], "targets": [[1]]}))


@case
def batch_without_a_row(folder):
    from phist.scale import predict_batches

    return lambda: predict_batches(saved_models() / "ensemble")({"n_nodes": [], "sources": [], "targets": []})


@case
def forest_whose_trees_wrap_around(folder):
    shutil.copytree(saved_models() / "heads", folder / "model")
    for file in (folder / "model").glob("*.safetensors"):
        _wrap_around(file)
    return refused(lambda: _load(folder / "model"))


@case
def model_with_a_pipe_as_its_configuration(folder):
    import os

    shutil.copytree(saved_models() / "ensemble", folder / "model")
    (folder / "model" / "config.json").unlink()
    os.mkfifo(folder / "model" / "config.json")
    return refused(lambda: _load(folder / "model"))


@case
def model_whose_configuration_is_deep(folder):
    shutil.copytree(saved_models() / "ensemble", folder / "model")
    (folder / "model" / "config.json").write_text('{"format": ' + "[" * 100_000)
    return refused(lambda: _load(folder / "model"))


def _load(place):
    from phist.estimators import load_estimator

    return load_estimator(place)


def _wrap_around(file):
    """Pointers to trees whose differences are positive because they overflow."""
    content = file.read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    for name, array in json.loads(content[8 : 8 + size]).items():
        if name.endswith("first"):
            begin, end = (8 + size + offset for offset in array["data_offsets"])
            pointers = np.frombuffer(content[begin:end], np.int64).copy()
            pointers[1:4] = 2**62, -(2**63), -(2**62)
            file.write_bytes(content[:begin] + pointers.tobytes() + content[end:])
