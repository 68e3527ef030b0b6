"""Fetching an archive, with a progress bar, so that it is whole or not there."""

from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from phist.errors import DatasetError, brief
from phist.files import atomic_path

_BLOCK = 1 << 18
_TIMEOUT = 60  # seconds without a byte
MOST_BYTES = 1 << 30  # of an archive; the largest of the collection's that we know have 50 MB


def download(url: str, target: Path, max_bytes: int = MOST_BYTES) -> None:
    """Fetch ``url`` into the file ``target``; a download that breaks off or exceeds ``max_bytes`` leaves nothing behind."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("downloading {task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with (
        atomic_path(target) as temporary,
        _open(url) as response,
        temporary.open("wb") as file,
        Progress(*columns, console=Console(stderr=True), transient=True) as progress,
    ):
        total = _announced(response)
        _check_size(url, total or 0, max_bytes)
        task = progress.add_task(target.name, total=total)
        for block in _blocks(response, url):
            _check_size(url, file.tell() + len(block), max_bytes)
            file.write(block)
            progress.advance(task, len(block))
        if total is not None and file.tell() != total:
            raise _failed(url, f"it broke off after {file.tell():,} of {total:,} bytes")


def _announced(response: Any) -> int | None:
    size = response.headers.get("Content-Length") or ""
    return int(size) if size.isascii() and size.isdecimal() and len(size) < 20 else None


def _check_size(url: str, size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise _failed(url, f"it has more than {max_bytes:,} bytes, the most that is fetched unless max_bytes says otherwise")


def _open(url: str) -> Any:
    try:
        return urlopen(Request(url, headers={"User-Agent": "phist"}), timeout=_TIMEOUT)
    except HTTPError as error:
        raise _failed(url, f"the server answered {error.code}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise _failed(url, brief(getattr(error, "reason", error))) from error


def _blocks(response: Any, url: str) -> Iterator[bytes]:
    while True:
        try:
            block = response.read(_BLOCK)
        except (OSError, HTTPException) as error:
            raise _failed(url, brief(error)) from error
        if not block:
            return
        yield block


def _failed(url: str, why: str) -> DatasetError:
    return DatasetError(
        f"{brief(url)} could not be downloaded ({why}); check the network, "
        "or put the archive into a folder and set PHIST_DATA to it"
    )
