from made_records import make_records, write_records

from phist.report.plan import NOT_ASKED_FOR, PlannedPairs, read_plan
from phist.report.study import load_study
from phist.report.tables import main_table

STUDY = """
name = "mine"
protocol = "paper"

[[runs]]
methods = ["phist", "ldp"]
datasets = ["MUTAG", "imdb_b"]

[[runs]]
methods = ["ltp"]
datasets = ["graphs/own.jsonl"]
labelled = [10, 30]

[[left_out]]
methods = ["gcn"]
datasets = ["MUTAG"]
reason = "too dear"
"""


def plan_of(tmp_path, text=STUDY):
    (tmp_path / "mine.toml").write_text(text)
    return read_plan([tmp_path / "mine"])


def test_what_a_study_asks_for_is_waiting_until_it_is_run(tmp_path):
    assert plan_of(tmp_path).why_absent("ldp", "MUTAG") == ("waiting", "mine.toml asks for it, and it has not been run yet")


def test_datasets_are_called_as_tables_call_them(tmp_path):
    plan = plan_of(tmp_path)
    assert plan.why_absent("phist", "IMDB-BINARY")[0] == "waiting"
    assert plan.why_absent("ltp", "own:30")[0] == "waiting"


def test_what_is_left_out_says_why(tmp_path):
    assert plan_of(tmp_path).why_absent("gcn", "MUTAG") == ("left out", "too dear")


def test_what_nobody_asked_for_is_told_as_that(tmp_path):
    assert plan_of(tmp_path).why_absent("gcn", "DD") == ("", NOT_ASKED_FOR)


def test_a_file_that_is_not_there_or_makes_no_sense_tells_nothing(tmp_path):
    assert read_plan([tmp_path / "nothing"]) == PlannedPairs()
    for text in ("runs = 3", "[[runs]]\nmethods = 3\n", "[", "left_out = ['x']"):
        assert plan_of(tmp_path, text) == PlannedPairs()


def test_a_table_knows_why_a_cell_is_empty_and_a_record_which_file_asks_for_it(tmp_path):
    (tmp_path / "mine.toml").write_text(STUDY)
    study = load_study(write_records(tmp_path / "mine", make_records([15] * 10)))
    table = main_table(study)
    row = next(row for row in table.rows if row.label == "phist")
    entry = row.entries[table.columns.index("IMDB-BINARY")]
    assert (entry.missing, entry.absent) == ("waiting", None)
    assert set(study.specs.values()) == {str(tmp_path / "mine.toml")}
