"""Batch: the graphs of one step as tensors, their adjacency matrices stacked into one block-diagonal matrix."""

from dataclasses import dataclass, field
from typing import Literal, Self

import numpy as np
import torch
from torch import Tensor

from phist.errors import ConfigError
from phist.graphs.graphset import GraphSet
from phist.nn.operator import SparseOperator

OperatorKind = Literal["laplacian", "random-walk", "adjacency", "mean"]
LEAST_DEGREE = float(np.finfo(np.float64).tiny)  # in units of a graph's largest weight; below it an inverse has no double
LEAST_EXPONENT = -1020  # of a weight; for a smaller one the factor itself would have no double


@dataclass(frozen=True)
class Batch:
    """Several graphs, their nodes numbered one after the other."""

    node_ptr: Tensor  # (graphs + 1)
    graph_of: Tensor  # (nodes): the graph each node belongs to
    row_ptr: Tensor  # (nodes + 1)
    neighbors: Tensor  # (arcs): numbered through the batch
    weights: Tensor  # (arcs), in double precision: only their ratios matter, and those may span more than a float can
    directed: bool
    dtype: torch.dtype  # of the signals
    _operators: dict[tuple[OperatorKind, float], SparseOperator] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_graphs(cls, graphs: GraphSet, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32) -> Self:
        """Stack ``graphs`` on ``device``."""
        arcs = np.diff(graphs.indptr[graphs.node_ptr])
        neighbors = graphs.indices + np.repeat(graphs.node_ptr[:-1], arcs)
        return cls(
            node_ptr=torch.tensor(graphs.node_ptr, device=device),
            graph_of=torch.from_numpy(np.repeat(np.arange(len(graphs)), graphs.node_counts())).to(device),
            row_ptr=torch.tensor(graphs.indptr, device=device),
            neighbors=torch.from_numpy(neighbors).to(device),
            weights=torch.from_numpy(graphs.weights_or_ones().copy()).to(device),
            directed=graphs.directed,
            dtype=dtype,
        )

    @property
    def n_graphs(self) -> int:
        return len(self.node_ptr) - 1

    @property
    def n_nodes(self) -> int:
        return len(self.graph_of)

    @property
    def node_counts(self) -> Tensor:
        return self.node_ptr.diff()  # (graphs)

    @property
    def device(self) -> torch.device:
        return self.node_ptr.device

    def operator(self, kind: OperatorKind, scale: float = 1.0) -> SparseOperator:
        """A matrix of the graphs, computed on first use and shared from then on.

        ``"laplacian"`` is scale·(L - I) for the symmetric normalised Laplacian L, that is -scale·D^-1/2 A D^-1/2: its
        spectrum lies within [-scale, scale], and an isolated node has a zero row. ``"random-walk"`` is -scale·D^-1 A with
        the out-degrees of a directed graph. ``"adjacency"`` is A, ``"mean"`` is D^-1 A; both ignore ``scale``.
        """
        key = (kind, scale)
        if key not in self._operators:
            self._operators[key] = self._make_operator(kind, scale)
        return self._operators[key]

    def _make_operator(self, kind: OperatorKind, scale: float) -> SparseOperator:
        check_operator(kind, self.directed)
        rows = torch.repeat_interleave(torch.arange(self.n_nodes, device=self.device), self.row_ptr.diff())
        weights = self._scaled_weights(self.graph_of[rows])
        degrees = torch.zeros(self.n_nodes, device=self.device, dtype=torch.float64).index_add_(0, rows, weights)
        inverse = torch.where(degrees >= LEAST_DEGREE, 1 / degrees, 0)
        if kind == "laplacian":
            values = -scale * inverse.sqrt()[rows] * weights * inverse.sqrt()[self.neighbors]
        elif kind == "random-walk":
            values = -scale * inverse[rows] * weights
        elif kind == "mean":
            values = inverse[rows] * weights
        else:
            values = self.weights
        symmetric = kind == "laplacian" or (kind == "adjacency" and not self.directed)
        return SparseOperator(self.row_ptr, self.neighbors, values.to(self.dtype), symmetric)

    def _scaled_weights(self, graph_of_arc: Tensor) -> Tensor:
        """Each graph's weights times a power of four, so that their sums and inverses stay in range; it rounds nothing."""
        largest = self.weights.new_zeros(self.n_graphs).scatter_reduce_(0, graph_of_arc, self.weights, "amax")
        exponents = torch.frexp(largest).exponent.clamp(min=LEAST_EXPONENT)
        factors = torch.ldexp(torch.ones_like(largest), -(exponents - exponents % 2))
        return self.weights * factors[graph_of_arc]


def check_operator(kind: str, directed: bool) -> None:
    """Raise unless graphs have such an operator."""
    if kind == "laplacian" and directed:
        raise ConfigError(
            "the Laplacian needs undirected graphs, these are directed; "
            'set operator="random-walk", or read them with directed="symmetrise"'
        )
