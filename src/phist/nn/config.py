"""NetworkConfig: every choice that shapes the network, with its reason beside it."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Self, get_args

from phist.errors import ConfigError, check_choice
from phist.nn.convolution import CONVOLUTIONS, SpectralOperator
from phist.nn.kernels import KERNELS
from phist.nn.normalization import Statistics
from phist.nn.sampling import RootSampler

AggregationKind = Literal["histogram", "sum", "mean", "max"]
HistogramKind = Literal["count", "density"]
MomentsUse = Literal["none", "head"]
ADDED_LATER = {"moments": "none"}  # fields that older configurations lack, with the value that such a network had
REMOVED = {"append_moments": False}  # fields that older configurations have, with the one value that still means something


@dataclass(frozen=True)
class NetworkConfig:
    """Shape of a `StructuralNetwork`; both levels share it, as in the paper's appendix.

    Args:
        orders: polynomial terms of each convolution layer; each reaches ``order - 1`` hops.
        channels: output channels of each convolution layer, as many as ``orders``.
        bins: histogram bins per channel.
        kernel, kernel_width: the bump of a bin, and its width as a multiple of the kernel's natural one.
        learnable_bins: learn centres and widths of the bins.
        aggregation: ``"histogram"``, or ``"sum"`` (the paper's ablation), ``"mean"``, ``"max"``.
        node_histogram, graph_histogram: ``"count"`` or ``"density"`` at each level.
        statistics: whitening of f_node over all roots of a graph together, or root by root.
        moments: ``"head"`` shows the linear head what whitening removes at both levels, the mean and the standard deviation of
            the responses of each channel; with ``"none"``, as in the paper, a graph whose nodes all look alike is seen as its
            number of nodes and nothing else (docs/theory.md).
        standardize: running standardisation of node and graph embeddings.
        convolution: ``"chebyshev"``, ``"cayley"``, ``"arma"``, ``"gin"`` or ``"sage"``.
        operator: ``"laplacian"``, or ``"random-walk"`` for directed graphs that are not symmetrised.
        operator_scale: bound of the scaled Laplacian's spectrum.
        sampler: how roots are drawn in training.
        max_elements: most (nodes × roots × channels) values held at once in inference; more are computed in turns.
    """

    orders: tuple[int, ...] = (3, 3)  # the appendix's most frequent choice
    channels: tuple[int, ...] = (16, 32)  # likewise
    bins: int = 8  # likewise
    kernel: str = "gaussian"  # smooth and overlapping, as the paper recommends; trains fastest (docs/decisions)
    kernel_width: float = 1.0
    learnable_bins: bool = False  # the theorems hold for fixed bins
    aggregation: AggregationKind = "histogram"
    node_histogram: HistogramKind = "density"  # a root's view should not depend on how much lies out of sight
    graph_histogram: HistogramKind = "count"  # the size of a graph is information
    statistics: Statistics = "joint"  # the paper
    moments: MomentsUse = "none"  # no benefit, the paper found
    standardize: bool = True  # without it training hardly begins (docs/decisions)
    convolution: str = "chebyshev"  # the paper
    operator: SpectralOperator = "laplacian"
    operator_scale: float = 0.8  # keeps the polynomials away from the ends of [-1, 1], where they are steep
    sampler: RootSampler = field(default_factory=RootSampler)
    max_elements: int = 1 << 24  # 64 MB of single precision for each of the few tensors alive at a time

    def __post_init__(self) -> None:
        for name in ("orders", "channels"):
            object.__setattr__(self, name, tuple(int(value) for value in getattr(self, name)))
        if not self.orders or len(self.orders) != len(self.channels):
            raise ConfigError(f"orders={self.orders} and channels={self.channels} differ in length; give one of each per layer")
        for name in ("orders", "channels"):
            if min(getattr(self, name)) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must all be at least 1")
        if self.bins < 1:
            raise ConfigError(f"bins={self.bins} was given; a histogram needs at least 1")
        if not 0 < self.operator_scale <= 1:
            raise ConfigError(f"operator_scale={self.operator_scale} was given; it must lie in (0, 1]")
        if self.max_elements < 1:
            raise ConfigError(f"max_elements={self.max_elements} was given; it must be at least 1")
        check_choice("kernel", self.kernel, KERNELS)
        check_choice("convolution", self.convolution, CONVOLUTIONS)
        check_choice("aggregation", self.aggregation, get_args(AggregationKind))
        check_choice("node_histogram", self.node_histogram, get_args(HistogramKind))
        check_choice("graph_histogram", self.graph_histogram, get_args(HistogramKind))
        check_choice("statistics", self.statistics, get_args(Statistics))
        check_choice("operator", self.operator, get_args(SpectralOperator))
        check_choice("moments", self.moments, get_args(MomentsUse))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The inverse of `to_dict`, and of that of earlier versions; unknown or missing names are an error that says which."""
        known = {item.name for item in fields(cls)}
        values = {**ADDED_LATER, **{name: value for name, value in values.items() if REMOVED.get(name, ...) != value}}
        if values.keys() != known:
            unknown, missing = sorted(values.keys() - known), sorted(known - values.keys())
            raise ConfigError(f"the network's configuration does not fit this version: unknown {unknown}, missing {missing}")
        return cls(**{**values, "sampler": RootSampler(**values["sampler"])})
