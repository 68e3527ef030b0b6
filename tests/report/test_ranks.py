import numpy as np
import pytest
from made_records import make_records, make_study_records

from phist.report.diagram import diagram_html
from phist.report.ranks import MIN_DATASETS, Ranks, rank_methods, ranks_table
from phist.report.study import make_study

DATASETS = ("MUTAG", "ENZYMES", "PROTEINS", "NCI1")


def study_of(rights):
    """Results of methods by name: one number of right predictions for each dataset, or None where it is missing."""
    records = []
    for method, values in rights.items():
        for dataset, right in zip(DATASETS, values, strict=True):
            records += [] if right is None else make_records([right] * 10, method=method, dataset=dataset)
    return make_study(records)


def test_the_best_on_every_dataset_has_rank_one():
    ranks = rank_methods(study_of({"phist": [19, 18, 17, 16], "ldp": [18, 17, 16, 15], "gcn": [10, 10, 10, 10]}))
    assert ranks.means == {"phist": 1.0, "ldp": 2.0, "gcn": 3.0}


def test_equal_methods_share_their_ranks():
    ranks = rank_methods(study_of({"phist": [15] * 4, "ldp": [15] * 4, "gcn": [10] * 4}))
    assert ranks.means == {"phist": 1.5, "ldp": 1.5, "gcn": 3.0}


def test_methods_that_lack_a_dataset_are_left_out_and_named():
    ranks = rank_methods(study_of({"phist": [15] * 4, "ldp": [14] * 4, "gcn": [10] * 4, "ltp": [15, None, None, None]}))
    assert ranks.left_out == ("ltp",)
    assert "Left out" in ranks.summary() and "ltp" in ranks.summary()


def test_a_dataset_that_few_methods_have_is_left_out():
    ranks = rank_methods(study_of({"phist": [15] * 4, "ldp": [14, 14, 14, None], "gcn": [13, 13, 13, None]}))
    assert ranks.datasets == DATASETS[:MIN_DATASETS]
    assert ranks.left_out == ()


def test_too_little_is_not_ranked():
    study = study_of({"phist": [15] * 4, "ldp": [14] * 4})
    assert rank_methods(study) is None
    assert "need 3 methods" in ranks_table(study).legend[0]
    assert diagram_html(rank_methods(study)) == ""


def test_the_power_of_nine_datasets_is_stated():
    ranks = Ranks(("a", "b", "c"), tuple(map(str, range(9))), (), np.random.default_rng(0).random((9, 3)))
    assert ranks.smallest_p == pytest.approx(2**-8)
    assert "p = 0.0039" in ranks.power()


def test_the_diagram_is_markup_with_every_label_and_the_colour_of_the_page():
    page = diagram_html(rank_methods(make_study(make_study_records())))
    for label in ("phist", "wl-subtree", "gcn", "ldp", "majority"):
        assert label in page
    assert "currentColor" in page and "#123456" not in page
    assert "<?xml" not in page and "<!DOCTYPE" not in page
