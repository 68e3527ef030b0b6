"""Bounds: with PHIST_CHECK_BOUNDS set, whatever goes past the end of a view, an array or an arena is an error."""

import os
import subprocess
import sys

import pytest

START = """
import numpy as np
from phist.engine.arena import make_arena, take_floats, take_integers
from phist.engine.jit import compiled, inner
from phist.engine.simd import LANES, add_wide, broadcast, load, load_flat, single, splat, store, store_flat
from phist.engine.views import matrix, stretch, rows_of
from phist.jit.checks import CHECKS_BOUNDS

assert CHECKS_BOUNDS
arena = make_arena([64, 8, 32, 1], np.zeros(0, np.int64))
"""
CASES = {
    "an arena's end, floats": ("take_floats(arena, 48); take_floats(arena, 32)", "more is taken"),
    "an arena's end, integers": ("take_integers(arena, 9)", "more is taken"),
    "a view's end, one number": ("view = take_integers(arena, 3); view[3] = 1", "out of bounds"),
    "a view's beginning": ("view = take_integers(arena, 3); view[view.n - 4] = 1", "out of bounds"),
    "a view's end, a vector": ("store(matrix(arena.floats, 0, 2, 16), 2, 0, splat(single(1.0)))", "out of bounds"),
    "a vector that is read": ("load(matrix(arena.floats, 0, 2, 16), 1, 8)", "out of bounds"),
    "a number that is read": ("broadcast(stretch(arena.floats, 0, 5), 5)", "out of bounds"),
    "a flat array's end": ("store_flat(arena.floats, 56, load_flat(arena.floats, 0))", "out of bounds"),
    "doubles": ("add_wide(stretch(arena.doubles, 16, 16), 8, splat(single(1.0)))", "out of bounds"),
    "the view of a view": ("stretch(stretch(arena.floats, 0, 20), 10, 11)", "out of bounds"),
    "the rows of a view": ("rows_of(matrix(arena.floats, 0, 2, 16), 1, 2)", "out of bounds"),
    "an array's end": ("arena.tops[3] = 1", "out of bounds"),
}
FINE = (
    "view = take_floats(arena, 20); store_flat(view, 16, load_flat(view, 0)); view[19] = 1; rows_of(matrix(view, 0, 1, 20), 1, 0)"
)


def run_checked(statements):
    """A process of its own: whether bounds are checked is decided when the engine is imported."""
    program = f"{START}\n@compiled\ndef overrun(arena):\n    {statements}\n\noverrun(arena)\n"
    environment = {**os.environ, "PHIST_CHECK_BOUNDS": "1"}
    return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("what", CASES)
def test_whatever_goes_past_its_end_is_an_error(what):
    statements, message = CASES[what]
    run = run_checked(statements)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith("IndexError: ")
    assert message in run.stderr.splitlines()[-1]


def test_what_stays_within_is_none():
    run = run_checked(FINE)
    assert run.returncode == 0, run.stderr
