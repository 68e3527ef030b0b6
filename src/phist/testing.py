"""A conformance kit for graph estimators: what any user of scikit-learn and any graph may expect of one.

scikit-learn's own suite skips nearly everything for estimators that do not take arrays; this one knows graphs.
"""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from phist.graphs.convert import as_graphset
from phist.graphs.generate import make_planted_partitions
from phist.graphs.graphset import GraphSet

Check = Callable[[Any], None]
TOLERANCE = 1e-4


def check_graph_estimator(estimator: Any) -> list[str]:
    """Run every check on copies of ``estimator``; return the names of those that ran.

    The estimator must be seedable by ``random_state`` and train in a moment: pass a small number of epochs. It needs
    ``fit(graphs, labels)`` and ``predict_proba`` or ``transform``; what else it has is checked where it has it.

    Raises:
        AssertionError: names the check that failed and what was seen.
    """
    checks = list(graph_estimator_checks())
    for check in checks:
        try:
            check(clone(estimator).set_params(random_state=0))
        except AssertionError as error:
            raise AssertionError(f"{check.__name__}: {error}") from error
    return [check.__name__ for check in checks]


def graph_estimator_checks() -> Iterator[Check]:
    """The checks one by one, for ``pytest.mark.parametrize``."""
    for name, check in list(globals().items()):
        if name.startswith("check_") and name != "check_graph_estimator" and inspect.isfunction(check):
            yield check


# On estimators ----------------------------------------------------------------------------------------------------------


def check_clone_keeps_parameters(estimator: Any) -> None:
    """A clone has the same parameters.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    copy = clone(estimator)
    _expect(copy is not estimator and repr(copy.get_params()) == repr(estimator.get_params()), "a clone has other parameters")


def check_constructor_only_stores(estimator: Any) -> None:
    """Constructing stores parameters and does nothing else.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    signature = inspect.signature(type(estimator))
    for name, value in type(estimator)().get_params(deep=False).items():
        _expect(value is signature.parameters[name].default, f"the constructor changed its parameter {name}")


def check_unfitted_says_so(estimator: Any) -> None:
    """Using an unfitted estimator raises scikit-learn's ``NotFittedError``.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    try:
        _measure(estimator, _graphs())
    except NotFittedError:
        return
    raise AssertionError("an unfitted estimator did not raise NotFittedError")


def check_fit_returns_itself_and_keeps_parameters(estimator: Any) -> None:
    """``fit`` returns the estimator and changes no parameter.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    before = repr(estimator.get_params())
    graphs = _graphs()
    _expect(estimator.fit(graphs, graphs.labels) is estimator, "fit did not return the estimator")
    _expect(repr(estimator.get_params()) == before, "fit changed a parameter")


# On graphs --------------------------------------------------------------------------------------------------------------


def check_node_names_do_not_matter(estimator: Any) -> None:
    """With every node as a root, relabelling nodes changes nothing; an estimator that samples is asked to take all.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    if "inference" in estimator.get_params():
        estimator.set_params(inference="exact")
    graphs = _graphs()
    estimator.fit(graphs, graphs.labels)
    _expect_close(_measure(estimator, graphs), _measure(estimator, _relabelled(graphs)), "relabelling nodes changed the result")


def check_order_of_graphs_does_not_matter(estimator: Any) -> None:
    """Results follow the graphs into another order.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    graphs = _graphs()
    estimator.fit(graphs, graphs.labels)
    order = np.random.default_rng(0).permutation(len(graphs))
    _expect_close(
        _measure(estimator, graphs)[order], _measure(estimator, graphs[order]), "the order of graphs changed their results"
    )


def check_company_does_not_matter(estimator: Any) -> None:
    """The result of a graph does not depend on the graphs beside it.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    graphs = _graphs()
    estimator.fit(graphs, graphs.labels)
    alone = np.concatenate([_measure(estimator, graphs[number : number + 1]) for number in range(5)])
    _expect_close(_measure(estimator, graphs)[:5], alone, "a graph's result depends on the graphs beside it")


def check_duplicates_get_equal_results(estimator: Any) -> None:
    """Equal graphs get equal results.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    graphs = _graphs()
    estimator.fit(graphs, graphs.labels)
    twice = _measure(estimator, graphs[[3, 0, 3]])
    _expect_close(twice[0], twice[2], "two copies of one graph got different results")


def check_lists_of_networkx_graphs(estimator: Any) -> None:
    """Lists of networkx graphs are accepted.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    graphs = _graphs()
    estimator.fit(graphs, graphs.labels)
    plain = [graph.to_networkx() for graph in graphs]
    _expect_close(_measure(estimator, graphs), _measure(estimator, plain), "networkx graphs got other results than a GraphSet")


def check_degenerate_graphs(estimator: Any) -> None:
    """One node, no edge, isolated nodes, two components, a star: in training and in use.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    odd = as_graphset(
        [(1, []), (2, []), (3, [(0, 1)]), (6, [(0, 1), (1, 2), (3, 4), (4, 5)]), (9, [(0, leaf) for leaf in range(1, 9)])]
    )
    graphs = _graphs()
    mixed = GraphSet.concatenate([graphs, odd.with_labels([graphs.label_list()[0]] * len(odd))])
    estimator.fit(mixed, mixed.labels)
    _expect(np.isfinite(_measure(estimator, odd)).all(), "degenerate graphs got results that are not finite")


