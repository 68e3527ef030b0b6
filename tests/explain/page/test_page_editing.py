"""Edits in the page: what they change, what the page says it computes, and what it refuses."""

import numpy as np
import pytest
from explained_page import GRAPH_NOTE, box_of, choose, click

BARS = "[...document.querySelectorAll('#bars .bar')].map((bar) => Number(bar.dataset.value))"


@pytest.fixture
def editing(browsed):
    """Graph 16, ready to be edited."""
    browsed.resize(1440, 1000)
    choose(browsed, 16)
    click(browsed, "#edit")
    yield browsed
    click(browsed, "#edit")


def submit(browser, source, target):
    browser.run(f"document.getElementById('edit-from').value = {source}, document.getElementById('edit-to').value = {target}")
    browser.run("document.getElementById('edit-bar').noValidate = true, document.getElementById('edit-bar').requestSubmit()")


def test_an_ensemble_says_which_part_of_it_is_computed(editing, browsed_graphs):
    submit(editing, *browsed_graphs[16].edges()[0].tolist())
    note = editing.run(GRAPH_NOTE)
    assert "1 edge edited" in note and "under linear heads, which weigh" in note and "other members are not" in note


def test_undo_and_reset_take_edits_back(editing, browsed_graphs):
    before = editing.run(BARS)
    for edge in browsed_graphs[16].edges()[:3].tolist():
        submit(editing, *edge)
    changed = editing.run(BARS)
    assert changed != before
    click(editing, "#undo")
    assert "2 edges edited" in editing.run(GRAPH_NOTE) and editing.run(BARS) != changed
    click(editing, "#reset")
    np.testing.assert_allclose(editing.run(BARS), before, atol=1e-9)


def test_an_edge_that_was_drawn_is_taken_out_by_a_click(editing):
    left, top, width, height = box_of(editing, "graph-canvas")
    start, end = nodes_under_pointer(editing, left, top, width, height)
    editing.drag(start, ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2), end)
    assert "1 edge edited" in editing.run(GRAPH_NOTE)
    editing.drag(start, ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2), end)
    assert "2 edges edited" in editing.run(GRAPH_NOTE)


def nodes_under_pointer(browser, left, top, width, height):
    """Places of two nodes, found by the roots they become."""
    found = {}
    for y in np.linspace(0.1, 0.9, 25):
        for x in np.linspace(0.05, 0.95, 25):
            place = (left + x * width, top + y * height)
            before = browser.run(GRAPH_NOTE)
            browser.point(*place)
            after = browser.run(GRAPH_NOTE)
            if after != before:
                found[after] = place
            if len(found) == 2:
                return list(found.values())
    raise AssertionError("two nodes were not found")


def test_the_picture_keeps_its_shape_where_controls_come_and_go(editing):
    drawn, seen = (f"document.getElementById('graph-canvas').{height}" for height in ("height", "clientHeight"))
    editing.wait_for(f"{drawn} === {seen}")
    beside_controls = editing.run(seen)
    click(editing, "#edit")
    assert editing.run(seen) != beside_controls
    editing.wait_for(f"{drawn} === {seen}")
    click(editing, "#edit")


@pytest.mark.parametrize("width", [1440, 820, 390])
def test_both_probabilities_of_an_edit_stand_on_one_line(editing, browsed_graphs, width):
    editing.resize(width)
    submit(editing, *browsed_graphs[16].edges()[0].tolist())
    numbers = "[...document.querySelectorAll('#bars .number')]"
    editing.run(f"{numbers}.forEach((cell) => {{ cell.textContent = '100.0 % (was 100.0 %)'; }})")
    assert editing.run(f"{numbers}.every((cell) => cell.clientHeight < 30 && cell.scrollWidth <= cell.clientWidth)")


@pytest.mark.parametrize(("source", "target", "says"), [(3, 3, "joins two nodes"), (0, 99, "no node 99; nodes are 0 to 24")])
def test_an_impossible_edge_is_refused_in_words(editing, source, target, says):
    submit(editing, source, target)
    assert says in editing.run(GRAPH_NOTE) and "edited" not in editing.run(GRAPH_NOTE)
