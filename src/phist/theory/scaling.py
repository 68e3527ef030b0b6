"""How long a training step takes as graphs, layers, bins and roots grow: the claims of section 3, measured."""

import ctypes
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar, nnls

from phist.errors import GraphInputError
from phist.graphs.convert import as_graphset
from phist.graphs.graphset import GraphSet
from phist.nn.batch import Batch
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.nn.sampling import Roots, all_roots

CLAIMS = {"nodes": 1, "edges": 1, "layers": 1, "bins": 1, "roots": 1, "all nodes as roots": 2}  # exponents of section 3
QUICK: dict[str, tuple[int, ...]] = {
    "nodes": (100, 200, 400, 800),
    "edges": (2_000, 4_000, 8_000, 16_000),
    "layers": (1, 2, 4, 8),
    "bins": (4, 8, 16, 32),
    "roots": (16, 32, 64, 128),
    "all nodes as roots": (32, 64, 128, 192),
}
FULL: dict[str, tuple[int, ...]] = {
    "nodes": (100, 300, 1_000, 3_000, 10_000, 30_000),
    "edges": (10_000, 30_000, 100_000, 300_000, 1_000_000),
    "layers": (1, 2, 3, 4, 6, 8, 12),
    "bins": (2, 4, 8, 16, 32, 64),
    "roots": (8, 16, 32, 64, 128, 256, 512),
    "all nodes as roots": (32, 64, 128, 256, 512, 1_024),
}
REPEATS = 5
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4  # names and numbers of glibc's mallopt


@dataclass(frozen=True)
class Setting:
    """What a step is taken with: one random graph of mean degree 10, and the network as it is by default."""

    nodes: int = 500
    edges: int | None = None  # five a node, unless given
    roots: int = 32  # the paper's choice
    layers: int | None = None  # the default network's two, unless given; then with 16 channels each
    bins: int = 8
    kernel: str = "gaussian"

    def config(self) -> NetworkConfig:
        """The network's shape."""
        if self.layers is None:
            return NetworkConfig(bins=self.bins, kernel=self.kernel)
        return NetworkConfig(orders=(3,) * self.layers, channels=(16,) * self.layers, bins=self.bins, kernel=self.kernel)


