"""Group: the processes that train one network together, as torchrun starts them, and what they tell each other."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import torch
from numpy.typing import NDArray

from phist.errors import GroupError

Numbers = NDArray[np.float64]
JOINING = timedelta(minutes=5)  # torchrun starts processes together; a connection that gloo has lost is not found again
WAITING = timedelta(weeks=4)  # the first may read files for hours while the others wait; who has died is noticed at once
FEW = 4  # processes that send each other all they have; more of them add up a part each, in two rounds of less


@dataclass(frozen=True)
class Group:
    """Processes by rank, from 0; without torchrun there is one."""

    rank: int = 0
    size: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this process writes files and speaks to people."""
        return self.rank == 0

    def sum(self, values: Numbers) -> Numbers:
        """The sum over all processes, added up in the order of their ranks: the same bits in each, time after time."""
        if self.size == 1:
            return values
        with _explained():
            return self._gather_sum(values) if self.size <= FEW else self._scatter_sum(values)

    def agree(self, value: float) -> float:
        """What the first process says: clocks and files may say something else to every other one."""
        if self.size == 1:
            return value
        said = torch.tensor([value], dtype=torch.float64)
        with _explained():
            torch.distributed.broadcast(said, src=0)
        return float(said)

    def _gather_sum(self, values: Numbers) -> Numbers:
        parts = [torch.empty(len(values), dtype=torch.float64) for _ in range(self.size)]
        torch.distributed.all_gather(parts, torch.from_numpy(values))
        return _added([part.numpy() for part in parts])

    def _scatter_sum(self, values: Numbers) -> Numbers:
        """Each process adds up one stretch, and all get all stretches: two times the numbers, however many processes there are."""
        stretch = -(-len(values) // self.size)
        padded = np.zeros(stretch * self.size)
        padded[: len(values)] = values
        received = torch.empty(len(padded), dtype=torch.float64)
        torch.distributed.all_to_all_single(received, torch.from_numpy(padded))
        own = torch.from_numpy(_added(list(received.numpy().reshape(self.size, stretch))))
        parts = [torch.empty(stretch, dtype=torch.float64) for _ in range(self.size)]
        torch.distributed.all_gather(parts, own)
        return np.concatenate([part.numpy() for part in parts])[: len(values)]


_current = Group()


def current_group() -> Group:
    """The processes that compute together with this one."""
    return _current


@contextmanager
def process_group() -> Iterator[Group]:
    """Join the processes that torchrun has started with this one; without torchrun, or with one process, nothing is joined."""
    global _current
    size = int(os.environ.get("WORLD_SIZE", "1")) if "TORCHELASTIC_RUN_ID" in os.environ else 1
    if size == 1:
        yield _current
        return
    from torch.distributed.distributed_c10d import _set_pg_timeout

    with _explained():
        torch.distributed.init_process_group("gloo", timeout=JOINING)
        _set_pg_timeout(WAITING)
    _current = Group(torch.distributed.get_rank(), torch.distributed.get_world_size())
    try:
        yield _current
        _current.agree(0)  # the first may have a model to save, and torchrun ends all where one has ended
    finally:
        _current = Group()
        torch.distributed.destroy_process_group()


def _added(parts: list[Numbers]) -> Numbers:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


@contextmanager
def _explained() -> Iterator[None]:
    """Raise what the transport says of a lost process as a `GroupError`."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        first_line = str(error).partition("\n")[0]
        raise GroupError(
            f"the other processes of this fit cannot be reached ({first_line:.120}); one of them has ended: torchrun with "
            "--max-restarts 3 goes on from the checkpoint, and so does the same command"
        ) from error
