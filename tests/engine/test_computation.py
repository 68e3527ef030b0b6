"""Estimators by either engine, and graphs in batches."""

from copy import deepcopy
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from engine_truth import SMALL, fused_computation, make_graphs, random_graphs, settled_network, some_draws
from torch.nn import functional as F

from phist import StructuralClassifier, StructuralEmbedder
from phist.engine import batch_pass, threads, torch_threads
from phist.engine.computation import Reference
from phist.engine.fused import Fused
from phist.engine.threads import team_of
from phist.graphs.convert import as_graphset
from phist.graphs.generate import make_planted_partitions
from phist.nn.sampling import Draws, RootSampler, Views, draw_all
from phist.training.inference import average_over_roots, embed_nodes, node_moments

SHAPE = {"orders": (3, 2), "channels": (5, 6), "bins": 5, "roots": 12, "moments": "head"}


@pytest.fixture(scope="module")
def labelled():
    return make_planted_partitions(12, n_nodes=16, seed=0)


def fitted(engine, labelled, seed=3, epochs=4, **options):
    training = {"epochs": epochs, "batch_size": 4}
    model = StructuralClassifier(
        preset="MUTAG", engine=engine, network=SHAPE, training=training, random_state=seed, progress=False, **options
    )
    return model.fit(labelled, labelled.labels)


def test_both_engines_train_to_the_same_predictions(labelled):
    fused, reference = fitted("fused", labelled), fitted("reference", labelled)
    np.testing.assert_allclose(fused.predict_proba(labelled), reference.predict_proba(labelled), atol=1e-3)


def test_both_engines_see_the_same_losses_in_training(labelled):
    losses = [[epoch.loss for epoch in fitted(engine, labelled).histories_[0].epochs] for engine in ("fused", "reference")]
    np.testing.assert_allclose(*losses, rtol=1e-3)


