import asyncio
import threading

import pytest

from phist.graphs.generate import make_trees
from phist.serving.batching import Batcher
from phist.serving.limits import OverloadedError

GRAPHS = make_trees(6, n_nodes=5, seed=0)


def sizes(calls):
    def compute(graphs):
        calls.append(len(graphs))
        return graphs.ids.tolist()

    return compute


async def together(batcher, parts):
    return await asyncio.gather(*(batcher.ask(part) for part in parts), return_exceptions=True)


def test_requests_that_wait_together_are_computed_together():
    calls = []
    answers = asyncio.run(together(Batcher(sizes(calls), 1_000, 10), [GRAPHS[:1], GRAPHS[1:3], GRAPHS[3:]]))
    assert answers == [[0], [1, 2], [3, 4, 5]]
    assert calls == [6]


def test_a_pass_has_no_more_nodes_than_it_may():
    calls = []
    asyncio.run(together(Batcher(sizes(calls), 12, 10), [GRAPHS[:1], GRAPHS[1:2], GRAPHS[2:3], GRAPHS[3:]]))
    assert calls == [2, 1, 3]


def test_one_request_more_than_may_wait_is_refused():
    answers = asyncio.run(together(Batcher(sizes([]), 1_000, 2), [GRAPHS[:1], GRAPHS[1:2], GRAPHS[2:3]]))
    assert answers[:2] == [[0], [1]]
    assert isinstance(answers[2], OverloadedError)


def test_a_failure_is_told_to_all_who_wait_and_the_next_request_is_answered():
    failing = [True]

    def compute(graphs):
        if failing.pop() if failing else False:
            raise ArithmeticError("no")
        return graphs.ids.tolist()

    async def ask():
        batcher = Batcher(compute, 1_000, 10)
        first = await together(batcher, [GRAPHS[:1], GRAPHS[1:2]])
        return first, await batcher.ask(GRAPHS[2:3])

    first, second = asyncio.run(ask())
    assert [type(one) for one in first] == [ArithmeticError, ArithmeticError]
    assert second == [2]


def test_somebody_who_has_gone_does_not_stop_the_others():
    gate = threading.Event()

    def compute(graphs):
        gate.wait(10)
        return graphs.ids.tolist()

    async def ask():
        batcher = Batcher(compute, 1_000, 10)
        gone, stays = asyncio.create_task(batcher.ask(GRAPHS[:1])), asyncio.create_task(batcher.ask(GRAPHS[1:2]))
        await asyncio.sleep(0.01)
        gone.cancel()
        gate.set()
        return await stays

    assert asyncio.run(ask()) == [1]


def test_limits_must_be_positive():
    from phist.errors import ConfigError
    from phist.serving.limits import Limits

    with pytest.raises(ConfigError, match="nodes=0"):
        Limits(nodes=0)
