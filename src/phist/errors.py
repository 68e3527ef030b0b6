"""The error family of phist: a message says what was given, what is needed, and what to type next."""

from collections.abc import Collection


class PhistError(Exception):
    """Root of every error phist raises on purpose; the command line prints it as one line and exits with code 2."""


class GraphInputError(PhistError, ValueError):
    """Graphs or labels that cannot be used as they are."""


class DatasetError(PhistError, LookupError):
    """A named dataset that is unknown, cannot be found, or does not have the content it should have."""


class ConfigError(PhistError, ValueError):
    """A setting outside its range, or settings that contradict each other."""


class ModelFileError(PhistError, ValueError):
    """A saved model, checkpoint or graph set that is incomplete, foreign, or from a later version."""


class OutputError(PhistError, OSError):
    """A place that cannot be written to."""


class MissingExtraError(PhistError, ImportError):
    """An optional dependency that is not installed."""


def check_choice(name: str, value: object, choices: Collection[object]) -> None:
    """Raise a `ConfigError` unless ``value`` is one of ``choices``."""
    if value not in choices:
        raise ConfigError(f"{name}={value!r} is not known; choose one of {', '.join(map(repr, choices))}")
