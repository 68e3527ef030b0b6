"""The page as somebody uses it, in a real browser."""

import base64
import gzip
import json

import numpy as np
import pytest
from explained_page import GRAPH_NOTE, MAP_NOTE, TITLE, box_of, choose, click, picture

from phist.explain.page.packing import unpack
from phist.explain.page.selection import margin

MARGIN = 22  # pixels around the map


def count_of(browser):
    return int(browser.run(MAP_NOTE).split()[0])


@pytest.fixture(autouse=True)
def desktop(browsed):
    browsed.resize(1440, 1000)


@pytest.fixture
def known(browsed_graphs, browsed_model):
    """Numbers of the true classes, and the probabilities."""
    classes = browsed_model.classes_.tolist()
    return np.array([classes.index(graph.label) for graph in browsed_graphs]), browsed_model.predict_proba(browsed_graphs)


def test_filters_show_mistakes_uncertain_graphs_and_look_alikes(browsed, known):
    labels, probabilities = known
    expected = {
        "wrong": (probabilities.argmax(1) != labels).sum(),
        "uncertain": (margin(probabilities) < 0.2).sum(),
        "alike": 8,
        "test": 16,
        "all": len(labels),
    }
    for name, count in expected.items():
        shown = browsed.run(f"document.querySelector('[data-filter={name}] b').textContent")
        assert int(shown) == count
        if count:
            click(browsed, f"[data-filter={name}]")
            assert count_of(browsed) == count


def test_a_look_alike_says_that_nobody_can_tell(browsed):
    choose(browsed, 0)
    assert "Nobody can tell graph 0 by 1-WL from 1 other, of another class." in browsed.run(MAP_NOTE)


def test_search_finds_a_graph_and_enter_opens_it(browsed):
    browsed.run("document.getElementById('search').focus()")
    browsed.send("Input.insertText", text="31")
    assert count_of(browsed) == 1
    browsed.press("Enter", 13)
    assert browsed.run(TITLE) == "Graph 31"
    browsed.run("((box) => { box.value = ''; box.dispatchEvent(new Event('input')); })(document.getElementById('search'))")
    assert count_of(browsed) == 36


def test_a_lasso_keeps_the_graphs_inside(browsed):
    left, top, width, height = box_of(browsed, "map-canvas")
    click(browsed, "#lasso")
    corners = [(0.01, 0.01), (0.5, 0.01), (0.5, 0.99), (0.01, 0.99), (0.01, 0.5)]
    browsed.drag(*((left + x * width, top + y * height) for x, y in corners))
    inside = count_of(browsed)
    click(browsed, "#lasso")
    assert 0 < inside < 36
    click(browsed, "#zoom-all")
    assert count_of(browsed) == 36


def test_the_nearest_graphs_are_one_click_away(browsed):
    choose(browsed, 0)
    names = browsed.run("[...document.querySelectorAll('#nearest button')].map((button) => button.textContent)")
    assert len(names) == 6 and names[0] == "32"  # the same graph with the other label
    click(browsed, "#nearest button")
    assert browsed.run(TITLE) == "Graph 32"


def test_graphs_are_drawn_when_the_map_is_zoomed(browsed):
    drawn = "Number(document.getElementById('map-canvas').dataset.thumbnails)"
    click(browsed, "#zoom-all")
    assert browsed.run(drawn) == 0
    for _ in range(3):
        click(browsed, "#zoom-in")
    assert browsed.run(drawn) > 0
    click(browsed, "#zoom-all")


def test_the_graph_under_the_pointer_is_named_on_the_map(browsed):
    left, top, width, height = box_of(browsed, "map-canvas")
    browsed.point(left + width / 2, top - 5)
    before = picture(browsed, "map-canvas")
    places = [(left + x * width, top + y * height) for y in np.linspace(0.05, 0.95, 12) for x in np.linspace(0.05, 0.95, 12)]
    assert any(_moved(browsed, place, before) for place in places)


def test_a_drawn_graph_is_named_wherever_it_is_pointed_at(browsed):
    choose(browsed, 0)
    for _ in range(6):
        click(browsed, "#zoom-in")  # the chosen graph comes to the middle
    left, top, width, height = box_of(browsed, "map-canvas")
    browsed.point(left + width / 2, top - 5)
    before = picture(browsed, "map-canvas")
    assert _moved(browsed, (left + width / 2 + 20, top + height / 2 + 12), before)
    click(browsed, "#zoom-all")


def _moved(browser, place, before):
    browser.point(*place)
    return picture(browser, "map-canvas") != before


def hover_until_the_root_changes(browser):
    left, top, width, height = box_of(browser, "graph-canvas")
    before = browser.run(GRAPH_NOTE)
    for y in np.linspace(0.1, 0.9, 30):
        for x in np.linspace(0.05, 0.95, 30):
            browser.point(left + x * width, top + y * height)
            if browser.run(GRAPH_NOTE) != before:
                return left + x * width, top + y * height
    raise AssertionError("no node was found under the pointer")


def test_a_node_under_the_pointer_becomes_the_root_and_its_impulse_spreads(browsed):
    choose(browsed, 8)
    slider = "((slider) => [Number(slider.value), Number(slider.max)])(document.getElementById('hops'))"
    hover_until_the_root_changes(browsed)
    now, most = browsed.run(slider)
    assert now < most
    browsed.wait_for(f"document.getElementById('hops').value === '{most}'")


