"""Estimators in scikit-learn's manner, imported on first use: fitted models (`phist.estimators.fitted`) do without scikit-learn."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME_OF = {
    "Report": "phist.estimators.report",
    "StructuralClassifier": "phist.estimators.classifier",
    "StructuralEmbedder": "phist.estimators.embedder",
    "load_estimator": "phist.estimators.loading",
}

__all__ = ["Report", "StructuralClassifier", "StructuralEmbedder", "load_estimator"]

if TYPE_CHECKING:
    from phist.estimators.classifier import StructuralClassifier as StructuralClassifier
    from phist.estimators.embedder import StructuralEmbedder as StructuralEmbedder
    from phist.estimators.loading import load_estimator as load_estimator
    from phist.estimators.report import Report as Report


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'phist.estimators' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
