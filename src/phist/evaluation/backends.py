"""Where cells are computed: in this process, in others on this machine, on a Dask or on a Ray cluster; joblib does the work."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from phist.cores import usable_cores
from phist.errors import ConfigError, check_choice
from phist.evaluation.cell import Cell
from phist.evaluation.records import Record
from phist.extras import require

Backend = Literal["loky", "dask", "ray"]
BACKENDS: tuple[Backend, ...] = ("loky", "dask", "ray")
Work = Callable[[Cell, int], Record]
TRIES = 3  # of a cell on Ray whose worker dies: one that needs too much memory would kill them all, one after another


@dataclass(frozen=True)
class Workers:
    """Who computes.

    Attributes:
        jobs: cells at a time on this machine; ``None`` fills its cores. A cluster has as many as it has workers.
        threads: cores for each cell. One is the default: cells side by side use all cores fully, which threads that wait for
            each other do not, and sums in one order give the same results however many cells run at a time.
        backend: ``loky`` for processes on this machine, ``dask`` or ``ray`` for a cluster.
        address: of the cluster's scheduler.
    """

    jobs: int | None = None
    threads: int = 1
    backend: Backend = "loky"
    address: str | None = None

    def __post_init__(self) -> None:
        check_choice("backend", self.backend, BACKENDS)
        if self.threads < 1 or (self.jobs is not None and self.jobs < 1):
            raise ConfigError(f"jobs={self.jobs} and threads={self.threads} were given; both must be at least 1")
        if self.backend == "loky" and self.address is not None:
            raise ConfigError(f"an address ({self.address}) belongs to a cluster; add --backend dask or --backend ray")
        if self.backend == "dask" and self.address is None:
            raise ConfigError("a Dask cluster is reached by its scheduler's address; add --address HOST:PORT")
        if self.backend == "loky" and self.threads > 1 and self.threads * self.processes > usable_cores():
            raise ConfigError(
                f"{self.processes} jobs of {self.threads} threads each were asked for, and there are {usable_cores()} cores; "
                "lower --jobs or --threads"
            )

    @property
    def processes(self) -> int:
        """Cells at a time on this machine."""
        return self.jobs or max(1, usable_cores() // self.threads)

    @property
    def at_a_time(self) -> int:
        """Cells that run side by side, as far as is known here."""
        return self.processes if self.backend == "loky" else self.jobs or 1


def compute(work: Work, cells: Sequence[Cell], workers: Workers) -> Iterator[Record]:
    """The records of all cells, each as soon as it is there."""
    if not cells:  # no cluster is needed for that
        return iter(())
    if workers.backend == "dask":
        return _on_dask(work, cells, workers)
    if workers.backend == "ray":
        return _on_ray(work, cells, workers)
    if workers.processes == 1:
        return (work(cell, workers.threads) for cell in cells)
    return _on_this_machine(work, cells, workers)


def _on_this_machine(work: Work, cells: Sequence[Cell], workers: Workers) -> Iterator[Record]:
    """Processes side by side. One that is killed takes its pool with it: what it ran is tried once more, cell by cell."""
    waiting = list(cells)
    while waiting:
        begun: list[Cell] = []
        done: set[str] = set()
        try:
            for record in _processes(workers, workers.processes)(_calls(_owned(work), waiting, workers, begun)):
                done.add(record.hash)
                yield record
            return
        except BrokenExecutor:
            suspects = [cell for cell in begun if cell.hash not in done]
            waiting = waiting[len(begun) :]
            for cell in suspects:
                yield _compute_alone(work, cell, workers)


def _compute_alone(work: Work, cell: Cell, workers: Workers) -> Record:
    try:
        records: list[Record] = list(_processes(workers, 1)(_calls(_owned(work), [cell], workers, [])))
        return records[0]
    except BrokenExecutor:
        return Record(cell, "failed", reason="its process was killed twice, perhaps for want of memory; try fewer --jobs")


def _processes(workers: Workers, at_a_time: int) -> Any:
    from joblib import Parallel, parallel_config

    # joblib runs a single job in this process; two with one call at a time give the cell a process of its own.
    with parallel_config(backend="loky", inner_max_num_threads=workers.threads):
        return Parallel(max(2, at_a_time), return_as="generator_unordered", pre_dispatch=at_a_time, batch_size=1)


def _owned(work: Work) -> Work:
    """The same work, for a process that must not outlive this one."""
    return partial(_work_for, work, os.getpid())


def _work_for(work: Work, owner: int, cell: Cell, threads: int) -> Record:
    _prepare_worker(owner)
    return work(cell, threads)


@cache
def _prepare_worker(owner: int) -> None:
    """Write nothing to a terminal that others write to, and end with the process that started this one.

    When that is killed, nobody waits for results any more, and its successor needs the cores.
    """
    sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  # for as long as this process lives; errors are in the records

    def watch() -> None:
        while os.getppid() == owner:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _on_dask(work: Work, cells: Sequence[Cell], workers: Workers) -> Iterator[Record]:
    """Workers of a Dask cluster. A worker that dies is Dask's business: another takes over its cells."""
    from joblib import Parallel, parallel_config

    distributed = require("distributed", "scale", "the dask backend")
    from phist.evaluation.dask_backend import register_dask

    try:
        client = distributed.Client(workers.address, set_as_default=False)
    except OSError as error:
        raise ConfigError(
            f"no Dask scheduler answers at {workers.address} ({error}); start one with 'dask scheduler' and correct --address"
        ) from error
    with client:
        with parallel_config(backend=register_dask(), client=client, wait_for_workers_timeout=60):
            # All at once: Dask hands cells out itself, also to workers that come later.
            parallel = Parallel(-1, return_as="generator_unordered", pre_dispatch="all", batch_size=1)
        yield from parallel(_calls(work, cells, workers, []))


def _on_ray(work: Work, cells: Sequence[Cell], workers: Workers) -> Iterator[Record]:
    """Cores of a Ray cluster. Cells that are lost because a worker died are tried again after the others."""
    from joblib import Parallel, parallel_config

    from phist.evaluation.ray_backend import Lost, ray_cluster

    with ray_cluster(workers.address, workers.threads) as backend:
        with parallel_config(backend=backend):
            # All at once: Ray hands cells out itself, also to machines that come later.
            parallel = Parallel(-1, return_as="generator_unordered", pre_dispatch="all", batch_size=1)
        waiting = list(cells)
        for tries_left in reversed(range(TRIES)):
            lost = []
            for ended in parallel(_calls(work, waiting, workers, [])):
                if not isinstance(ended, Lost):
                    yield ended
                elif tries_left:
                    lost.append(ended.cell)
                else:
                    yield ended.failure()
            if not lost:
                return
            waiting = lost


def _calls(work: Work, cells: Iterable[Cell], workers: Workers, begun: list[Cell]) -> Iterator[Any]:
    """The calls for joblib, which takes them one by one; what it has taken is noted in ``begun``."""
    from joblib import delayed

    for cell in cells:
        begun.append(cell)
        yield delayed(work)(cell, workers.threads)
