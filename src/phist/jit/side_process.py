"""A second process that compiles beside this one.

Numba types and lowers in Python, on one core. A second core is of use to a second process only, which has to be given something
that nothing else waits for: a unit (`linking`). It is told through its standard input what to compile, keeps the code on disk as
every process does, and answers nothing: who asked for a unit looks for it on disk, and compiles it where it never comes, whether
the process could not be started, was killed, found no room, or hangs.
"""

import gc
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from phist.cores import usable_cores

MOST_SECONDS = 120  # to wait for a unit; one takes about six on an idle core
LOOK_AFTER = 0.02  # seconds
GARBAGE = 100_000  # objects that are made between two looks for garbage
_PROGRAM = "import sys; sys.path[:] = {path!r}; from phist.jit.side_process import serve; serve()"


class SideProcess:
    """A process that compiles what it is asked to, one after the other; without one, nobody waits for anything."""

    def __init__(self) -> None:
        self._process = _start()
        self._asked: set[tuple[Any, Any]] = set()

    def ask(self, unit: Any, types: Any) -> None:
        """Have a function compiled for arguments of such types."""
        if self._process is None or self._process.stdin is None:
            return
        with suppress(OSError):  # it is gone
            pickle.dump((unit.__module__, unit.__qualname__, types), self._process.stdin)
            self._process.stdin.flush()
            self._asked.add((unit, types))

    def wait_for(self, unit: Any, types: Any) -> None:
        """Until the code is on disk, if it was asked for such types; it may be missing all the same."""
        until = time.monotonic() + MOST_SECONDS
        while (unit, types) in self._asked and self._runs() and time.monotonic() < until:
            if unit._cache.is_compiled(unit.targetctx.codegen()):
                return
            time.sleep(LOOK_AFTER)

    def _runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def end(self) -> None:
        """Whatever it is doing: what is not on disk yet is not needed any more."""
        if self._process is not None:
            self._process.kill()
            with suppress(OSError):  # what was written to it and never read
                self._process.communicate()


def _start() -> "subprocess.Popen[bytes] | None":
    """Nothing where it would only take this process's time, or where another program has Python in it: it would start itself."""
    if usable_cores() < 2 or not Path(sys.executable or "").name.lower().startswith("python"):
        return None
    call, nowhere = [sys.executable, "-c", _PROGRAM.format(path=sys.path)], subprocess.DEVNULL
    no_window = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # of Windows
    with suppress(OSError):
        return subprocess.Popen(call, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, creationflags=no_window)
    return None


@contextmanager
def compiling_beside(first: Any, units: dict[Any, Callable[[Any], Any]]) -> Iterator[None]:
    """A second process compiles units, one after the other, from the moment on that this one looks for the code of ``first``.

    Args:
        units: with the types of their arguments, given those of ``first``.
    """
    process = SideProcess()

    def ask(types: Any) -> None:
        for unit, types_of_unit in units.items():
            process.ask(unit, types_of_unit(types))

    try:
        with ExitStack() as stack:
            stack.enter_context(rare_garbage_collection())
            stack.enter_context(_looking_up(first, ask))
            for unit in units:
                stack.enter_context(_looking_up(unit, partial(process.wait_for, unit)))
            yield
    finally:
        process.end()


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """A compiler makes many objects and keeps them: looking through all of them again and again takes an eighth of its time."""
    before = gc.get_threshold()
    gc.set_threshold(GARBAGE, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _looking_up(function: Any, do: Callable[[Any], None]) -> Iterator[None]:
    """Have something done before the code of a function is looked for on disk, as it is before it is compiled."""
    cache = function._cache
    load = cache.load_overload

    def load_overload(types: Any, target_context: Any) -> Any:
        do(types)
        return load(types, target_context)

    cache.load_overload = load_overload
    try:
        yield
    finally:
        del cache.load_overload


def serve() -> None:
    """Compile what standard input asks for, until it ends, as it does when the process that asks ends."""
    with rare_garbage_collection(), suppress(EOFError):
        while True:
            module, name, types = pickle.load(sys.stdin.buffer)
            getattr(import_module(module), name).compile(types)
