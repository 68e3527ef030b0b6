"""Presets: the appendix's hyper-parameters for the nine datasets, as printed or with our recipe, and a choice for other data."""

from dataclasses import dataclass

import numpy as np

from phist.errors import ConfigError
from phist.graphs.facts import DATASETS, known_dataset
from phist.graphs.graphset import GraphSet
from phist.nn.config import NetworkConfig
from phist.nn.convolution import SpectralOperator
from phist.nn.sampling import RootSampler
from phist.training.config import TrainingConfig


@dataclass(frozen=True)
class Preset:
    """A network's shape and the way to train it."""

    network: NetworkConfig
    training: TrainingConfig


@dataclass(frozen=True)
class Sizes:
    """A row of the appendix's table; both levels share it."""

    batch_size: int
    roots: int
    orders: tuple[int, int]
    channels: tuple[int, int]
    bins: int
    recipe: dict[str, float]  # ours, not the appendix's: chosen on validation parts of a few folds


APPENDIX = {
    "MUTAG": Sizes(8, 32, (4, 4), (16, 24), 8, {"epochs": 50}),
    "ENZYMES": Sizes(20, 32, (3, 3), (16, 32), 5, {"epochs": 150}),
    "PROTEINS": Sizes(8, 32, (6, 6), (16, 32), 8, {"epochs": 15, "learning_rate": 2e-3, "weight_decay": 0.1}),
    "DD": Sizes(20, 50, (3, 3), (16, 32), 8, {"epochs": 40, "learning_rate": 1e-3, "weight_decay": 0.1}),
    "NCI1": Sizes(20, 32, (3, 3), (16, 32), 8, {"epochs": 100}),
    "IMDB-BINARY": Sizes(20, 32, (3, 3), (16, 32), 8, {"epochs": 30, "learning_rate": 1e-3, "weight_decay": 0.1}),
    "IMDB-MULTI": Sizes(20, 32, (6, 6), (24, 32), 10, {"epochs": 15, "weight_decay": 0.1}),
    "COLLAB": Sizes(20, 32, (3, 3), (16, 32), 8, {"epochs": 60}),
    "REDDIT-BINARY": Sizes(20, 32, (3, 3), (16, 32), 8, {"epochs": 40}),
}

PAPER_NETWORK = {
    "kernel": "smooth-rectangle",
    "node_histogram": "count",
    "graph_histogram": "count",
    "standardize": False,
    "moments": "none",
}
PAPER_TRAINING = {
    "epochs": 600,
    "learning_rate": 3e-4,
    "schedule": "constant",
    "warmup": 0,
    "weight_decay": 0.0,
    "gradient_clip": None,
    "selection": "validation-loss",
}


def make_preset(name: str, graphs: GraphSet | None = None) -> Preset:
    """The preset called ``name``.

    Args:
        name: ``"auto"`` chooses by ``graphs``; a dataset's name (``"ENZYMES"``) takes the appendix's sizes with our recipe;
            ``"paper:ENZYMES"`` is the network and its training as printed.
        graphs: what will be trained on.
    """
    if name == "auto":
        return _automatic(graphs)
    prefix, colon, dataset = name.rpartition(":")
    if colon and prefix != "paper":
        raise ConfigError(f"preset={name!r} is not known; use 'auto', a dataset's name such as 'ENZYMES', or 'paper:ENZYMES'")
    sizes = _appendix_sizes(name, dataset)
    shape = {"orders": sizes.orders, "channels": sizes.channels, "bins": sizes.bins, "sampler": RootSampler(count=sizes.roots)}
    if prefix == "paper":
        network, training = PAPER_NETWORK, {"batch_size": sizes.batch_size, **PAPER_TRAINING}
    else:
        network, training = {}, {"batch_size": sizes.batch_size, **sizes.recipe}
    return Preset(NetworkConfig(**shape, **network), TrainingConfig(**training))  # type: ignore[arg-type]


def _appendix_sizes(name: str, dataset: str) -> Sizes:
    facts = known_dataset(dataset)
    if facts is None:
        known = ", ".join(DATASETS)
        raise ConfigError(f"preset={name!r} is not known; use 'auto', or one of {known}, or 'paper:' and one of these")
    return APPENDIX[facts.name]


def _automatic(graphs: GraphSet | None) -> Preset:
    """The appendix's most frequent sizes; small batches for small sets, and fewer epochs the more steps each one has."""
    if graphs is None:
        return Preset(NetworkConfig(), TrainingConfig())
    batch_size = 8 if len(graphs) < 400 else 20
    steps_per_epoch = int(np.ceil(len(graphs) / batch_size))
    epochs = int(np.clip(3600 / steps_per_epoch, 40, 150))
    operator: SpectralOperator = "random-walk" if graphs.directed else "laplacian"
    return Preset(NetworkConfig(operator=operator), TrainingConfig(batch_size=batch_size, epochs=epochs))
