"""The process that tries the inputs: it says which one it is at, so that whoever waits knows what brought it down.

Lines on standard output are JSON: ``{"at": name}`` before an input, ``{"fault": ...}`` for one that is mishandled.
"""

import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from functools import partial
from pathlib import Path

MEMORY = 2 << 30  # that one process may take beyond what its libraries did


def main():
    inputs, seconds = json.loads(sys.stdin.readline())
    warnings.simplefilter("ignore")

    from fuzzing.catalogue import CRAFTED, FORMATS
    from fuzzing.faulty import FAULTY
    from phist.errors import PhistError

    listed = {"crafted": CRAFTED, "faulty": FAULTY}
    _limit_memory(3 * MEMORY)  # with which the libraries are loaded
    _warm_up(FORMATS, {format for format, _ in inputs} - {"faulty"})
    _limit_memory(MEMORY)
    for format, seed in inputs:
        _say(at=[format, seed])
        folder = Path(tempfile.mkdtemp(prefix="phist-fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        try:
            # SIGPROF ends the process even while compiled code runs, and counts this process's time alone.
            signal.setitimer(signal.ITIMER_PROF, seconds)
            make = listed[format][seed] if format in listed else partial(FORMATS[format], random.Random(f"{format} {seed}"))
            fault = _try(lambda make=make, folder=folder: make(folder)(), PhistError)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            shutil.rmtree(folder, ignore_errors=True)
        if fault:
            _say(fault=fault)
    _say(at=None)


def _try(call, expected):
    from fuzzing.invariants import check_message

    try:
        try:
            call()
        except expected as error:
            check_message(error)
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if "/phist/" in frame.filename] or frames
        return f"{type(error).__name__}: {str(error)[:160]} ({Path(own[-1].filename).name}:{own[-1].lineno})"
    return None


def _warm_up(formats, names):
    """Import and compile what the inputs need, before memory and time are counted."""
    from phist import as_graphset, check_graphs

    if names:
        check_graphs(as_graphset([(size, [(i, i + 1) for i in range(size - 1)]) for size in range(1500, 1504)], [0, 0, 1, 1]))
    crafted = "crafted" in names  # inputs of any format
    for name in sorted(formats if crafted else names):
        for seed in range(1 if crafted else 5):
            with tempfile.TemporaryDirectory(prefix="phist-fuzz-") as folder:
                _try(partial(_make_and_call, formats[name], Path(folder), seed), Exception)


def _make_and_call(make, folder, seed):
    make(random.Random(f"warm {seed}"), folder)()


def _limit_memory(more):
    """Let the process take so many bytes beyond those it has."""
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (taken + more, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _say(**content):
    print(json.dumps(content), flush=True)


if __name__ == "__main__":
    main()
