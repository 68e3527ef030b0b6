"""AdamW in compiled code: clipping and the step, each thread on its part of the parameters.

The state stays that of a `torch.optim.AdamW`, for checkpoints to find: it is read before a course of steps and written after it.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from phist.engine.parameters import Parameters
from phist.engine.vectors import LANES, fma, inner, load, single, splat, square_root, store

Array = NDArray[Any]


class Descent(NamedTuple):
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
    longest: float  # gradients are clipped to this length
    done: int  # steps before these
    squares: Array  # (threads): of each thread's part of the gradient, summed


def no_descent() -> Descent:
    """For passes without steps."""
    floats, integers = np.empty(0, np.float32), np.empty(0, np.int32)
    return Descent(floats, floats, floats, floats, floats, integers, np.empty(0), (0.0, 0.0), 0.0, 0.0, 0, np.empty(0))


class AdamWState:
    """The state of a torch optimiser in the order of the engine's parameters.

    Learning rates come with the steps; betas and epsilon are those of the first group.
    """

    def __init__(self, optimizer: torch.optim.AdamW, parameters: Parameters) -> None:
        self.optimizer, self.parameters, tensors = optimizer, parameters, parameters.tensors
        decay_of = {part: group["weight_decay"] for group in optimizer.param_groups for part in group["params"]}
        self.decays = self._spread(np.concatenate([np.full(part.numel(), decay_of[part]) for part in tensors]))
        self.mask = self._spread(np.ones(len(parameters.places)))
        first = optimizer.state[tensors[0]]
        self.done = int(first["step"]) if first else 0
        self._flat = np.zeros((2, len(parameters.places)), np.float32)  # torch's order, and shared with torch
        self._steps = np.full(len(tensors), self.done, np.float32)
        for number, (part, own) in enumerate(zip(tensors, parameters.slices, strict=True)):
            state = optimizer.state[part]
            for name, flat in zip(("exp_avg", "exp_avg_sq"), self._flat, strict=True):
                shared = torch.from_numpy(flat[own]).view(part.shape)
                if name in state:
                    shared.copy_(state[name])
                state[name] = shared
            state["step"] = torch.from_numpy(self._steps[number : number + 1]).view(())
        self._first = optimizer.state[tensors[0]]["exp_avg"]
        self.mean, self.square = (self._spread(flat) for flat in self._flat)

    def is_of(self, optimizer: torch.optim.AdamW) -> bool:
        """Whether this is still the state of ``optimizer``, which may have loaded another or made steps of its own."""
        state = optimizer.state[self.parameters.tensors[0]]
        return state.get("exp_avg") is self._first and self._steps[0] == self.done

    def _spread(self, flat: Array) -> Array:
        """One number of each parameter in the engine's order, and zeros for padding."""
        result = np.zeros(self.parameters.own_size, np.float32)
        result[self.parameters.places] = flat
        return result

    def descent(self, rates: Array, clip: float | None, threads: int) -> Descent:
        """Steps at so many learning rates, as compiled code takes them."""
        group = self.optimizer.param_groups[0]
        return Descent(
            gradient=np.empty_like(self.mean),
            mean=self.mean,
            square=self.square,
            decays=self.decays,
            mask=self.mask,
            mirrors=self.parameters.mirrors,
            rates=np.ascontiguousarray(rates, np.float64),
            betas=(float(group["betas"][0]), float(group["betas"][1])),
            epsilon=float(group["eps"]),
            longest=math.inf if clip is None else float(clip),
            done=self.done,
            squares=np.zeros(threads),
        )

    def advance(self, steps: int) -> None:
        """Count so many steps, and let torch see where the state is now."""
        self.done += steps
        self._steps[:] = self.done
        for flat, values in zip(self._flat, (self.mean, self.square), strict=True):
            np.take(values, self.parameters.places, out=flat)


@inner
def _part_of(size: int, number: int, threads: int) -> Any:
    """Where a thread's part of so many numbers begins and ends, in whole vectors."""
    vectors = size // LANES
    return vectors * number // threads * LANES, vectors * (number + 1) // threads * LANES


@inner
def sum_gradients(gradients: Any, descent: Descent, number: int, threads: int) -> None:
    """The sum of every share's gradients, for this thread's part of the numbers."""
    begin, end = _part_of(len(descent.mask), number, threads)
    squares = splat(single(0.0))
    for place in range(begin, end, LANES):
        slope = load(gradients[0], place)
        for other in range(1, len(gradients)):
            slope = slope + load(gradients[other], place)
        slope = slope * load(descent.mask, place)
        store(descent.gradient, place, slope)
        squares = fma(slope, slope, squares)
    lanes, total = np.empty(LANES, np.float32), 0.0
    store(lanes, 0, squares)
    for lane in range(LANES):
        total += lanes[lane]
    descent.squares[number] = total


@inner
def descend_part(descent: Descent, step: int, number: int, packed: Any) -> None:
    """AdamW with clipping on this thread's part of the ``packed`` parameters and on their transposes."""
    begin, end = _part_of(len(descent.mask), number, len(descent.squares))
    factor = single(min(1.0, descent.longest / (np.sqrt(descent.squares.sum()) + 1e-6)))
    _move(packed, descent, begin, end, factor, descent.rates[step], descent.done + step + 1)
    for place in range(begin, end):
        packed[descent.mirrors[place]] = packed[place]


@inner
def _move(packed: Any, descent: Descent, begin: int, end: int, factor: Any, rate: float, step: int) -> None:
    gradient, mean, square, betas = descent.gradient, descent.mean, descent.square, descent.betas
    reduction, scale = single(rate / (1 - betas[0] ** step)), single(1 / np.sqrt(1 - betas[1] ** step))
    first, second, rest = single(1 - betas[0]), single(betas[1]), single(1 - betas[1])
    for place in range(begin, end, LANES):
        slope, average, value = load(gradient, place) * factor, load(mean, place), load(packed, place)
        average = average + (slope - average) * first
        spread = load(square, place) * second + slope * slope * rest
        store(mean, place, average)
        store(square, place, spread)
        kept = value - value * (load(descent.decays, place) * single(rate))
        store(packed, place, kept - average * reduction / (square_root(spread) * scale + single(descent.epsilon)))
