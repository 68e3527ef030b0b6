"""load_estimator: a saved model of either kind, ready to be used and to be fitted again."""

from pathlib import Path

from phist.estimators.classifier import StructuralClassifier
from phist.estimators.embedder import StructuralEmbedder
from phist.estimators.model_folder import load_model

_KINDS: dict[str, type[StructuralClassifier] | type[StructuralEmbedder]] = {
    kind._saved_as: kind for kind in (StructuralClassifier, StructuralEmbedder)
}


def load_estimator(path: str | Path) -> StructuralClassifier | StructuralEmbedder:
    """Read a saved model of either kind.

    Args:
        path: the folder that ``save`` wrote.
    """
    saved = load_model(path)
    estimator: StructuralClassifier | StructuralEmbedder = _KINDS[saved.check_kind(path, tuple(_KINDS))].restore(saved, path)
    return estimator
