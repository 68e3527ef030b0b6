"""Inputs that claim to be large are refused before memory is taken, unless the limit is raised."""

import zipfile

import numpy as np
import pytest
from scipy.sparse import coo_array

from phist import as_graphset, read_graphs
from phist.errors import ConfigError, DatasetError, GraphInputError
from phist.graphs import download as downloading
from phist.graphs import limits


@pytest.fixture
def little_is_allowed(monkeypatch):
    """However short an input, 2,000 bytes are allowed instead of 256 MB."""
    monkeypatch.setattr(limits, "ALWAYS", 2000)


def write(path, text):
    path.write_text(text)
    return path


def test_a_line_that_claims_two_thousand_million_nodes_is_refused(tmp_path):
    path = write(tmp_path / "x.jsonl", '{"edges":[],"n_nodes":2000000000}')
    with pytest.raises(GraphInputError, match=r"2,000,000,000 nodes, about 128.0 GB.*max_bytes=128000000000"):
        read_graphs(path)


def test_lines_are_judged_together(tmp_path):
    path = write(tmp_path / "x.jsonl", '{"edges":[],"n_nodes":1000000}\n' * 9)
    with pytest.raises(GraphInputError, match="9,000,000 nodes"):
        read_graphs(path)


def test_the_limit_can_be_raised_and_lowered(tmp_path, little_is_allowed):
    path = write(tmp_path / "x.jsonl", '{"edges":[[0,1]],"n_nodes":1000}')
    with pytest.raises(GraphInputError, match="1,000 nodes"):
        read_graphs(path)
    assert read_graphs(path, max_bytes=64_000).n_nodes == 1000
    with pytest.raises(GraphInputError, match="1,000 nodes"):
        read_graphs(path, max_bytes=63_999)


def test_a_large_file_may_hold_many_nodes(tmp_path, little_is_allowed):
    edges = [[i, i + 1] for i in range(999)]
    path = write(tmp_path / "x.jsonl", f'{{"edges":{edges},"n_nodes":1000}}')
    assert read_graphs(path).n_nodes == 1000


@pytest.mark.parametrize("value", [0, -1, 1.5, "1", True])
def test_a_limit_that_is_no_number_of_bytes_is_refused(value):
    with pytest.raises(ConfigError, match="max_bytes"):
        as_graphset([(2, [(0, 1)])], max_bytes=value)


def test_an_archive_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path, little_is_allowed):
    files = {"A": "1, 2\n" * 200_000, "graph_indicator": "1\n1\n", "graph_labels": "0\n"}
    with zipfile.ZipFile(tmp_path / "X.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"X_{name}.txt", content)
    with pytest.raises(GraphInputError, match="unpacks to 1,000,006 bytes"):
        read_graphs(tmp_path / "X.zip")
    assert read_graphs(tmp_path / "X.zip", max_bytes=1_000_006).n_edges == 1


def test_a_parquet_file_of_equal_rows_is_judged_by_its_rows(tmp_path, little_is_allowed):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    zeros = pa.array(np.zeros(200_000, np.int64))
    pq.write_table(pa.table({"graph": zeros, "source": zeros, "target": zeros}), tmp_path / "x.parquet")
    with pytest.raises(GraphInputError, match="200,000 rows"):
        read_graphs(tmp_path / "x.parquet")
    assert read_graphs(tmp_path / "x.parquet", max_bytes=10**9).n_nodes == 1


def test_a_long_name_in_every_row_of_a_parquet_file_is_held_once(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(50_000, np.int32)), ["x" * 100_000])  # 5 GB as plain text
    numbers = pa.array(np.arange(50_000))
    pq.write_table(pa.table({"graph": names, "source": numbers, "target": numbers}), tmp_path / "x.parquet", compression="zstd")
    assert read_graphs(tmp_path / "x.parquet").n_nodes == 50_000


def test_graphs_in_memory_are_judged_by_their_edges(little_is_allowed):
    with pytest.raises(GraphInputError, match="1,000 nodes"):
        as_graphset([(1000, [(0, 1)])])
    assert as_graphset([(1000, [(0, 1)])], max_bytes=64_000).n_nodes == 1000
    assert as_graphset([(1000, [(i, i + 1) for i in range(999)])]).n_nodes == 1000


def test_a_sparse_matrix_is_judged_before_it_is_converted():
    matrix = coo_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(2_000_000_000, 2_000_000_000))
    with pytest.raises(GraphInputError, match="2,000,000,000 rows"):
        as_graphset([matrix])


class Response:
    """What a server answers: as many zeros as are asked for, far more often than anybody should ask."""

    def __init__(self, length=None):
        self.headers = {} if length is None else {"Content-Length": length}
        self.asked = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def read(self, size):
        self.asked += 1
        return bytes(size) if self.asked < 50 else b""


@pytest.mark.parametrize(("length", "asked"), [("5000000", 0), (None, 4), ("9" * 5000, 4), ("²", 4)])
def test_a_download_that_never_ends_is_broken_off(tmp_path, monkeypatch, length, asked):
    response = Response(length)
    monkeypatch.setattr(downloading, "_open", lambda url: response)
    with pytest.raises(DatasetError, match="more than 1,000,000 bytes"):
        downloading.download("https://example.org/X.zip", tmp_path / "X.zip", max_bytes=1_000_000)
    assert response.asked == asked
    assert list(tmp_path.iterdir()) == []
