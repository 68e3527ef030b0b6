"""Graph convolutions behind one interface: the paper's Chebyshev filters (default) and the alternatives it names.

A convolution maps signals (nodes, roots, in_channels) to (nodes, roots, out_channels) and takes the matrix it needs from
the batch, where it is computed once and shared by all layers. ``order`` is the number of polynomial terms, so a layer
reaches ``order - 1`` hops: message passing gets there by that many rounds, at least one. Cayley filters alone reach further,
as an inverse does.
"""

import math
from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Literal, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from phist.errors import check_choice
from phist.nn.batch import Batch
from phist.nn.functional import chebyshev_terms

SpectralOperator = Literal["laplacian", "random-walk"]


class GraphConvolution(nn.Module, ABC):
    """What `StructuralEmbedding` expects of a convolution."""

    @abstractmethod
    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        """(nodes, roots, in_channels) to (nodes, roots, out_channels)."""


class ChebyshevConv(GraphConvolution):
    r"""A polynomial of the scaled Laplacian for every pair of channels.

    .. math:: y = \sum_{k=0}^{order-1} T_k(\tilde L)\, x\, W_k + b

    Weights begin normal with variance 1 / (out_channels · mean of Σ_k T_k² over the spectrum), so that a filter's response
    to an impulse is about as large whatever the order.
    """

    def __init__(
        self, in_channels: int, out_channels: int, order: int, operator: SpectralOperator = "laplacian", scale: float = 0.8
    ) -> None:
        super().__init__()
        self.operator_kind = operator
        self.scale = scale
        self.order = order
        standard_deviation = 1 / math.sqrt(out_channels * _mean_square_terms(order, scale))
        self.weight = nn.Parameter(standard_deviation * torch.randn(order, in_channels, out_channels))
        self.bias = nn.Parameter(torch.zeros(out_channels))

    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        laplacian = batch.operator(self.operator_kind, self.scale)
        y = self.bias
        for term, weight in zip(chebyshev_terms(laplacian, x, self.order), self.weight, strict=True):
            y = y + term @ weight
        return y  # (nodes, roots, out_channels)


class CayleyConv(GraphConvolution):
    r"""A Cayley polynomial: rational filters that can zoom into a band of the spectrum.

    .. math:: y = x W_0 + 2 \mathrm{Re} \sum_{j=1}^{order-1} C(hL)^j x\, W_j + b,\quad C(z) = (z - i) / (z + i)

    The inverse is approached by ``iterations`` steps of y ← (x' - hM y) / (h + i) with M = L - I, which contract for every
    zoom h > 0.
    """

    def __init__(
        self, in_channels: int, out_channels: int, order: int, operator: SpectralOperator = "laplacian", iterations: int = 5
    ) -> None:
        super().__init__()
        self.operator_kind = operator
        self.iterations = iterations
        self.log_zoom = nn.Parameter(torch.zeros(()))
        standard_deviation = 1 / math.sqrt(out_channels * (2 * order - 1))
        self.weight = nn.Parameter(standard_deviation * torch.randn(in_channels, out_channels))
        self.complex_weight = nn.Parameter(standard_deviation * torch.randn(order - 1, in_channels, out_channels, 2))
        self.bias = nn.Parameter(torch.zeros(out_channels))

    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        y = x @ self.weight + self.bias
        power = torch.complex(x, torch.zeros_like(x))
        for weight in torch.view_as_complex(self.complex_weight):
            power = self._cayley(power, batch)
            y = y + 2 * (power @ weight).real
        return y  # (nodes, roots, out_channels)

    def _cayley(self, x: Tensor, batch: Batch) -> Tensor:
        off_diagonal = batch.operator(self.operator_kind, 1.0)  # L - I
        zoom = self.log_zoom.exp()
        target = zoom * (x + off_diagonal(x)) - 1j * x
        y = target / (zoom + 1j)
        for _ in range(self.iterations):
            y = (target - zoom * off_diagonal(y)) / (zoom + 1j)
        return y


