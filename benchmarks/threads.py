"""Training steps by numbers of threads, on idle cores and beside programs that want them too.

    python benchmarks/threads.py [--datasets MUTAG PROTEINS] [--threads 1 2 8] [--busy 1] [--repeats 10]

All numbers of threads take turns in one process, so that what else the machine does meets each of them alike.
"""

import argparse
import os
import subprocess
import sys
from statistics import median

from engine_forms import dataset_task, make_form

STEPS = 50  # of an epoch
SPIN = "while True: pass"


def measure(dataset: str, counts: list[int], repeats: int) -> dict[int, float]:
    """Median seconds of a step by the number of threads; the first round is not counted."""
    task = dataset_task(dataset, STEPS)
    forms = {count: make_form("engine", task, count) for count in counts}
    seconds: dict[int, list[float]] = {count: [] for count in counts}
    for number in range(1 + repeats):
        for count, form in forms.items():
            taken = form.run()
            if number:
                seconds[count].append(taken)
    return {count: median(own) for count, own in seconds.items()}


def main() -> None:
    """Print a table: a line for each dataset, a column for each number of threads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=["MUTAG", "PROTEINS"])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2, 8])
    parser.add_argument("--busy", type=int, default=0, help="programs beside it that take a core each")
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    others = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(options.busy)]
    try:
        print(f"{os.cpu_count()} cores, {options.busy} busy programs beside; load {os.getloadavg()[0]:.1f}; ms a step")
        for dataset in options.datasets:
            found = measure(dataset, options.threads, options.repeats)
            first = found[options.threads[0]]
            print(dataset, *(f"| {count}: {own * 1e3:.3f} ({own / first:.2f})" for count, own in found.items()), flush=True)
    finally:
        for other in others:
            other.kill()


if __name__ == "__main__":
    main()
