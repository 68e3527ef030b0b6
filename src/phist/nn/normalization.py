"""Normalisation: of a multiset before its histogram, and of embeddings before what follows them."""

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from phist.nn.functional import segment_sum

Statistics = Literal["joint", "per-root"]


class Moments(NamedTuple):
    """Mean and variance per channel, and the weight of the elements they were taken over."""

    weight: Tensor  # (graphs, 1 or roots, 1)
    mean: Tensor  # (graphs, 1 or roots, channels)
    variance: Tensor


class MultisetNorm(nn.Module):
    r"""Whiten the elements of a multiset and squash them into [-1, 1] (section 3.2, multiset normalisation).

    .. math:: \hat x_i = \tanh\big((x_i - \mu_i) / \sqrt{\sigma_i^2 + \epsilon}\big)

    The printed formula divides before it subtracts; centring first is the same idea and leaves the mean at zero.

    Args:
        statistics: ``"joint"`` over all roots and nodes of a graph (the paper), or ``"per-root"``.
        epsilon: keeps the quotient finite where a channel is constant, as in a graph of one node.
    """

    def __init__(self, statistics: Statistics = "joint", epsilon: float = 1e-4) -> None:
        super().__init__()
        self.statistics = statistics
        self.epsilon = epsilon

    def moments(self, x: Tensor, graph_of: Tensor, node_counts: Tensor, root_weights: Tensor) -> Moments:
        """Statistics of responses ``x`` (nodes, roots, channels), a root counting as often as it was drawn."""
        counts = node_counts.to(x.dtype).view(-1, 1, 1)
        size = len(node_counts)
        mean = segment_sum(x, graph_of, size) / counts  # (graphs, roots, channels)
        weight = root_weights.unsqueeze(-1) * counts  # (graphs, roots, 1)
        if self.statistics == "joint":
            total = weight.sum(1, keepdim=True)
            share = weight / torch.where(total > 0, total, 1)  # when roots come in turns, a small graph may have none in this one
            mean = (share * mean).sum(1, keepdim=True)
            weight = total
        centered = x - mean[graph_of]
        variance = segment_sum(centered.square(), graph_of, size) / counts
        if self.statistics == "joint":
            variance = (share * variance).sum(1, keepdim=True)
        return Moments(weight, mean, variance)

    def forward(self, x: Tensor, graph_of: Tensor, moments: Moments) -> Tensor:
        scale = (moments.variance + self.epsilon).rsqrt()
        return torch.tanh((x - moments.mean[graph_of]) * scale[graph_of])

    def removed(self, moments: Moments) -> Tensor:
        r"""What whitening subtracts and divides by, :math:`\mu` and :math:`\sqrt{\sigma^2 + \epsilon}`: (graphs, 2 · channels).

        Where every root has its own, the mean over the draws.
        """
        share = moments.weight / moments.weight.sum(1, keepdim=True)
        standard_deviation = (moments.variance + self.epsilon).sqrt()
        return (share * torch.cat([moments.mean, standard_deviation], dim=-1)).sum(1)

    def extra_repr(self) -> str:
        return f"statistics={self.statistics!r}, epsilon={self.epsilon}"


def merge_moments(parts: list[Moments]) -> Moments:
    """The joint moments of elements whose moments are known part by part."""
    weights = torch.stack([part.weight for part in parts])
    means = torch.stack([part.mean for part in parts])
    variances = torch.stack([part.variance for part in parts])
    share = weights / weights.sum(0)
    mean = (share * means).sum(0)
    variance = (share * (variances + (means - mean).square())).sum(0)
    return Moments(weights.sum(0), mean, variance)


class RunningStandardizer(nn.Module):
    """Shift and scale embeddings to zero mean and unit standard deviation by running statistics, constants to the gradient.

    A node that was not sampled then stands at the average embedding, which is zero, instead of far outside of all of
    them. Statistics are updated after use, so what a graph becomes never depends on its batch mates; only the very first
    batch initialises them.

    Args:
        channels: width of the embeddings.
        momentum: weight of a new batch once the statistics have settled; until then every batch weighs the same.
    """

    def __init__(self, channels: int, momentum: float = 0.02, epsilon: float = 1e-4) -> None:
        super().__init__()
        self.momentum = momentum
        self.epsilon = epsilon
        self.mean: Tensor
        self.variance: Tensor
        self.updates: Tensor
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))
        self.register_buffer("updates", torch.zeros((), dtype=torch.long))

    def forward(self, embeddings: Tensor, weights: Tensor | None = None) -> Tensor:
        """Standardise (..., channels); while training, learn from it, each embedding with its weight (...)."""
        if self.training and self.updates == 0:
            self._update(embeddings.detach(), weights)
            return self.standardize(embeddings)
        result = self.standardize(embeddings)
        if self.training:
            self._update(embeddings.detach(), weights)
        return result

    def standardize(self, embeddings: Tensor) -> Tensor:
        """Shift and scale, learning nothing."""
        scale = (self.variance + self.epsilon).rsqrt()
        return (embeddings - self.mean.clone()) * scale

    @torch.no_grad()
    def _update(self, embeddings: Tensor, weights: Tensor | None) -> None:
        rows = embeddings.flatten(0, -2)
        if weights is None:
            variance, mean = torch.var_mean(rows, 0, correction=0)
        else:
            share = (weights / weights.sum()).view(-1, 1)
            mean = (share * rows).sum(0)
            variance = (share * (rows - mean).square()).sum(0)
        self.absorb(mean, variance)

    def next_step(self) -> float:
        """Count another batch, and say what share of the statistics it makes."""
        self.updates.add_(1)
        return max(self.momentum, 1 / int(self.updates))

    @torch.no_grad()
    def absorb(self, mean: Tensor, variance: Tensor) -> None:
        """Move towards the statistics of a new batch."""
        step = self.next_step()
        away = mean - self.mean
        self.variance.lerp_(variance.addcmul(away, away, value=1 - step), step)
        self.mean.lerp_(mean, step)
