"""Training steps of two versions of the engine in turn: which is faster, and by how much.

    PHIST_DATA=folder python benchmarks/engine_compare.py OTHER_CHECKOUT [--datasets MUTAG ...] [--rounds 9] [--threads 1]

A process for each version takes the same steps of the same graphs, one process after the other in every round, so that whatever
else the machine does hits both alike. Times are seconds of the processor where one thread computes, which other programs disturb
less, and of the wall where several do. Shown are the medians, and the median over the rounds of the other's time over this one's.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

HERE = Path(__file__).resolve().parent
LARGE = {"DD", "COLLAB", "REDDIT-BINARY"}
STEPS, LARGE_STEPS = 24, 6
WORKER = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import torch
from engine_forms import dataset_task, make_form
dataset, steps, threads = json.loads(sys.argv[2])
torch.set_num_threads(threads)
form = make_form("engine", dataset_task(dataset, steps), threads)
form.run_epoch(0)
print("ready", flush=True)
for number, _ in enumerate(sys.stdin):
    wall, processor, epochs = time.perf_counter(), time.process_time(), 0
    while not epochs or time.perf_counter() - wall < 0.3:
        form.run_epoch(1 + number + epochs)
        epochs += 1
    taken = (time.process_time() - processor) if threads == 1 else (time.perf_counter() - wall)
    print(taken / (epochs * form.task.n_steps), flush=True)
"""


class Version:
    """A checkout of the project, computing in a process of its own."""

    def __init__(self, root: Path, dataset: str, threads: int) -> None:
        steps = LARGE_STEPS if dataset in LARGE else STEPS
        environment = {**os.environ, "PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": str(threads)}
        command = [sys.executable, "-c", WORKER, str(root / "benchmarks"), json.dumps([dataset, steps, threads])]
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def step(self) -> float:
        """Seconds of a step."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self) -> None:
        """No more rounds."""
        self.process.stdin.close()
        self.process.wait()


def compare(other: Path, dataset: str, rounds: int, threads: int) -> dict[str, Any]:
    """Milliseconds of a step before and after, and their ratio round by round."""
    before, after = Version(other, dataset, threads), Version(HERE.parent, dataset, threads)
    seconds = [(before.step(), after.step()) for _ in range(1 + rounds)][1:]
    before.end()
    after.end()
    return {
        "dataset": dataset,
        "before_ms": 1e3 * median(one for one, _ in seconds),
        "after_ms": 1e3 * median(two for _, two in seconds),
        "ratio": median(one / two for one, two in seconds),
    }


def main() -> None:
    """Compare dataset by dataset."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="a checkout of the version to compare with")
    parser.add_argument("--datasets", nargs="+", default=["MUTAG", "ENZYMES", "PROTEINS", "NCI1", "IMDB-BINARY", "DD"])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the result as JSON")
    options = parser.parse_args()
    found = []
    for dataset in options.datasets:
        found.append(compare(options.other, dataset, options.rounds, options.threads))
        print("{dataset:14} {before_ms:8.2f} ms -> {after_ms:8.2f} ms   {ratio:.3f} times as fast".format(**found[-1]), flush=True)
    print(f"geometric mean {geometric_mean(one['ratio'] for one in found):.3f}")
    if options.out:
        record = {"threads": options.threads, "rounds": options.rounds, "load": os.getloadavg(), "results": found}
        options.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
