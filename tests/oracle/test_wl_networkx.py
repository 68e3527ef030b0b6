"""Weisfeiler-Lehman hashes against those of networkx, on every graph of up to seven nodes and on random ones."""

import networkx as nx
import numpy as np
import pytest

from phist.graphs.packing import pack
from phist.graphs.symmetry import weisfeiler_lehman_hashes

pytestmark = pytest.mark.filterwarnings("ignore:The hashes produced for graphs")


def pack_networkx(graphs):
    ends, weights, first = [], [], 0
    for graph in graphs:
        names = {node: first + number for number, node in enumerate(graph)}
        ends += [(names[a], names[b]) for a, b in graph.edges]
        weights += [weight for _, _, weight in graph.edges(data="weight", default=1.0)]
        first += len(graph)
    source, target = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    return pack(np.array([len(graph) for graph in graphs]), source, target, np.array(weights))


def same_partition(left, right):
    return len(set(left)) == len(set(right)) == len(set(zip(left, right, strict=True)))


def test_hashes_split_the_graph_atlas_as_networkx_does():
    atlas = nx.graph_atlas_g()[1:]  # the first graph has no node
    theirs = [nx.weisfeiler_lehman_graph_hash(graph, iterations=8) for graph in atlas]
    ours = weisfeiler_lehman_hashes(pack_networkx(atlas)).tolist()
    assert len(set(ours)) < len(atlas)  # some pairs are out of reach of 1-WL
    assert same_partition(ours, theirs)


@pytest.mark.parametrize("seed", range(3))
def test_hashes_split_random_graphs_as_networkx_does(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 20, size=40).tolist()
    graphs = [nx.gnp_random_graph(size, 0.8 / size, seed=int(rng.integers(2**31))) for size in sizes]
    graphs += [nx.relabel_nodes(graph, dict(enumerate(rng.permutation(len(graph)).tolist()))) for graph in graphs]
    theirs = [nx.weisfeiler_lehman_graph_hash(graph, iterations=20) for graph in graphs]
    assert same_partition(weisfeiler_lehman_hashes(pack_networkx(graphs)).tolist(), theirs)


def test_hashes_split_weighted_graphs_as_networkx_does():
    rng = np.random.default_rng(0)
    graphs = []
    for _ in range(80):
        graph = nx.gnp_random_graph(5, 0.3, seed=int(rng.integers(2**31)))
        nx.set_edge_attributes(graph, {edge: float(rng.choice([0.5, 1.0])) for edge in graph.edges}, "weight")
        graphs.append(graph)
    theirs = [nx.weisfeiler_lehman_graph_hash(graph, edge_attr="weight", iterations=6) for graph in graphs]
    assert same_partition(weisfeiler_lehman_hashes(pack_networkx(graphs)).tolist(), theirs)
