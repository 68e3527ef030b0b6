"""The network's configuration."""

import json

import pytest

from phist.errors import ConfigError
from phist.nn.config import NetworkConfig
from phist.nn.network import StructuralNetwork, make_aggregation
from phist.nn.sampling import RootSampler

UNUSUAL = NetworkConfig(
    orders=(2, 3, 4),
    channels=(4, 5, 6),
    bins=3,
    kernel="triangle",
    learnable_bins=True,
    statistics="per-root",
    convolution="cayley",
    operator="random-walk",
    sampler=RootSampler("oversample", factor=3.0),
)


@pytest.mark.parametrize("config", [NetworkConfig(), UNUSUAL], ids=["default", "unusual"])
def test_configuration_survives_json(config):
    assert NetworkConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"orders": (3,)}, "differ in length"),
        ({"orders": (), "channels": ()}, "differ in length"),
        ({"orders": (3, 0)}, "orders=.* at least 1"),
        ({"channels": (0, 3)}, "channels=.* at least 1"),
        ({"bins": 0}, "bins=0"),
        ({"kernel": "box"}, "kernel='box'"),
        ({"convolution": "gat"}, "convolution='gat'"),
        ({"aggregation": "median"}, "aggregation='median'"),
        ({"node_histogram": "rank"}, "node_histogram='rank'"),
        ({"graph_histogram": "rank"}, "graph_histogram='rank'"),
        ({"statistics": "global"}, "statistics='global'"),
        ({"operator": "magnetic"}, "operator='magnetic'"),
        ({"moments": "all"}, "moments='all'"),
        ({"operator_scale": 0.0}, "operator_scale=0.0"),
        ({"operator_scale": 1.5}, "operator_scale=1.5"),
        ({"max_elements": 0}, "max_elements=0"),
    ],
)
def test_impossible_settings_are_refused_by_name(options, message):
    with pytest.raises(ConfigError, match=message):
        NetworkConfig(**options)


def test_width_of_a_kernel_must_be_positive():
    with pytest.raises(ConfigError, match="kernel_width=-1"):
        StructuralNetwork(NetworkConfig(kernel_width=-1), 2)


def test_configuration_of_an_earlier_version_means_what_it_meant_then():
    values = NetworkConfig(moments="none").to_dict()
    del values["moments"]
    assert NetworkConfig.from_dict({**values, "append_moments": False}).moments == "none"


def test_what_an_earlier_version_could_and_this_one_cannot_is_reported():
    with pytest.raises(ConfigError, match=r"unknown \['append_moments'\]"):
        NetworkConfig.from_dict({**NetworkConfig().to_dict(), "append_moments": True})


def test_unknown_and_missing_names_are_reported():
    values = NetworkConfig().to_dict()
    values["heads"] = values.pop("bins")
    with pytest.raises(ConfigError, match=r"unknown \['heads'\], missing \['bins'\]"):
        NetworkConfig.from_dict(values)


@pytest.mark.parametrize(("kind", "width"), [("histogram", 24), ("sum", 3), ("mean", 3), ("max", 3)])
def test_every_aggregation_says_its_width(kind, width):
    assert make_aggregation(NetworkConfig(aggregation=kind), "count").out_channels(3) == width
