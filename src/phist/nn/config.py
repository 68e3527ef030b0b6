"""NetworkConfig: every choice that shapes the network, with its reason beside it."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from itertools import islice
from typing import Any, Literal, Self, get_args

from phist.checks import finite_number, truth_value, whole_number
from phist.errors import ConfigError, check_choice, shown
from phist.nn.convolution import CONVOLUTIONS, SpectralOperator
from phist.nn.kernels import KERNELS
from phist.nn.normalization import Statistics
from phist.nn.sampling import RootSampler

AggregationKind = Literal["histogram", "sum", "mean", "max"]
HistogramKind = Literal["count", "density"]
MomentsUse = Literal["none", "head"]
ADDED_LATER = {"moments": "none"}  # fields that older configurations lack, with the value that such a network had
REMOVED = {"append_moments": False}  # fields that older configurations have, with the one value that still means something
MOST_LAYERS = 100
MOST_PER_LAYER = 1 << 16  # terms, channels, bins
MOST_WEIGHTS = 1 << 28  # a gigabyte in single precision


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
    moments: MomentsUse = "none"  # the paper; the estimators take "head", without which vertex-transitive graphs look alike
    standardize: bool = True  # without it training hardly begins (docs/decisions)
    convolution: str = "chebyshev"  # the paper
    operator: SpectralOperator = "laplacian"
    operator_scale: float = 0.8  # keeps the polynomials away from the ends of [-1, 1], where they are steep
    sampler: RootSampler = field(default_factory=RootSampler)
    max_elements: int = 1 << 24  # 64 MB of single precision for each of the few tensors alive at a time

    def __post_init__(self) -> None:
        for name in ("orders", "channels"):
            self._set(name, _sizes_of_layers(name, getattr(self, name)))
        if len(self.orders) != len(self.channels):
            raise ConfigError(f"orders={self.orders} and channels={self.channels} differ in length; give one of each per layer")
        self._set("bins", whole_number("bins", self.bins, least=1, most=MOST_PER_LAYER))
        self._set("max_elements", whole_number("max_elements", self.max_elements, least=1, most=2**40))
        self._set("kernel_width", finite_number("kernel_width", self.kernel_width, least=0, above=True))
        self._set("operator_scale", finite_number("operator_scale", self.operator_scale, least=0, most=1, above=True))
        for name in ("learnable_bins", "standardize"):
            self._set(name, truth_value(name, getattr(self, name)))
        if not isinstance(self.sampler, RootSampler):
            raise ConfigError(f"sampler={shown(self.sampler)} was given; a RootSampler is needed")
        self._check_size()
        check_choice("kernel", self.kernel, KERNELS)
        check_choice("convolution", self.convolution, CONVOLUTIONS)
        check_choice("aggregation", self.aggregation, get_args(AggregationKind))
        check_choice("node_histogram", self.node_histogram, get_args(HistogramKind))
        check_choice("graph_histogram", self.graph_histogram, get_args(HistogramKind))
        check_choice("statistics", self.statistics, get_args(Statistics))
        check_choice("operator", self.operator, get_args(SpectralOperator))
        check_choice("moments", self.moments, get_args(MomentsUse))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_size(self) -> None:
        """Whether both levels have a size that fits into memory, before anybody asks for it."""
        weights = 0
        for first in (1, self.channels[-1] * self.bins):
            widths = (first, *self.channels)
            weights += sum(order * before * after for order, before, after in zip(self.orders, widths, self.channels, strict=False))
        if weights > MOST_WEIGHTS:
            raise ConfigError(
                f"orders={shown(self.orders)}, channels={shown(self.channels)} and bins={self.bins} come to {weights:,} weights; "
                f"at most {MOST_WEIGHTS:,} are possible: take fewer or smaller layers"
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """The inverse of `to_dict`, and of that of earlier versions; unknown or missing names are an error that says which.

        Args:
            values: fields by name, as `to_dict` gives them.
        """
        if not isinstance(values, Mapping):
            raise ConfigError(f"the network's configuration is {shown(values)}; an object is needed")
        known = {item.name for item in fields(cls)}
        values = {**ADDED_LATER, **{name: value for name, value in values.items() if REMOVED.get(name, ...) != value}}
        if values.keys() != known:
            unknown, missing = sorted(values.keys() - known), sorted(known - values.keys())
            raise ConfigError(
                f"the network's configuration does not fit this version: unknown {shown(unknown)}, missing {shown(missing)}"
            )
        return cls(**{**values, "sampler": RootSampler.from_dict(values["sampler"])})


def _sizes_of_layers(name: str, values: Any) -> tuple[int, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ConfigError(f"{name}={shown(values)} was given; a whole number for each layer is needed, such as (3, 3)")
    sizes = tuple(islice(values, MOST_LAYERS + 1))
    if not 1 <= len(sizes) <= MOST_LAYERS:
        raise ConfigError(f"{name}={shown(values)} was given; from 1 to {MOST_LAYERS} layers are possible")
    return tuple(whole_number(name, size, least=1, most=MOST_PER_LAYER) for size in sizes)
