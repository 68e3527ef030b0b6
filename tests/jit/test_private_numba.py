"""What is taken from Numba's inside is said where it is taken, with the reason and the tests that fail when Numba changes it."""

import ast
import re
from pathlib import Path

import phist

PACKAGE = Path(phist.__file__).parent
ROOT = Path(__file__).parents[2]
PRIVATE = re.compile(r"from numba\.core|import numba\.core|pipeline_class")


def modules():
    return [path for path in sorted(PACKAGE.rglob("*.py")) if PRIVATE.search(path.read_text(encoding="utf-8"))]


def test_numba_is_taken_apart_by_the_engine_and_by_what_compiles_it_alone():
    assert {path.parent.relative_to(PACKAGE).as_posix() for path in modules()} == {"engine", "jit"}


def test_every_use_is_explained_and_tested():
    for path in modules():
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        tests = re.findall(r"`(tests/\w+/test_\w+\.py)`", said.partition("Numba's inside")[2])
        assert tests, path
        assert all((ROOT / test).exists() for test in tests), path
