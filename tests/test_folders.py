"""Folders that are replaced as a whole: which, and what is left of them when their writer is killed."""

import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from phist import folders
from phist.errors import OutputError
from phist.files import atomic_path, write_json
from phist.folders import FolderKind, atomic_directory, finish_replacement
from phist.workspace import workspaces

KIND = FolderKind("test", "mark.json", "phist-test", ("mark.json", "part*.txt"))
FILES = 4


def save(target, text="new"):
    """A folder all of whose files hold the same text."""
    with atomic_directory(target, KIND) as folder:
        for number in range(FILES):
            (folder / f"part{number}.txt").write_text(text)
        write_json(folder / "mark.json", {"format": "phist-test"})


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def content(folder):
    """The text of a whole folder."""
    assert names(folder) == ["mark.json", *(f"part{number}.txt" for number in range(FILES))]
    texts = {(folder / f"part{number}.txt").read_text() for number in range(FILES)}
    assert len(texts) == 1
    return texts.pop()


def save_for_ever(target, without_exchange):
    if without_exchange:
        folders.exchange = lambda one, other: False
    for number in range(10**9):
        save(Path(target), str(number))


@pytest.fixture
def no_exchange(monkeypatch):
    monkeypatch.setattr(folders, "exchange", lambda one, other: False)


def test_a_folder_of_the_same_kind_is_replaced(tmp_path):
    save(tmp_path / "set", "old")
    save(tmp_path / "set")
    assert content(tmp_path / "set") == "new"
    assert names(tmp_path) == ["set"]


def test_a_folder_is_replaced_where_folders_cannot_be_exchanged(tmp_path, no_exchange):
    save(tmp_path / "set", "old")
    save(tmp_path / "set")
    assert content(tmp_path / "set") == "new"
    assert names(tmp_path) == ["set"]


@pytest.mark.skipif(sys.platform != "linux", reason="renameat2 is Linux's")
def test_folders_are_exchanged_in_one_step_where_the_system_can(tmp_path, monkeypatch):
    save(tmp_path / "set", "old")
    monkeypatch.setattr(folders, "_replace_in_turn", None)
    save(tmp_path / "set")
    assert content(tmp_path / "set") == "new"


def test_an_empty_folder_is_replaced(tmp_path):
    (tmp_path / "set").mkdir()
    save(tmp_path / "set")
    assert content(tmp_path / "set") == "new"


@pytest.mark.parametrize("mark", ["{}", "[]", "", "{", '{"format": "phist-model"}', '{"format": 3}', "[" * 100_000])
def test_a_folder_whose_mark_says_something_else_is_not_replaced(tmp_path, mark):
    (tmp_path / "mark.json").write_text(mark)
    with pytest.raises(OutputError, match="holds something else"):
        save(tmp_path)
    assert (tmp_path / "mark.json").read_text() == mark


@pytest.mark.parametrize("name", ["thesis.tex", ".git", "part0.txt.bak", "Mark.json"])
def test_a_folder_with_anything_unknown_is_not_replaced(tmp_path, name):
    save(tmp_path / "set", "old")
    (tmp_path / "set" / name).write_text("mine")
    with pytest.raises(OutputError, match="also holds"):
        save(tmp_path / "set")
    assert (tmp_path / "set" / name).read_text() == "mine"


def test_a_folder_within_is_unknown_whatever_its_name(tmp_path):
    save(tmp_path / "set", "old")
    (tmp_path / "set" / "part9.txt").mkdir()
    with pytest.raises(OutputError, match="also holds"):
        save(tmp_path / "set")


@pytest.mark.parametrize("exchanged", [True, False])
def test_what_is_put_there_while_saving_is_not_lost(tmp_path, monkeypatch, exchanged):
    if not exchanged:
        monkeypatch.setattr(folders, "exchange", lambda one, other: False)
    save(tmp_path / "set", "old")
    with pytest.raises(OutputError, match=r"thesis\.tex"), atomic_directory(tmp_path / "set", KIND) as folder:
        (folder / "part0.txt").write_text("new")
        (tmp_path / "set" / "thesis.tex").write_text("mine")
    assert (tmp_path / "set" / "thesis.tex").read_text() == "mine"
    assert (tmp_path / "set" / "part0.txt").read_text() == "old"
    assert names(tmp_path) == ["set"]


def test_a_file_is_not_replaced_by_a_folder(tmp_path):
    (tmp_path / "set").write_text("mine")
    with pytest.raises(OutputError, match="is not a folder"):
        save(tmp_path / "set")
    assert (tmp_path / "set").read_text() == "mine"


def test_a_link_stays_and_its_folder_is_replaced(tmp_path):
    save(tmp_path / "there" / "set", "old")
    (tmp_path / "link").symlink_to("there/set")
    save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert content(tmp_path / "there" / "set") == "new"


@pytest.mark.parametrize("name", [".", "..", "../below"])
def test_the_current_folder_is_refused(tmp_path, monkeypatch, name):
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    with pytest.raises(OutputError, match="the current folder or above it"):
        save(Path(name))


@pytest.mark.skipif(sys.platform != "linux", reason="these are Linux's")
@pytest.mark.parametrize("name", ["/", "/proc", "/sys"])
def test_a_mount_point_is_refused(name):
    with pytest.raises(OutputError, match="is a mount point"):
        KIND.check(Path(name))


