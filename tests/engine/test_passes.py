"""The engine computes what the reference does: scores, losses, embeddings, gradients, running statistics."""

from dataclasses import replace

import pytest
from engine_truth import ODD_GRAPHS, SMALL, check_engine, make_graphs, path, random_graphs, repeated, some_draws

from phist.engine.recursion import BESIDE
from phist.nn.kernels import KERNELS
from phist.nn.sampling import draw_all

SIZES = [6, 1, 9, 13]


@pytest.fixture(scope="module")
def graphs():
    return random_graphs(SIZES, seed=5, weights=0.5)


# The network ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_every_kernel_equals_the_reference(graphs, kernel, statistics):
    check_engine(replace(SMALL, kernel=kernel, statistics=statistics), graphs)


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("width", [0.5, 2.0])
def test_wide_and_narrow_kernels_equal_the_reference(graphs, kernel, width):
    check_engine(replace(SMALL, kernel=kernel, kernel_width=width), graphs)


@pytest.mark.parametrize("kernel", ["gaussian", "triangle", "smooth-rectangle"])
@pytest.mark.parametrize("bins", [1, 2, 5, 8, 14, 15, 24])
def test_any_number_of_bins_equals_the_reference(graphs, kernel, bins):
    check_engine(replace(SMALL, kernel=kernel, bins=bins), graphs)


@pytest.mark.parametrize("node", ["count", "density"])
@pytest.mark.parametrize("graph", ["count", "density"])
def test_counts_and_densities_equal_the_reference(graphs, node, graph):
    check_engine(replace(SMALL, node_histogram=node, graph_histogram=graph), graphs)


@pytest.mark.parametrize("aggregation", ["sum", "mean", "max"])
@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_siblings_of_the_histogram_equal_the_reference(graphs, aggregation, statistics):
    check_engine(replace(SMALL, aggregation=aggregation, statistics=statistics), graphs)


@pytest.mark.parametrize("orders", [(1,), (3,), (1, 1), (1, 3), (4, 1), (2, 3, 2), (6, 6), (2, 2, 2, 2)])
@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_any_orders_and_layers_equal_the_reference(graphs, orders, statistics):
    check_engine(replace(SMALL, orders=orders, channels=(3, 5, 4, 6)[: len(orders)], statistics=statistics), graphs)


@pytest.mark.parametrize("aggregation", ["histogram", "sum"])
def test_order_as_large_as_the_padded_embedding_equals_the_reference(graphs, aggregation):
    check_engine(replace(SMALL, orders=(16, 2), bins=1, aggregation=aggregation), graphs)


@pytest.mark.parametrize("channels", [(1, 1), (5, 16), (16, 17), (17, 5), (24, 33), (33, 24)])
def test_any_number_of_channels_equals_the_reference(graphs, channels):
    check_engine(replace(SMALL, channels=channels), graphs)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_training_and_evaluation_equal_the_reference(graphs, standardize, training):
    check_engine(replace(SMALL, standardize=standardize), graphs, training=training)


@pytest.mark.parametrize("scale", [0.3, 1.0])
def test_any_scale_of_the_operator_equals_the_reference(graphs, scale):
    check_engine(replace(SMALL, operator_scale=scale), graphs)


@pytest.mark.parametrize("kernel", ["gaussian", "smooth-rectangle"])
def test_the_papers_sizes_equal_the_reference(graphs, kernel):
    check_engine(replace(SMALL, orders=(4, 4), channels=(16, 24), bins=8, kernel=kernel), graphs, some_draws(graphs, 32))


# Graphs ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
@pytest.mark.parametrize("name", ODD_GRAPHS)
def test_odd_graphs_equal_the_reference(name, statistics):
    check_engine(replace(SMALL, statistics=statistics), ODD_GRAPHS[name])


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
@pytest.mark.parametrize("name", ODD_GRAPHS)
def test_all_roots_of_odd_graphs_equal_the_reference(name, statistics):
    graphs = ODD_GRAPHS[name]
    check_engine(replace(SMALL, statistics=statistics), graphs, draw_all(graphs.node_counts()))


