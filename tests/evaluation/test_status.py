import json

from phist.evaluation.records import write_record
from phist.evaluation.status import study_status


def test_cells_are_counted_by_method_and_dataset(make_cell, make_record, tmp_path):
    cells = [make_cell(fold=fold, label=label) for label in ("a", "b") for fold in range(3)]
    write_record(tmp_path, make_record(make_cell(fold=0, label="a"), seconds=2.0))
    write_record(tmp_path, make_record(make_cell(fold=1, label="a"), status="failed", outcome=None, reason="no memory"))
    found = study_status([cell for cell in cells if cell.label == "a"], tmp_path)
    assert found.counts == {("a", "trees"): {"ok": 1, "failed": 1, "missing": 1}}
    assert found.totals == {"ok": 1, "skipped": 0, "failed": 1, "missing": 1}
    assert (found.spent, found.left) == (2.0, 2.0)
    assert [record.reason for record in found.failures] == ["no memory"]


def test_records_of_other_configurations_are_counted_apart(make_cell, make_record, tmp_path):
    write_record(tmp_path, make_record(make_cell(options={"scale": 3})))
    found = study_status([make_cell()], tmp_path)
    assert (found.others, found.totals["missing"]) == (1, 1)


def test_reasons_for_skipping_are_kept_once(make_cell, make_record, tmp_path):
    cells = [make_cell(fold=fold) for fold in range(2)]
    for cell in cells:
        write_record(tmp_path, make_record(cell, status="skipped", outcome=None, reason="too slow"))
    assert study_status(cells, tmp_path).skipped == {("majority", "trees"): "too slow"}


def test_problems_are_reported_and_left_in_place(make_cell, make_record, tmp_path):
    write_record(tmp_path, make_record())
    path = tmp_path / "trees" / "majority.jsonl"
    path.write_text(path.read_text() + "damaged\n")
    before = path.read_bytes()
    assert [problem.line for problem in study_status([make_cell()], tmp_path).problems] == [2]
    assert path.read_bytes() == before


def test_a_study_that_has_not_begun_is_all_missing(make_cell, tmp_path):
    found = study_status([make_cell()], tmp_path / "none")
    assert (found.totals["missing"], found.left) == (1, None)
    assert json.loads(json.dumps(found.to_dict()))["totals"]["missing"] == 1
