"""Graph neural networks: layers and pooling against PyTorch Geometric's own, and the methods built on them."""

from copy import deepcopy

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

pyg = pytest.importorskip("torch_geometric.nn", reason="the networks are compared with its layers; pip install phist[gnn]")
from pyg_networks import StraightforwardNetwork  # noqa: E402

from phist.baselines.coarsening import coarsen  # noqa: E402  # only once it is known to be there
from phist.baselines.gnn_batches import GnnGraphs  # noqa: E402
from phist.baselines.gnn_layers import Sage  # noqa: E402
from phist.baselines.gnn_models import ARCHITECTURES, GnnNetwork  # noqa: E402

every_network = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
without_coarsening = pytest.mark.parametrize("name", [name for name, own in ARCHITECTURES.items() if not own.coarsening])
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


def symmetric_graphs():
    """Random graphs beside a star, a ring, a complete graph and a node alone: of these, few nodes differ."""
    star, ring = pack([9], np.zeros(8, int), np.arange(1, 9)), pack([6], np.arange(6), (np.arange(6) + 1) % 6)
    complete, alone = pack([50], *np.triu_indices(50, 1)), pack([1], np.empty(0, int), np.empty(0, int))
    return GraphSet.concatenate([random_graphs(seed=4), star, ring, complete, alone])


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


def both_forms(name, graphs, layers=3):
    """A network as the study has it and in its straightforward form, with equal weights, each as a function of nothing."""
    architecture = ARCHITECTURES[name]
    prepared = GnnGraphs(graphs, architecture.aggregation)
    torch.manual_seed(0)
    ours = GnnNetwork(architecture, prepared.n_degrees, hidden=8, layers=layers, n_classes=3)
    theirs = deepcopy(StraightforwardNetwork(ours))
    batch, edges = prepared.batch(np.arange(len(graphs))), edge_list(graphs)
    return (ours, lambda: ours(batch)), (theirs, lambda: theirs(graphs, edges))


@without_coarsening
def test_a_network_scores_as_its_straightforward_form(name):
    (ours, our_scores), (theirs, their_scores) = both_forms(name, symmetric_graphs())
    ours.eval(), theirs.eval()
    torch.testing.assert_close(our_scores(), their_scores())


@without_coarsening
def test_training_moves_a_network_as_its_straightforward_form(name):
    graphs, results = symmetric_graphs(), []
    for network, scores in both_forms(name, graphs):
        network.head[2].p = 0.0  # dropout draws other numbers for either
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(scores(), torch.arange(len(graphs)) % 3).backward()
            optimizer.step()
        results.append((scores(), network.eval() and scores()))
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-4)


def test_nodes_of_one_color_are_one_row():
    batch = GnnGraphs(symmetric_graphs()).batch(np.arange(5, 9))  # star, ring, complete graph, node alone
    assert batch.levels[0].sizes.flatten().tolist() == [1, 8, 6, 50, 1]
    assert batch.degrees.tolist() == [8, 1, 2, 40, 0]


def test_the_layer_of_the_halved_network_equals_that_on_edge_lists():
    graphs = random_graphs(seed=0)
    finest, _ = GnnGraphs(graphs, coarsenings=1).batch(np.arange(len(graphs))).levels
    ours, theirs = Sage(4, 3), pyg.GraphConv(4, 3, aggr="mean")
    theirs.lin_rel.load_state_dict(ours.lin_l.state_dict())
    theirs.lin_root.load_state_dict(ours.lin_r.state_dict())
    x = torch.randn(graphs.n_nodes, 4, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(ours(x, finest), theirs(x, edge_list(graphs)).relu())


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
    expected, graph_of_node = pyg.max_pool_x(cluster, x, batch.levels[0].graph_of_row)
    torch.testing.assert_close(coarse.merge(x), expected)
    assert torch.equal(coarse.graph_of_row, graph_of_node)


def test_graphs_are_halved_where_the_benchmark_halves_them():
    graclus = ARCHITECTURES["graclus"]
    assert [graclus.coarsenings(layers) for layers in range(1, 8)] == [0, 0, 1, 1, 2, 2, 3]
    assert [layer for layer in range(5) if graclus.halves_after(layer, 5)] == [1, 3]


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_graph_scores_the_same_alone_and_in_company(name):
    architecture = ARCHITECTURES[name]
    graphs = GnnGraphs(random_graphs(seed=2, n_graphs=8), architecture.aggregation, coarsenings=architecture.coarsenings(5))
    network = GnnNetwork(architecture, graphs.n_degrees, hidden=6, layers=5, n_classes=3).eval()
    together = network(graphs.batch(np.arange(8)))
    alone = torch.cat([network(graphs.batch(np.array([graph]))) for graph in range(8)])
    torch.testing.assert_close(together, alone)


def test_degrees_above_forty_look_alike():
    stars = [pack(np.array([size + 1]), np.zeros(size, int), np.arange(1, size + 1)) for size in (41, 60)]
    graphs = GnnGraphs(GraphSet.concatenate(stars))
    assert graphs.n_degrees == 41
    assert graphs.batch(np.array([0, 1])).degrees.tolist() == [40, 1, 40, 1]


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
