"""A network's parameters between torch and compiled code: padded to whole vectors, and each matrix beside its transpose.

Embeddings lie bin by bin in the engine, (bins, channels), and channel by channel in torch (`columns_of`), so f_graph's first
matrix and the head are turned on the way.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phist.engine.jit import compiled
from phist.engine.shape import Head, Shape, Weights, columns_of, padded

Array = NDArray[Any]


class Parameters:
    """The parameters of both levels and of the head.

    Args:
        channels: of each layer, without padding.
        tensors: (weight, bias) of f_node's layers as in `ChebyshevConv`, then of f_graph's, then of the head.
    """

    def __init__(self, shape: Shape, channels: Sequence[int], tensors: Sequence[Tensor]) -> None:
        self.tensors = list(tensors)
        ends = np.cumsum([tensor.numel() for tensor in tensors]).tolist()
        self.slices = [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
        layout = _Layout(shape, channels, n_classes=len(self.tensors[-1]))
        values = np.zeros(layout.size, np.float32)
        self.node = Weights(values, *layout.levels[0])
        self.graph = Weights(values, *layout.levels[1])
        self.head = Head(values, len(self.tensors[-1]), *layout.head)
        self.positions, turned = layout.positions()
        self.own_size = layout.own_size
        self.mirrors = np.arange(self.own_size, dtype=np.int32)
        self.mirrors[self.positions] = turned
        self.flat = np.empty(len(self.positions), np.float32)
        self._views = FlatViews()

    @property
    def packed(self) -> Array:
        """All numbers as compiled code has them: padded parameters, ``own_size`` of them, and then the transposes."""
        return self.node.values

    def read(self) -> None:
        """Bring what torch has now to where compiled code finds it."""
        np.concatenate(self._views.of(self.tensors), out=self.flat)
        _pack(self.flat, self.positions, self.mirrors, self.packed)

    def write(self) -> None:
        """Bring what compiled code has now to where torch finds it."""
        flat = self.packed[self.positions]
        for view, own in zip(self._views.of(self.tensors), self.slices, strict=True):
            view[:] = flat[own]

    def collect(self, gradients: Array) -> list[Tensor]:
        """The sum of every shard's gradients, (shards, own_size), in the order and the shapes of ``tensors``."""
        flat = np.empty_like(self.flat)
        _collect(gradients, self.positions, flat)
        return [torch.from_numpy(flat[own]).view(tensor.shape) for own, tensor in zip(self.slices, self.tensors, strict=True)]


class FlatViews:
    """Tensors as flat arrays that share their memory; made anew only when a tensor has moved, for making one takes its time."""

    def __init__(self) -> None:
        self._addresses: list[int] = []
        self._arrays: list[Array] = []

    def of(self, tensors: Sequence[Tensor]) -> list[Array]:
        addresses = [tensor.data_ptr() for tensor in tensors]
        if addresses != self._addresses:
            self._addresses, self._arrays = addresses, [tensor.detach().view(-1).numpy() for tensor in tensors]
        return self._arrays


class _Layout:
    """Where everything stands in the network's flat array of padded parameters."""

    def __init__(self, shape: Shape, channels: Sequence[int], n_classes: int) -> None:
        self.orders, self.widths, self.channels = shape.orders.tolist(), shape.widths.tolist(), list(channels)
        self.bins, self.moments, self.n_classes, self.size = shape.bins.number, shape.moments, n_classes, 0
        self.embedding_size = (self.bins + self.moments) * self.widths[-1]
        levels = self._lay_level(below=1), self._lay_level(below=self.bins * self.widths[-1])
        self.head = self._lay(n_classes * self.embedding_size), self._lay(n_classes)
        self.own_size = self.size
        self.levels = tuple((matrices, self._lay_all(areas), biases) for matrices, areas, biases in levels)

    def _lay(self, size: int) -> int:
        begin = self.size
        self.size += padded(size)
        return begin

    def _lay_all(self, sizes: Sequence[int]) -> Array:
        return np.array([self._lay(size) for size in sizes], np.int64)

    def _lay_level(self, below: int) -> tuple[Array, list[int], Array]:
        """Where each layer's matrix begins, how large it is, and where the bias begins."""
        befores = [below, *self.widths]
        areas = [order * before * width for order, before, width in zip(self.orders, befores, self.widths, strict=False)]
        return self._lay_all(areas), areas, self._lay_all(self.widths)

    def positions(self) -> tuple[Array, Array]:
        """For each number in torch's order where it stands, and where it stands in a transpose: the same where there is none."""
        positions: list[Array] = []
        turned: list[Array] = []
        numbers = np.arange(self.size)
        for on_embeddings, (matrices, transposes, biases) in enumerate(self.levels):
            for layer in range(len(self.channels)):
                rows, columns = self._area(layer, bool(on_embeddings))
                area = rows * columns
                position = numbers[matrices[layer] : matrices[layer] + area].reshape(rows, columns)
                mirror = numbers[transposes[layer] : transposes[layer] + area].reshape(columns, rows).T
                bias = numbers[biases[layer] : biases[layer] + self.channels[layer]]
                positions += [self._as_torch(position, layer, bool(on_embeddings)), bias]
                turned += [self._as_torch(mirror, layer, bool(on_embeddings)), bias]
        matrix, bias = (numbers[begin:] for begin in self.head)
        head = matrix[: self.n_classes * self.embedding_size].reshape(self.n_classes, self.embedding_size)
        last = [head[:, columns_of(self.bins, self.channels[-1], self.moments)], bias[: self.n_classes]]
        return tuple(
            np.concatenate([part.ravel() for part in parts]).astype(np.int32) for parts in (positions + last, turned + last)
        )  # type: ignore[return-value]

    def _area(self, layer: int, on_embeddings: bool) -> tuple[int, int]:
        order, width = self.orders[layer], self.widths[layer]
        if layer == 0 and on_embeddings:
            return self.bins * self.widths[-1], order * width  # the products of all terms stand side by side
        return order * (self.widths[layer - 1] if layer else 1), width

    def _as_torch(self, padded_matrix: Array, layer: int, on_embeddings: bool) -> Array:
        """A padded matrix without padding, as torch orders it: (order, inputs, outputs)."""
        order, width, channels = self.orders[layer], self.widths[layer], self.channels[layer]
        if layer == 0 and on_embeddings:
            by_bin = padded_matrix.reshape(self.bins, self.widths[-1], order, width)
            return by_bin[:, : self.channels[-1], :, :channels].transpose(2, 1, 0, 3)
        below, inputs = (self.widths[layer - 1], self.channels[layer - 1]) if layer else (1, 1)
        return padded_matrix.reshape(order, below, width)[:, :inputs, :channels]


@compiled
def _pack(flat: Any, positions: Any, mirrors: Any, packed: Any) -> None:
    for number in range(len(flat)):
        packed[positions[number]] = flat[number]
        packed[mirrors[positions[number]]] = flat[number]


@compiled
def _collect(gradients: Any, positions: Any, flat: Any) -> None:
    for number in range(len(flat)):
        flat[number] = gradients[0, positions[number]]
    for shard in range(1, len(gradients)):
        for number in range(len(flat)):
            flat[number] += gradients[shard, positions[number]]
