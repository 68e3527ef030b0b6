"""What the package imports is declared, and pinned in the versions it is tested with."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "phist"

pytestmark = pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="not run in the source tree")


def normalised(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def package_of(requirement):
    return normalised(re.match(r"[\w.-]+", requirement)[0])


def declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    return {package_of(requirement) for requirements in lists for requirement in requirements} - {"phist"}


def pinned():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return {package_of(line) for line in lines if line and not line.startswith("#")}


def modules_of(tree):
    """Modules that a file imports, those asked for by `require` too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module
        elif isinstance(node, ast.Call) and getattr(node.func, "id", None) == "require" and isinstance(node.args[0], ast.Constant):
            yield node.args[0].value


def imported():
    modules = {module for path in SOURCES.rglob("*.py") for module in modules_of(ast.parse(path.read_text()))}
    return {module.partition(".")[0] for module in modules} - set(sys.stdlib_module_names) - {"phist"}


def test_every_import_is_declared():
    packages = packages_distributions()
    missing = {name for name in imported() if normalised(packages.get(name, [name])[0]) not in declared()}
    assert not missing


def test_every_dependency_is_pinned():
    assert not declared() - pinned()


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_no_python_is_too_new():
    assert re.fullmatch(r">=\d+\.\d+", project()["requires-python"])


def test_grakel_is_asked_for_only_by_extras_and_where_it_has_wheels():
    """It is an oracle of tests and holds MUTAG; no part of phist imports it."""
    assert "grakel" not in {package_of(requirement) for requirement in project()["dependencies"]} | imported()
    extras = [one for own in project()["optional-dependencies"].values() for one in own if package_of(one) == "grakel"]
    assert extras and all("python_version < '3.13'" in one for one in extras)