@pytest.mark.parametrize("engine", ["fused", "reference"])
def test_same_seed_gives_the_same_model(labelled, engine):
    first, second = (fitted(engine, labelled, epochs=2).network_.state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("count", [1, 2])
def test_same_seed_and_threads_give_the_same_bits(labelled, count):
    torch.set_num_threads(count)
    first, second = (fitted("fused", labelled, epochs=2) for _ in range(2))
    losses = [[epoch.loss for epoch in model.histories_[0].epochs] for model in (first, second)]
    assert losses[0] == losses[1]
    np.testing.assert_array_equal(first.predict_proba(labelled), second.predict_proba(labelled))


@pytest.mark.parametrize("cores", [1, 2, 3])
def test_threads_without_a_core_change_no_bit(labelled, cores, monkeypatch):
    torch.set_num_threads(4)
    found = []
    for available in (4, cores):
        monkeypatch.setattr(torch_threads, "usable_cores", lambda available=available: available)
        found.append(fitted("fused", labelled, epochs=2))
    weights = [model.network_.state_dict() for model in found]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_no_more_threads_wait_for_each_other_than_there_are_cores(labelled, monkeypatch):
    teams = []
    monkeypatch.setattr(torch_threads, "usable_cores", lambda: 2)
    monkeypatch.setattr(batch_pass, "team_of", lambda count: teams.append(count) or team_of(count))
    torch.set_num_threads(8)
    fitted("fused", labelled, epochs=1)
    assert max(teams) == 4 and 2 in teams  # batches of four graphs: four threads look at the first, two take the steps


def test_a_step_that_is_worth_one_thread_has_one(labelled, monkeypatch):
    teams = set()
    monkeypatch.setattr(threads, "PAIRS_A_THREAD", 1 << 30)
    monkeypatch.setattr(batch_pass, "team_of", lambda count: teams.add(count) or team_of(count))
    torch.set_num_threads(2)
    fitted("fused", labelled, epochs=1).predict(labelled)
    assert teams == {1}


def test_one_thread_and_two_train_to_the_same_predictions(labelled):
    found = []
    for count in (1, 2):
        torch.set_num_threads(count)
        found.append(fitted("fused", labelled, epochs=2).predict_proba(labelled))
    np.testing.assert_allclose(*found, atol=1e-3)


@pytest.mark.parametrize("inference", ["auto", "sampled", "exact"])
def test_predictions_are_those_of_the_reference(labelled, inference):
    model = fitted("fused", labelled, epochs=1, inference=inference)
    found = model.predict_proba(labelled)
    model.engine = "reference"
    np.testing.assert_allclose(found, model.predict_proba(labelled), atol=1e-4)


def test_model_of_one_engine_is_used_by_the_other(labelled):
    model = fitted("fused", labelled, epochs=2)
    expected = model.transform(labelled)
    model.engine = "reference"
    np.testing.assert_allclose(model.transform(labelled), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("is_trained", [True, False])
def test_embedder_gives_the_same_embeddings_by_either_engine(labelled, is_trained):
    graphs = labelled if is_trained else labelled.with_labels(None)
    settings = {"network": SHAPE, "training": {"epochs": 4, "batch_size": 4}, "random_state": 0, "progress": False}
    found = [StructuralEmbedder(engine=engine, **settings).fit(graphs).transform(graphs) for engine in ("fused", "reference")]
    np.testing.assert_allclose(*found, rtol=1e-3, atol=1e-4)


# Nodes once, several draws --------------------------------------------------------------------------------------------


VIEWED = {
    "usual": {},
    "root by root": {"statistics": "per-root"},
    "as they come": {"standardize": False},
    "sums": {"aggregation": "sum"},
    "one layer": {"orders": (3,), "channels": (5,)},
    "in turns": {"max_elements": 200},
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("change", VIEWED)
@pytest.mark.parametrize("count", [1, 3, 40])
def test_mean_over_views_equals_the_reference(change, count, threads):
    config = replace(SMALL, sampler=RootSampler(count=3), **VIEWED[change])
    graphs, network = random_graphs([20, 1, 30, 5, 9], seed=3, weights=0.5, probability=0.15), settled_network(config).eval()
    views = config.sampler.views_by_size(graphs.node_counts(), seed=1, count=count)
    found = fused_computation(network, graphs, threads=threads).mean_embeddings(np.arange(5), views)
    expected = Reference(deepcopy(network), graphs).mean_embeddings(np.arange(5), views)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4 * float(expected.abs().max()))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("change", VIEWED)
def test_both_levels_at_once_are_what_each_is_alone(change, threads):
    config = replace(SMALL, sampler=RootSampler(count=3), **VIEWED[change])
    graphs, network = random_graphs([20, 1, 30, 5, 9], seed=3, weights=0.5, probability=0.15), settled_network(config).eval()
    views = config.sampler.views_by_size(graphs.node_counts(), seed=1, count=4)
    for computation in (fused_computation(network, graphs, threads=threads), Reference(deepcopy(network), graphs)):
        embeddings, nodes = computation.both_levels(np.arange(5), views)
        assert torch.equal(embeddings, computation.mean_embeddings(np.arange(5), views))
        torch.testing.assert_close(nodes, computation.node_embeddings(np.arange(5), views.roots).detach(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", [Fused, Reference])
def test_one_view_of_what_was_drawn_is_a_plain_embedding(graphs, kind):
    computation, draws = kind(settled_network(SMALL).eval(), graphs), some_draws(graphs)
    with torch.no_grad():
        expected = computation.graph_embeddings(np.arange(5), draws)
    torch.testing.assert_close(computation.mean_embeddings(np.arange(5), Views(draws, [draws])), expected)


@pytest.mark.parametrize("kind", [Fused, Reference])
def test_views_are_averaged(graphs, kind):
    computation, (one, other) = kind(settled_network(SMALL).eval(), graphs), (some_draws(graphs, seed=seed) for seed in range(2))
    roots = draw_all(computation.sizes)
    alone = [computation.mean_embeddings(np.arange(5), Views(roots, [draws])) for draws in (one, other)]
    both = computation.mean_embeddings(np.arange(5), Views(roots, [one, other]))
    torch.testing.assert_close(both, torch.stack(alone).mean(0), rtol=1e-4, atol=1e-5)


def test_twins_in_views_are_told_apart_from_nodes_that_were_not_drawn():
    graphs = as_graphset([nx.star_graph(8), nx.lollipop_graph(5, 2)])
    network, roots = settled_network(SMALL).eval(), draw_all(graphs.node_counts())
    draws = Draws(np.array([0, 2, 4]), np.array([3, 8, 0, 6], np.int32), np.array([1, 2, 3, 1], np.float32))
    views = Views(roots, [draws, roots])
    found, expected = (kind(network, graphs).mean_embeddings(np.arange(2), views) for kind in (Fused, Reference))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


# Batches --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graphs():
    return random_graphs([9, 3, 1, 14, 6], seed=8)


@pytest.mark.parametrize("kind", [Fused, Reference])
@pytest.mark.parametrize("inference", ["auto", "sampled", "exact"])
def test_batches_change_nothing(graphs, kind, inference, monkeypatch):
    computation = kind(settled_network(SMALL), graphs)
    whole = average_over_roots(computation, "scores", realizations=2, seed=0, inference=inference)
    monkeypatch.setattr(computation, "batches", lambda roots: iter([np.array([3, 1]), np.array([0]), np.array([4, 2])]))
    in_parts = average_over_roots(computation, "scores", realizations=2, seed=0, inference=inference)
    np.testing.assert_allclose(in_parts, whole, rtol=1e-4, atol=1e-5)


def test_batches_of_the_engine_hold_so_many_roots(graphs, monkeypatch):
    monkeypatch.setattr(Fused, "roots_at_once", 12)
    computation = Fused(settled_network(SMALL), graphs)
    batches = list(computation.batches(computation.sizes))
    assert np.concatenate(batches).tolist() == list(range(5))
    assert len(batches) > 1 and all(computation.sizes[batch].sum() <= 12 + computation.sizes.max() for batch in batches)


@pytest.mark.parametrize("limit", [1, 5, 1 << 24])
def test_batches_of_the_reference_hold_every_graph_once(graphs, limit):
    network = settled_network(replace(SMALL, max_elements=limit * max(SMALL.channels)))
    batches = list(Reference(network, graphs).batches(graphs.node_counts()))
    assert sorted(np.concatenate(batches).tolist()) == list(range(5))
    assert len(batches) == (1 if limit > 5 else 5)


@pytest.mark.parametrize("kind", [Fused, Reference])
def test_loss_of_a_step_is_the_weighted_mean(graphs, kind):
    computation = kind(settled_network(SMALL), graphs)
    computation.network.eval()
    chosen, draws, targets = np.arange(5), draw_all(computation.sizes), np.array([0, 1, 2, 0, 1])
    weights = np.array([1, 0, 3, 0.5, 2], np.float32)
    with torch.no_grad():
        losses = F.cross_entropy(computation.scores(chosen, draws), torch.from_numpy(targets), reduction="none").numpy()
    loss, _ = computation.loss_backward(chosen, draws, targets, weights)
    assert loss == pytest.approx(np.average(losses, weights=weights), rel=1e-5)


def test_node_embeddings_are_those_of_the_reference(graphs):
    network = settled_network(SMALL)
    for found, expected in zip(embed_nodes(Fused(network, graphs)), embed_nodes(Reference(network, graphs)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("inference", ["auto", "sampled", "exact"])
def test_moments_of_nodes_are_those_of_the_reference(graphs, inference):
    network = settled_network(replace(SMALL, sampler=RootSampler(count=3)))
    how = {"realizations": 2, "seed": 0, "inference": inference}
    found, expected = (node_moments(kind(network, graphs), **how) for kind in (Fused, Reference))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", [Fused, Reference])
def test_moments_are_over_all_nodes_or_over_those_that_are_drawn(graphs, kind):
    sampler = RootSampler(count=4)
    computation = kind(settled_network(replace(SMALL, sampler=sampler)), graphs)
    everything = [np.r_[rows.mean(0), rows.std(0)] for rows in embed_nodes(computation)]
    found = node_moments(computation, realizations=2, seed=5)
    few = computation.sizes <= 8
    np.testing.assert_allclose(found[few], np.stack(everything)[few], rtol=1e-4, atol=1e-5)

    large = np.flatnonzero(~few)
    drawn = sampler.views_by_size(computation.sizes[large], 5, 2).roots
    rows = np.split(computation.node_embeddings(large, drawn).detach().numpy(), drawn.ptr[1:-1])
    assert all(len(nodes) < size for nodes, size in zip(rows, computation.sizes[large], strict=True))
    np.testing.assert_allclose(found[large], [np.r_[nodes.mean(0), nodes.std(0)] for nodes in rows], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        node_moments(computation, realizations=2, seed=5, inference="exact"), everything, rtol=1e-4, atol=1e-5
    )


def test_node_embeddings_in_training_are_standardised_by_what_was_learnt_before(graphs):
    computation = Fused(settled_network(SMALL), graphs)
    chosen, draws = np.arange(5), draw_all(computation.sizes)
    computation.network.eval()
    expected = computation.node_embeddings(chosen, draws)
    computation.network.train()
    assert torch.equal(computation.node_embeddings(chosen, draws), expected)


def test_twins_have_the_same_bits(graphs):
    star = make_graphs([6], [(0, leaf) for leaf in range(1, 6)])
    (nodes,) = embed_nodes(Fused(settled_network(SMALL), star))
    assert (nodes[1:] == nodes[1]).all() and (nodes[0] != nodes[1]).any()


def test_threads_of_torch_come_back_after_the_work(graphs):
    computation, before = Fused(settled_network(SMALL), graphs), torch.get_num_threads()
    with pytest.raises(ZeroDivisionError), computation.at_work():
        assert torch.get_num_threads() == 1
        raise ZeroDivisionError
    assert torch.get_num_threads() == before
