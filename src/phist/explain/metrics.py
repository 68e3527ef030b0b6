"""How good an explanation is: against the model, under the names of PyTorch Geometric, and against a known truth."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import roc_auc_score

from phist.checks import finite_number, whole_number
from phist.errors import ConfigError, GraphInputError, check_choice, shown
from phist.estimators.fitted.classifier import FittedClassifier
from phist.explain.explanation import Explanation
from phist.graphs.convert import join
from phist.graphs.graph import Graph

ExplanationType = Literal["model", "phenomenon"]


class Fidelity(NamedTuple):
    """How often the class changes: without the explanation (the more the better), and with it alone (the less the better).

    Args:
        plus: share of graphs whose class changes without the explanation.
        minus: share of graphs whose class changes on the explanation alone.
    """

    plus: float
    minus: float


def fidelity(
    model: FittedClassifier,
    explanations: Sequence[Explanation],
    top_k: int | None = None,
    explanation_type: ExplanationType = "model",
) -> Fidelity:
    """Whether predictions hold on the explanation alone (minus) and on what it leaves (plus), as GraphFramEx defines it.

    What is asked about are `explanation_subgraph` and `complement_subgraph`; of one without nodes, a single node.

    Args:
        model: the classifier that was explained.
        explanations: one for each graph.
        top_k: take the best nodes as the explanation instead of all that speak for the target.
        explanation_type: compare with what the model predicts, or with the graphs' own labels (``"phenomenon"``).
    """
    check_choice("explanation_type", explanation_type, get_args(ExplanationType))
    _check_some(explanations)
    full = np.array([one.probabilities.argmax() for one in explanations])
    alone = _probabilities(model, [one.explanation_subgraph(top_k) for one in explanations]).argmax(1)
    rest = _probabilities(model, [one.complement_subgraph(top_k) for one in explanations]).argmax(1)
    if explanation_type == "model":
        return Fidelity(float((rest != full).mean()), float((alone != full).mean()))
    true = _labels(explanations)
    right = full == true
    return Fidelity(float((right != (rest == true)).mean()), float((right != (alone == true)).mean()))


def characterization_score(plus: float, minus: float, pos_weight: float = 0.5, neg_weight: float = 0.5) -> float:
    """The weighted harmonic mean of fidelity plus and one minus fidelity minus; zero where either is.

    Args:
        plus: fidelity plus.
        minus: fidelity minus.
        pos_weight: weight of fidelity plus.
        neg_weight: weight of one minus fidelity minus; both weights add up to 1.

    >>> round(characterization_score(0.5, 0.25), 3)
    0.6
    """
    for name, value in {"plus": plus, "minus": minus, "pos_weight": pos_weight, "neg_weight": neg_weight}.items():
        finite_number(name, value, least=0, most=1)
    if not np.isclose(pos_weight + neg_weight, 1):
        raise ConfigError(f"weights {pos_weight:g} and {neg_weight:g} were given; they must add up to 1")
    if plus == 0 or minus == 1:
        return 0.0
    return float(1 / (pos_weight / plus + neg_weight / (1 - minus)))


def unfaithfulness(model: FittedClassifier, explanations: Sequence[Explanation], top_k: int | None = None) -> float:
    """1 - exp(-KL) between the probabilities of the explanation alone and of the graph, averaged over graphs: 0 is faithful.

    Args:
        model: the classifier that was explained.
        explanations: one for each graph.
        top_k: take so many best nodes as the explanation instead of all that speak for the target.
    """
    _check_some(explanations)
    alone = _probabilities(model, [one.explanation_subgraph(top_k) for one in explanations])
    full = np.array([one.probabilities for one in explanations])
    terms = np.where(alone > 0, alone * (np.log(np.maximum(alone, 1e-300)) - np.log(full)), 0)
    return float(np.mean(1 - np.exp(-terms.sum(1))))


def groundtruth_auroc(values: ArrayLike, truth: ArrayLike) -> float:
    """The probability that a node (or edge) of the truth has a larger value than another; NaN where all or none are of it.

    Args:
        values: one for each node or edge, the larger the more it speaks for the target.
        truth: which nodes or edges tell the class.
    """
    values, mask = _checked(values, truth)
    return float(roc_auc_score(mask, values)) if 0 < mask.sum() < len(mask) else float("nan")


def precision_at_k(values: ArrayLike, truth: ArrayLike, k: int | None = None) -> float:
    """How many of the ``k`` largest values are of the truth, by default of as many as that has; equal values count in part.

    Args:
        values: one for each node or edge, the larger the more it speaks for the target.
        truth: which nodes or edges tell the class.
        k: how many of the largest values to look at.

    >>> precision_at_k([0.9, 0.8, 0.1], [True, False, True])
    0.5
    """
    values, mask = _checked(values, truth)
    k = int(mask.sum()) if k is None else whole_number("k", k, least=1, most=len(mask))
    if k == 0:
        return float("nan")
    border = np.sort(values)[-k]
    above, tied = values > border, values == border
    return float((mask[above].sum() + mask[tied].mean() * (k - above.sum())) / k)


def _checked(values: ArrayLike, truth: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    try:
        numbers, mask = np.asarray(values, np.float64), np.asarray(truth, bool)
    except (TypeError, ValueError) as error:
        raise GraphInputError(
            f"values={shown(values)} and truth={shown(truth)} were given; a number and a truth value for each are needed"
        ) from error
    if numbers.shape != mask.shape or numbers.ndim != 1:
        raise GraphInputError(f"values of shape {numbers.shape} and truth of shape {mask.shape} were given; one each is needed")
    return np.nan_to_num(numbers), mask


def _probabilities(model: FittedClassifier, parts: Sequence[Graph]) -> NDArray[np.float64]:
    """Of parts of graphs; no model says anything of a graph without nodes, so one node stands for it."""
    filled = [part if part.n_nodes else Graph(np.zeros(2, np.int64), part.indices, directed=part.directed) for part in parts]
    numbered = [Graph(part.indptr, part.indices, part.weights, None, number, part.directed) for number, part in enumerate(filled)]
    return model.predict_proba(join(numbered))


def _labels(explanations: Sequence[Explanation]) -> NDArray[np.int64]:
    for one in explanations:
        if one.graph.label not in one.classes:
            raise GraphInputError(
                f"graph {one.graph.id!r:.60} is labelled {one.graph.label!r:.60}, which the model does not know; "
                'fidelity to the phenomenon needs labels: choose explanation_type="model"'
            )
    return np.array([one.classes.index(one.graph.label) for one in explanations])


def _check_some(explanations: Sequence[Explanation]) -> None:
    if not len(explanations):
        raise GraphInputError("no explanation was given; at least one is needed")
