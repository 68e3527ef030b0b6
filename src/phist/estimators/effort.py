"""Effort: how much a fit tries, found from the training graphs alone."""

from dataclasses import dataclass, replace
from typing import Literal

from phist.graphs.graphset import GraphSet
from phist.training.windows import is_windowed

EffortName = Literal["low", "medium", "high"]

MANY_GRAPHS = 20_000  # from here on a tenth of them says enough, and five networks take long
MANY_NODES = 200_000  # of all graphs together: an epoch takes seconds, and has many steps


@dataclass(frozen=True)
class Effort:
    """What is tried.

    Attributes:
        parts: parts that the training graphs are cut into.
        held_out: how many of them are left out in turn; each costs a network.
        epochs: of a network, at most.
        restarts: of its schedule; graphs left out are asked at the foot of each cycle whether to go on.
        members: that are tried.
        heads: of the networks.
        second_bag: whether networks of another kind (densities in f_graph, longer reach) join.
    """

    parts: int
    held_out: int
    epochs: int
    restarts: int
    members: tuple[str, ...]
    heads: tuple[str, ...]
    second_bag: bool = False


_ALL = ("network", "colours", "profiles")
_HEADS = ("linear", "forest", "kernel")
EFFORTS: dict[str, Effort] = {
    "low": Effort(parts=5, held_out=1, epochs=15, restarts=0, members=("network", "colours"), heads=("linear",)),
    "medium": Effort(parts=5, held_out=5, epochs=105, restarts=2, members=_ALL, heads=_HEADS),
    "high": Effort(parts=5, held_out=5, epochs=225, restarts=3, members=_ALL, heads=_HEADS, second_bag=True),
}


# Where graphs are learnt from window by window: other members and heads need all of them in memory together.
WINDOWED = Effort(parts=50, held_out=1, epochs=7, restarts=2, members=("network",), heads=("linear",))
WINDOWED_CYCLES = {"low": 1, "medium": 3, "high": 4}  # an epoch has as many steps as a whole training of fewer graphs


def plan_effort(name: str, graphs: GraphSet) -> Effort:
    """The effort called ``name`` for these graphs: fewer epochs the more nodes there are, one part left out of many graphs.

    Graphs that do not fit into memory have one network with the paper's head, of at most seven epochs at medium effort.

    >>> from phist.graphs.generate import make_trees
    >>> plan_effort("medium", make_trees(20, n_nodes=10, seed=0)).epochs
    105
    """
    effort = EFFORTS[name]
    if is_windowed(graphs):
        cycles = WINDOWED_CYCLES[name]
        return replace(WINDOWED, epochs=2**cycles - 1, restarts=cycles - 1)
    if graphs.n_nodes > MANY_NODES and effort.restarts:
        ends = [effort.epochs * (2 ** (cycle + 1) - 1) // (2 ** (effort.restarts + 1) - 1) for cycle in range(effort.restarts)]
        effort = replace(effort, epochs=ends[-1], restarts=effort.restarts - 1)
    if len(graphs) > MANY_GRAPHS:
        effort = replace(effort, parts=10, held_out=1)
    return effort
