"""Sets of classes that contain the right one with a given probability."""

import numpy as np
from numpy.typing import NDArray

from phist.checks import finite_number
from phist.errors import ConfigError

Probabilities = NDArray[np.float64]


def thresholds_of(calibration: Probabilities, targets: NDArray[np.int64], coverage: float, by_class: bool) -> NDArray[np.float64]:
    """The least probability with which each class is in a set: (classes).

    Of graphs not seen in fitting, the share ``coverage`` were given at least this probability for their own class (split
    conformal prediction, Vovk et al. 2005; by class, what is called Mondrian). So a set contains the class of a further graph
    of the same kind with at least that probability; by class, whatever its class is. Too few graphs to promise that give
    thresholds of zero: every class is in every set.
    """
    if finite_number("coverage", coverage, least=0, above=True) >= 1:
        raise ConfigError(f"coverage={coverage} was given; a share between 0 and 1 is needed, such as 0.9")
    given = calibration[np.arange(len(targets)), targets]
    if not by_class:
        return np.full(calibration.shape[1], _threshold(given, coverage))
    return np.array([_threshold(given[targets == number], coverage) for number in range(calibration.shape[1])])


def _threshold(given: Probabilities, coverage: float) -> float:
    """The largest of the values that at most the fraction 1 - coverage, in a sample one larger, lies below."""
    allowed = int(np.floor((1 - coverage) * (len(given) + 1) + 1e-9))
    return float(np.sort(given)[allowed - 1]) if allowed else 0.0
