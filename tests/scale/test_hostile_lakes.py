"""Lakes that hold more than graphs: pipes, endless files, links in a circle, tables that unpack to gigabytes, damaged parts."""

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_models import quick_network

from phist import read_graphs
from phist.cli.bulk import StreamOptions, run_stream
from phist.cli.options import READING_DEFAULTS
from phist.cli.saved_models import MODEL_DEFAULTS
from phist.errors import GraphInputError, ModelFileError
from phist.graphs.formats.graph_rows import write_graph_rows
from phist.graphs.generate import make_trees
from phist.scale.answers import Predictions
from phist.scale.bulk import run_bulk
from phist.scale.notes import METADATA, read_note
from phist.scale.sources import find_sources, is_stream

GRAPHS = make_trees(12, n_nodes=7, seed=0)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    place = tmp_path_factory.mktemp("model") / "trees"
    quick_network().fit(GRAPHS).save(place)
    return place


@pytest.fixture(scope="module")
def predictions(model):
    return Predictions(model)


@pytest.fixture
def lake(tmp_path):
    (tmp_path / "lake").mkdir()
    write_graph_rows(tmp_path / "lake" / "a.parquet", GRAPHS)
    return tmp_path / "lake"


def write_rows(path, n_nodes=3, **columns):
    rows = len(next(iter(columns.values()), [0]))
    given = {"n_nodes": pa.array([n_nodes] * rows), "sources": pa.array([[0, 1]] * rows), "targets": pa.array([[1, 2]] * rows)}
    pq.write_table(pa.table(given | columns), path, compression="zstd")


def run_lengths(count):
    """One list of so many zeros, which takes no room in a file."""
    return pa.LargeListArray.from_arrays(pa.array([0, count], pa.int64()), pa.array(np.zeros(count, np.int32)))


@pytest.mark.parametrize("name", ["b.jsonl", "b.parquet", "b.zip"])
def test_a_pipe_in_a_lake_is_refused_or_set_aside(predictions, lake, tmp_path, name):
    os.mkfifo(lake / name)
    with pytest.raises(GraphInputError, match="neither a file nor a folder"):
        run_bulk(predictions, str(lake), tmp_path / "out")
    assert run_bulk(predictions, str(lake), tmp_path / "out", on_error="skip").rows == len(GRAPHS)


def test_a_file_without_end_is_refused(predictions, lake, tmp_path):
    (lake / "b.jsonl").symlink_to("/dev/zero")
    with pytest.raises(GraphInputError, match="neither a file nor a folder"):
        run_bulk(predictions, str(lake), tmp_path / "out")


def test_a_link_to_nothing_is_refused(predictions, lake, tmp_path):
    (lake / "b.parquet").symlink_to(lake / "gone.parquet")
    with pytest.raises(GraphInputError, match="no file or folder"):
        run_bulk(predictions, str(lake), tmp_path / "out")


def test_links_in_a_circle_are_followed_once(lake):
    (lake / "deeper").mkdir()
    for name in ("x", "y", "z"):
        (lake / name).symlink_to(lake)
        (lake / "deeper" / name).symlink_to(lake)
    assert is_stream(str(lake))
    assert [source.name for source in find_sources(str(lake))[1]] == ["a.parquet"]


def test_lists_of_equal_values_are_judged_by_their_number(predictions, lake, tmp_path):
    lists = run_lengths(20_000_000)
    write_rows(lake / "b.parquet", sources=lists, targets=lists)
    assert (lake / "b.parquet").stat().st_size < 10_000
    with pytest.raises(GraphInputError, match=r"unpack to 320,0.*--max-bytes 320"):
        run_bulk(predictions, str(lake), tmp_path / "out")
    with pytest.raises(GraphInputError, match=r"unpacks to 320,0.*--max-bytes 320"):
        read_graphs(lake / "b.parquet")
    assert run_bulk(predictions, str(lake), tmp_path / "skipped", on_error="skip").skipped == 1


def test_a_long_id_in_every_row_is_refused_where_all_rows_would_hold_it(predictions, lake, tmp_path):
    write_rows(lake / "b.parquet", id=pa.array(["x" * 100_000] * 50 + ["y"]))
    with pytest.raises(GraphInputError, match="the column id holds a text of 100,000 bytes; 65,536 are the most"):
        run_bulk(predictions, str(lake), tmp_path / "out")
    summary = run_bulk(predictions, str(lake), tmp_path / "skipped", on_error="skip")
    assert (summary.rows, summary.skipped) == (len(GRAPHS) + 1, 50)
    assert len(set(map(id, read_graphs(lake / "b.parquet").ids.tolist()))) <= 51


def test_two_columns_of_one_name_are_refused(predictions, lake, tmp_path):
    columns = [pa.array([3]), pa.array([[0]]), pa.array([[1]]), pa.array([[2]])]
    pq.write_table(pa.Table.from_arrays(columns, names=["n_nodes", "sources", "targets", "targets"]), lake / "b.parquet")
    for ask in (lambda: run_bulk(predictions, str(lake), tmp_path / "out"), lambda: read_graphs(lake / "b.parquet")):
        with pytest.raises(GraphInputError, match="several columns targets"):
            ask()


def test_half_a_character_is_spelled_out_in_answers(predictions, lake, tmp_path):
    (lake / "b.jsonl").write_text(json.dumps({"edges": [[0, 1]], "id": "a\ud800", "label": "\udfff"}))
    run_bulk(predictions, str(lake), tmp_path / "out")
    ids = [name for part in (tmp_path / "out").glob("part-b-*") for name in pq.read_table(part)["id"].to_pylist()]
    assert ids == ["a\\ud800"]


@pytest.mark.parametrize(
    "note",
    [
        {},
        [],
        {"rows": "many"},
        {"rows": -1},
        {"last": 1},
        {"skipped": [{}]},
        {"skipped": "none"},
        {"stamp": None},
        {"source": 3},
        {"extra": 1},
    ],
    ids=str,
)
def test_a_part_that_says_odd_things_of_itself_is_written_again(predictions, lake, tmp_path, note):
    run_bulk(predictions, str(lake), tmp_path / "out")
    (part,) = (tmp_path / "out").glob("part-*.parquet")
    whole = pq.read_table(part)
    said = json.loads(pq.read_metadata(part).metadata[METADATA])
    said["part"] = {**said["part"], **note} if isinstance(note, dict) and note else note
    with pq.ParquetWriter(part, whole.schema) as writer:
        writer.write_table(whole)
        writer.add_key_value_metadata({METADATA: json.dumps(said).encode()})
    assert read_note(part) is None
    assert run_bulk(predictions, str(lake), tmp_path / "out").graphs == len(GRAPHS)
    assert read_note(part).rows == len(GRAPHS)


def test_a_pipe_in_place_of_what_was_written_is_refused(predictions, lake, tmp_path):
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out" / "_run.json")
    with pytest.raises(ModelFileError, match="is not a file"):
        run_bulk(predictions, str(lake), tmp_path / "out")


def test_what_a_model_ignores_is_said_once(model, lake, tmp_path, capsys):
    weights = pa.array([[2.0, 3.0]] * 30)
    write_rows(lake / "b.parquet", n_nodes=100, weights=weights)
    run_stream(
        "predict", model, str(lake), tmp_path / "out", MODEL_DEFAULTS, READING_DEFAULTS, StreamOptions(part_rows=4, batch_rows=2)
    )
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("the graphs have edge weights and the model was fitted to graphs without any") == 1
    assert said.count("30 of 42 graphs have more than 4 times as many nodes") == 1
