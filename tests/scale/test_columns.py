"""Types of ids and labels: one for a whole output, whatever kinds of files it is made from."""

import json
import os
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.dataset as dataset
import pyarrow.parquet as parquet
import pytest

from phist.errors import OutputError
from phist.graphs.formats.graph_rows import write_graph_rows
from phist.graphs.generate import make_trees
from phist.scale.answers import Predictions
from phist.scale.bulk import run_bulk
from phist.scale.columns import Columns, common_columns
from phist.scale.sources import find_sources

NUMBERED = make_trees(6, n_nodes=8, seed=0).with_labels([0, 1, 0, 1, 0, 1])
ROW = {"n_nodes": 2, "sources": [0], "targets": [1]}


@pytest.fixture
def lake(tmp_path):
    (tmp_path / "lake").mkdir()
    return tmp_path / "lake"


def columns(lake):
    return common_columns(find_sources(str(lake))[1])


def write_rows(path, **further):
    parquet.write_table(pa.table({name: pa.array([value]) for name, value in ROW.items()} | further), path)


def write_tu(path, labels=True):
    with ZipFile(path, "w") as archive:
        archive.writestr("S_A.txt", "1, 2\n2, 1\n")
        archive.writestr("S_graph_indicator.txt", "1\n1\n")
        if labels:
            archive.writestr("S_graph_labels.txt", "1\n")


def write_all_kinds(lake):
    write_graph_rows(lake / "a.parquet", NUMBERED)
    (lake / "b.jsonl").write_text(json.dumps({"edges": [[0, 1]], "id": "x", "label": 1}) + "\n")
    NUMBERED.save(lake / "c")
    write_tu(lake / "d.zip")
    parquet.write_table(pa.table({"graph": [7, 7], "source": [0, 1], "target": [1, 2]}), lake / "e.parquet")


def test_files_that_agree_keep_their_types(lake):
    write_graph_rows(lake / "a.parquet", NUMBERED)
    NUMBERED.save(lake / "b")
    write_tu(lake / "c.zip")
    assert columns(lake) == Columns("int64", "int64")


def test_files_that_differ_have_text(lake):
    write_all_kinds(lake)
    assert columns(lake) == Columns("string", "string")


@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        (pa.int8(), "int64"), (pa.uint32(), "int64"), (pa.uint64(), "string"), (pa.float32(), "double"), (pa.bool_(), "bool"),
        (pa.large_string(), "string"), (pa.dictionary(pa.int32(), pa.string()), "string"),
    ],
    ids=str,
)  # fmt: skip
def test_ids_of_any_width_have_the_type_that_is_written(model, lake, tmp_path, kind, plain):
    write_rows(lake / "a.parquet", id=pa.array([1]).cast(pa.string()).cast(kind))
    assert columns(lake).id == plain
    run_bulk(Predictions(model), str(lake), tmp_path / "out")
    assert str(dataset.dataset(tmp_path / "out").schema.field("id").type) == plain


def test_rows_without_ids_are_numbered(lake):
    write_rows(lake / "a.parquet")
    assert columns(lake) == Columns("int64", None)


def test_a_column_that_holds_nothing_has_no_say(lake):
    write_rows(lake / "a.parquet", label=pa.nulls(1))
    write_graph_rows(lake / "b.parquet", NUMBERED)
    assert columns(lake) == Columns("int64", "int64")


def test_a_set_without_labels_has_no_say_about_them(lake):
    write_tu(lake / "a.zip", labels=False)
    assert columns(lake) == Columns("int64", None)


def test_what_cannot_be_opened_has_no_say(lake):
    write_graph_rows(lake / "a.parquet", NUMBERED)
    for name in ("b.parquet", "c.zip"):
        (lake / name).write_bytes(b"nonsense")
    os.mkfifo(lake / "d.zip")
    assert columns(lake) == Columns("int64", "int64")


def test_a_lone_file_of_another_format_keeps_what_it_has(model, tmp_path):
    (tmp_path / "edges.csv").write_text("graph,source,target\nx,0,1\ny,0,1\n")
    run_bulk(Predictions(model), str(tmp_path / "edges.csv"), tmp_path / "out")
    assert dataset.dataset(tmp_path / "out").to_table()["id"].to_pylist() == ["x", "y"]


def test_the_parts_of_a_mixed_lake_have_one_schema(model, lake, tmp_path):
    write_all_kinds(lake)
    summary = run_bulk(Predictions(model), str(lake), tmp_path / "out")
    schemas = {str(parquet.read_schema(part).remove_metadata()) for part in (tmp_path / "out").glob("part-*")}
    assert len(schemas) == 1
    rows = sorted(dataset.dataset(tmp_path / "out").to_table().to_pylist(), key=lambda row: (row["file"], row["row"]))
    assert len(rows) == summary.rows == 15
    assert [(row["id"], row["label"]) for row in rows if row["file"] in ("b.jsonl", "d.zip", "e.parquet")] == [
        ("x", "1"), ("0", "1"), ("7", None),
    ]  # fmt: skip


def test_a_file_that_comes_later_with_other_types_is_not_mixed_in(model, lake, tmp_path):
    write_graph_rows(lake / "a.parquet", NUMBERED)
    run_bulk(Predictions(model), str(lake), tmp_path / "out")
    (lake / "b.jsonl").write_text(json.dumps({"edges": [[0, 1]]}) + "\n")
    with pytest.raises(OutputError, match=r"another id_type, label_type"):
        run_bulk(Predictions(model), str(lake), tmp_path / "out")
