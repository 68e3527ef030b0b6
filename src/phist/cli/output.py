"""Results into a file, or onto standard output for ``-``."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from phist.cli.output_checks import STANDARD_OUTPUT
from phist.cli.streams import check_standard_output
from phist.files import atomic_path


def is_standard_output(out: Path | None) -> bool:
    """Whether results go to standard output."""
    return out is None or str(out) == STANDARD_OUTPUT


@contextmanager
def output_path(out: Path | None) -> Iterator[Path]:
    """Yield a path to write to; on success the content is at ``out``, or on standard output for ``None`` and ``-``."""
    if out is not None and not is_standard_output(out):
        with atomic_path(out) as temporary:
            yield temporary
        return
    check_standard_output()
    with TemporaryDirectory(prefix="phist-") as folder:
        temporary = Path(folder) / "output"
        yield temporary
        sys.stdout.flush()
        with temporary.open("rb") as content:
            shutil.copyfileobj(content, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def write_text(out: Path | None, text: str) -> None:
    """Write ``text`` as UTF-8, whatever the terminal's encoding is, so that it is the same everywhere."""
    with output_path(out) as path:
        path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
