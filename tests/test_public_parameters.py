"""Every parameter of the public API has a type and a meaning; its default is in the signature."""

import importlib
import inspect
import re

import pytest

import phist

MODULES = (
    "phist.baselines.method",
    "phist.drawing",
    "phist.estimators.fitted",
    "phist.explain",
    "phist.explain.metrics",
    "phist.graphs.generate",
    "phist.graphs.motifs",
    "phist.metrics",
    "phist.serving.app",
    "phist.serving.limits",
    "phist.testing",
    "phist.theory",
)


def public():
    for name in sorted(set(phist.__all__) - {"__version__"}):
        yield name, getattr(phist, name)
    for path in MODULES:
        module = importlib.import_module(path)
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == path]
        for name in getattr(module, "__all__", own):
            if not name.startswith("_") and callable(getattr(module, name)):
                yield f"{path}.{name}", getattr(module, name)


def functions(name, thing):
    """The thing itself, and the public methods of a class that phist defines."""
    yield name, thing
    for method, value in inspect.getmembers(thing) if inspect.isclass(thing) else ():
        is_own = (getattr(value, "__module__", None) or "").startswith("phist")
        if is_own and not method.startswith("_") and (inspect.isfunction(value) or inspect.ismethod(value)):
            yield f"{name}.{method}", value


def is_explained(doc, parameter):
    entry = rf"^\s+(\*{{0,2}}\w+, )*\*{{0,2}}{parameter}(, \*{{0,2}}\w+)*: \S"
    return re.search(entry, doc, re.MULTILINE) or f"``{parameter}``" in doc or f"``{parameter}=" in doc


def missing(thing):
    try:
        parameters = inspect.signature(thing).parameters.values()
    except ValueError:  # made of C
        return []
    doc = "\n  " + (inspect.getdoc(thing) or "")
    told = [parameter for parameter in parameters if parameter.name not in ("self", "cls")]
    untyped = [f"type of {one.name}" for one in told if one.annotation is one.empty]
    return untyped + [f"meaning of {one.name}" for one in told if not is_explained(doc, one.name)]


@pytest.mark.parametrize(("name", "thing"), [pytest.param(*one, id=one[0]) for one in public()])
def test_every_parameter_has_a_type_and_a_meaning(name, thing):
    found = {label: missing(own) for label, own in functions(name, thing)}
    assert not {label: lacks for label, lacks in found.items() if lacks}
