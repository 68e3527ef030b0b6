"""Networks whose numbers are all finite, which is what a prediction needs."""

import torch

from phist.errors import DivergenceError
from phist.nn.network import StructuralNetwork
from phist.training.checkpoint import State


def first_non_finite(state: State) -> str | None:
    """The name of the first tensor with a number that is not finite, or ``None``."""
    return next((name for name, tensor in state.items() if not bool(torch.isfinite(tensor).all())), None)


def check_finite(network: StructuralNetwork) -> None:
    """Raise a `DivergenceError` unless every weight is finite: all predictions would be the first class, and mean nothing."""
    name = first_non_finite(network.state_dict())
    if name is not None:
        raise DivergenceError(f"the network has weights that are not finite ({name}); train it again, at a lower learning_rate")
