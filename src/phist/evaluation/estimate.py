"""How long the rest of a study will take, judged by what is done."""

from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean

from phist.evaluation.cell import Cell
from phist.evaluation.records import Record


class Durations:
    """Seconds that cells took, by method and dataset, and number of labelled graphs where only some are kept."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        if record.status == "ok":
            self._seconds[_key(record.cell)].append(record.seconds)

    def of(self, cell: Cell) -> float | None:
        """What a cell will take: as others of its method and dataset, else of its method, else of its dataset."""
        label, dataset = _key(cell)
        exact = self._seconds.get((label, dataset), [])
        same_method = [fmean(taken) for (other, _), taken in self._seconds.items() if other == label]
        same_dataset = [fmean(taken) for (_, other), taken in self._seconds.items() if other == dataset]
        known = exact or same_method or same_dataset
        return fmean(known) if known else None

    def left(self, cells: Iterable[Cell], jobs: int = 1) -> float | None:
        """Seconds for all ``cells`` with ``jobs`` at a time; ``None`` where nothing is known yet."""
        taken = [self.of(cell) for cell in cells]
        known = [seconds for seconds in taken if seconds is not None]
        if taken and not known:
            return None
        return sum(fmean(known) if seconds is None else seconds for seconds in taken) / jobs


def spoken(seconds: float) -> str:
    """A duration as people say it.

    >>> spoken(3.2), spoken(200), spoken(9000), spoken(400000)
    ('3 s', '3 min 20 s', '2 h 30 min', '4 d 15 h')
    """
    whole = round(seconds)
    for size, name, finer, finer_name in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            return f"{whole // size} {name} {whole % size // finer} {finer_name}"
    return f"{whole} s"


def _key(cell: Cell) -> tuple[str, str]:
    return cell.label, cell.column
