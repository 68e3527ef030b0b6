from importlib.metadata import EntryPoint

import pytest

from phist.baselines import floors, registry


@pytest.fixture
def installed(monkeypatch):
    """Entry points of other packages in place of those that are installed."""

    def install(*values):
        points = [EntryPoint(name, value, registry.GROUP) for name, value in values]
        monkeypatch.setattr(registry, "entry_points", lambda group: points)
        monkeypatch.setattr(registry, "BUILT_IN", ("phist.baselines.floors",))
        registry.methods.cache_clear()

    yield install
    registry.methods.cache_clear()


@pytest.mark.parametrize(
    "value", ["no_such_package:Method", "json:NoSuchName", "json:dumps", "builtins:int", "this is no object reference"]
)
def test_a_broken_entry_point_is_told_of_and_left_out(installed, value):
    installed(("theirs", value))
    with pytest.warns(UserWarning, match="'theirs' of an installed package"):
        known = registry.methods()
    assert known and "theirs" not in known


def test_a_name_that_is_taken_keeps_its_meaning(installed):
    own = {method.name: method for method in floors.METHODS}
    installed((next(iter(own)), "json:dumps"))
    with pytest.warns(UserWarning, match="is taken"):
        assert registry.methods() == own
