"""What graph neural networks are made of, on rows that stand for several nodes: convolutions, a batch norm, readouts.

Parameters have the names and first values of PyTorch Geometric's layers; the tests compare with those.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from phist.baselines.gnn_batches import Level


class Gcn(nn.Module):
    """Kipf and Welling's convolution: the weighted sum of neighbours and the node itself, mapped and rectified."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.lin = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.lin.weight)

    def forward(self, x: Tensor, level: Level) -> Tensor:
        return level.pass_messages(_mapped(x, self.lin), onto=self.bias).relu_()


class Sage(nn.Module):
    """GraphSAGE: the mean of neighbours and the node itself, each mapped; the same as ``GraphConv`` with means."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.lin_l = nn.Linear(inputs, outputs)
        self.lin_r = nn.Linear(inputs, outputs, bias=False)

    def forward(self, x: Tensor, level: Level) -> Tensor:
        own = _mapped(x, self.lin_r, self.lin_l.bias)
        return level.pass_messages(_mapped(x, self.lin_l), onto=own).relu_()


class Gin(nn.Module):
    """The graph isomorphism network's: a perceptron of the sum of neighbours and (1 + eps) times the node itself."""

    def __init__(self, inputs: int, outputs: int, learn_eps: bool) -> None:
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1)) if learn_eps else None
        self.first, self.second = nn.Linear(inputs, outputs), nn.Linear(outputs, outputs)
        self.norm = RowNorm(outputs)

    def forward(self, x: Tensor, level: Level) -> Tensor:
        mapped = _mapped(x, self.first)
        own = self.first.bias if self.eps is None else self.first.bias + self.eps * mapped
        seen = level.pass_messages(mapped, onto=own).relu_()
        normal: Tensor = self.norm(self.second(seen).relu_(), level.sizes)
        return normal


class RowNorm(nn.BatchNorm1d):
    """Batch norm over nodes, given rows and how many nodes each stands for."""

    def forward(self, x: Tensor, sizes: Tensor) -> Tensor:  # type: ignore[override]  # it needs to know more
        if not self.training:
            return super().forward(x)
        assert self.running_mean is not None and self.running_var is not None and self.momentum is not None, "they are, by default"
        n_nodes = float(sizes.sum())
        normal, mean, variance = _Standardised.apply(x, sizes.T / n_nodes, self.eps)  # type: ignore[no-untyped-call]
        with torch.no_grad():
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * (n_nodes / max(n_nodes - 1, 1)), self.momentum)
        return torch.addcmul(self.bias, normal, self.weight)


class MeanReadout(nn.Module):
    """The mean over the nodes of each graph."""

    def forward(self, x: Tensor, level: Level) -> Tensor:
        return _sums(x * level.shares, level)


class AttentionReadout(nn.Module):
    """A mean whose weights are the softmax, over the nodes of a graph, of a linear map (Li et al., 2015)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gate_nn = nn.Linear(channels, 1)

    def forward(self, x: Tensor, level: Level) -> Tensor:
        return _sums(x * _softmax(self.gate_nn(x), level), level)


class Set2SetReadout(nn.Module):
    """A recurrent network that asks the nodes several times: attention by its state (Vinyals et al., 2015)."""

    def __init__(self, channels: int, steps: int = 4) -> None:
        super().__init__()
        self.lstm = nn.LSTMCell(2 * channels, channels)
        self.channels, self.steps = channels, steps

    def forward(self, x: Tensor, level: Level) -> Tensor:
        answer = x.new_zeros(level.n_graphs, 2 * self.channels)
        state = (x.new_zeros(level.n_graphs, self.channels), x.new_zeros(level.n_graphs, self.channels))
        for _ in range(self.steps):
            state = self.lstm(answer, state)
            match = (x * state[0].index_select(0, level.graph_of_row)).sum(1, keepdim=True)
            answer = torch.cat([state[0], _sums(x * _softmax(match, level), level)], 1)
        return answer


class _Standardised(torch.autograd.Function):
    """Rows less their mean and over their standard deviation, each counted by its weight; and that mean and variance."""

    @staticmethod
    def forward(ctx, x, weights, eps):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN205
        mean = (weights @ x).squeeze(0)
        centred = x - mean
        variance = (weights @ centred.square()).squeeze(0)
        inverse = (variance + eps).rsqrt()
        normal = centred.mul_(inverse)
        ctx.save_for_backward(normal, weights, inverse)
        ctx.mark_non_differentiable(mean, variance)
        return normal, mean, variance

    @staticmethod
    def backward(ctx, gradient, *unused):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN002, ANN205
        normal, weights, inverse = ctx.saved_tensors
        totals, products = gradient.sum(0), (gradient * normal).sum(0)
        common = torch.addcmul(totals, normal, products)
        return torch.addcmul(gradient, common, weights.T, value=-1).mul_(inverse), None, None


def _mapped(x: Tensor, linear: nn.Linear, bias: Tensor | None = None) -> Tensor:
    """A linear map with the bias given instead of its own; of whole numbers, that of their one-hot vectors."""
    if x.is_floating_point():
        return F.linear(x, linear.weight, bias)
    rows = linear.weight.T if bias is None else linear.weight.T + bias
    return F.embedding(x, rows)


def _sums(x: Tensor, level: Level) -> Tensor:
    """Over the rows of each graph: (graphs, channels)."""
    return x.new_zeros(level.n_graphs, x.shape[1]).index_add(0, level.graph_of_row, x)


def _softmax(scores: Tensor, level: Level) -> Tensor:
    """Over the nodes of each graph, summed over those of a row: (rows, 1)."""
    largest = scores.detach().new_full((level.n_graphs, 1), -torch.inf)
    largest = largest.scatter_reduce(0, level.graph_of_row[:, None], scores.detach(), "amax")
    powers = (scores - largest.index_select(0, level.graph_of_row)).exp() * level.sizes
    return powers / _sums(powers, level).index_select(0, level.graph_of_row)
