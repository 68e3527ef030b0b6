"""How long one waits: for `import phist` and `phist --help`, for the first epoch on a fresh installation, for one prediction.

    python benchmarks/startup.py [--runs 15] [--cold 1] [--json]

Commands are run in turn, so that whatever else the machine does hits all of them alike; medians are shown. The first epoch, of
MUTAG, is measured with nothing compiled (`--cold` times; 0 leaves it out), with the portable code that a wheel brings, and with
everything on disk, by the wall and in seconds of the processor: those of the process that is waited for, and those of the second
process that compiles beside it. Where the time of compiling goes, by one process, is shown by Numba's own passes. What a
prediction with everything on disk consists of is shown in seconds of the processor, which other programs disturb less.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMANDS = {
    "python": [sys.executable, "-c", "pass"],
    "import phist": [sys.executable, "-c", "import phist"],
    "phist --help": [sys.executable, "-c", "from phist.cli.app import main; main()", "--help"],
    "import torch": [sys.executable, "-c", "import torch"],
}
SOURCES, PORTABLE, WARM = EPOCHS = ("epoch, from sources", "epoch, portable code", "epoch, warm")
SECOND = ", beside it"
LIMITS = {"import phist": 0.3, "phist --help": 0.6, SOURCES: 15.0, PORTABLE: 15.0, "phist predict": 2.5, "its first line": 0.5}
EPOCH = """
import json, os
from phist import *
StructuralClassifier(preset='MUTAG', training={'epochs': 1}).fit(load_dataset('MUTAG'))
of_this, of_children = os.times()[:2], os.times()[2:4]
print(json.dumps([sum(of_this), sum(of_children)]))
"""
PASSES = """
import json, time
from collections import defaultdict
from numba.core import event
from phist.engine import compiling
seconds, open_passes = defaultdict(float), []
with event.install_recorder("numba:run_pass") as recorder:
    begin = time.perf_counter()
    compiling._compute_something()
    whole = time.perf_counter() - begin
for moment, happened in recorder.buffer:
    if happened.is_start:
        open_passes.append([happened.data["name"], moment, 0.0])
        continue
    name, start, inside = open_passes.pop()
    name = name.partition(" ")[0]
    seconds[name] += moment - start - inside
    if open_passes:
        open_passes[-1][2] += moment - start
print(json.dumps({"whole": whole, **seconds}))
"""
PARTS = """
import json, sys, time
seconds, last = {}, 0.0
def mark(name):
    global last
    seconds[name], last = time.process_time() - last, time.process_time()
from phist.cli.app import main
mark("Python, command line")
import torch
mark("import torch")
import numba
mark("import numba")
from phist.estimators.fitted import FittedClassifier
from phist.graphs.datasets import load_graphs
from phist.jit.code_cache import SourcesCache
mark("other imports")
torch.set_num_threads(1)
classifier, graphs = FittedClassifier.load(sys.argv[1]), load_graphs(sys.argv[2])
mark("reading model, graph")
load, spent = SourcesCache.load_overload, []
def load_overload(*arguments):
    begin = time.process_time()
    try:
        return load(*arguments)
    finally:
        spent.append(time.process_time() - begin)
SourcesCache.load_overload = load_overload
classifier.predict_proba(graphs), classifier.flags(graphs)
mark("computing")
seconds["computing"] -= sum(spent)
seconds["loading compiled code"] = sum(spent)
print(json.dumps(seconds))
"""
KINDS = {
    "nopython_type_inference": "typing",
    "phist_lower_part": "code of the parts",
    "phist_lower_whole": "optimising and machine code",
    "native_lowering": "Numba's own functions",
}


def measure(command: list[str], **environment: str) -> float:
    """Seconds of one run."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **environment})
    return time.perf_counter() - begin


