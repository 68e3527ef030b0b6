"""Small studies: methods that answer at once, in this process and in others."""

import os

import numpy as np
import pytest

from phist.baselines import registry
from phist.baselines.method import Account, Method
from phist.evaluation.cell import Cell
from phist.evaluation.records import Outcome, Record
from phist.graphs.generate import make_trees

# A package with a method, as somebody else would install it. Its sitecustomize leaves out the built-in methods, whose
# libraries take seconds to load.
TOY_METHODS = """
import os, time
import numpy as np
from phist.baselines.method import Method

class Toy(Method):
    name, family, selection = "toy", "floor", "nothing to choose"

    def fit(self, task):
        if "log" in self.options:
            with open(self.options["log"], "a") as file:
                file.write(f"{os.getpid()} {len(task.training)}\\n")
        time.sleep(self.options.get("wait", 0))
        self.shares = np.bincount(task.labels_of(task.training), minlength=task.n_classes) / len(task.training)
        return self

    def predict(self, positions):
        return np.tile(self.shares, (len(positions), 1))
"""


class Majority(Method):
    """Answers with the classes' shares; fails, or is skipped, on request."""

    name, family, selection = "majority", "floor", "nothing to choose"
    randomized = False

    def __init__(self, **options):
        if set(options) - {"fail", "scale", "skip", "noise"}:
            raise TypeError(f"unknown options {set(options)}")
        super().__init__(**options)

    def skip(self, dataset):
        return self.options.get("skip")

    def fit(self, task):
        if self.options.get("fail"):
            raise RuntimeError("broken\non purpose")
        self.shares = np.bincount(task.labels_of(task.training), minlength=task.n_classes) / len(task.training)
        self.account = Account(chosen={"C": np.float64(1)}, tried=[{"C": 1, "accuracy": 0.5}], training_accuracy=0.5)
        return self

    def predict(self, positions):
        return np.tile(self.shares * self.options.get("scale", 1), (len(positions), 1))


class Random(Majority):
    """The same, as a method whose seed matters."""

    name = "random"
    randomized = True


@pytest.fixture
def add_method(monkeypatch):
    """Register methods for one test; at first there are only the two above."""
    known = {}
    monkeypatch.setattr(registry, "methods", lambda: known)

    def add(*methods):
        known.update({method.name: method for method in methods})

    add(Majority, Random)
    return add


@pytest.fixture(scope="session")
def trees(tmp_path_factory):
    """A labelled set on disk, 60 graphs of two classes."""
    folder = tmp_path_factory.mktemp("sets") / "trees"
    make_trees(60, n_nodes=8, seed=0).save(folder)
    return folder


@pytest.fixture
def make_cell(trees):
    from phist.graphs.datasets import load_graphs

    def make(**changes):
        fields = {"method": "majority", "dataset": "trees", "protocol": "paper", "fold": 0, "seed": 0, "source": trees}
        return Cell(**{"fingerprint": load_graphs(trees).fingerprint(), **fields, **changes})

    return make


@pytest.fixture
def make_record(make_cell):
    """A record that is ok, of a given cell or with given fields."""

    def make(cell=None, **fields):
        probabilities = np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
        outcome = Outcome(["a", "b"], [3, 5, 8], [1, 0, 1], [1, 0, 0], probabilities)
        return Record(**{"cell": cell or make_cell(), "status": "ok", "split": "abc", "outcome": outcome, **fields})

    return make


@pytest.fixture
def write_study(tmp_path, trees):
    """A study as a file, of the toy method unless said otherwise."""

    def write(text='[[runs]]\nmethods = ["toy"]\ndatasets = ["TREES"]\n', name="small", protocol="paper"):
        path = tmp_path / f"{name}.toml"
        path.write_text(f'name = "{name}"\nprotocol = "{protocol}"\n' + text.replace("TREES", str(trees)))
        return path

    return write


@pytest.fixture
def other_processes(tmp_path_factory, monkeypatch):
    """The environment of processes that know the toy method and no other; those that joblib starts have it as well."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "toy_methods.py").write_text(TOY_METHODS)
    (folder / "sitecustomize.py").write_text("from phist.baselines import registry\nregistry.BUILT_IN = ()\n")
    package = folder / "toy_methods-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: toy_methods\nVersion: 1\n")
    (package / "entry_points.txt").write_text("[phist.methods]\ntoy = toy_methods:Toy\n")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]))
    return os.environ.copy()
