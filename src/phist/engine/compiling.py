"""Whether the engine's code lies compiled on disk, and compiling it, once, while somebody waits."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from multiprocessing import current_process
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from numba import typeof, types

from phist.engine.batch_pass import NO_TRAINING
from phist.engine.budget import needs
from phist.engine.fused import Fused
from phist.engine.passes import backward, forward
from phist.engine.steps import Steps
from phist.engine.views import HandleType
from phist.engine.worker import finish_step, run_worker
from phist.errors import EngineNotice
from phist.graphs.convert import as_graphset
from phist.jit.side_process import Functions, compiling_beside, rare_garbage_collection
from phist.nn.adamw import AdamW
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.nn.sampling import draw_all
from phist.progress import somebody_looks, waiting

SLOW: tuple[Any, ...] = (needs, forward, backward, run_worker)  # to compile; the rest comes with it
MOST_SECONDS = 600  # to wait for another process that compiles


def code_folder() -> Path | None:
    """Where compiled code is kept: beside the sources, in ``NUMBA_CACHE_DIR``, or in the user's cache; ``None`` for nowhere."""
    place = run_worker._cache.cache_path  # type: ignore[attr-defined]
    return None if place is None else Path(place)


def is_compiled() -> bool:
    """Whether everything is there for these sources and this processor; nothing is compiled to find out."""
    on_disk = _is_on_disk if code_folder() is not None else lambda function: False
    return all(function.signatures or on_disk(function) for function in SLOW)


def _is_on_disk(function: Any) -> bool:
    found: bool = function._cache.is_compiled(function.targetctx.codegen())
    return found


def is_portable() -> bool:
    """Whether what does not depend on the processor is there, in the cache or from a wheel: most of the work is then done."""
    return all(function._cache.is_portable(function.targetctx.codegen()) for function in SLOW)


def compiling_time() -> str:
    """How long a person waits for what is missing, in words."""
    return "some seconds" if is_portable() else "about half a minute"


@cache
def prepare() -> None:
    """Compile what is missing before the work begins, so that no clock of the work counts it, and tell a person who waits."""
    if is_compiled():
        return
    if code_folder() is None:
        warnings.warn(
            "no folder for compiled code can be written to, so the engine is compiled anew in every process, which takes "
            f"{compiling_time()}; set NUMBA_CACHE_DIR to a folder that can",
            EngineNotice,
            stacklevel=2,
        )
    alone = current_process().name == "MainProcess"  # several workers would write over each other
    with (
        waiting(f"compiling the engine, once ({compiling_time()})") if alone and somebody_looks(None) else nullcontext(),
        _one_process(),
    ):
        if not is_compiled():  # by a process that began before this one
            _compile()


@contextmanager
def _one_process() -> Iterator[None]:
    """One process compiles, others wait for its files; where no file can be locked, each compiles for itself."""
    folder = code_folder()
    if folder is None:
        yield
        return
    lock = FileLock(folder / "phist-engine.lock")
    with suppress(OSError, Timeout):
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=MOST_SECONDS)
    try:
        yield
    finally:
        lock.release()


def _compile() -> None:
    """Half of it in a second process meanwhile, where that can leave its code on disk; of portable code one pass each."""
    halves: tuple[Functions, Functions] = (
        ({backward: _types_of_pass}, {forward: _types_of_pass}) if is_portable() else (_BESIDE, _HERE)
    )
    with rare_garbage_collection() if code_folder() is None else compiling_beside(needs, *halves):
        _compute_something()


def _types_of_pass(types_of_needs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Items, shard and job, of `forward` and of `backward`."""
    return types.int64[::1], types.int64, HandleType(types_of_needs[0])


def _types_of_run_worker(types_of_needs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Round, mode, job and training."""
    return types.int64, types.int64, types_of_needs[0], typeof(NO_TRAINING)


def _types_of_finish_step(types_of_needs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Step, job and training."""
    *_, job, training = _types_of_run_worker(types_of_needs)
    return types.int64, HandleType(job), HandleType(training)


# Both processes begin as soon as the types of a job are known. The end of a step comes first here, since the rest of `run_worker`
# needs `backward`, which takes the second process nearly as long as this one takes for `forward`.
_BESIDE: Functions = {backward: _types_of_pass, needs: tuple}
_HERE: Functions = {finish_step: _types_of_finish_step, run_worker: _types_of_run_worker}


def _compute_something() -> None:
    """Two steps of training: call every part with arguments of the types that it always has."""
    network = make_network(NetworkConfig(orders=(2, 2), channels=(1, 1), bins=2), n_classes=2, seed=0)
    graphs = as_graphset([(3, [(0, 1), (1, 2)])])
    graph, drawn = np.zeros(2, np.int64), draw_all(np.array([3, 3]))
    steps = Steps(np.arange(3), np.full(2, 1e-3), graph, drawn, graph, np.ones(2, np.float32))
    Fused(network, graphs).train(steps, AdamW(network.parameters()), clip=1.0)
