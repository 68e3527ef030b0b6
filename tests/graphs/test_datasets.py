import hashlib
import http.server
import json
import os
import shutil
import threading
import zipfile
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from phist import load_dataset
from phist.errors import DatasetError, GraphInputError
from phist.graphs import datasets
from phist.graphs.catalog import GROUPS, DatasetFacts, dataset_facts, known_dataset
from phist.graphs.datasets import DATASETS, find_dataset, load_graphs, load_split

TOY = {"A": "1, 2\n2, 1\n3, 3\n", "graph_indicator": "1\n1\n2\n", "graph_labels": "0\n1\n"}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and no other place to find anything."""
    monkeypatch.setenv("PHIST_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PHIST_DATA", raising=False)
    monkeypatch.setattr("phist.graphs.locate._in_grakel", lambda facts: None)
    return tmp_path / "cache"


def write_archive(folder, **changes):
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "TOY.zip", "w") as archive:
        for name, text in {**TOY, **changes}.items():
            archive.writestr(f"TOY/TOY_{name}.txt", text)
    return folder / "TOY.zip"


@pytest.fixture
def toy(tmp_path, cache, monkeypatch):
    """A tenth dataset, small enough to be broken in every way; its archive lies in a folder called data."""
    archive = write_archive(tmp_path / "data")
    graphs = datasets.read_tu(archive)
    facts = DatasetFacts("TOY", 2, ((0, 1), (1, 1)), 3, 1, graphs.fingerprint())
    monkeypatch.setitem(DATASETS, "TOY", facts)
    monkeypatch.setitem(dataset_facts.__globals__["_BY_PLAIN_NAME"], "toy", facts)
    return tmp_path / "data"


@pytest.fixture
def toy_data(toy, monkeypatch):
    monkeypatch.setenv("PHIST_DATA", str(toy))
    return toy


@pytest.fixture
def parses(monkeypatch):
    """How often an archive was parsed."""
    calls = []
    real = datasets.read_tu
    monkeypatch.setattr(datasets, "read_tu", lambda path: calls.append(path) or real(path))
    return calls


# Names -----------------------------------------------------------------------------------------------------------------


def test_the_catalogue_has_the_papers_nine_eight_to_develop_on_and_two_others():
    assert [len(group) for group in GROUPS.values()] == [9, 8, 2]
    assert len(DATASETS) == 19


@pytest.mark.parametrize(
    ("name", "proper"),
    [
        ("mutag", "MUTAG"),
        ("imdb_binary", "IMDB-BINARY"),
        ("IMDB-M", "IMDB-MULTI"),
        ("reddit-b", "REDDIT-BINARY"),
        ("D&D", "DD"),
        ("msrc21", "MSRC_21"),
        ("ptc-mr", "PTC_MR"),
        ("ogbg-molhiv", "MOLHIV"),
        ("deezer_ego_nets", "DEEZER-EGOS"),
        ("SYNTHIE", "Synthie"),
    ],
)
def test_names_may_be_spelt_loosely(name, proper):
    assert dataset_facts(name).name == proper


def test_every_dataset_is_found_by_its_own_name():
    assert all(known_dataset(name) is facts for name, facts in DATASETS.items())


@pytest.mark.parametrize(("name", "nearest"), [("Sinthie", "Synthie"), ("letter", "Letter-high"), ("molhivs", "MOLHIV")])
def test_the_nearest_name_is_found_in_any_case(name, nearest):
    with pytest.raises(DatasetError, match=f"Did you mean {nearest}\\?"):
        load_dataset(name)


def test_an_unknown_name_is_answered_with_the_nearest_and_all_names():
    with pytest.raises(DatasetError, match=r"Did you mean ENZYMES\? The names are MUTAG, ENZYMES, .*DEEZER-EGOS; .*a path"):
        load_dataset("ENZYME")


# The real archives -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in DATASETS if name not in ("COLLAB", "MOLHIV")])
def test_a_real_archive_has_the_content_it_should_have(dataset_folder, name):
    graphs, facts = load_dataset(name), DATASETS[name]
    assert (len(graphs), graphs.n_nodes, graphs.n_edges) == (facts.graphs, facts.nodes, facts.edges)
    assert tuple(sorted(Counter(graphs.labels.tolist()).items())) == facts.class_counts


def test_molhiv_has_its_content_and_its_scaffold_split(dataset_folder):
    graphs, (training, validation, test) = load_dataset("MOLHIV"), load_split("MOLHIV")
    positive = np.array(graphs.label_list()) == 1
    assert [len(part) for part in (training, validation, test)] == [32901, 4113, 4113]
    assert [int(positive[part].sum()) for part in (training, validation, test)] == [1232, 81, 130]
    assert np.array_equal(np.sort(np.concatenate([training, validation, test])), np.arange(len(graphs)))


@pytest.mark.parametrize(("name", "isolated"), [("NCI1", 428), ("ENZYMES", 106), ("REDDIT-BINARY", 21), ("PROTEINS", 5)])
def test_isolated_nodes_of_real_graphs_are_kept(dataset_folder, name, isolated):
    assert np.count_nonzero(load_dataset(name).degrees() == 0) == isolated


def test_the_copy_inside_grakel_is_mutag(tmp_path, monkeypatch):
    pytest.importorskip("grakel")
    monkeypatch.delenv("PHIST_DATA", raising=False)
    monkeypatch.setenv("PHIST_CACHE", str(tmp_path))
    assert find_dataset("MUTAG").kind == "grakel"
    assert load_dataset("MUTAG", download=False).fingerprint() == DATASETS["MUTAG"].fingerprint


def test_where_grakel_is_not_installed_the_place_of_mutag_is_said(tmp_path, monkeypatch):
    monkeypatch.delenv("PHIST_DATA", raising=False)
    monkeypatch.setenv("PHIST_CACHE", str(tmp_path))
    monkeypatch.setattr("phist.graphs.locate.find_spec", lambda name: None)
    place = find_dataset("MUTAG")
    assert (place.kind, place.source) == ("download", "the TU collection")
    (tmp_path / "MUTAG.zip").touch()
    assert find_dataset("MUTAG").source == "the cache"
    monkeypatch.setenv("PHIST_DATA", str(tmp_path))
    assert find_dataset("MUTAG").source == "PHIST_DATA"


# Where it is found -------------------------------------------------------------------------------------------------------


def test_phist_data_comes_before_the_cache(toy_data, cache):
    write_archive(cache)
    assert (find_dataset("TOY").kind, find_dataset("TOY").path) == ("PHIST_DATA", toy_data / "TOY.zip")


def test_an_unpacked_folder_in_phist_data_is_found(toy_data):
    with zipfile.ZipFile(toy_data / "TOY.zip") as archive:
        archive.extractall(toy_data)
    (toy_data / "TOY.zip").unlink()
    assert len(load_dataset("TOY", download=False)) == 2


def test_the_cache_comes_before_the_download(toy, cache):
    write_archive(cache)
    assert find_dataset("TOY").kind == "cache"


def test_the_download_comes_last(toy):
    place = find_dataset("TOY")
    assert (place.kind, str(place)) == ("download", "https://www.chrsmrrs.com/graphkerneldatasets/TOY.zip")


def test_a_parsed_copy_is_enough_without_archive_and_network(toy_data, monkeypatch):
    load_dataset("TOY")
    monkeypatch.delenv("PHIST_DATA")
    assert find_dataset("TOY").kind == "parsed"
    assert len(load_dataset("TOY", download=False)) == 2


def test_a_parsed_copy_that_lies_is_not_used(toy_data, cache, monkeypatch):
    load_dataset("TOY")
    monkeypatch.delenv("PHIST_DATA")
    (cache / "parsed" / "TOY" / "labels.bin").write_bytes(np.array([1, 1]).tobytes())
    with pytest.raises(DatasetError, match="is not on this machine"):
        load_dataset("TOY", download=False)


def test_phist_data_that_is_no_folder_is_an_error(toy, monkeypatch):
    monkeypatch.setenv("PHIST_DATA", str(toy / "TOY.zip"))
    with pytest.raises(DatasetError, match=r"PHIST_DATA is .*TOY.zip', which is not a folder"):
        load_dataset("TOY")


def test_an_empty_phist_data_is_unset(toy, monkeypatch):
    monkeypatch.setenv("PHIST_DATA", "")
    assert find_dataset("TOY").kind == "download"


def test_nothing_is_downloaded_when_told_not_to(toy):
    with pytest.raises(DatasetError, match=r"TOY is not on this machine .*set PHIST_DATA"):
        load_dataset("TOY", download=False)


def test_the_cache_follows_the_platform(monkeypatch):
    monkeypatch.delenv("PHIST_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/somewhere")
    monkeypatch.setattr("sys.platform", "linux")
    assert str(datasets.cache_folder()) == "/var/somewhere/phist"


def test_a_cache_we_may_not_look_into_holds_nothing(toy, monkeypatch):
    monkeypatch.setenv("PHIST_CACHE", "x" * 5000)  # no file system has names this long: looking is an error
    assert find_dataset("TOY").kind == "download"


def test_a_user_without_a_home_has_a_cache(monkeypatch):
    monkeypatch.delenv("PHIST_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("pathlib.Path.home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    assert datasets.cache_folder().is_absolute()


# Content -----------------------------------------------------------------------------------------------------------------

DIFFERENT = {
    "graphs": {"graph_indicator": "1\n2\n3\n", "graph_labels": "0\n1\n0\n", "A": ""},
    "class counts": {"graph_labels": "1\n1\n"},
    "nodes": {"graph_indicator": "1\n1\n2\n2\n"},
    "edges": {"A": ""},
    "fingerprint": {"graph_labels": "1\n0\n"},
}


@pytest.mark.parametrize(("what", "changes"), DIFFERENT.items(), ids=DIFFERENT.keys())
def test_an_archive_of_other_content_is_refused_with_what_differs(toy_data, what, changes):
    write_archive(toy_data, **changes)
    with pytest.raises(DatasetError, match=f"is not TOY: its {what} should be"):
        load_dataset("TOY")


def test_a_truncated_archive_is_refused(toy_data):
    archive = toy_data / "TOY.zip"
    archive.write_bytes(archive.read_bytes()[:60])
    with pytest.raises(DatasetError, match=r"TOY cannot be read: .*not a whole zip archive"):
        load_dataset("TOY")


# The parsed copy -----------------------------------------------------------------------------------------------------------


def test_the_second_time_nothing_is_parsed(toy_data, parses):
    assert load_dataset("TOY") == load_dataset("TOY")
    assert len(parses) == 1


def test_a_changed_archive_is_parsed_again(toy_data, parses):
    load_dataset("TOY")
    os.utime(toy_data / "TOY.zip", (1, 1))
    load_dataset("TOY")
    assert len(parses) == 2


def test_a_parsed_copy_does_not_hide_an_archive_that_went_bad(toy_data):
    load_dataset("TOY")
    write_archive(toy_data, graph_labels="1\n1\n")
    with pytest.raises(DatasetError, match="class counts"):
        load_dataset("TOY")


@pytest.mark.parametrize("name", ["indices.bin", "graphset.json", "labels.bin"])
def test_a_damaged_parsed_copy_is_made_anew(toy_data, cache, parses, name):
    first = load_dataset("TOY")
    (cache / "parsed" / "TOY" / name).write_bytes(b"{}")
    assert load_dataset("TOY") == first
    assert load_dataset("TOY") == first
    assert len(parses) == 2


def test_a_parsed_copy_with_other_content_is_made_anew(toy_data, cache, parses):
    load_dataset("TOY")
    (cache / "parsed" / "TOY" / "labels.bin").write_bytes(np.array([5, 5]).tobytes())
    assert load_dataset("TOY").labels.tolist() == [0, 1]


def test_the_parsed_copy_says_where_it_comes_from(toy_data, cache):
    load_dataset("TOY")
    extra = json.loads((cache / "parsed" / "TOY" / "graphset.json").read_text())["extra"]
    assert extra["source"]["size"] == (toy_data / "TOY.zip").stat().st_size


def test_a_cache_that_cannot_be_written_to_is_no_obstacle(toy_data, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PHIST_CACHE", str(tmp_path / "file" / "cache"))
    assert len(load_dataset("TOY")) == 2


# Download --------------------------------------------------------------------------------------------------------------


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


class BreakingHandler(QuietHandler):
    """Promises more than it sends."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"PK")


