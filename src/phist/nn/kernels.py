"""Bin kernels: how much an element at distance ``u`` from a bin's centre counts in that bin.

Every kernel is a function of ``z = u / width``. Its natural width depends on the number of bins: neighbouring bins then
just touch (uniform), overlap a little (smooth rectangle), or hand over gradually (gaussian, triangle, raised cosine; the
last two add up to one everywhere between the outer centres).
"""

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor

from phist.errors import ConfigError, check_choice


class BinKernel(ABC):
    """A bump around zero, with its derivative."""

    name: str

    @abstractmethod
    def natural_width(self, bins: int) -> float:
        """The width that suits ``bins`` equidistant bins on [-1, 1]."""

    @abstractmethod
    def value(self, z: Tensor) -> Tensor:
        """The bump at ``z = u / width``."""

    @abstractmethod
    def derivative(self, z: Tensor) -> Tensor:
        """The slope of `value` at ``z``."""


class Uniform(BinKernel):
    """1 within half a bin spacing, the kernel of theorem 2.3. Its slope is zero: it counts, but nothing learns through it."""

    name = "uniform"

    def natural_width(self, bins: int) -> float:
        return 1 / bins

    def value(self, z: Tensor) -> Tensor:
        return ((z >= -1) & (z < 1)).to(z.dtype)  # half open, so that an element on the border of two bins is counted once

    def derivative(self, z: Tensor) -> Tensor:
        return torch.zeros_like(z)


class SmoothRectangle(BinKernel):
    """1 / (1 + z^20): nearly a uniform kernel, with smooth flanks and slightly overlapping neighbours."""

    name = "smooth-rectangle"
    reach = 8.0  # beyond it the value is below 1e-18, and its powers would overflow

    def natural_width(self, bins: int) -> float:
        return 1 / max(bins - 1, 1)

    def value(self, z: Tensor) -> Tensor:
        return 1 / (1 + self._power20(z.clamp(-self.reach, self.reach)))

    def derivative(self, z: Tensor) -> Tensor:
        z = z.clamp(-self.reach, self.reach)
        power = self._power20(z)
        slope = -20 * power / (1 + power) ** 2 / z
        return torch.where(z == 0, torch.zeros_like(z), slope)

    @staticmethod
    def _power20(z: Tensor) -> Tensor:
        fourth = z.square().square()
        return fourth.square().square() * fourth


class Gaussian(BinKernel):
    """exp(-z² / 2), with a standard deviation of one bin spacing: the smoothest, and the default."""

    name = "gaussian"
    lowest = -85.0  # e to a lower power is too small for a normal number, and those are slow

    def natural_width(self, bins: int) -> float:
        return 2 / bins

    def value(self, z: Tensor) -> Tensor:
        return z.square().mul_(-0.5).clamp_(min=self.lowest).exp_()  # in place, here and below: memory traffic is most of the cost

    def derivative(self, z: Tensor) -> Tensor:
        return self.value(z).mul_(z).neg_()


class Triangle(BinKernel):
    """1 - |z|, linear interpolation between the two nearest centres."""

    name = "triangle"

    def natural_width(self, bins: int) -> float:
        return 2 / bins

    def value(self, z: Tensor) -> Tensor:
        return (1 - z.abs()).clamp(min=0)

    def derivative(self, z: Tensor) -> Tensor:
        return torch.where(z.abs() < 1, -z.sign(), torch.zeros_like(z))


class RaisedCosine(BinKernel):
    """(1 + cos πz) / 2, a triangle without corners."""

    name = "raised-cosine"

    def natural_width(self, bins: int) -> float:
        return 2 / bins

    def value(self, z: Tensor) -> Tensor:
        return 0.5 * (1 + torch.cos(math.pi * z.clamp(-1, 1)))

    def derivative(self, z: Tensor) -> Tensor:
        return -0.5 * math.pi * torch.sin(math.pi * z.clamp(-1, 1))


KERNELS: dict[str, BinKernel] = {
    kernel.name: kernel for kernel in (Uniform(), SmoothRectangle(), Gaussian(), Triangle(), RaisedCosine())
}


def register_kernel(kernel: BinKernel) -> None:
    """Let configurations name a kernel of yours; the reference network computes it, as the engine knows only those above."""
    known = KERNELS.get(kernel.name)
    if known is not None and type(known) is not type(kernel):
        raise ConfigError(f"kernel {kernel.name!r} is known already, as {type(known).__name__}; choose another name")
    KERNELS[kernel.name] = kernel


def as_kernel(kernel: str | BinKernel) -> BinKernel:
    """A kernel by its name, or the kernel itself."""
    if isinstance(kernel, BinKernel):
        return kernel
    check_choice("kernel", kernel, KERNELS)
    return KERNELS[kernel]
