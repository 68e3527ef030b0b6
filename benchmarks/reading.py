"""How long the largest dataset takes to read, and how much memory: first from its archive, then from the parsed copy.

    PHIST_DATA=folder python benchmarks/reading.py [--dataset COLLAB] [--json]
    PHIST_DATA=folder python benchmarks/reading.py --parquet [--dataset MOLHIV]

Each step runs in a process of its own with a fresh cache, so that peak memory is that of reading alone. With --parquet graphs are
read one a row from Parquet, on one core: packed already, so that their arcs are not copied, and as edges that are sorted first.
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

ROWS = """
import json, os, sys, time
os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np, pyarrow as pa, pyarrow.parquet as parquet
pa.set_cpu_count(1), pa.set_io_thread_count(1)
from phist import load_dataset
from phist.graphs.formats.graph_rows import pack_table, write_graph_rows
from phist.graphs.packing import Reading
graphs, path = load_dataset(sys.argv[1], download=False), sys.argv[2] + "/graphs.parquet"
write_graph_rows(path, graphs)
table, found = parquet.read_table(path, use_threads=False), {"graphs": len(graphs)}
pack_table(table, Reading())  # compiled
as_edges = table.to_pylist()
for row in as_edges:
    kept = [(a, b) for a, b in zip(row["sources"], row["targets"]) if a < b][::-1]
    row["sources"], row["targets"] = [a for a, _ in kept], [b for _, b in kept]
parquet.write_table(pa.Table.from_pylist(as_edges), sys.argv[2] + "/edges.parquet")
for name in ("graphs", "edges"):
    best = 1e9
    for _ in range(5):
        begin = time.process_time()
        pack_table(parquet.read_table(f"{sys.argv[2]}/{name}.parquet", use_threads=False), Reading())
        best = min(best, time.process_time() - begin)
    found[{"graphs": "packed", "edges": "edges, unsorted"}[name]] = 60 * len(graphs) / best
shared = np.shares_memory(pack_table(table, Reading()).indices, table.column("targets").chunk(0).values.to_numpy())
print(json.dumps({**found, "targets shared with the file's buffer": bool(shared)}))
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


def rows_a_minute(dataset: str) -> dict[str, float]:
    """Graphs a minute from Parquet, in seconds of a core."""
    with TemporaryDirectory() as folder:
        run = subprocess.run([sys.executable, "-c", ROWS, dataset, folder], capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(run.stderr.strip().splitlines()[-1])
    return json.loads(run.stdout)


def main() -> None:
    """Measure both steps and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="COLLAB")
    parser.add_argument("--parquet", action="store_true", help="read graphs one a row from Parquet")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.parquet:
        for name, value in rows_a_minute(options.dataset).items():
            print(f"{name:38} {value if isinstance(value, bool) else f'{value:,.0f}'}")
        return
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
