"""Graph neural networks: layers and pooling against PyTorch Geometric's own, and the methods built on them."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from phist.baselines.gnns import METHODS, GnnOptions, Graclus, SageNoJK
from phist.errors import ConfigError, GraphInputError
from phist.graphs.generate import make_trees
from phist.graphs.graphset import GraphSet
from phist.graphs.packing import pack
from phist.graphs.symmetry import targets_of

pyg = pytest.importorskip("torch_geometric.nn", reason="the networks are built of its layers; pip install phist[gnn]")
from phist.baselines.coarsening import coarsen  # noqa: E402  # only once it is known to be there
from phist.baselines.gnn_batches import GnnGraphs  # noqa: E402
from phist.baselines.gnn_models import ARCHITECTURES, GnnNetwork, _convolution  # noqa: E402

every_network = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
QUICK = {"layers": 3, "hidden": 8, "epochs": 12, "patience": 12}


def random_graphs(seed, n_graphs=5):
    """Graphs of 1 to 12 nodes, from edgeless to dense."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 13, n_graphs)
    first, arcs = 0, [np.empty((0, 2), np.int64)]
    for size in sizes:
        arcs.append(np.argwhere(np.triu(rng.random((size, size)) < rng.random(), 1)) + first)
        first += size
    return pack(sizes, *np.concatenate(arcs).T)


def edge_list(graphs):
    source = np.repeat(np.arange(graphs.n_nodes), graphs.degrees())
    return torch.from_numpy(np.stack([source, targets_of(graphs)]))


def easy_set(n_graphs=60):
    """Stars and paths of like sizes in turn, which degrees tell apart."""
    sizes = 5 + np.arange(n_graphs) // 2 % 6
    firsts = np.cumsum(sizes) - sizes
    target = [first + np.arange(1, size) for first, size in zip(firsts, sizes, strict=True)]
    source = [np.full(len(nodes), nodes[0] - 1) if graph % 2 else nodes - 1 for graph, nodes in enumerate(target)]
    return pack(sizes, np.concatenate(source), np.concatenate(target))


@pytest.mark.parametrize(
    ("kind", "theirs"),
    [
        ("gcn", lambda: pyg.GCNConv(4, 3)),
        ("sage", lambda: pyg.SAGEConv(4, 3)),
        ("graph", lambda: pyg.GraphConv(4, 3, aggr="mean")),
    ],
)
def test_layers_equal_those_on_edge_lists_in_value_and_gradient(kind, theirs):
    graphs = random_graphs(seed=0)
    (level,) = GnnGraphs(graphs, normalized=kind == "gcn").batch(np.arange(len(graphs))).levels
    ours, theirs = _convolution(kind, 4, 3), theirs()
    theirs.load_state_dict(ours.layer.state_dict())
    results, gradients = [], []
    for apply in (lambda x: ours(x, level), lambda x: theirs(x, edge_list(graphs)).relu()):
        x = torch.randn(graphs.n_nodes, 4, generator=torch.Generator().manual_seed(0)).requires_grad_()
        results.append(apply(x))
        results[-1].square().sum().backward()
        gradients.append(x.grad)
    torch.testing.assert_close(*results)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("kind", ["gin-0", "gin-eps"])
