"""A trained model as a folder: weights in safetensors, everything else in JSON, a card to read. Nothing is ever unpickled."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from phist import __version__
from phist.errors import ConfigError, ModelFileError
from phist.files import atomic_directory, read_json_object, write_json
from phist.nn.config import NetworkConfig
from phist.nn.network import StructuralNetwork, make_network
from phist.training.checkpoint import State
from phist.training.finite import first_non_finite
from phist.training.history import History

FORMAT = "phist-model"
VERSION = 1
CONFIG, WEIGHTS, CARD, HISTORY = "config.json", "model.safetensors", "card.md", "history.jsonl"


@dataclass(frozen=True)
class SavedModel:
    """What a model folder holds."""

    network: StructuralNetwork
    settings: dict[str, Any]  # what the estimator needs beside the network
    history: History


def save_model(
    path: str | Path,
    network: StructuralNetwork,
    settings: dict[str, Any],
    history: History,
    card: str,
    further: Mapping[str, State] | None = None,
) -> None:
    """Write a model folder; a folder of another kind in its place is left alone and reported.

    Args:
        further: tensors for files of their own, by the file's name.
    """
    config = {
        "format": FORMAT,
        "version": VERSION,
        "phist": __version__,
        "network": network.config.to_dict(),
        "n_outputs": network.head.out_features,
        "settings": settings,
        "history": {"best": history.best, "ending": history.ending},
    }
    with atomic_directory(path, CONFIG) as folder:
        for file, state in {WEIGHTS: network.state_dict(), **(further or {})}.items():
            save_file({name: tensor.contiguous().cpu() for name, tensor in state.items()}, folder / file)
        write_json(folder / CONFIG, config)
        history.write(folder / HISTORY)
        (folder / CARD).write_text(card, encoding="utf-8")


def load_model(path: str | Path) -> SavedModel:
    """Read a model folder; what is missing, damaged, foreign or of a later version is a `ModelFileError` that says so."""
    folder = Path(path)
    config = _read_config(folder)
    state = read_tensors(folder, WEIGHTS)
    try:
        network = build_network(NetworkConfig.from_dict(config["network"]), config["n_outputs"], state)
        settings = dict(config["settings"])
        history = History.read(folder / HISTORY, **config["history"])
    except (KeyError, TypeError, ConfigError, OSError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{folder / CONFIG} does not describe a model ({error}); save the model again") from error
    return SavedModel(network, settings, history)


def _read_config(folder: Path) -> dict[str, Any]:
    if not (folder / CONFIG).is_file():
        raise ModelFileError(f"{folder} is not a model folder (no {CONFIG} in it); make one with 'phist fit' or save()")
    config = read_json_object(folder / CONFIG)
    if config.get("format") != FORMAT or not isinstance(config.get("version"), int):
        raise ModelFileError(f"{folder / CONFIG} does not describe a phist model; make one with 'phist fit' or save()")
    if config["version"] > VERSION:
        raise ModelFileError(
            f"{folder} was written by a later phist (format {config['version']}, this one reads {VERSION}); update phist"
        )
    return config


def read_tensors(folder: Path, file: str) -> State:
    """The tensors of a file in a model folder."""
    if not (folder / file).is_file():
        raise ModelFileError(f"{folder} has no {file}; this model needs it: save the model again")
    try:
        return load_file(folder / file)
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelFileError(f"{folder / file} cannot be read ({error}); it is damaged: save the model again") from error


def _expected_shapes(config: NetworkConfig, n_outputs: int) -> dict[str, tuple[int, ...]]:
    try:
        with torch.device("meta"):
            state = StructuralNetwork(config, n_outputs).state_dict()
    except RuntimeError as error:  # sizes whose product no tensor can have
        raise ModelFileError(f"the weights do not fit the configuration: {error}") from error
    return {name: tuple(tensor.shape) for name, tensor in state.items()}


def build_network(config: NetworkConfig, n_outputs: int, state: State) -> StructuralNetwork:
    """A network with given weights; shapes are compared before memory is taken, so that a hostile configuration costs nothing."""
    expected = _expected_shapes(config, n_outputs)
    found = {name: tuple(tensor.shape) for name, tensor in state.items()}
    if found != expected:
        name = sorted(found.items() ^ expected.items())[0][0]
        raise ModelFileError(
            f"the weights do not fit the configuration: {name} has shape {found.get(name, 'none')}, "
            f"{expected.get(name, 'none')} is needed; was one of the two files replaced?"
        )
    spoilt = first_non_finite(state)
    if spoilt is not None:
        raise ModelFileError(f"the weights {spoilt} are not finite; training diverged: train the model again")
    network = make_network(config, n_outputs, seed=0)
    network.load_state_dict(state)
    return network.eval()
