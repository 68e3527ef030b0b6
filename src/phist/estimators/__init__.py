"""The scikit-learn face of phist."""

from phist.estimators.classifier import StructuralClassifier
from phist.estimators.embedder import StructuralEmbedder

__all__ = ["StructuralClassifier", "StructuralEmbedder"]
