"""Values of all kinds where graphs, weights, labels and ids should be: errors of phist, short ones."""

import types

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

from phist import as_graphset, read_graphs
from phist.errors import ConfigError, GraphInputError
from phist.graphs.datasets import load_graphs

EDGE = (2, [(0, 1)])


def weighted(weight):
    graph = nx.Graph()
    graph.add_edge("x" * 1000, "y", weight=weight)
    return graph


def pyg(**values):
    return types.SimpleNamespace(**{"edge_index": np.array([[0], [1]]), "num_nodes": 2, **values})


def broken_matrix():
    matrix = csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    matrix.indices[0] = 7
    return matrix


GRAPHS = {
    "a weight beyond all floats": lambda: weighted(10**400),
    "a weight of 5,000 digits": lambda: weighted(10**5000),
    "a list as a weight": lambda: weighted(list(range(10_000))),
    "an end beyond 64 bits": lambda: (2, [(0, 10**30)]),
    "a number of nodes beyond 64 bits": lambda: (10**30, [(0, 1)]),
    "a number of nodes of 5,000 digits": lambda: (10**5000, [(0, 1)]),
    "rows of several kinds": lambda: (2, [(0, 1), [np.empty((0, 3)), 1]]),
    "a fraction as a number of nodes": lambda: pyg(num_nodes=2.5),
    "infinity as a number of nodes": lambda: pyg(num_nodes=float("inf")),
    "text as a number of nodes": lambda: pyg(num_nodes="x" * 10_000),
    "a matrix with a column that is not there": broken_matrix,
    "an object": object,
}
NAMES = {
    "an array without axes": np.array(3),
    "a tuple with a list in it": [([1],)],
    "an array": [np.arange(3)],
    "not a time": [np.datetime64("NaT")],
    "a number of 5,000 digits": [10**5000],
    "one text": "x" * 10_000,
}


@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS.keys())
def test_an_odd_graph_is_a_short_error(make):
    with pytest.raises(GraphInputError) as error:
        as_graphset([make()])
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("what", ["labels", "ids"])
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES.keys())
def test_an_odd_label_or_id_is_a_short_error(what, names):
    with pytest.raises(GraphInputError) as error:
        as_graphset([EDGE], **{what: names})
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("value", [np.empty((0, 3)), [1], "x" * 10_000, 10**5000], ids=["array", "list", "text", "number"])
def test_an_odd_option_is_a_short_error(value):
    with pytest.raises(ConfigError) as error:
        as_graphset([EDGE], directed=value)
    assert len(str(error.value)) < 400


def test_several_values_of_y_are_no_label():
    assert as_graphset([pyg(y=[[1], [2, 3]])]).labels is None


@pytest.mark.parametrize("read", [read_graphs, load_graphs])
@pytest.mark.parametrize(
    "path", ["~nouser-of-this-name/x.jsonl", "x" * 5000 + ".jsonl", "a\0b.jsonl", "/".join("x" * 9000)], ids=range(4)
)
def test_an_odd_path_is_a_short_error(read, path):
    with pytest.raises(GraphInputError) as error:
        read(path)
    assert len(str(error.value)) < 800


def test_what_is_no_path_is_said_to_be_none():
    with pytest.raises(GraphInputError, match="is not a path"):
        read_graphs(7)
