"""The verdict: one sentence that a person can act on."""

import json

import pytest

from phist.estimators.report import Report
from phist.metrics import compute_metrics


def report(right, n, floor, unlike=None):
    probabilities = [[0.8, 0.2]] * n
    metrics = compute_metrics(probabilities, [0] * right + [1] * (n - right))
    return Report(metrics, unlike, {"majority": 0.5, "degrees": floor}, 1.0, (), n, "medium", 1.0)


def test_a_model_above_the_floors_is_said_to_beat_the_best_one():
    assert report(190, 200, 0.8).verdict == "It beats the best floor, a degree histogram (80.0 %), by 15.0 points."


def test_a_model_whose_interval_contains_the_floor_does_not_beat_it():
    verdict = report(85, 100, 0.87).verdict
    assert verdict.startswith("It does not beat the best floor: the interval 77 to 91 contains 87.0, so a degree histogram would")


def test_a_model_below_the_floor_is_not_to_be_used():
    assert "do not use it" in report(100, 200, 0.8).verdict


def test_few_graphs_are_named_as_the_reason():
    assert "with 20 graphs no more can be said" in report(16, 20, 0.8).verdict


def test_look_alikes_are_mentioned_where_they_matter():
    assert any("look like no other" in line for line in report(190, 200, 0.8, unlike=0.7).lines())
    assert not any("look like no other" in line for line in report(190, 200, 0.8, unlike=0.95).lines())


def test_a_report_is_plain_json():
    content = json.loads(json.dumps(report(190, 200, 0.8).to_dict(), allow_nan=False))
    assert content["best_floor"] == "degrees"
    assert content["metrics"]["accuracy"] == pytest.approx(0.95)
