"""A model on disk: it comes back as it was, and what is no model is refused before anything is computed."""

import json
import os

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from small_models import quick_classifier

from phist import StructuralClassifier, StructuralEmbedder, load_estimator
from phist.errors import ModelFileError
from phist.graphs.generate import make_planted_partitions

GRAPHS = make_planted_partitions(30, n_nodes=12, seed=0)
SETTINGS = {"network": {"channels": (3, 4), "bins": 3, "roots": 4}, "training": {"epochs": 1}, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    members, heads = ("network", "colours", "profiles"), ("linear", "forest", "kernel")
    return StructuralClassifier("low", members=members, heads=heads, **SETTINGS).fit(GRAPHS)


@pytest.fixture
def folder(model, tmp_path):
    model.save(tmp_path / "model")
    return tmp_path / "model"


def change_config(folder, change):
    config = json.loads((folder / "config.json").read_text())
    change(config)
    (folder / "config.json").write_text(json.dumps(config))


def test_a_model_comes_back_as_it_was(model, folder):
    again = load_estimator(folder)
    np.testing.assert_array_equal(again.predict_proba(GRAPHS), model.predict_proba(GRAPHS))
    np.testing.assert_array_equal(again.transform(GRAPHS), model.transform(GRAPHS))
    assert again.predict_set(GRAPHS) == model.predict_set(GRAPHS)
    assert again.similar(GRAPHS[:3], 2) == model.similar(GRAPHS[:3], 2)
    assert again.flags(GRAPHS) == [["look-alike"]] * 30


def test_an_embedder_comes_back_as_it_was(tmp_path):
    embedder = StructuralEmbedder(**SETTINGS).fit(GRAPHS)
    embedder.save(tmp_path / "embedder")
    np.testing.assert_array_equal(load_estimator(tmp_path / "embedder").transform(GRAPHS), embedder.transform(GRAPHS))


def test_the_card_and_the_report_tell_how_good_it_is(model, folder):
    assert model.report_.verdict in (folder / "card.md").read_text()
    assert json.loads((folder / "report.json").read_text())["verdict"] == model.report_.verdict


def test_the_card_says_nothing_twice_and_nothing_against_itself(model, folder):
    card = (folder / "card.md").read_text()
    assert card.count("1-WL ceiling") == 1 and "were not computed" not in card
    assert "network: 1 structural network of" in card


def test_the_report_comes_back_and_goes_on_with_the_model(model, folder, tmp_path):
    again = load_estimator(folder)
    assert again.report_ == model.report_
    again.save(tmp_path / "copy")
    assert (tmp_path / "copy" / "report.json").read_bytes() == (folder / "report.json").read_bytes()


def change_report(folder, change):
    report = json.loads((folder / "report.json").read_text())
    change(report)
    (folder / "report.json").write_text(json.dumps(report))


@pytest.mark.parametrize(
    "change",
    [
        lambda report: report.pop("floors"),
        lambda report: report["floors"].update(degrees=2.0),
        lambda report: report["metrics"].update(accuracy="high"),
        lambda report: report["metrics"].update(interval=[0.5]),
        lambda report: report.update(candidates=[{"name": 3}]),
        lambda report: report.update(notes=[None]),
    ],
)
def test_a_report_that_is_none_is_refused(folder, change):
    change_report(folder, change)
    with pytest.raises(ModelFileError, match="the model's report cannot be read"):
        load_estimator(folder)


def test_a_model_of_another_kind_is_named(folder):
    with pytest.raises(ModelFileError, match="holds a classifier"):
        StructuralEmbedder.load(folder)


@pytest.mark.parametrize(("version", "advice"), [(1, "fit it again"), (99, "update phist")])
def test_another_format_says_what_to_do(folder, version, advice):
    change_config(folder, lambda config: config.update(version=version))
    with pytest.raises(ModelFileError, match=advice):
        StructuralClassifier.load(folder)


@pytest.mark.parametrize("file", ["config.json", "network.safetensors", "colours.safetensors", "training.safetensors"])
@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes()[:50])])
def test_missing_and_damaged_files_are_named(folder, file, damage):
    damage(folder / file)
    with pytest.raises(ModelFileError, match=file.partition(".")[0]):
        StructuralClassifier.load(folder)


