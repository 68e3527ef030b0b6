"""Compiled code on disk: out of date when any source of its package changes, and never run when a byte of it is damaged.

Beside the machine code lies the portable code that it was made of, for other processors (`portable`).

What this takes from Numba's inside: the cache of a function and what is kept in it (`FunctionCache`, `CompileResultCacheImpl`),
since there is no other way to say when code is out of date; and its runtime, which would be loaded with all else that
compiling needs. `tests/jit/test_code_cache.py` fails where one of them changes.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba.core import compiler
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache
from numba.core.runtime.nrt import rtsys

from phist.errors import EngineNotice
from phist.jit.checked_files import CheckedFiles
from phist.jit.checks import CHECKS_BOUNDS
from phist.jit.portable import SHIPPED, Content, PortableCode, with_machine_code, without_machine_code


@cache
def _digest_of_package(name: str) -> str:
    """A digest of all sources of a package of phist, and of how they are compiled."""
    folders = (Path(__file__).parent, Path(__file__).parents[1] / name)
    sources = [path.read_bytes() for folder in folders for path in sorted(folder.rglob("*.py"))]
    return sha256(b"".join(sources) + b"checked" * CHECKS_BOUNDS).hexdigest()


def digest_of(module: str) -> str:
    """Of all sources that a function of a module can be made of: those of its package, ``engine`` of ``phist.engine.dense``."""
    first, _, rest = module.partition(".")
    return _digest_of_package(rest.partition(".")[0]) if first == "phist" else ""


class _LightContents(CompileResultCacheImpl):
    """What Numba keeps of compiled code, without naming the modules of all functions that have become part of it.

    An environment holds the Python objects that code refers to; reading it back imports the module of its function, and
    most hold nothing. Those of `numpy.sum` and the like bring a good part of Numba's compiler, and SciPy.
    """

    def reduce(self, cres: Any) -> Content:
        *content, _ = super().reduce(cres)  # type: ignore[no-untyped-call]
        return (*content, tuple(one for one in cres.library.environments if one.can_cache() and one.consts))


class SourcesCache(FunctionCache):
    """Numba's files of compiled code, for these sources: numba looks at one function's own only."""

    _impl_class = _LightContents

    def __init__(self, function: Any) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self.digest = digest_of(function.__module__)
        name, stamp = f"{self._impl.filename_base}-checked", self._cache_file._source_stamp
        self._cache_file: CheckedFiles = CheckedFiles(self._cache_path, name, stamp)  # type: ignore[no-untyped-call]
        self.portable = PortableCode(function, self._cache_path, self.digest)
        self.shipped = PortableCode(function, SHIPPED, self.digest)

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        return (*super()._index_key(signature, codegen), self.digest)  # type: ignore[no-untyped-call]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Read code as Numba does, without first loading all that only compiling needs, which takes longer than the rest."""
        rtsys.initialize(target_context)  # the one part of it that code calls while it runs: memory of arrays
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
            return found or self._load_portable(sig, target_context)

    def _load_portable(self, signature: Any, target_context: Any) -> Any:
        codegen = target_context.codegen()
        content = self.portable.load(signature, codegen) or self.shipped.load(signature, codegen)
        if content is None or not self._enabled:
            return None
        content = with_machine_code(content, codegen)
        with self._room_on_disk():
            self._impl.locator.ensure_cache_path()
            self._cache_file.save(self._index_key(signature, codegen), content)  # type: ignore[no-untyped-call]
        return self._impl.rebuild(target_context, content)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code if there is room; without it the work goes on all the same."""
        with self._room_on_disk():
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    def _save_overload(self, sig: Any, data: Any) -> None:
        if not (self._enabled and self._impl.check_cachable(data)):
            return
        self._impl.locator.ensure_cache_path()
        content = self._impl.reduce(data)
        self._cache_file.save(self._index_key(sig, data.codegen), content)  # type: ignore[no-untyped-call]
        self.portable.save(sig, data.codegen, without_machine_code(content, data.library))

    @contextmanager
    def _room_on_disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.disable()  # type: ignore[no-untyped-call]
            warnings.warn(
                f"compiled code cannot be kept in {self._cache_path}: {error.strerror or error}; make room there, or set "
                "NUMBA_CACHE_DIR to a folder that has some; until then every process compiles anew",
                EngineNotice,
                stacklevel=4,
            )

    def is_compiled(self, codegen: Any) -> bool:
        """Whether there is machine code for this processor; the types of its arguments never change."""
        _, *key = self._index_key(None, codegen)
        return self._cache_file.holds(tuple(key))

    def is_portable(self, codegen: Any) -> bool:
        """Whether there is code that only has to be made for this processor."""
        return self.portable.is_there(codegen) or self.shipped.is_there(codegen)


class ShippedCode(NullCache):
    """Where nothing can be written: what came with the installation, made machine code of in every process."""

    def __init__(self, function: Any) -> None:
        self.shipped = PortableCode(function, SHIPPED, digest_of(function.__module__))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        content = self.shipped.load(sig, target_context.codegen())
        if content is None:
            return None
        return compiler.CompileResult._rebuild(target_context, *with_machine_code(content, target_context.codegen()))

    def is_compiled(self, codegen: Any) -> bool:
        return False

    def is_portable(self, codegen: Any) -> bool:
        return self.shipped.is_there(codegen)
