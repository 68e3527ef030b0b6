"""Times of results that stand beside each other: by processor time where records have it, and by medians.

Processor time changes less when other programs run beside a study; on an idle machine it is the wall time of a method that
computes in one thread. Earlier records have wall time alone, and a legend says where that stands in for it. A median is not
moved by the one fold that a busy machine held up.
"""

from collections.abc import Iterable
from statistics import median
from typing import Literal

from phist.evaluation.records import Record
from phist.report.study import Result

Clock = Literal["processor time", "wall time", "processor or wall time"]


def clock_of(results: Iterable[Result]) -> Clock:
    """Which time the records of some results have."""
    known = {record.processor_seconds is not None for result in results for record in result.records}
    if len(known) > 1:
        return "processor or wall time"
    return "processor time" if True in known else "wall time"


def warm_seconds(result: Result, clock: Clock) -> float:
    """The median over folds: what a further fold takes, once what all folds share is there."""
    return median(_seconds(record, clock) for record in result.records)


def cold_seconds(result: Result, clock: Clock) -> float:
    """The slowest fold: the one that computed what all share, such as a Gram matrix, unless that was on disk already."""
    return max(_seconds(record, clock) for record in result.records)


def _seconds(record: Record, clock: Clock) -> float:
    return record.seconds if clock == "wall time" or record.processor_seconds is None else record.processor_seconds
