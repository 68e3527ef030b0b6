"""Eight graph neural networks, in the shapes they have in PyTorch Geometric's kernel benchmark, on its layers.

All end in the same head: a hidden layer, dropout of one half, and the classes. A layer takes a `Level` where PyTorch
Geometric has edge lists, and aggregates by one product with a symmetric sparse matrix: the same sums several times faster.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from types import ModuleType
from typing import Any, Literal

import torch
from torch import Tensor, nn

from phist.baselines.gnn_batches import GnnBatch, Level
from phist.extras import require

Convolution = Literal["gcn", "gin-0", "gin-eps", "sage", "graph"]
Readout = Literal["mean", "attention", "set2set"]


@dataclass(frozen=True)
class Architecture:
    """What sets the networks apart."""

    convolution: Convolution
    readout: Readout = "mean"
    jumping: bool = False  # whether the head sees the readouts of all layers, or of the last one
    coarsening: bool = False  # whether graphs are halved on the way

    @property
    def normalized(self) -> bool:
        """Whether the network wants weighted arcs and loops."""
        return self.convolution == "gcn"

    def halves_after(self, layer: int, layers: int) -> bool:
        """Whether graphs are halved after the given layer, counted from 0: after the second, fourth, ..., but not the last."""
        return self.coarsening and layer % 2 == 1 and layer < layers - 1

    def coarsenings(self, layers: int) -> int:
        """How many times graphs are halved."""
        return sum(self.halves_after(layer, layers) for layer in range(layers))


ARCHITECTURES = {
    "gcn": Architecture("gcn", jumping=True),
    "gin-0": Architecture("gin-0", jumping=True),
    "gin-eps": Architecture("gin-eps", jumping=True),
    "sage": Architecture("sage", jumping=True),
    "sage-no-jk": Architecture("sage"),
    "global-attention": Architecture("sage", readout="attention"),
    "graclus": Architecture("graph", jumping=True, coarsening=True),
    "set2set": Architecture("sage", readout="set2set"),
}


class GnnNetwork(nn.Module):
    """Convolutions, a readout and the head.

    Args:
        architecture: one of `ARCHITECTURES`.
        inputs: features of a node.
        hidden: channels of every layer.
        layers: convolutions.
        n_classes: scores to give.
    """

    def __init__(self, architecture: Architecture, inputs: int, hidden: int, layers: int, n_classes: int) -> None:
        super().__init__()
        self.architecture = architecture
        widths = [inputs] + [hidden] * layers
        self.convolutions = nn.ModuleList(
            _convolution(architecture.convolution, before, after) for before, after in pairwise(widths)
        )
        self.readout = _readout(architecture.readout, hidden)
        seen = hidden * (layers if architecture.jumping else 2 if architecture.readout == "set2set" else 1)
        self.head = nn.Sequential(nn.Linear(seen, hidden), nn.ReLU(), nn.Dropout(0.5), nn.Linear(hidden, n_classes))

    def forward(self, batch: GnnBatch) -> Tensor:
        """Scores before the softmax, (graphs, classes)."""
        levels = iter(batch.levels)
        level, x, seen = next(levels), batch.features, []
        for number, convolution in enumerate(self.convolutions):
            x = convolution(x, level)
            if self.architecture.jumping or number == len(self.convolutions) - 1:
                seen.append(self.readout(x, level.graph_of_node, dim_size=level.n_graphs))
            if self.architecture.halves_after(number, len(self.convolutions)):
                level = next(levels)
                x = level.merge(x)
        scores: Tensor = self.head(torch.cat(seen, dim=1))
        return scores


class SparseLayer(nn.Module):
    """One of PyTorch Geometric's layers that takes a level instead of an edge list.

    Args:
        layer: the layer; the passing of messages, and nothing else of it, is replaced.
        activation: what follows it.
    """

    def __init__(self, layer: Any, activation: nn.Module) -> None:
        super().__init__()
        layer.propagate = partial(_aggregate, layer.aggr)
        self.layer, self.activation = layer, activation

    def forward(self, x: Tensor, level: Level) -> Tensor:
        result: Tensor = self.activation(self.layer(x, level))
        return result


def _aggregate(how: str, edge_index: Level, *, x: Tensor | tuple[Tensor, Tensor], **unused: Any) -> Tensor:
    signal = x if isinstance(x, Tensor) else x[0]
    return edge_index.mean(signal) if how == "mean" else edge_index.sum(signal)


def _convolution(kind: Convolution, inputs: int, outputs: int) -> SparseLayer:
    pyg = _pyg()
    if kind == "gcn":
        return SparseLayer(pyg.GCNConv(inputs, outputs, normalize=False), nn.ReLU())  # arcs come with their weights
    if kind == "sage":
        return SparseLayer(pyg.SAGEConv(inputs, outputs, aggr="mean"), nn.ReLU())
    if kind == "graph":
        return SparseLayer(pyg.GraphConv(inputs, outputs, aggr="mean"), nn.ReLU())
    perceptron = nn.Sequential(
        nn.Linear(inputs, outputs), nn.ReLU(), nn.Linear(outputs, outputs), nn.ReLU(), nn.BatchNorm1d(outputs)
    )
    return SparseLayer(pyg.GINConv(perceptron, train_eps=kind == "gin-eps"), nn.Identity())


def _readout(kind: Readout, hidden: int) -> nn.Module:
    pyg = _pyg()
    if kind == "attention":
        module: nn.Module = pyg.AttentionalAggregation(nn.Linear(hidden, 1))
    elif kind == "set2set":
        module = pyg.Set2Set(hidden, processing_steps=4)
    else:
        module = pyg.MeanAggregation()
    return module


def _pyg() -> ModuleType:
    return require("torch_geometric.nn", "gnn", "a graph neural network of the study")
