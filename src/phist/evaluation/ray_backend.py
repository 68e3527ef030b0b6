"""Ray under joblib: every cell is a task of its own, and a worker that dies is told of."""

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from joblib import register_parallel_backend
from joblib.parallel import ParallelBackendBase

from phist.errors import ConfigError
from phist.evaluation.cell import Cell
from phist.evaluation.execution import summarise
from phist.evaluation.records import Record
from phist.extras import require

NAME = "phist-ray"


def _ray() -> ModuleType:
    return require("ray", "ray", "the ray backend")


@dataclass(frozen=True)
class Lost:
    """In place of a record: nothing came back for this cell."""

    cell: Cell
    error: BaseException

    def failure(self) -> Record:
        """Of a cell that is given up."""
        first_sentence = summarise(self.error).partition(". ")[0]  # the others are of nodes and their addresses
        return Record(self.cell, "failed", reason=f"the cluster gave it up: {first_sentence}")


def _compute(batch: Callable[[], list[Record]]) -> list[Record]:
    return batch()


class RayTasks(ParallelBackendBase):  # type: ignore[misc]  # joblib is not annotated
    """One task of Ray for each cell.

    The backend that comes with Ray keeps a pool, deals cells out in turn whether or not a worker is free, returns nothing
    before everything is there, and breaks when one of its workers is killed. Tasks go wherever cores are free, those of
    machines that join later too, and claim as many as they use.
    """

    supports_retrieve_callback = True

    def effective_n_jobs(self, n_jobs: int) -> int:
        """Cells at a time, as far as joblib needs to know: Ray itself decides."""
        return max(2, int(_ray().cluster_resources().get("CPU", 0)))  # joblib would run a single job in this process

    def submit(self, func: Any, callback: Callable[[Any], None]) -> "Future[Any]":
        ((_, (cell, threads), _),) = func.items  # cells go out one by one
        # Without repeats by Ray: it would start a cell for which the memory does not suffice again and again, for ever.
        task = _ray().remote(num_cpus=threads, max_retries=0)(_compute)
        future: Future[Any] = task.remote(func).future()

        def tell(ended: "Future[Any]") -> None:
            error = ended.exception()
            callback(ended.result() if error is None else [Lost(cell, error)])

        future.add_done_callback(tell)
        return future

    def retrieve_result_callback(self, out: Any) -> list[Record | Lost]:
        """What a call ended in."""
        return list(out)


@contextmanager
def ray_cluster(address: str | None, threads: int) -> Iterator[str]:
    """The name of the backend, while a cluster is joined that can give ``threads`` cores to a cell.

    Without an address that is the cluster that the environment names, or a new one on this machine.
    """
    joined_before = _ray().is_initialized()
    if not joined_before:
        _join(address)
    try:
        _check_cores(threads)
        register_parallel_backend(NAME, RayTasks)
        yield NAME
    finally:
        if not joined_before:
            _ray().shutdown()


def _join(address: str | None) -> None:
    try:
        _knock(address or "")
        _ray().init(address=address, log_to_driver=False, logging_level="ERROR")
    except (OSError, RuntimeError, ValueError, _ray().exceptions.RayError) as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(
            f"Ray cannot be joined at {address or 'this machine'} ({reason}); start a cluster with 'ray start --head', correct "
            "--address, and see that RAY_AUTH_TOKEN, where the cluster has a token, is the same here"
        ) from error


def _knock(address: str) -> None:
    """Ray itself tries for many minutes where nobody listens."""
    host, _, port = address.rpartition(":")
    if port.isdecimal() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=10).close()


def _check_cores(threads: int) -> None:
    """A task that no machine of the cluster can hold would wait for ever."""
    most = max((int(node["Resources"].get("CPU", 0)) for node in _ray().nodes() if node["Alive"]), default=0)
    if threads > most:
        raise ConfigError(
            f"{threads} threads a cell were asked for, and no machine of the cluster has more than {most}; lower --threads"
        )
