import zipfile

import pytest

from phist import read_graphs
from phist.errors import GraphInputError
from phist.graphs.formats import integers

TWO_GRAPHS = {"A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n", "graph_indicator": "1\n1\n1\n2\n2\n2\n", "graph_labels": "1\n-1\n"}


def write_folder(path, files):
    path.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (path / f"T_{name}.txt").write_text(text)
    return path


def write_zip(path, files, inside="T/"):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(f"{inside}T_{name}.txt", text)
    return path


def read(tmp_path, **changes):
    return read_graphs(write_folder(tmp_path / "T", {**TWO_GRAPHS, **changes}))


def test_a_folder_is_read_with_labels_and_isolated_nodes(tmp_path):
    graphs = read(tmp_path)
    assert (graphs.node_counts().tolist(), graphs.edge_counts().tolist(), graphs.labels.tolist()) == ([3, 3], [2, 1], [1, -1])


@pytest.mark.parametrize("inside", ["T/", "", "deep/er/"])
def test_a_zip_reads_like_the_folder(tmp_path, inside):
    assert read_graphs(write_zip(tmp_path / "T.zip", TWO_GRAPHS, inside)) == read(tmp_path)


def test_a_folder_within_a_folder_of_the_same_name_is_found(tmp_path):
    write_folder(tmp_path / "T" / "T", TWO_GRAPHS)
    assert len(read_graphs(tmp_path / "T")) == 2


def test_rows_that_repeat_count_once(tmp_path):
    assert read(tmp_path, A=TWO_GRAPHS["A"] * 2) == read(tmp_path)


def test_an_edge_in_one_direction_is_an_edge(tmp_path):
    assert read(tmp_path, A="1, 2\n2, 3\n5, 4\n") == read(tmp_path)


def test_loops_are_dropped(tmp_path):
    assert read(tmp_path, A=TWO_GRAPHS["A"] + "3, 3\n") == read(tmp_path)


def test_direction_can_be_kept(tmp_path):
    write_folder(tmp_path, {**TWO_GRAPHS, "A": "1, 2\n"})
    assert read_graphs(tmp_path, directed="keep").n_edges == 1


@pytest.mark.parametrize("text", ["1,2\n2,3\n4,5", "1 2\r\n2\t3\r\n\r\n4 , 5\r\n", "+1, 2\n 2,  3 \n\n4, 5\n\n"])
def test_commas_blanks_and_line_ends_may_vary(tmp_path, text):
    assert read(tmp_path, A=text) == read(tmp_path)


def test_nodes_of_a_graph_need_not_stand_together(tmp_path):
    shuffled = read(tmp_path, graph_indicator="1\n2\n1\n2\n1\n2\n", A="1, 3\n3, 5\n2, 4\n")
    assert shuffled == read(tmp_path)


def test_a_set_without_edges_is_legal(tmp_path):
    assert read(tmp_path, A="").n_edges == 0


def test_a_set_without_labels_is_unlabelled(tmp_path):
    write_folder(tmp_path, {name: TWO_GRAPHS[name] for name in ("A", "graph_indicator")})
    assert read_graphs(tmp_path).labels is None


def test_node_labels_and_attributes_are_left_alone(tmp_path):
    assert read(tmp_path, node_labels="nonsense", node_attributes="more of it") == read(tmp_path)


def test_small_pieces_read_like_one(tmp_path, monkeypatch):
    whole = read(tmp_path)
    monkeypatch.setattr(integers, "CHUNK", 7)
    assert read(tmp_path) == whole


