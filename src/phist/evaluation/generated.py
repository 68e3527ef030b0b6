"""Recipe: a dataset of a study that is generated instead of read, the same wherever it is made."""

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from phist.checks import whole_number
from phist.errors import ConfigError, brief, check_choice, shown
from phist.graphs import generate
from phist.graphs.graphset import GraphSet

FAMILIES: dict[str, Callable[..., GraphSet]] = {
    "planted-partitions": generate.make_planted_partitions,
    "regular-pairs": generate.make_regular_pairs,
    "skip-links": generate.make_circulant_skip_links,
    "trees": generate.make_trees,
    "triangles": generate.make_triangles,
}


@dataclass(frozen=True)
class Recipe:
    """A family of `phist.graphs.generate` and the arguments of its function, the seed among them.

    Attributes:
        arguments: pairs of names and values, in the order of names; lists as JSON, so that a recipe can be compared.
    """

    family: str
    arguments: tuple[tuple[str, str], ...]

    @classmethod
    def make(cls, family: str, arguments: Mapping[str, Any]) -> "Recipe":
        """The recipe, once the family is known and its function takes the arguments: the first graph is made."""
        check_choice("family", family, FAMILIES)
        make = FAMILIES[family]
        signature = inspect.signature(make)
        count = next(iter(signature.parameters))
        try:
            signature.bind(**arguments)
            recipe = cls(family, tuple((name, json.dumps(arguments[name])) for name in sorted(arguments)))
        except TypeError as error:
            raise ConfigError(f"the family {family!r} does not take {shown(dict(arguments))}: {brief(error)}") from error
        whole_number(count, arguments[count], least=1)
        make(**{**arguments, count: 1})
        return recipe

    @property
    def fingerprint(self) -> str:
        """Of what is asked for: the graphs of a large set need not be made to know whether a record is of them."""
        text = json.dumps([self.family, *self.arguments])
        return hashlib.sha256(text.encode()).hexdigest()

    def graphs(self) -> GraphSet:
        """The set, made now."""
        return FAMILIES[self.family](**{name: json.loads(value) for name, value in self.arguments})
