import json
from dataclasses import replace
from mmap import mmap

import numpy as np
import pytest

from phist import as_graphset
from phist.errors import GraphInputError, ModelFileError, OutputError
from phist.graphs.graphset import GraphSet
from phist.graphs.storage import read_header, write_graphset


@pytest.fixture
def graphs():
    return as_graphset([(3, [(0, 1, 0.5), (1, 2, 2.0)]), (2, []), (2, [(0, 1, 1.0)])], labels=["a", "b", "a"], ids=["x", "y", "z"])


@pytest.fixture
def saved(graphs, tmp_path):
    graphs.save(tmp_path / "set")
    return tmp_path / "set"


def owner(values):
    """What holds the memory of an array."""
    while isinstance(values, np.ndarray):
        values = values.base
    return values


def edit_header(folder, change):
    file = folder / "graphset.json"
    header = json.loads(file.read_text())
    change(header)
    file.write_text(json.dumps(header))


def test_a_saved_set_opens_equal(graphs, saved):
    assert GraphSet.open(saved) == graphs


def test_an_opened_set_stays_on_disk(saved):
    assert isinstance(owner(GraphSet.open(saved).indices), mmap)


def test_a_slice_of_an_opened_set_stays_on_disk(saved):
    assert isinstance(owner(GraphSet.open(saved)[1:].indices), mmap)


def test_parts_are_written_one_after_the_other(graphs, tmp_path):
    write_graphset(tmp_path / "set", (graphs[i : i + 1] for i in range(3)))
    assert GraphSet.open(tmp_path / "set") == graphs


def test_unweighted_parts_before_weighted_ones_weigh_one(tmp_path):
    parts = [as_graphset((2, [(0, 1)])), as_graphset((2, [(0, 1, 3.0)]))]
    write_graphset(tmp_path / "set", parts)
    assert GraphSet.open(tmp_path / "set").weights.tolist() == [1, 1, 3, 3]


def test_directed_and_undirected_parts_are_not_mixed(tmp_path):
    parts = [as_graphset((2, [(0, 1)])), as_graphset((2, [(0, 1)]), directed="keep")]
    with pytest.raises(GraphInputError, match="cannot be joined"):
        write_graphset(tmp_path / "set", parts)


def test_what_stands_beside_the_graphs_is_kept(graphs, tmp_path):
    write_graphset(tmp_path / "set", [graphs], extra={"source": "here"})
    assert read_header(tmp_path / "set")["extra"] == {"source": "here"}


def test_a_set_can_be_saved_over_itself(graphs, saved):
    GraphSet.open(saved).save(saved)
    assert GraphSet.open(saved) == graphs


def test_a_folder_of_something_else_is_not_overwritten(graphs, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputError, match="holds something else"):
        graphs.save(tmp_path)


def test_a_set_with_other_things_beside_it_is_not_overwritten(graphs, saved):
    (saved / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputError, match=r"also holds 'thesis\.txt'"):
        graphs.save(saved)
    assert (saved / "thesis.txt").read_text() == "years of work"


def test_a_failed_save_leaves_the_old_set(graphs, saved):
    with pytest.raises(GraphInputError, match="cannot be saved"):
        graphs.with_labels([1, "b", 2]).save(saved)
    assert GraphSet.open(saved) == graphs


