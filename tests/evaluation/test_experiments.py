"""The studies of this repository, and their records as far as they have been run: nothing is computed here."""

from collections import defaultdict
from pathlib import Path

import pytest

from phist.baselines import registry
from phist.evaluation.generated import Recipe
from phist.evaluation.journal import read_journal
from phist.evaluation.records import Record, journal_of, scan_records
from phist.evaluation.spec_file import read_spec
from phist.graphs.catalog import GROUPS, known_dataset

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
STUDIES = sorted(path.stem for path in EXPERIMENTS.glob("*.toml"))
KERNELS = {"wl-subtree", "wl-shortest-path", "svm-theta", "shortest-path", "pyramid-match", "graphlet-sampling"}
RIVALS = {"ldp", "ltp", "spectrum", "majority", "size-only", "degree-histogram"}
OURS = {"phist", "phist-linear", "phist-forest", "phist-kernel", "phist-sum", "phist-deterministic"}
NETWORKS = {"gcn", "gin-0", "gin-eps", "sage", "sage-no-jk", "global-attention", "graclus", "set2set"}
SIX = ("MUTAG", "ENZYMES", "PROTEINS", "IMDB-BINARY", "IMDB-MULTI", "NCI1")
NINE = (*SIX, "DD", "COLLAB", "REDDIT-BINARY")

pytestmark = pytest.mark.skipif(not EXPERIMENTS.exists(), reason="the package was installed without its experiments")


def cells_of(name):
    return read_spec(EXPERIMENTS / f"{name}.toml").cells()


def methods_by_dataset(name):
    methods = defaultdict(set)
    for cell in cells_of(name):
        methods[cell.dataset].add(cell.method)
    return methods


of_every_study = pytest.mark.parametrize("name", STUDIES)


@of_every_study
def test_every_study_is_called_as_its_file_and_asks_for_nothing_twice(name):
    spec = read_spec(EXPERIMENTS / f"{name}.toml")  # which makes every method with its options
    assert spec.name == name
    assert len({cell.hash for cell in spec.cells()}) == len(spec.cells())


@of_every_study
def test_methods_are_those_of_the_package_and_datasets_are_known_by_name(name):
    spec = read_spec(EXPERIMENTS / f"{name}.toml")
    assert {run.method for run in spec.runs} <= set(registry.methods())
    for dataset in (run.dataset for run in spec.runs):
        assert isinstance(dataset.source, Recipe) or (known_dataset(dataset.name) is not None and dataset.source is None)


def test_records_are_of_studies_that_are_there():
    folders = {path.name for path in EXPERIMENTS.iterdir() if path.is_dir()}
    assert folders - {"explanations"} <= set(STUDIES)  # whose records benchmarks/explanations.py makes


@of_every_study
def test_every_record_can_be_used_and_is_of_a_cell_of_its_study(name):
    folder = EXPERIMENTS / name
    records, problems = scan_records(folder)
    known = {cell.hash for cell in cells_of(name)}
    strays = [f"{journal_of(folder, record.cell)}: {record.cell} ({record.hash})" for record in records if record.hash not in known]
    assert not strays + [str(problem) for problem in problems]


@of_every_study
def test_every_record_is_in_the_file_of_its_cell(name):
    folder = EXPERIMENTS / name
    for path in folder.glob("*/*.jsonl"):
        assert {journal_of(folder, record.cell) for record in read_journal(path, Record.from_line).entries} <= {path}


def test_the_comparison_of_the_paper_is_complete():
    methods = methods_by_dataset("paper")
    assert set(methods) == set(NINE)
    assert all(found >= OURS | KERNELS | RIVALS | {"phist-network"} for found in methods.values())
    assert {cell.fold for cell in cells_of("paper")} == set(range(10))


def test_the_networks_are_compared_on_the_nine_datasets():
    assert methods_by_dataset("gnns") == dict.fromkeys(NINE, NETWORKS)


def test_the_whole_grid_is_searched_on_small_datasets():
    assert methods_by_dataset("gnns-whole") == dict.fromkeys(("MUTAG", "ENZYMES", "IMDB-BINARY", "IMDB-MULTI"), NETWORKS)
    assert not {"layers", "hidden"} & {option for cell in cells_of("gnns-whole") for option in cell.options}


