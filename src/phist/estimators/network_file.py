"""A network's weights as plain arrays, and a network with weights that come from a file."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from phist.errors import ModelFileError
from phist.nn.config import NetworkConfig
from phist.nn.network import StructuralNetwork


def network_arrays(network: StructuralNetwork) -> dict[str, NDArray[Any]]:
    """All parameters and running statistics by name."""
    return {name: tensor.detach().cpu().contiguous().numpy() for name, tensor in network.state_dict().items()}


def network_from_arrays(config: NetworkConfig, n_outputs: int, arrays: Mapping[str, NDArray[Any]]) -> StructuralNetwork:
    """A network with given weights; shapes are compared before memory is taken, so that a hostile configuration costs nothing."""
    expected = _expected_shapes(config, n_outputs)
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
    network = StructuralNetwork(config, n_outputs)
    network.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in arrays.items()})
    return network.eval()


def _expected_shapes(config: NetworkConfig, n_outputs: int) -> dict[str, tuple[int, ...]]:
    try:
        with torch.device("meta"):
            state = StructuralNetwork(config, n_outputs).state_dict()
    except RuntimeError as error:  # sizes whose product no tensor can have
        raise ModelFileError(f"the weights do not fit the configuration: {error!s:.200}") from error
    return {name: tuple(tensor.shape) for name, tensor in state.items()}
