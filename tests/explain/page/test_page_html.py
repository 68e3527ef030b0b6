"""The page of explanations, also in a real browser."""

import base64
import gzip
import json
import re

import networkx as nx
import numpy as np
import pytest
from browser import Browser, find_browser
from explained_page import choose

from phist import StructuralClassifier, what_if
from phist.errors import ConfigError, GraphInputError
from phist.explain.page import html
from phist.explain.page.html import make_page
from phist.explain.page.packing import Packer, unpack
from phist.graphs.datasets import find_dataset, load_dataset
from phist.graphs.generate import make_trees
from phist.graphs.motifs import make_ba_2motifs

NOTE = "document.getElementById('graph-note').textContent"
HOSTILE = '</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">'


@pytest.fixture(scope="module")
def graphs():
    return make_ba_2motifs(30, seed=0)[0]


@pytest.fixture(scope="module")
def model(graphs):
    return StructuralClassifier("low", random_state=0, progress=False, members=("network",)).fit(graphs)


@pytest.fixture(scope="module")
def page(model, graphs):
    return make_page(model, graphs, name=HOSTILE)


def content_of(page):
    """What the page carries, and its arrays."""
    data, arrays = (re.search(rf'id="{name}">(.*?)</script>', page, re.DOTALL)[1] for name in ("data", "arrays"))
    return json.loads(data), gzip.decompress(base64.b64decode(arrays))


def test_the_page_carries_what_the_model_says(page, model, graphs):
    content, arrays = content_of(page)
    said = unpack(content["map"]["probabilities"], arrays).reshape(len(graphs), -1)
    np.testing.assert_allclose(said, model.predict_proba(graphs), atol=1e-5)


def test_the_page_is_the_same_every_time(page, model, graphs):
    assert make_page(model, graphs, name=HOSTILE) == page


def test_wanted_graphs_are_the_ones_explained_in_full(model, graphs):
    content, arrays = content_of(make_page(model, graphs, wanted=[3, 7]))
    assert unpack(content["details"]["graphs"], arrays).tolist() == [3, 7]
    assert len(content["map"]["ids"]) == len(graphs)


def test_no_graphs_are_refused(model, graphs):
    with pytest.raises(GraphInputError, match="no graph was given"):
        make_page(model, graphs[:0])


def test_a_page_that_is_too_large_is_refused(model, graphs, monkeypatch):
    monkeypatch.setattr(html, "MOST_BYTES", 1000)
    with pytest.raises(ConfigError, match="explain fewer graphs"):
        make_page(model, graphs[:2])


def test_a_class_that_the_model_does_not_know_is_refused(model, graphs):
    with pytest.raises(ConfigError, match="'tree' is no class of this model; its classes are"):
        make_page(model, graphs[:2], target="tree")


def test_a_page_of_mutag_is_below_a_megabyte():
    if find_dataset("MUTAG").kind == "download":
        pytest.skip("MUTAG is not on this machine")
    mutag = load_dataset("MUTAG")
    model = StructuralClassifier("low", random_state=0, progress=False).fit(mutag)
    assert len(make_page(model, mutag).encode()) < 1_000_000


def test_of_a_large_graph_the_neighbourhood_of_its_strongest_node_is_shown(model, launch):
    browser = launch(make_page(model, make_trees(2, n_nodes=5000, seed=0)[:1], max_deletions=2))
    assert "Shown are the 120 nodes around the strongest one of 5000" in browser.run(NOTE)
    assert browser.run("document.getElementById('edit').disabled")
    assert "not shown as a whole" in browser.run("document.getElementById('why-note').textContent")


def test_a_graph_that_would_take_long_is_shown_with_what_was_stored(model, launch):
    browser = launch(make_page(model, make_trees(1, n_nodes=290, seed=0), max_deletions=2))
    assert "too large to be computed in a page" in browser.run("document.getElementById('why-note').textContent")
    assert browser.run("document.getElementById('check').textContent") == "shows stored numbers only"


