"""A look at a set of graphs before anything is trained on it: sizes, duplicates, what is trivial and what is out of reach."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from phist.errors import ConfigError, GraphInputError
from phist.graphs.arrays import Array, IntArray
from phist.graphs.graphset import GraphSet
from phist.graphs.labels import as_labels, distinct_labels
from phist.graphs.symmetry import Hashes, split_by_size, targets_of, weisfeiler_lehman_hashes
from phist.notebook import html_table

# Degrees below this get a bin each; above it the bins double in width, so that a hub of any size adds few features.
_EXACT_DEGREES = 16


@dataclass(frozen=True)
class Spread:
    """The range and the middle of a quantity."""

    minimum: float
    median: float
    mean: float
    maximum: float

    @classmethod
    def of(cls, values: Array) -> "Spread":
        return cls(float(values.min()), float(np.median(values)), float(values.mean()), float(values.max()))

    def __str__(self) -> str:
        return "  ".join(f"{name} {_short(value)}" for name, value in asdict(self).items())


@dataclass(frozen=True)
class Duplicates:
    """Graphs that look alike to 1-WL, in groups of two or more. Isomorphic graphs always do; others may.

    Attributes:
        groups: number of groups.
        graphs: graphs in these groups together.
        within_class: groups whose graphs share one label; ``None`` without labels.
        across_classes: groups with more than one label; ``None`` without labels.
    """

    groups: int
    graphs: int
    within_class: int | None
    across_classes: int | None


@dataclass(frozen=True)
class Floors:
    """What can be had with hardly a look at the structure, as accuracies in percent; a method has to beat all three.

    Attributes:
        majority: always answering with the largest class.
        size: a random forest that sees the numbers of nodes and edges, cross-validated.
        degrees: the same on the degree histogram, see `degree_histograms`.
        folds: folds of the cross-validation.
        reason: why ``size`` and ``degrees`` are missing, where they are.
    """

    majority: float
    size: float | None
    degrees: float | None
    folds: int | None
    reason: str | None = None


@dataclass(frozen=True)
class Checkup:
    """What `check_graphs` found out.

    Attributes:
        class_counts: graphs of each class; empty without labels.
        nodes, edges, density, components: spreads over the graphs.
        degrees: spread over all nodes (out-degrees in a directed set).
        isolated_nodes: nodes without a neighbour, in the whole set.
        empty_graphs: graphs without nodes that were left out when the set was read (``empty="drop"``).
        ceiling: accuracy in percent of the best classifier that answers alike on graphs 1-WL cannot tell apart, with all
            labels known; ``None`` without labels.
    """

    n_graphs: int
    class_counts: dict[Hashable, int]
    directed: bool
    weighted: bool
    nodes: Spread
    edges: Spread
    degrees: Spread
    density: Spread
    components: Spread
    isolated_nodes: int
    duplicates: Duplicates
    ceiling: float | None
    floors: Floors | None
    empty_graphs: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries, ready for JSON: percentages and means with two decimals, labels as strings."""
        names = [str(label) for label in self.class_counts]
        if len(set(names)) < len(names):
            names = [repr(label) for label in self.class_counts]  # 1 and "1" are two classes
        values = asdict(self) | {"class_counts": dict(zip(names, self.class_counts.values(), strict=True))}
        return {name: _rounded(value, 4 if name == "density" else 2) for name, value in values.items()}

    def summary(self) -> str:
        """A text block for people."""
        return "\n".join(f"{name + ':':<16}{text}" for name, text in self._lines())

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return html_table("Checkup", self._lines())

    def _lines(self) -> Iterator[tuple[str, str]]:
        kinds = [kind for kind, present in (("directed", self.directed), ("weighted", self.weighted)) if present]
        yield "graphs", ", ".join([f"{self.n_graphs:,}", *kinds])
        yield "classes", _describe_classes(self.class_counts)
        for name in ("nodes", "edges", "degrees", "density", "components"):
            yield name, str(getattr(self, name))
        yield "isolated nodes", f"{self.isolated_nodes:,}"
        if self.empty_graphs:
            yield "without nodes", f"{self.empty_graphs:,} graphs, left out"
        yield "duplicates", _describe_duplicates(self.duplicates)
        if self.ceiling is not None and self.floors is not None:
            yield "1-WL ceiling", f"{self.ceiling:.1f} %"
            yield "floors", _describe_floors(self.floors)


