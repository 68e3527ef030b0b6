"""phist theory: capacity, bound and separate."""

import json

import networkx as nx
import numpy as np
import pytest

from phist.graphs.convert import as_graphset


@pytest.fixture
def corners(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n0.5,0.5\n-0.5,-0.5\n")
    np.save(tmp_path / "b.npy", np.array([[0.5, -0.5], [-0.5, 0.5]]))
    return tmp_path / "a.csv", tmp_path / "b.npy"


@pytest.fixture
def regular(tmp_path, save_jsonl):
    graphs = as_graphset([nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)), nx.path_graph(6)])
    return save_jsonl(tmp_path / "regular.jsonl", graphs, labelled=False)


def judged(result, view=0):
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)["views"][view]
    assert all(verdict["verified"] for verdict in content["verdicts"])
    return content, {verdict["aggregation"]: verdict for verdict in content["verdicts"]}


def test_capacity_as_json(run):
    report = json.loads(run("theory", "capacity", "--dim", 3, "--bins", 4, "--json").stdout)
    assert [report[key] for key in ("rank", "capacity", "capacity_bounded", "printed")] == [10, 11, 10, 12]
    assert report["guaranteed"] == {"free": 42, "confined": 22}


def test_capacity_for_people(run):
    text = run("theory", "capacity", "--dim", 32, "--bins", 8).stdout
    assert "rank 225" in text and "refuted: S* is dependent" in text
    assert "m! as printed" in text and "phi in whole numbers" in text


@pytest.mark.parametrize("as_json", [False, True])
def test_capacity_of_very_many_coordinates(run, as_json):
    result = run("theory", "capacity", "--dim", 100_000, *(["--json"] if as_json else []))
    assert result.exit_code == 0, result.output
    assert '"confined": null' in result.stdout if as_json else "about 10^60206.0" in result.stdout


@pytest.mark.parametrize(("option", "value"), [("--dim", 0), ("--bins", -1)])
def test_capacity_refuses_what_is_no_histogram(refused, option, value):
    assert "must be at least 1" in refused("theory", "capacity", option, value)


def test_bound_as_json_with_its_packing(run):
    report = json.loads(run("theory", "bound", "--dim", 2, "--delta", 0.2, "--p", 2, "--packing", "--json").stdout)
    assert (report["outputs"], report["sharper_outputs"], report["any_function"]) == (8, 32, 1)
    assert report["packing"]["verified"] and report["packing"]["count"] >= 8


def test_bound_for_people_says_where_it_fails(run):
    text = run("theory", "bound", "--dim", 100, "--delta", 0.01, "--domain", "ball").stdout
    assert "about 10^169.9" in text and "1: the printed proof compares two countable sets" in text


@pytest.mark.parametrize(
    ("arguments", "most"),
    [(("--delta", 2.5), 1), (("--delta", 1.5, "--p", 2, "--domain", "ball"), 9), (("--delta", 0.5), 4**8)],
)
def test_bound_claims_no_more_points_than_there_are(run, arguments, most):
    report = json.loads(run("theory", "bound", "--dim", 8, *arguments, "--json").stdout)
    assert report["outputs"] <= report["sharper_outputs"] <= most
    assert report["exact"] == (report["domain"] == "box")


def test_bound_keeps_numbers_apart(run):
    text = run("theory", "bound", "--dim", 2, "--size", 1_000_000_000).stdout
    assert "up to 1,000,000,000  " in text and "exactly" in text


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--delta", -1, "delta=-1.0"),
        ("--delta", 0, "positive"),
        ("--p", 0.5, "order of a norm"),
        ("--domain", "x", "choose one of"),
    ],
)
def test_bound_refuses_bad_settings(refused, option, value, message):
    assert message in refused("theory", "bound", option, value)


def test_separate_finds_the_projection_of_figure_one(run, corners):
    view, verdicts = judged(run("theory", "separate", *corners, "--bins", 2, "--dim", 2, "--delta", 1, "--json"))
    assert view["delta_equal"] and view["bottleneck_distance"] == 1
    assert not verdicts["histogram"]["as_is"]
    assert np.shape(verdicts["histogram"]["projection"]["weights"]) == (2, 2)


