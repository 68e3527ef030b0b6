"""1-WL with a marked root."""

import networkx as nx
import numpy as np
import pytest

from phist.graphs.convert import as_graphset
from phist.theory.pairs import named_pairs
from phist.theory.rooted_colors import rooted_colors, told_apart_by_outer_refinement, told_apart_by_roots

BOTH = pytest.mark.parametrize("tells_apart", [told_apart_by_roots, told_apart_by_outer_refinement])


def pair_of(category):
    return next(pair.graphs for pair in named_pairs() if pair.category == category)


@BOTH
def test_a_mark_tells_the_hexagon_from_two_triangles(tells_apart):
    assert tells_apart(pair_of("C6 and two triangles"))


@BOTH
def test_no_mark_tells_strongly_regular_graphs_of_equal_parameters_apart(tells_apart):
    assert not tells_apart(pair_of("Rook and Shrikhande"))


@BOTH
def test_a_graph_is_not_told_from_itself_with_other_node_numbers(tells_apart):
    graph = nx.gnp_random_graph(12, 0.3, seed=1)
    other = nx.relabel_nodes(graph, dict(enumerate(np.random.default_rng(0).permutation(12).tolist())))
    assert not tells_apart(as_graphset([graph, nx.from_numpy_array(nx.to_numpy_array(other, nodelist=range(12)))]))


def test_what_roots_tell_apart_the_outer_refinement_does_too():
    found = [(told_apart_by_roots(pair.graphs), told_apart_by_outer_refinement(pair.graphs)) for pair in named_pairs()]
    assert all(outer or not roots for roots, outer in found)


def test_nodes_that_look_alike_share_a_color():
    star, path = rooted_colors(as_graphset([nx.star_graph(4)])), rooted_colors(as_graphset([nx.path_graph(5)]))
    assert len(set(star.tolist())) == 2
    assert path[0] == path[4] and path[1] == path[3] and len(set(path.tolist())) == 3
