"""The network's configuration."""

import json

import numpy as np
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
        ({"orders": (), "channels": ()}, "from 1 to 100 layers"),
        ({"orders": [2] * 10**6, "channels": [2] * 10**6}, "from 1 to 100 layers"),
        ({"orders": 3}, "orders=3 was given"),
        ({"orders": "33"}, "orders='33'"),
        ({"orders": [float("inf"), 3]}, "orders=inf"),
        ({"channels": (10**9, 3)}, "channels=1000000000"),
        ({"orders": (60_000, 3), "channels": (60_000, 3)}, "come to .* weights"),
        ({"bins": 2.5}, "bins=2.5"),
        ({"bins": True}, "bins=True"),
        ({"bins": None}, "bins=None"),
        ({"bins": 10**400}, "bins="),
        ({"kernel": ["gaussian"]}, "kernel="),
        ({"kernel_width": float("nan")}, "kernel_width=nan"),
        ({"learnable_bins": "no"}, "learnable_bins='no'"),
        ({"standardize": 1}, "standardize=1"),
        ({"sampler": {"kind": "all"}}, "sampler="),
        ({"operator_scale": "x"}, "operator_scale='x'"),
        ({"max_elements": 1e6}, "max_elements="),
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


def test_numbers_of_numpy_are_taken_and_become_plain_ones():
    config = NetworkConfig(bins=np.int64(4), orders=np.array([2, 3]), operator_scale=np.float32(0.5))
    assert json.loads(json.dumps(config.to_dict()))["bins"] == 4
    assert config.orders == (2, 3)


@pytest.mark.parametrize("values", [None, [], 7, "network", {**NetworkConfig().to_dict(), "sampler": []}, {"sampler": {}}])
def test_something_else_than_a_configuration_is_refused(values):
    with pytest.raises(ConfigError):
        NetworkConfig.from_dict(values)


def test_messages_do_not_echo_what_is_long():
    with pytest.raises(ConfigError) as raised:
        NetworkConfig(kernel="x" * 100_000)
    assert len(str(raised.value)) < 400


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
