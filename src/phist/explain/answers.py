"""What a model says of graphs: its probabilities, and the logits of those of its networks that are explained."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phist.estimators.ensemble import Ensemble
from phist.estimators.members.network import Network
from phist.explain.distinct import keys_of
from phist.explain.readers import Reader
from phist.graphs.canonical import in_canonical_order
from phist.graphs.graphset import GraphSet

MOST_KNOWN = 200_000  # graphs whose answers are kept: some tens of megabytes


class Answers(NamedTuple):
    """Rows are graphs, columns are classes."""

    probabilities: NDArray[np.float64]  # of the whole model
    logits: NDArray[np.float64]  # of its networks, centred; NaN where there are none


class Answering:
    """Asks a model about graphs, whatever the order of their nodes, and about each distinct graph once."""

    def __init__(self, ensemble: Ensemble, readers: Sequence[Reader]) -> None:
        self._ensemble = ensemble
        self._readers = readers
        self._known: dict[bytes, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}

    def __call__(self, graphs: GraphSet) -> Answers:
        """Both for each graph."""
        seen = in_canonical_order(graphs.with_labels(None)).graphs
        keys = keys_of(seen)
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        first = {key: position for position, key in reversed(list(enumerate(keys))) if key not in self._known}
        new = sorted(first.values())
        if new:
            rows = answers_of(self._ensemble, self._readers, seen[new])
            self._known |= {keys[position]: row for position, row in zip(new, zip(*rows, strict=True), strict=True)}
        probabilities, logits = (np.stack([self._known[key][part] for key in keys]) for part in (0, 1))
        return Answers(probabilities, logits)


def answers_of(ensemble: Ensemble, readers: Sequence[Reader], graphs: GraphSet) -> Answers:
    """Both for each of graphs in canonical order; what networks see is computed once."""
    bags = {reader.bag for reader in readers}
    seen = {
        member.label: member.features(graphs) for member in ensemble.members if isinstance(member, Network) and member.label in bags
    }
    probabilities = ensemble.predict_proba(graphs, seen)
    if not readers:
        return Answers(probabilities, np.full_like(probabilities, np.nan))
    logits: NDArray[np.float64] = np.sum([one.logits(seen[one.bag][one.number].embeddings) for one in readers], axis=0)
    return Answers(probabilities, logits)
