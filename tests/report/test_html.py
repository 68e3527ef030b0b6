import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from browser import Browser, find_browser
from made_records import make_record, make_records, make_study_records

from phist.report.diagram import diagram_html
from phist.report.html import make_report
from phist.report.html_tables import table_html
from phist.report.plan import PlannedPairs
from phist.report.study import make_study
from phist.report.tables import main_table

HOSTILE = '</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">'
VOID = {"meta", "input", "br", "link"}


@pytest.fixture(scope="module")
def study():
    records = make_study_records()
    records += make_records([9] * 4, method=HOSTILE, notes=[HOSTILE], options={"note": HOSTILE}, engine=HOSTILE, epochs=5)
    records += make_records([18] * 3, method="ltp", notes=["a note"])  # incomplete, and the best of its column but for that
    records += [make_record("ldp", HOSTILE, status="failed", reason=HOSTILE)]
    records += [make_record("svm-theta", "DD", status="skipped", reason=HOSTILE)]
    return make_study(records, name=f"small {HOSTILE}")


@pytest.fixture(scope="module")
def page(study):
    return make_report(study, "phist", diagram_html)


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


def test_every_id_is_there_once(page):
    ids = [attributes["id"] for _, attributes in Outline(page).seen if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_colour_begins_at_the_best_floor(study):
    best_floor = study.need("majority", "MUTAG").mean
    seen = Outline(table_html(main_table(study))).seen
    cells = [attributes for tag, attributes in seen if tag == "td" and attributes.get("data-column") == "MUTAG"]
    values = [float(cell["data-value"]) for cell in cells if cell.get("style", "--share: 0.000") != "--share: 0.000"]
    assert values and min(values) > best_floor


def test_cells_without_records_open_the_reason(study):
    plan = PlannedPairs({("gcn", "NCI1"): "paper.toml"}, {("ldp", "NCI1"): "too dear"})
    page = make_report(replace(study, plan=plan), "phist")
    assert ">waiting<" in page and ">left out<" in page
    assert "paper.toml asks for it, and it has not been run yet" in page and "too dear" in page


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program = find_browser()
    if program is None:
        pytest.skip("no browser is installed: the report is looked at in chromium, as in 'apt-get install chromium'")
    browser = Browser(program, tmp_path_factory.mktemp("browser") / "profile")
    yield browser
    browser.close()


@pytest.fixture
def opened(browser, page, tmp_path):
    """The report in the browser, on a large screen; afterwards it has complained of nothing and asked for nothing."""
    (tmp_path / "report.html").write_text(page)
    browser.complaints.clear()
    browser.requests.clear()
    browser.resize(1280)
    browser.open(tmp_path / "report.html")
    yield browser
    assert browser.run("window.hacked === undefined")
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith(("file:", "blob:"))] == []


def click(browser, selector):
    browser.run(f"document.querySelector({selector!r}).dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")


def text(browser, selector):
    return browser.run(f"document.querySelector({selector!r}).textContent")


def choose(browser, selector, value):
    browser.run(f"{{const e = document.querySelector({selector!r}); e.value = {value!r}; e.dispatchEvent(new Event('change'))}}")


def is_shown(browser, selector):
    return browser.run(f"document.querySelector({selector!r}).getClientRects().length > 0")


PHIST_ON_MUTAG = "#table-main-accuracy button[data-label=phist][data-dataset=MUTAG]"


def test_no_part_is_wider_than_a_screen_of_any_size(opened):
    assert opened.run("document.querySelectorAll('#time svg .mark').length") > 5
    assert opened.run("document.querySelector('#ranks svg').getBoundingClientRect().height") > 50
    for width in (1280, 800, 400):
        opened.resize(width)
        opened.wait_for(f"document.documentElement.scrollWidth <= {width}")  # once tables have heard of it


def test_a_head_sorts_up_down_and_back(opened):
    cells = "[...document.querySelectorAll('#table-main-accuracy tbody tr')].map(row => row.cells[1].dataset.value)"

    def column():
        return opened.run(f"{cells}.filter(Boolean).map(Number)")

    original = column()
    for expected in (sorted(original, reverse=True), sorted(original), original):
        opened.run("document.querySelectorAll('#table-main-accuracy thead button')[1].click()")
        assert column() == expected


def test_heads_stay_in_sight(opened):
    for width in (1280, 400):
        opened.resize(width)
        opened.run("document.documentElement.style.scrollBehavior = 'auto'")
        opened.run("document.querySelector('#table-main-accuracy tbody tr:last-child').scrollIntoView({block: 'end'})")
        head, bar = (
            opened.run(f"document.querySelector({selector!r}).getBoundingClientRect().{side}")
            for selector, side in (("#table-main-accuracy thead th", "top"), ("nav", "bottom"))
        )
        assert head >= bar - 1


