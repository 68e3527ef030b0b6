"""A model as a folder: read as it was written, refused in one way when it is anything else."""

import json
import os

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from small_models import quick_classifier, quick_embedder, quick_network

from phist import StructuralClassifier, StructuralEmbedder, load_estimator
from phist.errors import ConfigError, ModelFileError, OutputError
from phist.graphs.generate import make_planted_partitions

GRAPHS = make_planted_partitions(20, n_nodes=10, seed=0)
ARRAYS = ("network", "colours", "profiles", "calibration", "neighbours")


@pytest.fixture(scope="module")
def classifier():
    model = quick_classifier(heads=("linear", "forest", "kernel")).fit(GRAPHS)
    assert {name.partition("/")[0] for name in model.ensemble_.weights} == {"network", "colours", "profiles"}
    return model


@pytest.fixture
def folder(classifier, tmp_path):
    classifier.save(tmp_path / "model")
    return tmp_path / "model"


def read_config(folder):
    return json.loads((folder / "config.json").read_text())


def change_config(folder, change):
    """Let ``change`` alter the configuration in place."""
    config = read_config(folder)
    change(config)
    (folder / "config.json").write_text(json.dumps(config))


def set_at(*path, value):
    """A change that puts ``value`` where ``path`` leads."""

    def change(config):
        for step in path[:-1]:
            config = config[step]
        config[path[-1]] = value

    return change


def refused(folder, match=None):
    with pytest.raises(ModelFileError, match=match) as raised:
        StructuralClassifier.load(folder)
    assert len(str(raised.value)) < 700


# As it was written --------------------------------------------------------------------------------------------------------


def test_a_loaded_model_answers_the_same(classifier, folder):
    loaded = load_estimator(folder)
    for method in ("predict_proba", "transform", "decision_function"):
        np.testing.assert_array_equal(getattr(loaded, method)(GRAPHS), getattr(classifier, method)(GRAPHS))
    assert loaded.predict_set(GRAPHS) == classifier.predict_set(GRAPHS)
    assert loaded.similar(GRAPHS, 3) == classifier.similar(GRAPHS, 3)


def test_a_loaded_model_saves_the_same(folder, tmp_path):
    load_estimator(folder).save(tmp_path / "again")
    for name in ARRAYS:
        assert (tmp_path / "again" / f"{name}.safetensors").read_bytes() == (folder / f"{name}.safetensors").read_bytes()
    assert read_config(tmp_path / "again") == read_config(folder)


def test_folder_holds_arrays_configuration_history_report_and_card(folder):
    found = {file.name for file in folder.iterdir()}
    assert found >= {*(f"{name}.safetensors" for name in ARRAYS), "config.json", "card.md", "history.jsonl", "report.json"}


def test_the_report_is_saved_as_json(classifier, folder):
    assert json.loads((folder / "report.json").read_text())["verdict"] == classifier.report_.verdict


def test_card_tells_data_verdict_members_and_bounds(classifier, folder):
    card = (folder / "card.md").read_text()
    assert "20 graphs" in card and classifier.report_.verdict in card
    assert "most frequent class: 50.0%" in card
    assert "| profiles/trees |" in card and "extra trees on local profiles" in card


def test_a_preset_by_name_is_saved_too(tmp_path):
    model = quick_network(training={"epochs": 2, "selection": "validation-loss"}, heads=("linear", "kernel")).fit(GRAPHS)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load_estimator(tmp_path / "model").predict_proba(GRAPHS), model.predict_proba(GRAPHS))
    assert "validation accuracy" in (tmp_path / "model" / "card.md").read_text()


def test_where_a_model_was_trained_is_not_saved(tmp_path):
    quick_network(checkpoint=tmp_path / "secret").fit(GRAPHS).save(tmp_path / "model")
    assert "secret" not in (tmp_path / "model" / "config.json").read_text()
    assert StructuralClassifier.load(tmp_path / "model").checkpoint is None


def test_saving_again_replaces_the_model(classifier, folder):
    classifier.save(folder, metrics={"held-out accuracy": 0.5})
    assert "held-out accuracy: 0.5" in (folder / "card.md").read_text()


