"""Compiled code on disk: out of date when any source of its package changes, and never run when a byte of it is damaged."""

import os
import pickle
import warnings
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.runtime.nrt import rtsys

from phist.errors import EngineNotice

_DIGEST_BYTES = sha256().digest_size


@cache
def _digest_of_package(name: str) -> str:
    """A digest of all sources of a package of phist, and of how they are compiled."""
    folders = (Path(__file__).parent, Path(__file__).parents[1] / name)
    sources = [path.read_bytes() for folder in folders for path in sorted(folder.rglob("*.py"))]
    return sha256(b"".join(sources)).hexdigest()


def digest_of(module: str) -> str:
    """Of all sources that a function of a module can be made of: those of its package, ``engine`` of ``phist.engine.dense``."""
    first, _, rest = module.partition(".")
    return _digest_of_package(rest.partition(".")[0]) if first == "phist" else ""


class _LightContents(CompileResultCacheImpl):
    """What Numba keeps of compiled code, without naming the modules of all functions that have become part of it.

    An environment holds the Python objects that code refers to; reading it back imports the module of its function, and
    most hold nothing. Those of `numpy.sum` and the like bring a good part of Numba's compiler, and SciPy.
    """

    def reduce(self, cres: Any) -> tuple[Any, ...]:
        *content, environments = super().reduce(cres)  # type: ignore[no-untyped-call]
        return (*content, tuple(one for one in environments if one.consts))


class SourcesCache(FunctionCache):
    """Numba's files of compiled code, for these sources: numba looks at one function's own only."""

    _impl_class = _LightContents

    def __init__(self, function: Any) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self.digest = digest_of(function.__module__)
        name, stamp = f"{self._impl.filename_base}-checked", self._cache_file._source_stamp
        self._cache_file: _CheckedFiles = _CheckedFiles(self._cache_path, name, stamp)  # type: ignore[no-untyped-call]

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        return (*super()._index_key(signature, codegen), self.digest)  # type: ignore[no-untyped-call]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Read code as Numba does, without first loading all that only compiling needs, which takes longer than the rest."""
        rtsys.initialize(target_context)  # the one part of it that code calls while it runs: memory of arrays
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code if there is room; without it the work goes on all the same."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError as error:
            self.disable()  # type: ignore[no-untyped-call]
            warnings.warn(
                f"compiled code cannot be kept in {self._cache_path}: {error.strerror or error}; make room there, or set "
                "NUMBA_CACHE_DIR to a folder that has some; until then every process compiles anew",
                EngineNotice,
                stacklevel=2,
            )

    def holds(self, key: tuple[Any, ...]) -> bool:
        """Whether there is code for a key but for the types of its arguments, which never change."""
        return any(found[1:] == key and self._cache_file.is_sound(name) for found, name in self._cache_file._load_index().items())


class _CheckedFiles(IndexDataCacheFile):
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

    def is_sound(self, name: str) -> bool:
        """Whether a data file is as it was written."""
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