def test_a_number_opens_its_records_by_keyboard(opened):
    opened.run(f"document.querySelector({PHIST_ON_MUTAG!r}).focus()")
    opened.press("Enter", 13)
    opened.wait_for("document.getElementById('record').open")
    assert text(opened, "#record-title") == "phist on MUTAG"
    assert opened.run("document.querySelectorAll('#record-folds button').length") == 10
    assert "2.13.0" in text(opened, "#record-body")
    assert opened.run("document.querySelectorAll('#record-body .matrix tbody td').length") == 4
    assert opened.run("document.querySelectorAll('#record-body polyline').length") == 4
    opened.run("document.querySelector('#record-folds button').focus()")
    opened.press("ArrowRight", 39)
    assert opened.run("[...document.querySelectorAll('#record-folds button')].findIndex(b => b.ariaSelected === 'true')") == 1
    opened.press("Escape", 27)
    opened.wait_for("!document.getElementById('record').open")


def test_a_mark_in_a_figure_is_reached_and_opened_by_keyboard(opened):
    opened.run("document.querySelector('#time svg .opens[tabindex=\"0\"]').focus()")
    first = opened.run("document.activeElement.dataset.label")
    opened.press("ArrowRight", 39)
    second = opened.run("document.activeElement.dataset.label")
    assert first != second
    opened.press("Enter", 13)
    opened.wait_for("document.getElementById('record').open")
    assert text(opened, "#record-title").startswith(second)


def test_one_mark_of_a_figure_is_in_the_order_of_the_tab_key(opened):
    counts = "[...document.querySelectorAll('svg[role=group]')].map(svg => svg.querySelectorAll('.opens[tabindex=\"0\"]').length)"
    assert set(opened.run(counts)) == {1}


def test_hostile_text_is_shown_and_not_run(opened):
    click(opened, '#folds g[data-label^="</script>"]')
    assert HOSTILE in text(opened, "#record-body")


def test_published_figures_can_be_left_out(opened):
    click(opened, "#show-printed")
    assert not is_shown(opened, ".printed")


def test_the_page_opens_with_mean_rank_wins_ties_losses_and_a_sentence(opened, study):
    assert opened.run("document.querySelector('main section').id") == "summary"
    assert text(opened, "#finding").startswith("phist has mean rank")
    assert opened.run("document.querySelectorAll('#score div').length") == 4
    assert opened.run("document.querySelectorAll('#versus .outcomes .won').length") > 0


def test_the_summary_counts_what_the_filters_leave(opened, study):
    def counted():
        return [int(opened.run(f"document.querySelectorAll('#score dd')[{place}].textContent")) for place in (1, 2, 3)]

    everything = counted()
    assert f"({sum(everything)} comparisons), it clearly wins {everything[0]}, clearly loses {everything[2]}" in text(
        opened, "#finding"
    )
    click(opened, "[data-filter=family][value=kernel]")
    click(opened, "[data-filter=column][value=MUTAG]")
    assert sum(counted()) < sum(everything)
    assert f"({sum(counted())} comparisons that the filter leaves)" in text(opened, "#finding")
    assert "graph kernels" not in text(opened, "#versus") and "wl-subtree" not in text(opened, "#versus")
    for family in ("phist", "gnn", "descriptor", "floor", "other"):
        click(opened, f"[data-filter=family][value={family}]")
    assert "leaves nothing to compare" in text(opened, "#finding")


def test_the_sentence_names_who_is_stronger(opened):
    choose(opened, "#choose-against", "majority")
    assert "it loses more often than it wins against " in text(opened, "#finding")


def test_the_filter_stays_on_the_page(opened):
    for width in (1280, 1000, 800, 620, 400):
        opened.resize(width)
        opened.run("document.getElementById('filters').open = true")
        opened.wait_for(f"document.documentElement.scrollWidth <= {width}")
        assert opened.run("document.querySelector('.choices').getBoundingClientRect().left") >= 0


def test_a_name_in_the_diagram_of_ranks_opens_its_results_by_keyboard(opened):
    opened.run("document.querySelector('#ranks svg .opens[tabindex=\"0\"]').focus()")
    opened.press("ArrowRight", 39)
    chosen = opened.run("document.activeElement.dataset.label")
    opened.press("Enter", 13)
    opened.wait_for("document.getElementById('record').open")
    assert text(opened, "#record-title") == chosen


def test_what_was_chosen_is_written_without_braces(opened):
    click(opened, PHIST_ON_MUTAG)
    assert "{" not in text(opened, "#record-body")


def test_another_method_can_be_compared(opened):
    choose(opened, "#choose-against", "ldp")
    assert text(opened, "#finding").startswith("ldp has")
    labels = opened.run("[...document.querySelectorAll('#table-differences tbody th')].map(head => head.dataset.value)")
    assert "phist" in labels and "ldp" not in labels