def test_folder_of_something_else_is_not_overwritten(classifier, tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(OutputError, match="holds something else"):
        classifier.save(tmp_path)
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_unwritable_place_is_named(classifier, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file"):
        classifier.save(tmp_path / "file" / "model")


def test_labels_that_json_cannot_hold_are_refused(tmp_path):
    fitted = quick_network().fit(GRAPHS.with_labels([("a", 1), ("b", 2)] * 10))
    with pytest.raises(ConfigError, match="strings or numbers"):
        fitted.save(tmp_path / "unused")
    assert not (tmp_path / "unused").exists()


# Files ------------------------------------------------------------------------------------------------------------------


def test_missing_folder_is_named(tmp_path):
    refused(tmp_path / "nowhere", "is not a model folder")


@pytest.mark.parametrize("name", ARRAYS)
def test_missing_arrays_are_named(folder, name):
    (folder / f"{name}.safetensors").unlink()
    refused(folder, rf"has no {name}\.safetensors")


@pytest.mark.parametrize("name", ARRAYS)
def test_truncated_arrays_are_named(folder, name):
    file = folder / f"{name}.safetensors"
    file.write_bytes(file.read_bytes()[:-20])
    refused(folder, f"{name}.*damaged")


def test_pickled_arrays_are_not_opened(folder):
    torch.save({"head.weight": torch.zeros(1)}, folder / "network.safetensors")
    refused(folder, "cannot be read")


@pytest.mark.parametrize("name", ARRAYS)
def test_no_arrays_in_a_file_are_refused(folder, name):
    save_file({}, folder / f"{name}.safetensors")
    refused(folder)


DAMAGE = {
    "shape": lambda array: array[..., None],
    "length": lambda array: array[:-1] if array.ndim else array[None],
    "kind": lambda array: array.astype(np.float16 if array.dtype.kind == "f" else np.int8),
    "nan": lambda array: np.full_like(array, np.nan) if array.dtype.kind == "f" else np.full_like(array, np.iinfo(array.dtype).min),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_do_not_fit_are_refused(folder, name, damage):
    file = folder / f"{name}.safetensors"
    sound = load_file(file)
    last = None
    for key in [key for key in sound if "running" not in key or damage != "nan"][:60]:
        kind = key.rpartition(".")[2]
        if kind == last or (name == "network" and key.partition(".")[2].startswith("network.") and sound[key].dtype.kind != "f"):
            continue  # one of a kind is enough; counters of batches may be any whole number
        last = kind
        save_file({**sound, key: np.ascontiguousarray(DAMAGE[damage](sound[key]))}, file)
        refused(folder)


def test_first_nodes_of_trees_that_wrap_around_are_refused(folder):
    file = folder / "profiles.safetensors"
    sound = load_file(file)
    first = np.array([0, 2**62, -(2**63), -(2**62), 0, sound["first"][-1]], np.int64)
    save_file({**sound, "first": first}, file)
    refused(folder, "forest")


def test_weights_of_another_width_are_named_with_both_shapes(folder):
    file = folder / "network.safetensors"
    sound = load_file(file)
    save_file({**sound, "0.network.head.weight": np.zeros((2, 7), np.float32)}, file)
    refused(folder, r"head\.weight has shape \(2, 7\)")


# Configuration ------------------------------------------------------------------------------------------------------------


def test_the_first_format_says_what_to_do(folder):
    change_config(folder, lambda config: config.update(version=1, phist="0.1.0"))
    refused(folder, r"phist 0\.1\.0 in a format that is no longer read; fit it again")


def test_a_future_format_says_what_to_do(folder):
    change_config(folder, set_at("version", value=99))
    refused(folder, "later phist.*update phist")


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, "{", '{"format": "other"}', '{"format": "phist-model", "version": 2}'])
def test_foreign_configuration_is_refused(folder, text):
    (folder / "config.json").write_text(text)
    refused(folder, r"config\.json")


def test_configuration_that_is_no_file_is_refused_at_once(folder):
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")
    refused(folder, "is not a model folder")


@pytest.mark.parametrize(
    "files",
    [["../network"], ["/etc/passwd"], ["a/b"], ["network", 3], "network", None, ["."], [""], ["a" * 5000], ["nothing"]],
    ids=str,
)
def test_names_of_files_elsewhere_are_refused(folder, files):
    change_config(folder, set_at("files", value=files))
    refused(folder)


MEMBER = ("settings", "ensemble", "members")


@pytest.mark.parametrize("value", [None, "x", 3, [], {}, float("inf"), float("nan"), -1, True], ids=repr)
@pytest.mark.parametrize(
    "path",
    [
        ("settings",), ("settings", "estimator"), ("settings", "parameters"), ("settings", "classes"), ("settings", "seed"),
        ("settings", "reading"), ("settings", "data"), ("settings", "ids"), ("settings", "ensemble"), MEMBER, (*MEMBER, 0),
        (*MEMBER, 0, "kind"), (*MEMBER, 0, "label"), (*MEMBER, 0, "values"), (*MEMBER, 2, "values"),
        (*MEMBER, 2, "values", "network"), (*MEMBER, 2, "values", "training"), (*MEMBER, 2, "values", "heads"),
        (*MEMBER, 2, "values", "seeds"), (*MEMBER, 2, "values", "looks"), (*MEMBER, 2, "values", "best"),
        (*MEMBER, 2, "values", "ending"), (*MEMBER, 0, "values", "rounds"), (*MEMBER, 1, "values", "n_eigenvalues"),
        ("settings", "ensemble", "candidates"), ("settings", "ensemble", "temperature"),
        ("settings", "ensemble", "candidates", 0, "weight"), ("settings", "ensemble", "candidates", 0, "temperature"),
    ],
    ids=lambda path: ".".join(map(str, path)),
)  # fmt: skip
def test_values_of_another_kind_are_refused_or_change_nothing(classifier, folder, path, value):
    change_config(folder, set_at(*path, value=value))
    try:
        found = StructuralClassifier.load(folder).predict_proba(GRAPHS)
    except ModelFileError as error:
        assert len(str(error)) < 700
    else:
        assert np.isfinite(found).all()


@pytest.mark.parametrize("path", [("settings", "seed"), ("settings", "ensemble", "temperature"), (*MEMBER, 0, "kind")])
@pytest.mark.parametrize("value", ["x", float("inf"), None])
def test_values_that_matter_are_refused(folder, path, value):
    change_config(folder, set_at(*path, value=value))
    refused(folder)


def test_unknown_members_are_named(folder):
    change_config(folder, set_at(*MEMBER, 0, "kind", value="oracle"))
    refused(folder, "oracle")


def test_weights_of_members_that_are_not_there_are_refused(folder):
    change_config(folder, set_at("settings", "ensemble", "candidates", 0, "name", value="oracle/delphi"))
    change_config(folder, set_at("settings", "ensemble", "candidates", 0, "weight", value=0.5))
    refused(folder, "do not fit them")


def test_ids_of_other_graphs_are_refused(folder):
    change_config(folder, set_at("settings", "ids", value=["one"]))
    refused(folder, "ids")


@pytest.mark.parametrize("channels", [[10**7, 10**7], [9000, 9000]])
def test_hostile_sizes_are_refused_before_memory_is_taken(folder, channels):
    change_config(folder, set_at(*MEMBER, 2, "values", "network", "channels", value=channels))
    refused(folder)


@pytest.mark.parametrize(
    "network", [{"orders": [float("inf")]}, {"bins": 2.5}, {"bins": True}, {"sampler": []}, {"sampler": {"count": 10**9}}]
)
def test_configuration_of_a_network_that_cannot_be_is_refused(folder, network):
    change_config(folder, lambda config: config["settings"]["ensemble"]["members"][2]["values"]["network"].update(network))
    refused(folder, "network cannot be read")


def test_other_classes_than_the_members_have_are_refused(folder):
    change_config(folder, set_at("settings", "classes", value=["a", "b", "c"]))
    refused(folder)


# Kinds ------------------------------------------------------------------------------------------------------------------


def test_a_classifier_is_not_loaded_as_an_embedder(folder, tmp_path):
    with pytest.raises(ModelFileError, match="holds a classifier"):
        StructuralEmbedder.load(folder)
    quick_embedder().fit(GRAPHS).save(tmp_path / "embedder")
    with pytest.raises(ModelFileError, match="embedder; load it as one"):
        StructuralClassifier.load(tmp_path / "embedder")


def test_an_unknown_kind_of_model_is_named(folder):
    change_config(folder, set_at("settings", "estimator", value="oracle"))
    with pytest.raises(ModelFileError, match="it knows classifier, embedder"):
        load_estimator(folder)