def check_graphs(graphs: GraphSet, *, folds: int = 10, seed: int = 0) -> Checkup:
    """Sizes, duplicates, the ceiling of 1-WL and the trivial floors of a set of graphs.

    Args:
        graphs: the set; without labels, ceiling and floors are left out.
        folds: of the floors' cross-validation, stratified and shuffled; fewer where a class has fewer graphs.
        seed: of the folds and the random forest.

    >>> from phist.graphs.generate import make_regular_pairs
    >>> checkup = check_graphs(make_regular_pairs(10, seed=0))
    >>> checkup.ceiling, checkup.floors.majority, checkup.duplicates.across_classes
    (50.0, 50.0, 2)
    """
    if len(graphs) == 0:
        raise GraphInputError("the set has no graphs; a checkup needs at least one: check the file or the selection")
    if folds < 2:
        raise ConfigError(f"folds={folds} was given; cross-validation needs at least 2: pass folds=2 or more")
    measures = [_measure(part) for part in split_by_size(graphs)]
    edges, density, components, isolated = (np.concatenate(column) for column in zip(*measures, strict=True))
    hashes = weisfeiler_lehman_hashes(graphs)
    codes = None if graphs.labels is None else _class_codes(graphs.labels)
    return Checkup(
        n_graphs=len(graphs),
        class_counts={} if codes is None else dict(zip(graphs.classes, np.bincount(codes).tolist(), strict=True)),
        directed=graphs.directed,
        weighted=graphs.weights is not None,
        nodes=Spread.of(graphs.node_counts()),
        edges=Spread.of(edges),
        degrees=Spread.of(graphs.degrees()),
        density=Spread.of(density),
        components=Spread.of(components),
        isolated_nodes=int(isolated.sum()),
        duplicates=_find_duplicates(hashes, codes),
        ceiling=None if codes is None else ceiling_of(hashes, codes),
        floors=None if codes is None else _find_floors(graphs, codes, folds, seed),
        empty_graphs=graphs.n_dropped,
    )


def ceiling_of(hashes: Hashes, labels: Iterable[Hashable]) -> float:
    """Accuracy in percent of answering with the largest class of every group of equal hashes.

    >>> ceiling_of(np.array([7, 7, 7, 9], dtype=np.uint64), ["a", "a", "b", "b"])
    75.0
    """
    table = _group_table(hashes, _class_codes(as_labels(labels)))
    return float(100 * table.max(axis=1).sum() / len(hashes))


def duplicates_across(hashes: Hashes, train_index: ArrayLike, test_index: ArrayLike) -> int:
    """How many test graphs have a training graph that 1-WL cannot tell from them, so that their answer may be remembered.

    >>> duplicates_across(np.array([7, 9, 7, 8], dtype=np.uint64), train_index=[0, 1], test_index=[2, 3])
    1
    """
    return int(np.isin(hashes[np.asarray(test_index)], hashes[np.asarray(train_index)]).sum())


