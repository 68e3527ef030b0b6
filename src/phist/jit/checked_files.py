"""Files of compiled code that are never believed when a byte of them is damaged.

What this takes from Numba's inside: how its files are read and written, which it does unchecked (`IndexDataCacheFile`).
`tests/jit/test_code_cache.py` fails where that changes.
"""

import os
import pickle
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile

_DIGEST_BYTES = sha256().digest_size


class CheckedFiles(IndexDataCacheFile):
    """An index and data files that begin with a digest of what follows: a damaged file is as good as none."""

    def _load_index(self) -> dict[Any, str]:
        version, _, packed = (_read_checked(self._index_path) or b"").partition(b"\n")
        if version != self._version.encode():  # another numba may have other types, which this one cannot unpickle
            return {}
        stamp, overloads = pickle.loads(packed)
        return overloads if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        packed = self._dump((self._source_stamp, overloads))  # type: ignore[no-untyped-call]
        self._write(self._index_path, self._version.encode() + b"\n" + packed)

    def _load_data(self, name: str) -> Any:
        content = _read_checked(self._data_path(name))  # type: ignore[no-untyped-call]
        return None if content is None else pickle.loads(content)

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), self._dump(data))  # type: ignore[no-untyped-call]

    def holds(self, key: tuple[Any, ...]) -> bool:
        """Whether there is sound code for a key but for the types of its arguments, which come first in it."""
        return any(found[1:] == key and self._is_sound(name) for found, name in self._load_index().items())

    def _is_sound(self, name: str) -> bool:
        return _read_checked(self._data_path(name)) is not None  # type: ignore[no-untyped-call]

    def _write(self, path: str, content: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(sha256(content).digest() + content)


def _read_checked(path: str | os.PathLike[str]) -> bytes | None:
    """What was written, or ``None`` if the file is missing, unreadable or damaged."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        return None
    digest, written = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return written if sha256(written).digest() == digest else None
