"""The training graphs that are most similar to others."""

import json

import numpy as np
import pytest
from small_models import quick_classifier

from phist import StructuralClassifier
from phist.errors import ModelFileError
from phist.estimators.neighbours import DIMENSIONS, Neighbours
from phist.graphs.generate import make_planted_partitions


def drawn(n=50, n_columns=8, seed=0):
    return np.random.default_rng(seed).normal(size=(n, n_columns)).astype(np.float32)


def test_the_nearest_is_the_graph_itself_and_distances_grow():
    rows = drawn()
    distances, positions = Neighbours.of(rows, 0).nearest(rows, 4)
    assert positions[:, 0].tolist() == list(range(50))
    np.testing.assert_allclose(distances[:, 0], 0, atol=1e-3)
    assert (np.diff(distances, axis=1) >= 0).all() and distances.shape == (50, 4)


def test_distances_are_those_of_standardised_embeddings():
    rows = drawn() * np.array([1, 1, 1, 1, 1, 1, 1, 1000], np.float32)
    standard = (rows - rows.mean(0)) / rows.std(0)
    distances, positions = Neighbours.of(rows, 0).nearest(rows[:3], 50)
    for graph in range(3):
        expected = np.linalg.norm(standard - standard[graph], axis=1)
        np.testing.assert_allclose(distances[graph], expected[positions[graph]], atol=1e-3)


def test_many_columns_are_reduced():
    own = Neighbours.of(drawn(100, 80), 0)
    assert own.rows.shape == (100, DIMENSIONS)


def test_more_neighbours_than_graphs_are_all_graphs():
    assert Neighbours.of(drawn(5), 0).nearest(drawn(2), 9)[1].shape == (2, 5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [2, 9])
def test_graphs_that_all_look_the_same_are_all_at_no_distance(n):
    rows = np.ones((n, 6), np.float32)
    assert (Neighbours.of(rows, 0).nearest(rows, 2)[0] == 0).all()


def test_arrays_and_back():
    own = Neighbours.of(drawn(), 0)
    again = Neighbours.from_arrays(own.to_arrays(), 8, 50)
    for one, other in zip(again.nearest(drawn(3, seed=1), 5), own.nearest(drawn(3, seed=1), 5), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("rows", lambda array: array[:-1]),
        ("rows", lambda array: array.astype(np.float64)),
        ("rows", lambda array: np.full_like(array, np.nan)),
        ("rows", lambda array: None),
        ("scale", np.zeros_like),
        ("scale", lambda array: -array),
        ("centre", lambda array: array[None]),
        ("axes", lambda array: array[:3]),
        ("axes", lambda array: array[0]),
        ("axes", lambda array: None),
    ],
)
def test_damaged_arrays_are_refused(name, change):
    arrays = Neighbours.of(drawn(), 0).to_arrays()
    changed = {**arrays, name: change(arrays[name])}
    with pytest.raises(ModelFileError, match="neighbours"):
        Neighbours.from_arrays({key: array for key, array in changed.items() if array is not None}, 8, 50)


def test_no_dimensions_at_all_are_refused():
    arrays = {**Neighbours.of(drawn(), 0).to_arrays(), "axes": np.empty((0, 8), np.float32), "rows": np.empty((50, 0), np.float32)}
    with pytest.raises(ModelFileError, match="neighbours"):
        Neighbours.from_arrays(arrays, 8, 50)


def test_ids_are_plain_values_before_and_after_saving(tmp_path):
    graphs = make_planted_partitions(20, n_nodes=8, seed=0)
    model = quick_classifier(members="network").fit(graphs)
    model.save(tmp_path / "model")
    fresh, loaded = model.similar(graphs[:2], 3), StructuralClassifier.load(tmp_path / "model").similar(graphs[:2], 3)
    assert json.dumps(fresh) == json.dumps(loaded)
