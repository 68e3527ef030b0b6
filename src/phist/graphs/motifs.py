"""Seeded sets of graphs whose classes are told by a few nodes and edges, and which those are.

Every function returns a `GraphSet` and, beside it, a `Truth`: what an explanation of a right prediction should point to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from phist.checks import whole_number
from phist.errors import ConfigError, check_choice, shown
from phist.graphs.arrays import IntArray, starts_of
from phist.graphs.family_arguments import MOST_DENSE, Seed, check_sizes, make_rng
from phist.graphs.graphset import GraphSet
from phist.graphs.labels import as_labels
from phist.graphs.packing import pack

MOTIFS: dict[str, tuple[tuple[int, int], ...]] = {
    "house": ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)),
    "cycle": ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0)),
    "clique": ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)),
    "star": ((0, 1), (0, 2), (0, 3), (0, 4)),
    "diamond": ((0, 1), (1, 2), (2, 3), (3, 0), (0, 2)),
    "hexagon": ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)),
}
_ATTEMPTS = 10_000  # to draw a graph with a given number of triangles; about ten are needed


@dataclass(frozen=True, eq=False)
class Truth:
    """Which nodes and edges tell the class, graph by graph.

    Attributes:
        nodes: for each graph a mask (nodes).
        edges: for each graph a mask (edges), in the order of `Graph.edges`.
    """

    nodes: tuple[NDArray[np.bool_], ...]
    edges: tuple[NDArray[np.bool_], ...]

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, graphs: slice | Sequence[int] | NDArray[Any]) -> "Truth":
        """That of some of the graphs, chosen as a `GraphSet` is."""
        chosen = np.arange(len(self))[graphs if isinstance(graphs, slice) else np.asarray(graphs)].tolist()
        return Truth(tuple(self.nodes[graph] for graph in chosen), tuple(self.edges[graph] for graph in chosen))


def make_ba_2motifs(n_graphs: int, n_nodes: int = 20, *, seed: Seed) -> tuple[GraphSet, Truth]:
    """Barabási-Albert graphs with a ``"house"`` or a ``"cycle"`` of five nodes (BA-2motifs; Luo et al., 2020).

    A new node of the base joins one node that is there, so that the base is a tree; one more edge joins it to the motif. The
    nodes and edges of the motif tell the class.

    Args:
        n_graphs: even graphs have a house, odd ones a cycle.
        n_nodes: nodes of the base.
        seed: seed of the generator.

    >>> graphs, truth = make_ba_2motifs(4, seed=0)
    >>> graphs
    GraphSet(4 graphs, 100 nodes, 102 edges, 2 classes)
    >>> [int(nodes.sum()) for nodes in truth.nodes], [int(edges.sum()) for edges in truth.edges]
    ([5, 5, 5, 5], [6, 5, 6, 5])
    """
    return make_planted_motifs(n_graphs, n_nodes, ("house", "cycle"), (), seed=seed)


def make_planted_motifs(
    n_graphs: int,
    n_nodes: int = 30,
    motifs: Sequence[str] = ("house", "cycle"),
    distractors: Sequence[str] = ("clique", "star"),
    *,
    seed: Seed,
) -> tuple[GraphSet, Truth]:
    """Barabási-Albert trees to which the motif of a class is joined by an edge, and distractors that all classes have.

    Every graph has one of each distractor, joined likewise. They stand out as much as the motif and tell nothing.

    Args:
        n_graphs: graph ``g`` has the motif, and the label, ``motifs[g % len(motifs)]``.
        n_nodes: nodes of the base.
        motifs, distractors: names in `MOTIFS`, all different.
        seed: seed of the generator.

    >>> graphs, truth = make_planted_motifs(6, seed=0)
    >>> graphs.labels.tolist()[:3], graphs[0].n_nodes, int(truth.nodes[0].sum())
    (['house', 'cycle', 'house'], 44, 5)
    """
    check_sizes(n_graphs, n_nodes, least=2)
    names = [*motifs, *distractors]
    for name in names:
        check_choice("motif", name, MOTIFS)
    if len(motifs) < 2 or len(set(names)) != len(names):
        raise ConfigError(f"motifs {shown(names)} were given; at least two for the classes are needed, and no name twice")
    rng = make_rng(seed)
    labels = [motifs[graph % len(motifs)] for graph in range(n_graphs)]
    drawn = [_with_motifs(n_nodes, [label, *distractors], rng) for label in labels]
    marked = [n_nodes + np.arange(_n_nodes(label)) for label in labels]  # the motif comes right after the base
    edges_of_motif = [_within(edges, own) for (_, edges), own in zip(drawn, marked, strict=True)]
    return _assemble(drawn, labels, marked, edges_of_motif, rng)


def make_triangles(n_graphs: int, min_nodes: int = 8, max_nodes: int = 25, most: int = 10, *, seed: Seed) -> tuple[GraphSet, Truth]:
    """Random graphs labelled by how many triangles they have, from 1 to ``most`` (TRIANGLES; Knyazev et al., 2019).

    Train on graphs of at most 25 nodes and test on graphs of up to 100, with another seed. The nodes and edges in triangles are
    what is counted. A graph has the density at which so many triangles are expected, and exactly so many.

    Args:
        n_graphs: how many graphs; labels follow one another.
        min_nodes: fewest nodes of a graph.
        max_nodes: most nodes of a graph.
        most: the largest label.
        seed: seed of the generator.

    >>> graphs, truth = make_triangles(10, seed=0)
    >>> graphs.labels.tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    """
    whole_number("min_nodes", min_nodes, least=8)
    whole_number("max_nodes", max_nodes, least=min_nodes, most=MOST_DENSE)
    check_sizes(n_graphs, max_nodes, least=8)
    whole_number("most", most, least=2, most=20)
    rng = make_rng(seed)
    labels = [1 + graph % most for graph in range(n_graphs)]
    drawn = [_with_triangles(int(rng.integers(min_nodes, max_nodes + 1)), label, rng) for label in labels]
    in_triangle = [_edges_in_triangles(size, edges) for size, edges in drawn]
    marked = [np.unique(edges[inside]) for (_, edges), inside in zip(drawn, in_triangle, strict=True)]
    return _assemble(drawn, labels, marked, in_triangle, rng)


# Building blocks: a graph is its number of nodes and its edges (edges, 2) ---------------------------------------------

Drawn = tuple[int, IntArray]


def _n_nodes(motif: str) -> int:
    return 1 + max(max(edge) for edge in MOTIFS[motif])


def _with_motifs(n_nodes: int, motifs: Sequence[str], rng: np.random.Generator) -> Drawn:
    base = nx.barabasi_albert_graph(n_nodes, 1, seed=int(rng.integers(2**32)))
    edges, size = [np.array(base.edges, np.int64).reshape(-1, 2)], n_nodes
    for motif in motifs:
        own = size + np.array(MOTIFS[motif], np.int64)
        bridge = np.array([[rng.integers(n_nodes), size + rng.integers(_n_nodes(motif))]])
        edges += [own, bridge]
        size += _n_nodes(motif)
    return size, np.concatenate(edges)


def _within(edges: IntArray, nodes: IntArray) -> NDArray[np.bool_]:
    """Which edges have both ends among the nodes."""
    ends: NDArray[np.bool_] = np.isin(edges, nodes)
    return ends[:, 0] & ends[:, 1]


def _with_triangles(n_nodes: int, count: int, rng: np.random.Generator) -> Drawn:
    source, target = np.triu_indices(n_nodes, k=1)
    triples = n_nodes * (n_nodes - 1) * (n_nodes - 2) / 6
    probability = (count / triples) ** (1 / 3)
    for _ in range(_ATTEMPTS):
        chosen = rng.random(len(source)) < probability
        edges = np.stack([source[chosen], target[chosen]], axis=1)
        if _count_triangles(n_nodes, edges) == count:
            return n_nodes, edges
    raise ConfigError(f"no graph of {n_nodes} nodes with {count} triangles was found; ask for fewer triangles or more nodes")


def _adjacency(n_nodes: int, edges: IntArray) -> IntArray:
    matrix = np.zeros((n_nodes, n_nodes), np.int64)
    matrix[edges[:, 0], edges[:, 1]] = matrix[edges[:, 1], edges[:, 0]] = 1
    return matrix


def _count_triangles(n_nodes: int, edges: IntArray) -> int:
    matrix = _adjacency(n_nodes, edges)
    return int(np.einsum("ij,jk,ki->", matrix, matrix, matrix, optimize=True)) // 6


def _edges_in_triangles(n_nodes: int, edges: IntArray) -> NDArray[np.bool_]:
    matrix = _adjacency(n_nodes, edges)
    common = matrix @ matrix
    inside: NDArray[np.bool_] = common[edges[:, 0], edges[:, 1]] > 0
    return inside


def _assemble(
    drawn: Sequence[Drawn],
    labels: Sequence[Any],
    marked_nodes: Sequence[IntArray],
    marked_edges: Sequence[NDArray[np.bool_]],
    rng: np.random.Generator,
) -> tuple[GraphSet, Truth]:
    """Number the nodes of each graph at random, pack, and mark what tells the class."""
    sizes = np.array([size for size, _ in drawn])
    first_node = starts_of(sizes)[:-1].tolist()
    orders = [rng.permutation(size) for size in sizes.tolist()]
    renamed = [order[edges] for order, (_, edges) in zip(orders, drawn, strict=True)]
    source, target = np.concatenate([first + edges for first, edges in zip(first_node, renamed, strict=True)]).T
    graphs = pack(sizes, source, target, labels=as_labels(list(labels)))
    nodes, edges = [], []
    for graph, order, own, ends, telling in zip(graphs, orders, marked_nodes, renamed, marked_edges, strict=True):
        nodes.append(np.isin(np.arange(graph.n_nodes), order[own]))
        wanted = {(min(pair), max(pair)) for pair in ends[telling].tolist()}
        edges.append(np.array([tuple(edge) in wanted for edge in graph.edges().tolist()], bool))
    return graphs, Truth(tuple(nodes), tuple(edges))
