"""A network's weights as plain arrays, and a network with weights that come from a file."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from phist.errors import ModelFileError
from phist.nn.config import NetworkConfig
from phist.nn.network import StructuralNetwork

MOST_TIMES, SPARE = 8, 1 << 20  # how far the count of weights may be off before no memory is taken for them


def network_arrays(network: StructuralNetwork) -> dict[str, NDArray[Any]]:
    """All parameters and running statistics by name."""
    return {name: tensor.detach().cpu().contiguous().numpy() for name, tensor in network.state_dict().items()}


def network_from_arrays(config: NetworkConfig, n_outputs: int, arrays: Mapping[str, NDArray[Any]]) -> StructuralNetwork:
    """A network with given weights; sizes are compared before memory is taken, so that a hostile configuration costs nothing."""
    given, needed = sum(array.size for array in arrays.values()), _count_weights(config)
    if needed > MOST_TIMES * given + SPARE:
        raise ModelFileError(f"the weights do not fit the configuration: about {needed:.2g} numbers are needed, {given} are there")
    network = StructuralNetwork(config, n_outputs)
    expected = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    found = {name: array.shape for name, array in arrays.items()}
    if found != expected:
        name = sorted({*found.items()} ^ {*expected.items()})[0][0]
        raise ModelFileError(
            f"the weights do not fit the configuration: {name:.60} has shape {found.get(name, 'none')}, "
            f"{expected.get(name, 'none')} is needed; was one of the two files replaced?"
        )
    for name, array in arrays.items():
        if array.dtype not in (np.float32, np.int64) or not np.isfinite(array).all():
            raise ModelFileError(f"the weights {name:.60} are not all finite numbers of single precision; fit the model again")
    network.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in arrays.items()})
    return network.eval()


def _count_weights(config: NetworkConfig) -> int:
    """About as many as the convolutions of both levels have, whichever kind they are."""
    embedding = config.channels[-1] * (config.bins if config.aggregation == "histogram" else 1)
    levels = [(inputs, *config.channels) for inputs in (1, embedding)]
    return sum(
        order * before * after for widths in levels for order, (before, after) in zip(config.orders, pairwise(widths), strict=False)
    )
