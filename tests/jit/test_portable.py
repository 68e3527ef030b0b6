"""What does not depend on the processor is kept, is enough to go on with, and is not believed when it is damaged."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import config, event

from phist.jit import code_cache, compiled, inner, portable

ROOT = Path(__file__).parents[2]


@inner
def root(value):
    return np.sqrt(value)


def roots_of(values):
    if not len(values):
        raise ValueError("no values")
    result = np.zeros(len(values))
    for place in range(len(values)):
        result[place] = root(values[place])
    return result


@pytest.fixture
def make(tmp_path, monkeypatch):
    """A function that is compiled afresh each time, or made of what a folder of its own has."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "code"))
    root.overloads.clear()  # so that compiling afresh is seen
    return lambda: compiled(roots_of)


def forget_machine_code(folder):
    for path in folder.rglob("*-checked.*"):
        path.unlink()


def typed_functions(call, *arguments):
    """What a call gives, and how many functions were typed and lowered for it."""
    with event.install_recorder("numba:run_pass") as recorder:
        result = call(*arguments)
    return result, sum(happened.is_start and "lower" in happened.data["name"] for _, happened in recorder.buffer)


def test_another_processor_types_and_lowers_nothing(make, tmp_path):
    values = np.array([4.0, 9.0])
    _, typed = typed_functions(make(), values)
    assert typed > 0
    forget_machine_code(tmp_path)
    roots, typed = typed_functions(make(), values)
    assert (roots.tolist(), typed) == ([2.0, 3.0], 0)


def test_what_was_made_of_portable_code_is_kept(make, tmp_path):
    make()(np.ones(2))
    forget_machine_code(tmp_path)
    make()(np.ones(2))
    for path in tmp_path.rglob("*-portable.*"):
        path.unlink()
    assert typed_functions(make(), np.ones(2))[1] == 0


def test_errors_are_raised_from_portable_code_as_from_any(make, tmp_path):
    make()(np.ones(2))
    forget_machine_code(tmp_path)
    with pytest.raises(ValueError, match="no values"):
        make()(np.empty(0))


def test_code_made_of_portable_code_can_be_part_of_other_functions(make, tmp_path):
    make()(np.ones(2))
    forget_machine_code(tmp_path)
    roots = make()
    assert typed_functions(roots, np.ones(2))[1] == 0

    @inner
    def sum_of_roots(values):
        return roots(values).sum()

    assert compiled(lambda values: sum_of_roots(values))(np.array([4.0, 9.0])) == 5.0


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize(
    "damage", [lambda content: content[:-3], lambda content: content[:50] + b"x" + content[51:], lambda content: b""]
)
def test_damaged_portable_code_is_made_again(make, tmp_path, suffix, damage):
    make()(np.ones(2))
    forget_machine_code(tmp_path)
    (path,) = tmp_path.rglob(f"*roots*-portable*.{suffix}")
    path.write_bytes(damage(path.read_bytes()))
    roots, typed = typed_functions(make(), np.array([4.0]))
    assert (roots.tolist(), typed > 0) == ([2.0], True)


def test_portable_code_of_another_llvm_is_not_read(make, tmp_path, monkeypatch):
    make()(np.ones(2))
    forget_machine_code(tmp_path)
    monkeypatch.setattr(portable.llvmlite, "__version__", "0.1.0")
    assert typed_functions(make(), np.ones(2))[1] > 0


def test_portable_code_of_other_sources_is_not_read(make, tmp_path, monkeypatch):
    make()(np.ones(2))
    forget_machine_code(tmp_path)
    monkeypatch.setattr(code_cache, "digest_of", lambda module: "other sources")
    assert typed_functions(make(), np.ones(2))[1] > 0


def test_where_nothing_can_be_written_what_was_shipped_serves(make, tmp_path, monkeypatch):
    make()(np.ones(2))
    (folder,) = {path.parent for path in tmp_path.rglob("*-portable.*")}
    monkeypatch.setattr(code_cache, "SHIPPED", folder)
    monkeypatch.setattr(code_cache.SourcesCache._impl_class, "_locator_classes", [])
    function = make()
    assert isinstance(function._cache, code_cache.ShippedCode)
    roots, typed = typed_functions(function, np.array([4.0]))
    assert (roots.tolist(), typed) == ([2.0], 0)


def test_machine_code_is_kept_for_a_processor_and_portable_code_for_none(make):
    roots = make()
    roots(np.ones(2))
    codegen = roots.targetctx.codegen()
    assert codegen.magic_tuple()[1] in roots._cache._index_key(None, codegen)[1]
    assert codegen.magic_tuple()[1] not in roots._cache.portable._key(None, codegen)


PROGRAM = """
import numpy as np
from numba.core import event
with event.install_recorder("numba:run_pass") as recorder:
    import phist
    from phist.engine import compiling
    portable = compiling.is_portable()
    compiling.prepare()
print(phist.__file__, portable, compiling.is_compiled(), len(recorder.buffer))
"""


def test_a_wheel_brings_code_that_needs_no_typing(tmp_path):
    pytest.importorskip("hatchling")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", tmp_path / "site", wheel], check=True)
    place = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "NUMBA_CACHE_DIR": str(tmp_path / "code")}
    said = subprocess.run([sys.executable, "-c", PROGRAM], env=place, check=True, capture_output=True, text=True, cwd=tmp_path)
    assert said.stdout.split() == [str(tmp_path / "site" / "phist" / "__init__.py"), "True", "True", "0"]