def test_an_unwritable_place_is_an_output_error(graphs, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        graphs.save(tmp_path / "file" / "set")


def test_an_empty_folder_is_no_set(tmp_path):
    with pytest.raises(ModelFileError, match="not a saved graph set"):
        GraphSet.open(tmp_path)


def test_a_missing_folder_is_no_set(tmp_path):
    with pytest.raises(ModelFileError, match="not a saved graph set"):
        GraphSet.open(tmp_path / "nowhere")


def test_a_later_version_is_refused(saved):
    edit_header(saved, lambda header: header.update(version=99))
    with pytest.raises(ModelFileError, match="later phist"):
        GraphSet.open(saved)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": "other"}', '{"format": "phist-graphset", "version": true}'])
def test_a_foreign_header_is_refused(saved, text):
    (saved / "graphset.json").write_text(text)
    with pytest.raises(ModelFileError):
        GraphSet.open(saved)


HOSTILE = {
    "an unknown array": lambda header: header["arrays"].update(node_count=["<i8", 1]),
    "a method's name": lambda header: header["arrays"].update(__class__=["<i8", 1]),
    "no pointers": lambda header: header["arrays"].pop("indptr"),
    "arrays as a list": lambda header: header.update(arrays=[]),
    "no direction": lambda header: header.pop("directed"),
    "a direction in words": lambda header: header.update(directed="no"),
    "an unknown kind": lambda header: header["arrays"].update(indices=["<q9", 6]),
    "objects": lambda header: header["arrays"].update(labels=["|O", 3]),
    "records": lambda header: header["arrays"].update(labels=["<i4,<i4", 3]),
    "an array kind": lambda header: header["arrays"].update(ids=["(2,)<i4", 3]),
    "another byte order": lambda header: header["arrays"].update(labels=[">U1", 3]),
    "no width": lambda header: header["arrays"].update(labels=["<U0", 3]),
    "another width": lambda header: header["arrays"].update(indices=["<i8", 3]),
    "a negative length": lambda header: header["arrays"].update(indices=["<i4", -6]),
    "a length in words": lambda header: header["arrays"].update(indices=["<i4", "six"]),
    "a broken length": lambda header: header["arrays"].update(indices=["<i4", 6.5]),
    "a huge length": lambda header: header["arrays"].update(indices=["<i4", 10**30]),
    "no length": lambda header: header["arrays"].update(indices=["<i4"]),
    "a shape in words": lambda header: header["arrays"].update(indices="<i4"),
    "too few labels": lambda header: header["arrays"].update(labels=["<U1", 2]),
    "too many ids": lambda header: header["arrays"].update(ids=["<U1", 4]),
    "empty pointers": lambda header: header["arrays"].update(node_ptr=["<i8", 0]),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_header_is_an_error_and_no_crash(saved, change):
    edit_header(saved, change)
    with pytest.raises(ModelFileError):
        GraphSet.open(saved)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("node_ptr", np.array([0, 5, 3, 7])),
        ("node_ptr", np.array([1, 3, 5, 7])),
        ("node_ptr", np.array([0, 3, 5, 8])),
        ("node_ptr", np.array([0, 3, 3, 7])),
        ("indptr", np.array([0, 1, 3, 2, 4, 4, 5, 6])),
        ("indptr", np.array([0, 1, 3, 4, 4, 4, 5, 60])),
        ("indptr", np.array([0, -1, 3, 4, 4, 4, 5, 6])),
        ("indices", np.array([1, 0, 9, 1, 1, 0], np.int32)),
        ("indices", np.array([1, 0, 2, 1, -1, 0], np.int32)),
        ("weights", np.array([0.5, 0.5, 2, 2, np.nan, 1])),
        ("weights", np.array([0.5, 0.5, 2, 2, -1.0, 1])),
        ("labels", np.array([0xFFFFFFFF, 1, 1], np.uint32)),
    ],
)
def test_damaged_content_is_an_error_and_no_crash(saved, name, values):
    (saved / f"{name}.bin").write_bytes(values.tobytes())
    with pytest.raises(ModelFileError):
        GraphSet.open(saved)


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("node_ptr", [0, 5, 3, 7]),
        ("node_ptr", [0, 2**62, -(2**63), 7]),
        ("indptr", [0, 1, 3, 2, 4, 4, 5, 6]),
        ("indptr", [0, 2**62, -(2**63), -(2**62), 4, 4, 5, 6]),
        ("indptr", [0, 1, 60, 4, 4, 4, 5, 6]),
    ],
)
def test_pointers_that_go_back_are_refused_whether_neighbours_are_looked_at_or_not(saved, name, values, check):
    (saved / f"{name}.bin").write_bytes(np.array(values, np.int64).tobytes())
    with pytest.raises(ModelFileError, match=f"{name} does not run from 0 up to"):
        GraphSet.open(saved, check=check)


