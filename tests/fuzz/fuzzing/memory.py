"""Graphs in memory, as users of other libraries give them, with odd values in every place."""

import copy

import networkx as nx
import numpy as np
from scipy.sparse import coo_array, csr_array

from fuzzing.invariants import check_graphset
from fuzzing.mutation import VALUES
from phist import as_graphset

KINDS = ("?", "i1", "u1", "i4", "i8", "u8", "f4", "f8", "f2", "O", "U3", "S3", "M8[s]", "c16")
ODD = (
    *VALUES,
    b"a",
    (),
    (1,),
    object(),
    3 + 4j,
    np.float32("nan"),
    np.int8(3),
    np.datetime64("NaT"),
    np.array(3),
    np.empty((0, 3)),
)


def fuzz_memory(random, folder):
    graphs = random_graphs(random)
    given = random.choice((graphs, graphs, graphs[0], tuple(graphs)))
    options = {
        "labels": random.choice((None, None, list(range(len(graphs))), [random.choice(ODD) for _ in graphs], random.choice(ODD))),
        "ids": random.choice((None, None, None, [random.choice(ODD) for _ in graphs], random.choice(ODD))),
        "directed": random.choice((None, None, "symmetrise", "keep")),
        "self_loops": random.choice((None, "drop", "keep")),
        "weights": random.choice(("use", "abs", "ignore")),
    }
    if random.random() < 0.05:
        options[random.choice(("directed", "self_loops", "weights"))] = random.choice(ODD)
    return lambda: check_graphset(as_graphset(given, **options))


def random_graphs(random):
    """One to three, sound or odd, and now and then something that is no graph."""
    graphs = [random.choice(_KINDS_OF_GRAPHS)(random) for _ in range(random.randint(1, 3))]
    return [*graphs, random.choice(ODD)] if random.random() < 0.1 else graphs


def _edge_list(random):
    edges = [[0, 1], [1, 2], [2, 0]]
    if random.random() < 0.5:
        edges = [[*edge, 0.5] for edge in edges]
    if random.random() < 0.6:
        edge = random.choice(edges)
        edge[random.randrange(len(edge))] = copy.copy(random.choice(ODD))
    n_nodes = random.choice((3, 3, 3, 4, 0, -1, 2**31, 2**63, 10**12, np.int64(3), True))
    rows = random.choice((edges, edges, [], None, np.array([[0, 1]]), np.empty((0, 2)), random.choice(ODD)))
    graph = (n_nodes, rows)
    return graph if random.random() < 0.7 else (*graph, random.choice(([1.0, 2.0, 3.0], [1], random.choice(ODD))))


def _matrix(random):
    size = random.choice((0, 1, 3, 4))
    values = np.array([[random.choice((0, 0, 1, 1, 2)) for _ in range(size)] for _ in range(size)], dtype=float).reshape(size, size)
    if random.random() < 0.7:
        values = np.maximum(values, values.T)
    if size and random.random() < 0.3:
        values[random.randrange(size), random.randrange(size)] = random.choice((np.nan, np.inf, -1.0, 1e308, 1e-320))
    with np.errstate(all="ignore"):
        values = values.astype(random.choice(KINDS)) if random.random() < 0.3 else values
    if random.random() < 0.2:
        values = values[: random.randint(0, size)]
    if random.random() < 0.4 and values.dtype.kind in "bif" and values.dtype.itemsize != 2:
        return random.choice((csr_array, coo_array))(values)
    return values


def _networkx(random):
    graph = random.choice((nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph))()
    graph.add_nodes_from(range(random.choice((0, 1, 4))))
    if len(graph) > 1:
        for edge in ((0, 1), (1, 2), (2, 2), (1, 0)):
            graph.add_edge(*edge)
            if random.random() < 0.3:
                graph.add_edge(*edge, weight=random.choice((1.0, 2, None, random.choice(ODD))))
    return graph


def _pyg(random):
    import types

    index = random.choice((np.array([[0, 1], [1, 2]]), np.empty((2, 0)), np.array([[0.5, 1], [1, 2]]), random.choice(ODD)))
    graph = types.SimpleNamespace(edge_index=index, num_nodes=random.choice((3, 3, 3, 0, random.choice(ODD))))
    if random.random() < 0.5:
        graph.edge_weight = random.choice((np.array([1.0, 2.0]), None, random.choice(ODD)))
    if random.random() < 0.5:
        graph.y = random.choice((1, np.array([1]), random.choice(ODD)))
    return graph


def _igraph(random):
    import igraph

    graph = igraph.Graph(n=random.choice((0, 1, 4)), directed=random.random() < 0.5)
    if graph.vcount() > 1:
        graph.add_edges([(0, 1), (1, 2), (2, 2), (0, 1)])
        if random.random() < 0.6:
            graph.es["weight"] = [random.choice((1.0, 2, random.choice(ODD))) for _ in range(4)]
    return graph


_KINDS_OF_GRAPHS = (_edge_list, _matrix, _networkx, _pyg, _igraph)