@pytest.fixture
def serve(toy, monkeypatch):
    """Serve the folder with the toy archive over HTTP."""
    servers = []

    def start(handler=QuietHandler):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(toy)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("PHIST_DATASETS_URL", f"http://127.0.0.1:{server.server_port}/")
        servers.append(server)

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_download_ends_in_the_cache(serve, cache):
    serve()
    assert len(load_dataset("TOY")) == 2
    assert find_dataset("TOY").path == cache / "TOY.zip"


def test_a_download_works_without_a_cache(serve, tmp_path, monkeypatch):
    serve()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PHIST_CACHE", str(tmp_path / "file" / "cache"))
    assert len(load_dataset("TOY")) == 2


def test_a_download_that_breaks_off_leaves_nothing(serve, cache):
    serve(BreakingHandler)
    with pytest.raises(DatasetError, match="could not be downloaded"):
        load_dataset("TOY")
    assert list(cache.iterdir()) == []


def test_a_download_has_a_limit_that_can_be_set(serve, cache):
    serve()
    with pytest.raises(DatasetError, match=r"more than 10 bytes.*max_bytes"):
        load_dataset("TOY", max_bytes=10)
    assert not list(cache.iterdir())
    assert len(load_dataset("TOY", max_bytes=10**6)) == 2


