"""Streams into sharded Parquet: nothing lost, nothing twice, whatever happens meanwhile."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as dataset
import pyarrow.parquet as parquet
import pytest

from phist import StructuralClassifier, read_graphs
from phist.errors import ConfigError, GraphInputError, OutputError
from phist.graphs.formats.graph_rows import write_graph_rows
from phist.graphs.generate import make_trees
from phist.graphs.packing import Reading
from phist.scale.answers import Embeddings, Predictions, model_fingerprint
from phist.scale.bulk import run_bulk
from phist.scale.parts import SKIPPED, OutputFolder, Shard
from phist.scale.stretches import Limits

GRAPHS = make_trees(100, n_nodes=8, seed=0)
LIMITS = Limits(part_rows=16, batch_rows=7)


@pytest.fixture
def lake(tmp_path):
    """The graphs in a folder: some as Parquet, some as JSONL, some as a saved set."""
    folder = tmp_path / "lake"
    folder.mkdir()
    write_graph_rows(folder / "a.parquet", GRAPHS[:50])
    lines = [{"id": str(g.id), "n_nodes": g.n_nodes, "edges": g.edges().tolist(), "label": g.label} for g in GRAPHS[50:80]]
    (folder / "b.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    GRAPHS[80:].save(folder / "c")
    return folder


def rows_of(out):
    rows = [row for file in sorted(out.glob("part-*.parquet")) for row in parquet.read_table(file).to_pylist()]
    return sorted(rows, key=lambda row: (row["file"], row["row"]))


def test_a_stream_gives_the_embeddings_of_the_whole_to_the_last_bit(model, lake, tmp_path):
    summary = run_bulk(Embeddings(model), str(lake), tmp_path / "out", limits=LIMITS)
    rows = rows_of(tmp_path / "out")
    assert summary.rows == summary.graphs == len(rows) == 100
    assert [str(row["id"]) for row in rows] == [str(identity) for identity in GRAPHS.ids]
    expected = StructuralClassifier.load(model).transform(GRAPHS)
    assert np.array_equal(np.array([row["embedding"] for row in rows], np.float32), expected)


def test_predictions_come_with_labels_and_accuracy(model, lake, tmp_path):
    summary = run_bulk(Predictions(model), str(lake), tmp_path / "out", limits=LIMITS)
    rows, fitted = rows_of(tmp_path / "out"), StructuralClassifier.load(model)
    assert [row["predicted"] for row in rows] == fitted.predict(GRAPHS).tolist()
    assert np.array_equal([row["probabilities"] for row in rows], fitted.predict_proba(GRAPHS))
    assert [row["label"] for row in rows] == GRAPHS.label_list()
    assert (summary.labelled, summary.right) == (100, round(100 * fitted.score(GRAPHS)))


def test_a_lone_graph_is_answered_as_among_others(model):
    answers = Predictions(model)
    together = answers.columns(GRAPHS)["probabilities"].to_pylist()
    assert [answers.columns(GRAPHS[[n]])["probabilities"].to_pylist()[0] for n in range(20)] == together[:20]


def test_a_part_says_which_model_made_it(model, lake, tmp_path):
    run_bulk(Predictions(model), str(lake / "a.parquet"), tmp_path / "out", limits=LIMITS)
    metadata = parquet.read_metadata(next((tmp_path / "out").glob("part-*")))
    note = json.loads(metadata.metadata[b"phist"])
    assert note["model"] == model_fingerprint(model)
    assert note["classes"] == StructuralClassifier.load(model).classes_.tolist()


def test_vectors_are_lists_of_fixed_size(model, lake, tmp_path):
    run_bulk(Embeddings(model), str(lake), tmp_path / "out", limits=LIMITS)
    kind = parquet.read_schema(next((tmp_path / "out").glob("part-*"))).field("embedding").type
    assert pa.types.is_fixed_size_list(kind)
    assert kind.value_type == pa.float32()


def test_shards_together_are_the_whole_and_share_no_row(model, lake, tmp_path):
    counts = [run_bulk(Embeddings(model), str(lake), tmp_path / "out", limits=LIMITS, shard=Shard(i, 3)).graphs for i in (1, 2, 3)]
    assert sum(counts) == len(rows_of(tmp_path / "out")) == 100
    assert all(counts)


def test_a_finished_run_does_nothing_again(model, lake, tmp_path):
    run_bulk(Embeddings(model), str(lake), tmp_path / "out", limits=LIMITS)
    assert run_bulk(Embeddings(model), str(lake), tmp_path / "out", limits=LIMITS).graphs == 0


def test_a_file_that_comes_later_is_all_that_is_done(model, lake, tmp_path):
    run_bulk(Embeddings(model), str(lake), tmp_path / "out", limits=LIMITS)
    write_graph_rows(lake / "d.parquet", GRAPHS[:5])
    assert run_bulk(Embeddings(model), str(lake), tmp_path / "out", limits=LIMITS).graphs == 5


def test_a_torn_part_is_written_again(model, lake, tmp_path):
    run_bulk(Embeddings(model), str(lake), tmp_path / "out", limits=LIMITS)
    part = next((tmp_path / "out").glob("part-a-*"))
    part.write_bytes(part.read_bytes()[:100])
    assert run_bulk(Embeddings(model), str(lake), tmp_path / "out", limits=LIMITS).graphs == 16
    assert len(rows_of(tmp_path / "out")) == 100


def bad_lake(folder):
    folder.mkdir()
    good = {"n_nodes": 2, "sources": [0], "targets": [1]}
    rows = [good] * 40
    rows[17], rows[33] = {**good, "targets": [5]}, {**good, "targets": [1, 1]}
    parquet.write_table(pa.Table.from_pylist(rows), folder / "a.parquet")
    (folder / "b.jsonl").write_text('{"edges": [[0, 1]]}\nnonsense\n{"edges": [[0, 1]]}\n')
    write_graph_rows(folder / "torn.parquet", GRAPHS)
    content = (folder / "torn.parquet").read_bytes()
    (folder / "torn.parquet").write_bytes(content[: len(content) // 2])
    return folder


def test_bad_rows_and_torn_files_are_set_aside_with_file_and_row(model, tmp_path):
    lake, out = bad_lake(tmp_path / "lake"), tmp_path / "out"
    summary = run_bulk(Embeddings(model), str(lake), out, limits=LIMITS, on_error="skip")
    skipped = [json.loads(line) for line in (out / SKIPPED).read_text().splitlines()]
    assert [(one["file"], one["row"], one["rows"]) for one in skipped] == [
        ("a.parquet", 17, 1), ("a.parquet", 33, 1), ("b.jsonl", 1, 1), ("torn.parquet", 0, None),
    ]  # fmt: skip
    assert summary.rows == 38 + 2
    assert dataset.dataset(out).count_rows() == 40


def test_a_torn_file_that_was_replaced_is_read(model, tmp_path):
    lake, out = bad_lake(tmp_path / "lake"), tmp_path / "out"
    run_bulk(Embeddings(model), str(lake), out, limits=LIMITS, on_error="skip")
    write_graph_rows(lake / "torn.parquet", GRAPHS)
    assert run_bulk(Embeddings(model), str(lake), out, limits=LIMITS, on_error="skip").rows == 140


def test_the_first_bad_row_stops_the_run_and_is_named(model, tmp_path):
    lake, out = bad_lake(tmp_path / "lake"), tmp_path / "out"
    with pytest.raises(GraphInputError, match=r"a\.parquet, row 17: .*--on-error skip"):
        run_bulk(Embeddings(model), str(lake), out, limits=LIMITS)
    assert len(rows_of(out)) == 16  # the part before it is kept


def test_graphs_without_nodes_may_be_left_out(model, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"edges": [], "n_nodes": 0}\n{"edges": [[0, 1]]}\n\n')
    run_bulk(Embeddings(model), str(tmp_path / "a.jsonl"), tmp_path / "out", reading=Reading(empty="drop"))
    assert [row["row"] for row in rows_of(tmp_path / "out")] == [1]


def test_results_of_another_model_are_not_mixed(model, lake, tmp_path):
    run_bulk(Embeddings(model), str(lake), tmp_path / "out", limits=LIMITS)
    with pytest.raises(OutputError, match="another run"):
        run_bulk(Predictions(model), str(lake), tmp_path / "out", limits=LIMITS)


def test_results_of_another_engine_are_not_mixed(model, lake, tmp_path):
    run_bulk(Embeddings(model), str(lake), tmp_path / "out", limits=LIMITS)
    answers = Embeddings(model)
    answers.model.engine = "reference"
    with pytest.raises(OutputError, match="another engine"):
        run_bulk(answers, str(lake), tmp_path / "out", limits=LIMITS)


def test_a_source_that_changed_is_refused(model, lake, tmp_path):
    run_bulk(Embeddings(model), str(lake), tmp_path / "out", limits=LIMITS)
    write_graph_rows(lake / "a.parquet", GRAPHS[:20])
    with pytest.raises(OutputError, match="has changed"):
        run_bulk(Embeddings(model), str(lake), tmp_path / "out", limits=LIMITS)


def test_a_folder_of_something_else_is_left_alone(model, lake, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("mine")
    with pytest.raises(OutputError, match="something else"):
        run_bulk(Embeddings(model), str(lake), tmp_path / "thesis", limits=LIMITS)
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["thesis.tex"]


def test_a_shard_that_begins_while_another_does_shares_its_folder(tmp_path, monkeypatch):
    OutputFolder(tmp_path / "out", {"verb": "embed"})
    answers = iter([False, True])  # the other shard's file comes between the first look and the second
    monkeypatch.setattr(Path, "exists", lambda path: next(answers))
    OutputFolder(tmp_path / "out", {"verb": "embed"})
    assert next(answers, None) is None


def test_answers_are_not_written_where_they_would_be_read_as_graphs(model, lake):
    for out in (lake, lake / "answers"):
        with pytest.raises(OutputError, match="which is read; choose a place outside of it"):
            run_bulk(Embeddings(model), str(lake), out, limits=LIMITS)
    with pytest.raises(OutputError, match="which is read"):
        run_bulk(Embeddings(model), str(lake / "*.parquet"), lake, limits=LIMITS)


@pytest.mark.parametrize("text", ["0/2", "3/2", "a/b", "2", "1/0"])
def test_an_improper_shard_is_refused(text):
    with pytest.raises(ConfigError, match="two numbers i/n"):
        Shard.parse(text)


def test_ten_kills_lose_no_row_and_double_none(model, tmp_path):
    lake, out = tmp_path / "lake", tmp_path / "out"
    lake.mkdir()
    for number in range(3):
        write_graph_rows(lake / f"{number}.parquet", make_trees(400, n_nodes=8, seed=number))
    command = [sys.executable, "-m", "phist", "embed", model, lake, "--out", out, "--part-rows", "20", "--batch-rows", "4"]
    rng = np.random.default_rng(0)
    for _ in range(10):
        before = len(list(out.glob("part-*")))
        process = subprocess.Popen([str(word) for word in command], env=os.environ, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(list(out.glob("part-*"))) <= before:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.03))
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run([str(word) for word in command], env=os.environ, check=True)
    whole = run_bulk(Embeddings(model), str(lake), tmp_path / "whole", limits=Limits(20, 4))
    assert rows_of(out) == rows_of(tmp_path / "whole")
    assert len(rows_of(out)) == whole.rows == 1200


def test_what_was_read_whole_is_what_was_streamed(lake):
    assert read_graphs(lake / "a.parquet") == GRAPHS[:50]


def test_rows_that_were_set_aside_are_not_counted_as_answered(model, tmp_path):
    summary = run_bulk(Embeddings(model), str(bad_lake(tmp_path / "lake")), tmp_path / "out", limits=LIMITS, on_error="skip")
    assert (summary.graphs, summary.skipped) == (40, 4)


def test_a_bad_row_is_called_by_its_own_number_alone(model, tmp_path):
    lake, out = bad_lake(tmp_path / "lake"), tmp_path / "out"
    run_bulk(Embeddings(model), str(lake), out, limits=LIMITS, on_error="skip")
    first = json.loads((out / SKIPPED).read_text().splitlines()[0])
    assert first["reason"].startswith("it has the edge 0-5")
