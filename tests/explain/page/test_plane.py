"""The map: where graphs lie in the plane."""

import numpy as np

from phist.explain.page.plane import plane_of


def test_places_fill_the_unit_square():
    places = plane_of(np.random.default_rng(0).normal(size=(8, 3)))
    np.testing.assert_allclose([places.min(0), places.max(0)], [[0, 0], [1, 1]])


def test_two_graphs_lie_on_a_line_through_the_middle():
    np.testing.assert_allclose(plane_of(np.array([[-1.0], [1.0]])), [[0, 0.5], [1, 0.5]])


def test_graphs_that_are_all_the_same_lie_in_the_middle():
    np.testing.assert_allclose(plane_of(np.zeros((3, 2))), 0.5)
