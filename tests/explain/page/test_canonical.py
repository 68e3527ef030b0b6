"""The page orders nodes as models do, so that it draws the same roots."""

import json
from importlib.resources import files

import networkx as nx
import pytest

from phist.explain.page.drawings import draw
from phist.graphs.canonical import in_canonical_order
from phist.graphs.convert import as_graphset

GRAPHS = {
    "one node": nx.empty_graph(1),
    "no edges": nx.empty_graph(4),
    "star": nx.star_graph(5),
    "path": nx.path_graph(6),
    "regular": nx.petersen_graph(),
    "random": nx.barabasi_albert_graph(30, 2, seed=0),
    "weighted, with a loop": nx.Graph([(0, 1, {"weight": 0.3}), (1, 2, {"weight": 0.7}), (2, 2, {"weight": 2.0}), (2, 3)]),
    "directed": nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3), (4, 0)]),
}


@pytest.fixture(scope="module")
def script(launch):
    browser = launch("<!doctype html><html data-ready=true>")
    browser.run((files("phist.explain.page") / "templates" / "canonical.js").read_text(encoding="utf-8"))
    return browser


@pytest.mark.parametrize("name", GRAPHS)
def test_nodes_stand_at_the_same_places(script, name):
    graphs = as_graphset([GRAPHS[name]], directed="keep" if GRAPHS[name].is_directed() else None, self_loops="keep")
    drawing = draw(graphs[0])
    graph = {
        "n": graphs.n_nodes,
        "directed": graphs.directed,
        "sources": drawing.edges[:, 0].tolist(),
        "targets": drawing.edges[:, 1].tolist(),
        "weights": None if drawing.weights is None else drawing.weights.tolist(),
    }
    assert script.run(f"canonicalOrder({json.dumps(graph)})") == in_canonical_order(graphs).node_at.tolist()
