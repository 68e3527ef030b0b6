"""Streams gathered into one mapped set, for a fit to come back to."""

import json
from dataclasses import replace

import numpy as np
import pytest

from phist.errors import GraphInputError, ModelFileError, OutputError
from phist.graphs.formats.graph_rows import write_graph_rows
from phist.graphs.generate import make_trees
from phist.graphs.packing import Reading
from phist.scale import gathering
from phist.scale.gathering import gather_graphs, is_gathered

GRAPHS = make_trees(40, n_nodes=8, seed=0)


@pytest.fixture
def lake(tmp_path):
    folder = tmp_path / "lake"
    folder.mkdir()
    write_graph_rows(folder / "a.parquet", GRAPHS[:15])
    lines = [{"n_nodes": g.n_nodes, "edges": g.edges().tolist(), "label": g.label} for g in GRAPHS[15:30]]
    (folder / "b.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    GRAPHS[30:].save(folder / "c")
    return folder


def test_files_of_all_kinds_make_one_set(lake, tmp_path):
    found = gather_graphs(str(lake), tmp_path / "set", Reading())
    assert replace(found, ids=GRAPHS.ids) == GRAPHS
    assert found.ids[[0, 15, 30]].tolist() == ["a.parquet:0", "b.jsonl:0", "c:30"]


def test_labels_that_are_numbers_here_and_text_there_are_the_same_classes(tmp_path):
    (tmp_path / "lake").mkdir()
    write_graph_rows(tmp_path / "lake" / "a.parquet", GRAPHS[:2].with_labels([0, 1]))
    (tmp_path / "lake" / "b.jsonl").write_text('{"edges": [[0, 1]], "label": 1}\n')
    assert gather_graphs(str(tmp_path / "lake"), tmp_path / "set", Reading()).label_list() == ["0", "1", "1"]


def test_a_file_without_labels_among_others_is_named(lake, tmp_path):
    write_graph_rows(lake / "d.parquet", GRAPHS[:5].with_labels(None))
    with pytest.raises(GraphInputError, match=r"d\.parquet, row 0: it has no label"):
        gather_graphs(str(lake), tmp_path / "set", Reading())


def test_a_single_file_keeps_its_ids(tmp_path):
    write_graph_rows(tmp_path / "a.parquet", GRAPHS)
    assert gather_graphs(str(tmp_path / "a.parquet"), tmp_path / "set", Reading()) == GRAPHS


def test_a_set_that_is_there_is_not_written_again(lake, tmp_path, monkeypatch):
    first = gather_graphs(str(lake), tmp_path / "set", Reading())
    monkeypatch.setattr(gathering, "write_graphset", None)
    assert gather_graphs(str(lake), tmp_path / "set", Reading()) == first


def test_files_that_changed_are_read_again(lake, tmp_path):
    gather_graphs(str(lake), tmp_path / "set", Reading())
    write_graph_rows(lake / "d.parquet", GRAPHS[:5])
    assert len(gather_graphs(str(lake), tmp_path / "set", Reading())) == 45


def test_graphs_without_nodes_may_be_left_out(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"edges": [], "n_nodes": 0, "label": 1}\n{"edges": [[0, 1]], "label": 0}\n')
    found = gather_graphs(str(tmp_path / "a.jsonl"), tmp_path / "set", Reading(empty="drop"))
    assert (len(found), found.label_list()) == (1, ["0"])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", r"b\.jsonl, row 15: line 16"),
        ('{"edges": [[0, 1]]}', r"b\.jsonl, row 15: it has no label"),
    ],
)
def test_a_row_that_cannot_be_learnt_from_is_named_and_nothing_is_left(lake, tmp_path, line, said):
    with (lake / "b.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(GraphInputError, match=said):
        gather_graphs(str(lake), tmp_path / "set", Reading())
    assert not (tmp_path / "set").exists()


def test_a_torn_file_is_named(lake, tmp_path):
    (lake / "a.parquet").write_bytes((lake / "a.parquet").read_bytes()[:100])
    with pytest.raises(GraphInputError, match=r"a\.parquet: it cannot be read as Parquet"):
        gather_graphs(str(lake), tmp_path / "set", Reading())


def test_files_without_graphs_are_told_of(tmp_path):
    (tmp_path / "a.jsonl").write_text("\n")
    with pytest.raises(GraphInputError, match="hold no graphs"):
        gather_graphs(str(tmp_path / "a.jsonl"), tmp_path / "set", Reading())


def test_something_else_at_the_place_is_left_alone(lake, tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "mine.txt").write_text("mine")
    with pytest.raises(OutputError):
        gather_graphs(str(lake), tmp_path / "set", Reading())
    assert (tmp_path / "set" / "mine.txt").read_text() == "mine"


def test_more_than_a_batch_of_rows_comes_in_order(tmp_path):
    many = make_trees(9000, n_nodes=4, seed=0)
    write_graph_rows(tmp_path / "a.parquet", many)
    found = gather_graphs(str(tmp_path / "a.parquet"), tmp_path / "set", Reading())
    assert np.array_equal(found.indices, many.indices)
    assert found == many


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
