"""The formulas of the paper as pure functions, each with its place in the text.

Shapes at the end of a line name the dimensions: ``nodes`` are those of all graphs of a batch one after the other,
``roots`` are the slots in which each graph keeps its sampled roots (one slot for f_graph).
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from phist.nn.kernels import BinKernel
from phist.nn.operator import SparseOperator


def bin_centers(b: int) -> Tensor:
    """The centres p_l = (2l - 1)/b - 1 of b equidistant bins on [-1, 1] (section 2.2, projective histogram)."""
    return (2 * torch.arange(1, b + 1, dtype=torch.float64) - 1) / b - 1  # (bins)


def chebyshev_terms(L: SparseOperator, x: Tensor, order: int) -> Iterator[Tensor]:
    """T_0(L) x, ..., T_(order-1)(L) x by the three-term recursion (section 3.1, spectral convolution)."""
    before, now = x, x
    for k in range(order):
        if k == 1:
            now = L(x)
        elif k > 1:
            before, now = now, 2 * L(now) - before
        yield now  # (nodes, roots, channels)


def impulses(roots: Tensor, n_nodes: int, dtype: torch.dtype) -> Tensor:
    """The one-hot signals δ_j of section 3: slot r of a graph is one at the node ``roots[graph, r]``, zero elsewhere."""
    n_slots = roots.shape[1]
    x = torch.zeros(n_nodes, n_slots, 1, dtype=dtype, device=roots.device)
    slots = torch.arange(n_slots, device=roots.device).expand_as(roots)
    x[roots, slots] = 1
    return x  # (nodes, roots, 1)


def segment_sum(x: Tensor, index: Tensor, size: int) -> Tensor:
    """Sum the rows of ``x`` that share an index."""
    return x.new_zeros(size, *x.shape[1:]).index_add(0, index, x)  # (size, ...)


def projective_histogram(x: Tensor, index: Tensor, size: int, p: Tensor, w: Tensor, kernel: BinKernel) -> Tensor:
    """[phist(X)]_{i,l} = Σ_{x in X} κ(([x]_i - p_l) / w_l) for every multiset X of the rows that share an index (eq. 2).

    One bin at a time, and once more in the backward pass: nothing of size rows × channels × bins is ever stored.

    Args:
        x: elements, (rows, ..., channels).
        index: the multiset each row belongs to, (rows).
        size: number of multisets.
        p, w: centre and width of each bin, (bins).
    """
    histogram: Tensor = _BinnedSum.apply(x, p, w, index, size, kernel)  # type: ignore[no-untyped-call]  # (bins, size, ..., channels)
    return histogram.movedim(0, -1)  # (size, ..., channels, bins)


class _BinnedSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, p: Tensor, w: Tensor, index: Tensor, size: int, kernel: BinKernel) -> Tensor:
        ctx.save_for_backward(x, p, w, index)
        ctx.kernel = kernel
        histogram = x.new_zeros(len(p), size, *x.shape[1:])
        for bin_sum, center, width in zip(histogram, p, w, strict=True):
            bin_sum.index_add_(0, index, kernel.value((x - center).div_(width)))
        return histogram  # (bins, size, ..., channels)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, p, w, index = ctx.saved_tensors
        toward_x, toward_p, toward_w = torch.zeros_like(x), torch.zeros_like(p), torch.zeros_like(w)
        learns_bins = ctx.needs_input_grad[1] or ctx.needs_input_grad[2]
        for number, (center, width) in enumerate(zip(p, w, strict=True)):
            z = (x - center).div_(width)
            slope = ctx.kernel.derivative(z).mul_(gradient[number].index_select(0, index)).div_(width)
            toward_x += slope
            if learns_bins:
                toward_p[number] = -slope.sum()
                toward_w[number] = -(slope * z).sum()
        return toward_x, toward_p, toward_w, None, None, None
