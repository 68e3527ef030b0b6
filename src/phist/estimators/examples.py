"""From graphs and labels as users give them to the numbered, weighted and split examples that training takes."""

from collections.abc import Hashable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils.class_weight import compute_class_weight

from phist.errors import GraphInputError
from phist.graphs.convert import as_graphset
from phist.graphs.graphset import GraphSet
from phist.graphs.labels import as_labels
from phist.training.loop import Examples

Array = NDArray[Any]
ClassWeight = Mapping[Hashable, float] | Literal["balanced"] | None
FEWEST_FOR_VALIDATION = 20  # below this a tenth of the graphs says nothing


def as_labelled(X: Any, y: Any) -> tuple[GraphSet, Array]:
    """Graphs and one label for each: those given, else the graphs' own."""
    graphs = as_graphset(X)
    if y is None:
        if graphs.labels is None:
            raise GraphInputError("the graphs have no labels and none were given; pass y, one label for each graph")
        return graphs, graphs.labels
    if isinstance(y, np.ndarray) and y.ndim != 1:
        raise GraphInputError(f"labels of shape {y.shape} were given; a flat list is needed: try y.ravel()")
    labels = as_labels(y)
    if len(labels) != len(graphs):
        raise GraphInputError(f"{len(labels)} labels were given for {len(graphs)} graphs; give one for each graph")
    return graphs, labels


def make_examples(
    graphs: GraphSet, y: Array, classes: Array, sample_weight: Any = None, class_weight: ClassWeight = None
) -> Examples:
    """Graphs with the number of each one's class in ``classes`` and its weight."""
    targets = _class_numbers(y, classes)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if weights.shape != (len(y),) or not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise GraphInputError(f"sample_weight must be {len(y)} finite numbers >= 0, not all of them 0")
    if class_weight is not None:
        weights = weights * _weights_of_classes(targets, classes, class_weight)[targets]
    return Examples(graphs.with_labels(None), targets, weights.astype(np.float32))


def split_off(examples: Examples, share: float, seed: int) -> tuple[Examples, Examples | None]:
    """Set a stratified share aside for validation; none where the graphs are too few to spare any."""
    set_aside = round(share * len(examples.graphs))
    members = np.bincount(examples.targets)
    if set_aside < len(members) or len(examples.graphs) < FEWEST_FOR_VALIDATION or members.min() < 2:
        return examples, None
    splitter = StratifiedShuffleSplit(1, test_size=set_aside, random_state=seed)
    kept, aside = next(splitter.split(np.zeros(len(examples.targets)), examples.targets))
    return examples.part(np.sort(kept)), examples.part(np.sort(aside))


def describe_data(graphs: GraphSet) -> dict[str, Any]:
    """What a model's card says of the graphs it was trained on."""
    nodes = graphs.node_counts()
    labels = graphs.label_list()
    return {
        "graphs": len(graphs),
        "classes": {str(label): labels.count(label) for label in graphs.classes},
        "nodes": {"mean": round(float(nodes.mean()), 2), "max": int(nodes.max())},
        "edges": {"mean": round(graphs.n_edges / len(graphs), 2)},
        "directed": graphs.directed,
        "weighted": graphs.weights is not None,
        "fingerprint": graphs.fingerprint(),
    }


def _class_numbers(y: Array, classes: Array) -> NDArray[np.int64]:
    number_of = {label: number for number, label in enumerate(classes.tolist())}
    unknown = [label for label in dict.fromkeys(y.tolist()) if label not in number_of]
    if unknown:
        raise GraphInputError(f"label {unknown[0]!r} does not occur among the training labels {list(number_of)}")
    return np.array([number_of[label] for label in y.tolist()], dtype=np.int64)


def _weights_of_classes(targets: NDArray[np.int64], classes: Array, class_weight: ClassWeight) -> Array:
    numbered: Any = class_weight
    if isinstance(class_weight, Mapping):
        numbered = {number: float(class_weight.get(label, 1.0)) for number, label in enumerate(classes.tolist())}
    weights: Array = compute_class_weight(numbered, classes=np.arange(len(classes)), y=targets)
    return weights
