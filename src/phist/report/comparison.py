"""Two methods on one dataset: how much better one is, with its interval."""

from collections.abc import Sequence

from phist.evaluation.splits import FOLDS
from phist.evaluation.statistics import Difference, paired_difference
from phist.metrics import METRICS
from phist.report.study import Result

TEST_TO_TRAINING = 1 / (FOLDS - 2)  # one fold tests, one validates


def compare(first: Result | None, second: Result | None) -> Difference | None:
    """How much better the first is, over the folds that both have with equal splits; none if fewer than two.

    Of accuracies and the like it is the first minus the second in points; of losses the second minus the first.
    """
    if first is None or second is None:
        return None
    folds = sorted(fold for fold in first.values.keys() & second.values.keys() if first.splits[fold] == second.splits[fold])
    if len(folds) < 2:
        return None
    sign = 1.0 if METRICS[first.metric].larger_is_better else -1.0
    ours, theirs = ([sign * result.values[fold] for fold in folds] for result in (first, second))
    return paired_difference(ours, theirs, test_to_training=TEST_TO_TRAINING)


def best_of(results: Sequence[Result]) -> Result | None:
    """The complete result of the best mean; none where no result is complete."""
    complete = [result for result in results if result.values and result.complete]
    return max(complete, key=lambda result: result.mean if METRICS[result.metric].larger_is_better else -result.mean, default=None)


def tied_with_best(results: Sequence[Result]) -> set[str]:
    """The labels of complete results on one dataset whose interval of the difference to the best holds zero, but for the best."""
    best = best_of(results)
    found = {
        result.label: compare(best, result)
        for result in results
        if best is not None and result is not best and result.values and result.complete
    }
    return {label for label, difference in found.items() if difference is not None and not difference.is_clear}
