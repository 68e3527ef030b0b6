"""phist learns to tell graphs apart from their structure alone.

The public names are imported on first use, so that ``import phist`` costs nothing that is not needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME_OF = {
    "GraphSet": "phist.graphs.graphset",
    "as_graphset": "phist.graphs.convert",
    "read_graphs": "phist.graphs.read",
    "load_dataset": "phist.graphs.datasets",
    "check_graphs": "phist.graphs.checkup",
    "ProjectiveHistogram": "phist.nn.histogram",
    "NetworkConfig": "phist.nn.config",
    "StructuralNetwork": "phist.nn.network",
    "StructuralClassifier": "phist.estimators",
    "StructuralEmbedder": "phist.estimators",
    "Report": "phist.estimators",
    "load_estimator": "phist.estimators",
    "Explanation": "phist.explain",
    "what_if": "phist.explain",
    "TrainingConfig": "phist.training.config",
    "PhistError": "phist.errors",
}

__all__ = ["__version__", *_HOME_OF]

if TYPE_CHECKING:
    from phist.errors import PhistError as PhistError
    from phist.estimators import Report as Report
    from phist.estimators import StructuralClassifier as StructuralClassifier
    from phist.estimators import StructuralEmbedder as StructuralEmbedder
    from phist.estimators import load_estimator as load_estimator
    from phist.explain import Explanation as Explanation
    from phist.explain import what_if as what_if
    from phist.graphs.checkup import check_graphs as check_graphs
    from phist.graphs.convert import as_graphset as as_graphset
    from phist.graphs.datasets import load_dataset as load_dataset
    from phist.graphs.graphset import GraphSet as GraphSet
    from phist.graphs.read import read_graphs as read_graphs
    from phist.nn.config import NetworkConfig as NetworkConfig
    from phist.nn.histogram import ProjectiveHistogram as ProjectiveHistogram
    from phist.nn.network import StructuralNetwork as StructuralNetwork
    from phist.training.config import TrainingConfig as TrainingConfig


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'phist' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
