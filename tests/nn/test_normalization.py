"""Whitening of multisets, and the running standardisation of embeddings."""

import pytest
import torch

from phist.nn.normalization import Moments, MultisetNorm, RunningStandardizer, merge_moments

SIZES = torch.tensor([4, 1, 6])
GRAPH_OF = torch.repeat_interleave(torch.arange(3), SIZES)
WEIGHTS = torch.tensor([[1.0, 2.0, 3.0], [5.0, 0.0, 0.0], [1.0, 1.0, 0.0]], dtype=torch.float64)


def responses(roots=3, channels=2, seed=0):
    return torch.randn(11, roots, channels, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def draws():
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(4, 5, 3, generator=generator) * 2 + 1 for _ in range(6)]


# MultisetNorm ---------------------------------------------------------------------------------------------------------


def test_joint_statistics_are_those_of_all_draws_of_a_graph():
    x = responses()
    moments = MultisetNorm("joint").moments(x, GRAPH_OF, SIZES, WEIGHTS)
    for graph, nodes in enumerate(x.split(SIZES.tolist())):
        drawn = torch.repeat_interleave(nodes, WEIGHTS[graph].long(), dim=1).flatten(0, 1)
        torch.testing.assert_close(moments.mean[graph, 0], drawn.mean(0))
        torch.testing.assert_close(moments.variance[graph, 0], drawn.var(0, unbiased=False))
        assert moments.weight[graph] == len(drawn)


def test_statistics_per_root_are_those_of_its_nodes():
    x = responses()
    moments = MultisetNorm("per-root").moments(x, GRAPH_OF, SIZES, WEIGHTS)
    for graph, nodes in enumerate(x.split(SIZES.tolist())):
        torch.testing.assert_close(moments.mean[graph], nodes.mean(0))
        torch.testing.assert_close(moments.variance[graph], nodes.var(0, unbiased=False))


def test_root_of_multiplicity_three_equals_three_slots():
    x, norm = responses(), MultisetNorm("joint")
    multiplicity = torch.tensor([[1.0, 3.0, 2.0]] * 3, dtype=torch.float64)
    repeated = torch.repeat_interleave(x, torch.tensor([1, 3, 2]), dim=1)
    expected = norm.moments(repeated, GRAPH_OF, SIZES, torch.ones(3, 6, dtype=torch.float64))
    torch.testing.assert_close(norm.moments(x, GRAPH_OF, SIZES, multiplicity), expected)


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_elements_are_whitened_then_squashed(statistics):
    x, norm = responses(), MultisetNorm(statistics, epsilon=0)
    ones = torch.ones(3, 3, dtype=torch.float64)
    whitened = torch.atanh(norm(x, GRAPH_OF, norm.moments(x, GRAPH_OF, SIZES, ones))[GRAPH_OF == 2])
    over = (0, 1) if statistics == "joint" else 0
    mean, variance = whitened.mean(over), whitened.var(over, unbiased=False)
    torch.testing.assert_close(mean, torch.zeros_like(mean), atol=1e-12, rtol=0)
    torch.testing.assert_close(variance, torch.ones_like(variance))


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_constant_channels_stay_finite_and_so_do_their_gradients(statistics):
    x, norm = torch.full((11, 3, 2), 7.0, requires_grad=True), MultisetNorm(statistics)
    elements = norm(x, GRAPH_OF, norm.moments(x, GRAPH_OF, SIZES, WEIGHTS.float()))
    elements.sum().backward()
    assert elements.abs().max() < 1e-3
    assert x.grad.isfinite().all()


def test_large_offsets_do_not_spoil_the_variance():
    x = responses().float()
    near = MultisetNorm().moments(x, GRAPH_OF, SIZES, WEIGHTS.float()).variance
    far = MultisetNorm().moments(x + 1000, GRAPH_OF, SIZES, WEIGHTS.float()).variance
    torch.testing.assert_close(far, near, rtol=1e-3, atol=1e-4)


