"""Streams on the command line: what phist embed and phist predict do with folders and patterns of files."""

import json

import numpy as np
import pyarrow.parquet as parquet
import pytest

from phist import StructuralClassifier, StructuralEmbedder, read_graphs
from phist.graphs.formats.graph_rows import write_graph_rows
from phist.graphs.generate import make_trees
from phist.graphs.packing import pack

GRAPHS = make_trees(30, n_nodes=8, seed=3)


@pytest.fixture
def lake(tmp_path):
    folder = tmp_path / "lake"
    folder.mkdir()
    write_graph_rows(folder / "a.parquet", GRAPHS[:20])
    write_graph_rows(folder / "b.parquet", GRAPHS[20:])
    return folder


def rows_of(out):
    rows = [row for part in out.glob("part-*.parquet") for row in parquet.read_table(part).to_pylist()]
    return sorted(rows, key=lambda row: (row["file"], row["row"]))


def test_a_folder_is_streamed_into_a_folder(run, model, lake, tmp_path):
    result = run("embed", model, lake, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "30 graphs, 30 of them now" in result.stderr
    vectors = np.array([row["embedding"] for row in rows_of(tmp_path / "out")], np.float32)
    assert np.array_equal(vectors, StructuralClassifier.load(model).transform(GRAPHS))


def test_a_pattern_takes_the_files_that_fit_it(run, model, lake, tmp_path):
    run("embed", model, lake / "b*.parquet", "--out", tmp_path / "out")
    assert {row["file"] for row in rows_of(tmp_path / "out")} == {"b.parquet"}


def test_predict_streams_probabilities_and_tells_the_accuracy(run, model, lake, tmp_path):
    result, fitted = run("predict", model, lake, "--out", tmp_path / "out"), StructuralClassifier.load(model)
    assert f"accuracy {100 * fitted.score(GRAPHS):.1f} % of 30 labelled graphs" in result.stderr
    rows = rows_of(tmp_path / "out")
    assert np.array_equal([row["probabilities"] for row in rows], fitted.predict_proba(GRAPHS))
    assert [row["predicted"] for row in rows] == fitted.predict(GRAPHS).tolist()


def test_a_stream_says_what_it_wrote_as_json(run, model, lake, tmp_path):
    content = json.loads(run("predict", model, lake, "--out", tmp_path / "out", "--json").stdout)
    right = round(30 * StructuralClassifier.load(model).score(GRAPHS))
    assert (content["rows"], content["graphs"], content["labelled"], content["right"], content["skipped"]) == (30, 30, 30, right, 0)


def test_a_stream_says_that_labels_the_model_does_not_know_count_as_missed(run, model, tmp_path):
    write_graph_rows(tmp_path / "a.parquet", GRAPHS.with_labels(["oak"] * 30))
    told = " ".join(run("predict", model, tmp_path / "a.parquet", "--stream", "--out", tmp_path / "out").stderr.split())
    assert "accuracy 0.0 % of 30 labelled graphs; labels that the model does not know count as missed" in told


def test_a_single_file_is_streamed_where_it_is_asked_for(run, model, data, tmp_path):
    run("embed", model, data, "--stream", "--out", tmp_path / "out")
    assert len(rows_of(tmp_path / "out")) == len(read_graphs(data))


def test_part_rows_are_the_rows_of_a_file(run, model, lake, tmp_path):
    run("embed", model, lake, "--out", tmp_path / "out", "--part-rows", 8)
    parts = sorted((tmp_path / "out").glob("part-*.parquet"))
    assert [parquet.read_metadata(part).num_rows for part in parts] == [8, 8, 4, 8, 2]


def test_batch_rows_change_no_bit(run, model, lake, tmp_path):
    for size in (3, 1000):
        run("embed", model, lake, "--out", tmp_path / str(size), "--batch-rows", size)
    assert rows_of(tmp_path / "3") == rows_of(tmp_path / "1000")


def test_shards_make_up_the_whole(run, model, lake, tmp_path):
    for shard in ("1/2", "2/2"):
        run("embed", model, lake, "--out", tmp_path / "out", "--part-rows", 5, "--shard", shard)
    run("embed", model, lake, "--out", tmp_path / "whole", "--part-rows", 5)
    assert rows_of(tmp_path / "out") == rows_of(tmp_path / "whole")


def test_a_shard_alone_streams_a_single_file(run, model, data, tmp_path):
    run("embed", model, data, "--out", tmp_path / "out", "--part-rows", 10, "--shard", "1/2")
    assert 0 < len(rows_of(tmp_path / "out")) < len(read_graphs(data))


def bad_file(lake):
    (lake / "c.jsonl").write_text('{"edges": [[0, 1]]}\nnonsense\n')


def test_a_bad_row_ends_the_run_with_file_and_row(refused, model, lake, tmp_path):
    bad_file(lake)
    message = refused("embed", model, lake, "--out", tmp_path / "out")
    assert "c.jsonl, row 1" in message and "--on-error skip" in message


def test_bad_rows_may_be_set_aside(run, model, lake, tmp_path):
    bad_file(lake)
    result = run("embed", model, lake, "--out", tmp_path / "out", "--on-error", "skip")
    assert "_skipped.jsonl, 1 entries" in " ".join(result.stderr.split())
    skipped = json.loads((tmp_path / "out" / "_skipped.jsonl").read_text())
    assert (skipped["file"], skipped["row"]) == ("c.jsonl", 1)
    assert len(rows_of(tmp_path / "out")) == 31


def test_exact_inference_is_that_of_the_model(run, model, lake, tmp_path):
    fitted = StructuralClassifier.load(model)
    fitted.inference = "exact"
    run("embed", model, lake, "--out", tmp_path / "out", "--exact")
    assert np.array_equal(np.array([row["embedding"] for row in rows_of(tmp_path / "out")], np.float32), fitted.transform(GRAPHS))


@pytest.mark.parametrize("other", [("--engine", "reference"), ("--exact",), ("--part-rows", "7"), ("--weights", "ignore")])
def test_results_under_other_settings_are_not_mixed(run, refused, model, lake, tmp_path, other):
    run("embed", model, lake, "--out", tmp_path / "out")
    assert "results of another run" in refused("embed", model, lake, "--out", tmp_path / "out", *other)


def test_threads_change_no_bit_and_are_no_other_run(run, model, lake, tmp_path):
    run("embed", model, lake, "--out", tmp_path / "out", "--threads", 2, "--shard", "1/2", "--part-rows", 5)
    run("embed", model, lake, "--out", tmp_path / "out", "--threads", 1, "--part-rows", 5)
    run("embed", model, lake, "--out", tmp_path / "one", "--threads", 1, "--part-rows", 5)
    assert rows_of(tmp_path / "out") == rows_of(tmp_path / "one")


def test_weights_and_graphs_without_nodes_are_settled_as_asked(run, model, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"edges": [], "n_nodes": 0}\n{"edges": [[0, 1, -2]]}\n')
    settled = ("--empty", "drop", "--weights", "abs", "--self-loops", "drop", "--directed", "symmetrise")
    result = run("embed", model, tmp_path / "a.jsonl", "--stream", "--out", tmp_path / "out", *settled)
    assert result.exit_code == 0, result.output
    assert [row["row"] for row in rows_of(tmp_path / "out")] == [1]


def test_a_file_that_would_take_too_much_memory_is_refused(refused, model, tmp_path):
    write_graph_rows(tmp_path / "a.parquet", pack(np.array([100_000]), np.array([0]), np.array([1])))
    assert "max_bytes" in refused(
        "embed", model, tmp_path / "a.parquet", "--stream", "--out", tmp_path / "out", "--max-bytes", 1000
    )


@pytest.mark.parametrize(
    ("verb", "options", "said"),
    [
        ("embed", ("--out", "-"), "name it with --out"),
        ("predict", (), "name it with --out"),
        ("embed", ("--out", "out", "--nodes"), "--nodes is for graphs that are read at once"),
        ("embed", ("--out", "out", "--format", "csv"), "--format is for graphs that are read at once"),
        ("predict", ("--out", "out", "--labels", "table.csv"), "--labels is for graphs that are read at once"),
        ("predict", ("--out", "out", "--node-table", "table.csv"), "--node-table is for graphs that are read at once"),
        ("embed", ("--out", "out", "--shard", "3/2"), "two numbers i/n"),
        ("embed", ("--out", "out", "--on-error", "ignore"), "on_error"),
        ("embed", ("--out", "out", "--engine", "fast"), "engine"),
    ],
)
def test_what_a_stream_cannot_do_is_refused(refused, model, lake, tmp_path, monkeypatch, verb, options, said):
    monkeypatch.chdir(tmp_path)
    assert said in refused(verb, model, lake, *options)


@pytest.mark.parametrize("option", ["--part-rows", "--batch-rows"])
def test_no_rows_at_all_are_refused(run, model, lake, tmp_path, option):
    assert run("embed", model, lake, "--out", tmp_path / "out", option, 0).exit_code == 2


def test_an_embedder_has_no_classes_to_predict(refused, run, lake, tmp_path):
    StructuralEmbedder(training={"epochs": 1}, random_state=0, progress=False).fit(GRAPHS).save(tmp_path / "embedder")
    assert "has no classes" in refused("predict", tmp_path / "embedder", lake, "--out", tmp_path / "out")
    assert run("embed", tmp_path / "embedder", lake, "--out", tmp_path / "out").exit_code == 0


def test_a_folder_of_nothing_is_told_of(refused, model, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "nothing that can be streamed" in refused("embed", model, tmp_path / "empty", "--stream", "--out", tmp_path / "out")
