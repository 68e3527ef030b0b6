"""The checkup of a set: sizes, duplicates, ceiling and floors."""

import json
import sys

import numpy as np
import pytest

from phist.errors import ConfigError, GraphInputError
from phist.graphs.checkup import ceiling_of, check_graphs, degree_histograms, duplicates_across
from phist.graphs.generate import make_circulant_skip_links, make_planted_partitions, make_trees
from phist.graphs.graphset import GraphSet
from phist.graphs.labels import as_labels
from phist.graphs.packing import Reading, pack
from phist.graphs.symmetry import weisfeiler_lehman_hashes


def small_set(labels=None, **reading):
    """A path of three nodes, the same path, a triangle, one node, an edge and an isolated node."""
    source = np.array([0, 1, 3, 4, 6, 7, 8, 10])
    target = np.array([1, 2, 4, 5, 7, 8, 6, 11])
    labels = None if labels is None else as_labels(labels)
    return pack(np.array([3, 3, 3, 1, 3]), source, target, labels=labels, reading=Reading(**reading))


def test_sizes_are_summarised_over_graphs_and_degrees_over_nodes():
    checkup = check_graphs(small_set())
    assert (checkup.n_graphs, checkup.isolated_nodes) == (5, 2)
    assert (checkup.nodes.minimum, checkup.nodes.median, checkup.nodes.mean, checkup.nodes.maximum) == (1, 3, 2.6, 3)
    assert (checkup.edges.minimum, checkup.edges.median, checkup.edges.mean, checkup.edges.maximum) == (0, 2, 1.6, 3)
    assert (checkup.degrees.minimum, checkup.degrees.maximum) == (0, 2)
    assert checkup.degrees.mean == pytest.approx(16 / 13)
    assert checkup.density.mean == pytest.approx((2 / 3 + 2 / 3 + 1 + 0 + 1 / 3) / 5)
    assert (checkup.components.minimum, checkup.components.mean, checkup.components.maximum) == (1, 1.2, 2)


def test_flags_say_directed_and_weighted():
    plain = check_graphs(small_set())
    directed = check_graphs(small_set(directed="keep"))
    weighted = check_graphs(pack(np.array([2]), np.array([0]), np.array([1]), np.array([0.5])))
    assert (plain.directed, plain.weighted) == (False, False)
    assert (directed.directed, directed.weighted) == (True, False)
    assert (weighted.directed, weighted.weighted) == (False, True)


def test_directed_sets_count_arcs_once_and_a_node_that_is_only_pointed_at_is_not_isolated():
    checkup = check_graphs(small_set(directed="keep"))
    assert checkup.isolated_nodes == 2
    assert checkup.edges.maximum == 3
    assert checkup.density.maximum == pytest.approx(0.5)
    assert checkup.components.maximum == 2


def test_a_loop_makes_no_neighbour_and_no_density():
    graphs = pack(np.array([2]), np.array([0]), np.array([0]), reading=Reading(self_loops="keep"))
    checkup = check_graphs(graphs)
    assert (checkup.isolated_nodes, checkup.edges.maximum, checkup.density.maximum) == (2, 1, 0)


def test_duplicates_are_counted_within_and_across_classes():
    within = check_graphs(small_set(["a", "a", "b", "b", "b"])).duplicates
    across = check_graphs(small_set(["a", "b", "b", "b", "b"])).duplicates
    assert (within.groups, within.graphs, within.within_class, within.across_classes) == (1, 2, 1, 0)
    assert (across.groups, across.graphs, across.within_class, across.across_classes) == (1, 2, 0, 1)


def test_the_ceiling_takes_the_largest_class_of_each_group():
    assert check_graphs(small_set(["a", "a", "b", "b", "b"])).ceiling == 100
    assert check_graphs(small_set(["a", "b", "b", "b", "b"])).ceiling == 80
    assert check_graphs(make_circulant_skip_links(50, seed=0)).ceiling == 10


def test_the_ceiling_accepts_labels_of_any_kind():
    hashes = np.array([1, 1, 2], dtype=np.uint64)
    assert ceiling_of(hashes, [1, "one", (1, "one")]) == pytest.approx(200 / 3)


def test_unlabelled_sets_have_sizes_and_duplicates_but_no_ceiling_and_no_floors():
    checkup = check_graphs(small_set())
    assert checkup.class_counts == {}
    assert checkup.ceiling is None and checkup.floors is None
    assert (checkup.duplicates.groups, checkup.duplicates.within_class, checkup.duplicates.across_classes) == (1, None, None)
    assert "no labels" in str(checkup) and "ceiling" not in str(checkup)


def test_size_alone_solves_a_set_whose_classes_differ_in_size():
    graphs = GraphSet.concatenate([make_trees(20, n_nodes=n, seed=0).with_labels([n] * 20) for n in (10, 20)])
    floors = check_graphs(graphs).floors
    assert (floors.majority, floors.size, floors.degrees, floors.folds, floors.reason) == (50, 100, 100, 10, None)


def test_degrees_tell_kinds_of_trees_apart_where_size_cannot():
    floors = check_graphs(make_trees(200, n_nodes=100, seed=0)).floors
    assert floors.size <= 60
    assert floors.degrees > 95


def test_degrees_hardly_tell_planted_partitions_from_rewired_ones():
    floors = check_graphs(make_planted_partitions(200, seed=0)).floors
    assert floors.degrees < 65


