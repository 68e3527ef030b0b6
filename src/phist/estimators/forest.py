"""The forest head: extra trees on embeddings of graphs and their nodes, each forest on those of its own network."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier

from phist.checks import whole_number
from phist.errors import ConfigError
from phist.estimators.features import Features, n_both_levels, n_graph_level
from phist.estimators.trees import Trees

if TYPE_CHECKING:
    from phist.estimators.base import StructuralEstimator


MOST = {"trees": 100_000, "folds": 100}  # each fold is another network to train


@dataclass(frozen=True)
class ForestConfig:
    """How a forest head is grown.

    Args:
        trees: of each forest.
        folds: 1 grows one forest on the embeddings of the network's own training graphs. With more, as many further networks
            are trained, each without one fold of the graphs; a forest is grown on the embeddings of each, and their
            probabilities are averaged.
        nodes: whether the trees also see mean and deviation of the nodes' embeddings: the level below the graph's, on which
            training pulls less.
    """

    trees: int = 500
    folds: int = 1
    nodes: bool = True

    def __post_init__(self) -> None:
        for name in ("trees", "folds"):
            object.__setattr__(self, name, whole_number(f"forest {name}", getattr(self, name), least=1, most=MOST[name]))
        if not isinstance(self.nodes, bool):
            raise ConfigError(f"forest nodes={self.nodes!r} was given; True or False is needed")


def make_forest_config(given: Any) -> ForestConfig:
    """The configuration with the fields of ``given``, a mapping or nothing."""
    try:
        return ForestConfig(**(given or {}))
    except TypeError as error:
        raise ConfigError(f"forest={given!r} does not fit ForestConfig: {error}") from error


@dataclass(frozen=True)
class ForestHead:
    """Forests, each with the estimator whose embeddings it was grown on.

    Attributes:
        parts: pairs of an estimator with a fitted network and the trees on its embeddings.
        config: how they were grown.
    """

    parts: tuple[tuple["StructuralEstimator", Trees], ...]
    config: ForestConfig

    def predict_proba(self, features: Features) -> NDArray[np.float64]:
        """The mean over forests: (graphs, classes)."""
        shares = []
        for estimator, trees in self.parts:
            own = features if estimator is features.estimator else Features(estimator, features.graphs)
            shares.append(trees.predict_proba(forest_features(own, self.config)))
        mean: NDArray[np.float64] = np.mean(shares, axis=0)
        return mean


def forest_features(features: Features, config: ForestConfig) -> NDArray[np.float32]:
    """What the trees see: (graphs, features)."""
    return features.both_levels() if config.nodes else features.graph_level()


def n_forest_features(estimator: "StructuralEstimator", config: ForestConfig) -> int:
    """Columns of `forest_features`."""
    return n_both_levels(estimator) if config.nodes else n_graph_level(estimator)


def grow_trees(
    features: NDArray[np.float32],
    targets: NDArray[np.int64],
    weights: NDArray[np.float64],
    n_classes: int,
    n_trees: int,
    seed: int,
) -> Trees:
    """Extra trees on ``features``; they depend on the seed only."""
    forest = ExtraTreesClassifier(n_trees, random_state=seed, n_jobs=1)
    return Trees.from_sklearn(forest.fit(features, targets, sample_weight=weights), n_classes)


def fold_numbers(targets: NDArray[np.int64], folds: int, seed: int) -> NDArray[np.int64]:
    """For every graph the fold that it is in, each class spread evenly; -1, in none, where a class has one graph only."""
    numbers = np.full(len(targets), -1, dtype=np.int64)
    generator = np.random.default_rng(seed)
    offset = 0
    for target in np.unique(targets):
        members = generator.permutation(np.flatnonzero(targets == target))
        if len(members) > 1:
            numbers[members] = (np.arange(len(members)) + offset) % folds
            offset += len(members)
    return numbers
