import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from phist.evaluation.compact import columns_of, pack_probabilities, plain, rows_of, unpack_probabilities

cells = st.one_of(st.none(), st.booleans(), st.integers(-(10**6), 10**6), st.text(max_size=3))
tables = st.integers(1, 3).flatmap(lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), max_size=6))


@given(tables)
def test_rows_come_back_from_columns(values):
    rows = [dict(zip("abc", row, strict=False)) for row in values]
    columns = json.loads(json.dumps(columns_of(rows)))
    assert rows_of(columns) == rows


@pytest.mark.parametrize("value", [lambda number: number, lambda number: 7 - 2 * number, lambda number: 0.001, lambda number: None])
def test_columns_that_count_or_stay_alike_take_no_room(value):
    rows = [{"epoch": value(number)} for number in range(600)]
    assert len(json.dumps(columns_of(rows))) < 60
    assert rows_of(columns_of(rows)) == rows


def test_a_value_that_a_row_lacks_comes_back_as_none():
    assert rows_of(columns_of([{"a": 1}, {"b": 2}])) == [{"a": 1, "b": None}, {"a": None, "b": 2}]


@given(st.integers(2, 6).flatmap(lambda n: arrays(float, (5, n), elements=st.floats(0.001, 1))))
def test_probabilities_keep_five_digits(shares):
    probabilities = shares / shares.sum(axis=1, keepdims=True)
    packed = json.loads(json.dumps(pack_probabilities(probabilities)))
    assert np.abs(unpack_probabilities(packed, 5) - probabilities).max() < 1e-4 / 2


def test_probabilities_that_five_digits_would_merge_keep_their_order():
    scores = 0.27 + 1e-7 * np.random.default_rng(0).permutation(400)
    packed = json.loads(json.dumps(pack_probabilities(np.stack([1 - scores, scores], axis=1))))
    assert (unpack_probabilities(packed, 400)[:, 1].argsort() == scores.argsort()).all()


def test_probabilities_that_five_digits_keep_apart_take_no_more():
    scores = np.random.default_rng(0).uniform(size=400)
    packed = pack_probabilities(np.stack([1 - scores, scores], axis=1))
    assert isinstance(packed, list) and max(packed[0]) <= 10**5


def test_equal_probabilities_take_five_digits():
    assert isinstance(pack_probabilities(np.full((400, 2), 0.5)), list)


def test_no_probabilities_come_back_as_none():
    assert unpack_probabilities(pack_probabilities(np.empty((0, 3))), 0).shape == (0, 3)


def test_anything_becomes_json():
    odd = {1: np.int64(3), "array": np.arange(2), "inf": float("inf"), "object": object, "set": {1}, "none": None}
    assert json.loads(json.dumps(plain(odd), allow_nan=False))["array"] == [0, 1]