@pytest.mark.parametrize("name", ["node_ptr", "indptr", "indices", "weights", "labels", "ids"])
def test_a_truncated_file_is_named(saved, name):
    file = saved / f"{name}.bin"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ModelFileError, match=f"{name}.bin has"):
        GraphSet.open(saved)


def test_a_missing_file_is_named(saved):
    (saved / "indices.bin").unlink()
    with pytest.raises(ModelFileError, match=r"indices.bin has 0 bytes"):
        GraphSet.open(saved)


def test_a_folder_in_place_of_a_file_is_refused(saved):
    (saved / "indices.bin").unlink()
    (saved / "indices.bin").mkdir()
    with pytest.raises(ModelFileError, match=r"indices.bin"):
        GraphSet.open(saved)


def test_neighbours_are_not_looked_at_when_told_so(graphs, saved):
    (saved / "indices.bin").write_bytes(np.full(6, 99, np.int32).tobytes())
    assert GraphSet.open(saved, check=False).n_nodes == graphs.n_nodes


BROKEN_ROWS = {
    "asymmetric": ([1, 0, 2, 1, 3, 1], False, "one direction only"),
    "unsorted": ([1, 2, 0, 1, 3, 2], False, "unsorted or repeat"),
    "repeated": ([1, 0, 0, 1, 3, 2], False, "unsorted or repeat"),
    "unsorted and directed": ([1, 2, 0, 1, 3, 2], True, "unsorted or repeat"),
}


@pytest.mark.parametrize(("indices", "directed", "message"), BROKEN_ROWS.values(), ids=BROKEN_ROWS.keys())
@pytest.mark.parametrize("before", [0, 1])
def test_neighbours_that_break_a_promise_are_refused(tmp_path, indices, directed, message, before):
    path = as_graphset([(2, [(0, 1), (1, 0)])] * before + [(4, [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)])], directed="keep")
    write_graphset(tmp_path / "set", [replace(path, directed=directed)])
    values = np.fromfile(tmp_path / "set" / "indices.bin", "<i4")
    values[-len(indices) :] = indices
    values.tofile(tmp_path / "set" / "indices.bin")
    with pytest.raises(ModelFileError, match=message):
        GraphSet.open(tmp_path / "set")


def test_weights_that_differ_by_direction_are_refused(saved):
    weights = np.fromfile(saved / "weights.bin")
    weights[0] = 7
    weights.tofile(saved / "weights.bin")
    with pytest.raises(ModelFileError, match="one direction only"):
        GraphSet.open(saved)


def test_a_directed_set_need_not_be_symmetric(tmp_path):
    arcs = as_graphset([(3, [(0, 1), (2, 1)])], directed="keep")
    arcs.save(tmp_path / "set")
    assert GraphSet.open(tmp_path / "set") == arcs


def test_the_check_looks_into_every_block(tmp_path, monkeypatch):
    monkeypatch.setattr("phist.graphs.arrays._BLOCK", 4)
    graphs = as_graphset([(4, [(0, 1), (1, 2), (2, 3)]), (1, []), (3, [(0, 2)])] * 5)
    graphs.save(tmp_path / "set")
    assert GraphSet.open(tmp_path / "set") == graphs
    indices = np.fromfile(tmp_path / "set" / "indices.bin", "<i4")
    indices[-1] = 1
    indices.tofile(tmp_path / "set" / "indices.bin")
    with pytest.raises(ModelFileError, match="one direction only"):
        GraphSet.open(tmp_path / "set")
