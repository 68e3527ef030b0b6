from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from phist.errors import ConfigError, DatasetError, GraphInputError
from phist.evaluation.cell import FOLD_PROTOCOLS
from phist.evaluation.splits import FOLDS, class_codes, make_split, official_split, sample_split
from phist.graphs.checkup import duplicates_across
from phist.graphs.generate import make_trees, make_triangles
from phist.graphs.graphset import GraphSet
from phist.graphs.symmetry import weisfeiler_lehman_hashes

TREES = make_trees(90, n_nodes=9, seed=0)
SMALL = make_trees(90, n_nodes=8, seed=0)  # so small that most trees occur several times


def parts(split):
    return split.training, split.validation, split.test


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(FOLD_PROTOCOLS), st.integers(0, 9), st.integers(0, 2**32 - 1), st.booleans())
def test_the_parts_are_disjoint_and_cover_the_set(protocol, fold, seed, no_duplicates):
    split = make_split(TREES, protocol, fold, seed=seed, no_duplicates=no_duplicates)
    assert sorted(np.concatenate(parts(split)).tolist()) == list(range(len(TREES)))
    assert all((np.diff(part) > 0).all() for part in parts(split))


def test_the_folds_of_the_paper_are_those_of_its_random_state():
    folds = [test for _, test in StratifiedKFold(10, shuffle=True, random_state=12345).split(TREES.labels, TREES.labels)]
    for fold in range(FOLDS):
        split = make_split(TREES, "paper", fold)
        assert split.test.tolist() == folds[fold].tolist()
        assert split.validation.tolist() == folds[fold - 1].tolist()


@pytest.mark.parametrize("protocol", FOLD_PROTOCOLS)
def test_every_graph_is_tested_once(protocol):
    tested = np.concatenate([make_split(TREES, protocol, fold).test for fold in range(FOLDS)])
    assert sorted(tested.tolist()) == list(range(len(TREES)))


@pytest.mark.parametrize("protocol", FOLD_PROTOCOLS)
def test_classes_have_the_same_shares_in_every_part(protocol):
    whole = Counter(TREES.label_list())
    for part in parts(make_split(TREES, protocol, 4)):
        counts = Counter(TREES[part].label_list())
        assert all(abs(counts[label] - whole[label] * len(part) / len(TREES)) <= 1 for label in whole)


def test_the_seed_moves_the_inner_split_of_fair_only():
    one, other = (make_split(TREES, "fair", 2, seed=seed) for seed in (0, 1))
    assert one.test.tolist() == other.test.tolist() == make_split(TREES, "paper", 2).test.tolist()
    assert one.validation.tolist() != other.validation.tolist()
    assert make_split(TREES, "paper", 2, seed=0).hash == make_split(TREES, "paper", 2, seed=1).hash


def test_the_inner_split_of_fair_is_as_large_as_a_fold():
    assert len(make_split(TREES, "fair", 2).validation) == len(TREES) // FOLDS


def test_repeats_shuffle_anew_and_begin_with_the_paper():
    assert make_split(TREES, "repeated", 5, repeat=0).hash == make_split(TREES, "paper", 5).hash
    assert len({make_split(TREES, "repeated", 5, repeat=repeat).hash for repeat in range(4)}) == 4


@pytest.mark.parametrize("protocol", FOLD_PROTOCOLS)
def test_without_duplicates_no_answer_can_be_remembered(protocol):
    hashes = weisfeiler_lehman_hashes(SMALL)
    leaky = make_split(SMALL, protocol, 0)
    assert duplicates_across(hashes, leaky.training, leaky.test) > 0
    for fold in range(FOLDS):
        split = make_split(SMALL, protocol, fold, no_duplicates=True)
        assert duplicates_across(hashes, np.append(split.training, split.validation), split.test) == 0
        assert duplicates_across(hashes, split.training, split.validation) == 0


def test_equal_splits_have_equal_hashes_and_others_do_not():
    assert make_split(TREES, "paper", 3).hash == make_split(TREES, "paper", 3).hash
    assert len({make_split(TREES, "paper", fold).hash for fold in range(FOLDS)}) == FOLDS


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"protocol": "paperr", "fold": 0}, "protocol='paperr'"),
        ({"protocol": "paper", "fold": 10}, "fold=10"),
        ({"protocol": "paper", "fold": 0, "repeat": 1}, "repeat=1"),
    ],
)
def test_unknown_settings_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        make_split(TREES, **settings)


