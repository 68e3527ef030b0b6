import json
import multiprocessing
import os

import pytest

from phist.errors import OutputError
from phist.evaluation.journal import append_line, read_journal, repair_journal


def parse(line):
    return line["hash"]


def never(entries):
    return False


def append(path, name, unless=never):
    return append_line(path, {"hash": name, "text": "x" * 50}, parse, unless)


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "folder" / "lines.jsonl"
    for name in "abc":
        append(path, name)
    return path


def names(path):
    return read_journal(path, parse).entries


def test_lines_come_back_in_order(journal):
    assert names(journal) == ["a", "b", "c"]


def test_a_file_that_is_not_there_has_no_lines(tmp_path):
    assert read_journal(tmp_path / "none", parse).entries == []


def test_a_line_is_left_out_where_the_others_say_so(journal):
    assert not append(journal, "a", lambda entries: "a" in entries)
    assert names(journal) == ["a", "b", "c"]


@pytest.mark.parametrize("kept", [1, 20, 60])
def test_a_torn_last_line_is_cut_off_before_the_next(journal, kept):
    whole = journal.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    journal.write_bytes(whole[: -len(last)] + last[:kept])
    append(journal, "d")
    assert names(journal) == ["a", "b", "d"]
    assert read_journal(journal, parse).problems == []


def test_a_last_line_without_its_break_is_kept(journal):
    journal.write_bytes(journal.read_bytes()[:-1])
    append(journal, "d")
    assert names(journal) == ["a", "b", "c", "d"]


def test_a_kill_at_any_byte_costs_at_most_the_last_line(journal):
    whole = journal.read_bytes()
    for size in range(len(whole) + 1):
        journal.write_bytes(whole[:size])
        before = whole[:size].count(b"\n") + (whole[size : size + 1] == b"\n")
        append(journal, "d")
        assert names(journal) == [*"abc"[:before], "d"]


@pytest.mark.parametrize("damage", [b"{{{", b"[1, 2]", b'{"no hash": 1}', b"\xff\xfe", b""])
def test_a_corrupt_line_is_reported_by_its_number(journal, damage):
    lines = journal.read_bytes().splitlines()
    journal.write_bytes(b"\n".join([lines[0], damage, lines[2]]) + b"\n")
    contents = read_journal(journal, parse)
    assert contents.entries == ["a", "c"]
    assert [(problem.path, problem.line) for problem in contents.problems] == [(journal, 2)]


def test_repair_sets_corrupt_lines_aside(journal):
    lines = journal.read_bytes().splitlines()
    journal.write_bytes(b"\n".join([lines[0], b"damaged", lines[2], b"torn"]))
    assert [problem.line for problem in repair_journal(journal, parse)] == [2, 4]
    assert journal.read_bytes() == lines[0] + b"\n" + lines[2] + b"\n"
    assert journal.with_suffix(".corrupt").read_bytes() == b"damaged\ntorn\n"


def test_repair_leaves_a_sound_file_alone(journal):
    before = journal.stat()
    assert repair_journal(journal, parse) == []
    assert os.path.samestat(before, journal.stat())


def _append_many(path, process):
    for number in range(40):
        append(path, f"{process}-{number}")
        if number % 10 == 0:
            with path.open("ab") as file:  # damage that somebody has to repair while others write
                file.write(b"broken\n")
            repair_journal(path, parse)


def test_several_processes_write_and_repair_without_losing_a_line(tmp_path):
    path = tmp_path / "lines.jsonl"
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_append_many, args=(path, number)) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    repair_journal(path, parse)
    assert sorted(names(path)) == sorted(f"{process}-{number}" for process in range(3) for number in range(40))


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot write .*file"):
        append(tmp_path / "file" / "lines.jsonl", "a")


def test_lines_are_plain_json(journal):
    assert all(json.loads(line)["text"] for line in journal.read_text().splitlines())
