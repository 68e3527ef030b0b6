"""What a model says of all graphs of a page, before any of them is explained."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from phist.estimators.fitted.classifier import FittedClassifier
from phist.estimators.members.network import Network
from phist.estimators.trained import Features
from phist.explain.page.networks import Carried, networks_to_carry
from phist.explain.page.plane import plain_features
from phist.explain.page.selection import look_alikes
from phist.explain.readers import Reader, readers_of
from phist.graphs.arrays import IntArray
from phist.graphs.canonical import in_canonical_order
from phist.graphs.graphset import GraphSet
from phist.graphs.symmetry import weisfeiler_lehman_hashes

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Survey:
    """Graphs and what a model says of them.

    Attributes:
        graphs: those of the map, as the model reads them, their nodes in the order given.
        labels: (graphs): the number of each graph's class, -1 where it has none that the model knows.
        probabilities: (graphs, classes): of the whole model.
        features: by bag, what each of its networks sees.
        covered: the weight of the linear heads in the prediction.
        carried: the networks of the page.
    """

    model: FittedClassifier
    graphs: GraphSet
    labels: IntArray
    probabilities: Array
    features: dict[str, list[Features]]
    covered: float
    carried: Carried

    @classmethod
    def of(cls, model: FittedClassifier, graphs: GraphSet) -> "Survey":
        """Ask the model."""
        ensemble = model.ensemble_
        readers, covered = readers_of(model)
        seen = in_canonical_order(graphs.with_labels(None)).graphs
        features = {member.label: member.features(seen) for member in ensemble.members if isinstance(member, Network)}
        probabilities = ensemble.predict_proba(seen, features)
        numbers = {label: number for number, label in enumerate(model.classes_.tolist())}
        labels = graphs.label_list() or [None] * len(graphs)
        known = np.array([numbers.get(label, -1) for label in labels], np.int64)
        return cls(model, graphs, known, probabilities, features, covered, networks_to_carry(ensemble, readers))

    @property
    def classes(self) -> list[str]:
        return [str(label) for label in self.model.classes_.tolist()]

    @property
    def readers(self) -> Sequence[Reader]:
        return self.carried.readers

    @cached_property
    def network_probabilities(self) -> Array | None:
        """Of the networks of the page together: (graphs, classes)."""
        if not self.readers:
            return None
        return self.carried.probabilities(
            [reader.trained.logits(self.embeddings(reader)).astype(np.float64) for reader in self.readers]
        )

    def embeddings(self, reader: Reader) -> NDArray[np.float32]:
        """Of the graphs, by one network, standardised: (graphs, m_graph)."""
        return self.features[reader.bag][reader.number].embeddings

    def histograms(self, reader: Reader) -> Array:
        """Of the graphs, by one network, as they are before they are standardised: (graphs, m_graph)."""
        raw: Array = self.embeddings(reader) * reader.scale + reader.usual
        return raw

    def compared_by(self) -> NDArray[np.floating]:
        """What graphs are near or far by: (graphs, columns)."""
        found = [one.embeddings for bag in self.features.values() for one in bag]
        return np.concatenate(found, axis=1) if found else plain_features(self.graphs, self.probabilities)

    def alike(self) -> IntArray:
        """Groups of graphs of several classes that 1-WL cannot tell apart; see `look_alikes`."""
        return look_alikes(self.graphs, self.labels)

    def trained_on(self) -> NDArray[np.bool_]:
        """Which graphs the model was trained on, by their ids and by 1-WL: (graphs)."""
        same: NDArray[np.bool_] = np.isin(weisfeiler_lehman_hashes(self.graphs), self.model.hashes_)
        if self.model.ids_ is None:
            return same
        known = {str(identity) for identity in self.model.ids_}
        by_id: NDArray[np.bool_] = np.array([str(identity) in known for identity in self.graphs.ids.tolist()], bool)
        return same & by_id
