"""run_cell: one method on one split, seen to it that the method never sees what it is tested on."""

import time
import traceback
import warnings
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phist.baselines.method import HIDDEN, Method, Task
from phist.baselines.registry import make_method
from phist.errors import DatasetError, PhistError
from phist.evaluation.cell import Cell
from phist.evaluation.environment import forget_peak_memory, limited_threads, peak_memory, versions
from phist.evaluation.generated import Recipe
from phist.evaluation.records import Outcome, Record
from phist.evaluation.splits import Split, class_codes, make_split, official_split, sample_split
from phist.graphs.datasets import load_dataset, load_graphs
from phist.graphs.graphset import GraphSet
from phist.graphs.locate import cache_folder

_FRAMES = 3  # of a traceback, the innermost: enough to find the line, short enough for a table


def run_cell(cell: Cell, threads: int = 1) -> Record:
    """Run a cell; whatever goes wrong is in the record."""
    forget_peak_memory()
    begin = time.perf_counter()
    try:
        with limited_threads(threads), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # for whoever writes a method; what a reader must know is in its account
            record = _run(cell, threads)
    except Exception as error:  # a method may fail in any way, and the study goes on
        record = Record(cell, "failed", reason=summarise(error), seconds=time.perf_counter() - begin)
    return replace(
        record,
        threads=threads,
        peak_memory=peak_memory(),
        versions=versions(),
        finished=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def make_task(graphs: GraphSet, codes: NDArray[np.int64], split: Split, **settings: Any) -> Task:
    """What a method may know of a split: all graphs, but labels of the training and validation parts only.

    Ids are replaced by numbers: in a set that was read from a folder per class they name the class.
    """
    labels = np.full(len(codes), HIDDEN, dtype=np.int64)
    for part in (split.training, split.validation):
        labels[part] = codes[part]
    return Task(
        graphs=replace(graphs, labels=None, ids=np.empty(0, np.int64)),
        labels=labels,
        training=split.training.copy(),  # copies: a method that writes into them harms itself only
        validation=split.validation.copy(),
        **settings,
    )


def summarise(error: BaseException) -> str:
    """An error in one line: its kind and message, and the lines of code it came through, without places on this machine."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__][-_FRAMES:]
    way = " > ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
    message = " ".join(str(error).split())
    known = isinstance(error, PhistError)  # its message says all that is needed
    return f"{type(error).__name__}: {message}" + ("" if known or not way else f" ({way})")


def _run(cell: Cell, threads: int) -> Record:
    method = make_method(cell.method, **cell.options)
    graphs = _load(cell.dataset, cell.source, cell.fingerprint)
    codes, classes = class_codes(graphs)
    whole = split = _split_of(cell, graphs)
    is_sample = cell.labelled is not None or cell.tested is not None
    if is_sample:
        graphs, codes, whole, split = _sample(cell, graphs, codes, split)
    reason = method.skip(cell.dataset) or method.skip_size(len(graphs))
    if reason is not None:
        return Record(cell, "skipped", reason=reason)

    task = make_task(
        graphs,
        codes,
        split,
        dataset=cell.dataset,
        n_classes=len(classes),
        seed=cell.seed,
        cache=None if is_sample else _cache_of(cell),  # a sample is costed as if nothing were known of the others
        threads=threads,
    )

    method.prepare()
    begin, begin_processor = time.perf_counter(), time.process_time()
    method.fit(task)
    fitted = time.perf_counter()
    probabilities = np.asarray(method.predict(split.test.copy()), dtype=np.float64)
    prediction_seconds = time.perf_counter() - fitted
    seconds = time.perf_counter() - begin + method.earlier_seconds
    processor_seconds = None if method.earlier_seconds else time.process_time() - begin_processor
    method.look_back()
    _check_probabilities(probabilities, (len(split.test), len(classes)))
    outcome = Outcome(
        classes=classes,
        positions=whole.test.tolist(),
        truth=codes[split.test].tolist(),
        predicted=probabilities.argmax(axis=1).tolist(),
        probabilities=probabilities,
    )
    return Record(
        cell,
        "ok",
        whole.hash,
        outcome=outcome,
        account=method.account,
        engine=_engine_of(method),
        seconds=seconds,
        processor_seconds=processor_seconds,
        prediction_seconds=prediction_seconds,
    )


@lru_cache(maxsize=2)  # a worker mostly stays with one dataset
def _load(dataset: str, source: Path | Recipe | None, fingerprint: str) -> GraphSet:
    if isinstance(source, Recipe):
        return source.graphs()
    graphs = load_dataset(dataset) if source is None else load_graphs(source)
    if graphs.fingerprint() != fingerprint:
        raise DatasetError(f"{source or dataset} has changed since the study was read; start the study again")
    return graphs


def _split_of(cell: Cell, graphs: GraphSet) -> Split:
    if cell.protocol == "official":
        return official_split(cell.dataset)
    return make_split(graphs, cell.protocol, cell.fold, seed=cell.seed, repeat=cell.repeat, no_duplicates=cell.no_duplicates)


def _sample(
    cell: Cell, graphs: GraphSet, codes: NDArray[np.int64], split: Split
) -> tuple[GraphSet, NDArray[np.int64], Split, Split]:
    """The graphs of the sample alone with their classes, and its split by positions in the dataset and in the sample."""
    state = int(np.random.SeedSequence([cell.fold, cell.repeat]).generate_state(1)[0])
    whole = sample_split(split, codes, labelled=cell.labelled, tested=cell.tested, state=state)
    kept = np.sort(np.concatenate([whole.training, whole.validation, whole.test]))
    within = Split(*(np.searchsorted(kept, part) for part in (whole.training, whole.validation, whole.test)))
    return graphs[kept], codes[kept], whole, within


def _cache_of(cell: Cell) -> Path:
    """A folder for what methods compute of the graphs alone, one for each content."""
    return cache_folder() / "study" / f"{cell.dataset}-{cell.fingerprint[:12]}"


def _engine_of(method: Method) -> str | None:
    engine = getattr(method, "engine", None) or method.account.chosen.get("engine")
    return None if engine is None else str(engine)


def _check_probabilities(probabilities: NDArray[np.float64], shape: tuple[int, int]) -> None:
    if probabilities.shape != shape:
        raise ValueError(f"predict gave an array of shape {probabilities.shape}; {shape} is needed, a row for each graph")
    if not np.isfinite(probabilities).all() or (probabilities < 0).any():
        raise ValueError("predict gave probabilities that are negative or not finite")
    if np.abs(probabilities.sum(axis=1) - 1).max(initial=0) > 1e-3:
        raise ValueError("predict gave rows that do not sum to one")
