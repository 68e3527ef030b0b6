"""What can be told without a cluster; tests of a real one are in test_backends.py."""

from types import SimpleNamespace

import pytest

from phist.errors import ConfigError
from phist.evaluation import ray_backend


class RayError(Exception):
    pass


@pytest.mark.parametrize("error", [ConnectionError("token is missing"), RayError("token is missing")])
def test_a_cluster_that_lets_nobody_in_is_told_with_what_to_check(monkeypatch, error):
    def refuse(**settings):
        raise error

    fake = SimpleNamespace(is_initialized=lambda: False, init=refuse, exceptions=SimpleNamespace(RayError=RayError))
    monkeypatch.setattr(ray_backend, "_ray", lambda: fake)
    with pytest.raises(ConfigError, match=r"token is missing.*--address.*RAY_AUTH_TOKEN"), ray_backend.ray_cluster(None, 1):
        pass
