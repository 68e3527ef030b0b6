"""The studies of this repository, as far as can be told without running them."""

from collections import defaultdict
from pathlib import Path

import pytest

from phist.baselines.method import Method
from phist.evaluation.spec_file import read_spec

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
KERNELS = {"wl-subtree", "wl-shortest-path", "svm-theta", "shortest-path", "pyramid-match", "graphlet-sampling"}
RIVALS = {"ldp", "ltp", "spectrum", "majority", "size-only", "degree-histogram"}
OURS = {"phist", "phist-linear", "phist-forest", "phist-sum", "phist-deterministic"}
NETWORKS = {"gcn", "gin-0", "gin-eps", "sage", "sage-no-jk", "global-attention", "graclus", "set2set"}
SIX = ("MUTAG", "ENZYMES", "PROTEINS", "IMDB-BINARY", "IMDB-MULTI", "NCI1")

pytestmark = pytest.mark.skipif(not EXPERIMENTS.exists(), reason="the package was installed without its experiments")


@pytest.fixture(autouse=True)
def methods_by_name(add_method):
    """The names alone, so that nothing that computes is loaded."""
    add_method(*(type("Named", (AnyOptions,), {"name": name}) for name in OURS | KERNELS | RIVALS | NETWORKS | {"phist-paper"}))


class AnyOptions(Method):
    family, selection = "floor", "nothing to choose"

    def fit(self, task):
        raise NotImplementedError

    def predict(self, positions):
        raise NotImplementedError


def cells_of(name):
    return read_spec(EXPERIMENTS / f"{name}.toml").cells()


def methods_by_dataset(name):
    methods = defaultdict(set)
    for cell in cells_of(name):
        methods[cell.dataset].add(cell.method)
    return methods


@pytest.mark.parametrize("path", sorted(EXPERIMENTS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_study_can_be_read_and_is_called_as_its_file(path):
    spec = read_spec(path)
    assert spec.name == path.stem
    assert len({cell.hash for cell in spec.cells()}) == len(spec.cells())


def test_the_comparison_of_the_paper_is_complete():
    methods = methods_by_dataset("paper")
    assert all(methods[dataset] >= OURS | KERNELS | RIVALS for dataset in SIX)
    assert all(methods[dataset] >= KERNELS | RIVALS for dataset in ("DD", "COLLAB", "REDDIT-BINARY"))
    assert methods["DD"] >= {"phist", "phist-linear"}
    assert {cell.fold for cell in cells_of("paper")} == set(range(10))


def test_the_networks_are_compared_on_four_datasets():
    methods = methods_by_dataset("gnns")
    assert all(methods[dataset] >= NETWORKS for dataset in ("MUTAG", "ENZYMES", "IMDB-BINARY", "PROTEINS"))


def test_the_network_as_printed_is_measured_on_six_datasets():
    assert set(methods_by_dataset("as-printed")) == set(SIX)