def test_graph_without_draws_in_a_turn_has_finite_moments():
    nothing = MultisetNorm("joint").moments(responses(), GRAPH_OF, SIZES, torch.zeros(3, 3, dtype=torch.float64))
    assert all(part.isfinite().all() for part in nothing)


def test_moments_of_parts_merge_into_the_joint_ones():
    x, norm = responses(), MultisetNorm("joint")
    parts = [norm.moments(x[:, slots], GRAPH_OF, SIZES, WEIGHTS[:, slots]) for slots in (slice(0, 1), slice(1, 3))]
    torch.testing.assert_close(merge_moments(parts), norm.moments(x, GRAPH_OF, SIZES, WEIGHTS))


def test_moments_of_one_part_are_its_own():
    part = Moments(torch.full((2, 1, 1), 4.0), torch.rand(2, 1, 3), torch.rand(2, 1, 3))
    torch.testing.assert_close(merge_moments([part]), part)


# RunningStandardizer --------------------------------------------------------------------------------------------------


def test_first_batch_is_standardised_by_its_own_statistics():
    standardizer, x = RunningStandardizer(3, epsilon=0), draws()[0]
    result = standardizer(x).flatten(0, 1)
    torch.testing.assert_close(result.mean(0), torch.zeros(3), atol=1e-5, rtol=0)
    torch.testing.assert_close(result.var(0, unbiased=False), torch.ones(3))


def test_until_they_settle_statistics_are_those_of_all_batches_so_far():
    standardizer, batches = RunningStandardizer(3), draws()
    for batch in batches:
        standardizer(batch)
    everything = torch.cat(batches).flatten(0, 1)
    torch.testing.assert_close(standardizer.mean, everything.mean(0))
    torch.testing.assert_close(standardizer.variance, everything.var(0, unbiased=False))


def test_later_batches_weigh_as_much_as_the_momentum():
    standardizer, batches = RunningStandardizer(3, momentum=0.5), draws()
    means = [batch.flatten(0, 1).mean(0) for batch in batches]
    expected = means[0]
    for batch, mean in zip(batches, means, strict=True):
        standardizer(batch)
        expected = 0.5 * expected + 0.5 * mean if mean is not means[0] else mean
    torch.testing.assert_close(standardizer.mean, expected)


def test_evaluation_leaves_the_statistics_alone():
    standardizer = RunningStandardizer(3)
    standardizer(draws()[0])
    before = {name: value.clone() for name, value in standardizer.state_dict().items()}
    standardizer.eval()(draws()[1])
    torch.testing.assert_close(dict(standardizer.state_dict()), before)


def test_statistics_are_constants_to_the_gradient():
    standardizer = RunningStandardizer(3)
    for batch in draws()[:2]:
        x = batch.requires_grad_()
        (gradient,) = torch.autograd.grad(standardizer(x).sum(), x)
        first = gradient[0, 0]
        torch.testing.assert_close(gradient, first.expand_as(gradient))
        assert (first > 0).all()


@pytest.mark.parametrize("training", [False, True])
def test_after_the_first_batch_a_result_does_not_depend_on_batch_mates(training):
    first, batch, *_ = draws()
    results = []
    for chosen in (batch, batch[:1]):
        standardizer = RunningStandardizer(3)
        standardizer(first)
        results.append(standardizer.train(training)(chosen)[0])
    torch.testing.assert_close(*results, rtol=0, atol=0)


def test_weights_count_an_embedding_as_often_as_it_was_drawn():
    x, weights = draws()[0], torch.tensor([[0, 1, 2, 1, 3]] * 4)
    weighted, repeated = RunningStandardizer(3), RunningStandardizer(3)
    weighted(x, weights.float())
    repeated(torch.repeat_interleave(x, weights[0], dim=1))
    torch.testing.assert_close(weighted.mean, repeated.mean)
    torch.testing.assert_close(weighted.variance, repeated.variance)