@pytest.mark.parametrize("file", ["config.json", "report.json"])
def test_a_file_without_end_is_not_read_into_memory(folder, file):
    os.truncate(folder / file, 1 << 40)  # takes no place on the disk
    with pytest.raises(ModelFileError, match=f"{file} has more than"):
        StructuralClassifier.load(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda config: config.update(files=["../elsewhere"]),
        lambda config: config.update(files=7),
        lambda config: config.update(settings=[]),
        lambda config: config["settings"].pop("ensemble"),
        lambda config: config["settings"].update(seed="x"),
        lambda config: config["settings"].update(classes=["only"]),
        lambda config: config["settings"].update(classes=[]),
        lambda config: config["settings"].update(classes=["planted", "planted"]),
        lambda config: config["settings"]["reading"].update(largest=-1),
        lambda config: config["settings"].update(reading=None),
        lambda config: config["settings"]["parameters"].update(effort="much"),
        lambda config: config["settings"]["parameters"].update(colour=3),
        lambda config: config["settings"]["ensemble"].update(temperature="hot"),
        lambda config: config["settings"]["ensemble"].update(members=[]),
        lambda config: config["settings"]["ensemble"]["members"][0].update(kind="friend"),
        lambda config: config["settings"]["ensemble"]["candidates"][0].update(weight=-1.0),
    ],
)
def test_settings_that_describe_no_model_are_refused(folder, change):
    change_config(folder, change)
    with pytest.raises(ModelFileError):
        StructuralClassifier.load(folder)


@pytest.mark.parametrize("file", ["network", "colours", "profiles", "calibration", "neighbours"])
@pytest.mark.parametrize(
    "spoil",
    [lambda array: array[:0], lambda array: array.astype(np.int8), lambda array: np.full_like(array, np.nan)],
    ids=["empty", "other kind", "not a number"],
)
def test_arrays_that_do_not_fit_are_refused(folder, file, spoil):
    path = folder / f"{file}.safetensors"
    arrays = load_file(path)
    name = next(name for name, array in sorted(arrays.items()) if array.ndim and array.dtype.kind == "f")
    save_file({**arrays, name: spoil(arrays[name])}, path)
    with pytest.raises(ModelFileError):
        StructuralClassifier.load(folder)


def test_hashes_that_are_none_are_refused(folder):
    save_file({"hashes": np.zeros(3, np.float32)}, folder / "training.safetensors")
    with pytest.raises(ModelFileError, match="hashes"):
        StructuralClassifier.load(folder)


@pytest.mark.parametrize(
    "parameters",
    [
        {"class_weight": {0: 1.0, 1: 3.0}},
        {"class_weight": {np.int64(0): 1.0, np.int64(1): np.float32(3.0)}},
        {"random_state": np.int64(3)},
        {"time_budget": np.int64(30)},
        {"training": {"epochs": np.int64(2)}},
    ],
    ids=["labels as keys", "NumPy keys", "NumPy seed", "NumPy budget", "NumPy epochs"],
)
def test_parameters_mean_the_same_after_loading(parameters, tmp_path):
    graphs = make_planted_partitions(20, n_nodes=8, seed=0)
    labels = (graphs.labels == "planted").astype(int)
    model = quick_classifier(**parameters).fit(graphs, labels)
    model.save(tmp_path / "model")
    loaded = StructuralClassifier.load(tmp_path / "model")
    for name, value in parameters.items():
        assert loaded.get_params()[name] == value
    np.testing.assert_array_equal(loaded.fit(graphs, labels).predict_proba(graphs), model.fit(graphs, labels).predict_proba(graphs))
