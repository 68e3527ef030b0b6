import pytest

from phist.errors import ConfigError
from phist.evaluation.spec_file import read_spec

RUNS = '[[runs]]\nmethods = ["majority", "random"]\ndatasets = ["MUTAG", "TREES"]\n'


@pytest.fixture(autouse=True)
def two_methods(add_method):
    pass


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seedz = [1]\n" + RUNS, "'seedz', which means nothing there. Did you mean 'seeds'"),
        ("", "has no 'runs'"),
        ("runs = 3", "runs = 3; a value of type list"),
        ("runs = []", r"has no \[\[runs\]\]"),
        ("[[runs]]\nmethods = []\ndatasets = ['MUTAG']", r"number 1 has methods = \[\]"),
        ("[[runs]]\nmethods = ['majority']\ndatasets = ['MUTAAG']", "dataset 'MUTAAG'.* Did you mean MUTAG"),
        ("[[runs]]\nmethods = ['majorty']\ndatasets = ['MUTAG']", "'majorty' is not known. Did you mean 'majority'"),
        ("[[runs]]\nmethods = ['../x']\ndatasets = ['MUTAG']", "becomes a file"),
        (RUNS + RUNS, "majority on MUTAG is asked for twice"),
        (RUNS + "[methods.ldp]\n", "belongs to no"),
        (RUNS + "[methods.majority.on.DD]\nscale = 1\n", "names 'DD', on which majority is not run"),
        (RUNS + "[methods.majority]\noptions = {speed = 1}\n", "majority on MUTAG does not take its options"),
        (RUNS + "[methods.majority]\noptions = {scale = inf}\n", "does not take its options"),
        (RUNS + "[methods.majority]\noptions = {scale = 2026-01-01}\n", "not JSON serializable"),
        (RUNS + "[methods.majority]\nspeed = 1\n", "'speed', which means nothing there"),
        ("folds = [0, 10]\n" + RUNS, "folds = .* from 0 to 9"),
        ("folds = [1, 1]\n" + RUNS, "different whole numbers"),
        ("seeds = [true]\n" + RUNS, "seeds = "),
        ("repeats = 2\n" + RUNS, "repeats = 2 with the protocol 'paper'"),
        ("no_duplicates = 1\n" + RUNS, "no_duplicates = 1; a value of type bool"),
        ("metric = 'f1'\n" + RUNS, "metric='f1' is not known; choose one of .*'roc-auc'"),
        ("folds = ", "cannot be read as TOML"),
        (RUNS + "labelled = [0]\n", r"number 1 has labelled = \[0\]"),
        (RUNS + "labelled = [5, 5]\n", "different whole numbers"),
        (RUNS + "tested = 0\n", "tested = 0"),
        (RUNS + "[generated.X]\nfamily = 'bushes'\narguments = {}\n", r"\[generated.X\]: family='bushes' is not known"),
        (RUNS + "labelled = '" + "x" * 9000 + "'\n", "labelled = "),
        ("[[runs]]\nmethods = ['majority']\ndatasets = ['" + "x" * 9000 + "']", "dataset 'xxx"),
        ("[[runs]]\nmethods = ['majority']\ndatasets = ['~nouser/x']", "a user who is not known here"),
        (RUNS + "[generated.X]\nfamily = 'trees'\narguments = {leaves = 3}\n", "does not take"),
        (RUNS + "[generated.X]\nfamily = 'trees'\narguments = {n_graphs = 2026-01-01, seed = 0}\n", "does not take"),
        (RUNS + "[generated.X]\nfamily = 'trees'\narguments = {n_graphs = 0, seed = 0}\n", "n_graphs=0"),
        (RUNS + "[generated.X]\nfamily = 'trees'\narguments = {n_graphs = 5, n_nodes = 'many', seed = 0}\n", "n_nodes='many'"),
        (RUNS + "[generated.X]\nfamily = 'trees'\narguments = {n_graphs = 5, seed = -1}\n", "seed=-1"),
        (RUNS + "[generated.MUTAG]\nfamily = 'trees'\narguments = {}\n", "name of a dataset that is known"),
        (RUNS + "[[left_out]]\nmethods = ['ldp']\ndatasets = ['DD']\n", "has no 'reason'"),
        (
            RUNS + "[[left_out]]\nmethods = ['majority']\ndatasets = ['MUTAG']\nreason = 'slow'\n",
            r"names majority on MUTAG, which \[\[runs\]\] asks for",
        ),
    ],
)
def test_whatever_is_wrong_is_said_with_file_and_place(write_study, text, message):
    with pytest.raises(ConfigError, match=rf"small.toml.*{message}") as raised:
        read_spec(write_study(text))
    assert len(str(raised.value)) < 700


@pytest.mark.parametrize(("name", "protocol"), [("small", "papr"), ("small", "repeated"), ("a/b", "paper")])
def test_name_and_protocol_are_checked(tmp_path, name, protocol):
    path = tmp_path / "x.toml"
    path.write_text(f'name = "{name}"\nprotocol = "{protocol}"\n[[runs]]\nmethods = ["majority"]\ndatasets = ["MUTAG"]\n')
    with pytest.raises(ConfigError):
        read_spec(path)


def test_a_study_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match="there is no study"):
        read_spec(tmp_path / "none.toml")


def test_a_folder_in_place_of_a_study_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="is a folder; give the TOML file"):
        read_spec(tmp_path)


def write_official(folder, datasets, more=""):
    path = folder / "official.toml"
    path.write_text(
        f'name = "official"\nprotocol = "official"\n{more}\n[[runs]]\nmethods = ["majority", "random"]\ndatasets = {datasets}\n'
    )
    return path


def test_an_official_split_makes_one_cell_for_each_method_and_seed(tmp_path):
    spec = read_spec(write_official(tmp_path, ["MOLHIV"], 'metric = "roc-auc"\nseeds = [0, 1, 2]'))
    assert spec.metric == "roc-auc"
    assert [(cell.label, cell.seed) for cell in spec.cells() if cell.fold == 0] == [
        ("majority", 0),
        ("random", 0),
        ("random", 1),
        ("random", 2),
    ]
    assert len(spec.cells()) == 4


@pytest.mark.parametrize(
    ("datasets", "more", "message"),
    [
        (["MUTAG"], "", "MUTAG comes with no split; the protocol 'official' is for MOLHIV"),
        (["MOLHIV"], "no_duplicates = true", "no_duplicates was given with the protocol 'official'"),
        (["MOLHIV"], "folds = [1]", "folds = .* from 0 to 0"),
        (["MOLHIV"], "repeats = 2", "repeats = 2 with the protocol 'official'"),
    ],
)
def test_what_an_official_split_cannot_have_is_refused(tmp_path, datasets, more, message):
    with pytest.raises(ConfigError, match=message):
        read_spec(write_official(tmp_path, datasets, more))


def test_numbers_of_labelled_graphs_make_a_cell_each(write_study):
    path = write_study("folds = [0]\n[[runs]]\nmethods = ['majority']\ndatasets = ['MUTAG']\nlabelled = [10, 30]\ntested = 5\n")
    assert [(cell.labelled, cell.tested) for cell in read_spec(path).cells()] == [(10, 5), (30, 5)]


def test_a_generated_dataset_is_known_without_being_made(write_study):
    table = "[generated.FOREST]\nfamily = 'trees'\narguments = {n_graphs = 1000000000, seed = 0}\n"
    path = write_study("[[runs]]\nmethods = ['majority']\ndatasets = ['FOREST']\n" + table)
    assert {cell.source.family for cell in read_spec(path).cells()} == {"trees"}
