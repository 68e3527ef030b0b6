"""How long `import phist` and `phist --help` take, against a Python that does nothing.

    python benchmarks/startup.py [--runs 15] [--json]

The three are run in turn, so that whatever else the machine does hits all of them alike; medians are shown.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python": [sys.executable, "-c", "pass"],
    "import phist": [sys.executable, "-c", "import phist"],
    "phist --help": [sys.executable, "-c", "from phist.cli.app import main; main()", "--help"],
}
LIMITS = {"import phist": 0.3, "phist --help": 0.6}


def measure(command: list[str]) -> float:
    """Seconds of one run."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    for command in COMMANDS.values():
        measure(command)  # so that all files are compiled and in memory
    seconds = {name: [] for name in COMMANDS}
    for _ in range(arguments.runs):
        for name, command in COMMANDS.items():
            seconds[name].append(measure(command))
    medians = {name: round(statistics.median(values), 4) for name, values in seconds.items()}
    if arguments.json:
        print(json.dumps({"runs": arguments.runs, "median_seconds": medians, "limits": LIMITS}, indent=2))
        return
    for name, median in medians.items():
        limit = f"  (limit {LIMITS[name]} s)" if name in LIMITS else ""
        print(f"{name:<14}{median:7.3f} s{limit}")


if __name__ == "__main__":
    main()
