import numpy as np
import pytest

from phist.errors import GraphInputError
from phist.graphs.labels import as_labels, labels_by_id


@pytest.mark.parametrize(
    "labels",
    [[1, 2], ["a", "bc"], [True, False], [0.5, 1.5], [1, "a"], [("a", 1), ("b", 2)], [2**70, 1], ["a\0", "a"], [b"x", b"y"]],
    ids=str,
)
def test_any_hashable_label_comes_back_as_it_was(labels):
    assert as_labels(labels).tolist() == labels


def test_numpy_scalars_become_plain_values():
    assert [type(label) for label in as_labels([np.int8(1), np.int64(2)]).tolist()] == [int, int]


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_label_is_named(missing):
    with pytest.raises(GraphInputError, match="the label of graph 1 is missing"):
        as_labels(["a", missing])


def test_a_list_as_a_label_is_refused():
    with pytest.raises(GraphInputError, match="the label of graph 0 is a list"):
        as_labels([["a"], ["b"]])


def test_one_word_is_not_taken_for_many_labels():
    with pytest.raises(GraphInputError, match="labels were given as one str"):
        as_labels("abc")


def test_a_number_is_not_taken_for_many_labels():
    with pytest.raises(GraphInputError, match="labels were given as one int"):
        as_labels(3)


def test_labels_are_found_by_id_whether_text_or_number():
    assert labels_by_id(np.array([1, 2]), {"2": "b", 1: "a"}).tolist() == ["a", "b"]


def test_a_graph_missing_from_the_mapping_is_named():
    with pytest.raises(GraphInputError, match="graph 2 has no label"):
        labels_by_id(np.array([1, 2]), {1: "a"})
