"""How deep one step of training is: the functions that docs/engine.md lists are all there are between `fit_network` and AdamW."""

import inspect
import re
from pathlib import Path

import numpy as np

from phist.engine import batch_pass
from phist.engine.compiling import prepare
from phist.engine.worker import TRAIN, finish_step, run_worker
from phist.graphs.generate import make_trees
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.training.config import TrainingConfig
from phist.training.loop import Examples, fit_network

DOCUMENT = Path(__file__).parents[2] / "docs" / "engine.md"
MOST = 8


def listed():
    section = DOCUMENT.read_text(encoding="utf-8").partition("\n## How much there is to read\n")[2].partition("\n## ")[0]
    return re.findall(r"^\d\. `([\w.]+)`", section, re.MULTILINE)


def called(monkeypatch):
    """Python's functions from `fit_network` down to a step in compiled code."""
    found = []
    prepare()  # which takes steps of its own

    def remember(this_round, mode, *others):
        if mode == TRAIN and not found:
            names = [frame.frame.f_code.co_qualname for frame in inspect.stack()[1:]][::-1]
            found.extend(names[names.index("fit_network") :])
        run_worker(this_round, mode, *others)

    monkeypatch.setattr(batch_pass, "run_worker", remember)
    graphs = make_trees(6, n_nodes=5, seed=0)
    examples = Examples(graphs, np.arange(6) % 2, np.ones(6))
    network = make_network(NetworkConfig(channels=(2, 2), bins=2), 2, seed=0)
    fit_network(network, examples, None, TrainingConfig(epochs=1), engine="fused", progress=False)
    return found


def test_a_step_of_training_is_as_deep_as_the_document_says(monkeypatch):
    *above, worker, end, optimizer = listed()
    assert called(monkeypatch) == above
    assert (worker, end, optimizer) == ("run_worker", "finish_step", "adamw_part")
    assert end in run_worker.py_func.__code__.co_names
    assert optimizer in finish_step.py_func.__code__.co_names


def test_a_step_of_training_is_at_most_eight_functions_deep():
    assert len(listed()) <= MOST
