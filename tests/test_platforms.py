"""What phist needs of a system: nothing that Windows or macOS lack."""

import ctypes
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from phist import folders
from phist.graphs.generate import make_trees
from phist.graphs.graphset import GraphSet

HIDDEN = ("fcntl", "resource", "termios", "pwd", "grp", "tty", "pty", "syslog")
IMPORT_ALL = f"""
import importlib, pkgutil, sys
for library in ("torch", "sklearn.ensemble", "scipy.stats", "numba", "joblib", "filelock", "typer", "rich.progress", "networkx",
                "matplotlib.figure", "distributed", "torch_geometric.nn", "pandas", "safetensors.torch", "scikit_posthocs"):
    importlib.import_module(library)
for name in {HIDDEN}:
    sys.modules[name] = None
import phist
for module in pkgutil.walk_packages(phist.__path__, "phist."):
    if module.name != "phist.evaluation.ray_backend":  # needs an extra that is installed alone
        importlib.import_module(module.name)
"""
JOURNAL = """
import sys
from pathlib import Path
sys.modules["fcntl"] = None
from phist.evaluation.journal import append_line, read_journal, repair_journal
path = Path(sys.argv[1])
for number in range(20):
    append_line(path, {"by": sys.argv[2], "number": number}, dict, lambda entries: False)
with path.open("ab") as file:
    pass
repair_journal(path, dict)
"""


def test_every_module_is_imported_without_what_only_posix_has():
    ended = subprocess.run([sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-2000:]


def test_several_processes_write_a_journal_without_posix_locks(tmp_path):
    path = tmp_path / "journal.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", JOURNAL, path, str(number)]) for number in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    lines = path.read_text().splitlines()
    assert len(lines) == len(set(lines)) == 60


class WindowsSystem:
    """The module ``os`` where it refuses what Windows does: to open a folder, and to sync what was opened for reading."""

    def __init__(self):
        self.readable_only = set()

    def __getattr__(self, name):
        return getattr(os, name)

    def open(self, path, flags):
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        descriptor = os.open(path, flags)
        if flags & os.O_ACCMODE == os.O_RDONLY:
            self.readable_only.add(descriptor)
        return descriptor

    def fsync(self, descriptor):
        if descriptor in self.readable_only:
            raise OSError(errno.EBADF, "Bad file descriptor")
        os.fsync(descriptor)


@pytest.fixture
def as_on_windows(monkeypatch):
    def load(name, **options):
        raise TypeError("argument 1 must be str, not None")

    monkeypatch.setattr(folders, "os", WindowsSystem())
    monkeypatch.setattr(ctypes, "CDLL", load)
    monkeypatch.setattr("phist.workspace.fcntl", None)
    monkeypatch.setattr(folders, "ON_WINDOWS", True, raising=False)


def test_folders_are_written_and_replaced_as_windows_allows_it(as_on_windows, tmp_path):
    for count in (3, 5):
        make_trees(count, n_nodes=4, seed=0).save(tmp_path / "graphs")
    assert len(GraphSet.open(tmp_path / "graphs")) == 5
    assert [path.name for path in tmp_path.iterdir()] == ["graphs"]


def test_cores_are_counted_where_the_system_tells_no_affinity(monkeypatch):
    from phist.cores import usable_cores

    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert 1 <= usable_cores() <= os.cpu_count()


def test_no_module_asks_for_the_affinity_or_a_signal_that_windows_lacks():
    posix_only = (
        "os.sched_getaffinity",
        "signal.alarm",
        "signal.SIGALRM",
        "signal.SIGKILL",
        "signal.SIGHUP",
        "os.fork(",
        "os.getuid",
    )
    sources = {path: path.read_text(encoding="utf-8") for path in Path(folders.__file__).parent.rglob("*.py")}
    assert not [(path.name, word) for path, text in sources.items() for word in posix_only if word in text]
