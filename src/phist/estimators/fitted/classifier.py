"""FittedClassifier."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phist.checks import whole_number
from phist.errors import ConfigError, ModelFileError
from phist.estimators.conformal import thresholds_of
from phist.estimators.ensemble import Ensemble
from phist.estimators.fitted.model import Array, FittedModel
from phist.estimators.members.network import Network
from phist.estimators.model_folder import SavedModel
from phist.estimators.neighbours import Neighbours
from phist.graphs.labels import as_python
from phist.graphs.symmetry import weisfeiler_lehman_hashes

if TYPE_CHECKING:
    from phist.explain import Explanation


class FittedClassifier(FittedModel):
    """An ensemble of members, and what it says of graphs.

    Args:
        engine: ``"auto"``, ``"fused"`` or ``"reference"``.
        inference: ``"auto"``, ``"sampled"`` or ``"exact"``.
        progress: whether to show progress bars; on a terminal, unless given.

    Attributes:
        ensemble_: the members and how they are combined.
        hashes_: of the training graphs, by 1-WL.
        ids_: of the training graphs; ``None`` for their positions.
        held_out_: ids of graphs that were kept apart to test the model.
        out_of_fold_: probabilities of graphs by fits that had not seen them, and their classes.
        neighbours_: the training graphs as the networks see them.
    """

    _saved_as, _learnt = "classifier", "ensemble_"
    ensemble_: Ensemble
    hashes_: NDArray[np.uint64]
    ids_: Any
    held_out_: list[str | int]
    out_of_fold_: tuple[NDArray[np.float64], NDArray[np.int64]]
    neighbours_: Neighbours

    # Use --------------------------------------------------------------------------------------------------------------

    def _members(self) -> list[Network]:
        self._check_fitted()
        return [member for member in self.ensemble_.members if isinstance(member, Network)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, in the order of ``classes_``: (graphs, classes).

        Args:
            X: graphs: a `GraphSet`, or anything `as_graphset` takes.
        """
        graphs = self._read(X)
        return self.ensemble_.predict_proba(graphs)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the probabilities: (graphs, classes); of two classes the lead of the second: (graphs).

        Args:
            X: graphs: a `GraphSet`, or anything `as_graphset` takes.
        """
        logs = np.log(self.predict_proba(X))
        return logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs

    def predict(self, X: Any) -> Array:
        """The most probable class of each graph.

        Args:
            X: graphs: a `GraphSet`, or anything `as_graphset` takes.
        """
        most_probable = self.predict_proba(X).argmax(1)
        classes: Array = self.classes_[most_probable]
        return classes

    def predict_set(self, X: Any, coverage: float = 0.9, by_class: bool = False) -> list[list[Any]]:
        """For every graph the classes that it may have, so that the right one is among them with probability ``coverage``.

        The promise is that of conformal prediction, for graphs of the same kind as those of training (see `docs/estimator.md`
        for what was measured); ``by_class`` it holds for each class alone. A graph without any class in its set is unlike
        all that the model has seen.

        Args:
            X: graphs: a `GraphSet`, or anything `as_graphset` takes.
            coverage: the probability with which the right class is in the set, between 0 and 1.
            by_class: keep the promise for each class alone, not only on average over classes.
        """
        probabilities = self.predict_proba(X)
        if not hasattr(self, "out_of_fold_"):
            raise ConfigError('a model of a preset by name has nothing to calibrate sets with; fit one with preset="auto"')
        least = thresholds_of(*self.out_of_fold_, coverage, by_class)
        return [self.classes_[row >= least].tolist() for row in probabilities]

    def similar(self, X: Any, k: int = 5) -> list[list[tuple[Any, float]]]:
        """For every graph the ids of the ``k`` training graphs most similar to it, and their distances, the nearest first.

        Args:
            X: graphs: a `GraphSet`, or anything `as_graphset` takes.
            k: how many training graphs to name for each graph.
        """
        k = whole_number("k", k, least=1)
        embeddings = self.transform(X)
        if not hasattr(self, "neighbours_"):
            raise ConfigError('this model keeps no training graphs to compare with; fit one with preset="auto" and a network')
        distances, positions = self.neighbours_.nearest(embeddings, k)
        ids: Any = range(len(self.neighbours_.rows)) if self.ids_ is None else self.ids_
        return [
            [(as_python(ids[number]), round(float(distance), 4)) for number, distance in zip(row, own, strict=True)]
            for row, own in zip(positions.tolist(), distances.tolist(), strict=True)
        ]

    def flags(self, X: Any) -> list[list[str]]:
        """For every graph what to bear in mind with its prediction, mostly nothing.

        ``"look-alike"``: 1-WL cannot tell it from a training graph, so that an answer may be remembered; ``"larger"``: it has far
        more nodes than any training graph.

        Args:
            X: graphs: a `GraphSet`, or anything `as_graphset` takes.
        """
        graphs = self._read(X)
        named = {
            "look-alike": np.isin(weisfeiler_lehman_hashes(graphs), self.hashes_),
            "larger": self.reading_.is_far_larger(graphs),
        }
        return [[name for name, holds in named.items() if holds[graph]] for graph in range(len(graphs))]

    def explain(self, X: Any, target: Hashable = None, **options: Any) -> "list[Explanation]":
        """Why the model says what it says of each graph; see `phist.explain.explain`.

        Args:
            X: graphs: a `GraphSet`, or anything `as_graphset` takes.
            target: the class to explain; the predicted one unless given.
            **options: ``votes``, ``edges``, ``nodes`` and ``max_deletions`` of `phist.explain.explain`.
        """
        from phist.explain import explain

        return explain(self, X, target, **options)

    # On disk -----------------------------------------------------------------------------------------------------------

    def _restore(self, saved: SavedModel) -> None:
        n_classes = len(self.classes_)
        if n_classes < 2 or len(set(self.classes_.tolist())) < n_classes:
            raise ModelFileError("the model's classes are not two or more that differ; save the model again")
        self.ensemble_ = Ensemble.from_state(saved.arrays, saved.settings["ensemble"], n_classes)
        ids: Any = saved.settings["ids"]
        self.held_out_ = _ids(saved.settings.get("held_out", []))
        self.hashes_ = saved.arrays["training"]["hashes"]
        if self.hashes_.dtype != np.uint64 or self.hashes_.ndim != 1:
            raise ModelFileError("the model's hashes of its training graphs are not what they should be; save the model again")
        if "calibration" in saved.arrays:
            own = saved.arrays["calibration"]
            self.out_of_fold_ = _calibration(own.get("probabilities"), own.get("targets"), n_classes)
        if "neighbours" in saved.arrays:
            columns = sum(int(trained.network.head.in_features) for trained in self._networks())
            self.neighbours_ = Neighbours.from_arrays(saved.arrays["neighbours"], columns, self.data_["graphs"])
        if ids is not None and not (isinstance(ids, list) and len(ids) == self.data_["graphs"]):
            raise ModelFileError("the model's ids are not one for each of its training graphs; save the model again")
        self.ids_ = ids


def _ids(found: Any) -> list[str | int]:
    if not isinstance(found, list) or not all(isinstance(one, str | int) for one in found):
        raise ModelFileError("the ids of the graphs kept apart are not what they should be; save the model again")
    return found


def _calibration(probabilities: Any, targets: Any, n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    proper = (
        probabilities is not None
        and targets is not None
        and probabilities.dtype == np.float64
        and targets.dtype == np.int64
        and targets.ndim == 1
        and probabilities.shape == (len(targets), n_classes)
        and np.isfinite(probabilities).all()
        and len(targets) > 0
        and 0 <= targets.min() <= targets.max() < n_classes
    )
    if not proper:
        raise ModelFileError("the model's out-of-fold probabilities are not what they should be; save the model again")
    return probabilities, targets
