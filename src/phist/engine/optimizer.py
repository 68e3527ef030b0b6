"""AdamW for a network of a dozen small tensors: clipping and the step in one pass of compiled code."""

from typing import Any

import numpy as np
import torch

from phist.engine.parameters import FlatViews
from phist.engine.vectors import compiled


class FusedAdamW(torch.optim.AdamW):
    """`torch.optim.AdamW` with the same state and the same numbers; parameters must be single precision on the processor.

    torch's own step is made for tensors of millions; on these it is all preparation.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._memories: list[Any] = [None] * len(self.param_groups)

    @torch.no_grad()
    def step_clipped(self, clip: float | None) -> None:
        """Scale the gradients down to a norm of at most ``clip``, as `clip_grad_norm_` does, and take a step."""
        for number, (group, memory) in enumerate(zip(self.param_groups, self._memories, strict=True)):
            if memory is None:
                memory = self._memories[number] = _Memory(group["params"], self.state)
            memory.read()
        norm = sum(float(memory.gradient @ memory.gradient) for memory in self._memories) ** 0.5
        factor = 1.0 if clip is None else min(1.0, clip / (norm + 1e-6))
        for group, memory in zip(self.param_groups, self._memories, strict=True):
            memory.steps += 1
            rates = (factor, group["lr"], group["weight_decay"], *group["betas"], group["eps"], memory.steps[0])
            _step(memory.values, memory.gradient, memory.mean, memory.square, np.array(rates))
            memory.write()

    def load_state_dict(self, state_dict: Any) -> None:
        """Take over another optimiser's memory."""
        super().load_state_dict(state_dict)
        self._memories = [None] * len(self.param_groups)


class _Memory:
    """What belongs to a group, one tensor after the other in flat arrays.

    The running means of the gradients and of their squares are shared with the optimiser's state; values and gradients are
    brought from the tensors before a step.
    """

    def __init__(self, parameters: list[torch.Tensor], state: Any) -> None:
        size = sum(part.numel() for part in parameters)
        self.parameters = parameters
        self.values, self.gradient, self.mean, self.square = np.zeros((4, size), np.float32)
        self.steps = np.zeros(len(parameters), np.float32)
        self._value_views, self._gradient_views = FlatViews(), FlatViews()
        begin = 0
        for number, part in enumerate(parameters):
            end = begin + part.numel()
            shared = {"step": self.steps[number : number + 1], "exp_avg": self.mean[begin:end], "exp_avg_sq": self.square[begin:end]}
            for name, array in shared.items():
                tensor = torch.from_numpy(array).view(() if name == "step" else part.shape)
                if name in state[part]:
                    tensor.copy_(state[part][name])
                state[part][name] = tensor
            begin = end

    def read(self) -> None:
        np.concatenate(self._value_views.of(self.parameters), out=self.values)
        np.concatenate(self._gradient_views.of([part.grad for part in self.parameters]), out=self.gradient)

    def write(self) -> None:
        begin = 0
        for view in self._value_views.of(self.parameters):
            view[:] = self.values[begin : begin + len(view)]
            begin += len(view)


@compiled
def _step(parameter: Any, gradient: Any, mean: Any, square: Any, rates: Any) -> None:
    factor, rate, decay, first, second, epsilon, step = rates[0], rates[1], rates[2], rates[3], rates[4], rates[5], rates[6]
    reduction, root = rate / (1 - first**step), np.sqrt(1 - second**step)
    for place in range(len(parameter)):
        slope = np.float32(factor) * gradient[place]
        mean[place] += np.float32(1 - first) * (slope - mean[place])
        square[place] = np.float32(second) * square[place] + np.float32(1 - second) * slope * slope
        spread = np.sqrt(square[place]) / np.float32(root) + np.float32(epsilon)
        parameter[place] = parameter[place] * np.float32(1 - rate * decay) - np.float32(reduction) * mean[place] / spread
