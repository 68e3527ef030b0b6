"""How a model reads graphs: as those were read that it was fitted to."""

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np

from phist.errors import ModelFileError
from phist.graphs.convert import as_graphset
from phist.graphs.graphset import GraphSet
from phist.graphs.packing import SelfLoops

FAR_LARGER = 4  # times the largest training graph: what is predicted there nobody has checked


class InputNotice(UserWarning):
    """Graphs to predict are of another kind than those that the model was fitted to."""


@dataclass(frozen=True)
class Reading:
    """What the training graphs had.

    Attributes:
        directed, weighted, loops: whether arcs were kept, edges had weights, nodes had loops.
        largest: nodes of the largest graph.
    """

    directed: bool
    weighted: bool
    loops: bool
    largest: int

    @classmethod
    def of(cls, graphs: GraphSet) -> Self:
        """As ``graphs`` were read."""
        loops, sizes = bool(graphs.loops_per_graph().any()), graphs.node_counts()
        return cls(graphs.directed, graphs.weights is not None, loops, int(sizes.max(initial=0)))

    def read(self, X: Any) -> GraphSet:
        """Graphs as users give them, read the same way; what cannot be is ignored, and said."""
        loops: SelfLoops = "keep" if self.loops else "drop"
        graphs = as_graphset(X, directed="keep" if self.directed else None, self_loops=loops)
        if graphs.directed and not self.directed:  # a directed set, or a list of the graphs of one
            graphs = as_graphset(graphs, directed="symmetrise", self_loops=loops)
        for notice in self.notices(graphs):
            warnings.warn(notice, InputNotice, stacklevel=4)
        return graphs if self.weighted else replace(graphs, weights=None)

    def notices(self, graphs: GraphSet) -> list[str]:
        """What a person should know of these graphs."""
        return self.describe(self.ignores_weights(graphs), int(self.is_far_larger(graphs).sum()), len(graphs))

    def describe(self, ignores_weights: bool, n_far: int, n_graphs: int) -> list[str]:
        """The same in words, of graphs of which ``n_far`` are far larger than any in training."""
        found = []
        if ignores_weights:
            found.append("the graphs have edge weights and the model was fitted to graphs without any; they are ignored")
        if n_far:
            found.append(
                f"{n_far} of {n_graphs} graphs have more than {FAR_LARGER} times as many nodes as any that the model was "
                f"fitted to (at most {self.largest}); take what it says of them with care"
            )
        return found

    def ignores_weights(self, graphs: GraphSet) -> bool:
        """Whether graphs have weights that say something, which the model takes no notice of."""
        return not self.weighted and graphs.weights is not None and bool((graphs.weights != 1).any())

    def is_far_larger(self, graphs: GraphSet) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which graphs are far larger than any in training."""
        larger: np.ndarray[Any, np.dtype[np.bool_]] = graphs.node_counts() > FAR_LARGER * self.largest
        return larger

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; anything else is a `ModelFileError`."""
        kinds = {"directed": bool, "weighted": bool, "loops": bool, "largest": int}
        if not isinstance(values, Mapping) or values.keys() != kinds.keys():
            raise ModelFileError("the model does not say how its graphs were read; fit it again")
        if any(type(values[name]) is not kind for name, kind in kinds.items()) or values["largest"] < 0:
            raise ModelFileError("the model says in no proper way how its graphs were read; fit it again")
        return cls(**values)