def test_the_metric_can_be_switched(opened):
    choose(opened, "#choose-metric", "log-loss")
    assert is_shown(opened, "#table-main-log-loss") and not is_shown(opened, "#table-main-accuracy")
    click(opened, "#table-main-log-loss button[data-label=phist][data-dataset=MUTAG]")
    assert "%" not in text(opened, "#record-folds")


def test_families_and_datasets_can_be_left_out(opened):
    click(opened, "[data-filter=family][value=kernel]")
    click(opened, "[data-filter=column][value=MUTAG]")
    assert not is_shown(opened, "#table-main-accuracy tr[data-family=kernel]")
    assert not is_shown(opened, "#table-differences tr[data-family=kernel]")
    assert not is_shown(opened, "#table-main-accuracy td[data-column=MUTAG]")
    assert not is_shown(opened, "#folds figure[data-column=MUTAG]")
    assert is_shown(opened, "#folds figure[data-column=ENZYMES]")
    assert "2 hidden" in text(opened, "#filters summary")
    click(opened, "#filter-none")
    assert is_shown(opened, "#table-main-accuracy tr[data-family=kernel]")


def test_a_permalink_opens_its_record(opened, tmp_path):
    opened.run("location.hash = '#ENZYMES/phist/3'")
    opened.wait_for("document.getElementById('record').open")
    assert text(opened, "#record-title") == "phist on ENZYMES"
    assert opened.run("[...document.querySelectorAll('#record-folds button')].findIndex(b => b.ariaSelected === 'true')") == 3
    click(opened, "#record-folds button:nth-child(5)")
    assert opened.run("location.hash") == "#ENZYMES/phist/4"
    click(opened, "#record-close")
    opened.wait_for("location.hash === ''")


def test_a_difference_opens_the_graphs_on_which_two_methods_disagree(opened, study):
    first, second = (study.need(label, "MUTAG") for label in ("phist", "gcn"))
    click(opened, "#table-differences button[data-other=gcn][data-dataset=MUTAG]")
    expected = sum(
        one != other
        for mine, theirs in zip(first.records, second.records, strict=True)
        for one, other in zip(mine.outcome.predicted, theirs.outcome.predicted, strict=True)
    )
    assert text(opened, "#record-title") == "phist and gcn on MUTAG"
    assert opened.run("document.querySelectorAll('#record-body .graphs tbody tr').length") == expected > 0
    assert opened.run("location.hash") == "#MUTAG/phist/vs/gcn"


def test_ranks_open_their_records(opened):
    click(opened, "#table-ranks-accuracy button[data-label=gcn][data-dataset=ENZYMES]")
    assert text(opened, "#record-title") == "gcn on ENZYMES"
    click(opened, "#table-ranks-accuracy button[data-label=gcn][data-dataset='']")
    assert opened.run("document.querySelectorAll('#record-body .results button').length") == 3


def test_a_skipped_cell_opens_its_reason(opened):
    click(opened, "#table-main-accuracy button[data-label=svm-theta][data-dataset=DD]")
    assert HOSTILE in text(opened, "#record-body")


@pytest.mark.parametrize(("form", "ending", "content"), [("csv", "csv", "phist,phist,MUTAG,"), ("latex", "tex", "\\textbf{")])
def test_a_table_can_be_saved_as_it_is_shown(opened, tmp_path, form, ending, content):
    opened.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    click(opened, "[data-filter=family][value=floor]")
    click(opened, f"[data-download={form}][data-table=table-main-accuracy]")
    saved = tmp_path / f"main-accuracy.{ending}"
    opened.wait_for("true" if saved.exists() else "new Promise(done => setTimeout(() => done(true), 300))")
    assert content in saved.read_text() and "majority" not in saved.read_text()


def test_records_say_how_to_repeat_them(study, browser, tmp_path):
    specs = {record.hash: "experiments/my study.toml" for record in study.records}
    (tmp_path / "report.html").write_text(make_report(replace(study, specs=specs), "phist"))
    browser.open(tmp_path / "report.html")
    click(browser, PHIST_ON_MUTAG)
    expected = study.need("phist", "MUTAG").records[0].hash
    assert text(browser, ".command") == f"phist bench repeat 'experiments/my study.toml' {expected}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_axe_finds_no_violation(opened, scheme, width):
    opened.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    opened.resize(width)
    opened.run((files("axe_core_python") / "axe.min.js").read_text() + "; 0")
    rules = "axe.run({resultTypes: ['violations']}).then(found => found.violations.map(one => one.id + ': ' + one.nodes[0].html))"
    assert opened.run(rules) == []
    click(opened, PHIST_ON_MUTAG)
    assert opened.run(rules) == []
    click(opened, "#record-close")
    click(opened, "#table-differences button[data-other=gcn][data-dataset=MUTAG]")
    assert opened.run(rules) == []
    opened.send("Emulation.setEmulatedMedia", features=[])
