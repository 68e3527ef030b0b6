"""The two-level network: f_node turns impulses into node embeddings, f_graph turns those into a graph embedding."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from phist.errors import ConfigError
from phist.nn.batch import Batch
from phist.nn.config import HistogramKind, NetworkConfig
from phist.nn.convolution import make_convolution
from phist.nn.functional import impulses
from phist.nn.histogram import Aggregation, MaxAggregation, MeanAggregation, ProjectiveHistogram, SumAggregation
from phist.nn.initialization import DrawingFrom
from phist.nn.normalization import Moments, MultisetNorm, RunningStandardizer, merge_moments
from phist.nn.sampling import Roots


class StructuralEmbedding(nn.Module):
    r"""One level (section 3.1): convolutions, multiset normalisation, projective histogram.

    .. math:: f(X; G) = vec(phist(\hat{\mathcal X})),\quad \mathcal X = \{[g_{conv}(X; G)]_{i,:} : v_i \in V\}

    Shapes:
        - **input:** signals :math:`(nodes, roots, in\_channels)` and the weight of each root :math:`(graphs, roots)`
        - **output:** embeddings :math:`(graphs, roots, out\_channels)`
    """

    def __init__(self, in_channels: int, config: NetworkConfig, histogram: HistogramKind) -> None:
        super().__init__()
        convolution = make_convolution(config.convolution, config.operator, config.operator_scale)
        widths = (in_channels, *config.channels)
        self.convolutions = nn.ModuleList(
            convolution(before, after, order) for before, after, order in zip(widths, config.channels, config.orders, strict=False)
        )
        self.norm = MultisetNorm(config.statistics)
        self.aggregation = make_aggregation(config, histogram)
        self.in_channels = in_channels
        self.out_channels = self.aggregation.out_channels(widths[-1])

    def responses(self, x: Tensor, batch: Batch) -> Tensor:
        """g_conv(X; G): the convolutions, with an ELU between any two."""
        if x.shape[-1] != self.in_channels:
            raise ConfigError(f"signals with {x.shape[-1]} channels were given; this embedding takes {self.in_channels}")
        for layer, convolution in enumerate(self.convolutions):
            x = convolution(F.elu(x) if layer else x, batch)
        return x  # (nodes, roots, channels)

    def moments(self, x: Tensor, batch: Batch, root_weights: Tensor) -> Moments:
        """Mean and variance of the responses to ``x``."""
        return self.norm.moments(self.responses(x, batch), batch.graph_of, batch.node_counts, root_weights)

    def forward(self, x: Tensor, batch: Batch, root_weights: Tensor) -> Tensor:
        """Embed."""
        return self.embed(x, batch, root_weights)[0]

    def embed(self, x: Tensor, batch: Batch, root_weights: Tensor, moments: Moments | None = None) -> tuple[Tensor, Moments]:
        """Embed, and say what the responses were whitened with: their own moments unless others are given."""
        response = self.responses(x, batch)
        if moments is None:
            moments = self.norm.moments(response, batch.graph_of, batch.node_counts, root_weights)
        elements = self.norm(response, batch.graph_of, moments)
        embedding: Tensor = self.aggregation(elements, ptr=batch.node_ptr, dim=0)
        return embedding, moments  # (graphs, roots, out_channels)


class NodeLevel(NamedTuple):
    """What f_node makes of a batch."""

    embeddings: Tensor  # (graphs, roots, m_node), standardised
    removed: Tensor  # (graphs, 2 · channels): what whitening took from the responses


class StructuralNetwork(nn.Module):
    """f_node on the impulses of sampled roots, f_graph on their embeddings, and a linear head (section 3).

    Parameters are drawn from torch's generator; `make_network` draws them from a seed.

    Args:
        config: the network's shape.
        n_classes: outputs of the head.
    """

    def __init__(self, config: NetworkConfig, n_classes: int) -> None:
        super().__init__()
        if n_classes < 1:
            raise ConfigError(f"n_classes={n_classes} was given; at least 1 is needed")
        self.config = config
        self.f_node = StructuralEmbedding(1, config, config.node_histogram)
        self.f_graph = StructuralEmbedding(self.f_node.out_channels, config, config.graph_histogram)
        self.node_standardizer = _standardizer(config, self.f_node.out_channels)
        self.out_channels = self.f_graph.out_channels + (4 * config.channels[-1] if config.moments == "head" else 0)
        self.graph_standardizer = _standardizer(config, self.out_channels)
        self.head = nn.Linear(self.out_channels, n_classes)

    def forward(self, batch: Batch, roots: Roots) -> Tensor:
        """Class scores of every graph, seen from ``roots``.

        Args:
            batch: the graphs.
            roots: the nodes from which impulses are sent.
        """
        scores: Tensor = self.head(self.graph_embeddings(batch, roots))
        return scores  # (graphs, classes)

    def node_embeddings(self, batch: Batch, roots: Roots) -> Tensor:
        """e_j = f_node(δ_j; G) for every root, standardised.

        Args:
            batch: the graphs.
            roots: the nodes from which impulses are sent.
        """
        return self.node_level(batch, roots).embeddings  # (graphs, roots, m_node)

    def node_level(self, batch: Batch, roots: Roots) -> NodeLevel:
        """The same, with what whitening removed.

        Args:
            batch: the graphs.
            roots: the nodes from which impulses are sent.
        """
        embeddings, moments = self._node_histograms(batch, roots)
        if isinstance(self.node_standardizer, RunningStandardizer):
            embeddings = self.node_standardizer(embeddings, roots.multiplicity)
        return NodeLevel(embeddings, self.f_node.norm.removed(moments))

    def _node_histograms(self, batch: Batch, roots: Roots) -> tuple[Tensor, Moments]:
        """As many roots at a time as the memory limit allows; gradients need them all at once."""
        rows = batch.n_nodes * max(self.config.channels)
        slots_at_once = max(1, self.config.max_elements // rows)
        if torch.is_grad_enabled() or roots.nodes.shape[1] <= slots_at_once:
            return self._embed_roots(batch, roots)
        parts = roots.split(slots_at_once)
        moments = None
        if self.config.statistics == "joint":
            moments = merge_moments([self._root_moments(batch, part) for part in parts])
        histograms, own = zip(*(self._embed_roots(batch, part, moments) for part in parts), strict=True)
        if moments is None:
            moments = Moments(*(torch.cat(of_parts, dim=1) for of_parts in zip(*own, strict=True)))
        return torch.cat(histograms, dim=1), moments  # (graphs, roots, m_node)

    def graph_embeddings(self, batch: Batch, roots: Roots) -> Tensor:
        """e_G = f_graph(E; G), standardised; nodes that are no roots have no embedding, repeated roots add up.

        Args:
            batch: the graphs.
            roots: the nodes from which impulses are sent.
        """
        return self.read(batch, roots, self.node_level(batch, roots))

    def read(self, batch: Batch, roots: Roots, nodes: NodeLevel) -> Tensor:
        """The same, given what f_node makes of the roots.

        Args:
            batch: the graphs.
            roots: the nodes from which impulses are sent.
            nodes: what `node_level` returned for them.
        """
        drawn = nodes.embeddings * roots.multiplicity.unsqueeze(-1)
        signal = torch.zeros(batch.n_nodes, drawn.shape[-1], dtype=drawn.dtype, device=drawn.device)
        signal = signal.index_add(0, roots.nodes.flatten(), drawn.flatten(0, 1)).unsqueeze(1)  # (nodes, 1, m_node)
        histograms, moments = self.f_graph.embed(signal, batch, drawn.new_ones(batch.n_graphs, 1))
        embeddings = histograms.squeeze(1)
        if self.config.moments == "head":
            embeddings = torch.cat([embeddings, self.f_graph.norm.removed(moments), nodes.removed], dim=-1)
        return self.graph_standardizer(embeddings)  # type: ignore[no-any-return]  # (graphs, m_graph)

    def _embed_roots(self, batch: Batch, roots: Roots, moments: Moments | None = None) -> tuple[Tensor, Moments]:
        return self.f_node.embed(impulses(roots.nodes, batch.n_nodes, batch.dtype), batch, roots.multiplicity, moments)

    def _root_moments(self, batch: Batch, roots: Roots) -> Moments:
        return self.f_node.moments(impulses(roots.nodes, batch.n_nodes, batch.dtype), batch, roots.multiplicity)


def make_network(config: NetworkConfig, n_classes: int, seed: int) -> StructuralNetwork:
    """A network whose parameters depend on ``seed`` only; torch's own generator is neither read nor moved."""
    with DrawingFrom(torch.Generator().manual_seed(seed)):
        return StructuralNetwork(config, n_classes)


def make_aggregation(config: NetworkConfig, histogram: HistogramKind) -> Aggregation:
    """The aggregation function a configuration asks for."""
    if config.aggregation == "histogram":
        return ProjectiveHistogram(
            config.bins, config.kernel, config.kernel_width, density=histogram == "density", learnable=config.learnable_bins
        )
    siblings: dict[str, type[Aggregation]] = {"sum": SumAggregation, "mean": MeanAggregation, "max": MaxAggregation}
    return siblings[config.aggregation]()


def _standardizer(config: NetworkConfig, channels: int) -> nn.Module:
    return RunningStandardizer(channels) if config.standardize else nn.Identity()
