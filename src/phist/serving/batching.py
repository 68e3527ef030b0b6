"""Requests that wait at the same time are computed together: a pass over many graphs costs little more than over one."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

from phist.graphs.graphset import GraphSet
from phist.serving.limits import OverloadedError

Rows = Sequence[Any]


@dataclass
class _Waiting:
    graphs: GraphSet
    answer: "asyncio.Future[Rows]"


class Batcher:
    """Calls a function of graphs for several requests at once, in one thread, in the order in which they came.

    Args:
        compute: from graphs to one answer for each.
        most_nodes: how many nodes are computed together at most; a request by itself may have more.
        most_waiting: how many requests may wait; the next is an `OverloadedError`.
    """

    def __init__(self, compute: Callable[[GraphSet], Rows], most_nodes: int, most_waiting: int) -> None:
        self._compute, self._most_nodes, self._most_waiting = compute, most_nodes, most_waiting
        self._waiting: deque[_Waiting] = deque()
        self._running: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="phist-serve")

    @property
    def waiting(self) -> int:
        """Requests that wait."""
        return len(self._waiting)

    async def ask(self, graphs: GraphSet) -> Rows:
        """One answer for each of these graphs."""
        if len(self._waiting) >= self._most_waiting:
            raise OverloadedError(f"{self._most_waiting} requests are waiting already; try again in a second")
        request = _Waiting(graphs, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._work())
        return await request.answer

    async def _work(self) -> None:
        while self._waiting:
            batch = self._take()
            try:
                graphs = GraphSet.concatenate([request.graphs for request in batch])
                rows = await asyncio.get_running_loop().run_in_executor(self._thread, self._compute, graphs)
            except Exception as error:
                for request in batch:
                    _answer(request, error)
            else:
                answers = iter(rows)
                for request in batch:
                    _answer(request, list(islice(answers, len(request.graphs))))

    def _take(self) -> list[_Waiting]:
        batch = [self._waiting.popleft()]
        nodes = batch[0].graphs.n_nodes
        while self._waiting and nodes + self._waiting[0].graphs.n_nodes <= self._most_nodes:
            batch.append(self._waiting.popleft())
            nodes += batch[-1].graphs.n_nodes
        return [request for request in batch if not request.answer.cancelled()] or batch[:1]

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=True)


def _answer(request: _Waiting, answer: Rows | Exception) -> None:
    if request.answer.done():  # its client has gone
        return
    if isinstance(answer, Exception):
        request.answer.set_exception(answer)
    else:
        request.answer.set_result(answer)
