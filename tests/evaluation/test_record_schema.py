"""Lines of a study that are not quite records: refused as a problem of the line, never an error of the program."""

import copy
import json
import os

import pytest

from phist.baselines.method import Account
from phist.errors import ConfigError
from phist.evaluation.compact import MOST_ROWS, rows_of
from phist.evaluation.journal import read_journal
from phist.evaluation.records import Record, load_records, write_record

ODD = [None, True, -1, 7, 1.5, 10**30, 1e300, "", "x", "\ud800", [], [None], [[]], {}, {"a": 1}, [1, 2, 3], {"first": 0}]


@pytest.fixture
def line(make_record):
    epochs = [{"epoch": number, "loss": 1 / (1 + number)} for number in range(4)]
    account = Account({"epoch": 7}, [{"C": 1}], epochs, 0.75, 0.5, ["a note"])
    return json.loads(json.dumps(make_record(account=account, engine="fused", versions={"numpy": "2"}).to_line()))


def places(content, way=()):
    """Where the values of nested objects are."""
    for key in content if isinstance(content, dict) else range(len(content)):
        yield (*way, key)
        if isinstance(content[key], dict | list):
            yield from places(content[key], (*way, key))


def replaced(line, way, value):
    changed = copy.deepcopy(line)
    inner = changed
    for key in way[:-1]:
        inner = inner[key]
    inner[way[-1]] = value
    return changed


def test_no_odd_value_anywhere_is_more_than_a_problem_of_its_line(line, tmp_path):
    """The cell's hash protects the cell; the rest is looked at, and whatever passes can be written and read again."""
    path, tried = tmp_path / "journal.jsonl", 0
    lines = [replaced(line, way, value) for way in places(line) for value in ODD]
    path.write_text("".join(json.dumps(changed) + "\n" for changed in lines))
    contents = read_journal(path, Record.from_line)
    assert len(contents.entries) + len(contents.problems) == len(lines)
    assert all(len(str(problem)) < 400 for problem in contents.problems)
    for record in contents.entries:
        assert 0 <= record.accuracy <= 1
        assert record.seconds >= 0 and isinstance(record.reason, str | None)
        assert Record.from_line(json.loads(json.dumps(record.to_line(), allow_nan=False))).to_line() == record.to_line()
        tried += 1
    assert tried


@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("status",), "done"), (("status",), []), (("status",), "failed"), (("outcome",), None), (("seconds",), "long"),
        (("seconds",), -1), (("threads",), True), (("versions",), {"numpy": 2}), (("account", "notes"), "a note"),
        (("account", "training_accuracy"), 1.5), (("account", "tried"), [1]), (("outcome", "truth", 0), 5),
        (("outcome", "truth"), []), (("outcome", "predicted", 0), 0.5), (("outcome", "classes"), []),
        (("outcome", "probabilities", 0, 0), -1), (("outcome", "probabilities"), []), (("label",), None), (("cell",), []),
        (("account", "history", "epoch"), {"first": 0, "step": 1, "count": 10**12}),
        (("account", "history", "epoch"), {"first": 0, "step": 0, "count": -1}),
    ],
)  # fmt: skip
def test_values_out_of_range_are_refused(line, way, value):
    with pytest.raises((ValueError, TypeError)):
        Record.from_line(replaced(line, way, value))


@pytest.mark.parametrize("name", ["seconds", "outcome", "account", "cell", "hash"])
def test_missing_fields_are_named(line, name):
    del line[name]
    with pytest.raises(ConfigError, match=name):
        Record.from_line(line)


def test_a_count_is_not_believed_beyond_what_a_history_can_have():
    with pytest.raises(ConfigError, match="count"):
        rows_of({"epoch": {"first": 0, "step": 0, "count": MOST_ROWS + 1}})


@pytest.mark.parametrize("text", ["NaN", "-Infinity"])
def test_numbers_that_are_not_json_are_refused(line, tmp_path, text):
    path = tmp_path / "journal.jsonl"
    path.write_text(json.dumps(line).replace('"seconds": 0.0', f'"seconds": {text}') + "\n")
    assert text in str(read_journal(path, Record.from_line).problems[0])


def test_a_journal_that_is_no_regular_file_is_passed_over(make_record, tmp_path):
    write_record(tmp_path, make_record())
    os.mkfifo(tmp_path / "trees" / "pipe.jsonl")
    assert len(load_records(tmp_path)) == 1


def test_records_made_before_processor_time_was_measured_are_read(line):
    del line["processor_seconds"]
    assert Record.from_line(line).processor_seconds is None
