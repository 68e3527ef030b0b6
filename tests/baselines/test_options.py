import pytest

from phist.baselines.registry import make_method, methods
from phist.errors import ConfigError


@pytest.mark.parametrize("name", sorted(methods()))
def test_every_method_refuses_an_option_that_it_does_not_have_before_anything_is_run(name):
    with pytest.raises(ConfigError, match="has no option 'nonsense'"):
        make_method(name, nonsense=1)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ldp", {"trees": 0}), ("ldp", {"scales": []}), ("ldp", {"bins": True}), ("spectrum", {"shares": [-1.0]}),
        ("spectrum", {"shares": ["x"]}), ("wl-subtree", {"iterations": "many"}), ("wl-subtree", {"penalties": [True]}),
        ("gcn", {"layers": "x"}), ("gcn", {"learning_rate": float("nan")}), ("gcn", {"learning_rate": "x"}),
        ("phist", {"epochs": 0}), ("phist", {"epochs": 2.5}), ("phist", {"kernel": "foo"}), ("phist", {"bins": -1}),
        ("phist", {"orders": [3, 0]}), ("phist", {"channels": "wide"}), ("phist", {"learning_rate": -1}),
        ("phist", {"batch_size": 0}), ("phist", {"selection": "best"}), ("phist", {"schedule": 3}), ("phist", {"patience": 0}),
        ("phist", {"weight_decay": "x"}), ("phist", {"trees": 0}), ("phist", {"folds": True}), ("phist", {"ensemble": 0}),
        ("phist", {"ensemble": True}), ("phist", {"candidates": "all"}), ("phist", {"preset": "nowhere"}),
        ("phist", {"engine": "steam"}), ("phist", {"roots": 0}), ("phist", {"roots": "some"}), ("phist", {"realizations": 10**9}),
        ("phist", {"inference": "fast"}), ("phist", {"class_weight": "heavy"}), ("phist", {"time_budget": "short"}),
    ],
)  # fmt: skip
def test_values_out_of_range_are_refused_before_anything_is_run(name, options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        make_method(name, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"orders": [3, 3, 3], "channels": [8, 8, 8]}, {"channels": [32, 64]}, {"orders": [4, 4]},
        {"preset": "MUTAG", "patience": 10},
        {"roots": "all"}, {"class_weight": "balanced"}, {"preset": "paper:MUTAG"}, {"warmup": 0, "schedule": "constant"},
    ],
)  # fmt: skip
def test_values_in_range_are_taken(options):
    assert make_method("phist", **options).options == options
