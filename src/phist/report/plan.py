"""What the files of studies say beside their folders of records: the metric to show, what is still to run, and what is left out.

The files are read as far as they can be: a report needs no method of a study, and shows what is there even if its file has
changed or is gone.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from phist.errors import ConfigError
from phist.graphs.catalog import known_dataset

Pair = tuple[str, str]  # label of a method, column of a table
WAITING = "waiting"  # of a pair that a study asks for and that has no record yet
NOT_ASKED_FOR = "no study in this report asks for it"


@dataclass(frozen=True)
class PlannedPairs:
    """What the studies ask for of each method and dataset, and so why there are no records of a pair.

    Attributes:
        asked: the file of the study that asks for a pair.
        left_out: the reason that a study's file gives for a pair that it does not run.
        folds: how many test folds a study asks for, where its file names them.
    """

    asked: Mapping[Pair, str] = field(default_factory=dict)
    left_out: Mapping[Pair, str] = field(default_factory=dict)
    folds: Mapping[Pair, int] = field(default_factory=dict)

    def why_absent(self, label: str, column: str) -> tuple[str, str]:
        """A word for a table, empty where nobody asked, and the reason in full."""
        if (label, column) in self.left_out:
            return "left out", self.left_out[label, column]
        if (label, column) in self.asked:
            return WAITING, f"{self.asked[label, column]} asks for it, and it has not been run yet"
        return "", NOT_ASKED_FOR


def read_plan(folders: Iterable[str | Path]) -> PlannedPairs:
    """The plan of the studies whose records are in some folders."""
    asked: dict[Pair, str] = {}
    left_out: dict[Pair, str] = {}
    folds: dict[Pair, int] = {}
    for folder in map(Path, folders):
        content = _content(folder)
        for block in _blocks(content, "runs"):
            asked |= dict.fromkeys(_pairs(block), spec_path(folder).name)
            if isinstance(content.get("folds"), list) and content["folds"]:
                folds |= dict.fromkeys(_pairs(block), len(content["folds"]))
        for block in _blocks(content, "left_out"):
            left_out |= dict.fromkeys(_pairs(block), " ".join(str(block.get("reason", "no reason given")).split()))
    return PlannedPairs(asked, left_out, folds)


def named_metric(*folders: str | Path) -> str:
    """The metric that the files of some studies name; accuracy where none does."""
    named = {str(_content(Path(folder)).get("metric", "accuracy")) for folder in folders}
    if len(named) > 1:
        raise ConfigError(f"the studies have different metrics, {' and '.join(sorted(named))}; choose one with --metric")
    return named.pop() if named else "accuracy"


def spec_path(folder: Path) -> Path:
    """The file of a study stands beside the folder of its records."""
    return folder.with_name(f"{folder.name}.toml")


def _content(folder: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(spec_path(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # no such file, or none that is TOML
        return {}


def _blocks(content: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    blocks = content.get(key)
    return [block for block in blocks if isinstance(block, Mapping)] if isinstance(blocks, list) else []


def _pairs(block: Mapping[str, Any]) -> list[Pair]:
    """Methods and columns of a block, one column for each number of labelled graphs."""
    labels, datasets, numbers = (block.get(key) for key in ("methods", "datasets", "labelled"))
    if not isinstance(labels, list) or not isinstance(datasets, list):
        return []
    names = [_name(str(given)) for given in datasets]
    columns = [f"{name}:{number}" for name in names for number in numbers] if isinstance(numbers, list) else names
    return [(str(label), column) for label in labels for column in columns]


def _name(given: str) -> str:
    facts = known_dataset(given)
    return Path(given).name.partition(".")[0] if facts is None else facts.name
