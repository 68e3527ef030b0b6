"""Fits to graphs that are learnt from window by window."""

import subprocess
import sys

import numpy as np
import pytest
from small_models import NETWORK, quick_classifier, quick_embedder

from phist import GraphSet, StructuralClassifier
from phist.graphs.generate import make_trees
from phist.training import windows

GRAPHS = make_trees(120, n_nodes=8, seed=0)

FIT_IN_LITTLE = """
import resource, sys
from phist import GraphSet, StructuralClassifier
from phist.engine.compiling import prepare
from phist.graphs.generate import make_trees
from phist.training import windows

settings = {"progress": False, "random_state": 0, "network": {"channels": (4, 6), "bins": 4, "roots": 3}, "engine": "fused"}
prepare()
windows.MOST_AT_ONCE, windows.WINDOW = 0, 1 << 16
StructuralClassifier("low", **settings).fit(make_trees(200, n_nodes=8, seed=0))  # all that is loaded and compiled is there
windows.MOST_AT_ONCE = int(sys.argv[2])
graphs = GraphSet.open(sys.argv[1])
used = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData")) << 10
room = used + (96 << 20)
resource.setrlimit(resource.RLIMIT_DATA, (room, room))
StructuralClassifier("low", members=("network",), heads=("linear",), **settings).fit(graphs)
"""


@pytest.fixture
def many(monkeypatch):
    """A thousand nodes and arcs are many."""
    monkeypatch.setattr(windows, "MOST_AT_ONCE", 1000)
    monkeypatch.setattr(windows, "WINDOW", 500)
    monkeypatch.setattr(windows, "BLOCK", 4)


def test_a_fit_to_many_graphs_has_one_network_and_says_so(many):
    model = StructuralClassifier("low", random_state=0, network=NETWORK, progress=False).fit(GRAPHS)
    assert [own.name for own in model.report_.candidates] == ["network/linear"]
    assert "do not fit into memory" in model.report_.notes[-1]
    assert not hasattr(model, "neighbours_")
    assert model.report_.n_graphs == 120


def test_it_is_saved_and_predicts_as_it_did(many, tmp_path, monkeypatch):
    model = StructuralClassifier("low", random_state=0, network=NETWORK, progress=False).fit(GRAPHS)
    model.save(tmp_path / "model")
    loaded, windowed = StructuralClassifier.load(tmp_path / "model"), model.predict_proba(GRAPHS)
    monkeypatch.undo()
    assert np.allclose(loaded.predict_proba(GRAPHS), windowed, atol=1e-6)


def test_the_numbering_of_nodes_does_not_matter(many):
    shuffled = [np.random.default_rng(graph).permutation(8) for graph in range(120)]
    other = GraphSet.concatenate([_renumbered(GRAPHS[[graph]], order) for graph, order in enumerate(shuffled)])
    found = [quick_classifier(members=("network",), engine="auto").fit(graphs).network_.state_dict() for graphs in (GRAPHS, other)]
    assert all(np.array_equal(found[0][name], found[1][name]) for name in found[0])


def _renumbered(graph, order):
    from phist.graphs.canonical import reordered

    return reordered(graph, order)


def test_presets_by_name_and_embedders_learn_from_many_graphs_too(many):
    assert quick_classifier(preset="one", members="auto").fit(GRAPHS).predict(GRAPHS[:3]).shape == (3,)
    assert len(quick_embedder().fit(GRAPHS).transform(GRAPHS[:3])) == 3
    assert len(quick_embedder().fit(GRAPHS.with_labels(None)).transform(GRAPHS[:3])) == 3


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are counted in another way elsewhere")
def test_graphs_are_fitted_in_less_memory_than_their_plan_takes(tmp_path):
    make_trees(30_000, n_nodes=24, seed=0).save(tmp_path / "set")

    def fit(most_at_once):
        command = [sys.executable, "-c", FIT_IN_LITTLE, str(tmp_path / "set"), str(most_at_once)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    windowed = fit(0)
    assert windowed.returncode == 0, windowed.stderr[-2000:]
    assert "MemoryError" in fit(1 << 30).stderr
