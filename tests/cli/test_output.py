"""Where results go: nothing of the user's is lost, and what cannot be written is said before anything long."""

import errno
import io
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from phist import StructuralClassifier
from phist.graphs.generate import make_trees
from phist.training.checkpoint_files import checkpoint_files, is_checkpoint

QUICK = ("--effort", "low", "--epochs", "1")
NOT_READ = "no-such-data.jsonl"  # an error that does not name it came before anything was read


@pytest.fixture
def fit_refused(refused):
    """Call fit with an output it must refuse before it reads the data."""

    def call(*arguments):
        message = refused("fit", NOT_READ, *arguments)
        assert NOT_READ not in message
        return message

    return call


def save_labelled(path, label):
    """Trees, half of them of one label."""
    lines = [{"edges": [[0, 1], [1, 2]], "label": label}, {"edges": [[0, 1]], "label": "other"}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines * 10))
    return path


# Folders ---------------------------------------------------------------------------------------------------------------


def test_fit_does_not_replace_a_folder_whose_configuration_is_not_a_models(fit_refused, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "thesis.tex").write_text("mine")
    assert "holds something else" in fit_refused("--out", tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "mine"


def test_fit_does_not_replace_a_model_with_other_things_beside_it(fit_refused, model, tmp_path):
    for path in model.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "thesis.tex").write_text("mine")
    assert "also holds 'thesis.tex'" in fit_refused("--out", tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "mine"


def test_save_does_not_replace_a_model_with_other_things_beside_it(model, tmp_path):
    classifier = StructuralClassifier.load(model)
    classifier.save(tmp_path / "copy")
    (tmp_path / "copy" / "thesis.tex").write_text("mine")
    with pytest.raises(OSError, match=r"thesis\.tex"):
        classifier.save(tmp_path / "copy")
    assert (tmp_path / "copy" / "thesis.tex").read_text() == "mine"


@pytest.mark.parametrize("member", ["colours", "network"])
def test_a_model_replaces_a_model_of_any_members(run, data, tmp_path, member):
    for members in ("auto", member):
        result = run("fit", data, "--out", tmp_path / "model", "--effort", "low", "--epochs", "1", "--members", members)
        assert result.exit_code == 0, result.output
    assert StructuralClassifier.load(tmp_path / "model").members == member


def test_files_of_a_model_follow_the_umask(model, tmp_path):
    before = os.umask(0o022)
    try:
        StructuralClassifier.load(model).save(tmp_path / "copy")
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "copy").iterdir()} == {0o644}


def test_the_current_folder_is_refused_before_training(fit_refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "current folder" in fit_refused("--out", ".")


def test_a_mount_point_is_refused_before_training(fit_refused):
    assert "mount point" in fit_refused("--out", "/")


def test_standard_output_cannot_hold_a_model(fit_refused, refused):
    assert "cannot hold a folder" in fit_refused("--out", "-")
    assert "cannot hold a folder" in refused("demo", "--out", "-")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EDQUOT])
def test_a_full_or_read_only_disk_is_said_before_training(fit_refused, tmp_path, monkeypatch, code):
    def fail(descriptor):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    assert os.strerror(code) in fit_refused("--out", tmp_path / "model")


def test_the_demo_replaces_no_files_but_its_own(refused, tmp_path):
    (tmp_path / "metrics.json").write_text("mine")
    assert "metrics.json" in refused("demo", "--out", tmp_path)
    assert (tmp_path / "metrics.json").read_text() == "mine"


# Checkpoints -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [(), ("--fresh",)])
def test_a_checkpoint_does_not_replace_another_file(fit_refused, tmp_path, more):
    (tmp_path / "data.jsonl").write_text("mine")
    assert "no phist checkpoint" in fit_refused("--out", tmp_path / "m", "--checkpoint", tmp_path / "data.jsonl", *more)
    assert (tmp_path / "data.jsonl").read_text() == "mine"


def test_a_checkpoint_does_not_replace_the_weights_of_a_model(fit_refused, model, tmp_path):
    before = (model / "network.safetensors").read_bytes()
    fit_refused("--out", tmp_path / "m", "--checkpoint", model / "network.safetensors", "--fresh")
    assert (model / "network.safetensors").read_bytes() == before


@pytest.mark.parametrize("number", ["0", "0.15"])
def test_files_that_a_checkpoint_would_number_are_not_replaced(fit_refused, tmp_path, number):
    (tmp_path / f"run.{number}").write_text("mine")
    assert "no phist checkpoint" in fit_refused("--out", tmp_path / "m", "--checkpoint", tmp_path / "run", "--fresh")
    assert (tmp_path / f"run.{number}").read_text() == "mine"


