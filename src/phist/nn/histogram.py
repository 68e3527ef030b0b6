"""Aggregation functions: the projective histogram and its siblings, called as PyTorch Geometric calls its own."""

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from phist.errors import ConfigError
from phist.nn.functional import bin_centers, projective_histogram, segment_sum
from phist.nn.kernels import BinKernel, Uniform, as_kernel

_INSIDE = 1 - 2.0**-20  # takes an element at an end of [-1, 1] into the outer bin, whatever rounding does


class Aggregation(nn.Module, ABC):
    r"""A map from multisets of vectors to vectors; the multisets are the rows of ``x`` that share an index.

    The call is that of ``torch_geometric.nn.Aggregation``, so every subclass serves as a readout or, given in a list
    (``aggr=[ProjectiveHistogram(8)]``), as the aggregation of a PyG layer.

    Shapes:
        - **input:** elements :math:`(*, rows, channels)`, index :math:`(rows)` or pointers :math:`(multisets + 1)`
        - **output:** :math:`(*, multisets, \text{out\_channels}(channels))`
    """

    def forward(
        self, x: Tensor, index: Tensor | None = None, ptr: Tensor | None = None, dim_size: int | None = None, dim: int = -2
    ) -> Tensor:
        """Aggregate the rows of ``x`` along ``dim``; without ``index`` and ``ptr`` all rows are one multiset.

        Args:
            x: the elements, (*, rows, channels).
            index: the multiset that each row belongs to, (rows).
            ptr: instead of ``index``, where each multiset begins among sorted rows, (multisets + 1).
            dim_size: the number of multisets; one more than the largest index unless given.
            dim: the dimension of the rows.
        """
        if not -x.dim() <= dim < x.dim() or dim % x.dim() == x.dim() - 1:
            raise ConfigError(
                f"dim={dim} of a tensor with {x.dim()} dimensions cannot be aggregated; the last one holds the channels"
            )
        index, size = _as_index(x, index, ptr, dim_size, dim)
        return self.aggregate(x.movedim(dim, 0), index, size).movedim(0, dim)

    @abstractmethod
    def aggregate(self, x: Tensor, index: Tensor, size: int) -> Tensor:
        """(rows, ..., channels) to (size, ..., out_channels).

        Args:
            x: the elements, (rows, ..., channels).
            index: the multiset that each row belongs to, (rows).
            size: the number of multisets.
        """

    def out_channels(self, channels: int) -> int:
        """Width of the output for ``channels`` input channels."""
        return channels

    def reset_parameters(self) -> None:
        """Nothing to reset unless a subclass learns something."""


