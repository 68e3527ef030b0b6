"""Which engine computes a network: the fused one where it can, the reference elsewhere."""

import warnings
from typing import Literal, get_args
from weakref import WeakKeyDictionary

import torch

from phist.engine.bins import COMPILED_KERNELS
from phist.engine.compiling import prepare
from phist.engine.computation import Computation, Reference
from phist.engine.fused import Fused
from phist.errors import ConfigError, EngineNotice, check_choice
from phist.graphs.graphset import GraphSet
from phist.nn.config import NetworkConfig
from phist.nn.network import StructuralNetwork

Engine = Literal["auto", "fused", "reference"]
_said: WeakKeyDictionary[StructuralNetwork, set[str]] = WeakKeyDictionary()  # a network is used many times, and told of once


def compute(network: StructuralNetwork, graphs: GraphSet, engine: str = "auto") -> Computation:
    """``network`` on ``graphs``, by the engine that ``engine`` comes to, whose code is compiled by then."""
    if choose_engine(engine, network, graphs) == "reference":
        return Reference(network, graphs)
    prepare()
    return Fused(network, graphs)


def uncovered(config: NetworkConfig) -> str | None:
    """What of a configuration the fused engine does not cover, or ``None``."""
    if config.convolution != "chebyshev":
        return f"convolution={config.convolution!r}"
    if config.aggregation == "histogram" and config.kernel not in COMPILED_KERNELS:
        return f"kernel={config.kernel!r}"
    if config.learnable_bins:
        return "learnable bins"
    return None


def choose_engine(engine: str, network: StructuralNetwork, graphs: GraphSet) -> Literal["fused", "reference"]:
    """``engine`` itself, or what ``"auto"`` comes to; asked for the impossible, it says why."""
    check_choice("engine", engine, get_args(Engine))
    if engine == "reference":
        return "reference"
    reason = uncovered(network.config) or _unfit_parameters(network)
    if reason is None:
        return "fused"
    if engine == "fused":
        raise ConfigError(f'engine="fused" does not cover {reason}; choose engine="auto" or "reference"')
    said = _said.setdefault(network, set())
    if reason not in said:
        said.add(reason)
        warnings.warn(f"the fused engine does not cover {reason}; the reference computes instead", EngineNotice, stacklevel=3)
    return "reference"


def _unfit_parameters(network: StructuralNetwork) -> str | None:
    parameter = next(network.parameters())
    if parameter.device.type != "cpu":
        return f"tensors on {parameter.device.type}"
    if parameter.dtype != torch.float32:
        return f"parameters of type {str(parameter.dtype).removeprefix('torch.')}"
    return None
