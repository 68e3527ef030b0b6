"""phist bench run"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.bench_options import NoDuplicates, OnlyDataset, OnlyMethod, Out, Study, read_study, records_folder
from phist.cli.options import Json
from phist.cli.screen import console, print_json
from phist.progress import waiting

if TYPE_CHECKING:
    from phist.evaluation.journal import Problem
    from phist.evaluation.records import Record

Jobs = Annotated[int | None, typer.Option(min=1, help="Cells at a time on this machine; as many as it has cores, unless given.")]
Threads = Annotated[int, typer.Option(min=1, help="Cores for each cell.")]
BackendName = Annotated[
    str, typer.Option("--backend", metavar="loky|dask|ray", help="Processes on this machine, or the workers of a cluster.")
]
Address = Annotated[str | None, typer.Option(metavar="HOST:PORT", help="The scheduler of the cluster.")]
Shard = Annotated[str | None, typer.Option(metavar="i/n", help="The i-th of n equal shares of the study.")]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Run the cells again that have failed.")]


def run(
    study: Study,
    jobs: Jobs = None,
    threads: Threads = 1,
    backend: BackendName = "loky",
    address: Address = None,
    shard: Shard = None,
    out: Out = None,
    only_method: OnlyMethod = None,
    only_dataset: OnlyDataset = None,
    no_duplicates: NoDuplicates = False,
    retry_failed: RetryFailed = False,
    as_json: Json = False,
) -> None:
    """Run whatever of a study has no record yet.

    Every cell, that is one method on one fold of one dataset with one seed,
    is recorded when it ends. A study that was stopped or killed goes on when
    the same command is typed again. A cell that fails is recorded with its
    error and does not stop the others. The exit code is 1 if some failed.

    The workers of a Dask cluster are best started with --nthreads 1, for a
    process computes one cell at a time. For a Ray cluster, install
    phist[ray]; without --address, Ray starts one on this machine.

    Examples:
      phist bench run experiments/paper.toml --jobs 2
      phist bench run study.toml --only-dataset MUTAG --only-method phist
      phist bench run study.toml --shard 1/4 --json
      phist bench run study.toml --no-duplicates --out no-duplicates
      phist bench run study.toml --backend dask --address 10.0.0.5:8786
      phist bench run study.toml --backend ray --address 10.0.0.5:6379
    """
    with waiting("reading the study"):
        from phist.evaluation.backends import Workers
        from phist.evaluation.progress import StudyProgress
        from phist.evaluation.runner import choose_cells, choose_shard, make_plan, run_plan

        workers = Workers(jobs, threads, backend, address)  # type: ignore[arg-type]  # it checks the name itself
        spec = read_study(study, no_duplicates)
        folder = records_folder(study, spec, out)
        cells = choose_shard(choose_cells(spec.cells(), only_method or (), only_dataset or ()), shard)
        plan = make_plan(cells, folder, retry_failed=retry_failed)

    screen = console(to_program=as_json)
    _tell_repairs(plan.repaired)
    screen.print(f"{spec.name}: {len(cells)} cells, {len(cells) - len(plan.cells)} done, {len(plan.cells)} to run", style="bold")
    with StudyProgress(plan.cells, plan.known, workers.at_a_time) as progress:
        try:
            records = run_plan(plan, folder, workers, tell=progress.tell)
        except KeyboardInterrupt as error:
            screen.print(f"Stopped; {progress.finished} cells were recorded in {folder}. Type the same command to go on")
            raise typer.Exit(130) from error
    same = ("" if out is None else f" --out {out}") + (" --no-duplicates" if no_duplicates else "")
    screen.print(f"Recorded in {folder}. Next:\n  phist bench status {study}{same}\n  phist bench table {folder}")
    if as_json:
        print_json(_content(spec.name, folder, len(cells), records))
    _tell_failures(records)


def _content(name: str, folder: Path, cells: int, records: "list[Record]") -> dict[str, Any]:
    """What this run did, ready for JSON."""
    failed = [{"cell": str(record.cell), "reason": record.reason} for record in records if record.status == "failed"]
    return {"study": name, "folder": str(folder), "cells": cells, "run": len(records), "failed": failed}


def _tell_repairs(problems: "list[Problem]") -> None:
    screen = console(to_program=True)
    for problem in problems:
        screen.print(f"{problem}; set aside, its cell is run again")


def _tell_failures(records: "list[Record]") -> None:
    failed = [record for record in records if record.status == "failed"]
    if not failed:
        return
    screen = console(to_program=True)
    screen.print(f"{len(failed)} of {len(records)} cells failed; add --retry-failed to try them again:")
    for record in failed[:10]:
        screen.print(f"  {record.cell}: {record.reason}")
    raise typer.Exit(1)