def check_weights_are_seen(estimator: Any) -> None:
    """By a model that was fitted to weighted graphs; others may leave weights out.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    graphs, generator = _graphs(), np.random.default_rng(0)
    matrices = [graph.adjacency().toarray() for graph in graphs]
    first, second = ([matrix * _symmetric(generator.uniform(0.1, 10, matrix.shape)) for matrix in matrices] for _ in range(2))
    estimator.fit(first, graphs.labels)
    _expect(not np.allclose(_measure(estimator, first), _measure(estimator, second)), "edge weights changed nothing")


# On labels --------------------------------------------------------------------------------------------------------------


def check_single_class_is_refused(estimator: Any) -> None:
    """Labels of one class are refused.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    graphs = _graphs()
    _expect_error(lambda: estimator.fit(graphs, ["same"] * len(graphs)), "one class only was accepted")


def check_label_count_is_checked(estimator: Any) -> None:
    """There must be one label for each graph.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    graphs = _graphs()
    _expect_error(lambda: estimator.fit(graphs, graphs.labels[:-1]), "fewer labels than graphs were accepted")  # type: ignore[index]


def check_string_labels_come_back(estimator: Any) -> None:
    """Labels that are strings are predicted as strings.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    if not hasattr(estimator, "predict"):
        return
    graphs = _graphs()
    names = np.array(["weiß", "schwarz"], dtype=object)[np.arange(len(graphs)) % 2]
    estimator.fit(graphs, names)
    _expect(list(estimator.classes_) == ["schwarz", "weiß"], "classes_ are not the sorted labels")
    _expect(set(estimator.predict(graphs)) <= {"schwarz", "weiß"}, "predictions are not among the labels")


def check_probabilities_sum_to_one(estimator: Any) -> None:
    """Probabilities are between 0 and 1, and each row adds up to 1.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    if not hasattr(estimator, "predict_proba"):
        return
    graphs = _graphs()
    probabilities = estimator.fit(graphs, graphs.labels).predict_proba(graphs)
    _expect(probabilities.shape == (len(graphs), len(estimator.classes_)), "predict_proba has the wrong shape")
    _expect_close(probabilities.sum(1), np.ones(len(graphs)), "probabilities do not sum to one")
    best = estimator.classes_[probabilities.argmax(1)]
    _expect(bool((best == estimator.predict(graphs)).all()), "predict is not the most probable class")


# On seeds and files -----------------------------------------------------------------------------------------------------


def check_same_seed_same_result(estimator: Any) -> None:
    """The same seed gives the same result.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    graphs = _graphs()
    first, second = (_measure(clone(estimator).fit(graphs, graphs.labels), graphs) for _ in range(2))
    _expect(np.array_equal(first, second), "two fits with one seed differ")


def check_other_seed_other_result(estimator: Any) -> None:
    """Another seed gives another result.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    graphs, new = _graphs(), _graphs(seed=1)  # on what it has learnt by heart an estimator may say the same with any seed
    first, second = (_measure(clone(estimator).set_params(random_state=seed).fit(graphs, graphs.labels), new) for seed in (0, 1))
    _expect(not np.array_equal(first, second), "random_state has no effect")


def check_save_and_load(estimator: Any) -> None:
    """A saved and loaded model gives the same results.

    Args:
        estimator: the estimator to check; copies of it are fitted.
    """
    if not hasattr(estimator, "save"):
        return
    graphs = _graphs()
    estimator.fit(graphs, graphs.labels)
    with TemporaryDirectory() as folder:
        estimator.save(Path(folder) / "model")
        loaded = type(estimator).load(Path(folder) / "model")
    _expect(np.array_equal(_measure(estimator, graphs), _measure(loaded, graphs)), "a loaded model gives other results")


# Tools ------------------------------------------------------------------------------------------------------------------


def _graphs(seed: int = 0) -> GraphSet:
    return make_planted_partitions(24, n_nodes=12, seed=seed)


def _measure(estimator: Any, graphs: Any) -> NDArray[Any]:
    measured = estimator.predict_proba(graphs) if hasattr(estimator, "predict_proba") else estimator.transform(graphs)
    return np.asarray(measured)


def _relabelled(graphs: GraphSet) -> GraphSet:
    generator = np.random.default_rng(1)
    orders = [generator.permutation(graph.n_nodes) for graph in graphs]
    return as_graphset([graph.adjacency()[order][:, order] for graph, order in zip(graphs, orders, strict=True)])


def _symmetric(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    return matrix + matrix.T


def _expect(condition: bool, complaint: str) -> None:
    if not condition:
        raise AssertionError(complaint)


def _expect_close(left: NDArray[Any], right: NDArray[Any], complaint: str) -> None:
    difference = float(np.abs(left - right).max())
    _expect(difference <= TOLERANCE * max(1.0, float(np.abs(left).max())), f"{complaint} (by {difference:.2g})")


def _expect_error(action: Callable[[], Any], complaint: str) -> None:
    try:
        action()
    except ValueError:
        return
    raise AssertionError(complaint)
