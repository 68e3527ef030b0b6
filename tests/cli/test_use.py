"""The verbs that use a model: predict and embed."""

import csv
import io
import json

import numpy as np
import pytest

from phist import StructuralClassifier, StructuralEmbedder, read_graphs


def test_predict_writes_a_table_to_standard_output(run, model, data):
    result = run("predict", model, data)
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    graphs = read_graphs(data)
    assert [row["graph"] for row in rows] == graphs.ids.tolist()
    assert [row["predicted"] for row in rows] == StructuralClassifier.load(model).predict(graphs).tolist()
    assert float(rows[0]["p(uniform)"]) + float(rows[0]["p(recursive)"]) == pytest.approx(1, abs=1e-5)


def test_predict_tells_the_accuracy_on_standard_error(run, model, data):
    result = run("predict", model, data)
    percent = 100 * StructuralClassifier.load(model).score(read_graphs(data))
    assert f"accuracy {percent:.1f} %" in result.stderr
    assert "of 40 graphs; 95 % interval" in result.stderr


def test_on_the_file_it_was_fitted_on_the_graphs_kept_apart_are_told_apart(run, data, tmp_path):
    fitted = run("fit", data, "--out", tmp_path / "own", "--effort", "low", "--epochs", 2, "--test-fraction", 0.2, "--json")
    test = json.loads(fitted.stdout)["test"]
    result = run("predict", tmp_path / "own", data)
    assert "look exactly like graphs that the model was fitted to" in result.stderr
    assert f"kept apart in fitting: accuracy {test['accuracy']:.1f} % ({test['right']} of 8" in " ".join(result.stderr.split())
    assert len(StructuralClassifier.load(tmp_path / "own").held_out_) == 8


def test_predict_as_json_is_json_alone(run, model, data):
    content = json.loads(run("predict", model, data, "--json", "--exact").stdout)
    assert content["classes"] == ["recursive", "uniform"]
    assert content["test"]["graphs"] == len(content["predictions"]) == 40
    assert content["accuracy"] == content["test"]["accuracy"]
    first = content["predictions"][0]
    assert first["predicted"] == content["classes"][int(np.argmax(first["probabilities"]))]


def test_predict_needs_no_labels(run, model, unlabelled):
    result = run("predict", model, unlabelled)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert json.loads(run("predict", model, unlabelled, "--json").stdout)["accuracy"] is None


def test_predict_says_when_labels_are_of_another_kind(run, model, tmp_path):
    (tmp_path / "other.jsonl").write_text('{"edges": [[0, 1]], "label": "cat"}\n')
    assert "are none of the model's" in run("predict", model, tmp_path / "other.jsonl").stderr


def test_predict_says_how_many_labels_the_model_does_not_know(run, model, data, tmp_path):
    lines = data.read_text().splitlines()
    first = json.loads(lines[0]) | {"label": "cat"}
    (tmp_path / "some.jsonl").write_text("\n".join([json.dumps(first), *lines[1:]]))
    told = run("predict", model, tmp_path / "some.jsonl").stderr
    assert f"1 of {len(lines)} graphs have labels that the model does not know" in " ".join(told.split())


def test_predict_takes_either_engine(run, model, data):
    told, fused, reference = (
        json.loads(run("predict", model, data, "--json", *options).stdout)["predictions"]
        for options in ((), ("--engine", "fused"), ("--engine", "reference"))
    )
    assert told == fused
    for one, other in zip(fused, reference, strict=True):
        assert one["probabilities"] == pytest.approx(other["probabilities"], abs=1e-4)


@pytest.mark.parametrize("verb", ["predict", "embed"])
def test_an_unknown_engine_is_refused(refused, model, data, tmp_path, verb):
    assert "'fused'" in refused(verb, model, data, "--out", tmp_path / "e.npz", "--engine", "steam")


def test_predict_writes_a_file(run, model, data, tmp_path):
    result = run("predict", model, data, "--out", tmp_path / "new" / "p.csv")
    assert result.stdout == ""
    assert (tmp_path / "new" / "p.csv").read_text() == run("predict", model, data).stdout


def test_embed_npz_holds_embeddings_ids_and_labels(run, model, data, tmp_path):
    run("embed", model, data, "--out", tmp_path / "e.npz")
    graphs = read_graphs(data)
    with np.load(tmp_path / "e.npz", allow_pickle=False) as arrays:
        assert arrays.keys() == {"embeddings", "ids", "labels"}
        assert arrays["ids"].tolist() == graphs.ids.tolist()
        assert arrays["labels"].tolist() == graphs.label_list()
        np.testing.assert_array_equal(arrays["embeddings"], StructuralClassifier.load(model).transform(graphs))


def test_embed_nodes_come_with_a_pointer(run, model, data, tmp_path):
    run("embed", model, data, "--nodes", "--out", tmp_path / "n.npz")
    with np.load(tmp_path / "n.npz", allow_pickle=False) as arrays:
        first, last = arrays["node_ptr"][3:5]
        expected = StructuralClassifier.load(model).node_embeddings(read_graphs(data)[3:4])[0]
        np.testing.assert_allclose(arrays["embeddings"][first:last], expected, atol=1e-5)


@pytest.mark.parametrize(("options", "names"), [((), ["graph"]), (("--nodes",), ["graph", "node"])])
def test_embed_csv_and_npy_agree(run, model, data, tmp_path, options, names):
    for file in ("e.csv", "e.npy"):
        assert run("embed", model, data, *options, "--out", tmp_path / file).exit_code == 0
    header, *rows = csv.reader(io.StringIO((tmp_path / "e.csv").read_text()))
    assert header[: len(names) + 1] == [*names, "phist0"]
    values = np.array([row[len(names) :] for row in rows], dtype=np.float32)
    np.testing.assert_array_equal(values, np.load(tmp_path / "e.npy"))


def test_embed_takes_either_engine(run, model, data, tmp_path):
    for engine in ("fused", "reference"):
        run("embed", model, data, "--nodes", "--engine", engine, "--out", tmp_path / f"{engine}.npy")
    np.testing.assert_allclose(np.load(tmp_path / "fused.npy"), np.load(tmp_path / "reference.npy"), atol=1e-4)


def test_embed_takes_an_embedder_too(run, data, tmp_path):
    StructuralEmbedder(random_state=0).fit(read_graphs(data).with_labels(None)).save(tmp_path / "embedder")
    assert run("embed", tmp_path / "embedder", data, "--out", tmp_path / "e.npy").exit_code == 0
    assert len(np.load(tmp_path / "e.npy")) == 40


def test_embed_says_what_it_wrote_as_json(run, refused, model, data, tmp_path):
    content = json.loads(run("embed", model, data, "--out", tmp_path / "e.npz", "--json").stdout)
    assert (content["format"], content["rows"], content["each"]) == ("npz", 40, "graphs")
    assert "both write to standard output" in refused("embed", model, data, "--out", "-", "--json")


def test_embed_says_what_the_model_takes_no_notice_of(run, model, tmp_path):
    (tmp_path / "weights.jsonl").write_text('{"edges": [[0, 1, 2.5], [1, 2, 0.5]]}\n')
    result = run("embed", model, tmp_path / "weights.jsonl", "--out", tmp_path / "w.csv", "--json")
    assert "edge weights" in result.stderr
    assert "edge weights" in json.loads(result.stdout)["notices"][0]
