"""Fitted models in use: read from a folder and asked about graphs, without scikit-learn.

Importing scikit-learn takes longer than all else that a prediction needs but PyTorch, and only fitting needs it. Modules that
fitting and prediction share therefore import it inside the functions that fit.
"""

from pathlib import Path

from phist.estimators.fitted.classifier import FittedClassifier
from phist.estimators.fitted.embedder import FittedEmbedder
from phist.estimators.fitted.model import FittedModel
from phist.estimators.model_folder import load_model

__all__ = ["FittedClassifier", "FittedEmbedder", "FittedModel", "load_fitted"]

_KINDS: dict[str, type[FittedModel]] = {kind._saved_as: kind for kind in (FittedClassifier, FittedEmbedder)}


def load_fitted(path: str | Path) -> FittedModel:
    """Read a saved model of either kind.

    Args:
        path: the folder that ``save`` wrote.
    """
    saved = load_model(path)
    return _KINDS[saved.check_kind(path, tuple(_KINDS))].restore(saved, path)