def test_a_download_that_is_not_there_says_so(serve, toy):
    serve()
    shutil.move(toy / "TOY.zip", toy / "elsewhere")
    with pytest.raises(DatasetError, match=r"the server answered 404.*set PHIST_DATA"):
        load_dataset("TOY")


def test_a_download_of_other_content_is_thrown_away(serve, toy, cache):
    serve()
    write_archive(toy, graph_labels="1\n1\n")
    with pytest.raises(DatasetError, match="class counts"):
        load_dataset("TOY")
    assert not (cache / "TOY.zip").exists()


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "nonsense", "gopher://x"])
def test_an_address_without_a_server_is_named(toy, monkeypatch, address):
    monkeypatch.setenv("PHIST_DATASETS_URL", address)
    with pytest.raises(DatasetError, match="could not be downloaded"):
        load_dataset("TOY")


# A name or a path --------------------------------------------------------------------------------------------------------


def test_a_name_loads_the_dataset(toy_data):
    assert load_graphs("toy") == load_dataset("TOY")


def test_a_path_that_exists_comes_before_a_name(toy_data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "TOY").mkdir()
    (tmp_path / "TOY" / "own.edges").write_text("0 1\n")
    assert len(load_graphs("TOY")) == 1


def test_settings_apply_to_a_dataset(toy_data):
    assert load_graphs("TOY", labels=["a", "b"], directed="keep").directed


