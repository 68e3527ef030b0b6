"""A second process that compiles beside this one.

Numba types and lowers in Python, on one core. A second core is of use to a second process only, which has to be given something
that nothing else waits for: a unit (`linking`), or a function that Python calls later. It is told through its standard input what
to compile, keeps the code on disk as every process does, and answers nothing: who asked for code looks for it on disk, and
compiles it where it never comes, whether the process could not be started, was killed, found no room, or hangs.
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

MOST_SECONDS = 120  # to wait for a unit; the longest takes about eight on an idle core
LOOK_AFTER = 0.02  # seconds
GARBAGE = 100_000  # objects that are made between two looks for garbage
Functions = dict[Any, Callable[[Any], Any]]
_PROGRAM = "import sys; sys.path[:] = {path!r}; from phist.jit.side_process import serve; serve({module!r})"


class SideProcess:
    """A process that compiles what it is asked to, one after the other; without one, nobody waits for anything.

    Args:
        module: of what it will be asked for, which it imports meanwhile.
    """

    def __init__(self, module: str) -> None:
        self._process = _start(module)
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
        while (unit, types) in self._asked and self._runs() and not unit._cache.is_compiled(unit.targetctx.codegen()):
            if time.monotonic() > until:
                self.end()  # so that nobody waits for anything else
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


def _start(module: str) -> "subprocess.Popen[bytes] | None":
    """Nothing where it would only take this process's time, or where another program has Python in it: it would start itself."""
    if usable_cores() < 2 or not Path(sys.executable or "").name.lower().startswith("python"):
        return None
    call, nowhere = [sys.executable, "-c", _PROGRAM.format(path=sys.path, module=module)], subprocess.DEVNULL
    no_window = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # of Windows
    with suppress(OSError):
        return subprocess.Popen(call, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, creationflags=no_window)
    return None


@contextmanager
def compiling_beside(first: Any, beside: Functions, here: Functions) -> Iterator[None]:
    """Two processes compile: they begin when this one looks for the code of ``first``.

    Args:
        beside: what the second process compiles, one after the other, and how the types of ``first`` tell those of its arguments.
        here: what this one compiles meanwhile, likewise.
    """
    process = SideProcess(first.__module__)

    def before_looking_up(function: Any, types: Any) -> None:
        if function is first:
            for unit, types_of in beside.items():
                process.ask(unit, types_of(types))
            for own, types_of in here.items():
                own.compile(types_of(types))
        process.wait_for(function, types)

    try:
        with ExitStack() as stack:
            stack.enter_context(rare_garbage_collection())
            for function in {first, *beside}:
                stack.enter_context(_looking_up(function, partial(before_looking_up, function)))
            yield
    finally:
        process.end()


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """A compiler makes many objects and keeps them: looking through all of them again and again takes an eighth of its time.

    What was there before is not looked through at all; unless somebody else has seen to that, and says when it ends.
    """
    before, is_ours = gc.get_threshold(), gc.get_freeze_count() == 0
    gc.set_threshold(GARBAGE, *before[1:])
    if is_ours:
        gc.freeze()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if is_ours:
            gc.unfreeze()


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


def serve(module: str) -> None:
    """Compile what standard input asks for, until it ends, as it does when the process that asks ends."""
    with rare_garbage_collection(), suppress(EOFError):
        import_module(module)
        gc.freeze()
        while True:
            module, name, types = pickle.load(sys.stdin.buffer)
            getattr(import_module(module), name).compile(types)
