from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phist.report.svg import MAX_TICKS, Scale, linear_scale, log_scale, short, tag, words

NUMBERS = st.floats(-1e4, 1e4, allow_subnormal=False)
SECONDS = st.floats(1e-4, 1e5)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_any_text_survives_as_text_and_as_attribute(text):
    element = ElementTree.fromstring(tag("text", words(text), data_value=text))
    assert (element.text or "") == text
    assert element.get("data-value") == text
    assert len(element) == 0


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_a_linear_scale_holds_its_values(values):
    scale = linear_scale(values, 10, 90)
    assert all(10 < scale(value) < 90 for value in values)


@given(st.lists(SECONDS, min_size=1, max_size=8))
def test_a_logarithmic_scale_holds_its_values(values):
    scale = log_scale(values, 10, 90)
    assert all(10 < scale(value) < 90 for value in values)


@given(st.lists(NUMBERS, min_size=2, max_size=8))
def test_ticks_are_few_and_within_the_scale(values):
    scale = linear_scale(values, 0, 100)
    ticks = scale.ticks()
    assert 1 <= len(ticks) <= MAX_TICKS + 1
    assert all(scale.low <= tick <= scale.high for tick in ticks)


@given(st.lists(SECONDS, min_size=2, max_size=8))
def test_logarithmic_ticks_are_few_and_positive(values):
    scale = log_scale(values, 0, 100)
    ticks = scale.ticks()
    assert 1 <= len(ticks) <= MAX_TICKS + 2
    assert all(tick > 0 and -1e-9 <= scale(tick) <= 100 + 1e-9 for tick in ticks)


def test_ticks_are_round():
    assert Scale(61, 89, 0, 1).ticks() == [65, 70, 75, 80, 85]
    assert Scale(0.05, 300, 0, 1, logarithmic=True).ticks() == [0.1, 1, 10, 100]


@pytest.mark.parametrize(("value", "text"), [(0.1, "0.1"), (12.0, "12"), (1234.5, "1,234"), (72.5, "72.5")])
def test_numbers_are_short(value, text):
    assert short(value) == text
