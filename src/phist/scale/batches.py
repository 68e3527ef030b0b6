"""Functions of batches: a model asked about tables of graphs wherever Ray, Dask or Spark calls it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from phist.checks import whole_number
from phist.errors import GraphInputError, ModelFileError, check_choice
from phist.extras import require
from phist.graphs.formats.graph_rows import NEEDED
from phist.graphs.packing import Reading
from phist.scale.answers import Answers, Embeddings, Predictions, model_fingerprint
from phist.scale.reading import cuts
from phist.scale.rows import Parsed, Rows, TableRows
from phist.scale.salvage import OnError, salvage
from phist.scale.stretches import Limits

ARC_COLUMNS = ("sources", "targets", "weights")
ERROR = "error"  # the column that says why a row has no answer
_QUESTIONS: dict[str, type[Answers]] = {"embed": Embeddings, "predict": Predictions}
_LIMITS = Limits(part_rows=1 << 31)


@dataclass(frozen=True)
class BatchFunction:
    """A question to a model as a function of a batch of graphs, one a row; make one with `embed_batches` or `predict_batches`.

    What is pickled is the path of the model and the settings: a worker loads the model when the first batch comes, and once.
    A batch is an Arrow table, a pandas frame or a mapping of arrays, and so is the answer: the columns of the batch but for the
    lists of arcs, and those of the answer. By the engine the answers are, to the last bit, those of a single process.
    """

    verb: Literal["embed", "predict"]
    model: str
    fingerprint: str
    threads: int
    engine: str | None
    exact: bool
    reading: Reading
    on_error: OnError

    def __call__(self, batch: Any) -> Any:
        pa = require("pyarrow", "tables", "batches of graphs")
        if isinstance(batch, pa.Table):
            return self._answer(batch)
        if isinstance(batch, Mapping):
            table = self._answer(pa.table({name: _as_arrow(name, values) for name, values in batch.items()}))
            return {name: _as_numpy(table.column(name)) for name in table.column_names}
        return self._answer_frame(batch)

    def each(self, frames: Iterator[Any]) -> Iterator[Any]:
        """Batch after batch, as Spark's ``mapInPandas`` gives and takes them."""
        return map(self, frames)

    def _answer_frame(self, frame: Any) -> Any:
        """A pandas frame, with its index."""
        pa = require("pyarrow", "tables", "batches of graphs")
        arcs = [name for name in ARC_COLUMNS if name in frame.columns]
        known = [name for name in ("n_nodes", *arcs) if name in frame.columns]
        table = self._answer(pa.table({name: _as_arrow(name, frame[name]) for name in known}))
        answers = table.drop_columns([name for name in known if name in table.column_names]).to_pandas()
        return frame.drop(columns=arcs).assign(**{name: answers[name].array for name in answers.columns})

    def _answer(self, table: Any) -> Any:
        pa = require("pyarrow", "tables", "batches of graphs")
        answers = load_answers(self.verb, self.model, self.fingerprint, self.engine, self.exact)
        positions, found, reasons = self._ask_all(answers, table) if table.num_rows else (np.empty(0, np.int64), [], {})
        columns = {name: pa.chunked_array([one[name] for one in found] or [none]) for name, none in answers.no_columns().items()}
        if len(positions) < table.num_rows:  # rows without an answer have nothing in its columns
            places = np.full(table.num_rows, -1)
            places[positions] = np.arange(len(positions))
            index = pa.array(places, mask=places < 0)
            columns = {name: column.combine_chunks().take(index) for name, column in columns.items()}
        if self.on_error == "skip":
            columns[ERROR] = pa.array([reasons.get(row) for row in range(table.num_rows)], pa.string())
        kept = table.drop_columns([name for name in ARC_COLUMNS if name in table.column_names])
        for name, column in columns.items():
            kept = kept.append_column(name, column)
        return kept

    def _ask_all(self, answers: Answers, table: Any) -> tuple[np.ndarray[Any, Any], list[dict[str, Any]], dict[int, str]]:
        """Which rows have an answer, the answers, and why the others have none."""
        import torch

        torch.set_num_threads(self.threads)  # of this thread: the others of a worker have as many each
        reasons: dict[int, str] = {}

        def refuse(row: int, rows: int | None, reason: str) -> None:
            if self.on_error == "stop":
                raise GraphInputError(f"row {row} of a batch{_named(table, row)}: {reason}")
            reasons[row] = reason

        def ask(part: Rows) -> tuple[Parsed, dict[str, Any]]:
            parsed = part.parse(self.reading)
            return parsed, answers.columns(parsed.graphs) if len(parsed.graphs) else answers.no_columns()

        known = [name for name in (*NEEDED, "weights") if name in table.column_names]
        rows, positions, found = TableRows(table.select(known).combine_chunks(), 0), [], []
        for first, last in cuts(rows, 0, _LIMITS):
            for begin, parsed, columns in salvage(rows.part(first, last), ask, refuse, first):
                positions.append(begin + parsed.positions)
                found.append(columns)
        return np.concatenate(positions) if positions else np.empty(0, np.int64), found, reasons


