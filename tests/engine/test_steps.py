"""Courses: their parts are complete, in order, and small enough."""

from dataclasses import replace

import numpy as np
import pytest

from phist.engine.steps import Steps, scale_weights, weight_fractions
from phist.nn.sampling import draw_all

SIZES = np.array([3, 1, 4, 1, 5, 9, 2])


@pytest.fixture
def steps():
    graphs = np.arange(7)[::-1].copy()
    return Steps(
        ptr=np.array([0, 2, 4, 6, 7]),
        rates=np.array([0.1, 0.2, 0.3, 0.4]),
        graphs=graphs,
        draws=draw_all(SIZES[graphs]),
        targets=graphs % 2,
        weights=np.arange(1.0, 8.0),
    )


def test_part_has_what_belongs_to_its_steps(steps):
    part = steps.part(1, 3)
    assert part.ptr.tolist() == [0, 2, 4]
    assert part.rates.tolist() == [0.2, 0.3]
    assert part.graphs.tolist() == [4, 3, 2, 1]
    assert part.targets.tolist() == [0, 1, 0, 1]
    assert part.weights.tolist() == [3, 4, 5, 6]
    assert np.diff(part.draws.ptr).tolist() == [5, 1, 4, 1]


@pytest.mark.parametrize(("most", "lengths"), [(1, [1, 1, 1, 1]), (20, [2, 2]), (19, [2, 2]), (1000, [4]), (11, [1, 2, 1])])
def test_parts_are_complete_and_as_long_as_allowed(steps, most, lengths):
    costs = SIZES[steps.graphs]  # 2 + 9, 5 + 1, 4 + 1, 3
    parts = list(steps.parts(costs, most))
    assert [len(part.rates) for part in parts] == lengths
    assert np.concatenate([part.graphs for part in parts]).tolist() == steps.graphs.tolist()
    assert np.concatenate([part.rates for part in parts]).tolist() == steps.rates.tolist()
    for part in parts:
        assert len(part.rates) == 1 or SIZES[part.graphs].sum() <= most


def test_weights_of_every_step_make_one(steps):
    fractions = steps.weight_fractions()
    np.testing.assert_allclose(np.add.reduceat(fractions, steps.ptr[:-1]), 1, rtol=1e-6)
    assert fractions[0] / fractions[1] == pytest.approx(1 / 2)
    assert fractions.dtype == np.float32


def test_steps_without_idle_steps_keeps_what_belongs_to_the_others(steps):
    weights = np.array([1.0, 0, 0, 0, 3, 4, 0])
    shorter = replace(steps, weights=weights).without_idle_steps()
    assert shorter.ptr.tolist() == [0, 2, 4]
    assert shorter.rates.tolist() == [0.1, 0.3]
    assert shorter.graphs.tolist() == [6, 5, 2, 1]
    assert shorter.targets.tolist() == [0, 1, 0, 1]
    assert shorter.weights.tolist() == [1, 0, 3, 4]
    assert np.diff(shorter.draws.ptr).tolist() == [2, 9, 4, 1]
    assert shorter.draws.nodes.tolist() == [0, 1, *range(9), *range(4), 0]


def test_steps_whose_steps_all_count_is_kept_as_it_is(steps):
    assert steps.without_idle_steps() is steps


def test_fractions_of_an_idle_step_are_zero(steps):
    fractions = replace(steps, weights=np.array([1.0, 1, 0, 0, 1, 3, 5])).weight_fractions()
    assert fractions.tolist() == [0.5, 0.5, 0, 0, 0.25, 0.75, 1]


@pytest.mark.parametrize("factor", [5e-324, 1e-300, 1e300])
def test_fractions_of_extreme_weights_are_those_of_their_proportion(factor):
    weights = factor * np.array([1.0, 3, 0, 4])
    assert weight_fractions(weights, np.array([0, 2, 4])).tolist() == pytest.approx([0.25, 0.75, 0, 1])
    assert weight_fractions(np.array([1e300, 1.5e308, 1.0]), np.array([0, 2, 3])).tolist() == [pytest.approx(1 / 1.5e8), 1, 1]


def test_scaling_of_weights_rounds_nothing():
    weights = np.random.default_rng(0).random(100) * 1e7
    scaled = scale_weights(weights)
    assert 1 <= scaled.max() < 2
    assert np.unique(np.log2(weights / scaled)).tolist() == [23]