def test_isomorphism_layers_equal_that_on_edge_lists(kind):
    graphs = random_graphs(seed=1)
    (level,) = GnnGraphs(graphs).batch(np.arange(len(graphs))).levels
    ours = _convolution(kind, 4, 3)
    theirs = pyg.GINConv(ours.layer.nn, train_eps=kind == "gin-eps")
    x = torch.randn(graphs.n_nodes, 4, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(ours(x, level), theirs(x, edge_list(graphs)))
    assert ours.layer.eps.requires_grad == (kind == "gin-eps")


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_coarsening_merges_neighbours_only_and_as_many_as_it_can(seed):
    graphs = random_graphs(seed)
    coarsening = coarsen(graphs, np.random.default_rng(seed))
    sizes = coarsening.graphs.node_counts()
    first, second = coarsening.pairs + np.repeat(graphs.node_ptr[:-1], sizes)
    assert sorted({*first, *second}) == list(range(graphs.n_nodes))
    arcs = set(map(tuple, edge_list(graphs).T.tolist()))
    alone = first[first == second]
    assert all((u, v) in arcs for u, v in zip(first, second, strict=True) if u != v)
    assert not any((u, v) in arcs for u in alone for v in alone)


def test_coarser_levels_equal_max_pooling():
    graphs = random_graphs(seed=3)
    batch = GnnGraphs(graphs, coarsenings=1, seed=5).batch(np.arange(len(graphs)))
    coarse = batch.levels[1]
    cluster = torch.empty(graphs.n_nodes, dtype=torch.long)
    cluster[coarse.pairs] = torch.arange(coarse.pairs.shape[1])
    x = torch.randn(graphs.n_nodes, 3, generator=torch.Generator().manual_seed(0))
    expected, graph_of_node = pyg.max_pool_x(cluster, x, batch.levels[0].graph_of_node)
    torch.testing.assert_close(coarse.merge(x), expected)
    assert torch.equal(coarse.graph_of_node, graph_of_node)


def test_graphs_are_halved_where_the_benchmark_halves_them():
    graclus = ARCHITECTURES["graclus"]
    assert [graclus.coarsenings(layers) for layers in range(1, 8)] == [0, 0, 1, 1, 2, 2, 3]
    assert [layer for layer in range(5) if graclus.halves_after(layer, 5)] == [1, 3]


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_graph_scores_the_same_alone_and_in_company(name):
    architecture = ARCHITECTURES[name]
    graphs = GnnGraphs(
        random_graphs(seed=2, n_graphs=8), normalized=architecture.normalized, coarsenings=architecture.coarsenings(5)
    )
    network = GnnNetwork(architecture, graphs.n_features, hidden=6, layers=5, n_classes=3).eval()
    together = network(graphs.batch(np.arange(8)))
    alone = torch.cat([network(graphs.batch(np.array([graph]))) for graph in range(8)])
    torch.testing.assert_close(together, alone)


def test_degrees_above_forty_look_alike():
    stars = [pack(np.array([size + 1]), np.zeros(size, int), np.arange(1, size + 1)) for size in (41, 60)]
    graphs = GnnGraphs(GraphSet.concatenate(stars))
    hubs = graphs.batch(np.array([0, 1])).features[[0, 42]]
    assert graphs.n_features == 41
    assert hubs.argmax(1).tolist() == [40, 40]


@every_network
def test_networks_learn_an_easy_set(method, make_fold):
    truth = np.arange(60) % 2
    fitted = method(layers=3, hidden=16, epochs=40).fit(make_fold(easy_set(), truth))
    assert (fitted.predict(np.arange(48, 60)).argmax(1) == truth[48:]).mean() > 0.9


@every_network
def test_probabilities_add_up_and_do_not_change_with_the_same_seed(method, make_fold):
    task = make_fold(make_trees(20, seed=0))
    first, second = (method(**QUICK).fit(task).predict(np.arange(20)) for _ in range(2))
    assert first.shape == (20, 2)
    np.testing.assert_allclose(first.sum(1), 1.0)
    np.testing.assert_array_equal(first, second)


def test_another_seed_gives_another_network(make_fold):
    first, second = (SageNoJK(**QUICK).fit(make_fold(make_trees(20, seed=0), seed=seed)).predict(np.arange(20)) for seed in (0, 1))
    assert not np.allclose(first, second)


def test_fitting_leaves_the_global_generator_alone(make_fold):
    before = torch.get_rng_state()
    SageNoJK(**QUICK).fit(make_fold(make_trees(20, seed=0)))
    assert torch.equal(torch.get_rng_state(), before)


@every_network
@pytest.mark.parametrize("layers", [1, 5])
def test_awkward_graphs_are_fine(method, layers, make_fold, make_odd_graphs):
    task = make_fold(make_odd_graphs(), np.arange(20) % 2)
    fitted = method(**QUICK | {"layers": layers}).fit(task)
    np.testing.assert_allclose(fitted.predict(np.arange(20)).sum(1), 1.0)


@every_network
def test_graphs_without_any_edge_are_fine(method, make_fold):
    nothing = np.empty(0, np.int64)
    fitted = method(**QUICK).fit(make_fold(pack(np.arange(1, 21), nothing, nothing), np.arange(20) % 2))
    np.testing.assert_allclose(fitted.predict(np.array([0, 19])).sum(1), 1.0)


def test_the_lowest_validation_loss_picks_epoch_and_network(make_fold):
    account = SageNoJK(layers=[1, 2], hidden=[4, 8], epochs=15, patience=3).fit(make_fold(make_trees(40, seed=0))).account
    best = min(account.tried, key=lambda trial: trial["validation_loss"])
    losses = [row["validation_loss"] for row in account.history]
    assert len(account.tried) == 4
    assert account.chosen == {name: best[name] for name in ("layers", "hidden", "epoch")}
    assert account.chosen["epoch"] == int(np.argmin(losses))
    assert len(losses) == best["epochs"] <= account.chosen["epoch"] + 1 + 3
    assert account.validation_accuracy == account.history[account.chosen["epoch"]]["validation_accuracy"]
    assert 0 <= account.training_accuracy <= 1


def test_predictions_are_those_of_the_chosen_epoch(make_fold):
    task = make_fold(make_trees(40, seed=0))
    fitted = SageNoJK(**QUICK).fit(task)
    accuracy = (fitted.predict(task.validation).argmax(1) == task.labels[task.validation]).mean()
    assert accuracy == fitted.account.validation_accuracy


def test_the_account_says_what_was_reduced(make_fold):
    notes = " ".join(Graclus(**QUICK).fit(make_fold(make_trees(20, seed=0))).account.notes)
    assert "early stopping after 12 epochs" in notes
    assert "not the paper's whole grid" in notes
    assert "coarsened once" in notes


def test_a_hidden_label_is_refused(make_fold):
    task = make_fold(make_trees(20, seed=0))
    task.labels[task.training[0]] = -1
    with pytest.raises(LookupError, match="hidden"):
        SageNoJK(**QUICK).fit(task)


def test_a_fold_without_validation_graphs_is_refused(make_fold):
    with pytest.raises(GraphInputError, match="0 validation graphs"):
        SageNoJK(**QUICK).fit(make_fold(make_trees(4, seed=0)))


@pytest.mark.parametrize("options", [{"layers": 0}, {"hidden": []}, {"epochs": 1.5}, {"learning_rate": 0}, {"depth": 3}])
def test_options_out_of_range_are_refused(options, make_fold):
    with pytest.raises(ConfigError):
        SageNoJK(**options).fit(make_fold(make_trees(10, seed=0)))


def test_the_whole_grid_of_the_paper_is_the_default():
    assert (GnnOptions().layers, GnnOptions().hidden, GnnOptions().epochs) == ((2, 3, 4, 5), (16, 32, 64, 128), 400)
    assert [method.name for method in METHODS] == list(ARCHITECTURES)
