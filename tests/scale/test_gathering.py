"""Graphs of many files as one set on disk."""

import numpy as np
import pytest

from phist.errors import ModelFileError, OutputError
from phist.graphs.formats.graph_rows import write_graph_rows
from phist.graphs.generate import make_trees
from phist.graphs.packing import Reading
from phist.scale.gathering import gather_graphs, is_gathered

GRAPHS = make_trees(12, n_nodes=6, seed=0)


@pytest.fixture
def lake(tmp_path):
    (tmp_path / "lake").mkdir()
    write_graph_rows(tmp_path / "lake" / "a.parquet", GRAPHS)
    return tmp_path / "lake"


def test_what_was_gathered_is_opened_again(lake, tmp_path):
    first = gather_graphs(str(lake), tmp_path / "set", Reading())
    written = (tmp_path / "set" / "graphset.json").stat().st_mtime_ns
    assert gather_graphs(str(lake), tmp_path / "set", Reading()) == first
    assert (tmp_path / "set" / "graphset.json").stat().st_mtime_ns == written
    assert is_gathered(tmp_path / "set") and len(first) == 12


def test_what_was_damaged_since_is_not_computed_with(lake, tmp_path):
    gather_graphs(str(lake), tmp_path / "set", Reading())
    indices = np.fromfile(tmp_path / "set" / "indices.bin", np.int32)
    indices[3] = 10**9
    indices.tofile(tmp_path / "set" / "indices.bin")
    with pytest.raises(ModelFileError, match="names a neighbour outside itself"):
        gather_graphs(str(lake), tmp_path / "set", Reading())


def test_a_set_that_was_not_gathered_is_left_alone(lake, tmp_path):
    GRAPHS[:3].save(tmp_path / "set")
    assert not is_gathered(tmp_path / "set") and not is_gathered(tmp_path / "nothing")
    with pytest.raises(OutputError, match="was not gathered for a fit"):
        gather_graphs(str(lake), tmp_path / "set", Reading())
    assert len(GRAPHS[:3].open(tmp_path / "set")) == 3