class ArmaConv(GraphConvolution):
    r"""Auto-regressive moving-average filters: the mean of ``stacks`` recursions on the normalised adjacency.

    .. math:: x_{t+1} = ELU(\hat A x_t W_t + x_0 V_t)
    """

    def __init__(
        self, in_channels: int, out_channels: int, order: int, operator: SpectralOperator = "laplacian", stacks: int = 2
    ) -> None:
        super().__init__()
        self.operator_kind = operator
        rounds = max(order - 1, 1)
        self.recursive = nn.ModuleList([nn.Linear(in_channels, out_channels * stacks, bias=False)])
        self.recursive.extend(_StackedLinear(stacks, out_channels) for _ in range(rounds - 1))
        self.direct = nn.ModuleList(nn.Linear(in_channels, out_channels * stacks) for _ in range(rounds))
        self.stacks = stacks

    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        laplacian = batch.operator(self.operator_kind, 1.0)
        state = x
        for step, (recursive, direct) in enumerate(zip(self.recursive, self.direct, strict=True)):
            state = recursive(-laplacian(F.elu(state) if step else state)) + direct(x)
        mean: Tensor = state.unflatten(-1, (self.stacks, -1)).mean(-2)
        return mean  # (nodes, roots, out_channels)


class GinConv(GraphConvolution):
    """Message passing as in GIN: an MLP of (1 + ε) x + the sum over neighbours, once per hop."""

    def __init__(self, in_channels: int, out_channels: int, order: int) -> None:
        super().__init__()
        widths = [in_channels] + [out_channels] * max(order - 1, 1)
        self.epsilon = nn.Parameter(torch.zeros(len(widths) - 1))
        self.mlps = nn.ModuleList(
            nn.Sequential(nn.Linear(before, after), nn.ELU(), nn.Linear(after, after)) for before, after in pairwise(widths)
        )

    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        adjacency = batch.operator("adjacency")
        for epsilon, mlp in zip(self.epsilon, self.mlps, strict=True):
            x = mlp((1 + epsilon) * x + adjacency(x))
        return x  # (nodes, roots, out_channels)


class SageConv(GraphConvolution):
    """Message passing as in GraphSAGE: linear maps of a node and of the mean of its neighbours, once per hop."""

    def __init__(self, in_channels: int, out_channels: int, order: int) -> None:
        super().__init__()
        widths = [in_channels] + [out_channels] * max(order - 1, 1)
        pairs = list(pairwise(widths))
        self.own = nn.ModuleList(nn.Linear(before, after) for before, after in pairs)
        self.neighbors = nn.ModuleList(nn.Linear(before, after, bias=False) for before, after in pairs)

    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        mean = batch.operator("mean")
        for step, (own, neighbors) in enumerate(zip(self.own, self.neighbors, strict=True)):
            x = F.elu(x) if step else x
            x = own(x) + neighbors(mean(x))
        return x  # (nodes, roots, out_channels)


class _StackedLinear(nn.Module):
    """One linear map per stack, on channels that hold the stacks one after the other."""

    def __init__(self, stacks: int, channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(stacks, channels, channels) / math.sqrt(channels))

    def forward(self, x: Tensor) -> Tensor:
        stacked = x.unflatten(-1, (len(self.weight), -1))
        return torch.einsum("nrsi,sio->nrso", stacked, self.weight).flatten(-2)


class _MakesConvolution(Protocol):
    def __call__(self, in_channels: int, out_channels: int, order: int) -> GraphConvolution: ...


CONVOLUTIONS = ("chebyshev", "cayley", "arma", "gin", "sage")


def make_convolution(kind: str, operator: SpectralOperator, scale: float) -> _MakesConvolution:
    """The constructor of a kind of convolution, its operator chosen."""
    makers: dict[str, _MakesConvolution] = {
        "chebyshev": lambda in_channels, out_channels, order: ChebyshevConv(in_channels, out_channels, order, operator, scale),
        "cayley": lambda in_channels, out_channels, order: CayleyConv(in_channels, out_channels, order, operator),
        "arma": lambda in_channels, out_channels, order: ArmaConv(in_channels, out_channels, order, operator),
        "gin": GinConv,
        "sage": SageConv,
    }
    check_choice("convolution", kind, makers)
    return makers[kind]


def _mean_square_terms(order: int, scale: float) -> float:
    """The mean over [-scale, scale] of Σ_k T_k(x)², where Σ_(k<n) cos² kθ = n/2 + 1/4 + sin((2n - 1)θ) / (4 sin θ)."""
    middles = scale * (2 * np.arange(1000) + 1 - 1000) / 1000
    angles = np.arccos(middles)
    return float(np.mean(order / 2 + 0.25 + np.sin((2 * order - 1) * angles) / (4 * np.sin(angles))))
