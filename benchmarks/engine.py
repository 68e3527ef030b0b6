"""The engine against the straightforward PyG form and against the reference, and how it scales.

    PHIST_DATA=folder python benchmarks/engine.py [steps|memory|scaling|all|one-thread] [--datasets MUTAG ...] [--repeats 7]

``steps``: one full training step with the paper's sizes (roots drawn, forward, backward, clipping, AdamW), all forms in turn
in one process, medians of the rounds. ``memory``: what an epoch of each form adds at its peak, a process each. ``scaling``:
step and embedding against nodes, roots, bins and graphs in the set, a process each point. ``one-thread``: the step again with one
thread for every form, by processor time, which other programs hardly change; not in ``all``, and kept in a file of its own.

Every result is written to ``--out`` as soon as it is there; called again, the benchmark goes on with what is missing.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numba
import torch
from engine_forms import FORMS
from engine_results import print_tables, write_figure, write_markdown
from engine_scaling import CURVES
from rich.console import Console
from rich.progress import track

from phist import __version__
from phist.engine.compiling import prepare
from phist.files import atomic_path
from phist.training.presets import APPENDIX

HERE = Path(__file__).resolve().parent
LARGE = {"DD", "COLLAB", "REDDIT-BINARY"}
STEPS, LARGE_STEPS = 24, 3  # of an epoch, which has 19 to 164 in the study; PyG's step on a large dataset takes seconds
MEMORY_STEPS = 2
STORED = ("kind", "dataset", "form", "curve", "size")  # what names a result

Request = dict[str, Any]


class Results:
    """Results in a JSON file, which is written anew after each.

    Args:
        again: names of results to measure again; the others stay.
    """

    def __init__(self, path: Path, machine: Request, again: Collection[str] = ()) -> None:
        self.path, self.machine = path, machine
        content = json.loads(path.read_text()) if path.exists() else {"machine": machine, "results": {}}
        self.found = {name: result for name, result in content["results"].items() if name not in again}
        if self.found and content["machine"] != machine:
            sys.exit(
                f"{path} was measured with {content['machine']}, not with {machine}; add --fresh to 'all', or give another --out"
            )

    def add(self, name: str, result: Request) -> None:
        """Keep a result, in the file too."""
        self.found[name] = result
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(self.path) as temporary:
            temporary.write_text(json.dumps({"machine": self.machine, "results": self.found}, indent=1) + "\n")


def requests(options: argparse.Namespace) -> Iterator[Request]:
    """What to measure, in order."""
    wanted = ("steps", "memory", "scaling") if options.what == "all" else (options.what,)
    common = {"threads": options.threads}
    for kind, threads in (("steps", options.threads), ("one-thread", 1)):
        for dataset in options.datasets if kind in wanted else ():
            steps = LARGE_STEPS if dataset in LARGE else STEPS
            yield {"kind": kind, "dataset": dataset, "steps": steps, "repeats": options.repeats, "threads": threads}
    if "memory" in wanted:
        for dataset in options.datasets:
            for form in FORMS:
                yield {"kind": "memory", "dataset": dataset, "form": form, "steps": MEMORY_STEPS, **common}
    if "scaling" in wanted:
        for curve in options.curves:
            for size in CURVES[curve]:
                if not curve.startswith("nodes") or size <= options.largest:
                    yield {"kind": "scaling", "curve": curve, "size": size, "repeats": min(options.repeats, 3), **common}


def name_of(request: Request) -> str:
    """A result's name in the file."""
    return "/".join(str(request[part]) for part in STORED if part in request)


def measure(request: Request) -> Request | str:
    """The result from a process of its own, or why there is none."""
    threads = str(request["threads"])
    limits = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads)
    command = [sys.executable, str(HERE / "engine_worker.py"), json.dumps(request)]
    run = subprocess.run(command, env={**os.environ, **limits}, capture_output=True, text=True, check=False)
    if run.returncode:
        return (run.stderr.strip().splitlines() or [f"ended with {run.returncode}"])[-1]
    return json.loads(run.stdout.splitlines()[-1])


def main() -> None:
    """Measure what is missing, then show all there is."""
    options = parse_arguments()
    machine = {"phist": __version__, "torch": torch.__version__, "numba": numba.__version__}
    machine |= {"cores": os.cpu_count(), "threads": options.threads}
    asked = {name_of(request): request for request in requests(options)}
    results = Results(options.out, machine, again=asked if options.fresh and not options.show else ())
    screen = Console(stderr=True)
    prepare()  # compiling takes time and memory that are not to be measured
    missing = [] if options.show else [name for name in asked if name not in results.found]
    for name in track(missing, "measuring", console=screen, transient=True, disable=not sys.stderr.isatty()):
        screen.print(f"[dim]{name} ...[/dim]", highlight=False)
        result = measure(asked[name])
        if isinstance(result, str):
            screen.print(f"{name} failed: {result}", style="red", markup=False)
        else:
            results.add(name, {**asked[name], **result})
    print_tables(results.found)
    if options.markdown:
        write_markdown(results.found, machine, options.markdown)
    if options.figure:
        write_figure(results.found, options.figure)


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="all", choices=["steps", "one-thread", "memory", "scaling", "all"])
    parser.add_argument("--datasets", nargs="+", default=list(APPENDIX), choices=list(APPENDIX), metavar="NAME")
    parser.add_argument("--curves", nargs="+", default=list(CURVES), choices=list(CURVES), metavar="CURVE")
    parser.add_argument("--largest", type=int, default=1_000_000, help="most nodes of a graph")
    parser.add_argument("--repeats", type=int, default=7, help="rounds that count; at most 3 for scaling")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, metavar="FILE", help="results/engine.json beside this file, or one_thread.json")
    parser.add_argument("--fresh", action="store_true", help="measure again what is asked for; other results stay")
    parser.add_argument("--show", action="store_true", help="measure nothing, show what is there")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables for the documentation")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw the scaling, as docs/images/engine-scaling.png")
    options = parser.parse_args()
    kept = "one_thread" if options.what == "one-thread" else "engine"
    options.out = options.out or HERE / "results" / f"{kept}.json"
    return options


if __name__ == "__main__":
    main()
