"""Functions of batches: the same answers as a single process, in the form that the batch has."""

import pickle
import shutil
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from phist import StructuralClassifier
from phist.errors import ConfigError, GraphInputError, ModelFileError
from phist.graphs.formats.graph_rows import write_graph_rows
from phist.graphs.generate import make_trees
from phist.graphs.packing import Reading
from phist.scale import batches, embed_batches, predict_batches

GRAPHS = make_trees(30, n_nodes=8, seed=0)
BAD = {"n_nodes": 2, "sources": [0], "targets": [5]}
GOOD = {"n_nodes": 2, "sources": [0], "targets": [1]}


@pytest.fixture
def table(tmp_path):
    write_graph_rows(tmp_path / "graphs.parquet", GRAPHS)
    return pa.parquet.read_table(tmp_path / "graphs.parquet")


@pytest.fixture
def expected(model):
    return StructuralClassifier.load(model).transform(GRAPHS)


def test_an_arrow_table_gets_the_embeddings_of_a_single_process(model, table, expected):
    answer = embed_batches(model)(table)
    assert answer.column_names == ["id", "n_nodes", "label", "embedding"]
    assert np.array_equal(np.stack(answer.column("embedding").to_pylist()).astype(np.float32), expected)


def test_a_frame_keeps_its_index_and_its_other_columns(model, table, expected):
    frame = table.to_pandas().assign(batch="first").set_index(pd.Index(range(100, 130)))
    answer = embed_batches(model)(frame)
    assert list(answer.columns) == ["id", "n_nodes", "label", "batch", "embedding"]
    assert answer.index.tolist() == list(range(100, 130))
    assert np.array_equal(np.stack(answer["embedding"]), expected)


def test_a_mapping_of_arrays_gets_a_matrix(model, table, expected):
    frame = table.to_pandas()
    answer = embed_batches(model)({name: frame[name].to_numpy() for name in frame.columns})
    assert answer["embedding"].dtype == np.float32
    assert np.array_equal(answer["embedding"], expected)


def test_predictions_are_those_of_the_classifier(model, table):
    answer, classifier = predict_batches(model)(table), StructuralClassifier.load(model)
    assert answer.column("predicted").to_pylist() == classifier.predict(GRAPHS).tolist()
    assert np.array_equal(answer.column("probabilities").to_pylist(), classifier.predict_proba(GRAPHS))


def test_batches_of_any_size_give_the_same_bits(model, table, expected):
    embed = embed_batches(model)
    parts = [embed(table.slice(begin, 7)) for begin in range(0, 30, 7)]
    assert np.array_equal(np.stack(pa.concat_tables(parts).column("embedding").to_pylist()).astype(np.float32), expected)


def test_threads_of_one_process_do_not_disturb_each_other(model, table, expected):
    embed, answers = embed_batches(model), {}

    def call(number):
        answers[number] = embed(table)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers.values():
        assert np.array_equal(np.stack(answer.column("embedding").to_pylist()).astype(np.float32), expected)
    assert len(answers) == 4


def test_an_empty_batch_has_the_columns_of_a_full_one(model, table):
    embed = embed_batches(model)
    assert embed(table.slice(0, 0)).schema == embed(table).schema
    frame = embed(table.to_pandas().iloc[:0])
    assert list(frame.columns) == ["id", "n_nodes", "label", "embedding"]
    mapping = {name: [] for name in ("n_nodes", "sources", "targets")}
    assert embed(mapping)["embedding"].shape == (0, np.stack(embed(table)["embedding"].to_pylist()).shape[1])


def test_a_model_is_loaded_once_whatever_the_number_of_batches(model, table, monkeypatch):
    batches.load_answers.cache_clear()
    loaded = []

    class Counted(batches.Embeddings):
        def __init__(self, path):
            loaded.append(path)
            super().__init__(path)

    monkeypatch.setitem(batches._QUESTIONS, "embed", Counted)
    for _ in range(3):
        pickle.loads(pickle.dumps(embed_batches(model)))(table)
    batches.load_answers.cache_clear()
    assert loaded == [str(model)]


def test_what_is_pickled_is_small(model):
    assert len(pickle.dumps(embed_batches(model))) < 1000


def test_a_model_that_was_replaced_meanwhile_is_refused(model, table, tmp_path):
    shutil.copytree(model, tmp_path / "model")
    embed = embed_batches(tmp_path / "model")
    batches.load_answers.cache_clear()
    (tmp_path / "model" / "config.json").write_text("{}")
    with pytest.raises(ModelFileError, match="not the one that the job was started with"):
        embed(table)


def test_a_missing_model_is_told_of_before_anything_is_sent(tmp_path):
    with pytest.raises(ModelFileError, match="no model folder"):
        embed_batches(tmp_path / "nowhere")


def test_a_bad_row_is_an_error_that_names_it(model):
    table = pa.Table.from_pylist([{"id": "a", **GOOD}, {"id": "b", **BAD}])
    with pytest.raises(GraphInputError, match=r"row 1 of a batch \(id 'b'\)"):
        embed_batches(model)(table)


def test_a_bad_row_may_be_left_without_an_answer(model):
    answer = embed_batches(model, on_error="skip")(pa.Table.from_pylist([GOOD, BAD, GOOD]))
    assert [row is None for row in answer.column("embedding").to_pylist()] == [False, True, False]
    assert [row is None for row in answer.column("error").to_pylist()] == [True, False, True]


def test_a_batch_of_bad_rows_alone_has_no_answer(model):
    answer = predict_batches(model, on_error="skip")(pd.DataFrame([BAD, BAD]))
    assert answer["predicted"].isna().all()


def test_graphs_without_nodes_may_be_left_without_an_answer(model):
    rows = pa.Table.from_pylist([GOOD, {"n_nodes": 0, "sources": [], "targets": []}])
    answer = embed_batches(model, reading=Reading(empty="drop"))(rows)
    assert answer.column("embedding").null_count == 1


def test_columns_of_something_else_are_refused(model):
    with pytest.raises(GraphInputError, match="no column targets"):
        embed_batches(model)(pd.DataFrame({"n_nodes": [2], "sources": [[0]]}))
    with pytest.raises(GraphInputError, match="sources cannot be read"):
        embed_batches(model)({"n_nodes": [2], "sources": np.array([object()]), "targets": [[1]]})
    with pytest.raises(GraphInputError, match="n_nodes cannot be read"):
        embed_batches(model)({"n_nodes": [2**64], "sources": [[0]], "targets": [[1]]})


@pytest.mark.parametrize("odd", [{"threads": 0}, {"on_error": "ignore"}, {"engine": "fast"}])
def test_improper_settings_are_refused(model, odd):
    with pytest.raises(ConfigError):
        embed_batches(model, **odd)


def test_another_engine_and_exact_inference_can_be_asked_for(model, table):
    expected = StructuralClassifier.load(model)
    expected.engine, expected.inference = "reference", "exact"
    answer = embed_batches(model, engine="reference", exact=True)(table)
    assert np.allclose(answer.column("embedding").to_pylist(), expected.transform(GRAPHS), atol=1e-5)
