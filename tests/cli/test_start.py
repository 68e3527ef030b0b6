"""What a person sees at once: a line that says what is going on, before anything heavy is imported."""

import os
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX's")

VERBS = [
    ["predict", "model", "graphs.jsonl"],
    ["evaluate", "model", "graphs.jsonl"],
    ["explain", "model", "graphs.jsonl", "--out", "why.html"],
    ["embed", "model", "graphs.jsonl", "--out", "rows.npz"],
    ["fit", "graphs.jsonl", "--out", "model"],
    ["validate", "graphs.jsonl"],
    ["info"],
    ["theory", "separate", "graphs.jsonl", "graphs.jsonl"],
    ["theory", "proposition", "graphs.jsonl"],
    ["theory", "roots", "graphs.jsonl"],
    ["theory", "robustness", "model", "graphs.jsonl"],
    ["theory", "expressiveness"],
    ["theory", "figures", "--out", "figures"],
]
LINES = '{"edges": [[0, 1]], "label": "a"}\n{"edges": [[0, 1], [1, 2]], "label": "b"}\n'


@pytest.fixture
def command(tmp_path):
    """A call of phist where importing torch says so and ends the program."""
    (tmp_path / "torch.py").write_text("import os, sys\nos.write(2, b'TORCH')\nos._exit(7)\n")
    (tmp_path / "graphs.jsonl").write_text(LINES)

    def make(verb, **streams):
        program = "import sys; sys.path.insert(0, '.'); from phist.cli.app import main; main()"
        environment = {**os.environ, "TERM": "xterm"}
        return subprocess.Popen([sys.executable, "-c", program, *verb], cwd=tmp_path, env=environment, **streams)

    return make


def everything(terminal):
    """What was written to a terminal until its last writer closed it, which Linux calls an error."""
    parts = []
    try:
        while part := os.read(terminal, 1 << 16):
            parts.append(part)
    except OSError:
        pass
    return b"".join(parts).decode()


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: " ".join(verb[:2]))
def test_a_terminal_shows_what_is_going_on_before_torch_is_imported(command, verb):
    terminal, end = pty.openpty()
    process = command(verb, stdout=subprocess.DEVNULL, stderr=end)
    os.close(end)
    before, said, _ = everything(terminal).partition("TORCH")
    assert process.wait() == 7, before
    assert said
    assert "loading" in before or "looking" in before


def test_a_file_shows_nothing_of_it(command):
    process = command(VERBS[0], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.communicate()[1] == b"TORCH"
