"""What phist needs of a system: nothing that Windows or macOS lack."""

import subprocess
import sys

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
