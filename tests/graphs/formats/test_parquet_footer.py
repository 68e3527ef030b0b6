"""Sizes in the footer of a Parquet file, which pyarrow tells only of sound ones."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from phist import read_graphs
from phist.errors import GraphInputError
from phist.graphs.formats.parquet_footer import read_footer

GRAPHS = pa.table({"n_nodes": [3, 3, 2], "sources": [[0, 1], [0], []], "targets": [[1, 2], [1], []], "id": ["a", "b", "c"]})


def write(path, **options):
    pq.write_table(GRAPHS, path, **options)
    return path


@pytest.mark.parametrize("options", [{}, {"row_group_size": 1}, {"compression": "none", "write_statistics": False}], ids=str)
def test_sizes_are_those_of_pyarrow(tmp_path, options):
    path = write(tmp_path / "x.parquet", **options)
    metadata = pq.read_metadata(path)
    groups = read_footer(path)
    assert [group.rows for group in groups] == [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
    for number, group in enumerate(groups):
        theirs = [metadata.row_group(number).column(k) for k in range(metadata.num_columns)]
        assert group.chunks == [(one.path_in_schema.split(".")[0], one.num_values, one.total_uncompressed_size) for one in theirs]


def test_values_of_lists_are_counted(tmp_path):
    (group,) = read_footer(write(tmp_path / "x.parquet"))
    assert group.unpacked_bytes({"sources"}) >= 8 * 4 and group.unpacked_bytes(set()) == 8 * 3


@pytest.mark.parametrize(
    "damage",
    [lambda c: c[:-4], lambda c: b"", lambda c: b"PAR1", lambda c: c[:-8] + b"\xff\xff\xff\x7fPAR1", lambda c: c[:-30] + c[-8:]],
)
def test_damaged_footers_are_refused(tmp_path, damage):
    path = write(tmp_path / "x.parquet")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(GraphInputError, match="its footer is damaged"):
        read_footer(path)


PROGRAM = """
import sys
from pathlib import Path
from phist import read_graphs
from phist.errors import PhistError
content, path = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])
start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
for place in range(start, len(content) - 8):
    path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    try:
        read_graphs(path)
    except PhistError:
        pass
print("all read or refused")
"""


def test_no_byte_of_a_footer_brings_the_process_down(tmp_path):
    """In a process of its own: where pyarrow is asked about chunks of columns, some of these end it."""
    command = [sys.executable, "-c", PROGRAM, write(tmp_path / "x.parquet"), tmp_path / "y.parquet"]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.stdout == "all read or refused\n", said.stderr[-500:]


def test_a_sound_file_is_read(tmp_path):
    assert read_graphs(write(tmp_path / "x.parquet", compression="zstd")).node_counts().tolist() == [3, 3, 2]
