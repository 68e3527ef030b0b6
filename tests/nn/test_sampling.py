"""Which nodes are roots."""

import numpy as np
import pytest
import torch

from phist.errors import ConfigError
from phist.nn.batch import Batch
from phist.nn.sampling import Draws, Roots, RootSampler, all_roots

SIZES = [5, 1, 40, 5]


@pytest.fixture
def batch(random_graphs):
    return Batch.from_graphs(random_graphs(SIZES))


def sample(sampler, batch, seed=0):
    return sampler.sample(batch, np.random.default_rng(seed))


def local(roots, batch, graph):
    """Roots of one graph, numbered within it, with how often each was drawn."""
    drawn = roots.multiplicity[graph] > 0
    return (roots.nodes[graph] - batch.node_ptr[graph])[drawn].tolist(), roots.multiplicity[graph][drawn].tolist()


def test_draws_with_replacement_add_up_to_the_count(batch):
    roots = sample(RootSampler(count=32), batch)
    assert roots.multiplicity.sum(1).tolist() == [32] * 4


def test_oversampling_draws_in_proportion_to_the_size(batch):
    roots = sample(RootSampler("oversample", factor=2.5), batch)
    assert roots.multiplicity.sum(1).tolist() == [13, 3, 100, 13]


def test_all_takes_every_node_once(batch):
    for roots in (all_roots(batch), sample(RootSampler("all"), batch), RootSampler("all").sample_by_size(batch, (0,))):
        for graph, size in enumerate(SIZES):
            assert local(roots, batch, graph) == (list(range(size)), [1] * size)


@pytest.mark.parametrize("kind", ["replacement", "all", "oversample"])
def test_roots_belong_to_their_graph_in_empty_slots_too(batch, kind):
    roots = sample(RootSampler(kind), batch)
    assert torch.equal(batch.graph_of[roots.nodes], torch.arange(4)[:, None].expand_as(roots.nodes))


def test_distinct_roots_take_one_slot_each(batch):
    roots = sample(RootSampler(count=100), batch)
    for graph, size in enumerate(SIZES):
        nodes, _ = local(roots, batch, graph)
        assert len(set(nodes)) == len(nodes) <= size
    assert roots.nodes.shape[1] <= max(SIZES)


def test_every_node_is_drawn_about_as_often(batch):
    roots = sample(RootSampler(count=40_000), batch)
    _, multiplicity = local(roots, batch, 2)
    np.testing.assert_allclose(multiplicity, 1000, rtol=0.15)


def test_same_seed_gives_the_same_roots_and_another_gives_others(batch):
    first, again, other = (sample(RootSampler(), batch, seed) for seed in (3, 3, 4))
    assert torch.equal(first.nodes, again.nodes) and torch.equal(first.multiplicity, again.multiplicity)
    assert first.nodes.shape != other.nodes.shape or not torch.equal(first.nodes, other.nodes)


@pytest.mark.parametrize("kind", ["replacement", "oversample"])
def test_roots_by_size_depend_on_neither_batch_mates_nor_order(random_graphs, batch, kind):
    sampler = RootSampler(kind, count=7)
    together = sampler.sample_by_size(batch, (5, 0))
    graphs = random_graphs(SIZES)
    for chosen in ([3, 2, 1, 0], [2], [1, 2]):
        other = Batch.from_graphs(graphs[chosen])
        roots = sampler.sample_by_size(other, (5, 0))
        assert [local(roots, other, place) for place in range(len(chosen))] == [local(together, batch, graph) for graph in chosen]


def test_roots_by_size_change_with_the_seed(batch):
    drawn = [local(RootSampler().sample_by_size(batch, (5, realization)), batch, 2) for realization in (0, 1)]
    assert drawn[0] != drawn[1]


def test_split_keeps_every_slot_in_order(batch):
    roots = all_roots(batch)
    parts = roots.split(7)
    assert [part.nodes.shape[1] for part in parts] == [7, 7, 7, 7, 7, 5]
    joined = Roots(*(torch.cat([getattr(part, name) for part in parts], dim=1) for name in ("nodes", "multiplicity")))
    assert torch.equal(joined.nodes, roots.nodes) and torch.equal(joined.multiplicity, roots.multiplicity)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "some"}, "sampler='some'"),
        ({"count": 0}, "roots=0"),
        ({"factor": 0.0}, "factor=0.0"),
        ({"count": 10**9}, "roots=1000000000"),
    ],
)
def test_impossible_samplers_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        RootSampler(**options)


@pytest.mark.parametrize(("begin", "end"), [(0, 4), (0, 2), (1, 2), (2, 4), (3, 3)])
def test_part_of_draws_is_that_of_its_graphs(begin, end):
    draws = RootSampler(count=6).draw(np.array(SIZES), np.random.default_rng(0))
    part = draws.part(begin, end)
    assert isinstance(part, Draws) and part.ptr[0] == 0 and len(part.ptr) == end - begin + 1
    assert len(part.nodes) == len(part.counts) == part.ptr[-1]
    for graph in range(begin, end):
        own, whole = slice(*part.ptr[graph - begin :][:2]), slice(*draws.ptr[graph:][:2])
        np.testing.assert_array_equal(part.nodes[own], draws.nodes[whole])
        np.testing.assert_array_equal(part.counts[own], draws.counts[whole])


def test_parts_of_draws_keep_their_types():
    draws = RootSampler(count=6).draw(np.array(SIZES), np.random.default_rng(0))
    assert [array.dtype for array in draws.part(1, 3)] == [array.dtype for array in draws]


# Views ----------------------------------------------------------------------------------------------------------------


def times_of(draws, graph, size):
    own = slice(*draws.ptr[graph:][:2])
    times = np.zeros(size)
    times[draws.nodes[own]] = draws.counts[own]
    return times


def test_views_are_the_draws_of_each_realization():
    sampler, sizes = RootSampler(count=4), np.array([3, 50, 7])
    views = sampler.views_by_size(sizes, seed=5, count=3)
    for number, draws in enumerate(views.draws):
        for found, expected in zip(draws, sampler.draw_by_size(sizes, (5, number)), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_small_graphs_are_embedded_whole_and_of_large_ones_what_was_drawn():
    sampler, sizes = RootSampler(count=4), np.array([3, 50, 12, 13])
    views = sampler.views_by_size(sizes, seed=5, count=3)
    assert sampler.most_views(sizes, 3).tolist() == [3, 12, 12, 12]
    assert (times_of(views.roots, 0, 3) == 1).all() and (times_of(views.roots, 2, 12) == 1).all()
    for graph in (1, 3):
        drawn = sum(times_of(draws, graph, sizes[graph]) for draws in views.draws)
        np.testing.assert_array_equal(times_of(views.roots, graph, sizes[graph]), drawn)


def test_every_node_at_once_is_one_view_of_all():
    views = RootSampler("all").views_by_size(np.array([3, 5]), seed=0, count=1)
    assert views.roots.ptr.tolist() == [0, 3, 8] and (views.roots.counts == 1).all()
