"""How many pairs of each category were told apart: the record of a run, and its tables."""

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Self

from phist.checks import whole_number
from phist.errors import ConfigError, GraphInputError, brief
from phist.files import atomic_path, read_json_object, write_json
from phist.theory.expressiveness import CEILINGS, DRAWS, ORDERS, ROOTS, Verdict, variant_name

PAIRS = "pairs"
_BLOCK = re.compile(r"(<!-- expressiveness:begin (\S+) (\S+) -->\n).*?(<!-- expressiveness:end -->)", re.DOTALL)
TABLES = ("suite", "families")


@dataclass
class Record:
    """Counts by category and variant, with the settings that they hold for; complete categories only."""

    orders: tuple[int, ...] = ORDERS
    draws: int = DRAWS
    seed: int = 0
    suite: dict[str, dict[str, int]] = field(default_factory=dict)
    families: dict[str, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """What `write` has written."""
        content = read_json_object(path)
        try:
            record = cls(**{**content, "orders": tuple(content["orders"])})
            record._check()
        except (KeyError, TypeError, AttributeError, ConfigError) as error:
            raise GraphInputError(
                f"{path} is no record of expressiveness ({brief(error)}); name another file, or remove it"
            ) from error
        return record

    def _check(self) -> None:
        """Raise a `ConfigError`, or one that a part of another kind causes, unless every category has every count."""
        for order in self.orders:
            whole_number("orders", order, least=1)
        whole_number("draws", self.draws, least=1)
        whole_number("seed", self.seed, least=0)
        for category, counts in (*self.suite.items(), *self.families.items()):
            for variant in (PAIRS, *self.variants()):
                whole_number(f"{brief(category)}, {variant}", counts[variant], least=0)

    def variants(self) -> list[str]:
        """What every category has a count of, in the order of the tables."""
        choices = product(ROOTS, (False, True), self.orders)
        return [*CEILINGS, *(variant_name(roots, moments, order) for roots, moments, order in choices)]

    def write(self, path: str | Path) -> None:
        write_json(path, self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "orders": list(self.orders)}

    def table(self, name: str) -> str:
        """``"suite"`` or ``"families"`` in Markdown, a row for each variant."""
        counts: dict[str, dict[str, int]] = getattr(self, name)
        if name == "suite":
            counts = {**counts, "all": {key: sum(own[key] for own in counts.values()) for key in (PAIRS, *self.variants())}}
        rows = [("", *(f"{category} ({own[PAIRS]})" for category, own in counts.items())), ["---"] * (len(counts) + 1)]
        rows += [(variant, *(str(own[variant]) for own in counts.values())) for variant in self.variants()]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def count_verdicts(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """How many pairs there are, and how many each variant tells apart."""
    counts = {PAIRS: 0}
    for verdict in verdicts:
        counts[PAIRS] += 1
        for variant, is_told_apart in verdict.told_apart.items():
            counts[variant] = counts.get(variant, 0) + is_told_apart
    return counts


def current_text(document: str | Path) -> str:
    """A Markdown document with its tables made afresh from the records that it names."""
    document = Path(document)
    text = document.read_text(encoding="utf-8")
    if not _BLOCK.search(text):
        raise ConfigError(
            f"{document} has no table of expressiveness; it stands between '<!-- expressiveness:begin suite RECORD -->' (or "
            "families) and '<!-- expressiveness:end -->'"
        )
    return _BLOCK.sub(lambda block: f"{block[1]}\n{Record.read(document.parent / block[3]).table(block[2])}\n\n{block[4]}", text)


def update_document(document: str | Path) -> None:
    """Write all tables of a document afresh."""
    text = current_text(document)
    with atomic_path(document) as temporary:
        temporary.write_text(text, encoding="utf-8")