def test_the_network_as_printed_is_measured_on_the_nine_with_the_ablations_that_the_paper_has():
    methods = methods_by_dataset("as-printed")
    ablations = {"phist-paper-sum", "phist-paper-deterministic"}
    assert methods == {name: {"phist-paper"} | (ablations if name in SIX else {"phist-paper-sum"}) for name in NINE}


def test_the_long_run_of_the_network_as_printed_has_three_thousand_epochs():
    runs = [run for run in read_spec(EXPERIMENTS / "reproduction.toml").runs if run.label == "phist-paper-long"]
    assert {run.dataset.name for run in runs} == {"MUTAG", "ENZYMES", "NCI1"}
    assert all((run.method, run.options) == ("phist-paper", {"epochs": 3000}) for run in runs)


def test_the_open_points_are_trained_as_long_as_the_record_that_they_are_read_beside():
    beside = {run.dataset.name: run.options.get("epochs") for run in read_spec(EXPERIMENTS / "as-printed.toml").runs}
    long = {"phist-paper-long", "phist-paper-last"}
    runs = [run for run in read_spec(EXPERIMENTS / "reproduction.toml").runs if run.label not in long]
    assert runs
    assert all(run.options.get("epochs") == beside[run.dataset.name] for run in runs)


@pytest.mark.parametrize(("name", "datasets", "seeds"), [("fair", SIX, (0, 1, 2)), ("fair-large", NINE[6:], (0,))])
def test_the_estimator_and_five_rivals_are_compared_fairly(name, datasets, seeds):
    spec = read_spec(EXPERIMENTS / f"{name}.toml")
    assert (spec.protocol, spec.seeds) == ("fair", seeds)
    assert set(methods_by_dataset(name)) == set(datasets)
    assert all(len(found) == 6 and "phist" in found for found in methods_by_dataset(name).values())


def test_the_same_rivals_are_met_on_all_nine():
    assert {frozenset(found) for name in ("fair", "fair-large") for found in methods_by_dataset(name).values()} == {
        frozenset(methods_by_dataset("fair")["MUTAG"])
    }


def test_look_alikes_are_kept_together_where_they_are_many():
    spec = read_spec(EXPERIMENTS / "no-duplicates.toml")
    assert spec.no_duplicates
    assert set(methods_by_dataset("no-duplicates")) == {"MUTAG", "IMDB-BINARY", "IMDB-MULTI"}


def test_the_development_suite_is_complete_but_for_what_is_too_slow_on_its_largest_set():
    methods = methods_by_dataset("development")
    slow = {"svm-theta", "pyramid-match", "graphlet-sampling"}
    assert set(methods) == {facts.name for facts in GROUPS["development suite"]}
    assert all(found >= (KERNELS | RIVALS) - (slow if name == "Tox21_MMP" else set()) for name, found in methods.items())


def test_the_large_set_is_measured_on_its_official_split_by_roc_auc():
    spec = read_spec(EXPERIMENTS / "large.toml")
    assert (spec.protocol, spec.metric) == ("official", "roc-auc")
    assert {cell.dataset for cell in spec.cells()} == {"MOLHIV"}


def test_growth_is_measured_up_to_all_molecules_and_a_million_trees():
    labelled = {cell.labelled for cell in cells_of("growth")}
    assert min(labelled) == 100 and max(labelled) == 37014
    assert max(cell.labelled for cell in cells_of("growth-generated")) == 1_000_000
    assert {"phist-low", "phist", "phist-high", "wl-subtree", "ltp", "gin-0"} == methods_by_dataset("growth")["MOLHIV"]


def test_labels_are_counted_on_six_datasets_that_have_a_thousand():
    assert len(methods_by_dataset("labels")) == 6
    assert {cell.labelled for cell in cells_of("labels")} == {10, 30, 100, 300, 1000}


def test_larger_graphs_are_met_in_three_datasets():
    assert read_spec(EXPERIMENTS / "size-shift.toml").protocol == "size"
    assert set(methods_by_dataset("size-shift")) == {"TRIANGLES", "PROTEINS", "DD"}
