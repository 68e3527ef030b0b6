"""A network's parameters between torch and compiled code: padded to whole vectors, and each matrix beside its transpose.

Embeddings lie bin by bin in the engine, (bins, channels), and channel by channel in torch, so f_graph's first matrix is
turned on the way.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phist.engine.shape import Shape, Weights, layout_weights

Array = NDArray[Any]


class LevelParameters:
    """One level's parameters, (weight, bias) of every layer as in `ChebyshevConv`, in an array that is filled anew for every pass.

    Args:
        channels: of each layer, without padding.
        on_embeddings: whether the level takes embeddings, as f_graph does, or impulses.
    """

    def __init__(self, shape: Shape, channels: Sequence[int], on_embeddings: bool) -> None:
        self.orders, self.widths, self.channels = shape.orders.tolist(), shape.widths.tolist(), list(channels)
        self.bins, self.on_embeddings = shape.bins.number, on_embeddings
        self.size, *offsets = layout_weights(shape, on_embeddings)
        self.matrices, self.transposes, self.biases = offsets
        self.weights = Weights(np.zeros(self.size, np.float32), *offsets)
        self._places = [self._views(self.weights.values, layer) for layer in range(len(self.channels))]

    def _views(self, values: Array, layer: int) -> tuple[Array, Array, Array, Array]:
        """A layer's matrix as torch orders it, without padding; whole and flat; its transpose; its bias."""
        order, width, channels = self.orders[layer], self.widths[layer], self.channels[layer]
        at, turned, bias = (int(offsets[layer]) for offsets in (self.matrices, self.transposes, self.biases))
        if layer == 0 and self.on_embeddings:
            rows = self.bins * self.widths[-1]
            flat = values[at : at + rows * order * width].reshape(rows, order * width)
            apart = flat.reshape(self.bins, self.widths[-1], order, width)
            inner = apart[:, : self.channels[-1], :, :channels].transpose(2, 1, 0, 3)  # (order, channels, bins, outputs)
        else:
            below = self.widths[layer - 1] if layer else 1
            flat = values[at : at + order * below * width].reshape(order * below, width)
            inner = flat.reshape(order, below, width)[:, : self.channels[layer - 1] if layer else 1, :channels]
        transposed = values[turned : turned + flat.size].reshape(flat.shape[::-1])
        return inner, flat, transposed, values[bias : bias + channels]

    def pack(self, parameters: Sequence[Tensor]) -> Weights:
        """The parameters as compiled code takes them."""
        for (inner, flat, transposed, bias), weight, constant in zip(self._places, parameters[::2], parameters[1::2], strict=True):
            inner[...] = weight.numpy().reshape(inner.shape)
            transposed[...] = flat.T
            bias[...] = constant.numpy()
        return self.weights

    def unpack(self, gradient: Array) -> list[Tensor]:
        """Gradients as torch takes them."""
        result = []
        for layer, channels in enumerate(self.channels):
            inner, _, _, bias = self._views(gradient, layer)
            result.append(torch.from_numpy(np.ascontiguousarray(inner)).view(self.orders[layer], -1, channels))
            result.append(torch.from_numpy(bias))
        return result
