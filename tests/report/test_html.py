import re
from html.parser import HTMLParser

import pytest
from browser import Browser, find_browser
from made_records import make_record, make_records, make_study_records

from phist.report.diagram import diagram_html
from phist.report.html import make_report
from phist.report.ranks import rank_methods
from phist.report.study import make_study

HOSTILE = '</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">'
VOID = {"meta", "input", "br", "link"}


@pytest.fixture(scope="module")
def study():
    records = make_study_records()
    records += make_records([9] * 4, method=HOSTILE, notes=[HOSTILE], options={"note": HOSTILE}, engine=HOSTILE, epochs=5)
    records += [make_record("ldp", HOSTILE, status="failed", reason=HOSTILE)]
    records += [make_record("svm-theta", "DD", status="skipped", reason=HOSTILE)]
    return make_study(records, name=f"small {HOSTILE}")


@pytest.fixture(scope="module")
def page(study):
    return make_report(study, "phist", diagram_html(rank_methods(study)))


class Outline(HTMLParser):
    """Elements that are open, and every element that was ever opened."""

    def __init__(self, page):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_every_element_is_closed(page):
    assert Outline(page).open == []


def test_nothing_in_records_becomes_markup(page):
    seen = Outline(page).seen
    assert [attributes.get("id") for tag, attributes in seen if tag == "script"] == ["data", None]
    assert not [tag for tag, attributes in seen if tag == "img" or "onerror" in attributes]


def test_the_page_asks_for_nothing_from_elsewhere(page):
    for tag, attributes in Outline(page).seen:
        assert tag != "link"
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith("#"), (tag, attributes)
    assert not re.search(r"url\((?!#)|@import", page)


def test_every_measured_number_opens_its_records(page, study):
    opened = {
        (attributes["data-label"], attributes["data-dataset"])
        for tag, attributes in Outline(page).seen
        if tag == "button" and "data-label" in attributes
    }
    assert {(result.label, result.dataset) for result in study.results if result.records} <= opened


def test_a_study_without_records_says_so():
    page = make_report(make_study([]))
    assert "No records exist yet" in page
    assert Outline(page).open == []


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program = find_browser()
    if program is None:
        pytest.skip("no browser is installed: the report is looked at in chromium, as in 'apt-get install chromium'")
    browser = Browser(program, tmp_path_factory.mktemp("browser") / "profile")
    yield browser
    browser.close()


def test_in_a_browser_it_renders_sorts_and_opens_records(browser, page, tmp_path):
    (tmp_path / "report.html").write_text(page)
    browser.open(tmp_path / "report.html")

    # It renders: figures have a size, and no part of it is wider than the screen.
    assert browser.run("document.querySelectorAll('#time svg .mark').length") > 5
    assert browser.run("document.querySelector('#ranks svg').getBoundingClientRect().height") > 50
    for width in (1280, 400):
        browser.resize(width)
        assert browser.run("document.documentElement.scrollWidth") <= width

    # A head sorts: largest first, smallest first, and the order it had.
    def column():
        cells = "[...document.querySelectorAll('#table-main tbody tr')].map(row => row.cells[1].dataset.value)"
        return browser.run(f"{cells}.filter(Boolean).map(Number)")

    original = column()
    click_head = "document.querySelectorAll('#table-main thead button')[1].click()"
    for expected in (sorted(original, reverse=True), sorted(original), original):
        browser.run(click_head)
        assert column() == expected

    # A number opens its records, by keyboard, and the arrow keys walk through them.
    browser.run("document.querySelector('#table-main button[data-label=phist][data-dataset=MUTAG]').focus()")
    browser.press("Enter", 13)
    browser.wait_for("document.getElementById('record').open")
    assert browser.run("document.getElementById('record-title').textContent") == "phist on MUTAG"
    assert browser.run("document.querySelectorAll('#record-folds button').length") == 10
    assert "2.13.0" in browser.run("document.getElementById('record-body').textContent")
    assert browser.run("document.querySelectorAll('#record-body .matrix td').length") == 4
    assert browser.run("document.querySelectorAll('#record-body polyline').length") == 4
    browser.run("document.querySelector('#record-folds button').focus()")
    browser.press("ArrowRight", 39)
    assert browser.run("[...document.querySelectorAll('#record-folds button')].findIndex(b => b.ariaSelected === 'true')") == 1
    browser.press("Escape", 27)
    browser.wait_for("!document.getElementById('record').open")

    # A mark in a figure opens the same; hostile text is shown, not run.
    browser.run(
        "document.querySelector('#folds g[data-label^=\"</script>\"]').dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    assert HOSTILE in browser.run("document.getElementById('record-body').textContent")
    browser.run("document.getElementById('record-close').click()")
    browser.run("document.querySelector('#show-printed').click()")
    assert browser.run("getComputedStyle(document.querySelector('.printed')).display") == "none"

    assert browser.run("window.hacked === undefined")
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith("file:")] == []