def test_a_saved_set_of_the_users_beside_the_checkpoint_survives_a_fit(run, refused, data, tmp_path):
    own = tmp_path / "mine.graphs"
    make_trees(12, n_nodes=6, seed=0).save(own)
    before = {path.name: path.read_bytes() for path in own.iterdir()}
    assert run("fit", own, "--out", tmp_path / "m", "--checkpoint", tmp_path / "mine", *QUICK).exit_code == 0
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "a.jsonl").write_bytes(Path(data).read_bytes())
    message = refused("fit", tmp_path / "lake", "--out", tmp_path / "m", "--checkpoint", tmp_path / "mine", *QUICK)
    assert "mine.graphs exists and was not gathered for a fit" in message
    assert {path.name: path.read_bytes() for path in own.iterdir()} == before


def test_a_checkpoint_cannot_be_in_the_model_folder(fit_refused, tmp_path):
    for place in (tmp_path / "m", tmp_path / "m" / "checkpoint"):
        assert "give another --checkpoint" in fit_refused("--out", tmp_path / "m", "--checkpoint", place)


def test_a_checkpoint_cut_off_is_still_one_that_fresh_replaces(run, data, tmp_path):
    checkpoint, graphs = tmp_path / "c", make_trees(12, n_nodes=6, seed=0)
    StructuralClassifier("low", training={"epochs": 1}, random_state=0, checkpoint=checkpoint).fit(graphs)
    files = checkpoint_files(checkpoint)
    assert [file.name for file in files] == ["c.0", "c.0.1"]
    for file in files:
        file.write_bytes(file.read_bytes()[:-50])
        assert is_checkpoint(file)
    result = run("fit", data, "--out", tmp_path / "m", *QUICK, "--checkpoint", checkpoint, "--fresh")
    assert result.exit_code == 0, result.output
    assert checkpoint_files(checkpoint) == []


def test_the_checkpoint_that_a_model_names_is_not_obeyed(model, tmp_path):
    StructuralClassifier.load(model).save(tmp_path / "hostile")
    config = json.loads((tmp_path / "hostile" / "config.json").read_text())
    config["settings"]["parameters"]["checkpoint"] = str(tmp_path / "thesis.tex")
    (tmp_path / "hostile" / "config.json").write_text(json.dumps(config))
    loaded = StructuralClassifier.load(tmp_path / "hostile")
    assert loaded.checkpoint is None
    loaded.set_params(training={"epochs": 1}).fit(make_trees(12, n_nodes=6, seed=0))
    assert not (tmp_path / "thesis.tex").exists()


# Saving that fails -----------------------------------------------------------------------------------------------------


def test_a_model_that_cannot_be_saved_can_be_saved_elsewhere_without_training_again(run, data, tmp_path, monkeypatch):
    def full(*arguments, **settings):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    checkpoint = tmp_path / "m.checkpoint"
    with monkeypatch.context() as patch:
        patch.setattr("phist.estimators.model_folder.save", full)
        result = run("fit", data, "--out", tmp_path / "m", *QUICK)
    assert result.exit_code == 2
    assert "No space left on device; free some space" in result.stderr
    assert f"phist fit {data} --out ELSEWHERE --checkpoint {checkpoint}" in result.stderr
    assert not (tmp_path / "m").exists()

    monkeypatch.setattr("phist.training.loop.Trainer.run_epoch", None)  # nothing is trained any more
    result = run("fit", data, "--out", tmp_path / "elsewhere", *QUICK, "--checkpoint", checkpoint)
    assert result.exit_code == 0, result.output
    assert len((tmp_path / "elsewhere" / "history.jsonl").read_text().splitlines()) == 1


def test_a_disk_that_gets_full_in_training_is_one_line(data, tmp_path):
    """The limit lies between the probe and the checkpoint."""
    code = """
import resource, phist.cli.output_checks as checks
checks._PROBE = 10
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
from phist.cli.app import main; main()
"""
    arguments = ["fit", data, "--out", tmp_path / "m", *QUICK, "--engine", "reference"]
    result = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == 2
    progress, message = result.stderr.splitlines()
    assert progress.startswith("training ")
    assert message.startswith("phist: cannot write")
    assert "free some space" in message
    assert not (tmp_path / "m").exists()


def test_labels_that_cannot_be_saved_are_said_before_training(refused, tmp_path):
    data = save_labelled(tmp_path / "half.jsonl", "half a character: \ud800")
    assert "cannot be saved" in refused("fit", data, "--out", tmp_path / "m")


def test_dates_as_labels_are_said_before_training(refused, tmp_path):
    tables = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    import datetime

    days = [datetime.date(2020, 1, 1 + number % 2) for number in range(20)]
    tables.write_table(arrow.table({"graph": [str(n) for n in range(20)], "label": days}), tmp_path / "labels.parquet")
    (tmp_path / "graphs.jsonl").write_text("".join(json.dumps({"id": str(n), "edges": [[0, 1]]}) + "\n" for n in range(20)))
    arguments = ("fit", tmp_path / "graphs.jsonl", "--labels", tmp_path / "labels.parquet", "--out", tmp_path / "m")
    assert "cast it to numbers or text" in refused(*arguments)


