import pytest

from phist.baselines.registry import make_method, methods
from phist.errors import ConfigError


@pytest.mark.parametrize("name", sorted(methods()))
def test_every_method_refuses_an_option_that_it_does_not_have_before_anything_is_run(name):
    with pytest.raises(ConfigError, match="has no option 'nonsense'"):
        make_method(name, nonsense=1)


@pytest.mark.parametrize(
    ("name", "options"),
    [("ldp", {"trees": 0}), ("spectrum", {"shares": [-1.0]}), ("wl-subtree", {"iterations": "many"}), ("gcn", {"layers": "x"})],
)
def test_values_out_of_range_are_refused_before_anything_is_run(name, options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        make_method(name, **options)
