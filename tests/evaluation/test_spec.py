import pytest

from phist.evaluation.spec_file import read_spec

RUNS = '[[runs]]\nmethods = ["majority", "random"]\ndatasets = ["MUTAG", "TREES"]\n'


@pytest.fixture(autouse=True)
def two_methods(add_method):
    pass


def test_a_study_comes_to_one_cell_for_each_method_dataset_and_fold(write_study):
    cells = read_spec(write_study("folds = [0, 4]\n" + RUNS)).cells()
    assert len(cells) == len({cell.hash for cell in cells}) == 8
    assert {(cell.label, cell.dataset, cell.fold) for cell in cells} == {
        (label, dataset, fold) for label in ("majority", "random") for dataset in ("MUTAG", "trees") for fold in (0, 4)
    }


def test_all_ten_folds_and_seed_zero_unless_given(write_study):
    cells = read_spec(write_study(RUNS)).cells()
    assert {cell.fold for cell in cells} == set(range(10))
    assert {cell.seed for cell in cells} == {0}


def test_cells_that_follow_each_other_are_of_different_methods(write_study):
    cells = read_spec(write_study(RUNS)).cells()
    assert [(cell.dataset, cell.fold, cell.label) for cell in cells[:3]] == [
        ("MUTAG", 0, "majority"),
        ("MUTAG", 0, "random"),
        ("MUTAG", 1, "majority"),
    ]


def test_further_seeds_are_for_methods_that_use_them(write_study):
    cells = read_spec(write_study("seeds = [3, 4]\nfolds = [0]\n" + RUNS)).cells()
    assert [cell.seed for cell in cells if cell.label == "majority" and cell.dataset == "MUTAG"] == [3]
    assert [cell.seed for cell in cells if cell.label == "random" and cell.dataset == "MUTAG"] == [3, 4]


def test_under_fair_every_seed_has_its_own_split(write_study):
    cells = read_spec(write_study("seeds = [3, 4]\nfolds = [0]\n" + RUNS, protocol="fair")).cells()
    assert [cell.seed for cell in cells if cell.label == "majority" and cell.dataset == "MUTAG"] == [3, 4]


def test_repeats_are_cells_of_their_own(write_study):
    cells = read_spec(write_study("repeats = 3\nfolds = [0]\n" + RUNS, protocol="repeated")).cells()
    assert [cell.repeat for cell in cells if cell.label == "random" and cell.dataset == "trees"] == [0, 1, 2]


def test_options_are_given_by_method_and_by_dataset(write_study):
    options = "[methods.majority]\noptions = {scale = 1, noise = 0}\n[methods.majority.on.imdb-b]\nscale = 2\n"
    text = '[[runs]]\nmethods = ["majority"]\ndatasets = ["MUTAG", "IMDB-BINARY"]\n' + options
    by_dataset = {cell.dataset: cell.options for cell in read_spec(write_study(text)).cells()}
    assert by_dataset == {"MUTAG": {"scale": 1, "noise": 0}, "IMDB-BINARY": {"scale": 2, "noise": 0}}


def test_options_of_a_block_are_for_all_its_methods_and_yield_to_their_own(write_study):
    text = RUNS + "options = {scale = 1, noise = 0}\n[methods.random]\noptions = {scale = 2}\n"
    by_label = {cell.label: cell.options for cell in read_spec(write_study(text)).cells()}
    assert by_label == {"majority": {"scale": 1, "noise": 0}, "random": {"scale": 2, "noise": 0}}


def test_one_method_may_stand_under_several_labels(write_study):
    text = 'folds = [0]\n[[runs]]\nmethods = ["majority", "half"]\ndatasets = ["MUTAG"]\n'
    text += '[methods.half]\nmethod = "majority"\noptions = {scale = 0.5}\n'
    cells = read_spec(write_study(text)).cells()
    assert [(cell.label, cell.method, cell.options) for cell in cells] == [
        ("majority", "majority", {}),
        ("half", "majority", {"scale": 0.5}),
    ]


def test_a_dataset_of_ones_own_is_known_by_its_content(write_study, trees):
    cell = read_spec(write_study(RUNS)).cells()[-1]
    assert (cell.dataset, cell.source) == ("trees", trees)
    assert len(cell.fingerprint) == 64
