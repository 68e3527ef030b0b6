"""Local profiles and the spectrum under extra trees: what hand-made descriptions can tell."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from phist.descriptors.profiles import Profile, degree_profile, edge_profile, largest, own_histograms, plain, shared_histograms
from phist.descriptors.spectrum import smallest_eigenvalues
from phist.errors import ModelFileError
from phist.estimators.members.member import Arrays, Lesson, Member, Probabilities
from phist.estimators.members.rehearsal import Rehearsal
from phist.estimators.trees import Trees, grow_trees
from phist.graphs.graphset import GraphSet

TREES = 200
TREES_ASKED = 100  # of each fit that leaves a part out
SHARED_BINS, OWN_BINS = 20, 50  # of histograms in which values mean the same in all graphs, and as the profiles' authors have them
MOST_EIGENVALUES = 128
MOST_NODES = 4000  # of a graph whose spectrum is computed, in the cube of them: about ten seconds
MOST_WORK = 2_000_000_000  # nodes times arcs of a graph whose edges are profiled: about ten seconds
GROWTH = 0.85  # of the time with the number of graphs, as an exponent: there are as many trees for a few graphs
_VALUES = (5, 3)  # of a node's profile and of an edge's


class Profiles(Member):
    """Extra trees on sizes, on histograms of local degree and topological profiles, and on the smallest eigenvalues.

    The profiles are those of Cai and Wang (2018) and of Adamczyk and Czech (2023), the eigenvalues those of de Lara and Pineau
    (2018); weights and directions of edges are not seen. Of very large graphs only sizes and degrees are.
    """

    name = label = "profiles"
    predictors: tuple[str, ...] = ("trees",)

    def fit(self, lesson: Lesson) -> Mapping[str, Probabilities]:
        rehearsal = Rehearsal(lesson)
        if lesson.optional and not rehearsal.has_time_for("trees", Profiles()._learn, GROWTH):
            self.left_out, self.predictors = rehearsal.left_out, ()
            return {}
        return self._learn(lesson)

    def _learn(self, lesson: Lesson) -> Mapping[str, Probabilities]:
        graphs, examples = plain(lesson.graphs), lesson.examples
        profiles = (degree_profile(graphs), _edge_profile(graphs, lesson.progress))
        self.limits = np.concatenate([largest(profile) for profile in profiles])
        self.n_eigenvalues = min(MOST_EIGENVALUES, int(graphs.node_counts().max(initial=1)))
        rows = self._rows(graphs, profiles, lesson.progress)
        found = lesson.blank()
        for part in range(lesson.parts.held_out):
            training, test = lesson.parts.training(part), lesson.parts.test(part)
            found[test] = self._grow(rows, lesson, training, TREES_ASKED).predict_proba(rows[test])
        self.trees = self._grow(rows, lesson, np.arange(len(examples.targets)), TREES)
        return {"trees": found}

    def notes(self, lesson: Lesson) -> Iterable[str]:
        if not self.predictors:
            return
        if large := int((lesson.graphs.node_counts() > MOST_NODES).sum()):
            yield f"eigenvalues of {large} graphs with more than {MOST_NODES:,} nodes were left out"
        if large := int((_betweenness_work(lesson.graphs) > MOST_WORK).sum()):
            yield f"edges of {large} graphs were not profiled: shortest paths between all their nodes would take too long"

    def _grow(self, rows: NDArray[np.float32], lesson: Lesson, chosen: NDArray[np.int64], n_trees: int) -> Trees:
        targets, weights = lesson.examples.targets[chosen], lesson.examples.weights[chosen]
        return grow_trees(rows[chosen], targets, weights, lesson.n_classes, n_trees, lesson.seed)

    def predict_proba(self, graphs: GraphSet) -> Mapping[str, Probabilities]:
        graphs = plain(graphs)
        profiles = (degree_profile(graphs), _edge_profile(graphs, None))
        return {"trees": self.trees.predict_proba(self._rows(graphs, profiles, None))}

    def _rows(self, graphs: GraphSet, profiles: tuple[Profile, Profile], progress: bool | None) -> NDArray[np.float32]:
        sizes = np.log1p(np.stack([graphs.node_counts(), graphs.edge_counts()], axis=1))
        limits = np.split(self.limits, [_VALUES[0]])
        shared = [shared_histograms(profile, SHARED_BINS, own) for profile, own in zip(profiles, limits, strict=True)]
        own = [own_histograms(profile, OWN_BINS) for profile in profiles]
        small = np.flatnonzero(graphs.node_counts() <= MOST_NODES)
        spectrum = np.zeros((len(graphs), self.n_eigenvalues), np.float32)
        if len(small):
            spectrum[small] = smallest_eigenvalues(graphs[small], self.n_eigenvalues, progress)
        return np.concatenate([sizes, *shared, *own, spectrum], axis=1).astype(np.float32)

    def keep(self, predictors: Iterable[str]) -> None:
        """It has one predictor only."""

    def to_state(self) -> tuple[Arrays, dict[str, Any]]:
        return {"limits": self.limits, **self.trees.to_arrays()}, {"n_eigenvalues": self.n_eigenvalues}

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any], n_classes: int) -> Self:
        member, limits, n_eigenvalues = cls(), arrays.get("limits"), values.get("n_eigenvalues")
        proper = limits is not None and limits.dtype == np.float64 and limits.shape == (sum(_VALUES),) and np.isfinite(limits).all()
        if not proper or not isinstance(n_eigenvalues, int) or not 0 < n_eigenvalues <= MOST_EIGENVALUES:
            raise ModelFileError("the profiles' limits are not what they should be; save the model again")
        member.limits, member.n_eigenvalues = np.asarray(limits), n_eigenvalues
        n_columns = 2 + sum(_VALUES) * (SHARED_BINS + OWN_BINS) + n_eigenvalues
        member.trees = Trees.from_arrays(arrays, n_columns, n_classes)
        return member

    def describe(self) -> str:
        return f"{TREES} extra trees on local profiles and {self.n_eigenvalues} eigenvalues"


def _betweenness_work(graphs: GraphSet) -> NDArray[np.int64]:
    """Nodes times arcs of each graph."""
    work: NDArray[np.int64] = graphs.node_counts() * np.diff(graphs.indptr[graphs.node_ptr])
    return work


def _edge_profile(graphs: GraphSet, progress: bool | None) -> Profile:
    """That of all graphs but the largest, which have no row: shortest paths between all their nodes would take too long."""
    small = np.flatnonzero(_betweenness_work(graphs) <= MOST_WORK)
    if len(small) == len(graphs):
        return edge_profile(graphs, progress=progress)
    counts = np.zeros(len(graphs), np.int64)
    if not len(small):
        return Profile(np.zeros(len(graphs) + 1, np.int64), np.empty((0, _VALUES[1]), np.float32))
    found = edge_profile(graphs[small], progress=progress)
    counts[small] = np.diff(found.ptr)
    return Profile(np.concatenate([[0], np.cumsum(counts)]), found.values)
