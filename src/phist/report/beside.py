"""Two studies of the same methods and datasets in one table, column beside column."""

from dataclasses import replace

from phist.report.study import Study, describe, title_of
from phist.report.tables import MARKED, Entry, Row, Table, main_table


def beside_table(first: Study, second: Study) -> Table:
    """What each dataset comes to in one study and, in the next column, in another: of methods and datasets that both have."""
    tables = [main_table(study) for study in (first, second)]
    datasets = [name for name in tables[0].columns if name in first.datasets and name in second.datasets]
    found = [_entries(table) for table in tables]
    columns = [column for name in datasets for column in (name, f"{name}, {_short(second)}")]
    rows = [
        Row(label, second.family(label), tuple(entries.get((label, name), Entry()) for name in datasets for entries in found))
        for label in second.labels
        if label in first.labels
    ]
    settings = " and ".join(
        f"{describe(study.setting)}, {len(study.records):,} records" for study in (first, second) if study.setting
    )
    legend = (f"Measured: {settings}. What to know of single figures stands with the studies' own tables.", MARKED)
    return Table(
        "beside", title_of(second), tuple(columns), tuple(rows), legend=legend, larger_is_better=tables[0].larger_is_better
    )


def _entries(table: Table) -> dict[tuple[str, str], Entry]:
    """By method and dataset, without what was published and without the numbers of notes that are elsewhere."""
    return {
        (row.label, column): replace(entry, published=None, note=None)
        for row in table.rows
        for column, entry in zip(table.columns, row.entries, strict=True)
    }


def _short(study: Study) -> str:
    """What sets the second study apart, as short as a column's head must be."""
    protocol, no_duplicates = study.setting or ("", False)
    return "no duplicates" if no_duplicates else protocol
