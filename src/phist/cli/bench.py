"""phist bench: studies, run and looked after."""

import typer

from phist.cli.bench_run import run
from phist.cli.bench_status import status

bench_app = typer.Typer(no_args_is_help=True, help="Studies: many methods on many datasets, fairly compared and fully recorded.")
for verb in (run, status):
    bench_app.command()(verb)