BAD = {
    "a node that is not there": ({"A": "1, 2\n2, 7\n"}, r"T_A.txt, row 2: node 7 is not there \(nodes are 1 to 6"),
    "node zero": ({"A": "0, 1\n"}, "row 1: node 0 is not there"),
    "a huge node": ({"A": "1, 999999999999999999\n"}, "is not there"),
    "an edge across graphs": ({"A": "1, 2\n3, 4\n"}, "T_A.txt, row 2: the edge 3-4 joins graph 1 and graph 2"),
    "too few labels": (
        {"graph_labels": "1\n"},
        "T_graph_labels.txt has 1 labels, but T_graph_indicator.txt numbers the graphs up to 2",
    ),
    "too many labels": ({"graph_labels": "1\n1\n1\n"}, "has 3 labels"),
    "a node without graph": ({"graph_indicator": "1\n1\n1\n2\n0\n2\n"}, "puts node 5 into graph 0"),
    "a graph without node": ({"graph_indicator": "1\n1\n1\n3\n3\n3\n", "graph_labels": "1\n1\n1\n"}, "graph 1 has no node"),
    "a huge graph number": ({"graph_indicator": "1\n1\n1\n2\n2\n99999999999\n"}, "numbers the graphs up to 99999999999"),
    "words": ({"A": "1, 2\n2, x\n"}, "T_A.txt, line 2: '2, x' was found where 2 whole numbers should be"),
    "one column": ({"A": "1, 2\n\n3\n"}, "T_A.txt, line 3"),
    "three columns": ({"A": "1, 2, 3\n"}, "T_A.txt, line 1"),
    "a trailing comma": ({"A": "1, 2,\n"}, "T_A.txt, line 1"),
    "fractions": ({"graph_labels": "1\n0.5\n"}, "T_graph_labels.txt, line 2: '0.5' was found where one whole number should be"),
    "only a sign": ({"graph_labels": "1\n-\n"}, "T_graph_labels.txt, line 2"),
    "too many digits": ({"graph_labels": "1\n1234567890123456789012\n"}, "T_graph_labels.txt, line 2"),
    "no indicator": ({"graph_indicator": ""}, "T_graph_indicator.txt is empty"),
    "no labels": ({"graph_labels": "\n"}, "T_graph_labels.txt is empty"),
    "one endless line": ({"A": "1" * 100_000}, "has a line of more than"),
}


@pytest.mark.parametrize(("changes", "message"), BAD.values(), ids=BAD.keys())
def test_bad_content_is_named_with_file_and_line(tmp_path, changes, message):
    with pytest.raises(GraphInputError, match=message):
        read(tmp_path, **changes)


def test_the_line_is_right_far_into_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(integers, "CHUNK", 50)
    with pytest.raises(GraphInputError, match="line 101"):
        read(tmp_path, A="1, 2\n" * 100 + "oops\n")


def test_a_missing_indicator_is_named(tmp_path):
    write_folder(tmp_path, {"A": "1, 2\n"})
    with pytest.raises(GraphInputError, match=r"no T_graph_indicator.txt; the set is incomplete"):
        read_graphs(tmp_path)


def test_a_truncated_zip_is_refused(tmp_path):
    path = write_zip(tmp_path / "T.zip", TWO_GRAPHS)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(GraphInputError, match="not a whole zip archive"):
        read_graphs(path)


def test_a_zip_with_damaged_content_is_refused(tmp_path):
    path = write_zip(tmp_path / "T.zip", {**TWO_GRAPHS, "A": "1, 2\n2, 3\n" * 5000})
    content = bytearray(path.read_bytes())
    start = content.find(b"T_A.txt") + 12
    content[start : start + 8] = b"\xff" * 8
    path.write_bytes(bytes(content))
    with pytest.raises(GraphInputError, match="not a whole zip archive"):
        read_graphs(path)


def test_text_named_zip_is_refused(tmp_path):
    (tmp_path / "T.zip").write_text("not an archive")
    with pytest.raises(GraphInputError, match="not a whole zip archive"):
        read_graphs(tmp_path / "T.zip")


def test_a_zip_without_a_tu_set_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "T.zip", "w") as archive:
        archive.writestr("readme.md", "hello")
    with pytest.raises(GraphInputError, match=r"holds no TU set: no file ends in _A.txt"):
        read_graphs(tmp_path / "T.zip")


def test_a_zip_with_two_sets_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "T.zip", "w") as archive:
        archive.writestr("X_A.txt", "1, 1\n")
        archive.writestr("Y_A.txt", "1, 1\n")
    with pytest.raises(GraphInputError, match="holds several TU sets"):
        read_graphs(tmp_path / "T.zip")
