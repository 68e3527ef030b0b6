"""Dask under joblib, in a form that never waits for a cell that is lost."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from joblib import register_parallel_backend
from joblib._dask import DaskDistributedBackend

from phist.evaluation.cell import Cell
from phist.evaluation.execution import summarise
from phist.evaluation.records import Record

NAME = "phist-dask"


@dataclass(frozen=True)
class _Lost:
    """In place of a result: Dask has given up on this cell."""

    cell: Cell
    error: BaseException


class PatientDask(DaskDistributedBackend):  # type: ignore[misc]  # joblib is not annotated
    """joblib's own backend hears of results only, and waits for ever where there will be none.

    That is so for a cell that has killed several workers, by its memory for instance, and for every cell that a worker
    cannot even begin because phist is not installed there. Here such a cell ends as a record that failed.
    """

    def submit(self, func: Any, callback: Callable[[Any], None]) -> "Future[Any]":
        (call,) = func.items  # cells go out one by one
        cell = call[1][0]
        future: Future[Any] = super().submit(func, callback)

        def tell_of_loss(ended: "Future[Any]") -> None:
            error = ended.exception()
            if error is not None:
                callback(_Lost(cell, error))

        future.add_done_callback(tell_of_loss)
        return future

    def retrieve_result_callback(self, out: Any) -> list[Record]:
        """The records of a call that has ended."""
        if isinstance(out, _Lost):
            first_sentence = summarise(out.error).partition(". ")[0]  # the others are of workers and their addresses
            return [Record(out.cell, "failed", reason=f"the cluster gave it up: {first_sentence}")]
        records: list[Record] = super().retrieve_result_callback(out)
        return records


def register_dask() -> str:
    """Make the backend known to joblib; its name there."""
    register_parallel_backend(NAME, PatientDask)
    return NAME
