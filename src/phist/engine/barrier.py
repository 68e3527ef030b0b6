"""How threads that compute together tell each other where they are: numbers in shared memory, watched while waiting.

A thread that sleeps takes a tenth of a millisecond to wake, perhaps on the wrong core, and twice a step that is most of a
small step's time. So whoever waits watches for a moment first, in compiled code, where it does not hold up the interpreter.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import address_of_symbol
from numba import types
from numpy.typing import NDArray

from phist.engine.vectors import cycles, inner, intrinsic

APART = 16  # numbers from one cell to the next, so that no two share a line of a cache
HELPER_WATCHES = 4_000_000  # processor cycles, some milliseconds: longer than what lies between two steps
LEADER_WATCHES = 1_000_000
CYCLES_A_LOOK = 10  # at least
MEETING_WATCHES = 1_000_000  # shares may differ by some tenths of a millisecond; then naps, to leave the core to others
NAP = 20  # microseconds
NEVER_WAIT = 1 << 62  # in a thread's cell: nobody has to wait for it any more


def make_signals(threads: int) -> NDArray[np.int64]:
    """Cells of the leader, with the latest round announced, of each helper, with the latest it has finished, and then one of
    each thread with the meetings it has come to in this round.
    """
    return np.zeros(2 * threads * APART, np.int64)


def open_meetings(signals: NDArray[np.int64]) -> None:
    """Before a round, while all helpers rest."""
    signals[len(signals) // 2 :] = 0


def excuse(signals: NDArray[np.int64], number: int) -> None:
    """A thread that failed comes to no meeting of this round."""
    signals[len(signals) // 2 + number * APART] = NEVER_WAIT


def _cell(context: Any, builder: Any, array_type: Any, array: Any, number: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [builder.mul(number, ir.Constant(ir.IntType(64), APART))])


@intrinsic
def _look(typing_context: Any, signals: Any, number: Any) -> Any:
    """A cell as it is in memory now, and all that was written before it was set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_cell(context, builder, signature.args[0], *arguments), "acquire", 8)

    return types.int64(signals, types.int64), generate


@intrinsic
def _set(typing_context: Any, signals: Any, number: Any, value: Any) -> Any:
    """Set a cell for others to see, after all that was written before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        signals, number, value = arguments
        builder.store_atomic(value, _cell(context, builder, signature.args[0], signals, number), "release", 8)
        return context.get_dummy_value()

    return types.void(signals, types.int64, types.int64), generate


@intrinsic
def take_next(typing_context: Any, counters: Any, number: Any) -> Any:
    """What a counter says, and count on: no two threads get the same."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [arguments[1]]), ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(counters, types.int64), generate


@inner
def n_threads_of(signals: Any) -> int:
    threads: int = len(signals) // (2 * APART)
    return threads


@inner
def _stay_awake(microseconds: int) -> None:
    """Where there is no such call: the system takes the core away by itself, only later."""


_sleep: Any = types.ExternalFunction("usleep", types.int32(types.uint32)) if address_of_symbol("usleep") else _stay_awake


@inner
def _watch(signals: Any, number: int, value: int, limit: int) -> None:
    """Until the cell has ``value`` or more, or so many cycles have passed; not every processor shows its clock, hence the looks."""
    begin, looks = cycles(), 0
    while _look(signals, number) < value and cycles() - begin < limit and looks < limit // CYCLES_A_LOOK:
        looks += 1


@inner
def begin_share(signals: Any, number: int, this_round: int) -> None:
    """The leader's announcement that the round has begun; from here on the interpreter is free for others."""
    if number == 0:
        _set(signals, number, this_round)


@inner
def end_share(signals: Any, number: int, this_round: int) -> None:
    """Tell the leader, and wait for the next round if it comes soon; the leader waits for the others if they are nearly done."""
    if number:
        _set(signals, number, this_round)
        _watch(signals, 0, this_round + 1, HELPER_WATCHES)
    else:
        for other in range(1, n_threads_of(signals)):
            _watch(signals, other, this_round, LEADER_WATCHES)


@inner
def meet(signals: Any, number: int, meeting: int) -> None:
    """Wait until all threads have come to the round's meeting of this number, counted from one."""
    threads = n_threads_of(signals)
    _set(signals, threads + number, meeting)
    for other in range(threads):
        _watch(signals, threads + other, meeting, MEETING_WATCHES)
        while _look(signals, threads + other) < meeting:
            _sleep(NAP)
