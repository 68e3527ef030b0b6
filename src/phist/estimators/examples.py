"""From graphs and labels as users give them to the numbered, weighted and split examples that training takes."""

from collections.abc import Hashable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import type_of_target

from phist.engine.steps import scale_weights
from phist.errors import ConfigError, GraphInputError, shown
from phist.graphs.convert import as_graphset
from phist.graphs.graphset import GraphSet
from phist.graphs.labels import as_labels
from phist.training.loop import Examples
from phist.training.windows import put_in_order

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
    shape = getattr(y, "shape", None)
    if shape is not None and len(shape) != 1:
        advice = "y.ravel()" if len(shape) == 2 and shape[1] == 1 else "y.argmax(axis=1) if each row marks one class"
        raise GraphInputError(f"y of shape {shape} was given; y should be a 1d array with one label for each graph: try {advice}")
    labels = as_labels(y)
    if labels.dtype.kind == "f" and type_of_target(labels) == "continuous":
        raise GraphInputError(
            f"Unknown label type: continuous ({labels[0]}, ...); a classifier takes one of a few classes for each graph: "
            "divide the values into ranges first"
        )
    if len(labels) != len(graphs):
        raise GraphInputError(f"{len(labels)} labels were given for {len(graphs)} graphs; give one for each graph")
    return graphs, labels


def make_examples(
    graphs: GraphSet, y: Array, classes: Array, sample_weight: Any = None, class_weight: ClassWeight = None
) -> Examples:
    """Graphs, in canonical order unless they are too many, with the number of each one's class in ``classes`` and its weight."""
    targets = _class_numbers(y, classes)
    weights = np.ones(len(y)) if sample_weight is None else _sample_weights(sample_weight, len(y))
    if class_weight is not None:
        weights = scale_weights(weights * scale_weights(_weights_of_classes(targets, classes, class_weight))[targets])
    if not weights.any():
        raise GraphInputError("class_weight and sample_weight together leave every graph with weight 0; raise one of them")
    return Examples(put_in_order(graphs.with_labels(None)), targets, weights)


def check_class_weight(given: Any) -> None:
    """Raise a `ConfigError` unless this is ``"balanced"``, a mapping or ``None``."""
    if not (isinstance(given, Mapping | None) or (isinstance(given, str) and given == "balanced")):
        raise ConfigError(f"class_weight={shown(given)} was given; 'balanced', a weight for each label, or None is needed")


def split_off(examples: Examples, share: float, seed: int) -> tuple[Examples, Examples | None]:
    """Set a stratified share aside for validation; none where the graphs are too few to spare any."""
    set_aside = round(share * len(examples.graphs))
    members = np.bincount(examples.targets)
    if set_aside < len(members) or len(examples.graphs) < FEWEST_FOR_VALIDATION or members.min() < 2:
        return examples, None
    splitter = StratifiedShuffleSplit(1, test_size=set_aside, random_state=seed)
    kept, aside = next(splitter.split(np.zeros(len(examples.targets)), examples.targets))
    parts = examples.part(np.sort(kept)), examples.part(np.sort(aside))
    for part, purpose in zip(parts, ("training", "validation"), strict=True):
        if not part.weights.any():
            raise GraphInputError(
                f"all {len(part.targets)} graphs chosen for {purpose} have weight 0; give more graphs a positive weight, "
                "or pass validation graphs of your own"
            )
    return parts


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


def _sample_weights(sample_weight: Any, count: int) -> NDArray[np.float64]:
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        weights = np.empty(0)
    if weights.shape != (count,) or not _are_weights(weights) or not weights.any():
        raise GraphInputError(f"sample_weight must be {count} finite numbers >= 0, not all of them 0")
    return scale_weights(weights)


def _are_weights(values: NDArray[np.float64]) -> bool:
    return bool((np.isfinite(values) & (values >= 0)).all())


def _weights_of_classes(targets: NDArray[np.int64], classes: Array, class_weight: ClassWeight) -> NDArray[np.float64]:
    if isinstance(class_weight, Mapping):
        return _given_class_weights(classes.tolist(), class_weight)
    check_class_weight(class_weight)
    weights, present = np.zeros(len(classes)), np.unique(targets)
    weights[present] = compute_class_weight("balanced", classes=present, y=targets)
    return weights


def _given_class_weights(labels: list[Any], class_weight: Mapping[Hashable, float]) -> NDArray[np.float64]:
    unknown = [label for label in class_weight if label not in labels]
    if unknown:
        raise ConfigError(f"class_weight has a weight for {unknown[0]!r:.60}, which is no label; labels are {labels!r:.120}")
    try:
        weights = np.array([float(class_weight.get(label, 1.0)) for label in labels])
    except (TypeError, ValueError, OverflowError):
        weights = np.full(1, np.nan)
    if not _are_weights(weights):
        raise ConfigError(f"class_weight={dict(class_weight)!r:.120} was given; weights must be finite numbers >= 0")
    return weights