@dataclass(frozen=True)
class Curve:
    """Median processor seconds of a training step against the size of one thing, all others fixed."""

    name: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """The p with which c + s · size^p fits best: c is what does not grow, and would flatten a plain slope of logarithms."""
        return float(minimize_scalar(lambda power: self._fit(power)[2], bounds=(0.2, 4), method="bounded").x)

    def claimed(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """C + s · size^p at ``sizes``, with the claimed p."""
        power = CLAIMS[self.name]
        stays, grows, _ = self._fit(power)
        values: NDArray[np.float64] = stays + grows * np.asarray(sizes, np.float64) ** power
        return values

    def _fit(self, power: float) -> tuple[float, float, float]:
        """C and s, neither negative, and the norm of the relative errors they leave."""
        table = np.array([(1.0, float(size) ** power) for size in self.sizes]) / np.array(self.seconds)[:, None]
        scale = np.abs(table).max(axis=0)
        (stays, grows), error = nnls(table / scale, np.ones(len(table)))
        return float(stays / scale[0]), float(grows / scale[1]), float(error)

    @property
    def deviation(self) -> float:
        """The largest relative difference between what was measured and the claim."""
        return float(np.abs(self.claimed(np.array(self.sizes, np.float64)) / np.array(self.seconds) - 1).max())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        fitted = {"exponent": round(self.exponent, 3), "claimed": CLAIMS[self.name], "deviation": round(self.deviation, 3)}
        return {"name": self.name, "sizes": list(self.sizes), "seconds": list(self.seconds), **fitted}


def setting_of(name: str, size: int, sizes: Mapping[str, tuple[int, ...]]) -> Setting:
    """What is measured at one point of one curve."""
    match name:
        case "nodes":
            return Setting(nodes=size)
        case "edges":
            return Setting(nodes=2 * math.isqrt(max(sizes["edges"])), edges=size)  # at most half of all pairs
        case "layers":
            return Setting(layers=size)
        case "bins":
            return Setting(bins=size, kernel="triangle")  # nothing but additions and comparisons to count
        case "roots":
            return Setting(nodes=max(sizes["roots"]), roots=size)
    return Setting(nodes=size, roots=size)


def measure_curves(sizes: Mapping[str, tuple[int, ...]], repeats: int = REPEATS) -> Iterator[Curve]:
    """One curve after the other; ``sizes`` as in `QUICK` and `FULL`."""
    keep_memory()
    for name in sizes:
        yield measure_curve(name, sizes, repeats)


def measure_curve(name: str, sizes: Mapping[str, tuple[int, ...]], repeats: int = REPEATS) -> Curve:
    """Take a step at every size in turn, so that whatever else the machine does hits all of them alike, and that repeatedly."""
    steps = [make_step(setting_of(name, size, sizes)) for size in sizes[name]]
    rounds = [[step() for step in steps] for _ in range(1 + repeats)]
    return Curve(name, sizes[name], tuple(median(seconds) for seconds in zip(*rounds[1:], strict=True)))


def make_step(setting: Setting) -> Callable[[], float]:
    """A function that takes one step, forward and backward, and returns its processor seconds."""
    batch = Batch.from_graphs(make_random_graph(setting.nodes, setting.edges or 5 * setting.nodes, seed=0))
    everyone = all_roots(batch)
    roots = Roots(everyone.nodes[:, : setting.roots], everyone.multiplicity[:, : setting.roots])
    network = make_network(setting.config(), n_classes=2, seed=0)

    def step() -> float:
        network.zero_grad()
        begin = time.process_time()
        network(batch, roots).logsumexp(dim=1).sum().backward()
        return time.process_time() - begin

    return step


def make_random_graph(nodes: int, edges: int, seed: int) -> GraphSet:
    """One graph with so many of all possible edges, each set of them equally likely."""
    pairs = nodes * (nodes - 1) // 2
    codes = np.random.default_rng(seed).choice(pairs, min(edges, pairs), replace=False)
    larger = ((1 + np.sqrt(1 + 8.0 * codes)) / 2).astype(np.int64)  # pairs in the order (1, 0), (2, 0), (2, 1), (3, 0), ...
    larger -= larger * (larger - 1) // 2 > codes  # where the root was rounded up
    return as_graphset([(nodes, np.stack([larger, codes - larger * (larger - 1) // 2], axis=1))])


def keep_memory() -> None:
    """Keep freed memory in this process: else handing out pages anew weighs more than the arithmetic from a few MB on."""
    allocator = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc only
    if allocator is not None:
        allocator(M_MMAP_MAX, 0)
        allocator(M_TRIM_THRESHOLD, -1)
        allocator(M_TOP_PAD, 2**28)


def to_json(curves: list[Curve]) -> dict[str, Any]:
    """Curves with what they were measured with."""
    return {"torch": torch.__version__, "threads": torch.get_num_threads(), "curves": [curve.to_dict() for curve in curves]}


def read_curves(path: str | Path) -> list[Curve]:
    """Curves that ``benchmarks/scaling.py --json`` wrote."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        rows = [(row["name"], tuple(map(int, row["sizes"])), tuple(map(float, row["seconds"]))) for row in content["curves"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise GraphInputError(f"{path} cannot be read as measured curves ({error}); make it with benchmarks/scaling.py") from error
    curves = [Curve(*row) for row in rows]
    for curve in curves:
        numbers = (*curve.sizes, *curve.seconds)
        fits = curve.name in CLAIMS and len(curve.sizes) == len(curve.seconds) >= 2
        if not fits or not all(math.isfinite(number) and number > 0 for number in numbers):
            raise GraphInputError(f"{path} holds a curve {curve.name!r} that cannot be drawn; make it with benchmarks/scaling.py")
    if not curves:
        raise GraphInputError(f"{path} holds no curves; make it with benchmarks/scaling.py")
    return curves