def test_a_missing_path_is_answered_with_what_can_be_read():
    with pytest.raises(GraphInputError, match=r"there is no file or folder data/own.zip; give a TU folder.*MUTAG"):
        load_graphs("data/own.zip")


def test_a_missing_name_is_answered_with_the_names():
    with pytest.raises(DatasetError, match="is no dataset phist knows"):
        load_graphs("own")


# The official split ------------------------------------------------------------------------------------------------------


@pytest.fixture
def split_toy(toy, monkeypatch):
    """The small dataset with an official split: its first graph to train on, its second to test."""
    digest = hashlib.sha256(b"train\ntest").hexdigest()
    facts = replace(dataset_facts("TOY"), split_digest=digest, collection_name=None)
    monkeypatch.setitem(dataset_facts.__globals__["_BY_PLAIN_NAME"], "toy", facts)
    monkeypatch.setenv("PHIST_DATA", str(toy))
    write_archive(toy, split="train\ntest\n")
    return toy


def test_the_official_split_is_read_from_the_archive(split_toy):
    assert [part.tolist() for part in load_split("TOY")] == [[0], [], [1]]


def test_a_dataset_without_official_split_says_which_has_one():
    with pytest.raises(DatasetError, match=r"COX2 has no official split; MOLHIV has one"):
        load_split("COX2")


@pytest.mark.parametrize("words", ["test\ntrain\n", "train\n", "train\nTest\n", ""])
def test_another_split_than_the_published_one_is_refused(split_toy, words):
    write_archive(split_toy, split=words)
    with pytest.raises(DatasetError, match="another split"):
        load_split("TOY")


def test_an_archive_without_its_split_is_refused(split_toy):
    write_archive(split_toy)
    with pytest.raises(DatasetError, match=r"cannot be read: .*_split.txt"):
        load_split("TOY")


def test_a_parsed_copy_alone_has_no_split(split_toy):
    load_dataset("TOY")
    (split_toy / "TOY.zip").unlink()
    assert len(load_dataset("TOY")) == 2
    with pytest.raises(DatasetError, match=r"TOY is not on this machine .* set PHIST_DATA"):
        load_split("TOY")


def test_a_dataset_that_the_collection_lacks_is_missing_and_says_where_to_put_it(split_toy):
    (split_toy / "TOY.zip").unlink()
    assert find_dataset("TOY").kind == "missing"
    assert "PHIST_DATA" in str(find_dataset("TOY"))
    with pytest.raises(DatasetError, match=r"looked for TOY.zip .* not in the TU collection"):
        load_dataset("TOY")


def test_a_download_goes_by_the_name_that_the_collection_has(cache):
    assert str(find_dataset("Tox21_MMP")).endswith("/Tox21_MMP_training.zip")
    assert str(find_dataset("COX2")).endswith("/COX2.zip")
