"""What a record says of the circumstances: versions, memory, threads."""

import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from phist import __version__

SOURCES = Path(__file__).parents[1]
PACKAGES = ("torch", "numpy", "scipy", "scikit-learn", "numba", "torch_geometric", "grakel")
_MEGABYTE = 2**20


@cache
def versions() -> dict[str, str]:
    """Of phist, Python and whatever is installed of the libraries that compute.

    With them the commit that phist is at, where it has one, and the processor: libraries choose their loops by it, which decides
    the last digits of sums.
    """
    found = {"phist": __version__, **_commit(), "processor": _processor(), "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _commit() -> dict[str, str]:
    """What phist's own sources are at, where they run from a checkout: between two releases the version says little."""
    try:
        _git("ls-files", "--error-unmatch", "__init__.py")  # not so where phist is installed below somebody else's checkout
        changed = " with changes" if _git("status", "--porcelain", "--", ".") else ""
        return {"commit": _git("rev-parse", "--short=12", "HEAD") + changed}
    except (OSError, subprocess.SubprocessError):
        return {}


def _git(*words: str) -> str:
    ended = subprocess.run(["git", *words], cwd=SOURCES, capture_output=True, text=True, check=True, timeout=10)
    return ended.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):  # not Linux, or a processor that Linux has no name for
        return platform.processor() or platform.machine()


def forget_peak_memory() -> None:
    """Begin a new peak, where the system can: a worker runs many cells, and each has its own."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak_memory() -> float:
    """The most memory this process had since `forget_peak_memory`, in megabytes.

    Since its start, where that cannot be; 0 where the system does not tell.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        if sys.platform == "win32":
            return 0.0
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / _MEGABYTE if sys.platform == "darwin" else peak / 1024


@contextmanager
def limited_threads(count: int) -> Iterator[None]:
    """Keep every library that computes to ``count`` threads."""
    import numba
    import torch
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    before = torch.get_num_threads(), numba.get_num_threads()
    torch.set_num_threads(count)
    numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]  # set when it is loaded
    try:
        with threadpool_limits(count):
            yield
    finally:
        torch.set_num_threads(before[0])
        numba.set_num_threads(before[1])
