"""Two graphs as multisets: of Weisfeiler-Lehman colours, and of what a network's impulse responses and embeddings are.

What equality of each view implies is less than one may think. *Responses* of all nodes to all roots form one multiset, in
which it is forgotten whose they are: equal ones may still be shared out differently among the roots, and then node embeddings
differ. *Node embeddings* are a multiset too, but f_graph convolves them over the graph before it aggregates: equal ones may be
arranged differently. Only the view of e_G, one vector for each graph, decides whether the network tells them apart.
"""

import numpy as np
import torch

from phist.errors import ConfigError
from phist.graphs.graphset import GraphSet
from phist.graphs.symmetry import weisfeiler_lehman_colors
from phist.nn.batch import Batch
from phist.nn.config import NetworkConfig
from phist.nn.functional import impulses
from phist.nn.network import StructuralNetwork, make_network
from phist.nn.sampling import all_roots
from phist.theory.comparison import View
from phist.theory.geometry import Floats
from phist.theory.multiset import Multiset

MOST_NODES = 300  # all pairs of nodes are looked at
SNAP = 1e-8  # responses that differ by less are the same up to the order of summation in double precision
MEANINGS = {
    "responses": "equal responses: no aggregation that takes all nodes and roots at once tells the graphs apart; "
    "node embeddings, which take the roots one by one, may",
    "embeddings": "equal node embeddings: no aggregation of them tells the graphs apart; f_graph, which convolves them first, may",
    "graph-embedding": "equal e_G: this network, with every node a root, does not tell the graphs apart, whatever its head",
}


def color_view(pair: GraphSet) -> View:
    """The stable 1-WL colours of two graphs, coloured together: equal multisets mean that 1-WL cannot tell them apart.

    >>> from phist.graphs.convert import as_graphset
    >>> hexagon = (6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)])
    >>> triangles = (6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])
    >>> view = color_view(as_graphset([hexagon, triangles]))
    >>> view.first == view.second
    True
    """
    _check_pair(pair)
    colors = weisfeiler_lehman_colors(pair)
    marks = np.eye(int(colors.max()) + 1)[colors]  # one entry per colour: their numbers mean nothing
    border = int(pair.node_ptr[1])
    return View(
        "wl-colors",
        Multiset(marks[:border]),
        Multiset(marks[border:]),
        "equal stable colours: no message passing without marked roots tells the graphs apart",
    )


def network_views(pair: GraphSet, network: StructuralNetwork | None = None, seed: int = 0) -> list[View]:
    """Two graphs as a network sees them with every node a root: whitened responses, node embeddings, and e_G.

    Args:
        pair: two graphs.
        network: a trained one; a random one of the default shape, drawn from ``seed``, where left out.
    """
    _check_pair(pair)
    network = make_network(NetworkConfig(), 2, seed) if network is None else network
    network = _in_double_precision(network)
    seen = zip(*(_seen(network, pair[[graph]]) for graph in range(2)), strict=True)
    return [View(name, *_snapped(*sides), meaning) for (name, meaning), sides in zip(MEANINGS.items(), seen, strict=True)]


def _check_pair(pair: GraphSet) -> None:
    if len(pair) != 2:
        raise ConfigError(f"{len(pair)} graphs were given; exactly two are compared")
    if int(pair.node_counts().max()) > MOST_NODES:
        raise ConfigError(
            f"a graph of {pair.node_counts().max()} nodes was given; responses of all nodes to all roots are compared for at "
            f"most {MOST_NODES}: give smaller graphs"
        )


def _in_double_precision(network: StructuralNetwork) -> StructuralNetwork:
    """A copy: the network given stays in its own precision."""
    copy = StructuralNetwork(network.config, network.head.out_features)
    copy.load_state_dict(network.state_dict())
    return copy.double().eval()


@torch.no_grad()
def _seen(network: StructuralNetwork, graph: GraphSet) -> tuple[Floats, Floats, Floats]:
    batch = Batch.from_graphs(graph, dtype=torch.float64)
    roots = all_roots(batch)
    level = network.f_node
    response = level.responses(impulses(roots.nodes, batch.n_nodes, batch.dtype), batch)
    moments = level.norm.moments(response, batch.graph_of, batch.node_counts, roots.multiplicity)
    elements = level.norm(response, batch.graph_of, moments).flatten(0, 1)  # (nodes * roots, channels)
    nodes = network.node_level(batch, roots)
    return elements.numpy(), nodes.embeddings[0].numpy(), network.read(batch, roots, nodes).numpy()


def _snapped(first: Floats, second: Floats) -> tuple[Multiset, Multiset]:
    """Both as multisets, values nearer than `SNAP` made one: sorted, a gap begins a new value."""
    together = np.concatenate([first, second])
    for column in together.T:
        order = np.argsort(column)
        begins = np.concatenate([[True], np.diff(column[order]) > SNAP])
        column[order] = column[order][begins][np.cumsum(begins) - 1]
    return Multiset(together[: len(first)]), Multiset(together[len(first) :])
