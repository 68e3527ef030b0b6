"""The error family of phist: a message says what was given, what is needed, and what to type next."""

import reprlib
from collections.abc import Collection, Hashable
from typing import Any


class PhistError(Exception):
    """Root of every error phist raises on purpose; the command line prints it as one line and exits with code 2."""


class GraphInputError(PhistError, ValueError):
    """Graphs or labels that cannot be used as they are."""


class DatasetError(PhistError, LookupError):
    """A named dataset that is unknown, cannot be found, or does not have the content it should have."""


class ConfigError(PhistError, ValueError):
    """A setting outside its range, or settings that contradict each other."""


class DivergenceError(PhistError, ArithmeticError):
    """Training, or a network, with numbers that are not finite; ``history`` has the epochs before."""

    def __init__(self, message: str, history: Any = None) -> None:
        super().__init__(message)
        self.history = history


class ModelFileError(PhistError, ValueError):
    """A saved model, checkpoint or graph set that is incomplete, foreign, or from a later version."""


class OutputError(PhistError, OSError):
    """A place that cannot be written to."""


class GroupError(PhistError, RuntimeError):
    """A process of several that fit together, and whose others cannot be reached."""


class MissingExtraError(PhistError, ImportError):
    """An optional dependency that is not installed."""


class EngineNotice(UserWarning):
    """The fused engine does not cover a network, and the reference computes it; or compiled code cannot be kept."""


def check_choice(name: str, value: object, choices: Collection[object]) -> None:
    """Raise a `ConfigError` unless ``value`` is one of ``choices``."""
    if not isinstance(value, Hashable) or value not in choices:
        raise ConfigError(f"{name}={shown(value)} is not known; choose one of {', '.join(map(repr, choices))}")


def brief(text: object, most: int = 160) -> str:
    """A text for a message: one line, cut in the middle where it is longer than ``most`` characters.

    >>> brief("a" * 50, most=9)
    'aaa...aaa'
    """
    line = " ".join(str(text).split())
    part = (most - 3) // 2
    return line if len(line) <= most else f"{line[:part]}...{line[-part:]}"


def shown(value: object, most: int = 60) -> str:
    """A value as a message shows it: its representation, cut where it is long or deep.

    >>> shown([1, "a" * 100], most=30)
    "[1, 'aaaaaaaa...aaaaaaaaa']"
    """
    short = reprlib.Repr()
    short.maxstring = short.maxlong = short.maxother = most - 8
    try:
        return brief(short.repr(value), most)
    except Exception:  # representations are code of others; and Python writes no whole number of more than 4,300 digits
        return f"a {type(value).__name__}"
