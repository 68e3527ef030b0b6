"""A sparse matrix that acts on node signals: the Laplacian of a whole batch, computed once and shared by all layers."""

import warnings
from typing import Any

import torch
from torch import Tensor


class SparseOperator:
    """Multiplies signals of shape (nodes, ...) by a fixed sparse matrix; gradients flow to the signal only.

    Args:
        row_ptr, columns, values: the matrix in compressed sparse rows.
        symmetric: whether the matrix equals its transpose, which saves storing that.
    """

    def __init__(self, row_ptr: Tensor, columns: Tensor, values: Tensor, symmetric: bool) -> None:
        self.matrix = _csr(row_ptr, columns, values)
        self.transposed = self.matrix if symmetric else _transpose(row_ptr, columns, values)

    def __call__(self, x: Tensor) -> Tensor:
        if x.is_complex():
            product: Tensor = self(torch.view_as_real(x).contiguous())
            return torch.view_as_complex(product)
        result: Tensor = _Product.apply(x, self)  # type: ignore[no-untyped-call]
        return result  # same shape as x


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, operator: SparseOperator) -> Tensor:
        ctx.operator = operator
        return (operator.matrix @ x.reshape(len(x), -1)).view(x.shape)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        product = ctx.operator.transposed @ gradient.reshape(len(gradient), -1)
        return product.view(gradient.shape), None


def _csr(row_ptr: Tensor, columns: Tensor, values: Tensor) -> Tensor:
    size = (len(row_ptr) - 1, len(row_ptr) - 1)
    with warnings.catch_warnings():  # torch announces on first use that sparse rows are a beta feature
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
        return torch.sparse_csr_tensor(row_ptr, columns, values, size=size, check_invariants=False)


def _transpose(row_ptr: Tensor, columns: Tensor, values: Tensor) -> Tensor:
    n_nodes = len(row_ptr) - 1
    rows = torch.repeat_interleave(torch.arange(n_nodes, device=columns.device), row_ptr.diff())
    order = torch.argsort(columns, stable=True)
    counts = torch.bincount(columns, minlength=n_nodes)
    return _csr(torch.cat([counts.new_zeros(1), counts.cumsum(0)]), rows[order], values[order])
