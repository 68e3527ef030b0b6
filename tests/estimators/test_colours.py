"""The member of colours: few graphs with many features are learnt from in the space that they span."""

import numpy as np
import pytest

from phist.descriptors.colours import path_counts
from phist.estimators.members import colours
from phist.estimators.members.colours import Colours
from phist.estimators.members.member import Lesson
from phist.estimators.parts import cut_parts
from phist.graphs.generate import make_planted_partitions
from phist.training.loop import Examples


def lesson_of(n_classes):
    graphs = make_planted_partitions(40, n_nodes=14, seed=1)
    targets = np.arange(40) % n_classes if n_classes > 2 else (np.arange(40) >= 20).astype(np.int64)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 40)
    return Lesson(Examples(graphs.with_labels(None), targets, weights), n_classes, cut_parts(targets, 5, 5, 0), seed=0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_learning_in_the_span_is_learning(n_classes, monkeypatch):
    lesson, found = lesson_of(n_classes), {}
    for is_wide in (True, False):
        monkeypatch.setattr(colours, "_is_wide", lambda table, is_wide=is_wide: is_wide)
        member = Colours()
        found[is_wide] = (member.fit(lesson), member.predict_proba(lesson.graphs), member.weights)
    for wide, plain in zip(found[True], found[False], strict=True):
        for name in plain:
            np.testing.assert_allclose(wide[name], plain[name], atol=1e-5)


def test_few_graphs_with_many_features_are_wide():
    member, lesson = Colours(), lesson_of(2)
    member.rounds = {"paths": 3}
    table = member._table("paths", lesson.graphs, 2)
    assert colours._is_wide(table)
    assert not colours._is_wide(table[:, :30].tocsr())


def test_penalties_are_weakened_for_as_long_as_that_helps(monkeypatch):
    tried = []
    fit = colours._fit_weights

    def counted(rows, lesson, chosen, penalty):
        tried.append(penalty)
        return fit(rows, lesson, chosen, penalty)

    monkeypatch.setattr(colours, "_fit_weights", counted)
    lesson = lesson_of(2)
    noise = np.random.default_rng(0).integers(2, size=40)  # nothing can be learnt: the strongest penalty is the best
    Colours().fit(Lesson(Examples(lesson.graphs, noise, np.ones(40)), 2, cut_parts(noise, 5, 5, 0), seed=0))
    assert max(tried) < max(colours.PENALTIES)


def test_where_graphs_are_many_a_penalty_is_chosen_on_some_parts_and_used_on_all(monkeypatch):
    tried = []
    fit = colours._fit_weights

    def counted(rows, lesson, chosen, penalty):
        tried.append(len(chosen))
        return fit(rows, lesson, chosen, penalty)

    monkeypatch.setattr(colours, "_fit_weights", counted)
    monkeypatch.setattr(colours, "ENOUGH", 10)  # of 40 graphs in five parts: two parts
    monkeypatch.setattr(colours, "PENALTIES", (3.0,))
    monkeypatch.setattr(colours, "COUNTS", {"subtree": colours.subtree_counts})
    lesson = lesson_of(2)
    found = Colours().fit(lesson)
    assert tried == [32] * 5 + [40]
    assert np.isfinite(found["subtree"]).all()


def test_graphs_are_described_some_at_a_time_with_the_same_answers(monkeypatch):
    lesson = lesson_of(2)
    member = Colours()
    learnt = member.fit(lesson)
    found = member.predict_proba(lesson.graphs)
    described, least = [], 14 * 13 // 2 * (colours.ROUNDS + 1)

    def counted(graphs, rounds):
        described.append(len(graphs))
        return path_counts(graphs, rounds)

    monkeypatch.setattr(colours, "KEYS_AT_ONCE", 3 * least)
    monkeypatch.setitem(colours.COUNTS, "paths", counted)
    again = Colours()
    for name, own in again.fit(lesson).items():
        np.testing.assert_array_equal(own, learnt[name])
    for name, own in again.predict_proba(lesson.graphs).items():
        np.testing.assert_array_equal(own, found[name])
    assert set(described) == {3, 1} and sum(described) == 2 * len(lesson.graphs)


def test_no_graphs_have_no_probabilities():
    member, lesson = Colours(), lesson_of(3)
    member.fit(lesson)
    assert {own.shape for own in member.predict_proba(lesson.graphs[:0]).values()} == {(0, 3)}
