"""Presets: the appendix's hyper-parameters for the nine datasets, as printed or with our recipe, and a choice for other data."""

from dataclasses import dataclass

import numpy as np

from phist.errors import ConfigError, shown
from phist.graphs.catalog import known_dataset
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


ONE = "one"  # network with sizes by the graphs, and nothing beside it


def make_preset(name: str, graphs: GraphSet | None = None) -> Preset:
    """The preset called ``name``.

    Args:
        name: ``"auto"`` chooses by ``graphs``, and so does ``"one"``, by which estimators train one network; a dataset's name
            (``"ENZYMES"``) takes the appendix's sizes with our recipe; ``"paper:ENZYMES"`` is the network and its training as
            printed. A dataset that is known by name but not in the appendix takes ``"auto"``.
        graphs: what will be trained on.
    """
    if name in ("auto", ONE):
        return automatic_preset(graphs)
    prefix, colon, dataset = name.rpartition(":")
    if colon and prefix != "paper":
        raise ConfigError(f"preset={shown(name)} is not known; use 'auto', a dataset's name such as 'ENZYMES', or 'paper:ENZYMES'")
    if not prefix and known_dataset(dataset) and appendix_name(dataset) is None:
        return automatic_preset(graphs)
    sizes = _appendix_sizes(name, dataset)
    shape = {"orders": sizes.orders, "channels": sizes.channels, "bins": sizes.bins, "sampler": RootSampler(count=sizes.roots)}
    if prefix == "paper":
        network, training = PAPER_NETWORK, {"batch_size": sizes.batch_size, **PAPER_TRAINING}
    else:
        network, training = {}, {"batch_size": sizes.batch_size, **sizes.recipe}
    return Preset(NetworkConfig(**shape, **network), TrainingConfig(**training))  # type: ignore[arg-type]


def appendix_name(dataset: str) -> str | None:
    """What the appendix calls a dataset, however it is spelt; ``None`` for one that it does not have.

    >>> appendix_name("imdb_binary"), appendix_name("COX2"), appendix_name("ours")
    ('IMDB-BINARY', None, None)
    """
    facts = known_dataset(dataset)
    return facts.name if facts is not None and facts.name in APPENDIX else None


def _appendix_sizes(name: str, dataset: str) -> Sizes:
    found = appendix_name(dataset)
    if found is None:
        known = ", ".join(APPENDIX)
        raise ConfigError(f"preset={shown(name)} is not known; use 'auto', or one of {known}, or 'paper:' and one of these")
    return APPENDIX[found]


def automatic_preset(graphs: GraphSet | None, epochs: int | None = None, restarts: int = 0) -> Preset:
    """The appendix's most frequent sizes; small batches for small sets, and fewer epochs the more steps each one has.

    Args:
        epochs, restarts: of the training, where they are known.
    """
    if graphs is None:
        return Preset(NetworkConfig(moments="head"), TrainingConfig())
    batch_size = 8 if len(graphs) < 400 else 20
    steps_per_epoch = int(np.ceil(len(graphs) / batch_size))
    fitting = int(np.clip(3600 / steps_per_epoch, 40, 150))
    operator: SpectralOperator = "random-walk" if graphs.directed else "laplacian"
    training = TrainingConfig(batch_size=batch_size, epochs=epochs or fitting, restarts=restarts)
    return Preset(NetworkConfig(operator=operator, moments="head"), training)
