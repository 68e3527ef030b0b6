import numpy as np
import pytest

from phist.checks import finite_number, text_value, truth_value, whole_number
from phist.errors import ConfigError


@pytest.mark.parametrize("value", [1, np.int64(1), np.uint8(1), 10**30])
def test_whole_numbers_come_back_as_plain_ones(value):
    assert type(whole_number("count", value, least=1)) is int


@pytest.mark.parametrize("value", [0, 101, 1.0, True, np.True_, "1", None, [1], float("nan")])
def test_what_is_no_whole_number_in_range_is_refused(value):
    with pytest.raises(ConfigError, match=r"count=.*a whole number of at least 1 and at most 100 is needed"):
        whole_number("count", value, least=1, most=100)


@pytest.mark.parametrize("value", [1, 2.5, np.float32(0.5), np.int64(3)])
def test_numbers_come_back_as_they_are(value):
    assert finite_number("rate", value, least=0) == value


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), 10**400, "1", None, True, 1j, 8])
def test_what_is_no_finite_number_in_range_is_refused(value):
    with pytest.raises(ConfigError, match="rate="):
        finite_number("rate", value, least=0, most=7)


def test_a_bound_may_be_excluded():
    with pytest.raises(ConfigError, match="a finite number above 0 is needed"):
        finite_number("rate", 0, least=0, above=True)


@pytest.mark.parametrize("value", [True, np.False_])
def test_truth_values_come_back(value):
    assert truth_value("flag", value) is bool(value)


@pytest.mark.parametrize("value", [1, "yes", None, 0.0])
def test_what_is_neither_true_nor_false_is_refused(value):
    with pytest.raises(ConfigError, match="flag="):
        truth_value("flag", value)


def test_what_is_no_text_is_refused():
    assert text_value("name", "x") == "x"
    with pytest.raises(ConfigError, match="name=3"):
        text_value("name", 3)
