"""What a fit leaves out or approximates is in its report."""

import pytest

from phist import StructuralClassifier
from phist.estimators.members import colours, network, profiles
from phist.graphs.generate import make_planted_partitions

GRAPHS = make_planted_partitions(24, seed=0)


def notes_of(*members):
    model = StructuralClassifier("low", random_state=0, members=members, heads=("linear", "kernel"), training={"epochs": 2})
    return " ".join(model.fit(GRAPHS).report_.notes)


def test_a_fit_that_leaves_nothing_out_says_so_of_its_one_part_only():
    assert notes_of("network", "colours", "profiles") == "one part of 5 was held out; the estimate rests on it alone"


@pytest.mark.parametrize(
    ("module", "limit", "value", "member", "words"),
    [
        (network, "MOST_GRAPHS", 10, "network", "the kernel head compares with 10 of the 24 graphs"),
        (colours, "MOST_PAIRS", 1, "colours", "colours of pairs of nodes were refined 1 instead of 5 times"),
        (profiles, "MOST_NODES", 1, "profiles", "eigenvalues of 24 graphs"),
        (profiles, "MOST_WORK", 1, "profiles", "edges of 24 graphs were not profiled"),
    ],
)
def test_what_is_too_large_is_named(monkeypatch, module, limit, value, member, words):
    monkeypatch.setattr(module, limit, value)
    assert words in notes_of(member)


def test_pairs_of_nodes_beyond_all_limits_are_left_out(monkeypatch):
    monkeypatch.setattr(colours, "MOST_PAIRS", 1)
    monkeypatch.setattr(colours, "MOST_PLAIN_PAIRS", 1)
    assert "colours of pairs of nodes were left out" in notes_of("colours")
