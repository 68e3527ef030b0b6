"""Why convolve node embeddings (section 3.3): black and white nodes, as many in either graph, arranged differently.

Let f_node have two embeddings only, black and white. An aggregation of the embeddings alone counts them, whatever it is, so
graphs with as many of each are the same to it. After a convolution every node also knows the colours around it: nodes in
clusters of one colour differ from nodes dispersed at random.
"""

import numpy as np
from numpy.typing import ArrayLike

from phist.errors import GraphInputError
from phist.graphs.convert import as_graphset
from phist.graphs.graph import Graph
from phist.theory.comparison import View
from phist.theory.geometry import Floats, check_at_least
from phist.theory.multiset import Multiset


def make_colourings(nodes: int = 12) -> tuple[Graph, Floats, Floats]:
    """A cycle with black (1) and white (0) nodes in turn, and with the black ones side by side.

    >>> _, dispersed, clustered = make_colourings(6)
    >>> dispersed, clustered
    (array([1., 0., 1., 0., 1., 0.]), array([1., 1., 1., 0., 0., 0.]))
    """
    check_at_least("nodes", nodes, 4)
    if nodes % 2:
        raise GraphInputError(f"{nodes} nodes were given; as many black as white ones need an even number")
    cycle = as_graphset([(nodes, [(node, (node + 1) % nodes) for node in range(nodes)])])[0]
    places = np.arange(nodes)
    return cycle, (places % 2 == 0).astype(np.float64), (places < nodes // 2).astype(np.float64)


def colouring_views(graph: Graph, first: ArrayLike, second: ArrayLike, hops: int = 1) -> list[View]:
    """Two colourings of a graph as an aggregation sees them: the colours alone, and beside those around each node.

    What is around a node i are [A x]_i, ..., [A^hops x]_i, of which every convolution by a polynomial of A is a linear
    function; they are whole numbers, so that equality is exact.

    >>> colours, convolved = colouring_views(*make_colourings())
    >>> colours.first == colours.second, convolved.first == convolved.second
    (True, False)
    """
    check_at_least("hops", hops, 1)
    colours = _checked(graph, first), _checked(graph, second)
    around = _diffused(graph, colours[0], hops), _diffused(graph, colours[1], hops)
    return [
        View(
            "colours",
            Multiset(colours[0][:, None]),
            Multiset(colours[1][:, None]),
            "as many nodes of each colour: no aggregation of them tells the graphs apart",
        ),
        View(
            "convolved",
            Multiset(around[0]),
            Multiset(around[1]),
            f"alike within {hops} hops too: no convolution so short, and no aggregation after it, tells the graphs apart",
        ),
    ]


def _diffused(graph: Graph, colour: Floats, hops: int) -> Floats:
    adjacency = graph.adjacency()
    columns = [colour]
    for _ in range(hops):
        columns.append(adjacency @ columns[-1])
    return np.stack(columns, axis=1)  # (nodes, hops + 1)


def _checked(graph: Graph, colours: ArrayLike) -> Floats:
    values = np.asarray(colours, np.float64)
    if values.shape != (graph.n_nodes,) or not np.isin(values, (0, 1)).all():
        raise GraphInputError(f"colours of shape {values.shape} were given; give 0 or 1 for each of {graph.n_nodes} nodes")
    return values