@pytest.mark.parametrize("moments", ["none", "head"])
@pytest.mark.parametrize("seed", range(4))
def test_tiny_near_regular_graphs_seen_many_times_equal_the_reference(seed, moments):
    cliques = [[(u, v) for u in range(size) for v in range(u)] for size in (2, 3, 4, 6)]
    rings = [[*path(size), (0, size - 1)] for size in (3, 5, 8)]
    near = [cliques[3][1:], [*rings[1], (0, 2)], path(3), path(4)]
    graphs, start, edges = [*cliques, *rings, *near], 0, []
    sizes = [1 + max(max(edge) for edge in graph) for graph in graphs]
    for graph, size in zip(graphs, sizes, strict=True):
        edges += [(start + u, start + v) for u, v in graph]
        start += size
    packed = make_graphs(sizes, edges)
    config = replace(SMALL, channels=(16, 32), bins=8, moments=moments)
    check_engine(config, packed, some_draws(packed, 32, seed), seed=seed, usual=packed)


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_roots_drawn_several_times_count_so_often(graphs, statistics):
    check_engine(replace(SMALL, statistics=statistics), graphs, some_draws(graphs, count=50))


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_roots_named_several_times_equal_the_reference(graphs, statistics):
    check_engine(replace(SMALL, statistics=statistics), graphs, repeated(some_draws(graphs, count=20)))


def test_more_graphs_than_threads_in_any_order_equal_the_reference():
    graphs = random_graphs([3, 17, 1, 8, 8, 25, 2, 11, 5, 5], seed=9, probability=0.2)
    check_engine(SMALL, graphs)


# Ways to compute ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_balls", [True, False])
@pytest.mark.parametrize("orders", [(3,), (2, 2), (1, 3), (3, 1), (2, 3, 2)])
def test_balls_and_whole_graphs_equal_the_reference(by_balls, orders):
    graphs = random_graphs([30, 8, 1, 40], seed=2, probability=0.05, weights=0.5)
    check_engine(replace(SMALL, orders=orders, channels=(4, 5, 6)[: len(orders)]), graphs, by_balls=by_balls)


@pytest.mark.parametrize("by_balls", [True, False])
@pytest.mark.parametrize("name", ["disconnected", "star", "long path", "path of cliques", "kept loops", "one node", "edgeless"])
def test_balls_and_whole_graphs_of_odd_shape_equal_the_reference(name, by_balls):
    graphs = ODD_GRAPHS[name]
    check_engine(SMALL, graphs, draw_all(graphs.node_counts()), by_balls=by_balls)


@pytest.mark.parametrize("max_elements", [1, 700, 2500])
@pytest.mark.parametrize("by_balls", [True, False])
def test_roots_in_turns_equal_the_reference(max_elements, by_balls):
    graphs = random_graphs([30, 8, 1, 12], seed=2, probability=0.1)
    config = replace(SMALL, max_elements=max_elements)
    check_engine(config, graphs, draw_all(graphs.node_counts()), by_balls=by_balls)


@pytest.mark.parametrize("max_elements", [1, 700, 2500])
def test_roots_in_turns_with_statistics_of_their_own_equal_the_reference(max_elements):
    graphs = random_graphs([30, 8, 1, 12], seed=2, probability=0.1)
    config = replace(SMALL, statistics="per-root", max_elements=max_elements)
    check_engine(config, graphs, draw_all(graphs.node_counts()))


@pytest.mark.parametrize("max_elements", [1, 700, 5000, 1 << 24])
@pytest.mark.parametrize("orders", [(3,), (2, 2), (1, 3), (2, 3, 2)])
def test_roots_side_by_side_equal_the_reference(orders, max_elements):
    graphs = random_graphs([30, 8, 1, 13, 270], seed=2, probability=0.1, weights=0.5)
    config = replace(SMALL, orders=orders, channels=(4, 17, 6)[: len(orders)], max_elements=max_elements)
    check_engine(config, graphs, some_draws(graphs, 20), by_balls=False, beside=BESIDE)


