"""Optional dependencies: one helper that names the extra to install."""

from importlib import import_module
from types import ModuleType

from phist.errors import MissingExtraError


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional ``module``, or say which extra of phist brings it and what it is needed for."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(f"{purpose} needs {package}, which is not installed; type: pip install 'phist[{extra}]'") from error
