"""Accuracy against time, as a picture."""

from itertools import combinations

import pytest

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
