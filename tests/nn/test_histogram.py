"""The projective histogram and its siblings."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from phist.errors import ConfigError
from phist.nn.functional import bin_centers, projective_histogram, segment_sum
from phist.nn.histogram import MaxAggregation, MeanAggregation, ProjectiveHistogram, SumAggregation
from phist.nn.kernels import KERNELS

NAMES = sorted(KERNELS)
SMOOTH = [name for name in NAMES if name != "uniform"]
AGGREGATIONS = [ProjectiveHistogram(4), SumAggregation(), MeanAggregation(), MaxAggregation()]


def elements(*shape, dtype=torch.float64, seed=0):
    return torch.tanh(torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype))


def naive_histogram(x, index, size, p, w, kernel):
    """Equation 2 with every value in memory at once."""
    bumps = kernel.value((x.unsqueeze(-1) - p) / w)  # (rows, ..., channels, bins)
    return torch.stack([bumps[index == multiset].sum(0) for multiset in range(size)])


class LargestTensor(TorchDispatchMode):
    """Remembers the largest tensor that any operation makes."""

    largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        sizes = [leaf.numel() for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        self.largest = max([self.largest, *sizes])
        return result


# The formula ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_histogram_equals_the_formula(name):
    x, index = elements(20, 3, 2), torch.arange(20) % 4
    p, w = bin_centers(5), torch.linspace(0.2, 0.5, 5, dtype=torch.float64)
    expected = naive_histogram(x, index, 4, p, w, KERNELS[name])
    torch.testing.assert_close(projective_histogram(x, index, 4, p, w, KERNELS[name]), expected)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_of_elements_equal_those_of_the_formula(name):
    index, p, w = torch.arange(12) % 3, bin_centers(4), torch.full((4,), 0.4, dtype=torch.float64)
    gradients = []
    for function in (projective_histogram, naive_histogram):
        x = elements(12, 2).requires_grad_()
        value = function(x, index, 3, p, w, KERNELS[name])
        weights = elements(*value.shape, seed=1)
        gradients.append(torch.autograd.grad((value * weights).sum() + 0 * x.sum(), x)[0])
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_of_elements_centres_and_widths_are_right(name):
    x = elements(6, 2).requires_grad_()
    p = bin_centers(3).requires_grad_()
    w = torch.tensor([0.5, 0.7, 0.9], dtype=torch.float64, requires_grad=True)
    index = torch.tensor([0, 0, 1, 1, 2, 2])
    assert torch.autograd.gradcheck(
        lambda *inputs: projective_histogram(inputs[0], index, 3, *inputs[1:], KERNELS[name]), (x, p, w)
    )


@pytest.mark.parametrize("learnable", [False, True])
def test_nothing_as_large_as_rows_times_channels_times_bins_is_made(learnable):
    rows, channels, bins, multisets = 400, 6, 16, 5
    histogram = ProjectiveHistogram(bins, learnable=learnable)
    x = elements(rows, channels).requires_grad_()
    with LargestTensor() as seen:
        histogram(x, torch.arange(rows) % multisets).square().sum().backward()
    assert seen.largest == max(rows * channels, multisets * channels * bins)


def test_backward_pass_keeps_the_elements_only():
    rows, channels, bins, multisets = 400, 6, 16, 5
    saved = []
    histogram = ProjectiveHistogram(bins)
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: saved.append(tensor.numel()) or tensor, lambda tensor: tensor):
        histogram(elements(rows, channels).requires_grad_(), torch.arange(rows) % multisets)
    assert sorted(saved) == [bins, bins, rows, rows * channels]


def test_centres_lie_in_the_middle_of_equal_bins():
    torch.testing.assert_close(bin_centers(4), torch.tensor([-0.75, -0.25, 0.25, 0.75], dtype=torch.float64))


def test_segment_sum_adds_rows_that_share_an_index():
    x = torch.tensor([[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]])
    assert segment_sum(x, torch.tensor([1, 0, 1]), 3).tolist() == [[10, 20], [101, 202], [0, 0]]


# Bins -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", range(1, 17))
def test_uniform_bins_count_an_element_on_a_border_once(bins):
    borders = torch.linspace(-1, 1, bins + 1).unsqueeze(-1)
    total = ProjectiveHistogram(bins, "uniform")(borders, torch.arange(bins + 1)).sum(1)
    assert total.tolist() == [1] * (bins + 1)


@pytest.mark.parametrize("bins", [5, 8])
def test_uniform_bins_count_every_element_once(bins):
    x = elements(1000, 3, dtype=torch.float32)
    assert ProjectiveHistogram(bins, "uniform")(x).sum() == 3000


def test_uniform_bins_leave_out_what_lies_outside():
    assert ProjectiveHistogram(4, "uniform")(torch.tensor([[-1.5], [1.01]])).sum() == 0


def test_width_is_a_multiple_of_the_natural_one():
    torch.testing.assert_close(ProjectiveHistogram(8, "gaussian", width=2.0).widths, torch.full((8,), 0.5))


def test_fixed_bins_are_no_parameters_and_not_saved():
    histogram = ProjectiveHistogram(4)
    assert not list(histogram.parameters()) and not histogram.state_dict()


def test_learnable_bins_get_gradients():
    histogram = ProjectiveHistogram(4, learnable=True)
    histogram(elements(9, 2)).square().sum().backward()
    assert all(parameter.grad.abs().min() > 0 for parameter in histogram.parameters())


def test_reset_puts_learnt_bins_back():
    histogram = ProjectiveHistogram(4, learnable=True)
    fresh = {name: value.clone() for name, value in histogram.state_dict().items()}
    with torch.no_grad():
        for parameter in histogram.parameters():
            parameter.add_(0.3)
    histogram.reset_parameters()
    torch.testing.assert_close(dict(histogram.state_dict()), fresh)


@pytest.mark.parametrize(
    ("arguments", "message"), [((0,), "bins=0"), ((4, "gaussian", 0.0), "kernel_width=0.0"), ((4, "box"), "kernel='box'")]
)
def test_impossible_bins_are_refused(arguments, message):
    with pytest.raises(ConfigError, match=message):
        ProjectiveHistogram(*arguments)


# Multisets ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("aggregation", AGGREGATIONS, ids=lambda module: type(module).__name__)
def test_order_of_the_elements_does_not_matter(aggregation):
    x, index, order = elements(30, 3), torch.arange(30) % 4, torch.randperm(30, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(aggregation(x[order], index[order]), aggregation(x, index))


@pytest.mark.parametrize("aggregation", AGGREGATIONS, ids=lambda module: type(module).__name__)
def test_index_and_pointers_say_the_same(aggregation):
    x = elements(6, 2)
    by_index = aggregation(x, torch.tensor([0, 0, 1, 1, 1, 3]), dim_size=4)
    torch.testing.assert_close(aggregation(x, ptr=torch.tensor([0, 2, 5, 5, 6])), by_index)


@pytest.mark.parametrize("aggregation", AGGREGATIONS, ids=lambda module: type(module).__name__)
def test_without_index_all_rows_are_one_multiset(aggregation):
    x = elements(6, 2)
    torch.testing.assert_close(aggregation(x), aggregation(x, torch.zeros(6, dtype=torch.long)))


@pytest.mark.parametrize("aggregation", AGGREGATIONS, ids=lambda module: type(module).__name__)
def test_empty_multiset_gives_zeros(aggregation):
    x, index = elements(3, 2), torch.tensor([0, 0, 2])
    result = aggregation(x, index, dim_size=4)
    assert len(result) == 4
    assert result[[1, 3]].abs().max() == 0


@pytest.mark.parametrize("aggregation", AGGREGATIONS, ids=lambda module: type(module).__name__)
def test_no_rows_at_all_give_zeros(aggregation):
    result = aggregation(torch.empty(0, 2), torch.empty(0, dtype=torch.long), dim_size=3)
    assert result.shape == (3, aggregation.out_channels(2))
    assert result.abs().max() == 0


@pytest.mark.parametrize("dim", [0, 1, 2, -2, -3, -4])
@pytest.mark.parametrize("aggregation", AGGREGATIONS, ids=lambda module: type(module).__name__)
def test_any_dimension_but_the_last_can_be_aggregated(aggregation, dim):
    x = elements(6, 6, 6, 3)
    index = torch.arange(6) % 2
    first = aggregation(x.movedim(dim, 0), index, dim=0)
    torch.testing.assert_close(aggregation(x, index, dim=dim), first.movedim(0, dim))


def test_density_is_the_count_per_element():
    x, index = elements(6, 2), torch.tensor([0, 0, 0, 0, 1, 1])
    counts = ProjectiveHistogram(4)(x, index)
    densities = ProjectiveHistogram(4, density=True)(x, index)
    torch.testing.assert_close(densities, counts / torch.tensor([[4.0], [2.0]], dtype=torch.float64))


def test_density_does_not_show_the_size_of_a_multiset():
    x = elements(5, 2)
    histogram = ProjectiveHistogram(4, density=True)
    torch.testing.assert_close(histogram(x.repeat(3, 1)), histogram(x))


def test_channels_come_with_their_bins_one_after_the_other():
    x = torch.tensor([[-0.9, 0.9]])
    assert ProjectiveHistogram(2, "uniform")(x).tolist() == [[1, 0, 0, 1]]


@pytest.mark.parametrize("aggregation", AGGREGATIONS, ids=lambda module: type(module).__name__)
@pytest.mark.parametrize("arguments", [{"dim": -1}, {"dim": 1}, {"dim": 5}])
def test_channels_cannot_be_aggregated(aggregation, arguments):
    with pytest.raises(ConfigError, match="the last one holds the channels"):
        aggregation(elements(4, 2), **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"index": torch.tensor([0, 1])},
        {"index": torch.tensor([0, 1, 5, 5]), "dim_size": 3},
        {"ptr": torch.tensor([0, 3])},
        {"ptr": torch.tensor([0, 2, 4]), "dim_size": 3},
    ],
    ids=["short index", "index beyond dim_size", "short ptr", "ptr against dim_size"],
)
def test_multisets_that_do_not_fit_the_rows_are_refused(arguments):
    with pytest.raises(ConfigError, match="given were 4 rows"):
        ProjectiveHistogram(3)(elements(4, 2), **arguments)
