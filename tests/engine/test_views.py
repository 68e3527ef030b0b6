"""Views: the numbers of the array they are parts of; handles: the fields of their named tuple."""

from typing import NamedTuple

import numba
import numpy as np

from phist.engine.views import handle_of, matrix, rows_of, stretch, value_of


class Inside(NamedTuple):
    """What lies in an outer tuple."""

    values: np.ndarray
    factor: float


class Outside(NamedTuple):
    """A tuple with another in it."""

    inside: Inside
    number: int


@numba.njit
def copy_of(view, result):
    for number in range(view.n * view.width):
        result[number] = view[number]
    return view.n, view.width


@numba.njit
def copy_matrix(values, begin, n, width, result):
    return copy_of(matrix(values, begin, n, width), result)


@numba.njit
def copy_part_of_rows(values, result):
    return copy_of(stretch(rows_of(matrix(values, 2, 5, 4), 1, 2), 3, 4), result)


@numba.njit
def write(values, at, value):
    view = stretch(values, 1, 3)
    view[at] = value


@numba.njit
def index_with(integers, values):
    view = stretch(integers, 0, 2)
    return values[view[0] * 10**10 // 10**10 + view[1]]


@numba.njit
def scale(handle):
    inside = handle.inside
    values = inside.values
    for number in range(len(values)):
        values[number] *= inside.factor
    return handle.number + len(value_of(inside).values)


@numba.njit
def scaled(outside):
    return scale(handle_of(outside))


def test_matrix_has_the_numbers_from_its_first_on():
    result = np.zeros(6)
    assert copy_matrix(np.arange(20.0), 7, 2, 3, result) == (2, 3)
    assert result.tolist() == [7, 8, 9, 10, 11, 12]


def test_views_of_views_count_from_their_own_first_number():
    result = np.zeros(4)
    assert copy_part_of_rows(np.arange(30.0), result) == (4, 1)
    assert result.tolist() == [9, 10, 11, 12]  # rows 1 and 2 begin at 6; their third number is 9


def test_what_is_written_to_a_view_is_in_the_array():
    values = np.zeros(5, np.float32)
    write(values, 2, 7.0)
    assert values.tolist() == [0, 0, 0, 7, 0]


def test_integers_of_views_have_room_for_products_of_indices():
    assert index_with(np.array([3, 1], np.int32), np.arange(9)) == 4


def test_handle_has_the_fields_of_its_tuple_and_of_those_inside():
    values = np.arange(4.0)
    assert scaled(Outside(Inside(values, 2.0), 5)) == 9
    assert values.tolist() == [0, 2, 4, 6]
