import networkx as nx
import numpy as np
import pytest

from phist import as_graphset
from phist.baselines import feature_cache
from phist.baselines.feature_cache import computed_once

GRAPHS = as_graphset([nx.path_graph(3)])


@pytest.fixture(autouse=True)
def nothing_in_memory(monkeypatch):
    monkeypatch.setattr(feature_cache, "_recent", type(feature_cache._recent)())


def test_another_process_finds_what_was_kept(tmp_path):
    computed_once(GRAPHS, "made", tmp_path, lambda: {"table": np.ones(2)})
    feature_cache._recent.clear()
    found = computed_once(GRAPHS, "made", tmp_path, lambda: pytest.fail("it was computed again"))
    np.testing.assert_array_equal(found["table"], np.ones(2))


def test_a_folder_that_cannot_be_written_to_costs_no_features(tmp_path):
    (tmp_path / "file").touch()
    found = computed_once(GRAPHS, "made", tmp_path / "file" / "folder", lambda: {"table": np.ones(2)})
    np.testing.assert_array_equal(found["table"], np.ones(2))