def test_who_wants_less_motion_sees_where_the_impulse_ends(browsed):
    browsed.prefer(reduced_motion="reduce")
    choose(browsed, 9)
    hover_until_the_root_changes(browsed)
    assert browsed.run("((slider) => slider.value === slider.max)(document.getElementById('hops'))")
    browsed.prefer(reduced_motion="no-preference")


def test_the_slider_shows_how_far_the_impulse_has_come(browsed):
    choose(browsed, 10)
    before = picture(browsed, "graph-canvas")
    browsed.run("((slider) => { slider.value = 1; slider.dispatchEvent(new Event('input')); })(document.getElementById('hops'))")
    assert picture(browsed, "graph-canvas") != before
    assert browsed.run("document.getElementById('hops-value').textContent").startswith("1 of")


def test_bars_show_the_classes_with_their_spread_over_draws(browsed, known):
    choose(browsed, 11)
    values = browsed.run("[...document.querySelectorAll('#bars .bar')].map((bar) => Number(bar.dataset.value))")
    np.testing.assert_allclose(values, known[1][11], atol=1e-5)
    assert browsed.run("document.querySelectorAll('#bars .spread').length") == 2


def test_channels_come_in_the_order_of_their_effects(browsed):
    choose(browsed, 12)
    effects = browsed.run("[...document.querySelectorAll('#channels .number')].map((cell) => Math.abs(Number(cell.textContent)))")
    assert len(effects) > 3 and effects == sorted(effects, reverse=True)
    before = picture(browsed, "why-canvas")
    click(browsed, "#channels button:last-child")
    assert picture(browsed, "why-canvas") != before


def test_a_tick_of_the_histogram_points_to_its_node(browsed):
    choose(browsed, 13)
    left, top, width, height = box_of(browsed, "why-canvas")
    before = picture(browsed, "graph-canvas")
    changed = False
    for x in np.linspace(0.02, 0.98, 40):
        browsed.point(left + x * width, top + height - 36)
        changed = changed or picture(browsed, "graph-canvas") != before
    assert changed


def test_the_histogram_has_the_mean_of_each_class_beside_it(browsed):
    key = browsed.run("document.getElementById('why-key').textContent")
    assert "mean of cycle" in key and "mean of house" in key


def test_roots_elsewhere_that_see_the_same_can_be_opened(browsed):
    choose(browsed, 14)
    name = browsed.run("document.querySelector('#similar button').textContent")
    click(browsed, "#similar button")
    graph, node = name.removeprefix("graph ").split(", node ")
    assert browsed.run(TITLE) == f"Graph {graph}" and f"Root: node {node}." in browsed.run(GRAPH_NOTE)


def test_tables_say_the_same_in_text(browsed, browsed_model, browsed_graphs):
    choose(browsed, 15)
    browsed.run("document.getElementById('table-nodes').open = true")
    browsed.wait_for("document.querySelectorAll('#table-nodes tbody tr').length > 0")
    rows = browsed.run(
        "[...document.querySelectorAll('#table-nodes tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))"
    )
    explanation = browsed_model.explain(browsed_graphs[15:16])[0]
    shares = {int(row[0]): float(row[1]) for row in rows}
    np.testing.assert_allclose([shares[node] for node in range(25)], explanation.node_shares, rtol=0.01, atol=1e-3)


def test_plus_and_minus_zoom_the_map(browsed):
    click(browsed, "#zoom-all")
    before = picture(browsed, "map-canvas")
    browsed.run("document.getElementById('map-canvas').focus()")
    browsed.press("+", 187)
    zoomed = picture(browsed, "map-canvas")
    browsed.press("-", 189)
    assert zoomed != before and picture(browsed, "map-canvas") == before


def test_graphs_of_the_training_are_hollow_and_mistakes_have_a_ring(browsed, known):
    choose(browsed, 0)
    click(browsed, "#zoom-all")
    _, _, width, height = box_of(browsed, "map-canvas")
    data, arrays = (browsed.run(f"document.getElementById('{name}').textContent") for name in ("data", "arrays"))
    places, raw = json.loads(data)["map"], gzip.decompress(base64.b64decode(arrays))
    x, y = (MARGIN + unpack(places[axis], raw) / 65535 * (size - 2 * MARGIN) for axis, size in (("x", width), ("y", height)))
    apart = np.hypot(x - x[:, None], y - y[:, None]) + 99 * np.eye(len(x))
    alone = [graph for graph in np.flatnonzero(apart.min(1) > 16).tolist() if apart[0, graph] > 16]
    wrong = known[1].argmax(1) != known[0]
    style = "getComputedStyle(document.documentElement)"
    paper, ink = (browsed.run(f"{style}.getPropertyValue('--{name}').trim()") for name in ("paper", "ink"))
    assert len(alone) > 3
    for graph in alone:
        assert (colour_at(browsed, x[graph], y[graph]) in (paper, "#000000")) == (graph < 20)
        assert (colour_at(browsed, x[graph] + 7.5, y[graph]) == ink) == wrong[graph]


def colour_at(browser, x, y):
    """Of one pixel of the map; black where nothing is drawn."""
    pixel = browser.run(
        f"[...document.getElementById('map-canvas').getContext('2d').getImageData({x}, {y}, 1, 1).data.slice(0, 3)]"
    )
    return "#" + "".join(f"{value:02x}" for value in pixel)
