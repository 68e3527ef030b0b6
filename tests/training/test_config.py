import pytest

from phist.errors import ConfigError
from phist.training.config import TrainingConfig

NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epochs", 0), ("epochs", 2.5), ("epochs", True), ("epochs", "many"), ("epochs", None), ("epochs", 10**12),
        ("batch_size", 0), ("batch_size", []), ("validation_realizations", 10**9), ("learning_rate", 0), ("learning_rate", NAN),
        ("learning_rate", "fast"), ("weight_decay", NAN), ("weight_decay", -1), ("weight_decay", INFINITY), ("warmup", NAN),
        ("warmup", -1), ("warmup", "x"), ("gradient_clip", 0), ("gradient_clip", NAN), ("time_budget", 0),
        ("time_budget", INFINITY), ("time_budget", "short"), ("patience", 0), ("patience", 1.5), ("seed", -1), ("seed", "abc"),
        ("seed", 1.0), ("seed", 2**64), ("schedule", "linear"), ("schedule", []), ("selection", 3),
    ],
)  # fmt: skip
def test_impossible_settings_are_refused_by_name(name, value):
    with pytest.raises(ConfigError, match=f"{name}="):
        TrainingConfig(**{name: value})


@pytest.mark.parametrize("name", ["gradient_clip", "time_budget", "patience"])
def test_limits_may_be_left_out(name):
    assert getattr(TrainingConfig(**{name: None}), name) is None
