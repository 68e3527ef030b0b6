"""A model knows nothing of how nodes are numbered."""

import numpy as np
import pytest
from renumbering import renumbered

from phist import StructuralClassifier, StructuralEmbedder
from phist.graphs.canonical import reordered
from phist.graphs.convert import as_graphset
from phist.graphs.generate import make_planted_partitions
from phist.graphs.packing import pack

GRAPHS = make_planted_partitions(30, seed=0)
OTHER, NODE_AT = renumbered(GRAPHS, seed=1)


def fitted(graphs):
    return StructuralClassifier(
        random_state=0, training={"epochs": 4, "restarts": 0}, heads=("linear", "forest", "kernel"), progress=False
    ).fit(graphs)


@pytest.fixture(scope="module")
def model():
    return fitted(GRAPHS)


def test_the_same_graphs_with_other_numbers_give_the_same_model(model):
    np.testing.assert_array_equal(fitted(OTHER).predict_proba(GRAPHS), model.predict_proba(GRAPHS))


def test_a_graph_with_other_numbers_is_predicted_the_same(model):
    np.testing.assert_array_equal(model.predict_proba(OTHER), model.predict_proba(GRAPHS))
    np.testing.assert_array_equal(model.transform(OTHER), model.transform(GRAPHS))


def test_embeddings_of_nodes_come_in_the_order_given(model):
    one, other = model.node_embeddings(GRAPHS), model.node_embeddings(OTHER)
    for number, (begin, end) in enumerate(zip(GRAPHS.node_ptr[:-1], GRAPHS.node_ptr[1:], strict=True)):
        np.testing.assert_array_equal(other[number], one[number][NODE_AT[begin:end]])


def test_shares_and_effects_come_in_the_order_given(model):
    one, other = model.explain(GRAPHS[:2]), model.explain(OTHER[:2])
    for number, (first, second) in enumerate(zip(one, other, strict=True)):
        names = NODE_AT[GRAPHS.node_ptr[number] : GRAPHS.node_ptr[number + 1]]
        np.testing.assert_array_equal(second.node_shares, first.node_shares[names])
        np.testing.assert_array_equal(second.root_votes, first.root_votes[names])
        np.testing.assert_allclose(second.node_effects, first.node_effects[names], atol=1e-12)


def test_an_unlabelled_embedding_does_not_depend_on_numbers():
    one, other = (StructuralEmbedder(random_state=0).fit(graphs.with_labels(None)) for graphs in (GRAPHS, OTHER))
    np.testing.assert_array_equal(one.transform(GRAPHS), other.transform(OTHER))


def test_classes_that_differ_in_the_numbering_alone_are_not_told_apart():
    """Paths whose nodes are numbered along them, or inwards from both ends: the structure is the same."""
    n, many = 7, 80
    along = pack(np.full(many, n), *_arcs(np.arange(n), many))
    inwards = reordered(along, np.tile([0, 6, 1, 5, 2, 4, 3], many))
    graphs = as_graphset([*along, *inwards], labels=["along"] * many + ["inwards"] * many)
    model = StructuralClassifier(random_state=0, training={"epochs": 2, "restarts": 0}, heads=("forest",), progress=False).fit(
        graphs
    )
    assert len(np.unique(model.predict_proba(graphs), axis=0)) == 1


def _arcs(path, many):
    first = np.repeat(np.arange(many) * len(path), len(path) - 1)
    return first + np.tile(path[:-1], many), first + np.tile(path[1:], many)
