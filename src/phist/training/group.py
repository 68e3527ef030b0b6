"""Group: the processes that train one network together, as torchrun starts them, and what they tell each other."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phist.errors import GroupError

Numbers = NDArray[np.float64]
JOINING = timedelta(minutes=5)  # torchrun starts processes together; a connection that gloo has lost is not found again
WAITING = timedelta(weeks=4)  # the first may read files for hours while the others wait; who has died is noticed at once


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
        """The sum over all processes, in an order that their number decides: the same bits in each, time after time."""
        if self.size == 1:
            return values
        with _explained():
            return self._doubling_sum(torch.from_numpy(values)).numpy()

    def agree(self, value: float) -> float:
        """What the first process says: clocks and files may say something else to every other one."""
        if self.size == 1:
            return value
        said = torch.tensor([value], dtype=torch.float64)
        with _explained():
            torch.distributed.broadcast(said, src=0)
        return float(said)

    def _doubling_sum(self, total: Tensor) -> Tensor:
        """Recursive doubling: pairs tell each other what they have, then pairs of pairs, in as many rounds as doublings.

        Processes beyond a power of two hand what they have to one below it, and get the whole from there.
        """
        paired = 1 << (self.size.bit_length() - 1)
        beyond = self.rank + paired
        if self.rank >= paired:
            torch.distributed.send(total, self.rank - paired)
            return _received(total, self.rank - paired)
        if beyond < self.size:
            total = total + _received(total, beyond)
        for distance in (1 << doubling for doubling in range(paired.bit_length() - 1)):
            sending = torch.distributed.isend(total, self.rank ^ distance)
            received = _received(total, self.rank ^ distance)
            sending.wait()  # type: ignore[union-attr]  # a member of the group has something to wait for
            total = total + received  # either way round: the same bits
        if beyond < self.size:
            torch.distributed.send(total, beyond)
        return total


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
        store, rank = _fresh_store()
        torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=JOINING)
        _set_pg_timeout(WAITING)
    _current = Group(torch.distributed.get_rank(), torch.distributed.get_world_size())
    try:
        yield _current
        _current.agree(0)  # the first may have a model to save, and torchrun ends all where one has ended
    finally:
        _current = Group()
        torch.distributed.destroy_process_group()


def _fresh_store() -> tuple[Any, int]:
    """Where processes find each other's addresses, and the rank of this one.

    On one machine torchrun keeps the same store when it starts processes again: without a name of its own for each start, one may
    read the address of a process that has died, and wait for it. On several machines torchrun makes a new store, while each of them
    counts its starts for itself.
    """
    from torch.distributed.distributed_c10d import PrefixStore
    from torch.distributed.rendezvous import rendezvous

    store, rank, _ = next(rendezvous("env://", timeout=JOINING))
    if os.environ.get("GROUP_WORLD_SIZE", "1") == "1":
        store = PrefixStore(f"start {os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)
    return store, int(rank)


def _received(like: Tensor, rank: int) -> Tensor:
    values = torch.empty_like(like)
    torch.distributed.recv(values, rank)
    return values


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