def test_separate_certifies_what_cannot_be_done(run, tmp_path):
    (tmp_path / "once.csv").write_text("1,2\n3,4\n")
    (tmp_path / "twice.csv").write_text("x,y,count\n1,2,2\n3,4,2\n")
    _, verdicts = judged(run("theory", "separate", tmp_path / "once.csv", tmp_path / "twice.csv", "--json"))
    assert "proportional" in verdicts["mean"]["reason"] and "same distinct vectors" in verdicts["max"]["reason"]
    assert verdicts["sum"]["tells_apart"] and verdicts["histogram"]["tells_apart"]
    view, _ = judged(run("theory", "separate", tmp_path / "once.csv", tmp_path / "once.csv", "--json"))
    assert view["equal"] and "no aggregation function" in view["certificate"]


def test_separate_for_people(run, corners):
    text = run("theory", "separate", *corners).stdout
    assert "bottleneck distance 1" in text and "histogram " in text


def test_separate_sees_graphs_by_colours_and_by_responses(run, regular):
    result = run("theory", "separate", regular, regular, "--other-index", 1, "--json")
    colors, _ = judged(result)
    responses, verdicts = judged(result, view=1)
    assert colors["equal"] and "no message passing" in colors["certificate"]
    assert not responses["equal"] and verdicts["histogram"]["tells_apart"]
    assert "no message passing" in run("theory", "separate", regular, regular, "--other-index", 1).stdout


def test_separate_says_that_a_hexagon_and_a_complete_graph_are_not_told_apart(run, tmp_path, save_jsonl):
    graphs = save_jsonl(tmp_path / "pair.jsonl", as_graphset([nx.cycle_graph(6), nx.complete_graph(6)]), labelled=False)
    result = run("theory", "separate", graphs, graphs, "--other-index", 1, "--json")
    embedding, _ = judged(result, view=3)
    assert embedding["view"] == "graph-embedding" and embedding["equal"]
    assert "does not tell the graphs apart" in embedding["certificate"]
    assert not judged(result, view=2)[0]["equal"]


def test_separate_reads_graphs_with_the_options_of_the_other_verbs(run, refused, tmp_path):
    (tmp_path / "g.jsonl").write_text('{"edges": [[0, 1]]}\n{"edges": [], "n_nodes": 0}\n{"edges": [[0, 1], [1, 2]]}\n')
    pair = ("theory", "separate", tmp_path / "g.jsonl", tmp_path / "g.jsonl", "--other-index", 1)
    assert "empty" in refused(*pair)
    assert json.loads(run(*pair, "--empty", "drop", "--json").stdout)["views"][0]["sizes"] == [2, 3]
    assert "max-bytes" in refused(*pair, "--empty", "drop", "--max-bytes", 5)
    (tmp_path / "e.csv").write_text("graph,source,target\na,0,1\nb,0,1\n")
    (tmp_path / "n.csv").write_text("graph,n_nodes\na,2\nb,4\n")
    tables = ("theory", "separate", tmp_path / "e.csv", tmp_path / "e.csv", "--other-index", 1, "--node-table", tmp_path / "n.csv")
    assert json.loads(run(*tables, "--json").stdout)["views"][0]["sizes"] == [2, 4]


def test_separate_reads_graphs_as_the_model_has_read_its_own(run, tmp_path):
    arcs = [
        {"edges": [[0, 1], [0, 2]], "directed": True, "label": "out"},
        {"edges": [[1, 0], [2, 0]], "directed": True, "label": "in"},
    ]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(graph) + "\n" for graph in arcs * 6))
    fitted = run(
        "fit",
        tmp_path / "d.jsonl",
        "--out",
        tmp_path / "m",
        "--effort",
        "low",
        "--members",
        "network",
        "--epochs",
        1,
        "--directed",
        "keep",
    )
    assert fitted.exit_code == 0, fitted.output
    pair = ("theory", "separate", tmp_path / "d.jsonl", tmp_path / "d.jsonl", "--other-index", 1, "--json")
    kept = json.loads(run(*pair, "--model", tmp_path / "m").stdout)
    assert not kept["views"][3]["equal"]


