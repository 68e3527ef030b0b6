"""Pairs of graphs that are hard to tell apart: the BREC suite, and small families with a name."""

import csv
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import networkx as nx

from phist.errors import GraphInputError, brief
from phist.graphs.convert import as_graphset
from phist.graphs.graphset import GraphSet

COLUMNS = ("category", "first", "second")
SKIPS = (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)  # of the circulant skip-link graphs, no two of which are isomorphic


@dataclass(frozen=True)
class Pair:
    """Two graphs that are not isomorphic."""

    category: str
    graphs: GraphSet  # (2)


def read_pairs(path: str | Path) -> list[Pair]:
    """Pairs from a tab-separated file with the columns category, first and second, graphs in graph6: the format of BREC.tsv."""
    try:
        with Path(path).open(encoding="ascii", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
            graphs = [[nx.from_graph6_bytes(row[name].encode()) for name in COLUMNS[1:]] for row in rows]
            return [Pair(row["category"], _pair(*both)) for row, both in zip(rows, graphs, strict=True)]
    except (OSError, UnicodeDecodeError, LookupError, AttributeError, nx.NetworkXError, ValueError, csv.Error) as error:
        raise GraphInputError(
            f"{path} cannot be read as pairs of graphs ({type(error).__name__}: {brief(error)}); a tab-separated file with the "
            f"columns {', '.join(COLUMNS)} is needed, graphs in graph6"
        ) from error


def named_pairs() -> list[Pair]:
    """All pairs within families of graphs whose nodes all look alike."""
    families = {
        "C6 and two triangles": [nx.cycle_graph(6), _two_triangles()],
        "C6, two triangles, K6, K3,3, prism, six isolated nodes": [
            nx.cycle_graph(6), _two_triangles(), nx.complete_graph(6), nx.complete_bipartite_graph(3, 3),
            nx.circular_ladder_graph(3), nx.empty_graph(6),
        ],
        "circulant skip links, 41 nodes": [nx.circulant_graph(41, [1, skip]) for skip in SKIPS],
        "Rook and Shrikhande": [nx.cartesian_product(nx.complete_graph(4), nx.complete_graph(4)), shrikhande_graph()],
    }  # fmt: skip
    return [Pair(name, _pair(*two)) for name, family in families.items() for two in combinations(family, 2)]


def shrikhande_graph() -> nx.Graph:
    """The Cayley graph of Z4 x Z4 by ±(1, 0), ±(0, 1) and ±(1, 1): strongly regular, with the parameters of the 4 x 4 Rook's."""
    graph = nx.Graph()
    for (x, y), (dx, dy) in product(product(range(4), repeat=2), [(1, 0), (0, 1), (1, 1)]):
        graph.add_edge((x, y), ((x + dx) % 4, (y + dy) % 4))
    return graph


def _two_triangles() -> nx.Graph:
    return nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))


def _pair(first: nx.Graph, second: nx.Graph) -> GraphSet:
    return as_graphset([first, second])