class ProjectiveHistogram(Aggregation):
    r"""One histogram per channel over the elements of a multiset, with smooth bins on [-1, 1] (section 2.2 of the paper).

    .. math:: [phist(X)]_{i,l} = \sum_{x \in X} \kappa\big((x_i - p_l) / w_l\big)

    Args:
        bins: number of bins per channel.
        kernel: the bump around each bin centre: uniform, smooth-rectangle, gaussian, triangle or raised-cosine.
        width: the bump's width as a multiple of the kernel's natural one.
        density: divide by the number of elements, so that the size of the multiset does not show.
        learnable: learn the bins' centres and widths, shared by all channels.

    Example:
        >>> import torch
        >>> histogram = ProjectiveHistogram(bins=2, kernel="uniform")
        >>> histogram(torch.tensor([[-0.5], [0.5], [0.7]]), index=torch.tensor([0, 0, 1]))
        tensor([[1., 1.],
                [0., 1.]])
    """

    def __init__(
        self, bins: int, kernel: str | BinKernel = "gaussian", width: float = 1.0, density: bool = False, learnable: bool = False
    ) -> None:
        super().__init__()
        if bins < 1:
            raise ConfigError(f"bins={bins} was given; a histogram needs at least 1")
        if not (math.isfinite(width) and width > 0):
            raise ConfigError(f"kernel_width={width} was given; it must be a positive number")
        self.bins = bins
        self.kernel = as_kernel(kernel)
        self.width = width
        self.density = density
        self.learnable = learnable
        self.centers: Tensor
        self.log_scales: Tensor  # of the widths, against what they began with: fixed bins keep theirs exactly
        centers, log_scales = self._initial_bins()
        if learnable:
            self.centers, self.log_scales = nn.Parameter(centers), nn.Parameter(log_scales)
        else:
            self.register_buffer("centers", centers, persistent=False)
            self.register_buffer("log_scales", log_scales, persistent=False)

    def _initial_bins(self) -> tuple[Tensor, Tensor]:
        return bin_centers(self.bins).float(), torch.zeros(self.bins)

    def reset_parameters(self) -> None:
        """Put the bins back where they began."""
        centers, log_scales = self._initial_bins()
        self.centers.data.copy_(centers)
        self.log_scales.data.copy_(log_scales)

    @property
    def widths(self) -> Tensor:
        """The width of each bin's bump."""
        return self.width * self.kernel.natural_width(self.bins) * self.log_scales.exp()  # (bins)

    def aggregate(self, x: Tensor, index: Tensor, size: int) -> Tensor:
        """Histograms of each channel: (rows, ..., channels) to (size, ..., channels * bins).

        Args:
            x: the elements, (rows, ..., channels).
            index: the multiset that each row belongs to, (rows).
            size: the number of multisets.
        """
        if isinstance(self.kernel, Uniform):
            x = x * _INSIDE  # its bins are open on the right, and tanh rounds to 1
        centers, widths = self.centers.to(x.dtype), self.widths.to(x.dtype)
        histogram = projective_histogram(x, index, size, centers, widths, self.kernel).flatten(-2)
        return histogram / _counts(x, index, size) if self.density else histogram  # (size, ..., channels * bins)

    def out_channels(self, channels: int) -> int:
        return channels * self.bins

    def extra_repr(self) -> str:
        return (
            f"bins={self.bins}, kernel={self.kernel.name!r}, width={self.width}, density={self.density}, learnable={self.learnable}"
        )


class SumAggregation(Aggregation):
    """The sum of the elements (equation 1, φ being whatever came before)."""

    def aggregate(self, x: Tensor, index: Tensor, size: int) -> Tensor:
        return segment_sum(x, index, size)


class MeanAggregation(Aggregation):
    """The mean of the elements; zero for an empty multiset."""

    def aggregate(self, x: Tensor, index: Tensor, size: int) -> Tensor:
        return segment_sum(x, index, size) / _counts(x, index, size)


class MaxAggregation(Aggregation):
    """The largest element in each channel; zero for an empty multiset."""

    def aggregate(self, x: Tensor, index: Tensor, size: int) -> Tensor:
        index = index.view(-1, *[1] * (x.dim() - 1)).expand_as(x)
        return x.new_zeros(size, *x.shape[1:]).scatter_reduce(0, index, x, "amax", include_self=False)


def _counts(x: Tensor, index: Tensor, size: int) -> Tensor:
    counts = torch.bincount(index, minlength=size).clamp(min=1).to(x.dtype)
    return counts.view(-1, *[1] * (x.dim() - 1))  # (size, 1, ..., 1)


def _as_index(x: Tensor, index: Tensor | None, ptr: Tensor | None, dim_size: int | None, dim: int) -> tuple[Tensor, int]:
    rows = x.shape[dim]
    if ptr is not None:
        if dim_size not in (None, len(ptr) - 1) or int(ptr[-1]) != rows:
            raise ConfigError(
                f"ptr delimits {len(ptr) - 1} multisets of {int(ptr[-1])} rows; given were {rows} rows and dim_size={dim_size}"
            )
        return torch.repeat_interleave(torch.arange(len(ptr) - 1, device=x.device), ptr.diff()), len(ptr) - 1
    if index is None:
        return torch.zeros(rows, dtype=torch.long, device=x.device), dim_size or 1
    needed = int(index.max()) + 1 if len(index) else 0
    if len(index) != rows or (dim_size is not None and dim_size < needed):
        raise ConfigError(f"index names {needed} multisets for {len(index)} rows; given were {rows} rows and dim_size={dim_size}")
    return index, needed if dim_size is None else dim_size