def test_too_few_kinds_of_graphs_are_refused_where_duplicates_are():
    with pytest.raises(GraphInputError, match="kinds of graphs apart"):
        make_split(make_trees(60, n_nodes=4, seed=0), "paper", 0, no_duplicates=True)


@pytest.mark.parametrize("graphs", [TREES.with_labels(None), TREES.with_labels([0] * 90), TREES[:8], TREES[:0]])
def test_a_set_that_cannot_be_cut_into_folds_is_refused(graphs: GraphSet):
    with pytest.raises(GraphInputError):
        make_split(graphs, "paper", 0)


def test_the_official_split_of_molhiv_is_the_published_one(dataset_folder):
    split = official_split("MOLHIV")
    assert [len(part) for part in parts(split)] == [32901, 4113, 4113]
    assert sorted(np.concatenate(parts(split)).tolist()) == list(range(41127))


def test_a_dataset_without_official_split_is_refused():
    with pytest.raises(DatasetError, match="MUTAG has no official split"):
        official_split("MUTAG")


def test_folds_are_not_made_of_an_official_split():
    with pytest.raises(ConfigError, match="'paper'"):
        make_split(TREES, "official", 0)


def sample_of(labelled, tested=None, state=0):
    return sample_split(make_split(TREES, "paper", 0), class_codes(TREES)[0], labelled=labelled, tested=tested, state=state)


def test_a_sample_has_as_many_graphs_as_asked_for_a_fifth_of_them_to_choose_by():
    split = sample_of(30, tested=4)
    assert [len(part) for part in parts(split)] == [24, 6, 4]
    assert len(np.unique(np.concatenate(parts(split)))) == 34


def test_a_sample_is_of_the_parts_of_its_split():
    whole, split = make_split(TREES, "paper", 0), sample_of(30, tested=4)
    assert set(split.test) <= set(whole.test)
    assert not set(split.training) & set(whole.test) and not set(split.validation) & set(whole.test)


def test_a_smaller_sample_is_a_part_of_a_larger_one():
    small, large = (set(np.concatenate(parts(sample_of(labelled))[:2]).tolist()) for labelled in (10, 40))
    assert small < large


def test_a_sample_has_every_class_in_its_share():
    codes, _ = class_codes(TREES)
    assert np.bincount(codes[np.concatenate(parts(sample_of(40))[:2])]).tolist() == [20, 20]


def test_a_rare_class_is_learnt_from_even_in_the_smallest_sample():
    codes = np.array([0] * 79 + [1])
    split = sample_split(make_split(TREES, "paper", 0), np.resize(codes, 90), labelled=10, tested=None, state=0)
    assert np.resize(codes, 90)[split.training].sum() >= 1


@pytest.mark.parametrize("labelled", [5, 82])
def test_a_sample_that_the_set_cannot_give_is_refused(labelled):
    with pytest.raises(ConfigError, match="from 10 to 81"):
        sample_of(labelled)


def test_by_size_the_smaller_half_is_learnt_from_and_the_largest_tenth_tested():
    graphs = make_triangles(200, nodes=(10, 40), seed=0)
    sizes, split = graphs.node_counts(), make_split(graphs, "size", 3)
    learnt = np.concatenate([split.training, split.validation])
    assert (len(split.training), len(split.validation), len(split.test)) == (90, 10, 20)
    assert sizes[learnt].max() <= np.median(sizes) <= sizes[split.test].min()


def test_by_size_every_fold_has_the_same_test_part_and_another_validation_part():
    graphs = make_triangles(200, nodes=(10, 40), seed=0)
    one, other = (make_split(graphs, "size", fold) for fold in (0, 1))
    assert one.test.tolist() == other.test.tolist()
    assert not set(one.validation) & set(other.validation)


def test_a_set_whose_smaller_half_is_of_one_class_cannot_be_split_by_size():
    sizes = [5] * 30 + [9] * 30
    graphs = GraphSet.concatenate([make_trees(1, n_nodes=size, seed=place) for place, size in enumerate(sizes)])
    with pytest.raises(GraphInputError, match="of 1 classes"):
        make_split(graphs.with_labels(["small"] * 30 + ["large"] * 30), "size", 0)
