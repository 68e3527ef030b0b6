from dataclasses import replace
from pathlib import Path

import pytest

from phist.evaluation.cell import SCHEMA, Cell

CELL = Cell("wl-subtree", "MUTAG", "f00d", "paper", fold=3, seed=0, options={"rounds": [1, 2], "C": 1.0})


@pytest.mark.parametrize(
    "change",
    [
        {"method": "ldp"},
        {"dataset": "DD"},
        {"fingerprint": "beef"},
        {"protocol": "fair"},
        {"fold": 4},
        {"seed": 1},
        {"repeat": 1},
        {"no_duplicates": True},
        {"labelled": 100},
        {"tested": 100},
        {"options": {"rounds": [1, 2], "C": 2.0}},
        {"schema": SCHEMA + 1},
    ],
)
def test_whatever_decides_the_result_decides_the_hash(change):
    assert replace(CELL, **change).hash != CELL.hash


@pytest.mark.parametrize("change", [{"label": "ours"}, {"source": Path("elsewhere")}])
def test_names_and_places_do_not_decide_the_hash(change):
    assert replace(CELL, **change).hash == CELL.hash


def test_the_order_of_options_does_not_decide_the_hash():
    assert replace(CELL, options={"C": 1.0, "rounds": [1, 2]}).hash == CELL.hash


def test_the_hash_stays_the_same_for_ever():
    """Records are found by it: if this fails, raise SCHEMA and say so."""
    assert CELL.hash == "30e4db9e257493f9"


def test_a_cell_comes_back_from_its_dictionary():
    assert Cell.from_dict(CELL.to_dict()) == CELL


def test_the_label_is_the_method_unless_given():
    assert CELL.label == "wl-subtree"
    assert replace(CELL, label="wl").label == "wl"


def test_a_cell_with_a_sample_comes_back_and_says_so_in_its_column():
    sample = replace(CELL, labelled=100, tested=50)
    assert Cell.from_dict(sample.to_dict()) == sample
    assert (CELL.column, sample.column) == ("MUTAG", "MUTAG:100")
