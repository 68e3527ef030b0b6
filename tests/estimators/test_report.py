"""The report of a fit: a verdict that a person can act on."""

import json
from dataclasses import replace

import numpy as np
import pytest

from phist.estimators.ensemble import Candidate
from phist.estimators.members.member import Lesson
from phist.estimators.parts import Parts
from phist.estimators.report import Report, make_report
from phist.graphs.generate import make_regular_pairs, make_trees
from phist.metrics import compute_metrics
from phist.training.loop import Examples


def report(right, n, floor=0.5, **changes):
    """Of ``n`` graphs of two classes of which so many were told right."""
    targets = np.arange(n) % 2
    answers = np.where(np.arange(n) < right, targets, 1 - targets)
    values = {
        "metrics": compute_metrics(np.where(np.eye(2)[answers], 0.9, 0.1), targets),
        "unlike": None,
        "floors": {"majority": 0.5, "sizes": 0.4, "degrees": floor},
        "ceiling": 1.0,
        "candidates": (Candidate("colours/subtree", 0.9, 0.3, 1.0, 1.0),),
        "n_graphs": n,
        "effort": "medium",
        "seconds": 1.5,
    }
    return Report(**{**values, **changes})


def test_better_than_every_floor_is_said_with_the_points():
    assert report(90, 100, floor=0.75).verdict == "It beats the best floor, a degree histogram (75.0 %), by 15.0 points."


def test_a_floor_within_the_interval_is_as_good():
    verdict = report(85, 100, floor=0.87).verdict
    assert (
        verdict == "It does not beat the best floor: the interval 77 to 91 contains 87.0, so a degree histogram does as well here."
    )


def test_few_graphs_are_said_to_be_few():
    assert report(14, 20, floor=0.7).verdict.endswith("does as well here; with 20 graphs no more can be said.")


def test_worse_than_a_floor_is_not_to_be_used():
    assert report(50, 100, floor=0.9).verdict == "It is worse than a degree histogram, which reaches 90.0 %: do not use it."


@pytest.mark.parametrize(("best", "name"), [("majority", "the majority class"), ("sizes", "numbers of nodes and edges")])
def test_the_best_floor_is_named(best, name):
    own = report(90, 100, floors={"majority": 0.1, "sizes": 0.1, "degrees": 0.1, best: 0.6})
    assert own.best_floor == best and name in own.verdict


def test_lines_have_metrics_floors_ceiling_verdict_and_notes():
    lines = report(90, 100, ceiling=0.98, notes=("mind this",)).lines()
    text = "\n".join(lines)
    for part in ("accuracy 90.0 %", "82.6 to 94.5", "100 graphs out of fold", "ROC-AUC", "log-loss", "1-WL ceiling 98.0 %"):
        assert part in text
    assert lines[-2:] == [report(90, 100).verdict, "mind this"]


def test_accuracy_on_graphs_without_twins_is_said_where_it_differs():
    own = report(90, 100)
    assert "look like no other training graph 60.0 %" in str(replace(own, unlike=0.6))
    assert "look like no other" not in str(replace(own, unlike=0.9))


def test_the_report_is_plain_json():
    own = report(90, 100, notes=("mind this",))
    values = json.loads(json.dumps(own.to_dict()))
    assert values["verdict"] == own.verdict and values["best_floor"] == "majority"
    assert values["metrics"]["accuracy"] == 0.9 and values["candidates"][0]["name"] == "colours/subtree"
    assert values["notes"] == ["mind this"]


# From a fit -------------------------------------------------------------------------------------------------------------


def lesson_of(graphs, targets, held_out=4):
    examples = Examples(graphs.with_labels(None), targets, np.ones(len(targets)))
    return Lesson(examples, 2, Parts(np.arange(len(targets)) // 2 % 4, held_out), seed=0)


def test_only_graphs_left_out_are_judged():
    graphs, targets = make_trees(16, n_nodes=8, seed=0), np.arange(16) % 2
    lesson = lesson_of(graphs, targets, held_out=1)
    asked = lesson.parts.asked
    found = make_report(lesson, np.eye(2)[targets[asked]] * 0.8 + 0.1, (), effort="low", seconds=0.123456)
    assert found.metrics.n == len(asked) == 4 and found.n_graphs == 16
    assert found.metrics.accuracy == 1 and found.seconds == 0.12


def test_twins_of_both_classes_lower_the_ceiling():
    graphs = make_regular_pairs(4, seed=0)
    targets = np.unique(graphs.labels.astype(str), return_inverse=True)[1]
    found = make_report(lesson_of(graphs, targets), np.full((8, 2), 0.5), (), effort="low", seconds=1)
    assert found.ceiling == 0.5
    assert found.unlike is None  # every graph has a twin


def test_floors_are_what_sizes_and_majority_give():
    small, large = make_trees(8, n_nodes=6, seed=0), make_trees(8, n_nodes=14, seed=1)
    graphs = type(small).concatenate([small, large]).with_labels(None)
    order = np.arange(16).reshape(2, 8).T.ravel()  # small and large in turn
    found = make_report(lesson_of(graphs[order], np.arange(16) % 2), np.full((16, 2), 0.5), (), effort="low", seconds=1)
    assert found.floors["sizes"] == 1.0 and found.floors["majority"] == 0.5
