import numpy as np
import pytest

from phist.drawing.engine import plot_balls, plot_twins
from phist.drawing.reductions import example_of_balls, example_of_twins


@pytest.fixture(scope="module")
def twins():
    return example_of_twins()


@pytest.fixture(scope="module")
def balls():
    return example_of_balls()


def test_rows_have_the_multiplicity_of_the_engines_plan(twins):
    assert np.bincount(twins.row_of).tolist() == twins.multiplicity.tolist()
    assert (len(twins.places), len(twins.multiplicity)) == (13, 7)


def test_a_row_holds_twins_of_one_class(twins):
    assert (twins.node_class == twins.row_class[twins.row_of]).all()


def test_the_root_has_a_row_of_its_own_that_answers_differently(twins):
    own, others = np.flatnonzero(twins.row_class == twins.row_class[twins.root_row])
    assert (own, twins.multiplicity[own]) == (twins.root_row, 1)
    assert abs(twins.responses[own] - twins.responses[others]) > 0.1


def test_twins_that_are_not_the_root_answer_alike(twins):
    for number in set(twins.row_class) - {twins.row_class[twins.root_row]}:
        np.testing.assert_allclose(
            twins.responses[twins.row_class == number], twins.responses[twins.row_class == number][0], atol=1e-5
        )


def test_the_ball_corrects_the_background_exactly(balls):
    np.testing.assert_allclose(balls.background - balls.share + balls.rows, balls.histogram, rtol=1e-4, atol=1e-4)


def test_the_ball_is_neither_nothing_nor_everything(balls):
    assert 10 < (balls.hops <= balls.reach).sum() < 50


@pytest.mark.parametrize("plot", [plot_twins, plot_balls])
def test_pictures_are_the_same_when_drawn_again(plot, tmp_path):
    for name in ("first", "second"):
        plot().savefig(tmp_path / f"{name}.png")
    assert (tmp_path / "first.png").read_bytes() == (tmp_path / "second.png").read_bytes()
    assert (tmp_path / "first.png").stat().st_size > 20_000
