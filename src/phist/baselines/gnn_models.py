"""Eight graph neural networks, in the shapes they have in PyTorch Geometric's kernel benchmark.

All end in the same head: a hidden layer, dropout of one half, and the classes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

from phist.baselines.gnn_batches import Aggregation, GnnBatch
from phist.baselines.gnn_layers import AttentionReadout, Gcn, Gin, MeanReadout, Sage, Set2SetReadout

Convolution = Literal["gcn", "gin-0", "gin-eps", "sage"]
Readout = Literal["mean", "attention", "set2set"]

CONVOLUTIONS: dict[Convolution, Callable[[int, int], nn.Module]] = {
    "gcn": Gcn,
    "gin-0": partial(Gin, learn_eps=False),
    "gin-eps": partial(Gin, learn_eps=True),
    "sage": Sage,
}
AGGREGATIONS: dict[Convolution, Aggregation] = {"gcn": "normalized", "gin-0": "sum", "gin-eps": "sum", "sage": "mean"}
READOUTS: dict[Readout, Callable[[int], nn.Module]] = {
    "mean": lambda channels: MeanReadout(),
    "attention": AttentionReadout,
    "set2set": Set2SetReadout,
}


@dataclass(frozen=True)
class Architecture:
    """What sets the networks apart."""

    convolution: Convolution
    readout: Readout = "mean"
    jumping: bool = False  # whether the head sees the readouts of all layers, or of the last one
    coarsening: bool = False  # whether graphs are halved on the way

    @property
    def aggregation(self) -> Aggregation:
        """What a node takes in of its neighbours."""
        return AGGREGATIONS[self.convolution]

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
    "graclus": Architecture("sage", jumping=True, coarsening=True),
    "set2set": Architecture("sage", readout="set2set"),
}


class GnnNetwork(nn.Module):
    """Convolutions, a readout and the head.

    Args:
        architecture: one of `ARCHITECTURES`.
        n_degrees: degrees that nodes may have, the largest and those above it taken for one.
        hidden: channels of every layer.
        layers: convolutions.
        n_classes: scores to give.
    """

    def __init__(self, architecture: Architecture, n_degrees: int, hidden: int, layers: int, n_classes: int) -> None:
        super().__init__()
        self.architecture = architecture
        widths = [n_degrees] + [hidden] * layers
        convolution = CONVOLUTIONS[architecture.convolution]
        self.convolutions = nn.ModuleList(convolution(before, after) for before, after in pairwise(widths))
        self.readout = READOUTS[architecture.readout](hidden)
        seen = hidden * (layers if architecture.jumping else 2 if architecture.readout == "set2set" else 1)
        self.head = nn.Sequential(nn.Linear(seen, hidden), nn.ReLU(), nn.Dropout(0.5), nn.Linear(hidden, n_classes))

    def forward(self, batch: GnnBatch) -> Tensor:
        """Scores before the softmax, (graphs, classes)."""
        levels = iter(batch.levels)
        level, x, seen = next(levels), batch.degrees, []
        for number, convolution in enumerate(self.convolutions):
            x = convolution(x, level)
            if self.architecture.jumping or number == len(self.convolutions) - 1:
                seen.append(self.readout(x, level))
            if self.architecture.halves_after(number, len(self.convolutions)):
                level = next(levels)
                x = level.merge(x)
        scores: Tensor = self.head(torch.cat(seen, dim=1))
        return scores
