"""Who can read the page: axe-core finds nothing to complain of, in both palettes, on screens of all sizes."""

from pathlib import Path

import pytest
from explained_page import picture

from phist.explain.page.html import make_page

SCREENS = {"desktop": 1440, "tablet": 820, "phone": 390}


@pytest.fixture(scope="module")
def axe():
    package = pytest.importorskip("axe_core_python", reason="accessibility is checked by axe-core: pip install axe-core-python")
    return (Path(package.__file__).parent / "axe.min.js").read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_no_violation(browsed, axe, scheme, screen):
    browsed.prefer(color_scheme=scheme)
    browsed.resize(SCREENS[screen])
    browsed.run("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    browsed.run(f"{axe}; 0")
    found = browsed.run("axe.run().then((found) => found.violations.map((one) => [one.id, one.nodes.map((node) => node.html)]))")
    browsed.prefer(color_scheme="light")
    assert found == []


def test_canvases_follow_the_dark_palette(browsed):
    light = picture(browsed, "graph-canvas")
    browsed.prefer(color_scheme="dark")
    browsed.wait_for(f"document.getElementById('graph-canvas').toDataURL() !== '{light}'")
    browsed.prefer(color_scheme="light")
    browsed.wait_for(f"document.getElementById('graph-canvas').toDataURL() === '{light}'")


def test_no_other_script_may_run(launch, browsed_model, browsed_graphs):
    browser = launch(make_page(browsed_model, browsed_graphs[:3]))
    element = "document.createElement('script')"
    browser.run(f"((script) => {{ script.textContent = 'window.foreign = 1'; document.body.append(script); }})({element})")
    assert browser.run("window.foreign === undefined")
    assert any("Content Security Policy" in str(complaint) for complaint in browser.complaints)
