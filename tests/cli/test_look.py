"""The verbs that only look: datasets and check."""

import json
import re

import pytest

from phist.graphs.datasets import DATASETS
from phist.graphs.generate import make_regular_pairs


def test_datasets_lists_the_whole_catalogue_group_by_group(run):
    text = run("datasets").stdout
    assert all(name in text for name in DATASETS)
    order = ["the paper's nine", "MUTAG", "development suite", "COX2", "large and control", "MOLHIV"]
    assert sorted(order, key=text.index) == order


def test_datasets_as_json_has_places_and_statistics(run):
    rows = {row["name"]: row for row in json.loads(run("datasets", "--json").stdout)}
    assert rows.keys() == DATASETS.keys()
    assert [name for name, row in rows.items() if row["official_split"]] == ["MOLHIV"]
    assert (rows["MUTAG"]["graphs"], rows["MUTAG"]["classes"], rows["MUTAG"]["mean_nodes"]) == (188, 2, 17.93)
    assert all(row["found"] in ("PHIST_DATA", "cache", "parsed", "grakel", "download", "missing") for row in rows.values())


@pytest.fixture
def pairs(save_jsonl, tmp_path):
    return save_jsonl(tmp_path / "pairs.jsonl", make_regular_pairs(10, seed=0))


def test_check_shows_ceiling_and_floors(run, pairs):
    text = run("check", pairs).stdout
    assert re.search(r"ceiling: the best that 1-WL can tell apart +50\.0 %", text)
    assert "floor: always the largest class" in text


def test_check_as_json_is_json_alone(run, pairs):
    result = run("check", pairs, "--json")
    content = json.loads(result.stdout)
    assert (content["n_graphs"], content["ceiling"], content["floors"]["majority"]) == (20, 50.0, 50.0)


def test_check_does_without_labels(run, unlabelled):
    assert "no labels" in run("check", unlabelled).stdout
    assert json.loads(run("check", unlabelled, "--json").stdout)["ceiling"] is None


def test_check_takes_labels_from_a_table(run, unlabelled, tmp_path):
    (tmp_path / "labels.csv").write_text("graph,label\n" + "".join(f"g{number},{number % 2}\n" for number in range(6)))
    content = json.loads(run("check", unlabelled, "--labels", tmp_path / "labels.csv", "--json").stdout)
    assert content["class_counts"] == {"0": 3, "1": 3}


def test_datasets_shows_the_folder_once_and_fits_a_terminal(run, monkeypatch, tmp_path):
    for name in ("MUTAG", "ENZYMES"):
        (tmp_path / f"{name}.zip").touch()
    monkeypatch.setenv("PHIST_DATA", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    text = run("datasets").stdout
    assert text.count(str(tmp_path)) == 1
    assert all(len(line) <= 80 for line in text.splitlines() if str(tmp_path) not in line and "http" not in line)
    assert "2,457.2" in text
