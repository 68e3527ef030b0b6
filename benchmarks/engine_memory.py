"""The most memory this process has held, from a moment on."""

import resource
import sys
from pathlib import Path

PROCESS = Path("/proc/self")  # Linux only; elsewhere a peak cannot be reset


def peak_memory() -> int:
    """The most bytes since the last `reset_peak`.

    Linux hands the peak of a parent down to its children in ``ru_maxrss``, so its own account is read where there is one.
    """
    if (PROCESS / "status").exists():
        fields = dict(line.split(":", 1) for line in (PROCESS / "status").read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def reset_peak() -> int:
    """Forget earlier peaks, where the system allows it; the bytes to count from."""
    if (PROCESS / "clear_refs").exists():
        (PROCESS / "clear_refs").write_text("5")
    return peak_memory()
