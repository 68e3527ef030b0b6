"""Explanation: why a model says what it says of one graph."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phist.checks import whole_number
from phist.explain import export
from phist.explain.deletions import Deletions
from phist.explain.edits import edge_of_arcs, subgraphs
from phist.explain.shares import NodeShares
from phist.graphs.arrays import IntArray
from phist.graphs.graph import Graph

if TYPE_CHECKING:
    import networkx
    import pandas
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
MOST = 0.5  # of the prediction: below it, nodes are judged by what the whole model says without them


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a model says what it says of one graph; `explain` makes them.

    Attributes:
        graph: as the model reads it.
        classes: all labels, in the order of the columns below.
        target: the label that is explained.
        probabilities: (classes): of the whole model.
        network: what its networks see: base, size, shares, votes, draws, bins, channels; ``None`` for a model without networks.
        covered: the weight, from 0 to 1, in the model's prediction of the linear heads that ``network`` is about.
        weights: of all predictors of the model, by name.
        deletions: changes of probabilities and logits without each edge and without each node.

    Example:
        >>> from phist import StructuralClassifier
        >>> from phist.graphs.motifs import make_ba_2motifs
        >>> graphs, truth = make_ba_2motifs(40, seed=0)
        >>> model = StructuralClassifier("low", random_state=0, progress=False, engine="reference").fit(graphs)
        >>> explanation = model.explain(graphs[:1])[0]
        >>> explanation.node_values.shape, explanation.edge_values.shape
        ((25,), (26,))
    """

    graph: Graph
    classes: list[Hashable]
    target: Hashable
    probabilities: Array
    network: NodeShares | None
    covered: float
    weights: Mapping[str, float]
    deletions: Deletions

    @property
    def target_number(self) -> int:
        """The column of the target."""
        return self.classes.index(self.target)

    @property
    def predicted(self) -> Hashable:
        """The most probable class."""
        return self.classes[int(self.probabilities.argmax())]

    # What speaks for the target -----------------------------------------------------------------------------------------

    @property
    def node_shares(self) -> Array | None:
        """What each node adds to the target's logit: (nodes); ``None`` for a model without networks."""
        return None if self.network is None else self.network.shares[:, self.target_number]

    @property
    def root_votes(self) -> Array | None:
        """What each node's embedding adds to the target's logit as a root: (nodes); ``None`` where it was not computed."""
        if self.network is None or self.network.votes is None:
            return None
        return self.network.votes[:, self.target_number]

    @property
    def node_effects(self) -> Array:
        """The target's probability less that without each node: (nodes), NaN where it was not computed."""
        return self.deletions.nodes[:, self.target_number]

    @property
    def edge_effects(self) -> Array:
        """The target's probability less that without each edge: (edges), NaN where it was not computed."""
        return self.deletions.edges[:, self.target_number]

    @property
    def node_logit_effects(self) -> Array:
        """The target's logit less that without each node: (nodes); of the networks that shares are about, NaN without any."""
        return self.deletions.node_logits[:, self.target_number]

    @property
    def edge_logit_effects(self) -> Array:
        """The target's logit less that without each edge: (edges); of the networks that shares are about, NaN without any."""
        return self.deletions.edge_logits[:, self.target_number]

    @property
    def node_values(self) -> Array:
        """How much each node speaks for the target: its share, or its deletion effect where shares cover less than half."""
        deleted = not np.isnan(self.node_effects).all()
        if self.network is not None and (self.covered >= MOST or not deleted):
            return self.network.shares[:, self.target_number]
        return np.nan_to_num(self.node_effects)

    @property
    def edge_values(self) -> Array:
        """How much each edge speaks for the target: its deletion effect, zero where it was not computed.

        On the logit where shares cover at least half of the prediction, else on the probability.
        """
        return np.nan_to_num(self.edge_logit_effects if self.covered >= MOST else self.edge_effects)

    # As PyG has it ------------------------------------------------------------------------------------------------------

    @property
    def edge_index(self) -> Tensor:
        """Both directions of every edge: (2, arcs)."""
        source = np.repeat(np.arange(self.graph.n_nodes), np.diff(self.graph.indptr))
        return torch.from_numpy(np.stack([source, self.graph.indices.astype(np.int64)]))

    @property
    def node_mask(self) -> Tensor:
        """How much each node speaks for the target, zero where it speaks against: (nodes, 1)."""
        return torch.from_numpy(np.maximum(self.node_values, 0).astype(np.float32)).unsqueeze(1)

    @property
    def edge_mask(self) -> Tensor:
        """The same of edges, in the order of `edge_index`: (arcs)."""
        values = np.maximum(self.edge_values, 0).astype(np.float32)
        return torch.from_numpy(values[edge_of_arcs(self.graph)])

    def explanation_subgraph(self, top_k: int | None = None) -> Graph:
        """The nodes and edges that speak for the target, or the ``top_k`` nodes that do most, with the edges between them."""
        return self._part(top_k, complement=False)

    def complement_subgraph(self, top_k: int | None = None) -> Graph:
        """The nodes and edges that do not speak for the target, or all nodes but the ``top_k`` that do most."""
        return self._part(top_k, complement=True)

    def top_nodes(self, k: int) -> IntArray:
        """The nodes that speak most for the target, the first of equal ones first.

        Args:
            k: how many nodes to name.
        """
        k = whole_number("top_k", k, least=1)
        return np.argsort(-self.node_values, kind="stable")[:k]

    def _part(self, top_k: int | None, complement: bool) -> Graph:
        nodes, arcs = self.node_mask[:, 0].numpy() > 0, np.ones(len(self.graph.indices), bool)
        if top_k is not None:
            nodes = np.isin(np.arange(self.graph.n_nodes), self.top_nodes(top_k))
        nodes = ~nodes if complement else nodes
        if top_k is None and not np.isnan(self.edge_effects).all():
            arcs = (self.edge_mask.numpy() > 0) != complement
        if not nodes.any():
            return Graph(np.zeros(1, np.int64), np.empty(0, np.int32), id=self.graph.id, directed=self.graph.directed)
        part = subgraphs(self.graph, nodes[None], arcs[None])[0]
        return Graph(part.indptr, part.indices, part.weights, self.graph.label, self.graph.id, part.directed)

    # To other forms -----------------------------------------------------------------------------------------------------

    def to_pyg(self) -> Any:
        """A ``torch_geometric.explain.Explanation`` with the masks, the prediction and the target's number."""
        return export.to_pyg(self)

    def to_networkx(self) -> "networkx.Graph[int]":
        """The graph for networkx; nodes have ``share``, ``vote``, ``effect`` and ``logit_effect``, edges the latter two."""
        return export.to_networkx(self)

    def to_frame(self) -> "pandas.DataFrame":
        """A table with a row for each node and each edge."""
        return export.to_frame(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; ``None`` for what was not computed."""
        return export.to_dict(self)

    def visualize(self, path: str | Path | None = None) -> "Figure":
        """A picture: the colour of a node is what it speaks for, the width of an edge its deletion effect.

        Args:
            path: what the names of a PNG and an SVG file begin with, to be written as well.
        """
        from phist.drawing.explanation import plot_explanation
        from phist.drawing.style import save_figure

        title = f"graph {self.graph.id}: {self.target} with probability {self.probabilities[self.target_number]:.2f}"
        figure = plot_explanation(self.graph, self.node_values, self.edge_values, title)
        if path is not None:
            save_figure(figure, path)
        return figure

    def __str__(self) -> str:
        return export.to_text(self)

    def __repr__(self) -> str:
        said = f"{self.target!r} with probability {self.probabilities[self.target_number]:.3f}"
        return f"Explanation({self.graph!r}, {said})"

    def _repr_html_(self) -> str:
        return export.to_html(self)
