"""Shares of work: complete, balanced, and errors come through."""

import numpy as np
import pytest

from phist.engine.threads import run_shares, share_out


@pytest.mark.parametrize("threads", [1, 2, 3, 10])
def test_every_position_is_in_one_share(threads):
    shares = share_out(np.random.default_rng(0).integers(0, 100, 7), threads)
    assert len(shares) == min(threads, 7)
    assert sorted(np.concatenate(shares).tolist()) == list(range(7))


def test_costs_are_balanced():
    cost = np.array([8, 1, 7, 2, 6, 3, 5, 4])
    assert [cost[share].sum() for share in share_out(cost, 2)] == [18, 18]


def test_shares_depend_on_costs_alone():
    cost = np.array([3, 3, 3, 1, 1])
    assert [share.tolist() for share in share_out(cost, 2)] == [share.tolist() for share in share_out(cost.copy(), 2)]


def test_every_share_is_worked_on_once():
    done = []
    run_shares(done.append, 4)
    assert sorted(done) == [0, 1, 2, 3]


@pytest.mark.parametrize("bad", [0, 1, 3])
def test_error_in_any_thread_comes_through(bad):
    def work(number):
        if number == bad:
            raise ValueError(f"share {number}")

    with pytest.raises(ValueError, match=f"share {bad}"):
        run_shares(work, 4)


def test_threads_work_on_after_an_error():
    with pytest.raises(ZeroDivisionError):
        run_shares(lambda number: 1 // (1 - number), 2)
    done = []
    run_shares(done.append, 2)
    assert sorted(done) == [0, 1]
