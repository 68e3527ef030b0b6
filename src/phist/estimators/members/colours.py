"""Weisfeiler-Lehman features under logistic regression: what colours alone can tell."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from phist.descriptors.colours import ROUNDS, assignment_counts, hashed_table, pair_counts, path_counts, subtree_counts
from phist.descriptors.profiles import plain
from phist.errors import ModelFileError
from phist.estimators.combining import log_loss_of, softmax, temper
from phist.estimators.members.member import Arrays, Lesson, Member, Probabilities
from phist.estimators.members.rehearsal import Rehearsal
from phist.graphs.arrays import blocks, starts_of
from phist.graphs.graphset import GraphSet

COUNTS = {"subtree": subtree_counts, "assignment": assignment_counts, "paths": path_counts}
PENALTIES = (3.0, 30.0, 300.0, 3000.0)  # inverse strengths of the ridge: below, nothing is learnt; above, nothing changes
ENOUGH = 500  # graphs left out to choose a penalty by
MOST_WEIGHTS = 1 << 20  # of all classes together, for each predictor: 4 MB
MOST_IN_PAIRS = 2000  # graphs that are compared with each other: a second or two
MOST_PAIRS = 40_000_000  # of nodes, over all rounds: a table of half a gigabyte
MOST_PLAIN_PAIRS = 600_000_000  # with degrees alone, which are few, so that the table stays small: half a minute
KEYS_AT_ONCE = 10_000_000  # of graphs that are described together, unless one has more: half a gigabyte until they are hashed
GROWTH = {"subtree": 1.0, "assignment": 1.0, "paths": 1.5}  # of a table's time with the number of graphs: rows of pairs are long
_UNSEEN = -8.0  # score of a class that the training graphs do not have


class Colours(Member):
    """Logistic regression on counts of colours, of colours in unary, and of pairs of colours with their distance.

    The three are the features of the subtree, the optimal assignment and the shortest-path kernel after Weisfeiler and
    Lehman; weights and directions of edges are not seen.
    """

    name = label = "colours"

    def fit(self, lesson: Lesson) -> Mapping[str, Probabilities]:
        lesson = replace(lesson, examples=replace(lesson.examples, graphs=plain(lesson.graphs)))
        self.rounds = {name: rounds for name in COUNTS if (rounds := rounds_for(name, lesson.graphs))}
        self.weights: dict[str, NDArray[np.float32]] = {}
        found: dict[str, Probabilities] = {}
        rehearsal = Rehearsal(lesson)
        for name in self.rounds:
            if not found or rehearsal.has_time_for(name, partial(self._fit_table, name), GROWTH[name]):
                self.weights[name], found[name] = self._fit_table(name, lesson)
        self.left_out = rehearsal.left_out
        self.keep(found)
        return found

    def notes(self, lesson: Lesson) -> Iterable[str]:
        rounds = rounds_for("paths", plain(lesson.graphs))
        if rounds < ROUNDS:
            done = f"refined {rounds} instead of {ROUNDS} times" if rounds else "left out"
            yield f"colours of pairs of nodes were {done}: there are {pair_counts(lesson.graphs).sum():,} pairs"

    def _fit_table(self, name: str, lesson: Lesson) -> tuple[NDArray[np.float32], Probabilities]:
        """With the best penalty: weights of one fit on all graphs, and what fits without them give the graphs left out."""
        table = self._table(name, lesson.graphs, lesson.n_classes)
        rows, back = _in_own_span(table) if _is_wide(table) else (table, None)
        penalty, best = _choose_penalty(rows, lesson)
        for part in range(lesson.parts.held_out):
            test = lesson.parts.test(part)
            if np.isnan(best[test]).any():
                best[test] = _probabilities(rows[test], _fit_weights(rows, lesson, lesson.parts.training(part), penalty))
        weights = _fit_weights(rows, lesson, np.arange(len(lesson.examples.targets)), penalty)
        if back is not None:
            columns = (table.T @ (back @ weights[:, :-1].T)).T
            weights = np.concatenate([columns, weights[:, -1:]], axis=1).astype(np.float32)
        return weights, best

    def predict_proba(self, graphs: GraphSet) -> Mapping[str, Probabilities]:
        graphs = plain(graphs)
        return {name: self._predict(name, graphs, self.weights[name]) for name in self.predictors}

    def _predict(self, name: str, graphs: GraphSet, weights: NDArray[np.float32]) -> Probabilities:
        parts = [_probabilities(part, weights) for part in self._parts(name, graphs, len(weights))]
        return np.concatenate([np.empty((0, len(weights))), *parts])

    def _table(self, name: str, graphs: GraphSet, n_classes: int) -> csr_array:
        return vstack(list(self._parts(name, graphs, n_classes)), format="csr")

    def _parts(self, name: str, graphs: GraphSet, n_classes: int) -> Iterator[csr_array]:
        """The table, some graphs at a time: their keys take much more memory than the rows made of them."""
        keys = (pair_counts(graphs) if name == "paths" else graphs.node_counts()) * (self.rounds[name] + 1)
        for part in blocks(starts_of(keys), KEYS_AT_ONCE):
            yield hashed_table(COUNTS[name](graphs[part], self.rounds[name]), n_columns(n_classes))

    def keep(self, predictors: Iterable[str]) -> None:
        kept = set(predictors)
        self.predictors = tuple(name for name in self.rounds if name in kept)
        self.weights = {name: self.weights[name] for name in self.predictors}
        self.rounds = {name: self.rounds[name] for name in self.predictors}

    def to_state(self) -> tuple[Arrays, dict[str, Any]]:
        return dict(self.weights), {"rounds": self.rounds}

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any], n_classes: int) -> Self:
        member, rounds = cls(), values.get("rounds")
        if not isinstance(rounds, dict) or set(rounds) != set(arrays) or not set(rounds) <= set(COUNTS):
            raise ModelFileError("the colours of this model do not fit their weights; save the model again")
        shape = (n_classes, n_columns(n_classes) + 1)
        for name, weights in arrays.items():
            proper = isinstance(rounds[name], int) and 0 < rounds[name] <= ROUNDS
            if not proper or weights.dtype != np.float32 or weights.shape != shape or not np.isfinite(weights).all():
                raise ModelFileError(f"the weights of the colours' {name!r} are not {shape} finite numbers; save the model again")
        member.rounds, member.weights, member.predictors = dict(rounds), dict(arrays), tuple(rounds)
        return member

    def describe(self) -> str:
        return f"logistic regression on Weisfeiler-Lehman colours ({', '.join(self.predictors)})"


def n_columns(n_classes: int) -> int:
    """Of a table: a power of two, fewer the more classes have weights for them."""
    return 1 << int(np.log2(MOST_WEIGHTS // (1 if n_classes == 2 else n_classes)))


def rounds_for(name: str, graphs: GraphSet) -> int:
    """Rounds of refinement that the table of these graphs can have; 0 where even one is too many."""
    if name != "paths":
        return ROUNDS
    pairs = max(1, int(pair_counts(graphs).sum()))
    return int(min(ROUNDS, max(MOST_PAIRS // pairs - 1, pairs <= MOST_PLAIN_PAIRS)))


def _is_wide(table: csr_array) -> bool:
    """Whether a graph has more entries than there are graphs, which are few enough for a table of all pairs."""
    return bool(table.shape[0] <= MOST_IN_PAIRS and table.nnz > table.shape[0] ** 2)


def _in_own_span(table: csr_array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The rows in coordinates of the space that they span, with the same inner products, and the way back.

    A penalised regression stays in that space, so that it is the same there, and much cheaper if rows are few and long.
    Weights w of the coordinates are weights ``table.T @ back @ w`` of the columns.
    """
    from scipy.linalg import eigh

    values, vectors = eigh((table @ table.T).toarray().astype(np.float64))
    kept = values > values[-1] * 1e-12
    lengths = np.sqrt(values[kept])
    return vectors[:, kept] * lengths, vectors[:, kept] / lengths


