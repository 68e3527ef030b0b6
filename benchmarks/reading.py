"""How long the largest dataset takes to read, and how much memory: first from its archive, then from the parsed copy.

    PHIST_DATA=folder python benchmarks/reading.py [--dataset COLLAB] [--json]

Each step runs in a process of its own with a fresh cache, so that peak memory is that of reading alone.
"""

import argparse
import json
import os
import subprocess
import sys
from tempfile import TemporaryDirectory

STEP = """
import json, resource, sys, time
start = time.perf_counter()
from phist import load_dataset
imported = time.perf_counter()
graphs = load_dataset(sys.argv[1], download=False)
loaded = time.perf_counter()
unit = 1 if sys.platform == "darwin" else 1024
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
print(json.dumps({"import_seconds": imported - start, "seconds": loaded - imported, "peak_bytes": peak, "edges": graphs.n_edges}))
"""


def measure(dataset: str, cache: str) -> dict[str, float]:
    """Load the dataset once, in a new process."""
    run = subprocess.run(
        [sys.executable, "-c", STEP, dataset],
        env={**os.environ, "PHIST_CACHE": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        sys.exit(run.stderr.strip().splitlines()[-1])
    return json.loads(run.stdout)


def main() -> None:
    """Measure both steps and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="COLLAB")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    with TemporaryDirectory() as cache:
        results = {step: measure(options.dataset, cache) for step in ("first parse", "second open")}
    if options.json:
        print(json.dumps({"dataset": options.dataset, **results}, indent=2))
        return
    print(f"{options.dataset}: {results['first parse']['edges']:,} edges")
    print(f"{'':12} {'seconds':>8} {'peak MB':>8} {'import s':>9}")
    for step, result in results.items():
        print(f"{step:12} {result['seconds']:8.2f} {result['peak_bytes'] / 2**20:8.0f} {result['import_seconds']:9.2f}")


if __name__ == "__main__":
    main()
