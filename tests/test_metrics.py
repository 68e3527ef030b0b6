import json

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from phist.errors import ConfigError, GraphInputError
from phist.metrics import LEAST, METRICS, compute_metric, compute_metrics, confusion, wilson_interval


def _made(n=200, classes=3, seed=0):
    generator = np.random.default_rng(seed)
    probabilities = generator.dirichlet(np.ones(classes), n)
    return probabilities, generator.integers(0, classes, n)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_metrics_agree_with_scikit_learn(classes):
    probabilities, truth = _made(classes=classes)
    found, predicted = compute_metrics(probabilities, truth), probabilities.argmax(1)

    assert found.n == 200
    assert found.accuracy == pytest.approx(sklearn_metrics.accuracy_score(truth, predicted))
    assert found.balanced_accuracy == pytest.approx(sklearn_metrics.balanced_accuracy_score(truth, predicted))
    assert found.log_loss == pytest.approx(sklearn_metrics.log_loss(truth, probabilities))
    assert found.brier == pytest.approx(
        sklearn_metrics.brier_score_loss(truth, probabilities[:, 1] if classes == 2 else probabilities)
    )
    scores = probabilities[:, 1] if classes == 2 else probabilities
    assert found.roc_auc == pytest.approx(sklearn_metrics.roc_auc_score(truth, scores, multi_class="ovr"))


def test_interval_is_wilsons_and_holds_the_accuracy_at_both_ends():
    assert wilson_interval(32, 38) == pytest.approx((0.69583, 0.92556), abs=1e-5)
    for right in (0, 1, 5):
        low, high = wilson_interval(right, 5)
        assert 0 <= low <= right / 5 <= high <= 1


def test_calibration_error_of_one_bin_is_confidence_minus_accuracy():
    assert compute_metrics([[0.8, 0.2]] * 4, [0, 0, 1, 1]).calibration_error == pytest.approx(0.3)


def test_calibration_error_vanishes_where_confidence_is_the_share_of_right_answers():
    assert compute_metrics([[0.75, 0.25]] * 4, [0, 0, 0, 1]).calibration_error == pytest.approx(0)


def test_calibration_errors_of_different_bins_do_not_cancel():
    overconfident, underconfident = [[0.9, 0.1]] * 2, [[0.6, 0.4]] * 2
    assert compute_metrics(overconfident + underconfident, [0, 1, 0, 0]).calibration_error == pytest.approx(0.4)


def test_classes_absent_from_the_truth_leave_every_metric_defined():
    probabilities, truth = _made(classes=5)
    truth = np.where(truth == 2, 0, truth)
    found = compute_metrics(probabilities, truth)

    present = [0, 1, 3, 4]
    areas = [sklearn_metrics.roc_auc_score(truth == number, probabilities[:, number]) for number in present]
    recalls = [(probabilities.argmax(1)[truth == number] == number).mean() for number in present]
    assert found.roc_auc == pytest.approx(np.mean(areas))
    assert found.balanced_accuracy == pytest.approx(np.mean(recalls))


@pytest.mark.parametrize("classes", [2, 4])
def test_roc_auc_is_none_where_one_class_is_the_whole_truth(classes):
    probabilities, _ = _made(classes=classes)
    assert compute_metrics(probabilities, np.ones(200, int)).roc_auc is None


def test_one_graph_has_metrics():
    found = compute_metrics([[0.2, 0.8]], [1])
    assert (found.n, found.accuracy, found.balanced_accuracy, found.roc_auc) == (1, 1.0, 1.0, None)
    assert found.interval[0] < 0.3 and found.interval[1] == 1.0


def test_probabilities_of_zero_and_one_keep_log_loss_finite():
    wrong = compute_metrics([[0.0, 1.0], [0.0, 1.0]], [0, 1])
    assert wrong.log_loss == pytest.approx(-np.log(LEAST) / 2)
    assert wrong.calibration_error == pytest.approx(0.5)
    assert compute_metrics([[0.0, 1.0]], [1]).log_loss == 0


def test_roc_auc_depends_on_the_order_of_scores_only():
    probabilities, truth = _made(classes=2)
    squeezed = 0.4 + 0.01 * probabilities[:, 1]
    scores = np.stack([1 - squeezed, squeezed], axis=1)
    assert compute_metrics(scores, truth).roc_auc == pytest.approx(compute_metrics(probabilities, truth).roc_auc)


def test_predicted_classes_count_instead_of_the_most_probable_ones():
    tied = [[0.5, 0.5], [0.5, 0.5]]
    assert compute_metrics(tied, [1, 1]).accuracy == 0
    assert compute_metrics(tied, [1, 1], predicted=[1, 1]).accuracy == 1


@pytest.mark.parametrize("name", METRICS)
def test_single_metric_is_the_one_among_all(name):
    probabilities, truth = _made()
    assert compute_metric(name, probabilities, truth) == getattr(compute_metrics(probabilities, truth), name.replace("-", "_"))


def test_confusion_counts_truth_by_row_and_has_a_row_for_absent_classes():
    counts = confusion([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.7, 0.3, 0.0]], [0, 0, 1])
    assert counts.tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_metrics_are_plain_json():
    content = json.loads(json.dumps(compute_metrics(*_made()).to_dict(), allow_nan=False))
    assert content["n"] == 200 and len(content["interval"]) == 2


@pytest.mark.parametrize(
    ("probabilities", "targets"),
    [
        (np.empty((0, 2)), np.empty(0, int)),
        ([[0.5, 0.5]], [0, 1]),
        ([0.5, 0.5], [0, 1]),
        ([[0.5, 0.5]], [2]),
        ([[0.5, 0.5]], [-1]),
        ([[0.5, 0.5]], ["first"]),
        ([[0.5, 0.5]], [0.5]),
    ],
)
def test_graphs_that_do_not_fit_their_targets_are_refused(probabilities, targets):
    with pytest.raises(GraphInputError):
        compute_metrics(probabilities, targets)


@pytest.mark.parametrize("row", [[-0.1, 1.1], [float("nan"), 1.0], [0.0, 3.0]])
def test_what_is_no_probability_is_refused(row):
    with pytest.raises(ConfigError):
        compute_metrics([row], [0])


def test_unknown_metric_is_refused_with_the_known_names():
    with pytest.raises(ConfigError, match="roc-auc"):
        compute_metric("f1", [[0.5, 0.5]], [0])
