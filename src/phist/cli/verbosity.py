"""--quiet and --verbose, which every command has."""

import inspect
import time
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from phist import progress

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Results and errors only: no progress, no notes.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show warnings, the time taken, and the traceback of an error.")]

_verbose = False


def is_quiet() -> bool:
    """Whether nothing but results and errors is to be shown."""
    return progress.is_silenced()


def is_verbose() -> bool:
    """Whether warnings, times and tracebacks are to be shown."""
    return _verbose


def with_verbosity(verb: Callable[..., None]) -> Callable[..., None]:
    """The same command with the options ``--quiet`` and ``--verbose``."""

    @wraps(verb)
    def command(*arguments: Any, quiet: bool, verbose: bool, **settings: Any) -> None:
        global _verbose
        _verbose = verbose
        began = time.monotonic()
        with progress.silenced(quiet), warnings.catch_warnings():
            if verbose:
                warnings.simplefilter("default")
            verb(*arguments, **settings)
        if verbose:
            typer.echo(f"phist {verb.__name__}: {time.monotonic() - began:.1f} s", err=True)

    signature = inspect.signature(verb)
    added = [_parameter("quiet", Quiet), _parameter("verbose", Verbose)]
    command.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *added])  # type: ignore[attr-defined]
    command.__annotations__ = verb.__annotations__ | {parameter.name: parameter.annotation for parameter in added}
    return command


def _parameter(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
