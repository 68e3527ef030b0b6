"""Weisfeiler-Lehman colours and hashes, against a slow refinement with dictionaries."""

import numpy as np
import pytest

from phist.errors import ConfigError
from phist.graphs import symmetry
from phist.graphs.graphset import GraphSet
from phist.graphs.packing import Reading, pack
from phist.graphs.symmetry import weisfeiler_lehman_colors, weisfeiler_lehman_hashes


def graph_of(n_nodes, edges, weights=None, directed=False, self_loops="drop"):
    source, target = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    reading = Reading(directed="keep" if directed else None, self_loops=self_loops)
    return pack(np.array([n_nodes]), source, target, None if weights is None else np.array(weights, float), reading=reading)


def path(n_nodes):
    return graph_of(n_nodes, [(i, i + 1) for i in range(n_nodes - 1)])


def cycle(n_nodes):
    return graph_of(n_nodes, [(i, (i + 1) % n_nodes) for i in range(n_nodes)])


def random_graphs(n_graphs, rng, *, weighted=False, directed=False, self_loops="drop", max_nodes=8):
    """Small and sparse, so that equal graphs, isolated nodes and one-node graphs all occur."""
    parts = []
    for _ in range(n_graphs):
        n_nodes = int(rng.integers(1, max_nodes + 1))
        edges = rng.integers(n_nodes, size=(int(rng.integers(0, 2 * n_nodes)), 2))
        weights = rng.choice([0.5, 1.0, 2.0], size=len(edges)) if weighted else None
        parts.append(graph_of(n_nodes, edges, weights, directed, self_loops))
    return GraphSet.concatenate(parts)


def relabelled(graphs, rng):
    parts = []
    for graph in graphs:
        names = rng.permutation(graph.n_nodes)
        source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
        reading = Reading(directed="keep" if graph.directed else None, self_loops="keep")
        parts.append(pack(np.array([graph.n_nodes]), names[source], names[graph.indices], graph.weights, reading=reading))
    return GraphSet.concatenate(parts)


def slow_colors(graphs, rounds):
    """The definition, word for word: a colour is the colour before and the two multisets of (colour, weight) around it."""
    arcs = []
    for number, graph in enumerate(graphs):
        weights = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
        source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
        first = int(graphs.node_ptr[number])
        arcs += [(first + int(a), first + int(b), float(w)) for a, b, w in zip(source, graph.indices, weights, strict=True)]
    loops = {a: w for a, b, w in arcs if a == b}
    colors = [loops.get(node, 0) for node in range(graphs.n_nodes)]
    for _ in range(rounds):
        out_of, into = [[] for _ in colors], [[] for _ in colors]
        for a, b, w in arcs:
            out_of[a].append((colors[b], w))
            into[b].append((colors[a], w))
        signatures = [(colors[v], tuple(sorted(out_of[v])), tuple(sorted(into[v]))) for v in range(len(colors))]
        numbers = {signature: number for number, signature in enumerate(dict.fromkeys(signatures))}
        colors = [numbers[signature] for signature in signatures]
    return colors


def same_partition(left, right):
    left, right = list(left), list(right)
    return len(set(left)) == len(set(right)) == len(set(zip(left, right, strict=True)))


def multisets(graphs, colors):
    return [tuple(sorted(colors[a:b])) for a, b in zip(graphs.node_ptr[:-1], graphs.node_ptr[1:], strict=True)]


