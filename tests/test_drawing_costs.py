"""Accuracy against time, as a picture."""

from itertools import combinations

import pytest
from matplotlib.transforms import Bbox

from phist.drawing.costs import Point, plot_costs


@pytest.mark.parametrize("apart", [0.0, 0.3])
def test_no_name_covers_another(apart):
    near = [Point(f"method-{number}", "kernel", 1 + apart * number / 10, 70 + apart * number, number == 0) for number in range(4)]
    figure = plot_costs([*near, Point("slow", "phist", 100.0, 80.0, True)], "accuracy, %")
    names = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(names) == 5
    assert not any(one.overlaps(other) for one, other in combinations(names, 2))


def test_every_method_is_named_even_where_there_is_no_place_for_all():
    same = [Point(f"method-{number}", "kernel", 1.0, 70.0, number == 0) for number in range(6)]
    figure = plot_costs([*same, Point("slow", "phist", 100.0, 80.0, True)], "accuracy, %")
    assert {text.get_text() for text in figure.axes[0].texts} == {"slow", *(point.label for point in same)}


def test_names_leave_the_line_of_the_front_free_and_stay_within_the_axes():
    front = [Point("a-long-name-of-a-method", "floor", 0.1, 60.0, True), Point("next", "kernel", 0.15, 70.0, True)]
    figure = plot_costs([*front, Point("slow", "phist", 100.0, 80.0, True)], "accuracy, %")
    axes = figure.axes[0]
    name = next(text for text in axes.texts if text.get_text() == front[0].label).get_window_extent()
    (left, low), (right, high) = (axes.transData.transform((point.seconds, point.score)) for point in front)
    assert name.x0 > axes.bbox.x0
    assert not name.overlaps(Bbox([[right - 1, low], [right + 1, high]]))
    assert not name.overlaps(Bbox([[left, low - 1], [right, low + 1]]))
