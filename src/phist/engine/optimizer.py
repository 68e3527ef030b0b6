"""AdamW for a network of a dozen small tensors: clipping and the step in one pass of compiled code."""

import math
from typing import Any

import numpy as np
import torch

from phist.engine.vectors import compiled


class FusedAdamW(torch.optim.AdamW):
    """`torch.optim.AdamW` with the same state and the same numbers; parameters must be single precision on the processor.

    torch's own step is made for tensors of millions; on these it is all preparation.
    """

    @torch.no_grad()
    def step_clipped(self, clip: float | None) -> None:
        """Scale the gradients down to a norm of at most ``clip``, as `clip_grad_norm_` does, and take a step."""
        factor = 1.0 if clip is None else self._factor(clip)
        for group in self.param_groups:
            first, second = group["betas"]
            for parameter in group["params"]:
                state = self.state[parameter]
                if not state:
                    state["step"] = torch.zeros(())
                    state["exp_avg"] = torch.zeros_like(parameter)
                    state["exp_avg_sq"] = torch.zeros_like(parameter)
                state["step"] += 1
                arrays = [part.numpy().reshape(-1) for part in (parameter, parameter.grad, state["exp_avg"], state["exp_avg_sq"])]
                rates = np.array([factor, group["lr"], group["weight_decay"], first, second, group["eps"], float(state["step"])])
                _step(arrays[0], arrays[1], arrays[2], arrays[3], rates)

    def _factor(self, clip: float) -> float:
        gradients = [parameter.grad.numpy().reshape(-1) for group in self.param_groups for parameter in group["params"]]
        norm = math.sqrt(sum(float(gradient @ gradient) for gradient in gradients))
        return min(1.0, clip / (norm + 1e-6))


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
