"""Sets of graphs that are hard to fit: each gives a model, or an error that says why not."""

import networkx as nx
import numpy as np
import pytest
from small_models import quick_classifier, quick_embedder, quick_network

from phist import StructuralClassifier, as_graphset
from phist.errors import ConfigError, GraphInputError, PhistError
from phist.graphs.generate import make_planted_partitions, make_trees

GRAPHS = make_planted_partitions(20, n_nodes=10, seed=0)
EDGELESS = as_graphset([(size, []) for size in range(1, 11)])
HARD = {
    "two graphs": (GRAPHS[:2], ["a", "b"]),
    "three graphs": (GRAPHS[:3], ["a", "b", "a"]),
    "three graphs, three classes": (GRAPHS[:3], ["a", "b", "c"]),
    "a class of one graph": (GRAPHS, ["a"] * 19 + ["b"]),
    "two classes of one graph": (GRAPHS, ["a"] * 18 + ["b", "c"]),
    "one node": (as_graphset([(1, [])] * 10), [0, 1] * 5),
    "no edges": (EDGELESS, [0, 1] * 5),
    "all identical": (as_graphset([(4, [(0, 1), (1, 2), (2, 3)])] * 12), [0, 1] * 6),
    "twenty classes": (make_trees(40, n_nodes=8, seed=0), [number % 20 for number in range(40)]),
    "as many classes as graphs": (make_trees(20, n_nodes=8, seed=0), list(range(20))),
    "loops": (as_graphset([nx.path_graph(4), nx.Graph([(0, 0), (0, 1)])] * 5, self_loops="keep"), [0, 1] * 5),
}


def check_use(model, graphs, folder):
    """Everything that a fitted model can be asked, and the same after loading."""
    found = model.predict_proba(graphs)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(1), 1)
    assert set(model.predict(graphs)) <= set(model.classes_)
    if hasattr(model, "report_"):
        assert model.report_.verdict in str(model.report_)
        assert len(model.predict_set(graphs)) == len(graphs)
        assert len(model.similar(graphs, 2)) == len(graphs)
    model.save(folder)
    np.testing.assert_array_equal(StructuralClassifier.load(folder).predict_proba(graphs), found)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(("graphs", "labels"), HARD.values(), ids=HARD)
def test_hard_sets_give_a_model(graphs, labels, tmp_path, capfd):
    check_use(quick_classifier(heads=("linear", "forest", "kernel")).fit(graphs, labels), graphs, tmp_path / "model")
    assert "WARNING" not in capfd.readouterr().out  # of compiled code of others


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("name", ["two graphs", "a class of one graph", "one node", "as many classes as graphs"])
def test_hard_sets_give_a_model_of_a_preset(name, tmp_path):
    graphs, labels = HARD[name]
    check_use(quick_network(heads=("linear", "kernel")).fit(graphs, labels), graphs, tmp_path / "model")


@pytest.mark.parametrize("name", ["two graphs", "a class of one graph", "twenty classes"])
def test_hard_sets_give_a_model_when_every_part_is_left_out(name, tmp_path):
    graphs, labels = HARD[name]
    check_use(quick_classifier(effort="medium", heads="kernel").fit(graphs, labels), graphs, tmp_path / "model")


# Weights ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("positive", [np.arange(0, 20, 2), np.arange(3, 20, 3), np.array([0, 1])])
def test_weights_of_zero_give_a_model(positive, tmp_path, capfd):
    weights = np.zeros(20)
    weights[positive] = 1
    try:
        model = quick_classifier(heads=("linear", "forest", "kernel")).fit(GRAPHS, sample_weight=weights)
    except GraphInputError as error:
        assert "positive weight" in str(error)
    else:
        check_use(model, GRAPHS, tmp_path / "model")
    assert "WARNING" not in capfd.readouterr().out


def test_one_graph_with_a_weight_is_refused():
    weights = np.zeros(20)
    weights[3] = 1
    with pytest.raises(GraphInputError, match="give more graphs a positive weight"):
        quick_classifier(effort="medium").fit(GRAPHS, sample_weight=weights)


@pytest.mark.parametrize("class_weight", ["balanced", {"planted": 0.0}, {"rewired": 100}])
def test_class_weights_give_a_model(class_weight, tmp_path, capfd):
    check_use(quick_classifier(class_weight=class_weight, heads="kernel").fit(GRAPHS), GRAPHS, tmp_path / "model")
    assert "WARNING" not in capfd.readouterr().out


# Directions and edge weights ----------------------------------------------------------------------------------------------


def test_directed_and_weighted_graphs_give_a_model(tmp_path):
    generator = np.random.default_rng(0)
    networks = [nx.gnp_random_graph(8, 0.4, seed=seed, directed=True) for seed in range(12)]
    for network in networks:
        nx.set_edge_attributes(network, {edge: float(generator.uniform(0.5, 3)) for edge in network.edges}, "weight")
    graphs = as_graphset(networks, [0, 1] * 6, directed="keep")
    model = quick_classifier().fit(graphs)
    assert model.network_.config.operator == "random-walk" and model.reading_.weighted
    check_use(model, graphs, tmp_path / "model")