KINDS = {
    "plain": {},
    "weighted": {"weighted": True},
    "directed": {"directed": True},
    "weighted and directed": {"weighted": True, "directed": True},
    "with loops": {"self_loops": "keep"},
    "with weighted loops": {"self_loops": "keep", "weighted": True, "directed": True},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rounds", [0, 1, 2, None])
def test_colors_are_those_of_the_slow_refinement(kind, rounds):
    graphs = random_graphs(60, np.random.default_rng(1), **KINDS[kind])
    slow = slow_colors(graphs, 10 if rounds is None else rounds)
    assert same_partition(weisfeiler_lehman_colors(graphs, rounds), slow)


@pytest.mark.parametrize("kind", KINDS)
def test_hashes_are_equal_exactly_where_the_stable_colors_are(kind):
    graphs = random_graphs(150, np.random.default_rng(2), **KINDS[kind])
    slow = multisets(graphs, slow_colors(graphs, 10))
    assert len(set(slow)) < len(graphs)  # else there would be nothing to find
    assert same_partition(weisfeiler_lehman_hashes(graphs).tolist(), slow)


@pytest.mark.parametrize("kind", KINDS)
def test_hashes_ignore_the_order_of_nodes(kind):
    rng = np.random.default_rng(3)
    graphs = random_graphs(40, rng, **KINDS[kind])
    np.testing.assert_array_equal(weisfeiler_lehman_hashes(graphs), weisfeiler_lehman_hashes(relabelled(graphs, rng)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_hash_does_not_depend_on_the_other_graphs(kind):
    graphs = random_graphs(30, np.random.default_rng(4), **KINDS[kind], max_nodes=15)
    alone = np.concatenate([weisfeiler_lehman_hashes(graphs[i : i + 1]) for i in range(len(graphs))])
    np.testing.assert_array_equal(weisfeiler_lehman_hashes(graphs), alone)


@pytest.mark.parametrize("kind", KINDS)
def test_cutting_the_set_into_pieces_changes_nothing(kind, monkeypatch):
    graphs = random_graphs(30, np.random.default_rng(5), **KINDS[kind])
    hashes, colors = weisfeiler_lehman_hashes(graphs), weisfeiler_lehman_colors(graphs)
    monkeypatch.setattr(symmetry, "_ARCS_AT_A_TIME", 5)
    np.testing.assert_array_equal(weisfeiler_lehman_hashes(graphs), hashes)
    np.testing.assert_array_equal(weisfeiler_lehman_colors(graphs), colors)


def test_graphs_that_settle_in_different_rounds_get_different_hashes():
    graphs = GraphSet.concatenate([path(n) for n in range(1, 40)] + [cycle(n) for n in range(3, 40)])
    assert len(np.unique(weisfeiler_lehman_hashes(graphs))) == len(graphs)


def test_regular_graphs_of_equal_size_and_different_degree_get_different_hashes():
    ring = [(i, (i + 1) % 8) for i in range(8)]
    chords = [(i, i + 4) for i in range(4)]
    hashes = weisfeiler_lehman_hashes(GraphSet.concatenate([graph_of(8, ring), graph_of(8, ring + chords), graph_of(8, [])]))
    assert len(set(hashes.tolist())) == 3


def test_one_ring_and_two_rings_get_one_hash():
    two = graph_of(10, [(i, (i + 1) % 5) for i in range(5)] + [(5 + i, 5 + (i + 1) % 5) for i in range(5)])
    assert weisfeiler_lehman_hashes(cycle(10)) == weisfeiler_lehman_hashes(two)


def test_weights_of_one_are_no_weights():
    edges = [(0, 1), (1, 2), (2, 3)]
    plain, weighted = graph_of(4, edges), graph_of(4, edges, [1, 1, 2])
    both = GraphSet.concatenate([weighted, plain])
    assert both.weights is not None
    assert weisfeiler_lehman_hashes(both)[1] == weisfeiler_lehman_hashes(plain)[0]
    assert weisfeiler_lehman_hashes(both)[0] != weisfeiler_lehman_hashes(plain)[0]


def test_direction_of_arcs_counts():
    into_the_middle = graph_of(3, [(0, 1), (2, 1)], directed=True)
    out_of_the_middle = graph_of(3, [(1, 0), (1, 2)], directed=True)
    assert weisfeiler_lehman_hashes(into_the_middle) != weisfeiler_lehman_hashes(out_of_the_middle)


def test_a_loop_is_not_mistaken_for_an_edge():
    loops = graph_of(2, [(0, 0), (1, 1)], self_loops="keep")
    assert weisfeiler_lehman_hashes(loops) != weisfeiler_lehman_hashes(graph_of(2, [(0, 1)]))


def test_hashes_stay_the_same_from_release_to_release():
    # Stored hashes and published duplicate lists rely on it: change the number only together with a note to users.
    assert weisfeiler_lehman_hashes(path(3)).tolist() == [11162204425980345693]


def test_graphs_of_isolated_nodes_are_told_apart_by_size_only():
    hashes = weisfeiler_lehman_hashes(pack(np.array([1, 2, 1, 3]), np.empty(0, np.int64), np.empty(0, np.int64)))
    assert same_partition(hashes.tolist(), [1, 2, 1, 3])


def test_colors_are_numbered_in_order_of_appearance():
    colors = weisfeiler_lehman_colors(random_graphs(50, np.random.default_rng(6)))
    first_seen = list(dict.fromkeys(colors.tolist()))
    assert first_seen == list(range(len(first_seen)))


def test_an_empty_set_has_no_colors_and_no_hashes():
    empty = path(3)[:0]
    assert len(weisfeiler_lehman_colors(empty)) == len(weisfeiler_lehman_hashes(empty)) == 0


def test_negative_rounds_are_refused():
    with pytest.raises(ConfigError, match=r"rounds=-1.*0 or more.*rounds=None"):
        weisfeiler_lehman_colors(path(3), rounds=-1)


@pytest.mark.parametrize("rounds", [0, 1, 2])
@pytest.mark.parametrize(("weighted", "directed"), [(False, False), (True, False), (False, True), (True, True)])
def test_refining_class_by_class_finds_what_rounds_find(monkeypatch, rounds, weighted, directed):
    rng = np.random.default_rng(5)
    graphs = random_graphs(60, rng, weighted=weighted, directed=directed, self_loops="keep")
    graphs = GraphSet.concatenate([graphs, relabelled(graphs, rng), graph_of(6, [(0, 1)], directed=directed)])
    colors, groups = weisfeiler_lehman_colors(graphs), np.unique(weisfeiler_lehman_hashes(graphs), return_inverse=True)[1]
    monkeypatch.setattr(symmetry, "_MOST_ROUNDS", rounds)
    assert np.array_equal(weisfeiler_lehman_colors(graphs), colors)
    refined = np.unique(weisfeiler_lehman_hashes(graphs), return_inverse=True)[1]
    assert len(set(zip(groups.tolist(), refined.tolist(), strict=True))) == len(set(groups.tolist())) == len(set(refined.tolist()))


def test_a_long_path_takes_a_bounded_number_of_rounds(monkeypatch):
    refine, calls = symmetry._refine, []
    monkeypatch.setattr(symmetry, "_refine", lambda *arguments: calls.append(1) or refine(*arguments))
    source = np.arange(19_999)
    long = pack(np.array([20_000]), source, source + 1)
    assert weisfeiler_lehman_colors(long).max() + 1 == 10_000
    assert len(np.unique(weisfeiler_lehman_hashes(GraphSet.concatenate([long, long[:1], path(19_999)])))) == 2
    assert len(calls) <= 2 * symmetry._MOST_ROUNDS_OF_LARGE