def test_separate_takes_a_trained_network(run, regular, model):
    responses, _ = judged(run("theory", "separate", regular, regular, "--other-index", 2, "--model", model, "--json"), view=1)
    assert responses["view"] == "responses" and not responses["equal"]


def test_separate_takes_a_table_of_edges_for_graphs(run, tmp_path):
    (tmp_path / "edges.csv").write_text("graph,source,target\na,0,1\na,1,2\nb,0,1\nb,1,2\nb,2,0\n")
    edges = tmp_path / "edges.csv"
    content = json.loads(run("theory", "separate", edges, edges, "--other-index", 1, "--json").stdout)
    assert content["kind"] == "graphs" and not content["views"][0]["equal"]


def test_separate_refuses_what_does_not_fit(refused, corners, regular, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "three.csv").write_text("1,2,3\n")
    (tmp_path / "nan.csv").write_text("1,nan\n")
    for other, message in (
        (tmp_path / "empty.csv", "empty multiset"),
        (tmp_path / "three.csv", "dimensions [2, 3]"),
        (tmp_path / "nan.csv", "must be finite"),
        (tmp_path / "none.csv", "no file"),
        (regular, "two of a kind"),
    ):
        assert message in refused("theory", "separate", corners[0], other)
    assert "graph 9" in refused("theory", "separate", regular, regular, "--index", 9)
    assert "delta=-1" in refused("theory", "separate", *corners, "--delta", -1)
    assert "order of a norm" in refused("theory", "separate", *corners, "--p", "x")
    assert "not a model folder" in refused("theory", "separate", regular, regular, "--model", tmp_path)


# Constructions --------------------------------------------------------------------------------------------------------


@pytest.fixture
def vectors(tmp_path):
    paths = [tmp_path / f"{number}.csv" for number in range(4)]
    for number, path in enumerate(paths):
        path.write_text(f"0,0\n{number},1\n")
    return paths


@pytest.mark.parametrize(("method", "outputs"), [("entries", 3), ("subsets", 3), ("weights", 1)])
def test_sum_is_constructed_and_verified(run, vectors, method, outputs):
    report = json.loads(run("theory", "sum", *vectors, "--method", method, "--json").stdout)
    assert report["verified"] and report["outputs"] <= report["most_outputs"] == outputs
    assert len({tuple(sums) for sums in report["sums"]}) == 4
    assert "verified" in run("theory", "sum", *vectors, "--method", method).stdout


@pytest.mark.parametrize("method", ["star", "corner", "labels", "scatter"])
def test_histogram_is_constructed_and_verified(run, vectors, method):
    report = json.loads(run("theory", "histogram", *vectors, "--method", method, "--confined", "--json").stdout)
    assert report["verified"] and report["capacity"] >= 4
    assert len({str(histogram) for histogram in report["histograms"]}) == 4
    assert "all else -> (" in run("theory", "histogram", *vectors).stdout


def test_constructions_refuse_what_cannot_be_told_apart(refused, vectors):
    assert "at least two" in refused("theory", "sum", vectors[0])
    assert "method='x'" in refused("theory", "sum", *vectors, "--method", "x")
    assert "a capacity of 2" in refused("theory", "histogram", *vectors, "--dim", 1, "--bins", 2, "--confined")


def test_proposition_is_evaluated_for_two_graphs(run, refused, regular):
    result = run("theory", "proposition", regular, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["holds"]["sound"] and 0 < report["actual"] <= report["sound"]
    assert len(report["distances"]) == len(report["edges"]) - 1
    assert "sound bound" in run("theory", "proposition", regular, regular, "--other-index", 2).stdout
    assert "graph 9" in refused("theory", "proposition", regular, "--other-index", 9)


def test_roots_are_sampled_and_their_distance_measured(run, regular):
    result = run("theory", "roots", regular, "--draws", 3, "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["distances"]
    assert [row["roots"] for row in rows] == [1, 2, 4, 8, 16, 32, 64, 128]
    assert rows[0]["mean"] > rows[-1]["mean"]
    assert "mean node embedding" in run("theory", "roots", regular, "--draws", 2).stdout
