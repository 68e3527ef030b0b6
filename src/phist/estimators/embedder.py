"""StructuralEmbedder."""

from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin

from phist.engine.choice import choose_engine
from phist.engine.computation import compute
from phist.estimators.base import StructuralEstimator
from phist.estimators.examples import as_labelled, describe_data
from phist.graphs.convert import as_graphset
from phist.graphs.graphset import GraphSet
from phist.nn.network import make_network
from phist.training.history import History
from phist.training.inference import settle_statistics


class StructuralEmbedder(TransformerMixin, StructuralEstimator):  # type: ignore[misc]
    """Embed graphs for whatever comes next in a pipeline; parameters as for `StructuralClassifier`.

    With labels the embeddings are those of a network trained to tell the classes apart. Without, those of a random network
    whose standardisation has seen the graphs: weaker, yet far from nothing.

    Example:
        >>> from phist.graphs.generate import make_trees
        >>> from sklearn.ensemble import ExtraTreesClassifier
        >>> from sklearn.pipeline import make_pipeline
        >>> trees = make_trees(20, n_nodes=10, seed=0)
        >>> model = make_pipeline(StructuralEmbedder(max_epochs=2, random_state=0), ExtraTreesClassifier(random_state=0))
        >>> model.fit(trees, trees.labels).predict(trees[:3]).shape
        (3,)
    """

    _saved_as = "embedder"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, validation: tuple[Any, Any] | None = None) -> Self:
        """Learn an embedding of graphs ``X`` that tells the labels ``y`` apart, or a random one where there are none."""
        graphs = as_graphset(X)
        if y is None and graphs.labels is None:
            return self._fit_unlabelled(graphs)
        graphs, labels = as_labelled(graphs, y)
        self._fit_network(graphs, labels, sample_weight, validation)
        return self

    def _fit_unlabelled(self, graphs: GraphSet) -> Self:
        self.classes_ = np.empty(0, dtype=np.int64)
        seed = self._draw_seed()
        preset = self._settle(graphs, seed)
        network = make_network(preset.network, 1, seed).to(self._device())
        self.engine_ = choose_engine(self.engine, network, graphs)
        settle_statistics(compute(network, graphs, self.engine_), preset.training.batch_size, seed)
        self._remember(network, preset.training, History(), seed)
        self.data_ = describe_data(graphs)
        return self
