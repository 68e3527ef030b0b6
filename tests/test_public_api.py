"""What is public is what docs/api.md says."""

import inspect
import re
from pathlib import Path

import phist

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text()
PARAMETERS = [
    "effort", "time_budget", "class_weight", "random_state", "preset", "members", "heads", "network", "training", "engine",
    "inference", "checkpoint", "progress",
]  # fmt: skip


def test_the_page_lists_what_can_be_imported_from_phist():
    listed = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(listed) == sorted(set(phist.__all__) - {"__version__"})


def test_every_public_name_can_be_had_and_says_what_it_is():
    for name in set(phist.__all__) - {"__version__"}:
        assert inspect.getdoc(getattr(phist, name)), name


def test_the_page_lists_the_methods_of_the_classifier():
    paragraph = re.search(r"Methods of `StructuralClassifier`: (.*?), and what every", PAGE, re.DOTALL)[1]
    listed = set(re.findall(r"`(\w+)`", paragraph))
    own = {
        name
        for kind in phist.StructuralClassifier.__mro__
        if kind.__module__.startswith("phist")
        for name, value in vars(kind).items()
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, classmethod))
    }
    assert listed == own - {"restore"}


def test_the_classifier_keeps_its_parameters():
    assert list(inspect.signature(phist.StructuralClassifier).parameters) == PARAMETERS
