"""Estimators in scikit-learn's manner."""

from pathlib import Path

from phist.errors import ModelFileError
from phist.estimators.classifier import StructuralClassifier
from phist.estimators.embedder import StructuralEmbedder
from phist.estimators.model_folder import load_model
from phist.estimators.report import Report

__all__ = ["Report", "StructuralClassifier", "StructuralEmbedder", "load_estimator"]


def load_estimator(path: str | Path) -> StructuralClassifier | StructuralEmbedder:
    """Read a saved model of either kind."""
    saved = load_model(path)
    kinds: dict[str, type[StructuralClassifier] | type[StructuralEmbedder]] = {
        kind._saved_as: kind for kind in (StructuralClassifier, StructuralEmbedder)
    }
    name = saved.settings.get("estimator")
    if not isinstance(name, str) or name not in kinds:
        raise ModelFileError(f"{path} holds a {name!r:.50}, which this phist does not know; it knows {', '.join(kinds)}")
    return kinds[name].restore(saved, path)
