"""Which engine computes: the fused one wherever it can, and otherwise a reason."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from engine_truth import SMALL, make_graphs, random_graphs

from phist import StructuralClassifier
from phist.engine.choice import choose_engine, compute, uncovered
from phist.engine.computation import Reference
from phist.engine.fused import Fused
from phist.errors import ConfigError, EngineNotice
from phist.graphs.generate import make_planted_partitions
from phist.nn.kernels import KERNELS, Triangle, register_kernel
from phist.nn.network import make_network
from phist.nn.sampling import draw_all

UNCOVERED = {
    "convolution='cayley'": {"convolution": "cayley"},
    "convolution='arma'": {"convolution": "arma"},
    "convolution='gin'": {"convolution": "gin"},
    "convolution='sage'": {"convolution": "sage"},
    "learnable bins": {"learnable_bins": True},
}


def network_of(**options):
    return make_network(replace(SMALL, **options), 2, seed=0)


@pytest.fixture(scope="module")
def graphs():
    return random_graphs([5, 4])


def directed():
    return make_graphs([4], [(0, 1), (1, 2), (1, 0)], directed="keep")


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("statistics", ["joint", "per-root"])
@pytest.mark.parametrize("aggregation", ["histogram", "sum", "mean", "max"])
def test_covered_networks_are_fused_in_silence(graphs, kernel, statistics, aggregation):
    network = network_of(kernel=kernel, statistics=statistics, aggregation=aggregation)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose_engine("auto", network, graphs) == choose_engine("fused", network, graphs) == "fused"


@pytest.mark.parametrize("reason", UNCOVERED)
def test_auto_falls_back_with_one_notice_that_names_the_reason(graphs, reason):
    with pytest.warns(EngineNotice) as notices:
        assert choose_engine("auto", network_of(**UNCOVERED[reason]), graphs) == "reference"
    assert len(notices) == 1
    assert reason in str(notices[0].message)


@pytest.mark.parametrize("reason", UNCOVERED)
def test_fused_refuses_and_names_the_reason(graphs, reason):
    with pytest.raises(ConfigError) as error:
        choose_engine("fused", network_of(**UNCOVERED[reason]), graphs)
    assert reason in str(error.value) and "choose engine" in str(error.value)


@pytest.mark.parametrize("reason", UNCOVERED)
def test_configuration_alone_tells_the_reason(reason):
    assert uncovered(replace(SMALL, **UNCOVERED[reason])) == reason
    assert uncovered(SMALL) is None


def test_a_network_used_again_is_not_told_of_again(graphs):
    network = network_of(learnable_bins=True)
    with pytest.warns(EngineNotice) as notices:
        for _ in range(3):
            assert choose_engine("auto", network, graphs) == "reference"
    assert len(notices) == 1


def test_another_network_is_told_of_in_its_turn(graphs):
    first, second = network_of(learnable_bins=True), network_of(learnable_bins=True)
    with pytest.warns(EngineNotice) as notices:
        for network in (first, first, second):
            choose_engine("auto", network, graphs)
    assert len(notices) == 2


def test_another_reason_is_told_of_too(graphs):
    network = network_of()
    with pytest.warns(EngineNotice) as notices:
        choose_engine("auto", network.double(), graphs)
        choose_engine("auto", network.to("meta"), graphs)
    assert ["float64" in str(notice.message) for notice in notices] == [True, False]


@pytest.mark.parametrize("options", [{"learnable_bins": True}, {"convolution": "gin"}])
def test_model_that_is_trained_and_used_says_once_that_it_falls_back(options):
    labelled = make_planted_partitions(8, n_nodes=12, seed=0)
    network = {"orders": (2, 2), "channels": (3, 3), "bins": 3, "roots": 4, **options}
    training = {"epochs": 2, "batch_size": 4}
    model = StructuralClassifier(preset="MUTAG", random_state=0, progress=False, network=network, training=training)
    with warnings.catch_warnings(record=True) as notices:
        warnings.simplefilter("always")
        model.fit(labelled, labelled.labels)
        model.predict(labelled)
        model.transform(labelled)
    assert [notice.category for notice in notices] == [EngineNotice]


class Parabola(Triangle):
    """A kernel that the engine has never heard of."""

    name = "parabola"

    def value(self, z):
        return (1 - z.square()).clamp(min=0)

    def derivative(self, z):
        return torch.where(z.abs() < 1, -2 * z, torch.zeros_like(z))


@pytest.fixture
def parabola():
    register_kernel(Parabola())
    yield "parabola"
    del KERNELS["parabola"]


def test_a_network_with_a_kernel_of_ones_own_trains_by_the_reference(parabola):
    labelled = make_planted_partitions(8, n_nodes=12, seed=0)
    network = {"orders": (2, 2), "channels": (3, 3), "bins": 3, "roots": 4, "kernel": parabola}
    model = StructuralClassifier(
        preset="MUTAG", engine="auto", random_state=0, progress=False, network=network, training={"epochs": 3, "batch_size": 4}
    )
    with pytest.warns(EngineNotice, match="kernel='parabola'"):
        model.fit(labelled, labelled.labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EngineNotice)
        assert np.isfinite(model.predict_proba(labelled)).all()


def test_a_kernel_of_ones_own_is_refused_by_the_fused_engine(graphs, parabola):
    with pytest.raises(ConfigError, match="does not cover kernel='parabola'"):
        choose_engine("fused", network_of(kernel=parabola), graphs)


def test_plain_sums_are_fused_whatever_the_kernel(graphs, parabola):
    assert choose_engine("auto", network_of(kernel=parabola, aggregation="sum"), graphs) == "fused"


def test_what_falls_back_is_computed_by_the_reference(graphs):
    network, chosen = network_of(learnable_bins=True).eval(), np.arange(2)
    with pytest.warns(EngineNotice):
        found = compute(network, graphs).scores(chosen, draw_all(graphs.node_counts()))
    assert found.equal(Reference(network, graphs).scores(chosen, draw_all(graphs.node_counts())))


def test_tensors_elsewhere_fall_back(graphs):
    with pytest.warns(EngineNotice, match="tensors on meta"):  # any device but the processor; this one needs no hardware
        assert choose_engine("auto", network_of().to("meta"), graphs) == "reference"


def test_tensors_elsewhere_are_refused_by_the_fused_engine(graphs):
    with pytest.raises(ConfigError, match="tensors on meta"):
        choose_engine("fused", network_of().to("meta"), graphs)


def test_double_precision_falls_back(graphs):
    with pytest.warns(EngineNotice, match="float64"):
        assert choose_engine("auto", network_of().double(), graphs) == "reference"


def test_directed_graphs_are_fused_by_their_random_walk():
    assert choose_engine("auto", network_of(operator="random-walk"), directed()) == "fused"


@pytest.mark.parametrize("engine", ["auto", "fused"])
def test_directed_graphs_have_no_laplacian(engine):
    with pytest.raises(ConfigError, match=r'the Laplacian needs undirected graphs.*operator="random-walk"'):
        compute(network_of(), directed(), engine)


def test_reference_is_taken_in_silence_whatever_the_network(graphs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose_engine("reference", network_of(convolution="gin"), graphs) == "reference"


def test_unknown_engine_is_named(graphs):
    with pytest.raises(ConfigError, match="engine='warp' is not known; choose one of 'auto', 'fused', 'reference'"):
        choose_engine("warp", network_of(), graphs)


@pytest.mark.parametrize(("engine", "kind"), [("auto", Fused), ("fused", Fused), ("reference", Reference)])
def test_computation_is_of_the_engine_chosen(graphs, engine, kind):
    computation = compute(network_of(), graphs, engine)
    assert type(computation) is kind and computation.engine == kind.engine
