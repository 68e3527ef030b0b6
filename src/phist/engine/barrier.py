"""Barriers between threads that compute together: numbers in shared memory, and backoff for whoever waits.

A thread that sleeps takes a tenth of a millisecond to wake, perhaps on the wrong core, and twice a step that is most of a
small step's time. So whoever waits spins first, in compiled code, where it does not hold up the interpreter, and parks when
that has lasted too long. Spins are counted in looks, not in processor cycles, which not every processor shows to programs.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import address_of_symbol
from numba import types
from numpy.typing import NDArray

from phist.engine.jit import compiled, inner, intrinsic
from phist.engine.processor import pause

STRIDE = 16  # numbers from one cell to the next, so that no two share a line of a cache
# Looks before a thread parks. A look with its pause takes between 10 and 60 ns, by the processor.
WORKER_LOOKS = 60_000  # some milliseconds: longer than what lies between two rounds
LEADER_LOOKS = 15_000
BARRIER_LOOKS = 15_000  # shards may differ by some tenths of a millisecond
PARKED = 20  # microseconds, after which a parked thread looks again
ABANDONED = 1 << 62  # in a thread's cell: nobody has to wait for it any more


def make_cells(threads: int) -> NDArray[np.int64]:
    """Cells of the leader, with the latest round that has begun, of each worker, with the latest it has finished, and then
    one of each thread with the barriers it has come to in this round.
    """
    return np.zeros(2 * threads * STRIDE, np.int64)


def reset_barriers(cells: NDArray[np.int64]) -> None:
    """Before a round, while all workers rest."""
    cells[len(cells) // 2 :] = 0


def abandon(cells: NDArray[np.int64], number: int) -> None:
    """A thread that failed comes to no barrier of this round."""
    publish(cells, len(cells) // (2 * STRIDE) + number, ABANDONED)


def _address(context: Any, builder: Any, array_type: Any, array: Any, number: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [builder.mul(number, ir.Constant(ir.IntType(64), STRIDE))])


@intrinsic
def load_acquire(typing_context: Any, cells: Any, number: Any) -> Any:
    """A cell as it is in memory now, and all that was written before it was set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_address(context, builder, signature.args[0], *arguments), "acquire", 8)

    return types.int64(cells, types.int64), generate


@intrinsic
def store_release(typing_context: Any, cells: Any, number: Any, value: Any) -> Any:
    """Set a cell for others to see, after all that was written before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        cells, number, value = arguments
        builder.store_atomic(value, _address(context, builder, signature.args[0], cells, number), "release", 8)
        return context.get_dummy_value()

    return types.void(cells, types.int64, types.int64), generate


@intrinsic
def take_next(typing_context: Any, counters: Any, number: Any) -> Any:
    """What a counter says, and count on: no two threads get the same."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [arguments[1]]), ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(counters, types.int64), generate


@compiled
def publish(cells: Any, number: int, value: int) -> None:
    """Set a cell from Python."""
    store_release(cells, number, value)


@compiled
def workers_done(cells: Any, this_round: int) -> bool:
    """Whether all workers have finished a round; what they wrote in it is then seen here."""
    for number in range(1, n_threads_of(cells)):  # noqa: SIM110  # Numba compiles no generator expressions
        if load_acquire(cells, number) < this_round:
            return False
    return True


@inner
def n_threads_of(cells: Any) -> int:
    threads: int = len(cells) // (2 * STRIDE)
    return threads


@inner
def _stay_awake(time: int) -> None:
    """Where there is no such call: the system takes the core away by itself, only later."""


def _find_sleep() -> tuple[Any, int]:
    """The system's call that parks a thread, and for how long; on Windows a thread only gives way: a millisecond is its least."""
    if address_of_symbol("usleep"):
        return types.ExternalFunction("usleep", types.int32(types.uint32)), PARKED
    if address_of_symbol("Sleep"):
        return types.ExternalFunction("Sleep", types.void(types.uint32)), 0
    return _stay_awake, 0


_sleep, _SLEEP_TIME = _find_sleep()


@inner
def _spin(cells: Any, number: int, value: int, looks: int) -> bool:
    """Until the cell has ``value`` or more, or for so many looks; whether it has."""
    for _ in range(looks):
        if load_acquire(cells, number) >= value:
            return True
        pause()
    reached: bool = load_acquire(cells, number) >= value
    return reached


@inner
def begin_round(cells: Any, number: int, this_round: int) -> None:
    """The leader's announcement that the round has begun; from here on the interpreter is free for others."""
    if number == 0:
        store_release(cells, number, this_round)


@inner
def end_round(cells: Any, number: int, this_round: int) -> None:
    """Tell the leader, and wait for the next round if it comes soon; the leader waits for the others if they are nearly done."""
    if number:
        store_release(cells, number, this_round)
        _spin(cells, 0, this_round + 1, WORKER_LOOKS)
    else:
        for other in range(1, n_threads_of(cells)):
            _spin(cells, other, this_round, LEADER_LOOKS)


@inner
def wait_at_barrier(cells: Any, number: int) -> None:
    """Wait until all threads have come to the next barrier of the round."""
    threads = n_threads_of(cells)
    barrier = load_acquire(cells, threads + number) + 1
    store_release(cells, threads + number, barrier)
    for other in range(threads):
        if not _spin(cells, threads + other, barrier, BARRIER_LOOKS):
            while load_acquire(cells, threads + other) < barrier:
                _sleep(_SLEEP_TIME)
