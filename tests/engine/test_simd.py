"""Vectors: elementary functions against numpy in double precision, and when compiled code is out of date."""

from hashlib import sha256
from pathlib import Path

import numba
import numpy as np
import pytest

from phist.engine import budget, simd, statistics, worker
from phist.engine.simd import LANES, elu, exp, half_sine, load_flat, square_root, store_flat, tanh
from phist.jit import code_cache
from phist.jit.checks import CHECKS_BOUNDS

FUNCTIONS = {"exp": 0, "elu": 1, "tanh": 2, "half_sine": 3, "square_root": 4}


@numba.njit
def apply(which, x, y):
    for at in range(0, len(x), LANES):
        value = load_flat(x, at)
        if which == 0:
            value = exp(value)
        elif which == 1:
            value = elu(value)
        elif which == 2:
            value = tanh(value)
        elif which == 3:
            value = half_sine(value)
        else:
            value = square_root(value)
        store_flat(y, at, value)


def at(name, x):
    x = np.resize(np.asarray(x, np.float32), -(-len(x) // LANES) * LANES)
    y = np.empty_like(x)
    apply(FUNCTIONS[name], x, y)
    return x.astype(np.float64), y.astype(np.float64)


def test_exp_is_right_to_the_last_digits():
    x, y = at("exp", np.linspace(-86.9, 87.9, 20001))
    assert (abs(y - np.exp(x)) / np.exp(x)).max() < 2e-7


def test_exp_is_tiny_below_its_range_and_finite_above():
    assert at("exp", [-1e30, -100.0])[1].max() < 1e-37
    above = at("exp", [89.0, 1e30])[1]
    assert np.isfinite(above).all() and above.min() > 1e38


def test_elu_is_right_near_zero_and_far_from_it():
    steps = np.concatenate([np.linspace(-90, 20, 20001), [-1e30, -1e-30, 0.0, 1e-30, 1e30], -np.logspace(-12, 1, 500)])
    x, y = at("elu", steps)
    expected = np.where(x > 0, x, np.expm1(np.minimum(x, 0)))
    assert (abs(y - expected) / np.maximum(abs(expected), 1e-37)).max() < 3e-7


def test_tanh_is_right_everywhere():
    x, y = at("tanh", np.concatenate([np.linspace(-12, 12, 20001), [-1e30, 1e30, 0.0]]))
    assert abs(y - np.tanh(x)).max() < 3e-7


def test_tanh_is_right_relatively_near_zero():
    x, y = at("tanh", np.logspace(-10, -1, 500))
    assert (abs(y - np.tanh(x)) / np.tanh(x)).max() < 5e-7


def test_tanh_stays_within_one_but_for_rounding():
    _, y = at("tanh", np.linspace(3, 30, 20001))
    assert abs(y).max() <= 1 + 2e-7


def test_square_root_is_right_to_the_last_digit():
    x, y = at("square_root", np.concatenate([[0.0], np.logspace(-37, 38, 1000)]))
    np.testing.assert_array_equal(y, np.sqrt(x.astype(np.float32)))


def test_half_sine_is_right_on_its_range():
    x, y = at("half_sine", np.linspace(-1, 1, 20001))
    assert abs(y - np.sin(np.pi / 2 * x)).max() < 2e-7


@pytest.mark.parametrize("name", ["exp", "elu", "tanh"])
def test_what_is_not_a_number_stays_so(name):
    assert np.isnan(at(name, [np.nan] * LANES)[1]).all()


# Compiled code --------------------------------------------------------------------------------------------------------


def test_digest_is_that_of_all_sources_of_the_engine_and_of_how_they_are_compiled():
    folders = (Path(code_cache.__file__).parent, Path(simd.__file__).parent)
    sources = [path.read_bytes() for folder in folders for path in sorted(folder.glob("*.py"))]
    assert sha256(b"".join(sources) + b"checked" * CHECKS_BOUNDS).hexdigest() == worker.run_worker._cache.digest


@pytest.mark.parametrize("function", [budget.needs, worker.run_worker, statistics.fill_standardizer])
def test_compiled_code_is_out_of_date_when_a_source_changes(function, monkeypatch):
    codegen = function.targetctx.codegen()
    before = function._cache._index_key((), codegen)
    monkeypatch.setattr(function._cache, "digest", "of other sources")
    assert function._cache._index_key((), codegen) != before
