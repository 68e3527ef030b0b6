import numpy as np
import pytest
from scipy.sparse import csr_array

from phist.errors import ConfigError, GraphInputError
from phist.graphs.packing import Reading, pack, symmetrise


def arcs(*pairs):
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T


def test_an_arc_becomes_an_edge_in_both_directions():
    assert pack(np.array([2]), *arcs((0, 1))).indices.tolist() == [1, 0]


def test_neighbours_are_sorted_and_numbered_within_their_graph():
    packed = pack(np.array([1, 3]), *arcs((1, 3), (1, 2)))
    assert packed[1].indices.tolist() == [1, 2, 0, 0]


def test_repeated_arcs_collapse_without_weights():
    assert pack(np.array([2]), *arcs((0, 1), (0, 1), (1, 0))).weights is None


def test_repeated_arcs_add_up_with_weights():
    packed = pack(np.array([2]), *arcs((0, 1), (0, 1)), np.array([1.0, 2.0]))
    assert packed.weights.tolist() == [3, 3]


def test_the_larger_of_two_directions_counts():
    packed = pack(np.array([2]), *arcs((0, 1), (1, 0)), np.array([1.0, 2.0]))
    assert packed.weights.tolist() == [2, 2]


def test_direction_can_be_kept():
    packed = pack(np.array([2]), *arcs((0, 1)), reading=Reading(directed="keep"))
    assert (packed.directed, packed.degrees().tolist()) == (True, [1, 0])


def test_loops_are_dropped_by_default():
    assert pack(np.array([2]), *arcs((0, 0), (0, 1))).n_edges == 1


def test_loops_can_be_kept():
    assert pack(np.array([2]), *arcs((0, 0), (0, 1)), reading=Reading(self_loops="keep")).n_edges == 2


def test_an_edge_of_weight_zero_is_no_edge():
    assert pack(np.array([2]), *arcs((0, 1)), np.array([0.0])).n_edges == 0


def test_weights_can_be_ignored():
    assert pack(np.array([2]), *arcs((0, 1)), np.array([np.nan]), reading=Reading(weights="ignore")).weights is None


def test_negative_weights_can_be_made_positive():
    assert pack(np.array([2]), *arcs((0, 1)), np.array([-2.0]), reading=Reading(weights="abs")).weights.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("weight", "kind"), [(-0.5, "negative"), (np.nan, "non-finite"), (np.inf, "non-finite"), (-np.inf, "non-finite")]
)
def test_a_bad_weight_is_named_with_graph_and_edge(weight, kind):
    with pytest.raises(GraphInputError, match=rf"graph 1 has a {kind} weight .* on edge 0-2"):
        pack(np.array([1, 3]), *arcs((1, 2), (1, 3)), np.array([1.0, weight]))


def test_a_bad_weight_is_named_with_the_id_of_its_graph():
    with pytest.raises(GraphInputError, match=r"graph 0 \(ring\)"):
        pack(np.array([2]), *arcs((0, 1)), np.array([-1.0]), ids=np.array(["ring"]))


def test_weights_that_add_up_beyond_numbers_are_refused():
    with pytest.raises(GraphInputError, match="add up to more"):
        pack(np.array([2]), *arcs((0, 1), (0, 1)), np.array([1e308, 1e308]))


@pytest.mark.parametrize("setting", [{"directed": "both"}, {"self_loops": "maybe"}, {"weights": "sum"}, {"directed": True}])
def test_an_unknown_setting_is_refused_with_the_choices(setting):
    with pytest.raises(ConfigError, match="choose one of"):
        Reading(**setting)


def test_a_symmetric_matrix_is_left_alone():
    matrix = csr_array(np.array([[0.0, 2.0], [2.0, 0.0]]))
    assert symmetrise(matrix) is matrix


def test_a_graph_without_arcs_keeps_its_nodes():
    assert pack(np.array([3, 1]), *arcs()).node_counts().tolist() == [3, 1]
