"""A time budget is kept: what it has no room for is tried on a few graphs, left out and named."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from small_models import quick_classifier

from phist.estimators.members import member as member_module
from phist.estimators.members import rehearsal as rehearsal_module
from phist.estimators.members.member import Lesson
from phist.estimators.members.rehearsal import FEWEST, MOST, SHARE, Rehearsal
from phist.estimators.parts import cut_parts
from phist.graphs.generate import make_planted_partitions, make_trees
from phist.training.loop import Examples

GRAPHS = make_planted_partitions(40, n_nodes=10, seed=0)
AMPLE = 10_000.0


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves only where a test moves it."""
    clock = SimpleNamespace(now=0.0)
    for module in (member_module, rehearsal_module):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def lesson_of(n_graphs, n_classes=2, deadline=None):
    targets = np.arange(n_graphs) % n_classes
    examples = Examples(make_trees(n_graphs, n_nodes=5, seed=0).with_labels(None), targets, np.ones(n_graphs))
    return Lesson(examples, n_classes, cut_parts(targets, 5, 5, 0), seed=0, deadline=deadline)


def work_of(clock, *seconds):
    """Work that takes so long, each time it is done; and how often it was."""
    left = list(seconds)

    def work(few):
        clock.now += left.pop(0)

    return work, left


@pytest.mark.parametrize(("n_graphs", "n_few"), [(30, 30), (100, FEWEST), (400, 100), (2000, MOST)])
def test_a_few_graphs_are_of_every_part_and_class(n_graphs, n_few):
    few = Rehearsal(lesson_of(n_graphs, 3)).few
    assert len(few.graphs) == len(few.examples.targets) == n_few
    assert set(few.parts.number) == set(range(5)) and set(few.examples.targets) == {0, 1, 2}


def test_graphs_without_weight_take_time_too():
    lesson = lesson_of(100)
    lesson.examples.weights[:] = 0
    assert (Rehearsal(lesson).few.examples.weights == 1).all()


def test_without_a_budget_nothing_is_tried():
    rehearsal = Rehearsal(lesson_of(100))
    assert rehearsal.has_time_for("trees", pytest.fail) and not rehearsal.left_out


@pytest.mark.parametrize("growth", [1.0, 2.0])
def test_seconds_grow_with_the_number_of_graphs(clock, growth):
    work, _ = work_of(clock, 1.0)
    assert Rehearsal(lesson_of(400, deadline=AMPLE)).seconds(work, growth) == pytest.approx(4**growth)


def test_what_takes_more_than_its_share_is_left_out_with_what_it_would_take(clock):
    work, _ = work_of(clock, 2.0, 2.0)
    rehearsal = Rehearsal(lesson_of(400, deadline=4 + 7 / SHARE))
    assert not rehearsal.has_time_for("trees", work)
    assert rehearsal.left_out == {"trees": 8.0}


def test_the_first_time_may_load_and_compile(clock):
    work, left = work_of(clock, 2.0, 0.1)
    assert Rehearsal(lesson_of(400, deadline=4 + 7 / SHARE)).has_time_for("trees", work)
    assert not left


def test_what_is_cheap_is_tried_once(clock):
    work, left = work_of(clock, 0.1, 0.1)
    assert Rehearsal(lesson_of(400, deadline=AMPLE)).has_time_for("trees", work)
    assert len(left) == 1


def test_work_for_later_keeps_its_time(clock):
    rehearsal = Rehearsal(lesson_of(400, deadline=100.0))
    assert rehearsal.has_time_for("forest", work_of(clock, 0.4)[0], later=20)  # 32 of the 99.6 seconds left
    assert rehearsal.planned == pytest.approx(32)
    assert not rehearsal.has_time_for("kernel", work_of(clock, 0.4, 0.4)[0], later=20)


def test_where_time_is_up_nothing_is_tried(clock):
    clock.now = 5.0
    rehearsal = Rehearsal(lesson_of(100, deadline=4.0))
    assert not rehearsal.has_time_for("trees", pytest.fail)
    assert rehearsal.left_out == {"trees": math.inf}


# Of a whole fit ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("effort", ["low", "medium", "high"])
def test_with_time_for_everything_a_budget_changes_nothing(effort):
    plain, timed = (quick_classifier(effort=effort, heads="auto", time_budget=budget).fit(GRAPHS) for budget in (None, AMPLE))
    np.testing.assert_array_equal(plain.predict_proba(GRAPHS), timed.predict_proba(GRAPHS))
    assert timed.report_.notes == plain.report_.notes


def test_what_was_left_out_is_named():
    model = quick_classifier(effort="high", members="auto", heads="auto", training=None, time_budget=0.01).fit(GRAPHS)
    (note,) = (note for note in model.report_.notes if note.startswith("left out"))
    for name in ("colours/assignment", "colours/paths", "profiles/trees", "network/forest", "network/kernel", "densities/linear"):
        assert name in note
    assert model.ensemble_.weights.keys() == {"colours/subtree", "network/linear"}


@pytest.mark.parametrize(("members", "expected"), [("colours", "colours/subtree"), ("profiles", "profiles/trees")])
def test_a_member_alone_is_fitted_whatever_time_is_left(members, expected, tmp_path):
    model = quick_classifier(members=members, time_budget=0.01).fit(GRAPHS)
    assert model.ensemble_.weights == {expected: 1.0}
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(type(model).load(tmp_path / "model").predict_proba(GRAPHS), model.predict_proba(GRAPHS))
