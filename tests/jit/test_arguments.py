"""How many arguments compiled functions take: more than a handful nobody can tell apart."""

import ast
from pathlib import Path

import phist

MOST = 7
DECORATORS = {"compiled", "inner", "unit", "njit", "jit"}


def compiled_functions():
    """Of all modules: where each is, and how many arguments it takes."""
    for path in Path(phist.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(name_of(one) in DECORATORS for one in node.decorator_list):
                yield f"{path.name}:{node.name}", len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs)


def name_of(decorator):
    """``njit`` of ``numba.njit(cache=True)``."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def test_compiled_functions_are_found():
    found = dict(compiled_functions())
    assert len(found) > 100
    assert found["dense.py:multiply"] == 3


def test_compiled_functions_take_at_most_seven_arguments():
    assert {where: count for where, count in compiled_functions() if count > MOST} == {}
