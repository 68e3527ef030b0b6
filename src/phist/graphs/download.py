"""Fetching an archive, with a progress bar, so that it is whole or not there."""

from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from phist.errors import DatasetError
from phist.files import atomic_path

_BLOCK = 1 << 18
_TIMEOUT = 60  # seconds without a byte


def download(url: str, target: Path) -> None:
    """Fetch ``url`` into the file ``target``; a download that breaks off leaves nothing behind."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("downloading {task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with (
        atomic_path(target) as temporary,
        _open(url) as response,
        temporary.open("wb") as file,
        Progress(*columns, console=Console(stderr=True), transient=True) as progress,
    ):
        size = response.headers.get("Content-Length")
        total = int(size) if size and size.isdigit() else None
        task = progress.add_task(target.name, total=total)
        for block in _blocks(response, url):
            file.write(block)
            progress.advance(task, len(block))
        if total is not None and file.tell() != total:
            raise _failed(url, f"it broke off after {file.tell():,} of {total:,} bytes")


def _open(url: str) -> Any:
    try:
        return urlopen(Request(url, headers={"User-Agent": "phist"}), timeout=_TIMEOUT)
    except HTTPError as error:
        raise _failed(url, f"the server answered {error.code}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise _failed(url, str(getattr(error, "reason", error))) from error


def _blocks(response: Any, url: str) -> Iterator[bytes]:
    while True:
        try:
            block = response.read(_BLOCK)
        except (OSError, HTTPException) as error:
            raise _failed(url, str(error)) from error
        if not block:
            return
        yield block


def _failed(url: str, why: str) -> DatasetError:
    return DatasetError(
        f"{url} could not be downloaded ({why}); check the network, or put the archive into a folder and set PHIST_DATA to it"
    )
