r"""Two convolution layers are universal (section 3.1): what exactly they can approximate, and how width pays.

A Chebyshev layer gives node i the value :math:`b + \sum_k [T_k X]_{i,:} W_k`, a linear function of its *diffused features*
p_i = ([T_0 X]_i, ..., [T_{K-1} X]_i). Two layers, the second with its first term only, hence compute

.. math:: \varphi(p_i) = W_2^\top\, \mathrm{elu}(W_1^\top p_i + b_1) + b_2

at every node: a perceptron with one hidden layer, which approximates every continuous φ on a bounded set as its hidden layer
(the channels of the first layer) widens. So "at least as powerful as a perceptron" is right, and more than the paper says of
it: φ acts on what was diffused over K - 1 hops, not on the node's own feature alone. In f_node, where that feature is an
impulse, 0 or 1, a function of it alone would say nothing. One layer is linear in p_i and universal for nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from phist.errors import ConfigError
from phist.nn.convolution import ChebyshevConv
from phist.theory.geometry import Floats, check_at_least


@dataclass(frozen=True, eq=False)
class HiddenLayer:
    """φ(p) = W₂ᵀ elu(W₁ᵀ p + b₁) + b₂."""

    first_weight: Floats  # (features, hidden)
    first_bias: Floats  # (hidden)
    second_weight: Floats  # (hidden, outputs)
    second_bias: Floats  # (outputs)

    def __call__(self, features: Floats) -> Floats:
        before = features @ self.first_weight + self.first_bias
        return np.where(before > 0, before, np.expm1(np.minimum(before, 0))) @ self.second_weight + self.second_bias

    def as_convolutions(self, channels: int) -> tuple[ChebyshevConv, ChebyshevConv]:
        """Two layers that compute the same of the diffused features of ``channels`` input channels, with an ELU between.

        The features are those of the first term, then those of the second, and so on.
        """
        features, hidden = self.first_weight.shape
        if features % check_at_least("channels", channels, 1):
            raise ConfigError(f"{features} features were given; they must be a multiple of the {channels} channels")
        first = _layer(self.first_weight.reshape(features // channels, channels, hidden), self.first_bias)
        return first, _layer(self.second_weight[None], self.second_bias)


@dataclass(frozen=True)
class WidthError:
    """How near a hidden layer of some width comes to a function."""

    width: int
    error: float  # the largest over all points


def study_widths(
    target: Callable[[Floats], Floats], points: Floats, widths: Sequence[int] = (4, 16, 64, 256), *, seed: int
) -> list[WidthError]:
    """Fit hidden layers of growing width to a function: hidden units at random, the second layer by least squares.

    Args:
        target: of rows (points, features), to one number each.
        points: where it is fitted and looked at.
        widths: hidden units.
        seed: of the hidden units; a wider layer has those of a narrower one and more.

    >>> grid = np.linspace(-1, 1, 101)[:, None]
    >>> errors = [found.error for found in study_widths(lambda rows: np.sign(rows[:, 0]) * rows[:, 0] ** 2, grid, seed=0)]
    >>> errors == sorted(errors, reverse=True)
    True
    """
    values = target(points)
    widest = max(check_at_least("width", width, 1) for width in widths)
    generator = np.random.default_rng(seed)
    weight, bias = generator.normal(0, 3, (widest, points.shape[1])).T, generator.uniform(-3, 3, widest)
    return [WidthError(width, _fit_error(weight[:, :width], bias[:width], points, values)) for width in widths]


def _fit_error(weight: Floats, bias: Floats, points: Floats, values: Floats) -> float:
    hidden = HiddenLayer(weight, bias, np.eye(len(bias)), np.zeros(len(bias)))(points)
    columns = np.column_stack([hidden, np.ones(len(points))])
    fitted = columns @ np.linalg.lstsq(columns, values, rcond=None)[0]
    return float(np.abs(fitted - values).max())


def _layer(weight: Floats, bias: Floats) -> ChebyshevConv:
    """A Chebyshev layer in double precision with these weights (terms, inputs, outputs)."""
    terms, inputs, outputs = weight.shape
    with torch.random.fork_rng(devices=[]):
        layer = ChebyshevConv(inputs, outputs, terms).double()
    layer.weight.data.copy_(torch.from_numpy(weight))
    layer.bias.data.copy_(torch.from_numpy(bias))
    return layer
