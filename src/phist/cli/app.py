"""The command line: `phist` and its verbs. Everything heavy is imported inside the verbs, so that help comes at once."""

import os
import sys
import traceback
import warnings
from typing import Annotated, Any

import typer

from phist import __version__
from phist.cli.bench import bench_app
from phist.cli.check import check
from phist.cli.commands import add_command
from phist.cli.datasets import datasets
from phist.cli.demo import demo
from phist.cli.embed import embed
from phist.cli.evaluate import evaluate
from phist.cli.explain import explain
from phist.cli.fit import fit
from phist.cli.help import HelpfulGroup
from phist.cli.info import info
from phist.cli.predict import predict
from phist.cli.serve import serve
from phist.cli.streams import prepare_streams
from phist.cli.text import printable
from phist.cli.theory import theory_app
from phist.cli.validate import validate
from phist.cli.verbosity import is_verbose
from phist.errors import PhistError

BAD_INPUT, INTERRUPTED = 2, 130


class _OneLineErrors(HelpfulGroup):
    """Turns what can go wrong in a verb into one line on standard error and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            raise  # the reader has gone; main() ends quietly
        except PhistError as error:
            _fail(str(error), BAD_INPUT, error)
        except OSError as error:
            place = f"{error.filename}: " if error.filename else "output: "
            _fail(f"{place}{error.strerror or error}; check the place and the space left there", BAD_INPUT, error)
        except KeyboardInterrupt as error:
            _fail("interrupted", INTERRUPTED, error)
        return result


app = typer.Typer(
    cls=_OneLineErrors,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
PANELS = {
    "Begin": (demo, datasets, check, info),
    "Models": (fit, validate, evaluate, predict, explain, embed, serve),
}
for panel, verbs in PANELS.items():
    for verb in verbs:
        add_command(app, verb, panel=panel)
app.add_typer(bench_app, name="bench", cls=HelpfulGroup, rich_help_panel="Research")
app.add_typer(theory_app, name="theory", cls=HelpfulGroup, rich_help_panel="Research")


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"phist {__version__}")
        raise typer.Exit


@app.callback()
def _phist(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Tell graphs apart from their structure alone.

    Examples:
      phist demo                           fit, test and draw, about a minute
      phist check mine.jsonl               what is trivial, what is out of reach
      phist fit mine.jsonl --out mymodel   train on graphs of your own
      phist predict mymodel new.jsonl      classify others
      phist explain mymodel new.jsonl      which nodes and edges made the decision
    """


def main() -> None:
    """Entry point of the command ``phist``."""
    prepare_streams()
    warnings.simplefilter("ignore")  # written for programmers; a verb says itself what its user should know
    try:
        app(prog_name="phist")  # also for `python -m phist`, whose completion would be installed for python
    except BrokenPipeError:
        _discard_output()
        sys.exit(1)
    except OSError as error:  # what was left in the buffer could not be written
        _discard_output()
        print(f"phist: output: {error.strerror or error}", file=sys.stderr)
        sys.exit(BAD_INPUT)


def _fail(message: str, code: int, cause: BaseException) -> None:
    if is_verbose():
        traceback.print_exception(cause)
    print(f"phist: {printable(' '.join(message.split()))}", file=sys.stderr)
    raise typer.Exit(code) from cause


def _discard_output() -> None:
    """Keep the interpreter from trying to write the rest of standard output once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
