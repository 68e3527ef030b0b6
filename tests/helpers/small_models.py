"""Estimators that are fitted in a moment."""

from phist import StructuralClassifier, StructuralEmbedder

NETWORK = {"channels": (4, 6), "bins": 4, "roots": 6}
QUICK = {"network": NETWORK, "training": {"epochs": 2}, "engine": "reference", "random_state": 0, "progress": False}


def quick_classifier(**changes):
    """One network of two epochs beside the other members, unless something else is asked for."""
    return StructuralClassifier(**{"effort": "low", "members": ("network", "colours", "profiles"), **QUICK, **changes})


def quick_network(**changes):
    """One network alone, as presets by name have it."""
    return quick_classifier(**{"preset": "MUTAG", **changes})


def quick_embedder(**changes):
    return StructuralEmbedder(**{**QUICK, **changes})
