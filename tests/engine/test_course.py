"""Courses: their parts are complete, in order, and small enough."""

import numpy as np
import pytest

from phist.engine.course import Course
from phist.nn.sampling import draw_all

SIZES = np.array([3, 1, 4, 1, 5, 9, 2])


@pytest.fixture
def course():
    graphs = np.arange(7)[::-1].copy()
    return Course(
        steps=np.array([0, 2, 4, 6, 7]),
        rates=np.array([0.1, 0.2, 0.3, 0.4]),
        graphs=graphs,
        draws=draw_all(SIZES[graphs]),
        targets=graphs % 2,
        weights=np.arange(1.0, 8.0, dtype=np.float32),
    )


def test_part_has_what_belongs_to_its_steps(course):
    part = course.part(1, 3)
    assert part.steps.tolist() == [0, 2, 4]
    assert part.rates.tolist() == [0.2, 0.3]
    assert part.graphs.tolist() == [4, 3, 2, 1]
    assert part.targets.tolist() == [0, 1, 0, 1]
    assert part.weights.tolist() == [3, 4, 5, 6]
    assert np.diff(part.draws.ptr).tolist() == [5, 1, 4, 1]


@pytest.mark.parametrize(("most", "lengths"), [(1, [1, 1, 1, 1]), (20, [2, 2]), (19, [2, 2]), (1000, [4]), (11, [1, 2, 1])])
def test_parts_are_complete_and_as_long_as_allowed(course, most, lengths):
    costs = SIZES[course.graphs]  # 2 + 9, 5 + 1, 4 + 1, 3
    parts = list(course.parts(costs, most))
    assert [len(part.rates) for part in parts] == lengths
    assert np.concatenate([part.graphs for part in parts]).tolist() == course.graphs.tolist()
    assert np.concatenate([part.rates for part in parts]).tolist() == course.rates.tolist()
    for part in parts:
        assert len(part.rates) == 1 or SIZES[part.graphs].sum() <= most


def test_weights_of_every_step_make_one(course):
    shares = course.shares_of_weights()
    np.testing.assert_allclose(np.add.reduceat(shares, course.steps[:-1]), 1, rtol=1e-6)
    assert shares[0] / shares[1] == pytest.approx(1 / 2)
    assert shares.dtype == np.float32