# Files -----------------------------------------------------------------------------------------------------------------


def test_a_dash_is_standard_output(run, model, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("predict", model, data, "--out", "-").stdout == run("predict", model, data).stdout
    assert list(tmp_path.iterdir()) == []


def test_embeddings_go_to_standard_output_in_every_format(run, model, data, tmp_path):
    for form, read in (("npy", np.load), ("npz", lambda file: np.load(file)["embeddings"])):
        result = run("embed", model, data, "--out", "-", "--format", form)
        run("embed", model, data, "--out", tmp_path / "e.npy")
        assert np.array_equal(read(io.BytesIO(result.stdout_bytes)), np.load(tmp_path / "e.npy"))
        assert "40 graphs" in result.stderr
    assert run("embed", model, data, "--out", "-").stdout.startswith("graph,phist0,")


def test_an_unknown_format_of_embeddings_is_refused(refused, model, data, tmp_path):
    assert "'npz', 'npy', 'csv'" in refused("embed", model, data, "--out", tmp_path / "e", "--format", "xlsx")


@pytest.mark.parametrize("verb", [("predict",), ("embed", "--format", "csv")])
def test_output_is_written_to_a_pipe(run, model, data, tmp_path, verb):
    os.mkfifo(tmp_path / "pipe")
    received = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_text()), daemon=True)
    reader.start()
    result = run(verb[0], model, data, "--out", tmp_path / "pipe", *verb[1:])
    reader.join(10)
    assert result.exit_code == 0, result.output
    assert received[0].startswith("graph,")
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device, and only root could destroy one")
def test_a_device_survives_being_the_output(run, model, data, tmp_path):
    os.mknod(tmp_path / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    assert run("predict", model, data, "--out", tmp_path / "null").exit_code == 0
    assert (tmp_path / "null").is_char_device()


def test_a_link_survives_being_the_output(run, model, data, tmp_path):
    (tmp_path / "there.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("there.csv")
    assert run("predict", model, data, "--out", tmp_path / "link.csv").exit_code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "there.csv").read_text().startswith("graph,")


@pytest.mark.parametrize("verb", [("predict",), ("embed", "--format", "csv")])
def test_the_output_is_not_the_input(refused, model, data, verb):
    before = Path(data).read_text()
    assert "it is what is read" in refused(verb[0], model, data, "--out", data, *verb[1:])
    assert Path(data).read_text() == before


@pytest.mark.parametrize("verb", ["predict", "evaluate", "explain"])
def test_no_verb_writes_over_what_it_reads(refused, model, data, tmp_path, verb):
    for name, source in (("data.jsonl", data), ("config.json", model / "config.json")):
        (tmp_path / name).write_bytes(Path(source).read_bytes())
    assert "it is what is read" in refused(verb, model, tmp_path / "data.jsonl", "--out", tmp_path / "data.jsonl")
    assert (tmp_path / "data.jsonl").read_bytes() == Path(data).read_bytes()
    assert "it is what is read" in refused(verb, model, data, "--out", model / "config.json")
    assert (tmp_path / "config.json").read_bytes() == (model / "config.json").read_bytes()


@pytest.mark.parametrize("verb", ["predict", "evaluate", "explain"])
def test_nothing_is_written_into_a_folder_that_is_read(refused, model, tmp_path, verb):
    make_trees(6, n_nodes=6, seed=0).save(tmp_path / "graphs")
    before = sorted(path.name for path in (tmp_path / "graphs").iterdir())
    for name in ("answers.csv", "graphset.json", "new/answers.csv"):
        message = refused(verb, model, tmp_path / "graphs", "--out", tmp_path / "graphs" / name)
        assert "which is read; choose a place outside of it" in message
    assert sorted(path.name for path in (tmp_path / "graphs").iterdir()) == before


def test_a_model_is_not_written_into_the_folder_of_its_graphs(refused, tmp_path):
    make_trees(6, n_nodes=6, seed=0).save(tmp_path / "graphs")
    for arguments in (
        ("--out", tmp_path / "graphs" / "model"),
        ("--out", tmp_path / "m", "--checkpoint", tmp_path / "graphs" / "c"),
    ):
        assert "choose a place outside of it" in refused("fit", tmp_path / "graphs", *arguments)


def test_a_stream_is_not_written_into_what_is_read(refused, model, data, tmp_path):
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "a.jsonl").write_bytes(Path(data).read_bytes())
    for source in (tmp_path / "lake", tmp_path / "lake" / "**" / "*.jsonl"):
        for out in (tmp_path / "lake" / "answers", tmp_path / "lake") if source.is_dir() else (tmp_path / "lake",):
            assert "choose" in refused("predict", model, source, "--out", out)
    assert [path.name for path in (tmp_path / "lake").iterdir()] == ["a.jsonl"]


