"""phist bench status"""

from collections import Counter
from typing import TYPE_CHECKING

from phist.cli.bench_options import NoDuplicates, OnlyDataset, OnlyMethod, Out, Study, read_study, records_folder
from phist.cli.bench_records import check_folder
from phist.cli.options import Json
from phist.cli.screen import WIDTH, console, print_json
from phist.progress import waiting

if TYPE_CHECKING:
    from rich.console import Console

    from phist.evaluation.status import StudyStatus


def status(
    study: Study,
    out: Out = None,
    only_method: OnlyMethod = None,
    only_dataset: OnlyDataset = None,
    no_duplicates: NoDuplicates = False,
    as_json: Json = False,
) -> None:
    """How far a study is: cells done, skipped, failed and missing, time spent and time left.

    Examples:
      phist bench status experiments/paper.toml
      phist bench status experiments/paper.toml --only-dataset NCI1 --json
    """
    if out is not None:
        check_folder(out)
    with waiting("reading the study"):
        from phist.evaluation.runner import choose_cells
        from phist.evaluation.status import study_status

        spec = read_study(study, no_duplicates)
        cells = choose_cells(spec.cells(), only_method or (), only_dataset or ())
        found = study_status(cells, records_folder(study, spec, out))
    if as_json:
        print_json({"study": spec.name, "protocol": spec.protocol, **found.to_dict()})
        return
    screen = console()
    screen.print(f"{spec.name}: {len(cells)} cells, protocol {spec.protocol}", style="bold")
    _show_table(screen, found)
    _show_rest(screen, found)


def _show_table(screen: "Console", found: "StudyStatus") -> None:
    """A row for each method; datasets that the screen has no room for follow below, with the methods named again."""
    from phist.report.render import stacked

    labels = list(dict.fromkeys(label for label, _ in found.counts))
    datasets = list(dict.fromkeys(dataset for _, dataset in found.counts))
    lines = [["method", *datasets]]
    lines += [[label, *(_describe(found.counts.get((label, dataset))) for dataset in datasets)] for label in labels]
    for line in stacked(lines, max(WIDTH, screen.width)):
        screen.print(line)


def _describe(counts: "Counter[str] | None") -> str:
    """Cells done of all; skipped cells are done, failed ones are named."""
    if counts is None:
        return ""
    if counts["skipped"] == counts.total():
        return "skipped"
    failed = f" {counts['failed']} failed" if counts["failed"] else ""
    return f"{counts['ok'] + counts['skipped']}/{counts.total()}{failed}"


def _describe_commits(commits: "Counter[str]") -> str:
    """Of how many states of the code the records are, and how many of them cannot be had from a commit alone."""
    named = {commit.partition(" ")[0] for commit in commits if commit}
    unnamed, changed = commits[""], sum(count for commit, count in commits.items() if " " in commit)
    parts = [f"{commits.total():,} records of {len(named)} commits of phist"]
    parts += [f"{unnamed:,} name none"] * bool(unnamed)
    parts += [f"{changed:,} were made with changes that are in none"] * bool(changed)
    return "; ".join(parts)


def _show_rest(screen: "Console", found: "StudyStatus") -> None:
    from phist.evaluation.estimate import spoken

    screen.print(", ".join(f"{count} {state}" for state, count in found.totals.items()))
    left = "unknown" if found.left is None else f"about {spoken(found.left)} of computing" if found.totals["missing"] else "none"
    screen.print(f"time spent: {spoken(found.spent)}; time left: {left}")
    if any(found.commits):  # an installed phist has no commits to name
        screen.print(_describe_commits(found.commits))
    for (label, dataset), why in found.skipped.items():
        screen.print(f"  {dataset} {label} is skipped: {why}")
    for record in found.failures[:10]:
        screen.print(f"  {record.cell} failed: {record.reason}")
    if found.others:
        screen.print(f"{found.others} records are of cells that the study no longer has")
    for problem in found.problems:
        screen.print(f"{problem}; 'phist bench run' will run its cell again")