def degree_histograms(graphs: GraphSet) -> IntArray:
    """Nodes of each degree 0 to 15, then of degrees 16-31, 32-63, ...; in- and out-degrees where directed. (graphs, bins)"""
    degrees = [graphs.degrees()]
    if graphs.directed:
        degrees.append(_in_degrees(graphs))
    graph_of_node = np.repeat(np.arange(len(graphs)), graphs.node_counts())
    tables = []
    for values in degrees:
        doublings = np.frexp(np.maximum(values, 1) // _EXACT_DEGREES)[1]  # 0 below 16, 1 for 16-31, 2 for 32-63, ...
        bins = np.where(values < _EXACT_DEGREES, values, _EXACT_DEGREES - 1 + doublings)
        n_bins = int(bins.max(initial=0)) + 1
        counts = np.bincount(graph_of_node * n_bins + bins, minlength=len(graphs) * n_bins)
        tables.append(counts.reshape(len(graphs), n_bins))
    return np.concatenate(tables, axis=1)


def size_features(graphs: GraphSet) -> IntArray:
    """Nodes and edges of each graph. (graphs, 2)"""
    return np.stack([graphs.node_counts(), graphs.edge_counts()], axis=1)


def small_forest(seed: int) -> Any:
    """The unfitted random forest of the floors: 30 trees, at least 3 graphs in a leaf, whatever the data."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=30, min_samples_leaf=3, random_state=seed)


def _measure(graphs: GraphSet) -> tuple[Array, Array, Array, Array]:
    """Edges, density, components and isolated nodes of each graph."""
    n_nodes = graphs.node_counts()
    loops = graphs.loop_counts()
    edges = graphs.edge_counts()
    node_pairs = n_nodes * (n_nodes - 1) / (1 if graphs.directed else 2)
    density = (edges - _per_graph(graphs, loops)) / np.maximum(node_pairs, 1)
    touched = graphs.degrees() - loops + (_in_degrees(graphs) - loops if graphs.directed else 0)
    return edges, density, _count_components(graphs), _per_graph(graphs, touched == 0)


def _per_graph(graphs: GraphSet, values: Array) -> IntArray:
    return np.add.reduceat(values.astype(np.int64), graphs.node_ptr[:-1])


def _in_degrees(graphs: GraphSet) -> IntArray:
    return np.bincount(targets_of(graphs), minlength=graphs.n_nodes)


def _count_components(graphs: GraphSet) -> IntArray:
    ones = np.ones(len(graphs.indices), np.int8)
    matrix = csr_array((ones, targets_of(graphs), graphs.indptr), shape=(graphs.n_nodes, graphs.n_nodes))
    component = connected_components(matrix, directed=graphs.directed, connection="weak")[1]
    _, first_nodes = np.unique(component, return_index=True)
    graph_of_component = np.searchsorted(graphs.node_ptr, first_nodes, side="right") - 1
    return np.bincount(graph_of_component, minlength=len(graphs))


def _class_codes(labels: Array) -> IntArray:
    code_of = {label: code for code, label in enumerate(distinct_labels(labels))}
    return np.array([code_of[label] for label in labels.tolist()], dtype=np.int64)


def _group_table(hashes: Hashes, codes: IntArray) -> IntArray:
    """Graphs by group of equal hashes and class. (groups, classes)"""
    groups, group = np.unique(hashes, return_inverse=True)
    n_classes = int(codes.max(initial=0)) + 1
    return np.bincount(group * n_classes + codes, minlength=len(groups) * n_classes).reshape(len(groups), n_classes)


def _find_duplicates(hashes: Hashes, codes: IntArray | None) -> Duplicates:
    table = _group_table(hashes, np.zeros(len(hashes), np.int64) if codes is None else codes)
    table = table[table.sum(axis=1) > 1]
    mixed = int(np.count_nonzero((table > 0).sum(axis=1) > 1))
    return Duplicates(
        groups=len(table),
        graphs=int(table.sum()),
        within_class=None if codes is None else len(table) - mixed,
        across_classes=None if codes is None else mixed,
    )


def _find_floors(graphs: GraphSet, codes: IntArray, folds: int, seed: int) -> Floors:
    counts = np.bincount(codes)
    majority = float(100 * counts.max() / len(codes))
    folds = min(folds, int(counts.min()))
    if len(counts) < 2 or folds < 2:
        reason = "there is only one class" if len(counts) < 2 else "a class has only one graph, so it cannot be cross-validated"
        return Floors(majority, size=None, degrees=None, folds=None, reason=reason)
    size = _cross_validated(size_features(graphs), codes, folds, seed)
    return Floors(majority, size, _cross_validated(degree_histograms(graphs), codes, folds, seed), folds)


def _cross_validated(features: Array, codes: IntArray, folds: int, seed: int) -> float:
    """Accuracy in percent of a small random forest over all folds."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
    predicted: NDArray[np.int64] = cross_val_predict(small_forest(seed), features, codes, cv=splits)
    return float(100 * (predicted == codes).mean())


def _rounded(value: Any, decimals: int) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(item, decimals) for name, item in value.items()}
    return round(value, decimals) if isinstance(value, float) else value


def _short(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() or value >= 1000 else f"{value:.4g}"


def _describe_classes(counts: dict[Hashable, int], shown: int = 12) -> str:
    texts = [f"{label} ({count:,})" for label, count in counts.items()]
    more = f" and {len(texts) - shown} more" if len(texts) > shown else ""
    return ", ".join(texts[:shown]) + more if texts else "no labels"


def _describe_duplicates(found: Duplicates) -> str:
    if found.groups == 0:
        return "none: 1-WL tells all graphs apart"
    text = f"{found.graphs:,} graphs in {found.groups:,} groups that 1-WL cannot tell apart"
    return text if found.within_class is None else f"{text}: {found.within_class:,} within a class, {found.across_classes:,} across"


def _describe_floors(floors: Floors) -> str:
    if floors.size is None or floors.degrees is None:
        return f"majority {floors.majority:.1f} %; no others: {floors.reason}"
    return (
        f"majority {floors.majority:.1f} %, size only {floors.size:.1f} %, "
        f"degree histogram {floors.degrees:.1f} % (random forest, {floors.folds} folds)"
    )
