"""phist bench: studies, run, looked after and shown."""

import typer

from phist.cli.bench_costs import costs
from phist.cli.bench_diff import diff
from phist.cli.bench_growth import growth
from phist.cli.bench_methods import methods
from phist.cli.bench_repeat import repeat
from phist.cli.bench_report import report
from phist.cli.bench_run import run
from phist.cli.bench_status import status
from phist.cli.bench_table import table
from phist.cli.commands import add_command

bench_app = typer.Typer(no_args_is_help=True, help="Studies: many methods on many datasets, fairly compared and fully recorded.")
for verb in (run, status, table, costs, growth, report, diff, repeat, methods):
    add_command(bench_app, verb)