# Ids -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("identity", [lambda n: f"half a character {n}: \ud800", lambda n: n + 0.5], ids=["text", "fraction"])
def test_graphs_of_any_id_give_a_model_that_can_be_used(run, tmp_path, identity):
    data = save_labelled(tmp_path / "d.jsonl", "path")
    lines = [json.loads(line) | {"id": identity(n)} for n, line in enumerate(data.read_text().splitlines())]
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = run("fit", data, "--out", tmp_path / "m", *QUICK, "--test-fraction", "0.2")
    assert result.exit_code == 0, result.output
    assert "kept apart in fitting" in " ".join(run("predict", tmp_path / "m", data).stderr.split())


# Streams ---------------------------------------------------------------------------------------------------------------


def phist(command, **settings):
    """A command of the shell, with its redirections."""
    program = f"'{sys.executable}' -c 'from phist.cli.app import main; main()'"
    return subprocess.run(f"{program} {command}", shell=True, capture_output=True, text=True, **settings)


@pytest.mark.parametrize("command", ["datasets", "check {data}"])
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error_for_people(data, command, closed):
    result = phist(f"{command.format(data=data)} {closed}")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("command", ["datasets --json", "predict {model} {data} --out -"])
def test_results_for_a_closed_standard_output_are_refused_in_one_line(model, data, command):
    result = phist(f"{command.format(model=model, data=data)} >&-")
    assert result.returncode == 2
    assert result.stderr.startswith("phist: standard output is closed")
    assert result.stderr.count("\n") == 1


def test_a_closed_standard_output_is_not_taken_for_a_file(model, data, tmp_path):
    assert phist(f"predict {model} {data} --out {tmp_path / 'p.csv'} >&- 2>&-").returncode == 0
    assert (tmp_path / "p.csv").read_text().startswith("graph,")
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 41


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_cannot_show_a_label_causes_no_traceback(tmp_path, encoding):
    data = save_labelled(tmp_path / "d.jsonl", "дерево")
    result = phist(f"check {data}", env={**os.environ, "PYTHONIOENCODING": encoding})
    assert (result.returncode, result.stderr) == (0, "")
    assert r"\u0434" in result.stdout


def test_tables_are_the_same_on_every_terminal(run, tmp_path):
    data = save_labelled(tmp_path / "d.jsonl", "дерево")
    assert run("fit", data, "--out", tmp_path / "m", *QUICK).exit_code == 0
    result = phist(f"predict {tmp_path / 'm'} {data}", env={**os.environ, "PYTHONIOENCODING": "ascii"}, encoding="utf-8")
    assert "p(дерево)" in result.stdout


# Names in data ---------------------------------------------------------------------------------------------------------

ESCAPE = "\x1b[2J\x1b]0;title\x07"


def test_control_characters_in_labels_are_spelled_out(run, tmp_path):
    result = run("check", save_labelled(tmp_path / "d.jsonl", ESCAPE + "\u202e"))
    assert "\x1b" not in result.stdout
    assert r"\x1b[2J\x1b]0;title" in result.stdout
    assert r"\u202e" in result.stdout


def test_control_characters_in_errors_are_spelled_out(refused, tmp_path):
    (tmp_path / "one.jsonl").write_text(json.dumps({"edges": [[0, 1]], "label": ESCAPE}) + "\n")
    assert "\x1b" not in refused("fit", tmp_path / "one.jsonl", "--out", tmp_path / "m")
    assert "\x1b" not in refused("check", f"none{ESCAPE}")


def test_styles_still_reach_a_terminal():
    from phist.cli.safe_console import SafeConsole

    screen = SafeConsole(force_terminal=True, color_system="standard", highlight=False, file=io.StringIO())
    screen.print("name\x1b[2J", style="bold")
    assert screen.file.getvalue() == "\x1b[1mname\\x1b[2J\x1b[0m\n"


def test_tables_for_spreadsheets_hold_no_formulas(run, model, tmp_path):
    names = ["=1+1", "+cmd", "@sum", "-2+3", "-17", "plain", ESCAPE]
    lines = [json.dumps({"id": name, "edges": [[0, 1]]}) for name in names]
    (tmp_path / "d.jsonl").write_text("\n".join(lines) + "\n")
    for command in (("predict", model, tmp_path / "d.jsonl"), ("embed", model, tmp_path / "d.jsonl", "--out", "-")):
        result = run(*command)
        found = [line.split(",")[0] for line in result.stdout.splitlines()[1:]]
        assert found == ["'=1+1", "'+cmd", "'@sum", "'-2+3", "-17", "plain", r"\x1b[2J\x1b]0;title\x07"]
