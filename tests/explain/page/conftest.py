"""A page about graphs with mistakes and look-alikes, half of them trained on, open in a browser."""

import pytest
from browser import Browser, find_browser

from phist import GraphSet, StructuralClassifier
from phist.explain.page.html import make_page
from phist.graphs.convert import as_graphset
from phist.graphs.motifs import make_ba_2motifs

OTHER = {"house": "cycle", "cycle": "house"}


@pytest.fixture(scope="session")
def browsed_graphs():
    """The last four are the first four once more, labelled as the other class."""
    graphs = make_ba_2motifs(32, seed=3)[0]
    labels = [graph.label for graph in graphs]
    twice = GraphSet.concatenate([graphs.with_labels(None), graphs[:4].with_labels(None)])
    return as_graphset(twice, labels=[*labels, *(OTHER[label] for label in labels[:4])], ids=range(36))


@pytest.fixture(scope="session")
def browsed_model(browsed_graphs):
    """An ensemble: its networks are a part of the prediction."""
    return StructuralClassifier("low", random_state=0, progress=False).fit(browsed_graphs[:20])


@pytest.fixture(scope="session")
def launch(tmp_path_factory):
    """Opens a page in a browser of its own."""
    program = find_browser()
    if program is None:
        pytest.skip("no browser is installed: the page is looked at in chromium, as in 'apt-get install chromium'")
    opened = []

    def open_page(page):
        folder = tmp_path_factory.mktemp("browser")
        (folder / "page.html").write_text(page)
        opened.append(Browser(program, folder / "profile"))
        opened[-1].prefer(reduced_motion="no-preference")
        opened[-1].open(folder / "page.html")
        opened[-1].wait_for("document.documentElement.dataset.ready === 'true'")
        return opened[-1]

    yield open_page
    for browser in opened:
        browser.close()


@pytest.fixture(scope="session")
def browsed(launch, browsed_model, browsed_graphs):
    """The page, open."""
    return launch(make_page(browsed_model, browsed_graphs, name="motifs"))
