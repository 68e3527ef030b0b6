"""How far the estimator's own estimate of its accuracy is from its accuracy on the test folds."""

from statistics import mean, stdev

from phist.evaluation.records import Record
from phist.report.order import sort_datasets
from phist.report.study import Result, Study, title_of
from phist.report.tables import Entry, Row, Table

OURS = "phist"
SETS = (
    "Sets are those of `predict_set(graphs, coverage=0.9)` for the validation graphs of a fold, which the estimator never sees; "
    "classes in a set are a number, not percent."
)


def estimates_table(study: Study, label: str = OURS) -> Table:
    """For every dataset: accuracy estimated out of fold, accuracy on the test folds, and the error of the estimate."""
    results = {result.dataset: result for result in study.results if result.label == label and _pairs(result)}
    columns = sort_datasets(list(results))
    pairs = {dataset: _pairs(results[dataset]) for dataset in columns}
    rows = {
        "estimated out of fold": [_entry([estimate for estimate, _ in pairs[dataset]]) for dataset in columns],
        "on the test folds": [_entry([reached for _, reached in pairs[dataset]]) for dataset in columns],
        "error of the estimate": [_entry([estimate - reached for estimate, reached in pairs[dataset]]) for dataset in columns],
    }
    sets = {dataset: _sets(results[dataset]) for dataset in columns}
    if any(sets.values()):
        rows |= {
            "right class in its set of 90 %": [_entry([reached for reached, _ in sets[dataset]]) for dataset in columns],
            "classes in a set": [_entry([size for _, size in sets[dataset]]) for dataset in columns],
        }
    errors = [mean(estimate - reached for estimate, reached in pairs[dataset]) for dataset in columns]
    summary = (
        f"Mean error over {len(errors)} datasets {mean(errors):+.1f} points, mean size of the error "
        f"{mean(map(abs, errors)):.1f}; positive is optimistic."
        if errors
        else "No record has an estimate."
    )
    return Table(
        "estimates",
        f"{title_of(study)}: {label}'s own estimates",
        tuple(columns),
        tuple(Row(name, "phist", tuple(entries)) for name, entries in rows.items()),
        legend=("Mean ± standard deviation over folds, in percent.", summary, *([SETS] if any(sets.values()) else [])),
        grouped=False,
    )


def _pairs(result: Result) -> list[tuple[float, float]]:
    """Estimate and test accuracy of every record that has both, in percent."""
    found = ((_estimate(record), record.accuracy) for record in result.records)
    return [(100 * estimate, 100 * reached) for estimate, reached in found if estimate is not None and reached is not None]


def _estimate(record: Record) -> float | None:
    measured = record.account.chosen.get("out_of_fold")
    value = measured.get("accuracy") if isinstance(measured, dict) else None
    return float(value) if isinstance(value, int | float) else None


def _sets(result: Result) -> list[tuple[float, float]]:
    """How often the right class was in its set, in percent, and the classes in a set, of every record that has them."""
    measured = (record.account.chosen.get("sets") for record in result.records)
    return [(100 * own["reached"], own["size"]) for own in measured if isinstance(own, dict) and {"reached", "size"} <= set(own)]


def _entry(values: list[float]) -> Entry:
    if not values:
        return Entry()
    return Entry(mean(values), stdev(values) if len(values) > 1 else None, len(values), len(values))