@pytest.mark.parametrize("max_elements", [700, 1 << 24])
@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_every_kernel_of_roots_side_by_side_equals_the_reference(kernel, max_elements):
    graphs = random_graphs([30, 9], seed=3, probability=0.2)
    config = replace(SMALL, kernel=kernel, moments="head", max_elements=max_elements)
    check_engine(config, graphs, draw_all(graphs.node_counts()), by_balls=False, beside=BESIDE)


@pytest.mark.parametrize("name", ODD_GRAPHS)
def test_odd_graphs_with_roots_side_by_side_equal_the_reference(name):
    check_engine(replace(SMALL, max_elements=700), ODD_GRAPHS[name], by_balls=False, beside=BESIDE)


def test_random_walks_with_roots_side_by_side_equal_the_reference():
    directed = random_graphs(SIZES, seed=1, probability=0.2, weights=0.5, directed="keep")
    check_engine(replace(SMALL, operator="random-walk", max_elements=700), directed, beside=BESIDE)


def test_graph_with_more_rows_than_are_held_at_once_equals_the_reference():
    n_nodes = 1100  # a background's histograms are held for 1024 rows at a time
    graphs = make_graphs([n_nodes], path(n_nodes))
    check_engine(replace(SMALL, orders=(2, 2)), graphs, some_draws(graphs, count=12))


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_several_threads_equal_the_reference(graphs, threads, statistics):
    check_engine(replace(SMALL, statistics=statistics), graphs, threads=threads)


def test_more_threads_than_graphs_equal_the_reference():
    check_engine(SMALL, random_graphs([9, 6], seed=1), threads=3)


# Directed graphs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
@pytest.mark.parametrize("seed", range(3))
def test_random_walks_on_directed_graphs_equal_the_reference(seed, statistics):
    directed = random_graphs(SIZES, seed=seed, probability=0.2, weights=0.5, directed="keep")
    assert directed.directed
    check_engine(replace(SMALL, operator="random-walk", statistics=statistics), directed)


@pytest.mark.parametrize("orders", [(1,), (4,), (3, 3), (2, 3, 2)])
def test_random_walks_of_any_orders_equal_the_reference(orders):
    directed = random_graphs(SIZES, seed=1, probability=0.2, directed="keep")
    check_engine(replace(SMALL, operator="random-walk", orders=orders, channels=(3, 5, 4)[: len(orders)]), directed)


@pytest.mark.parametrize("name", ODD_GRAPHS)
def test_random_walks_on_odd_graphs_equal_the_reference(name):
    check_engine(replace(SMALL, operator="random-walk"), ODD_GRAPHS[name])


@pytest.mark.parametrize("moments", ["none", "head"])
def test_random_walks_with_loops_sinks_and_sources_equal_the_reference(moments):
    arcs = [(0, 1), (0, 2), (1, 2), (3, 2), (4, 4), (4, 0), (5, 6), (6, 7), (7, 5)]
    directed = make_graphs([5, 4], arcs, directed="keep", self_loops="keep")
    check_engine(replace(SMALL, operator="random-walk", moments=moments), directed)


# Maxima ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
@pytest.mark.parametrize("name", ["complete", "star", "long path", "weighted", "disconnected", "one node"])
def test_maxima_on_odd_graphs_equal_the_reference(name, statistics):
    check_engine(replace(SMALL, aggregation="max", statistics=statistics), ODD_GRAPHS[name])


def test_maxima_of_directed_graphs_equal_the_reference():
    directed = random_graphs(SIZES, seed=2, probability=0.2, directed="keep")
    check_engine(replace(SMALL, aggregation="max", operator="random-walk", moments="head"), directed)
