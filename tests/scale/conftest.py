import pytest
from small_models import quick_classifier

from phist.graphs.generate import make_trees


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A small model of trees, computed by the engine."""
    folder = tmp_path_factory.mktemp("model") / "trees"
    quick_classifier(engine="fused").fit(make_trees(40, n_nodes=8, seed=1)).save(folder)
    return folder