def measure_epochs(runs: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """From pressing return to the end of the first epoch: with nothing compiled, with portable code, and with everything.

    Seconds on the wall, and seconds of the processor, of the process itself and of a second one.
    """
    wall: dict[str, list[float]] = {name: [] for name in EPOCHS}
    processor: dict[str, list[float]] = {f"{name}{of}": [] for name in EPOCHS for of in ("", SECOND)}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            for name in EPOCHS:
                if name == PORTABLE:
                    forget_machine_code(Path(folder))
                begin = time.perf_counter()
                command, environment = [sys.executable, "-c", EPOCH], {**os.environ, "NUMBA_CACHE_DIR": folder}
                text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
                wall[name].append(time.perf_counter() - begin)
                of_this, of_second = json.loads(text.splitlines()[-1])
                processor[name].append(of_this)
                processor[f"{name}{SECOND}"].append(of_second)
    return wall, processor


def forget_machine_code(folder: Path) -> None:
    """Leave what a wheel would bring, or another processor would have left."""
    for path in folder.rglob("*-checked.*"):
        path.unlink()


def measure_prediction(runs: int) -> tuple[dict[str, list[float]], dict[str, float]]:
    """`phist predict` of one graph, everything compiled before: the whole, its first line, and what it consists of."""
    with tempfile.TemporaryDirectory() as folder:
        model, graph = Path(folder) / "model", Path(folder) / "graph.jsonl"
        graph.write_text('{"edges": [[0, 1], [1, 2]]}\n')
        program = f"from phist import *; StructuralClassifier(effort='low').fit(load_dataset('MUTAG')).save({str(model)!r})"
        measure([sys.executable, "-c", program])
        call = [sys.executable, "-c", "from phist.cli.app import main; main()", "predict", str(model), str(graph)]
        parts = [sys.executable, "-c", PARTS, str(model), str(graph)]
        measure(call)  # so that all files are compiled and in memory
        seconds: dict[str, list[float]] = {"phist predict": [], "its first line": []}
        own: list[dict[str, float]] = []
        for _ in range(runs):
            seconds["phist predict"].append(measure(call))
            seconds["its first line"].append(measure_first_line(call))
            own.append(json.loads(subprocess.run(parts, check=True, capture_output=True, text=True).stdout))
    return seconds, {name: round(statistics.median(one[name] for one in own), 3) for name in own[0]}


def measure_first_line(command: list[str]) -> float:
    """Seconds until a person sees something on the terminal."""
    import pty  # there is none on Windows

    terminal, end = pty.openpty()
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=end)
    os.close(end)
    os.read(terminal, 1)
    seconds = time.perf_counter() - begin
    process.terminate()
    process.wait()
    os.close(terminal)
    return seconds


def measure_passes() -> dict[str, float]:
    """Seconds of compiling, by kind of pass."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        text = subprocess.run([sys.executable, "-c", PASSES], check=True, capture_output=True, text=True, env=environment).stdout
    found = json.loads(text.splitlines()[-1])
    kinds = {kind: round(found.get(name, 0.0), 2) for name, kind in KINDS.items()}
    return {**kinds, "all else": round(found["whole"] - sum(kinds.values()), 2)}


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--cold", type=int, default=1, help="how often the engine is compiled from nothing")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    for command in COMMANDS.values():
        measure(command)  # so that all files are compiled and in memory
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(arguments.runs):
        for name, command in COMMANDS.items():
            seconds[name].append(measure(command))
    epochs: dict[str, list[float]] = {}
    if arguments.cold:
        wall, epochs = measure_epochs(arguments.cold)
        seconds |= wall
    prediction, parts = measure_prediction(arguments.runs)
    seconds |= prediction
    medians = {name: round(statistics.median(values), 4) for name, values in seconds.items()}
    epoch = {name: round(statistics.median(values), 2) for name, values in epochs.items()}
    passes = measure_passes() if arguments.cold else {}
    if arguments.json:
        found = {"median_seconds": medians, "limits": LIMITS, "epoch": epoch, "compiling": passes, "predict": parts}
        print(json.dumps({"runs": arguments.runs, **found}, indent=2))
        return
    for name, median in medians.items():
        limit = f"  (limit {LIMITS[name]} s)" if name in LIMITS else ""
        print(f"{name:<22}{median:8.3f} s{limit}")
    show_parts("first epoch, seconds of the processor", epoch)
    show_parts("compiling", passes)
    show_parts("phist predict, seconds of the processor", parts)


def show_parts(title: str, seconds: dict[str, float]) -> None:
    """What something consists of, where it was measured."""
    if seconds:
        print(f"{title}:", *(f"  {name:<34}{own:6.2f} s" for name, own in seconds.items()), sep="\n")


if __name__ == "__main__":
    main()
