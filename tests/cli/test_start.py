"""What a person sees at once: a line that says what is going on, before anything heavy is imported."""

import os
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX's")

LEARNING = [
    ["predict", "model", "graphs.jsonl"],
    ["evaluate", "model", "graphs.jsonl"],
    ["explain", "model", "graphs.jsonl", "--out", "why.html"],
    ["embed", "model", "graphs.jsonl", "--out", "rows.npz"],
    ["fit", "graphs.jsonl", "--out", "model"],
    ["validate", "graphs.jsonl"],
    ["demo"],
    ["info"],
    ["theory", "separate", "graphs.jsonl", "graphs.jsonl"],
    ["theory", "proposition", "graphs.jsonl"],
    ["theory", "roots", "graphs.jsonl"],
    ["theory", "robustness", "model", "graphs.jsonl"],
    ["theory", "expressiveness"],
    ["theory", "figures", "--out", "figures"],
]
READING = [
    ["check", "graphs.jsonl"],
    ["bench", "status", "study.toml"],
    ["bench", "run", "study.toml"],
    ["bench", "repeat", "study.toml", "38c75a56303e5de4"],
    ["bench", "table", "."],
    ["bench", "costs", "."],
    ["bench", "growth", "."],
    ["bench", "diff", ".", "."],
    ["bench", "report", ".", "--out", "report.html"],
]
CASES = [(verb, "torch") for verb in LEARNING] + [(verb, "numpy") for verb in LEARNING + READING]
HEAVY = "HEAVY"
LINES = '{"edges": [[0, 1]], "label": "a"}\n{"edges": [[0, 1], [1, 2]], "label": "b"}\n'


@pytest.fixture
def command(tmp_path):
    """A call of phist where importing a module that takes long says so and ends the program."""
    (tmp_path / "graphs.jsonl").write_text(LINES)

    def make(module, verb, **streams):
        (tmp_path / f"{module}.py").write_text(f"import os\nos.write(2, b'{HEAVY}')\nos._exit(7)\n")
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


@pytest.mark.parametrize(("verb", "module"), CASES, ids=lambda case: case if isinstance(case, str) else " ".join(case[:2]))
def test_a_terminal_shows_what_is_going_on_before_anything_heavy_is_imported(command, verb, module):
    terminal, end = pty.openpty()
    process = command(module, verb, stdout=subprocess.DEVNULL, stderr=end)
    os.close(end)
    before, said, _ = everything(terminal).partition(HEAVY)
    assert process.wait() == 7, before
    assert said
    assert any(word in before for word in ("loading", "looking", "reading"))


def test_a_file_shows_nothing_of_it(command):
    process = command("torch", LEARNING[0], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.communicate()[1] == HEAVY.encode()
