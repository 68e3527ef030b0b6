import pytest

from phist.errors import ConfigError
from phist.graphs.generate import make_trees
from phist.graphs.packing import Reading, pack
from phist.training.presets import make_preset


def test_dataset_preset_takes_the_appendix_sizes():
    preset = make_preset("IMDB-M")
    assert (preset.network.orders, preset.network.channels, preset.network.bins) == ((6, 6), (24, 32), 10)
    assert preset.training.batch_size == 20


def test_dd_draws_fifty_roots():
    assert make_preset("DD").network.sampler.count == 50


def test_paper_preset_is_the_network_as_printed():
    preset = make_preset("paper:ENZYMES")
    assert not preset.network.standardize
    assert (preset.network.node_histogram, preset.network.graph_histogram) == ("count", "count")
    assert (preset.training.epochs, preset.training.learning_rate, preset.training.schedule) == (600, 3e-4, "constant")
    assert preset.training.selection == "validation-loss"


def test_auto_trains_small_sets_in_small_batches_and_large_sets_for_fewer_epochs():
    small, large = (make_preset("auto", make_trees(n_graphs, n_nodes=4, seed=0)).training for n_graphs in (50, 3000))
    assert small.batch_size < large.batch_size
    assert small.epochs > large.epochs


def test_auto_takes_the_random_walk_for_directed_graphs():
    import numpy as np

    graphs = pack(np.array([2]), np.array([0]), np.array([1]), reading=Reading(directed="keep"))
    assert make_preset("auto", graphs).network.operator == "random-walk"


def test_a_dataset_of_the_catalogue_that_the_appendix_lacks_takes_auto():
    graphs = make_trees(50, n_nodes=4, seed=0)
    assert make_preset("COX2", graphs) == make_preset("auto", graphs)


def test_a_dataset_that_the_appendix_lacks_has_nothing_printed():
    with pytest.raises(ConfigError, match="ENZYMES"):
        make_preset("paper:COX2")


@pytest.mark.parametrize("name", ["ENZYME5", "paper:", "paper:ours", "printed:ENZYMES", "", "x" * 5000], ids=lambda name: name[:20])
def test_unknown_preset_is_named_with_those_known(name):
    with pytest.raises(ConfigError, match="auto") as raised:
        make_preset(name)
    assert len(str(raised.value)) < 500
