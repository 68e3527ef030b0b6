"""What the generated families can be made of: arguments of the right kind, and sets of a size that can be held."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from phist.checks import finite_number, whole_number
from phist.errors import ConfigError, shown

Seed = int | np.random.Generator

MOST_NODES = 10**8  # of a set: some gigabytes, and hours
MOST_DENSE = 10_000  # of a graph every pair of whose nodes is looked at


def make_rng(seed: Seed) -> np.random.Generator:
    """The generator that ``seed`` is, or begins."""
    return seed if isinstance(seed, np.random.Generator) else np.random.default_rng(whole_number("seed", seed, least=0))


def check_sizes(n_graphs: int, n_nodes: int, *, least: int, dense: bool = False, count: str = "n_graphs") -> None:
    """Raise a `ConfigError` unless so many graphs of so many nodes can be made.

    Args:
        n_graphs: how many graphs, or pairs of them.
        n_nodes: nodes of each.
        least: the fewest nodes that make sense.
        dense: whether every pair of nodes is looked at.
        count: the name of the first argument.
    """
    whole_number(count, n_graphs, least=1)
    whole_number("n_nodes", n_nodes, least=least, most=MOST_DENSE if dense else MOST_NODES)
    if n_graphs * n_nodes > MOST_NODES:
        raise ConfigError(f"{count}={n_graphs} and n_nodes={n_nodes} make more than {MOST_NODES:,} nodes; make several sets")


def check_partition(n_nodes: int, communities: int, p_in: float, p_out: float) -> None:
    """Raise a `ConfigError` unless there are communities."""
    whole_number("communities", communities, least=2, most=MOST_DENSE)
    whole_number("n_nodes", n_nodes, least=2 * communities)
    if not finite_number("p_out", p_out, least=0) < finite_number("p_in", p_in, least=0, most=1):
        raise ConfigError(f"p_in={p_in} and p_out={p_out} plant no communities; they need 0 <= p_out < p_in <= 1: raise p_in")


def check_skips(skips: Sequence[int], n_nodes: int) -> None:
    """Raise a `ConfigError` unless every skip makes a graph of its own."""
    _check_numbers("skips", skips, "(2, 3)")
    for skip in skips:
        if not 1 < skip < n_nodes - 1 or 2 * skip == n_nodes:
            raise ConfigError(
                f"skip {skip} makes no 4-regular graph of {n_nodes} nodes; skips must lie between 2 and {n_nodes - 2} "
                f"and not be half of n_nodes: change the skip or n_nodes"
            )
    for position, skip in enumerate(skips):
        for other in skips[:position]:
            # Multiplying all node numbers by a unit is the isomorphism between C(1, s) and C(1, 1/s).
            mirrored = (skip - other) % n_nodes == 0 or (skip + other) % n_nodes == 0
            if mirrored or skip * other % n_nodes in (1, n_nodes - 1):
                raise ConfigError(
                    f"skips {other} and {skip} make the same graph of {n_nodes} nodes; every skip must make its own: drop one"
                )


def check_degrees(degrees: Sequence[int], n_nodes: int) -> None:
    """Raise a `ConfigError` unless halves of the graphs can have every degree."""
    _check_numbers("degrees", degrees, "(3,)")
    for degree in degrees:
        whole_number("degree", degree, least=2)
        if n_nodes % 2 or n_nodes // 2 <= degree or n_nodes // 2 * degree % 2:
            least = 2 * (degree + 1)
            needed = "a multiple of 4" if degree % 2 else "even"
            raise ConfigError(
                f"n_nodes={n_nodes} cannot be split into halves of degree {degree}; "
                f"it must be {needed} and at least {least}: pass n_nodes={least} or change degrees"
            )


def check_triangles(n_graphs: int, nodes: Sequence[int], most: int) -> None:
    """Raise a `ConfigError` unless graphs of every size can have every number of triangles."""
    _check_numbers("nodes", nodes, "(10, 25)")
    whole_number("most", most, least=1, most=MOST_DENSE)
    # Three nodes have one triangle at most, and four have one, two or four; from five on, n nodes can have any number up to n.
    least = most if most >= 5 else 5 if most >= 3 else most + 2
    if len(nodes) != 2 or not least <= nodes[0] <= nodes[1]:
        raise ConfigError(f"nodes={shown(list(nodes))} was given; the smallest, {least} or more, and the largest number are needed")
    check_sizes(n_graphs, nodes[1], least=least, dense=True)


def _check_numbers(name: str, values: Any, example: str) -> None:
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise ConfigError(f"{name}={shown(values)} was given; a list of whole numbers is needed: pass for example {name}={example}")
    if len(values) == 0:
        raise ConfigError(f"no {name} were given; at least one is needed: pass for example {name}={example}")
    for value in values:
        whole_number(name, value, least=1, most=MOST_NODES)
