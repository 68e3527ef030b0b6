"""The paper's theorems as objects: call them, test them, look at them.

A construction comes back with a certificate whose ``verify()`` rechecks the claim from the data alone. Where the paper is
wrong or loose, the sound version is here and the module says why. The public names are imported on first use.
"""

from importlib import import_module
from typing import Any

_HOME_OF = {
    "Multiset": "phist.theory.multiset",
    "delta_equal": "phist.theory.matching",
    "bottleneck_distance": "phist.theory.matching",
    "Box": "phist.theory.geometry",
    "Ball": "phist.theory.geometry",
    "outputs_lower_bound": "phist.theory.bounds",
    "make_packing": "phist.theory.packing",
    "GridCells": "phist.theory.voronoi",
    "VoronoiSum": "phist.theory.voronoi",
    "PrimeSum": "phist.theory.prime_sum",
    "separate_by_sum": "phist.theory.separation",
    "separate_by_histogram": "phist.theory.histogram_separation",
    "projection_matrix": "phist.theory.projective",
    "make_counterexample": "phist.theory.projective",
    "capacity_report": "phist.theory.capacity",
    "kernel_rank": "phist.theory.smooth",
    "study_kernel": "phist.theory.smooth",
    "study_voronoi_sum": "phist.theory.voronoi_study",
    "study_perceptron": "phist.theory.perceptron",
    "compare_aggregations": "phist.theory.comparison",
}

__all__ = list(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'phist.theory' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
