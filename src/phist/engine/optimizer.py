"""AdamW in compiled code: clipping and the step, each thread on its part of the parameters.

The state stays that of a `torch.optim.AdamW`, for checkpoints to find: it is read before the steps and written after them.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from phist.engine.jit import inner
from phist.engine.parameters import Parameters
from phist.engine.simd import LANES, fma, load_flat, single, splat, square_root, store_flat, sum_lanes

Array = NDArray[Any]


class AdamWArrays(NamedTuple):
    """What a step reads and moves besides the parameters, for each of them as compiled code has it, padding included."""

    gradient: Array
    mean: Array  # running means of the gradient
    square: Array  # and of its square
    decays: Array  # weight decay of each number
    mask: Array  # 1 for parameters, 0 for padding
    mirrors: Array  # where each stands in a transpose
    rates: Array  # (steps): learning rates
    betas: tuple[float, float]
    epsilon: float
    max_norm: float  # gradients are clipped to this length
    n_done: int  # steps before these
    squares: Array  # (threads): of each thread's part of the gradient, summed


def no_adamw() -> AdamWArrays:
    """For passes without steps."""
    floats, integers = np.empty(0, np.float32), np.empty(0, np.int32)
    return AdamWArrays(floats, floats, floats, floats, floats, integers, np.empty(0), (0.0, 0.0), 0.0, 0.0, 0, np.empty(0))


def no_motion(parameters: Parameters, threads: int) -> AdamWArrays:
    """For a step that leaves the parameters where they are: its gradients are asked for."""
    zeros, mean, square = (np.zeros(parameters.own_size, np.float32) for _ in range(3))
    return AdamWArrays(
        np.empty_like(zeros), mean, square, zeros, zeros, parameters.mirrors, np.zeros(1), (0.0, 0.0), 1.0, math.inf, 0,
        np.zeros(threads),
    )  # fmt: skip


class AdamWState:
    """The state of a torch optimiser in the order of the engine's parameters.

    Learning rates come with the steps; betas and epsilon are those of the first group.
    """

    def __init__(self, optimizer: torch.optim.AdamW, parameters: Parameters) -> None:
        self.optimizer, self.parameters, tensors = optimizer, parameters, parameters.tensors
        decay_of = {part: group["weight_decay"] for group in optimizer.param_groups for part in group["params"]}
        self.decays = self._scatter(np.concatenate([np.full(part.numel(), decay_of[part]) for part in tensors]))
        self.mask = self._scatter(np.ones(len(parameters.positions)))
        first = optimizer.state[tensors[0]]
        self.n_done = int(first["step"]) if first else 0
        self._flat = np.zeros((2, len(parameters.positions)), np.float32)  # torch's order, and shared with torch
        self._steps = np.full(len(tensors), self.n_done, np.float32)
        for number, (part, own) in enumerate(zip(tensors, parameters.slices, strict=True)):
            state = optimizer.state[part]
            for name, flat in zip(("exp_avg", "exp_avg_sq"), self._flat, strict=True):
                shared = torch.from_numpy(flat[own]).view(part.shape)
                if name in state:
                    shared.copy_(state[name])
                state[name] = shared
            state["step"] = torch.from_numpy(self._steps[number : number + 1]).view(())
        self._first = optimizer.state[tensors[0]]["exp_avg"]
        self.mean, self.square = (self._scatter(flat) for flat in self._flat)

    def is_of(self, optimizer: torch.optim.AdamW) -> bool:
        """Whether this is still the state of ``optimizer``, which may have loaded another or made steps of its own."""
        state = optimizer.state[self.parameters.tensors[0]]
        return state.get("exp_avg") is self._first and self._steps[0] == self.n_done

    def _scatter(self, flat: Array) -> Array:
        """One number of each parameter in the engine's order, and zeros for padding."""
        result = np.zeros(self.parameters.own_size, np.float32)
        result[self.parameters.positions] = flat
        return result

    def arrays(self, rates: Array, clip: float | None, threads: int) -> AdamWArrays:
        """Steps at so many learning rates, as compiled code takes them."""
        group = self.optimizer.param_groups[0]
        return AdamWArrays(
            gradient=np.empty_like(self.mean),
            mean=self.mean,
            square=self.square,
            decays=self.decays,
            mask=self.mask,
            mirrors=self.parameters.mirrors,
            rates=np.ascontiguousarray(rates, np.float64),
            betas=(float(group["betas"][0]), float(group["betas"][1])),
            epsilon=float(group["eps"]),
            max_norm=math.inf if clip is None else float(clip),
            n_done=self.n_done,
            squares=np.zeros(threads),
        )

    def advance(self, steps: int) -> None:
        """Count so many steps, and let torch see where the state is now."""
        self.n_done += steps
        self._steps[:] = self.n_done
        for flat, values in zip(self._flat, (self.mean, self.square), strict=True):
            np.take(values, self.parameters.positions, out=flat)


@inner
def _part_of(size: int, number: int, threads: int) -> Any:
    """Where a thread's part of so many numbers begins and ends, in whole vectors."""
    vectors = size // LANES
    return vectors * number // threads * LANES, vectors * (number + 1) // threads * LANES


@inner
def sum_gradients(gradients: Any, arrays: Any, number: int, threads: int) -> None:
    """The sum of every shard's gradients, for this worker's part of the numbers."""
    mask, gradient = arrays.mask, arrays.gradient
    begin, end = _part_of(len(mask), number, threads)
    squares, size = splat(single(0.0)), gradients.shape[1]
    for at in range(begin, end, LANES):
        grad = load_flat(gradients, at)
        for other in range(1, len(gradients)):
            grad = grad + load_flat(gradients, other * size + at)
        grad = grad * load_flat(mask, at)
        store_flat(gradient, at, grad)
        squares = fma(grad, grad, squares)
    arrays.squares[number] = sum_lanes(squares)


@inner
def adamw_part(arrays: Any, step: int, number: int, packed: Any) -> None:
    """AdamW with clipping on this thread's part of the ``packed`` parameters and on their transposes."""
    gradient, mean, square, decays, mirrors = arrays.gradient, arrays.mean, arrays.square, arrays.decays, arrays.mirrors
    squares, betas, total, n_done = arrays.squares, arrays.betas, 0.0, arrays.n_done + step + 1
    for other in range(len(squares)):
        total += squares[other]
    factor = single(min(1.0, arrays.max_norm / (math.sqrt(total) + 1e-6)))
    rate, epsilon = arrays.rates[step], single(arrays.epsilon)
    reduction, scale = single(rate / (1 - betas[0] ** n_done)), single(1 / math.sqrt(1 - betas[1] ** n_done))
    pace, first, second, rest = single(rate), single(1 - betas[0]), single(betas[1]), single(1 - betas[1])
    begin, end = _part_of(len(arrays.mask), number, len(squares))
    for at in range(begin, end, LANES):
        grad, average, value = load_flat(gradient, at) * factor, load_flat(mean, at), load_flat(packed, at)
        average = average + (grad - average) * first
        square_average = load_flat(square, at) * second + grad * grad * rest
        store_flat(mean, at, average)
        store_flat(square, at, square_average)
        kept = value - value * (load_flat(decays, at) * pace)
        store_flat(packed, at, kept - average * reduction / (square_root(square_average) * scale + epsilon))
    for at in range(begin, end):
        packed[mirrors[at]] = packed[at]
