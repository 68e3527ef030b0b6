import csv
import json

import numpy as np
import pytest

from phist import StructuralClassifier, read_graphs
from phist.cli.evaluate import _show_confusion
from phist.cli.screen import console
from phist.graphs.generate import make_trees
from phist.metrics import compute_metrics


@pytest.fixture(scope="module")
def expected(model, data):
    classifier, graphs = StructuralClassifier.load(model), read_graphs(data)
    targets = [classifier.classes_.tolist().index(label) for label in graphs.label_list()]
    return compute_metrics(classifier.predict_proba(graphs), targets)


def test_evaluate_shows_every_metric_and_the_confusion(run, model, data, expected):
    text = run("evaluate", model, data).stdout
    assert "On 40 graphs" in text
    assert f"accuracy           {100 * expected.accuracy:.1f} % (95 % interval" in text
    assert f"ROC-AUC            {expected.roc_auc:.3f}" in text
    for name in ("balanced accuracy", "log-loss", "calibration error", "Brier score", "recursive", "uniform"):
        assert name in text


def test_evaluate_as_json_is_json_alone(run, model, data, expected):
    content = json.loads(run("evaluate", model, data, "--json").stdout)
    interval = content["metrics"].pop("interval")
    assert interval == pytest.approx(list(expected.interval))
    assert content["metrics"] == pytest.approx({name: value for name, value in expected.to_dict().items() if name != "interval"})
    assert content["classes"] == ["recursive", "uniform"]
    assert content["unknown_classes"] == []
    assert sum(map(sum, content["confusion"])) == 40
    right = content["confusion"][0][0] + content["confusion"][1][1]
    assert right / 40 == content["metrics"]["accuracy"]


def test_evaluate_writes_a_row_for_every_graph(run, model, data, tmp_path):
    run("evaluate", model, data, "--out", tmp_path / "graphs.csv")
    rows = list(csv.DictReader((tmp_path / "graphs.csv").open()))
    graphs = read_graphs(data)
    assert [row["graph"] for row in rows] == graphs.ids.tolist()
    assert [row["label"] for row in rows] == graphs.label_list()
    assert [row["predicted"] for row in rows] == StructuralClassifier.load(model).predict(graphs).tolist()


def test_graphs_that_the_model_was_fitted_to_are_no_measure_and_evaluate_says_so(run, model, data):
    result = run("evaluate", model, data)
    assert "40 of 40 graphs look exactly like graphs that the model was fitted to" in " ".join(result.stderr.split())
    assert "fitted to" in json.loads(run("evaluate", model, data, "--json").stdout)["notices"][0]


def test_ids_that_a_spreadsheet_would_take_for_formulas_are_made_harmless(run, model, tmp_path):
    (tmp_path / "odd.jsonl").write_text('{"id": "=1+1", "edges": [[0, 1]], "label": "uniform"}\n')
    run("evaluate", model, tmp_path / "odd.jsonl", "--out", tmp_path / "graphs.csv")
    assert (tmp_path / "graphs.csv").read_text().splitlines()[1].startswith("'=1+1,uniform,")


def test_a_label_that_the_model_never_saw_counts_as_missed(run, model, data, tmp_path, save_jsonl):
    lines = data.read_text().splitlines()
    lines[0] = json.dumps(json.loads(lines[0]) | {"label": "star"})
    (tmp_path / "more.jsonl").write_text("\n".join(lines) + "\n")
    content = json.loads(run("evaluate", model, tmp_path / "more.jsonl", "--json").stdout)
    assert content["unknown_classes"] == ["star"]
    assert sum(content["confusion"][2]) == 1 and content["confusion"][2][2] == 0
    assert "never saw star" in run("evaluate", model, tmp_path / "more.jsonl").stdout


def test_one_graph_can_be_evaluated(run, model, tmp_path, save_jsonl):
    save_jsonl(tmp_path / "one.jsonl", make_trees(2, n_nodes=8, seed=1)[:1])
    assert json.loads(run("evaluate", model, tmp_path / "one.jsonl", "--json").stdout)["metrics"]["roc_auc"] is None


