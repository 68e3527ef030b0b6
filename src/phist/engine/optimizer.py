"""AdamW for a network of a dozen small tensors: clipping and the step in one pass of compiled code."""

import math
from typing import Any

import numpy as np
import torch

from phist.engine.parameters import FlatViews
from phist.engine.vectors import compiled, inner


class FusedAdamW(torch.optim.AdamW):
    """`torch.optim.AdamW` with the same state and the same numbers; parameters must be single precision on the processor.

    torch's own step is made for tensors of millions; on these it is all preparation.
    """

    _memory: "_Memory | None" = None  # copies begin without one: torch copies the state only, and theirs is filled from it

    @torch.no_grad()
    def step_clipped(self, clip: float | None) -> None:
        """Scale the gradients down to a norm of at most ``clip``, as `clip_grad_norm_` does, and take a step."""
        if self._memory is None:
            self._memory = _Memory(self.param_groups, self.state)
        memory = self._memory
        memory.read()
        memory.steps += 1
        factor = 1.0 if clip is None else min(1.0, clip / (math.sqrt(memory.gradient @ memory.gradient) + 1e-6))
        step = float(memory.steps[0])
        rates = [(group["lr"], group["weight_decay"], *group["betas"], group["eps"], step, factor) for group in self.param_groups]
        _step(memory.values, memory.gradient, memory.mean, memory.square, memory.ptr, np.array(rates))
        memory.write()

    def load_state_dict(self, state_dict: Any) -> None:
        """Take over another optimiser's memory."""
        super().load_state_dict(state_dict)
        self._memory = None


class _Memory:
    """What belongs to the parameters of all groups, one tensor after the other in flat arrays.

    The running means of the gradients and of their squares are shared with the optimiser's state; values and gradients are
    brought from the tensors before a step.
    """

    def __init__(self, groups: list[dict[str, Any]], state: Any) -> None:
        self.parameters: list[Any] = [part for group in groups for part in group["params"]]
        self.ptr = np.cumsum([0, *(sum(part.numel() for part in group["params"]) for group in groups)])
        self.values, self.gradient, self.mean, self.square = np.zeros((4, self.ptr[-1]), np.float32)
        self.steps = np.zeros(len(self.parameters), np.float32)
        self._value_views, self._gradient_views = FlatViews(), FlatViews()
        begin = 0
        for number, part in enumerate(self.parameters):
            end = begin + part.numel()
            shared = {
                "step": self.steps[number : number + 1],
                "exp_avg": self.mean[begin:end],
                "exp_avg_sq": self.square[begin:end],
            }
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
def _step(values: Any, gradient: Any, mean: Any, square: Any, ptr: Any, rates: Any) -> None:
    """Group by group: ``rates`` are learning rate, decay, the two betas, epsilon, step and the gradient's factor of each."""
    for group in range(len(rates)):
        own = slice(ptr[group], ptr[group + 1])
        _step_group(values[own], gradient[own], mean[own], square[own], rates[group])


@inner
def _step_group(values: Any, gradient: Any, mean: Any, square: Any, rates: Any) -> None:
    rate, decay, first, second, epsilon, step, factor = rates[0], rates[1], rates[2], rates[3], rates[4], rates[5], rates[6]
    reduction, root = rate / (1 - first**step), np.sqrt(1 - second**step)
    for place in range(len(values)):
        slope = np.float32(factor) * gradient[place]
        mean[place] += np.float32(1 - first) * (slope - mean[place])
        square[place] = np.float32(second) * square[place] + np.float32(1 - second) * slope * slope
        spread = np.sqrt(square[place]) / np.float32(root) + np.float32(epsilon)
        values[place] = values[place] * np.float32(1 - rate * decay) - np.float32(reduction) * mean[place] / spread