def test_floors_depend_on_the_seed_only():
    graphs = make_trees(60, seed=0)
    assert check_graphs(graphs, seed=3) == check_graphs(graphs, seed=3)


def test_small_classes_mean_fewer_folds():
    graphs = make_trees(20, seed=0).with_labels(["rare"] * 3 + ["common"] * 17)
    assert check_graphs(graphs).floors.folds == 3
    assert check_graphs(graphs, folds=2).floors.folds == 2


@pytest.mark.parametrize(
    ("labels", "majority", "reason"),
    [(["only"] * 20, 100, "only one class"), (["single"] + ["common"] * 19, 95, "only one graph")],
)
def test_floors_that_cannot_be_cross_validated_say_why(labels, majority, reason):
    checkup = check_graphs(make_trees(20, seed=0).with_labels(labels))
    assert checkup.floors.majority == majority
    assert checkup.floors.size is None and checkup.floors.degrees is None and checkup.floors.folds is None
    assert reason in checkup.floors.reason and reason in str(checkup)


def test_degree_histograms_have_a_bin_per_small_degree_and_doubling_bins_beyond():
    stars = [0, 15, 16, 31, 32, 63, 64]
    centres = np.concatenate([[0], np.cumsum(np.array(stars) + 1)[:-1]])
    source = np.repeat(centres, stars)
    target = np.concatenate([centre + 1 + np.arange(leaves) for centre, leaves in zip(centres, stars, strict=True)])
    histograms = degree_histograms(pack(np.array(stars) + 1, source, target))
    histograms[:, 1] -= stars  # the leaves
    assert histograms.argmax(axis=1).tolist() == [0, 15, 16, 16, 17, 17, 18]
    assert histograms.sum(axis=1).tolist() == [1] * 7


def test_degree_histograms_of_directed_sets_count_both_directions():
    graphs = pack(np.array([3]), np.array([0, 0]), np.array([1, 2]), reading=Reading(directed="keep"))
    assert degree_histograms(graphs).tolist() == [[2, 0, 1, 1, 2]]


def test_duplicates_across_counts_the_test_graphs_that_training_has_seen():
    hashes = weisfeiler_lehman_hashes(small_set())
    assert duplicates_across(hashes, train_index=[0, 2], test_index=[1, 3, 4]) == 1
    assert duplicates_across(hashes, train_index=[2, 3], test_index=[0, 1]) == 0


def test_a_checkup_becomes_json_and_comes_back():
    found = check_graphs(small_set(["a", "b", "b", "b", "b"])).to_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["ceiling"] == 80.0
    assert found["class_counts"] == {"a": 1, "b": 4}
    assert found["floors"]["majority"] == 80.0
    assert found["nodes"] == {"minimum": 1.0, "median": 3.0, "mean": 2.6, "maximum": 3.0}


def test_classes_that_read_alike_stay_apart_in_json():
    found = check_graphs(small_set([1, "1", 1, "1", 1])).to_dict()
    assert found["class_counts"] == {"1": 3, "'1'": 2}


def test_the_summary_names_what_was_found():
    text = check_graphs(make_trees(40, seed=0)).summary()
    for words in (
        "graphs:         40",
        "recursive (20), uniform (20)",
        "mean 30",
        "duplicates:",
        "1-WL ceiling:",
        "majority 50.0 %",
    ):
        assert words in text


def test_the_summary_shortens_a_long_list_of_classes():
    assert "and 8 more" in check_graphs(make_trees(20, seed=0).with_labels(range(20))).summary()


def test_large_sets_are_measured_in_pieces_with_the_same_result(monkeypatch):
    graphs = make_trees(40, seed=0)
    whole = check_graphs(graphs)
    monkeypatch.setattr("phist.graphs.symmetry._ARCS_AT_A_TIME", 100)
    assert check_graphs(graphs) == whole


def test_a_set_without_graphs_and_a_single_fold_are_refused():
    with pytest.raises(GraphInputError, match=r"no graphs.*at least one"):
        check_graphs(small_set()[:0])
    with pytest.raises(ConfigError, match=r"folds=1.*at least 2"):
        check_graphs(small_set(), folds=1)


def test_checking_graphs_does_not_need_torch():
    import subprocess

    code = "import sys; from phist.graphs import checkup, generate; sys.exit('torch' in sys.modules or 'sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "ceiling"),
    [("MUTAG", 96.8), ("ENZYMES", 100.0), ("IMDB-BINARY", 88.6), ("IMDB-MULTI", 63.3), ("PROTEINS", 97.5), ("NCI1", 99.4)],
)
def test_benchmarks_have_the_known_ceilings(name, ceiling, dataset_folder):
    from phist.graphs.datasets import load_dataset

    graphs = load_dataset(name)
    assert round(ceiling_of(weisfeiler_lehman_hashes(graphs), graphs.labels), 1) == ceiling


def test_floors_of_mutag_lie_between_majority_and_ceiling(dataset_folder):
    from phist.graphs.datasets import load_dataset

    found = check_graphs(load_dataset("MUTAG")).to_dict()
    assert (found["n_graphs"], found["class_counts"], found["ceiling"]) == (188, {"-1": 63, "1": 125}, 96.81)
    assert found["floors"]["majority"] == 66.49
    assert found["floors"]["majority"] < found["floors"]["size"] < found["ceiling"]
