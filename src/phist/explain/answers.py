"""What a model says of graphs: its probabilities, and the logits of those of its networks that are explained."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phist.estimators.ensemble import Ensemble
from phist.estimators.members.network import Network
from phist.explain.readers import Reader
from phist.graphs.canonical import in_canonical_order
from phist.graphs.graphset import GraphSet


class Answers(NamedTuple):
    """Rows are graphs, columns are classes."""

    probabilities: NDArray[np.float64]  # of the whole model
    logits: NDArray[np.float64]  # of its networks, centred; NaN where there are none


def answers_of(ensemble: Ensemble, readers: Sequence[Reader], graphs: GraphSet) -> Answers:
    """Both for each graph, whatever the order of its nodes; what networks see is computed once."""
    graphs = in_canonical_order(graphs).graphs
    bags = {reader.bag for reader in readers}
    seen = {
        member.label: member.features(graphs) for member in ensemble.members if isinstance(member, Network) and member.label in bags
    }
    probabilities = ensemble.predict_proba(graphs, seen)
    if not readers:
        return Answers(probabilities, np.full_like(probabilities, np.nan))
    logits: NDArray[np.float64] = np.sum([one.logits(seen[one.bag][one.number].embeddings) for one in readers], axis=0)
    return Answers(probabilities, logits)