def test_colours_and_profiles_see_no_direction_and_no_weight():
    networks = [nx.gnp_random_graph(8, 0.4, seed=seed, directed=True) for seed in range(12)]
    directed = as_graphset(networks, [0, 1] * 6, directed="keep")
    plain = as_graphset(networks, [0, 1] * 6, directed="symmetrise")
    found = [quick_classifier(members=("colours", "profiles")).fit(graphs).predict_proba(graphs) for graphs in (directed, plain)]
    np.testing.assert_array_equal(*found)


# Time -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("effort", ["low", "medium"])
@pytest.mark.parametrize("members", ["auto", "network"])
def test_hardly_any_time_gives_a_model_with_a_note(effort, members, tmp_path):
    model = quick_classifier(effort=effort, members=members, time_budget=0.01, training=None, heads="linear").fit(GRAPHS)
    assert any("time budget" in note for note in model.report_.notes)
    assert all(len(history.epochs) == 1 for history in model.histories_)
    assert model._members()[0].bag.looks[0].epochs == 1
    check_use(model, GRAPHS, tmp_path / "model")


def test_hardly_any_time_gives_a_model_of_a_preset():
    model = quick_network(time_budget=0.01, training=None).fit(GRAPHS)
    assert model.histories_[0].ending == "time budget"


# Parameters -------------------------------------------------------------------------------------------------------------

WRONG: list[dict[str, object]] = [
    {"effort": "max"},
    {"effort": ["low"]},
    {"members": ()},
    {"members": "all of them"},
    {"members": 5},
    {"members": ("network", 3)},
    {"heads": ()},
    {"heads": None},
    {"heads": "steam"},
    {"heads": {"linear": 1}},
    {"time_budget": 0},
    {"time_budget": -1},
    {"time_budget": float("nan")},
    {"time_budget": float("inf")},
    {"time_budget": True},
    {"time_budget": "long"},
    {"random_state": -1},
    {"random_state": "abc"},
    {"random_state": 1.5},
    {"random_state": 2**40},
    {"preset": 5},
    {"preset": "ours"},
    {"engine": "warp"},
    {"engine": []},
    {"inference": "guess"},
    {"checkpoint": 5},
    {"class_weight": np.array([1.0, 2.0])},
    {"network": []},
    {"network": {"colour": 3}},
    {"training": 5},
    {"training": {"colour": 3}},
]
WRONG_FIELDS = [
    ({"network": {"bins": 0}}, "bins"),
    ({"network": {"bins": True}}, "bins"),
    ({"network": {"roots": 0}}, "roots"),
    ({"network": {"roots": "x"}}, "roots"),
    ({"network": {"roots": np.array([1, 2])}}, "roots"),
    ({"network": {"kernel": "box"}}, "kernel"),
    ({"network": {"sampler": {"a": 1}}}, "sampler"),
    ({"network": {"sampler": 5}}, "sampler"),
    ({"training": {"epochs": 0}}, "epochs"),
    ({"training": {"seed": -1}}, "seed"),
    ({"training": {"selection": "validation-loss"}}, "selection"),
    ({"training": {"patience": 3}}, "selection"),
    ({"training": {"time_budget": 3}}, "time_budget"),
]


@pytest.mark.parametrize(("wrong", "name"), [*((own, next(iter(own))) for own in WRONG), *WRONG_FIELDS], ids=str)
def test_wrong_parameters_are_named_at_fit(wrong, name):
    with pytest.raises(ConfigError, match=name) as raised:
        quick_classifier(**wrong).fit(GRAPHS)
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize("wrong", [own for own in WRONG if "random_state" not in own], ids=str)
def test_wrong_parameters_are_found_without_a_fit(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        quick_classifier(**wrong).check_parameters()


@pytest.mark.parametrize("wrong", [{"class_weight": np.array([1, 2])}, {"network": {"bins": 0}}, {"preset": "ours"}], ids=str)
def test_wrong_parameters_of_an_embedder_are_found_without_a_fit(wrong):
    with pytest.raises(ConfigError):
        quick_embedder(**wrong).check_parameters()


def test_names_given_twice_count_once():
    model = quick_classifier(preset="MUTAG", heads=["linear", "linear"]).fit(GRAPHS)
    assert model.ensemble_.weights == {"network/linear": 1.0}


@pytest.mark.parametrize("graphs", [[], GRAPHS[:1]])
def test_too_few_graphs_are_an_error(graphs):
    with pytest.raises(PhistError):
        quick_classifier().fit(graphs, ["a"] * len(graphs))


def test_a_diverging_network_is_an_error():
    with pytest.raises(PhistError, match="diverged"):
        quick_classifier(members="network", training={"epochs": 3, "learning_rate": 1e30, "gradient_clip": None}).fit(GRAPHS)
