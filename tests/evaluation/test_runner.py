import pytest

from phist.errors import ConfigError
from phist.evaluation.backends import Workers
from phist.evaluation.execution import run_cell
from phist.evaluation.records import load_records, write_record
from phist.evaluation.runner import choose_cells, choose_shard, make_plan, run_plan

HERE = Workers(jobs=1)


@pytest.fixture(autouse=True)
def two_methods(add_method):
    pass


@pytest.fixture
def cells(make_cell):
    return [make_cell(fold=fold) for fold in range(4)]


def run(cells, folder, **settings):
    return run_plan(make_plan(cells, folder, **settings), folder, HERE)


def test_every_cell_is_recorded(cells, tmp_path):
    assert len(run(cells, tmp_path)) == 4
    assert {record.hash for record in load_records(tmp_path)} == {cell.hash for cell in cells}


def test_what_is_recorded_is_not_run_again(cells, tmp_path):
    run(cells[:3], tmp_path)
    assert [record.cell for record in run(cells, tmp_path)] == cells[3:]
    assert run(cells, tmp_path) == []


def test_skipped_cells_are_done(make_cell, tmp_path):
    cells = [make_cell(options={"skip": "too slow"})]
    run(cells, tmp_path)
    assert run(cells, tmp_path) == []


def test_failed_cells_stop_nothing_and_are_tried_again_on_request(make_cell, tmp_path):
    cells = [make_cell(options={"fail": True}), make_cell(fold=1)]
    assert [record.status for record in run(cells, tmp_path)] == ["failed", "ok"]
    assert run(cells, tmp_path) == []
    assert [record.cell for record in run(cells, tmp_path, retry_failed=True)] == cells[:1]


def test_a_corrupt_record_is_reported_and_its_cell_run_again(cells, tmp_path):
    run(cells, tmp_path)
    path = tmp_path / "trees" / "majority.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1][:100], *lines[2:]]) + "\n")
    plan = make_plan(cells, tmp_path)
    assert [problem.line for problem in plan.repaired] == [2]
    assert plan.cells == cells[1:2]


def test_a_record_is_on_the_disk_before_it_is_told_of(cells, tmp_path):
    seen = []
    run_plan(make_plan(cells, tmp_path), tmp_path, HERE, tell=lambda record: seen.append(len(load_records(tmp_path))))
    assert seen == [1, 2, 3, 4]


def test_a_cell_that_two_runs_compute_is_recorded_once(cells, tmp_path):
    plan = make_plan(cells, tmp_path)
    write_record(tmp_path, run_cell(cells[0]))
    run_plan(plan, tmp_path, HERE)
    assert len((tmp_path / "trees" / "majority.jsonl").read_text().splitlines()) == 4


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_shards_share_all_cells_and_none_twice(cells, count):
    shards = [choose_shard(cells, f"{number}/{count}") for number in range(1, count + 1)]
    assert sorted(cell.fold for shard in shards for cell in shard) == [0, 1, 2, 3]
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_a_shard_that_makes_no_sense_is_refused(cells, shard):
    with pytest.raises(ConfigError, match="such as 2/4"):
        choose_shard(cells, shard)


def test_cells_are_chosen_by_label_and_dataset(make_cell):
    cells = [make_cell(label="a"), make_cell(label="b"), make_cell(label="b", dataset="DD")]
    assert choose_cells(cells, ["b"], ["d&d"]) == cells[2:]
    with pytest.raises(ConfigError, match="'c' is not in this study; it has a, b"):
        choose_cells(cells, ["c"])
