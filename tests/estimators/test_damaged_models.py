"""Model folders that are damaged, foreign, hostile or of another version: said in words, and nothing is run or taken."""

import json

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from phist import StructuralClassifier, StructuralEmbedder
from phist.errors import ConfigError, ModelFileError, OutputError
from phist.graphs.generate import make_planted_partitions

GRAPHS = make_planted_partitions(20, n_nodes=10, seed=0)
SETTINGS = {
    "preset": "MUTAG",
    "network": {"channels": (4, 6), "bins": 4},
    "training": {"epochs": 1, "selection": "validation-loss"},
    "random_state": 0,
}


@pytest.fixture(scope="module")
def classifier():
    return StructuralClassifier(**SETTINGS).fit(GRAPHS)


@pytest.fixture
def folder(classifier, tmp_path):
    classifier.save(tmp_path / "model")
    return tmp_path / "model"


def change_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))


def change_network(folder, network):
    """Another configuration of the network in the folder."""
    settings = json.loads((folder / "config.json").read_text())["settings"]
    values = settings["ensemble"]["members"][0]["values"]
    values["network"] = {**values["network"], **network} if isinstance(network, dict) else network
    change_config(folder, settings=settings)


def change_weights(folder, name, change):
    state = load_file(folder / "network.safetensors")
    state[f"0.network.{name}"] = change(state[f"0.network.{name}"])
    save_file(state, folder / "network.safetensors")


def test_card_tells_data_bounds_and_metrics(folder):
    card = (folder / "card.md").read_text()
    assert "20 graphs" in card
    assert "most frequent class: 50.0%" in card
    assert "validation accuracy" in card


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


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"there is no folder .*nowhere; give a model folder"):
        StructuralClassifier.load(tmp_path / "nowhere")


def test_a_folder_of_something_else_is_named(tmp_path):
    with pytest.raises(ModelFileError, match="is not a model folder"):
        StructuralClassifier.load(tmp_path)


def test_missing_weights_are_named(folder):
    (folder / "network.safetensors").unlink()
    with pytest.raises(ModelFileError, match=r"has no network\.safetensors"):
        StructuralClassifier.load(folder)


def test_truncated_weights_are_named(folder):
    content = (folder / "network.safetensors").read_bytes()
    (folder / "network.safetensors").write_bytes(content[:-100])
    with pytest.raises(ModelFileError, match="damaged"):
        StructuralClassifier.load(folder)


def test_pickled_weights_are_not_opened(folder):
    torch.save({"head.weight": torch.zeros(1)}, folder / "network.safetensors")
    with pytest.raises(ModelFileError, match="cannot be read"):
        StructuralClassifier.load(folder)


def test_weights_of_another_width_are_named_with_both_shapes(folder):
    change_weights(folder, "head.weight", lambda weights: np.zeros((2, 7), np.float32))
    with pytest.raises(ModelFileError, match=r"head\.weight has shape \(2, 7\), \(2, 24\) is needed"):
        StructuralClassifier.load(folder)


@pytest.mark.parametrize(
    ("channels", "message"), [([10**7, 10**7], "channels=10000000"), ([2000, 2000], "do not fit the configuration")]
)
def test_hostile_sizes_are_refused_before_memory_is_taken(folder, channels, message):
    change_network(folder, {"channels": channels})
    with pytest.raises(ModelFileError, match=message):
        StructuralClassifier.load(folder)


@pytest.mark.parametrize(
    "network", [[], None, {"orders": [float("inf")]}, {"bins": 2.5}, {"bins": True}, {"sampler": []}, {"sampler": {"count": 10**9}}]
)
def test_configuration_of_a_network_that_cannot_be_is_refused(folder, network):
    change_network(folder, network)
    with pytest.raises(ModelFileError, match="network cannot be read"):
        StructuralClassifier.load(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(folder, value):
    change_weights(folder, "head.weight", lambda weights: np.full_like(weights, value))
    with pytest.raises(ModelFileError, match=r"head\.weight are not all finite"):
        StructuralClassifier.load(folder)


def test_a_configuration_that_never_ends_is_refused(folder):
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to("/dev/zero")
    with pytest.raises(ModelFileError, match=r"config\.json"):
        StructuralClassifier.load(folder)


def test_files_outside_of_the_folder_are_not_read(folder):
    change_config(folder, files=["../network"])
    with pytest.raises(ModelFileError, match="does not describe a model"):
        StructuralClassifier.load(folder)


@pytest.mark.parametrize(
    "wrong",
    [None, [], {"graphs": True}, {"graphs": 0}, {"nodes": 5}, {"nodes": {"mean": "many"}}, {"nodes": {"mean": 0}}, {"directed": 1}],
    ids=str,
)
def test_facts_about_the_training_graphs_that_cannot_be_are_refused(folder, wrong):
    settings = json.loads((folder / "config.json").read_text())["settings"]
    settings["data"] = {**settings["data"], **wrong} if isinstance(wrong, dict) else wrong
    change_config(folder, settings=settings)
    with pytest.raises(ModelFileError, match="does not describe a classifier"):
        StructuralClassifier.load(folder)


@pytest.mark.parametrize(("version", "advice"), [(99, "later phist"), (1, "no longer read")])
def test_another_version_is_refused(folder, version, advice):
    change_config(folder, version=version)
    with pytest.raises(ModelFileError, match=advice):
        StructuralClassifier.load(folder)


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, "{", '{"format": "other"}', '{"format": "phist-model", "version": 2}'])
def test_foreign_configuration_is_refused(folder, text):
    (folder / "config.json").write_text(text)
    with pytest.raises(ModelFileError, match=r"config\.json"):
        StructuralClassifier.load(folder)


@pytest.mark.parametrize("wrong", [{"settings": {}}, {"files": []}, {"files": "network"}, {"settings": 3}])
def test_incomplete_configuration_is_refused(folder, wrong):
    change_config(folder, **wrong)
    with pytest.raises(ModelFileError):
        StructuralClassifier.load(folder)


def test_a_network_without_weights_is_refused(folder):
    settings = json.loads((folder / "config.json").read_text())["settings"]
    settings["ensemble"]["members"][0]["values"]["seeds"] = []
    change_config(folder, settings=settings)
    with pytest.raises(ModelFileError):
        StructuralClassifier.load(folder)


def test_classifier_is_not_loaded_as_an_embedder(folder):
    with pytest.raises(ModelFileError, match="holds a classifier"):
        StructuralEmbedder.load(folder)


def test_labels_that_json_cannot_hold_are_refused():
    labels = [("a", 1), ("b", 2)] * 10
    fitted = StructuralClassifier(**SETTINGS).fit(GRAPHS.with_labels(labels))
    with pytest.raises(ConfigError, match="strings or numbers"):
        fitted.save("unused")