def test_a_graph_that_is_not_explained_in_full_shows_what_the_page_computes(launch, model, graphs):
    browser = launch(make_page(model, graphs, wanted=[3]))
    browser.run(
        "((box) => { box.value = 'effect'; box.dispatchEvent(new Event('change')); })(document.getElementById('colouring'))"
    )
    chosen = "document.getElementById('colouring').value"
    assert browser.run(chosen) == "effect"
    choose(browser, 5)
    assert browser.run(chosen) == "share"
    assert "against and for" in browser.run("document.getElementById('graph-key').textContent")
    assert "not explained in full" in browser.run("document.getElementById('similar').textContent")
    choose(browser, 3)
    assert browser.run(chosen) == "effect"


def test_one_graph_and_one_edge_are_not_called_many(launch, model):
    browser = launch(make_page(model, [nx.path_graph(2)]))
    assert browser.run("document.getElementById('lead').textContent").startswith("1 graph, 2 classes, 1 explained in full.")
    assert browser.run("document.getElementById('graph-said').textContent").split(" · ")[-1] == "2 nodes, 1 edge"


def test_a_map_of_many_graphs_is_not_covered_by_their_dots(launch, model):
    browser = launch(make_page(model, make_ba_2motifs(400, seed=1)[0], wanted=[0], max_deletions=0))
    canvas = "document.getElementById('map-canvas')"
    pixels = f"{canvas}.getContext('2d').getImageData(0, 0, {canvas}.width, {canvas}.height).data"
    covered = browser.run(f"{pixels}.filter((value, place) => place % 4 === 3 && value > 0).length")
    assert covered < 400 * 70  # pixels, their soft edges included


def test_quantised_numbers_come_back_with_what_was_not_computed():
    packer = Packer()
    place = packer.quantise([0.5, np.nan, -1.0])
    found = unpack(place, gzip.decompress(base64.b64decode(packer.text())))
    np.testing.assert_allclose(found, [0.5, np.nan, -1.0], atol=1e-4)


@pytest.fixture(scope="module")
def browser(tmp_path_factory, page):
    program = find_browser()
    if program is None:
        pytest.skip("no browser is installed: the page is looked at in chromium, as in 'apt-get install chromium'")
    folder = tmp_path_factory.mktemp("browser")
    (folder / "page.html").write_text(page)
    browser = Browser(program, folder / "profile")
    browser.open(folder / "page.html")
    browser.wait_for("document.documentElement.dataset.ready === 'true'")
    yield browser
    browser.close()


def test_in_a_browser_the_page_agrees_with_python(browser):
    assert browser.run("document.getElementById('check').className") == "good"


def test_in_a_browser_no_pane_is_wider_than_the_screen(browser):
    for width in (1440, 820, 390):
        browser.resize(width)
        assert browser.run("document.documentElement.scrollWidth") <= width


def test_in_a_browser_arrows_move_the_root_and_graphs(browser):
    note = "document.getElementById('graph-note').textContent.match(/node \\d+/)[0]"
    before = browser.run(note)
    browser.run("document.getElementById('graph-canvas').focus()")
    for key, code in (("ArrowLeft", 37), ("ArrowRight", 39), ("ArrowRight", 39)):
        browser.press(key, code)
    assert browser.run(note) != before
    browser.run("document.getElementById('map-canvas').focus()")
    browser.press("ArrowRight", 39)
    assert browser.run("document.getElementById('graph-title').textContent") == "Graph 1"


def test_in_a_browser_an_edit_moves_the_prediction_as_what_if_says(browser, model, graphs):
    browser.run("document.getElementById('table-graphs').open = true")
    browser.wait_for("document.querySelectorAll('#table-graphs button').length > 5")
    browser.run("document.querySelectorAll('#table-graphs button')[5].click()")
    source, target = graphs[5].edges()[0].tolist()
    browser.run("document.getElementById('edit').click()")
    browser.run(f"document.getElementById('edit-from').value = {source}, document.getElementById('edit-to').value = {target}")
    browser.run("document.getElementById('edit-bar').requestSubmit()")
    shown = browser.run("[...document.querySelectorAll('#bars .bar')].map((bar) => Number(bar.dataset.value))")
    np.testing.assert_allclose(shown, what_if(model, graphs[5], remove=[(source, target)]).after, atol=1e-4)


def test_in_a_browser_nothing_is_asked_for_and_hostile_names_do_nothing(browser):
    assert browser.run("document.querySelector('h1').textContent") == HOSTILE
    assert browser.run("window.hacked === undefined")
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith("file:")] == []