def embed_batches(
    model: str | Path,
    *,
    threads: int = 1,
    engine: str | None = None,
    exact: bool = False,
    reading: Reading | None = None,
    on_error: OnError = "stop",
) -> BatchFunction:
    """A function that adds the column ``embedding`` to batches of graphs.

    Args:
        model: the model's folder, at the same path on every worker.
        threads: that a call computes with: as many as the cluster gives cores to a task.
        engine: ``"auto"``, ``"fused"`` or ``"reference"``, in place of the model's own.
        exact: every node as a root, instead of an average over samples of roots.
        reading: what becomes of direction, loops and weights; as the model's own graphs were read, unless given.
        on_error: a row that cannot be read or computed raises an error (``"stop"``), or has nothing in the columns of the answer,
            and the reason in the column ``error`` (``"skip"``).

    >>> import pyarrow as pa, tempfile
    >>> from phist import StructuralClassifier
    >>> from phist.graphs.generate import make_trees
    >>> folder = tempfile.mkdtemp() + "/model"
    >>> StructuralClassifier("low", random_state=0, training={"epochs": 1}).fit(make_trees(40, n_nodes=8, seed=0)).save(folder)
    >>> batch = pa.table({"id": ["path"], "n_nodes": [3], "sources": [[0, 1]], "targets": [[1, 2]]})
    >>> embed_batches(folder)(batch).column_names
    ['id', 'n_nodes', 'embedding']
    """
    return _batch_function("embed", model, threads, engine, exact, reading, on_error)


def predict_batches(
    model: str | Path,
    *,
    threads: int = 1,
    engine: str | None = None,
    exact: bool = False,
    reading: Reading | None = None,
    on_error: OnError = "stop",
) -> BatchFunction:
    """A function that adds the columns ``predicted`` and ``probabilities``; arguments as for `embed_batches`."""
    return _batch_function("predict", model, threads, engine, exact, reading, on_error)


def _batch_function(
    verb: Literal["embed", "predict"],
    model: str | Path,
    threads: int,
    engine: str | None,
    exact: bool,
    reading: Reading | None,
    on_error: OnError,
) -> BatchFunction:
    check_choice("on_error", on_error, ("stop", "skip"))
    threads = whole_number("threads", threads, least=1)
    place = str(Path(model).expanduser().absolute())
    fingerprint = model_fingerprint(place)
    answers = load_answers(verb, place, fingerprint, engine, exact)  # what is wrong with the model is said here, not by a worker
    own: Literal["keep"] | None = "keep" if answers.model.reading_.directed else None
    return BatchFunction(verb, place, fingerprint, threads, engine, exact, reading or Reading(directed=own), on_error)


@cache
def load_answers(verb: str, model: str, fingerprint: str, engine: str | None, exact: bool) -> Answers:
    """The model, loaded once in a process; another one than the caller meant is refused."""
    if model_fingerprint(model) != fingerprint:
        raise ModelFileError(f"the model at {model} is not the one that the job was started with; give the workers the same folder")
    answers = _QUESTIONS[verb](model)
    answers.model.engine = engine or answers.model.engine
    answers.model.inference = "exact" if exact else answers.model.inference
    answers.model._check_parameters()
    return answers


def _as_arrow(name: str, values: Any) -> Any:
    """A column of a frame or a mapping; lists of arcs may be arrays of arrays."""
    pa = require("pyarrow", "tables", "batches of graphs")
    try:
        array = pa.array(list(values) if name in ARC_COLUMNS or getattr(values, "ndim", 1) > 1 else values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise GraphInputError(f"the column {name} cannot be read ({error!s:.100}); make it numbers or lists of numbers") from error
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _as_numpy(column: Any) -> Any:
    pa = require("pyarrow", "tables", "batches of graphs")
    if pa.types.is_fixed_size_list(column.type) and not column.null_count:
        return column.combine_chunks().flatten().to_numpy().reshape(len(column), column.type.list_size)
    return column.to_numpy()


def _named(table: Any, row: int) -> str:
    return f" (id {table.column('id')[row].as_py()!r:.60})" if "id" in table.column_names else ""