@pytest.mark.parametrize(("mask", "file_mode", "folder_mode"), [(0o022, 0o644, 0o755), (0o077, 0o600, 0o700)])
def test_files_follow_the_umask_whoever_wrote_them(tmp_path, mask, file_mode, folder_mode):
    before = os.umask(mask)
    try:
        with atomic_directory(tmp_path / "set", KIND) as folder:
            (folder / "part0.txt").touch(mode=0o600)
            (folder / "part1.txt").touch()
            (folder / "part1.txt").chmod(0o666)
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "set").iterdir()} == {file_mode}
    assert stat.S_IMODE((tmp_path / "set").stat().st_mode) == folder_mode


def test_two_that_save_at_the_same_time_both_succeed(tmp_path):
    with atomic_directory(tmp_path / "set", KIND) as folder:
        (folder / "part0.txt").write_text("slow")
        write_json(folder / "mark.json", {"format": "phist-test"})
        save(tmp_path / "set", "quick")
    assert (tmp_path / "set" / "part0.txt").read_text() == "slow"


def test_a_file_system_without_locks_leaves_nothing_behind_either(tmp_path, monkeypatch):
    monkeypatch.setattr("phist.workspace.fcntl", None)
    save(tmp_path / "set", "old")
    save(tmp_path / "set")
    assert content(tmp_path / "set") == "new"
    assert names(tmp_path) == ["set"]


# Kills -----------------------------------------------------------------------------------------------------------------


def start_saving(target, without_exchange=False):
    code = f"import test_folders; test_folders.save_for_ever({str(target)!r}, {without_exchange})"
    return subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parent)


@pytest.mark.parametrize("without_exchange", [False, True])
def test_a_folder_is_whole_after_every_kill(tmp_path, without_exchange):
    target, draws = tmp_path / "set", random.Random(0)
    save(target, "first")
    for _ in range(30):
        process = start_saving(target, without_exchange)
        before = target.stat().st_ino
        while not workspaces(target) and target.stat().st_ino == before:
            assert process.poll() is None
            time.sleep(0.001)
        time.sleep(draws.uniform(0, 0.01))
        process.kill()
        process.wait()
        finish_replacement(target)
        content(target)
    save(target, "last")
    assert content(target) == "last"
    assert names(tmp_path) == ["set"]


@pytest.mark.parametrize("step", ["before", "between", "after"])
def test_a_kill_at_each_step_of_the_replacement_leaves_one_of_the_two(tmp_path, step):
    """The process ends at the named step, which random kills hardly ever meet."""
    save(tmp_path / "set", "old")
    code = f"import test_folders; test_folders.save_and_die({str(tmp_path / 'set')!r}, {step!r})"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent).returncode == -signal.SIGKILL
    assert (tmp_path / "set").exists() == (step != "between")

    finish_replacement(tmp_path / "set")
    assert content(tmp_path / "set") == ("old" if step == "before" else "new")
    save(tmp_path / "set", "last")
    assert content(tmp_path / "set") == "last"
    assert names(tmp_path) == ["set"]


def save_and_die(target, step):
    renames = []
    rename = Path.rename
    die_at = {"before": 0, "between": 1, "after": 2}[step]

    def dying(self, other):
        if len(renames) == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        rename(self, other)
        renames.append(other)
        if len(renames) == die_at == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    folders.exchange = lambda one, other: False
    Path.rename = dying
    save(Path(target))


def test_a_folder_that_was_taken_away_does_not_come_back(tmp_path):
    """A kill after both renames leaves the old folder in the workspace; it is no replacement to be finished."""
    save(tmp_path / "set", "old")
    code = f"import test_folders; test_folders.save_and_die({str(tmp_path / 'set')!r}, 'after')"
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent)
    (tmp_path / "set").rename(tmp_path / "elsewhere")
    finish_replacement(tmp_path / "set")
    assert not (tmp_path / "set").exists()


def test_left_over_workspaces_are_removed_by_the_next_save_of_the_same_name(tmp_path):
    code = (
        "import os, sys; from phist.files import atomic_path\n"
        "with atomic_path(sys.argv[1]) as path: path.write_text('half'); os.kill(os.getpid(), 9)"
    )
    for name in ("file", "other"):
        subprocess.run([sys.executable, "-c", code, tmp_path / name])
    assert len(names(tmp_path)) == 2
    with atomic_path(tmp_path / "file") as temporary:
        temporary.write_text("whole")
    assert len(workspaces(tmp_path / "file")) == 0
    assert len(workspaces(tmp_path / "other")) == 1


def test_the_workspace_of_a_running_process_is_left_alone(tmp_path):
    with atomic_path(tmp_path / "file") as temporary:
        temporary.write_text("slow")
        code = "import sys; from phist.files import write_json; write_json(sys.argv[1], {})"
        subprocess.run([sys.executable, "-c", code, tmp_path / "file"], check=True)
        assert temporary.read_text() == "slow"
        assert json.loads((tmp_path / "file").read_text()) == {}
    assert (tmp_path / "file").read_text() == "slow"
    assert names(tmp_path) == ["file"]


def test_folders_of_similar_names_do_not_disturb_each_other(tmp_path):
    (tmp_path / ".set.phist-notes").mkdir()
    (tmp_path / ".set.phist-0123abcd").write_text("a file of somebody's")
    save(tmp_path / "set")
    assert names(tmp_path) == [".set.phist-0123abcd", ".set.phist-notes", "set"]