def test_graphs_without_labels_are_refused(refused, model, unlabelled):
    assert "--labels" in refused("evaluate", model, unlabelled)


def test_labels_of_another_kind_are_refused(refused, model, tmp_path):
    (tmp_path / "other.jsonl").write_text('{"edges": [[0, 1]], "label": "cat"}\n')
    assert "none of the model's" in refused("evaluate", model, tmp_path / "other.jsonl")


def test_a_place_that_cannot_be_written_is_refused_first(refused, model, data, tmp_path):
    assert "is a folder" in refused("evaluate", model, data, "--out", tmp_path)


def test_many_classes_are_shown_as_the_most_frequent_confusions(capsys):
    classes = [f"class{number}" for number in range(12)]
    counts = np.diag(np.full(12, 5))
    counts[3, 7], counts[2, 1] = 9, 4
    _show_confusion(console(), classes, counts)
    shown = capsys.readouterr().out
    assert shown.index("9  class3 predicted as class7") < shown.index("4  class2 predicted as class1")
    assert "5  " not in shown


@pytest.mark.parametrize("verb", ["evaluate", "validate"])
def test_graphs_are_read_with_the_options_of_the_other_verbs(run, refused, model, tmp_path, verb):
    own = (model,) if verb == "evaluate" else ()
    more = () if verb == "evaluate" else ("--folds", 2, "--members", "colours", "--effort", "low")
    lines = ['{"edges": [[0, 1], [1, 2]], "label": "uniform"}', '{"edges": [[0, 1]], "label": "recursive"}'] * 6
    (tmp_path / "empty.jsonl").write_text("\n".join([*lines, '{"edges": [], "n_nodes": 0, "label": "uniform"}']))
    assert "empty" in refused(verb, *own, tmp_path / "empty.jsonl", *more)
    found = run(verb, *own, tmp_path / "empty.jsonl", "--empty", "drop", "--json", *more)
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["metrics"]["n"] == 12
    assert "max-bytes" in refused(verb, *own, tmp_path / "empty.jsonl", "--empty", "drop", "--max-bytes", 10, *more)
    table = "graph,source,target\n" + "".join(f"{n},0,1\n" for n in range(12))
    (tmp_path / "edges.csv").write_text(table)
    (tmp_path / "labels.csv").write_text("graph,label\n" + "".join(f"{n},{('uniform', 'recursive')[n % 2]}\n" for n in range(13)))
    (tmp_path / "nodes.csv").write_text("graph,n_nodes\n" + "".join(f"{n},3\n" for n in range(13)))
    tables = (tmp_path / "edges.csv", "--labels", tmp_path / "labels.csv", "--node-table", tmp_path / "nodes.csv")
    found = run(verb, *own, *tables, "--json", *more)
    assert json.loads(found.stdout)["metrics"]["n"] == 13, found.output


def test_labels_of_a_table_are_the_models_however_its_other_labels_are_written(run, tmp_path):
    graphs = make_trees(24, n_nodes=8, seed=0)
    rows = [f"{name},{source},{target}" for name, graph in enumerate(graphs) for source, target in graph.edges().tolist()]
    (tmp_path / "edges.csv").write_text("\n".join(["graph,source,target", *rows]))
    names = ["1" if label == "uniform" else "2" for label in graphs.label_list()]
    for file, labels in {"numbers": names, "mixed": ["x", *names[1:]]}.items():
        rows = [f"{number},{label}" for number, label in enumerate(labels)]
        (tmp_path / f"{file}.csv").write_text("\n".join(["graph,label", *rows]))
    for fitted, asked in (("numbers", "mixed"), ("mixed", "numbers")):
        model, labels = tmp_path / fitted, ("--labels", tmp_path / f"{asked}.csv")
        quick = ("--effort", "low", "--members", "colours")
        assert run("fit", tmp_path / "edges.csv", "--labels", tmp_path / f"{fitted}.csv", "--out", model, *quick).exit_code == 0
        found = json.loads(run("evaluate", model, tmp_path / "edges.csv", *labels, "--json").stdout)
        assert found["unknown_classes"] == (["x"] if asked == "mixed" else [])
        assert "accuracy" in run("predict", model, tmp_path / "edges.csv", *labels).stderr
