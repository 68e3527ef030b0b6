"""What holds for the network on any graphs."""

from dataclasses import replace

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from phist.graphs.graphset import GraphSet
from phist.graphs.packing import pack
from phist.nn.batch import Batch
from phist.nn.config import NetworkConfig
from phist.nn.histogram import ProjectiveHistogram
from phist.nn.kernels import KERNELS
from phist.nn.network import make_network
from phist.nn.sampling import Roots, RootSampler, all_roots

CONFIG = NetworkConfig(orders=(3, 2), channels=(3, 4), bins=4)
SMOOTH = [name for name in sorted(KERNELS) if name != "uniform"]  # a uniform bin jumps where rounding differs

few = settings(max_examples=25, deadline=None)


@st.composite
def graph_sets(draw, max_graphs=4, max_nodes=7):
    """A few small graphs with any edges and weights."""
    sizes = np.array(draw(st.lists(st.integers(1, max_nodes), min_size=1, max_size=max_graphs)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    probability = draw(st.sampled_from([0.0, 0.2, 0.5, 1.0]))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    pairs = [start + np.argwhere(rng.random((size, size)) < probability) for start, size in zip(starts, sizes, strict=False)]
    source, target = np.concatenate(pairs).T
    weights = rng.uniform(0.1, 5.0, len(source)) if draw(st.booleans()) else None
    return pack(sizes, source, target, weights)


def configurations():
    return st.builds(
        lambda **options: replace(CONFIG, **options),
        kernel=st.sampled_from(SMOOTH),
        statistics=st.sampled_from(["joint", "per-root"]),
        convolution=st.sampled_from(["chebyshev", "cayley", "arma", "gin", "sage"]),
        moments=st.sampled_from(["none", "head"]),
    )


def batch_of(graphs):
    return Batch.from_graphs(graphs, dtype=torch.float64)


def ready(config):
    """A network in double precision with statistics that are neither zero nor one."""
    network = make_network(config, 3, seed=0).double()
    batch = batch_of(pack(np.array([5, 4]), np.array([0, 1, 2, 3, 5, 6, 7]), np.array([1, 2, 3, 4, 6, 7, 8])))
    with torch.no_grad():
        network(batch, all_roots(batch))
    return network.eval()


def sampled(batch, seed):
    return RootSampler(count=5).sample(batch, np.random.default_rng(seed))


@few
@given(graphs=graph_sets(), config=configurations(), seed=st.integers(0, 100))
def test_result_of_a_graph_is_the_same_in_any_batch(graphs, config, seed):
    network, batch = ready(config), batch_of(graphs)
    roots = sampled(batch, seed)
    together = network(batch, roots)
    for graph in range(len(graphs)):
        alone = Roots(roots.nodes[[graph]] - batch.node_ptr[graph], roots.multiplicity[[graph]])
        torch.testing.assert_close(network(batch_of(graphs[[graph]]), alone)[0], together[graph])


@few
@given(graphs=graph_sets(max_graphs=1), config=configurations(), seed=st.integers(0, 100))
def test_node_numbers_do_not_matter(graphs: GraphSet, config, seed):
    network, batch = ready(config), batch_of(graphs)
    roots = sampled(batch, seed)
    place = np.random.default_rng(seed).permutation(graphs.n_nodes)
    source = np.repeat(np.arange(graphs.n_nodes), graphs.degrees())
    relabelled = pack(np.array([graphs.n_nodes]), place[source], place[graphs.indices], graphs.weights)
    moved = Roots(torch.from_numpy(place)[roots.nodes], roots.multiplicity)
    torch.testing.assert_close(network(batch_of(relabelled), moved), network(batch, roots))


@few
@given(graphs=graph_sets(), config=configurations(), max_elements=st.integers(1, 400))
def test_roots_in_turns_give_the_same_result(graphs, config, max_elements):
    batch = batch_of(graphs)
    with torch.no_grad():
        whole = ready(config)(batch, all_roots(batch))
        in_turns = ready(replace(config, max_elements=max_elements))(batch, all_roots(batch))
    torch.testing.assert_close(in_turns, whole)


@few
@given(graphs=graph_sets(), config=configurations(), seed=st.integers(0, 100))
def test_scores_and_gradients_are_finite(graphs, config, seed):
    network = make_network(config, 2, seed=0)
    batch = Batch.from_graphs(graphs)
    scores = network(batch, sampled(batch, seed))
    scores.square().sum().backward()
    assert scores.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in network.parameters())


@few
@given(
    kernel=st.sampled_from(sorted(KERNELS)),
    bins=st.integers(1, 9),
    sizes=st.lists(st.integers(0, 6), min_size=1, max_size=5),
    seed=st.integers(0, 100),
)
def test_histogram_of_a_union_is_the_sum_of_the_histograms(kernel, bins, sizes, seed):
    x = torch.rand(sum(sizes), 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 2 - 1
    ptr = torch.tensor([0, *np.cumsum(sizes)])
    histogram = ProjectiveHistogram(bins, kernel)
    torch.testing.assert_close(histogram(x, ptr=ptr).sum(0, keepdim=True), histogram(x))
