"""The examples behind the pictures of the engine: two graphs, what its plan makes of them, and what a network responds."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from phist.drawing.responses import root_response
from phist.engine.plan import Plan, make_plan
from phist.engine.twins import twin_classes
from phist.graphs.convert import as_graphset
from phist.graphs.graph import Graph
from phist.nn.batch import Batch
from phist.nn.config import NetworkConfig
from phist.nn.functional import impulses
from phist.nn.network import StructuralNetwork, make_network

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
CONFIG = NetworkConfig(channels=(8, 8), bins=10)  # orders (3, 3): four hops


@dataclass(frozen=True)
class Twins:
    """An ego network, and the rows that its nodes are merged into."""

    places: Floats  # (nodes, 2)
    edges: Integers  # (edges, 2)
    node_class: Integers  # (nodes)
    row_of: Integers  # (nodes)
    multiplicity: Integers  # (rows)
    row_class: Integers  # (rows)
    row_edges: Integers  # (row edges, 2)
    root: int
    root_row: int
    responses: NDArray[np.float32]  # (rows)
    counts: NDArray[np.float32]  # (rows, bins): what each row adds to the root's histogram

    def row_places(self) -> Floats:
        """The middle of each row's nodes."""
        return np.stack([self.places[self.row_of == row].mean(axis=0) for row in range(len(self.multiplicity))])


@dataclass(frozen=True)
class Balls:
    """A graph that an impulse does not reach the end of, and the parts of its root's histogram."""

    places: Floats  # (nodes, 2)
    edges: Integers  # (edges, 2)
    hops: Integers  # (nodes), from the root; one more than the reach where that is farther
    reach: int
    background: NDArray[np.float32]  # (bins): of all nodes, without an impulse
    share: NDArray[np.float32]  # (bins): of the ball's nodes, without an impulse
    rows: NDArray[np.float32]  # (bins): of the ball's nodes, with it
    histogram: NDArray[np.float32]  # (bins): of all nodes, with it


def example_of_twins() -> Twins:
    """An actor, five and four colleagues who all play with each other, and three who each play with the actor alone."""
    places, edges = _ego_network()
    graph = as_graphset([(len(places), edges)])
    plan = make_plan(graph, CONFIG.operator_scale, reach=4, balls=False)
    first = twin_classes(graph.node_ptr, graph.indptr, graph.indices, graph.weights_or_ones())
    root, row_of = 1, _rows_of_nodes(first)
    network = make_network(CONFIG, n_classes=2, seed=3)
    representative = np.unique(row_of, return_index=True)[1]
    elements = root_response(network, graph[0], root).elements[representative]  # (rows, channels)
    responses = elements[:, _most_spread(elements)]
    node_class = np.unique(first, return_inverse=True)[1]
    return Twins(
        places=places,
        edges=edges,
        node_class=node_class,
        row_of=row_of,
        multiplicity=plan.multiplicity.astype(np.int64),
        row_class=node_class[representative],
        row_edges=_edges_between_rows(plan),
        root=root,
        root_row=int(plan.root_row[root]),
        responses=responses,
        counts=plan.multiplicity[:, None] * np.stack([_count(network, value[None]) for value in responses]),
    )


def _most_spread(elements: NDArray[np.float32]) -> int:
    """The channel whose nearest two rows, of different classes or of the root's, are farthest apart."""
    apart = np.abs(elements[:, None] - elements[None]).reshape(-1, elements.shape[1])
    return int(np.where(apart > 1e-5, apart, np.inf).min(axis=0).argmax())


def _count(network: StructuralNetwork, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The histogram of some elements of one channel, counted: (bins)."""
    density: NDArray[np.float32] = network.f_node.aggregation(torch.from_numpy(values[:, None]))[0].numpy()
    return density * len(values)


def _ego_network() -> tuple[Floats, Integers]:
    circles = [((-1.6, 0.8), 0.95, 5, 176), ((1.65, 0.8), 0.9, 4, 160)]
    places, edges = [np.zeros((1, 2))], []
    for middle, radius, count, turn in circles:
        angles = np.deg2rad(turn + 360 * np.arange(count) / count)
        start = sum(map(len, places))
        places.append(np.array(middle) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1))
        edges += [(start + a, start + b) for a in range(count) for b in range(a)]
    places.append(np.array([(-1.3, -2.05), (0.0, -2.3), (1.3, -2.05)]))
    edges += [(0, node) for node in range(1, sum(map(len, places)))]
    return np.concatenate(places), np.array(edges)


def _rows_of_nodes(first: Integers) -> Integers:
    """The row of every node, numbered as the engine does: a class's first node, and then all its others."""
    parts = np.stack([first, np.arange(len(first)) != first], axis=1)
    _, begins, part = np.unique(parts, axis=0, return_index=True, return_inverse=True)
    rows: Integers = begins.argsort().argsort()[part.ravel()]
    return rows


def _edges_between_rows(plan: Plan) -> Integers:
    source = np.repeat(np.arange(len(plan.multiplicity)), np.diff(plan.rows.indptr))
    return np.stack([source, plan.rows.indices], axis=1)[source < plan.rows.indices].astype(np.int64)


def example_of_balls() -> Balls:
    """A long mesh, the impulse left of its middle."""
    places, edges = _mesh()
    graph = as_graphset([(len(places), edges)])[0]
    root = int(np.hypot(*(places - np.array([-2.9, 0.1])).T).argmin())
    reach = sum(order - 1 for order in CONFIG.orders)
    hops = _hops(graph, root, reach)
    network, ball = make_network(CONFIG, n_classes=2, seed=2), hops <= reach
    without, reached = _responses(network, graph, root)
    channel = int(np.abs(reached - without).mean(axis=0).argmax())
    parts = (without, without[ball], reached[ball], reached)
    return Balls(places, edges, hops, reach, *(_count(network, part[:, channel]) for part in parts))


def _mesh(columns: int = 20, rows: int = 5, seed: int = 7) -> tuple[Floats, Integers]:
    """A jittered grid whose neighbours are joined for the most part."""
    generator = np.random.default_rng(seed)
    across, down = np.meshgrid(np.arange(columns), np.arange(rows))
    shift = 0.4 * (down % 2)
    places = np.stack([(across + shift) * 0.94, down * 0.94], axis=-1).reshape(-1, 2)
    places += generator.uniform(-0.17, 0.17, places.shape) - places.mean(axis=0)
    apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    edges = np.argwhere(np.triu(apart < 1.25, k=1))
    return places, edges[generator.random(len(edges)) < 0.72]


def _hops(graph: Graph, root: int, most: int) -> Integers:
    hops = np.full(graph.n_nodes, most + 1)
    hops[root] = 0
    for distance in range(most):
        for node in np.flatnonzero(hops == distance):
            around = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
            hops[around] = np.minimum(hops[around], distance + 1)
    return hops


@torch.no_grad()
def _responses(network: StructuralNetwork, graph: Graph, root: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Elements without an impulse and with one in the root, by the statistics of all roots: (nodes, channels) each."""
    batch, f_node = Batch.from_graphs(as_graphset([graph])), network.eval().f_node
    signals = impulses(torch.arange(graph.n_nodes)[None], graph.n_nodes, batch.dtype)  # (nodes, roots, 1)
    moments = f_node.moments(signals, batch, torch.ones(1, graph.n_nodes))
    pair = torch.cat([torch.zeros_like(signals[:, :1]), signals[:, root : root + 1]], dim=1)
    elements = f_node.norm(f_node.responses(pair, batch), batch.graph_of, moments)
    return elements[:, 0].numpy(), elements[:, 1].numpy()
