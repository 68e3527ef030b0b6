"""The kernel head: the regression, and the classifier on top of which it sits."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from phist import StructuralClassifier
from phist.errors import ConfigError, ModelFileError
from phist.estimators import kernel_head
from phist.estimators.features import Features
from phist.estimators.kernel_head import RIDGES, KernelHead
from phist.graphs.generate import make_planted_partitions
from phist.testing import graph_estimator_checks

FILE = "kernel.safetensors"


def drawn(n=60, n_features=5, n_classes=3, seed=0):
    generator = np.random.default_rng(seed)
    targets = generator.integers(0, n_classes, n)
    features = generator.normal(size=(n, n_features)) + targets[:, None] * np.linspace(0, 1, n_features)
    return features.astype(np.float32), targets, generator.uniform(0.5, 2, n).astype(np.float32)


def standardised(head, features):
    return ((features - head.centre) / head.scale).astype(np.float64)


def ridge_by_leaving_out(head, features, targets, weights):
    """The ridge with the least error when every graph is left out and everything is fitted again."""
    rows, indicators = standardised(head, features), np.eye(3)[targets] - head.prior
    errors = []
    for ridge in RIDGES:
        missed = []
        for graph in range(len(rows)):
            rest = np.arange(len(rows)) != graph
            machine = KernelRidge(alpha=ridge / weights.mean(), kernel="rbf", gamma=1 / rows.shape[1])
            machine.fit(rows[rest], indicators[rest], sample_weight=(weights / weights.mean() ** 2)[rest])
            missed.append(indicators[graph] - machine.predict(rows[graph : graph + 1])[0])
        errors.append(np.average(np.square(missed).sum(1), weights=weights))
    return RIDGES[int(np.argmin(errors))]


@pytest.mark.parametrize("seed", range(3))
def test_it_is_kernel_ridge_regression_with_the_ridge_that_leaving_out_chooses(seed):
    features, targets, weights = drawn(seed=seed)
    head = KernelHead.fit(features, targets, weights, 3, seed=0)
    rows, indicators, counts = standardised(head, features), np.eye(3)[targets], weights / weights.mean()
    np.testing.assert_allclose(head.prior, np.average(indicators, axis=0, weights=weights), rtol=1e-6)
    machine = KernelRidge(alpha=ridge_by_leaving_out(head, features, targets, weights), kernel="rbf", gamma=1 / 5)
    machine.fit(rows, indicators - head.prior, sample_weight=counts)
    expected = np.maximum(head.prior + machine.predict(rows), 1e-3)
    np.testing.assert_allclose(head.predict_proba(features), expected / expected.sum(1, keepdims=True), atol=1e-5)


def test_probabilities_add_up_and_are_never_zero():
    features, targets, weights = drawn()
    found = KernelHead.fit(features, targets, weights, 3, seed=0).predict_proba(100 * features)
    np.testing.assert_allclose(found.sum(1), 1)
    assert found.min() > 0


def test_a_graph_that_counts_twice_is_as_good_as_two(monkeypatch):
    monkeypatch.setattr(kernel_head, "RIDGES", (0.3,))  # of two equal graphs one is left in, which is another choice of ridge
    features, targets, _ = drawn(40)
    twice = np.arange(40) < 15
    again = np.r_[np.arange(40), np.flatnonzero(twice)]
    values, similar = np.eye(3)[targets], rbf_kernel(features.astype(np.float64))
    weighted = kernel_head._ridge_regression(similar.copy(), values, np.where(twice, 2.0, 1.0))
    repeated = kernel_head._ridge_regression(similar[np.ix_(again, again)], values[again], np.ones(len(again)))
    np.testing.assert_allclose(similar @ weighted, similar[:, again] @ repeated, atol=1e-9)


def test_graphs_that_count_nothing_are_left_out():
    features, targets, weights = drawn()
    weights[::2] = 0
    head, expected = (
        KernelHead.fit(*(array[kept] for array in (features, targets, weights)), 3, seed=0)
        for kept in (np.arange(60), np.arange(1, 60, 2))
    )
    np.testing.assert_array_equal(head.predict_proba(features), expected.predict_proba(features))


def test_features_that_are_all_alike_say_nothing():
    features, targets, weights = drawn()
    plain = KernelHead.fit(features, targets, weights, 3, seed=0).predict_proba(features).argmax(1)
    features = np.c_[features, np.full((60, 2), 7, np.float32)]
    found = KernelHead.fit(features, targets, weights, 3, seed=0).predict_proba(features)
    assert np.isfinite(found).all()
    assert (found.argmax(1) == plain).mean() > 0.9


def test_of_many_graphs_some_are_compared_with(monkeypatch):
    monkeypatch.setattr(kernel_head, "MOST_GRAPHS", 25)
    heads = [KernelHead.fit(*drawn(), 3, seed=seed) for seed in (0, 0, 1)]
    assert [len(head.rows) for head in heads] == [25, 25, 25]
    np.testing.assert_array_equal(heads[0].rows, heads[1].rows)
    assert not np.array_equal(heads[0].rows, heads[2].rows)


def test_rows_in_parts_are_rows_at_once(monkeypatch):
    features, targets, weights = drawn()
    head = KernelHead.fit(features, targets, weights, 3, seed=0)
    whole = head.predict_proba(features)
    monkeypatch.setattr(kernel_head, "_AT_ONCE", 7)
    np.testing.assert_allclose(head.predict_proba(features), whole, rtol=1e-12)


# The classifier -------------------------------------------------------------------------------------------------------


def small(head="kernel", **changes):
    shape = {"engine": "reference", "max_epochs": 2, "channels": (4, 6), "bins": 4, "roots": 6, "random_state": 0}
    return StructuralClassifier(**{**shape, "head": head, "forest": {"trees": 9}, **changes})


@pytest.fixture(scope="module")
def graphs():
    return make_planted_partitions(40, n_nodes=16, seed=0)


@pytest.fixture(scope="module")
def fitted(graphs):
    return small("all").fit(graphs[:30])


@pytest.mark.parametrize("check", list(graph_estimator_checks()), ids=lambda check: check.__name__)
@pytest.mark.parametrize("head", ["kernel", "all"])
def test_conforms(check, head):
    check(small(head))


def test_it_sees_sizes_and_nodes(graphs):
    model = small().fit(graphs[:30])
    sizes = np.log1p(np.c_[graphs.node_counts(), graphs.edge_counts()]).astype(np.float32)
    features = Features(model, graphs).node_level()
    np.testing.assert_array_equal(features, np.c_[sizes, model.node_moments(graphs)])
    labels = np.searchsorted(model.classes_.astype(str), graphs.labels[:30].astype(str))
    head = KernelHead.fit(features[:30], labels, np.ones(30, np.float32), 2, model.seed_)
    np.testing.assert_allclose(model.predict_proba(graphs), head.predict_proba(features), atol=1e-9)


def test_all_heads_together_give_the_mean_of_their_probabilities(fitted, graphs):
    found = fitted.predict_proba(graphs)
    alone = [fitted.set_params(head=head).predict_proba(graphs) for head in ("linear", "forest", "kernel")]
    fitted.set_params(head="all")
    np.testing.assert_allclose(found, np.mean(alone, axis=0))
    assert (fitted.predict(graphs) == fitted.classes_[found.argmax(1)]).all()
    assert np.isfinite(fitted.decision_function(graphs)).all()


def test_heads_look_at_the_graphs_once_and_say_what_each_says_alone(fitted, graphs, monkeypatch):
    alone = {head: fitted.set_params(head=head).predict_proba(graphs) for head in ("kernel", "all", "linear", "forest")}
    looks = []
    for name in ("transform", "node_moments"):
        plain = getattr(StructuralClassifier, name)
        monkeypatch.setattr(StructuralClassifier, name, lambda own, X, plain=plain, name=name: looks.append(name) or plain(own, X))
    found = fitted.set_params(head="all").predict_proba_by(alone, graphs)
    assert sorted(looks) == ["node_moments", "transform"]
    assert list(found) == list(alone)
    for head in alone:
        np.testing.assert_array_equal(found[head], alone[head])


@pytest.mark.parametrize(("progress", "told"), [(None, True), (False, False)])
def test_who_waits_for_heads_is_told_what_is_going_on(graphs, capsys, monkeypatch, progress, told):
    monkeypatch.setenv("FORCE_COLOR", "1")  # which rich takes for a terminal
    small("all", progress=progress).fit(graphs)
    seen = capsys.readouterr().err
    assert [work in seen for work in ("growing the forest", "fitting the kernel head")] == [told, told]


@pytest.mark.parametrize("head", ["forest", "kernel", "all"])
def test_a_head_that_is_not_there_says_so(graphs, head):
    model = small("linear").fit(graphs).set_params(head=head)
    with pytest.raises(ConfigError, match=f'fit it again with head="{head}"'):
        model.predict(graphs)


def test_heads_do_not_outlive_the_next_fit(graphs):
    model = small("all").fit(graphs).set_params(head="linear").fit(graphs)
    assert not hasattr(model, "kernel_") and not hasattr(model, "forest_")


# On disk --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("head", ["kernel", "all"])
def test_a_loaded_model_predicts_the_same(graphs, tmp_path, head):
    model = small(head).fit(graphs[:30])
    model.save(tmp_path / "model")
    loaded = StructuralClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(graphs), model.predict_proba(graphs))
    assert "kernel ridge regression" in (tmp_path / "model" / "card.md").read_text()


def test_a_missing_file_is_named(folder):
    (folder / FILE).unlink()
    with pytest.raises(ModelFileError, match=FILE):
        StructuralClassifier.load(folder)


@pytest.mark.parametrize(
    ("name", "hostile"),
    [
        ("rows", None),
        ("rows", torch.zeros(30, 7)),
        ("rows", torch.tensor(1.0)),
        ("rows", torch.full((30, 50), torch.nan)),
        ("coefficients", torch.zeros(29, 2, dtype=torch.float64)),
        ("coefficients", torch.zeros(30, 2)),
        ("prior", torch.zeros(3, dtype=torch.float64)),
        ("scale", torch.zeros(50)),
        ("centre", torch.full((50,), torch.inf)),
    ],
)
def test_hostile_heads_are_refused(folder, name, hostile):
    state = {**load_file(folder / FILE), name: hostile}
    assert state["centre"].shape == (50,)
    save_file({key: tensor for key, tensor in state.items() if tensor is not None}, folder / FILE)
    with pytest.raises(ModelFileError, match=name):
        StructuralClassifier.load(folder)
