"""How long one waits: for `import phist` and `phist --help`, for the first epoch on a fresh installation, for one prediction.

    python benchmarks/startup.py [--runs 15] [--cold 1] [--json]

Commands are run in turn, so that whatever else the machine does hits all of them alike; medians are shown. The first epoch, of
MUTAG, is measured with nothing compiled (`--cold` times; 0 leaves it out) and with everything on disk; where the time of
compiling goes is shown by Numba's own passes.
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
LIMITS = {"import phist": 0.3, "phist --help": 0.6, "first epoch, cold": 15.0, "phist predict": 2.5}
EPOCH = "from phist import *; StructuralClassifier(preset='MUTAG', training={'epochs': 1}).fit(load_dataset('MUTAG'))"
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


def measure_epochs(runs: int) -> dict[str, list[float]]:
    """From pressing return to the end of the first epoch: with nothing compiled, and with everything."""
    seconds: dict[str, list[float]] = {"first epoch, cold": [], "first epoch, warm": []}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            for name in seconds:
                seconds[name].append(measure([sys.executable, "-c", EPOCH], NUMBA_CACHE_DIR=folder))
    return seconds


def measure_prediction(runs: int) -> list[float]:
    """`phist predict` of one graph, everything compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        model, graph = Path(folder) / "model", Path(folder) / "graph.jsonl"
        graph.write_text('{"edges": [[0, 1], [1, 2]]}\n')
        program = f"from phist import *; StructuralClassifier(effort='low').fit(load_dataset('MUTAG')).save({str(model)!r})"
        measure([sys.executable, "-c", program])
        call = [sys.executable, "-c", "from phist.cli.app import main; main()", "predict", str(model), str(graph)]
        return [measure(call) for _ in range(runs + 1)][1:]


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
    if arguments.cold:
        seconds |= measure_epochs(arguments.cold)
        seconds["phist predict"] = measure_prediction(arguments.runs)
    medians = {name: round(statistics.median(values), 4) for name, values in seconds.items()}
    passes = measure_passes() if arguments.cold else {}
    if arguments.json:
        print(json.dumps({"runs": arguments.runs, "median_seconds": medians, "limits": LIMITS, "compiling": passes}, indent=2))
        return
    for name, median in medians.items():
        limit = f"  (limit {LIMITS[name]} s)" if name in LIMITS else ""
        print(f"{name:<18}{median:8.3f} s{limit}")
    for name, own in passes.items():
        print(f"  {name:<28}{own:6.2f} s")


if __name__ == "__main__":
    main()
