"""Which family a method belongs to and in which order methods and datasets are shown, without importing any method."""

from collections.abc import Iterable

from phist.report.published import load_published

FAMILIES = {
    "phist": "phist",
    "kernel": "graph kernels",
    "gnn": "graph neural networks",
    "descriptor": "descriptors",
    "floor": "floors",
    "other": "others",
}
OTHER = "other"  # what somebody else registered: a record does not tell its family

_MEMBERS = {
    "phist": (
        "phist", "phist-network", "phist-low", "phist-high",
        "phist-linear", "phist-forest", "phist-kernel", "phist-sum", "phist-deterministic",
        "phist-paper", "phist-paper-sum", "phist-paper-deterministic",
    ),
    "kernel": ("wl-subtree", "wl-shortest-path", "svm-theta", "shortest-path", "pyramid-match", "graphlet-sampling"),
    "gnn": ("gcn", "gin-0", "gin-eps", "sage", "sage-no-jk", "global-attention", "graclus", "set2set"),
    "descriptor": ("ldp", "ltp", "spectrum"),
    "floor": ("majority", "size-only", "degree-histogram"),
}  # fmt: skip
METHODS = {method: family for family, members in _MEMBERS.items() for method in members}
_PLACES = {method: place for place, method in enumerate(METHODS)}


def family_of(method: str) -> str:
    """The family of a method by its name in the registry."""
    return METHODS.get(method, OTHER)


def method_place(label: str, method: str) -> tuple[int, str]:
    """Where a row stands: by its method, several labels of one method side by side, unknown methods last."""
    return (_PLACES.get(method, len(_PLACES)), label)


def sort_datasets(names: Iterable[str]) -> list[str]:
    """Datasets in the order of the paper's columns, others after them by name; numbers of labelled graphs from small to large."""
    columns = load_published().datasets

    def place(name: str) -> tuple[int, str, int]:
        dataset, number = split_column(name)
        return (columns.index(dataset) if dataset in columns else len(columns), dataset, number or 0)

    return sorted(set(names), key=place)


def split_column(column: str) -> tuple[str, int | None]:
    """The dataset of a column, and the number of labelled graphs where only some are kept.

    >>> split_column("NCI1:300"), split_column("NCI1")
    (('NCI1', 300), ('NCI1', None))
    """
    dataset, _, number = column.rpartition(":")
    return (dataset, int(number)) if dataset and number.isdecimal() else (column, None)
