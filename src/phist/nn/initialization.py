"""First parameters of a network from a generator of its own: torch's is shared by all threads of a process."""

from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

_DRAWING = frozenset({torch.randn, torch.Tensor.uniform_, torch.Tensor.normal_, nn.init.uniform_, nn.init.kaiming_uniform_})


class DrawingFrom(TorchFunctionMode):
    """Within it, in this thread alone, what torch draws for parameters comes from ``generator``.

    Layers of torch take no generator. Seeding and restoring torch's own instead would let fits in several threads draw each
    other's numbers.
    """

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        self.generator = generator

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = dict(kwargs or {})
        if func in _DRAWING:
            given["generator"] = self.generator
        return func(*args, **given)