def _choose_penalty(rows: csr_array | NDArray[np.float64], lesson: Lesson) -> tuple[float, Probabilities]:
    """Weaker penalties, for as long as the tempered log-loss falls on enough graphs left out; and what these were given."""
    sizes = np.cumsum([len(lesson.parts.test(part)) for part in range(lesson.parts.held_out)])
    parts = range(min(len(sizes), int(np.searchsorted(sizes, ENOUGH)) + 1))
    asked = np.concatenate([lesson.parts.test(part) for part in parts])
    targets = lesson.examples.targets[asked]
    best, least, penalty = lesson.blank(), np.inf, PENALTIES[0]
    for candidate in PENALTIES:
        found = lesson.blank()
        for part in parts:
            test = lesson.parts.test(part)
            found[test] = _probabilities(rows[test], _fit_weights(rows, lesson, lesson.parts.training(part), candidate))
        loss = log_loss_of(temper(found[asked], targets)[0], targets)
        if loss >= least:
            break
        best, least, penalty = found, loss, candidate
    return penalty, best


def _fit_weights(
    table: csr_array | NDArray[np.float64], lesson: Lesson, chosen: NDArray[np.int64], penalty: float
) -> NDArray[np.float32]:
    """One row of weights, the last of them the intercept, for each class against the others: (classes, columns + 1)."""
    rows, targets, counts = table[chosen], lesson.examples.targets[chosen], lesson.examples.weights[chosen]
    weights = np.zeros((lesson.n_classes, table.shape[1] + 1), np.float32)
    seen = np.unique(targets[counts > 0])  # a class whose graphs all have weight 0 is as good as absent
    if lesson.n_classes == 2 and len(seen) == 2:
        own = _fit_one(rows, targets == 1, counts, penalty) / 2
        weights[1], weights[0] = own, -own
        return weights
    for number in range(lesson.n_classes):
        if number in seen and len(seen) > 1:
            weights[number] = _fit_one(rows, targets == number, counts, penalty)
        else:
            weights[number, -1] = -_UNSEEN if number in seen else _UNSEEN
    return weights


def _fit_one(
    rows: csr_array | NDArray[np.float64], is_own: NDArray[np.bool_], counts: NDArray[np.float64], penalty: float
) -> NDArray[np.float64]:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    machine = LogisticRegression(C=penalty, solver="liblinear", dual=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # with hardly a penalty it need not converge to be the best or the worst
        machine.fit(rows, is_own, sample_weight=counts)
    return np.append(machine.coef_[0], machine.intercept_[0])


def _probabilities(rows: Any, weights: NDArray[np.float32]) -> Probabilities:
    if issparse(rows) and rows.nnz < rows.shape[1]:  # few graphs: most columns are none of theirs
        used = np.unique(rows.indices)
        rows, weights = rows[:, used], weights[:, np.append(used, -1)]
    return softmax(rows @ weights[:, :-1].T.astype(np.float64) + weights[:, -1])
