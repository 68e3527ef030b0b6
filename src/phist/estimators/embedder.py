"""StructuralEmbedder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin

from phist.engine.choice import choose_engine
from phist.estimators.base import StructuralEstimator
from phist.estimators.card import write_card
from phist.estimators.examples import ClassWeight, as_labelled, check_class_weight, describe_data, make_examples, split_off
from phist.estimators.fitted.embedder import FittedEmbedder
from phist.estimators.members.member import Lesson
from phist.estimators.members.network import Network
from phist.estimators.model_folder import save_model
from phist.estimators.parts import Parts
from phist.estimators.reading import Reading
from phist.estimators.settings import NetworkSettings, TrainingSettings, draw_seed, resolve
from phist.estimators.trained import TrainedNetwork
from phist.graphs.checkup import Checkup
from phist.graphs.convert import as_graphset
from phist.graphs.graphset import GraphSet
from phist.nn.network import make_network
from phist.training.inference import Inference, initialise_statistics
from phist.training.presets import make_preset
from phist.training.windows import compute_windowed, put_in_order


class StructuralEmbedder(TransformerMixin, StructuralEstimator, FittedEmbedder):  # type: ignore[misc]
    """Embed graphs for whatever comes next in a pipeline; parameters as for `StructuralClassifier`.

    With labels the embeddings are those of a network trained to tell the classes apart. Without, those of a random network
    whose standardisation has seen the graphs: weaker, yet far from nothing.

    Args:
        preset: ``"auto"`` for sizes by the graphs, a dataset's name for the appendix's sizes, or ``"paper:ENZYMES"`` for the
            network and training as printed.
        class_weight: ``"balanced"``, or a weight for each label.
        random_state: seed of every random choice; the same seed gives the same model.
        network: a `NetworkConfig`, or fields of one by name, in place of the preset's.
        training: a `TrainingConfig`, or fields of one by name, such as ``{"epochs": 50}``.
        engine: ``"auto"``, ``"fused"`` or ``"reference"``.
        inference: ``"auto"``, ``"sampled"`` or ``"exact"``.
        checkpoint: the file from which a killed fit goes on.
        progress: whether to show progress bars; on a terminal, unless given.

    Example:
        >>> from phist.graphs.generate import make_trees
        >>> from sklearn.ensemble import ExtraTreesClassifier
        >>> from sklearn.pipeline import make_pipeline
        >>> trees = make_trees(20, n_nodes=10, seed=0)
        >>> embedder = StructuralEmbedder(training={"epochs": 2}, random_state=0)
        >>> model = make_pipeline(embedder, ExtraTreesClassifier(random_state=0))
        >>> model.fit(trees, trees.labels).predict(trees[:3]).shape
        (3,)
    """

    def __init__(
        self,
        preset: str = "auto",
        class_weight: ClassWeight = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        *,
        network: NetworkSettings = None,
        training: TrainingSettings = None,
        engine: str = "auto",
        inference: Inference = "auto",
        checkpoint: str | Path | None = None,
        progress: bool | None = None,
    ) -> None:
        self.preset = preset
        self.class_weight = class_weight
        self.random_state = random_state
        self.network = network
        self.training = training
        self.engine = engine
        self.inference = inference
        self.checkpoint = checkpoint
        self.progress = progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn an embedding of graphs ``X`` that tells the labels ``y`` apart, or a random one where there are none.

        What fails, and Ctrl-C, are handled as by `StructuralClassifier.fit`.

        Args:
            X: graphs: a `GraphSet`, or anything `as_graphset` takes.
            y: one label for each graph; the graphs' own unless given.
            sample_weight: how much each graph counts, (graphs); all alike unless given.
        """
        with self._all_or_nothing():
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        graphs = as_graphset(X)
        self._check_parameters()
        self.seed_, self.reading_ = draw_seed(self.random_state), Reading.of(graphs)
        preset = resolve(make_preset(self.preset, graphs), self.network, self.training)
        self.member_ = Network(preset, (), self.engine, self.inference)
        if y is None and graphs.labels is None:
            self._fit_unlabelled(put_in_order(graphs))
            return
        graphs, labels = as_labelled(graphs, y)
        self.classes_, self.data_ = self._read_classes(labels), describe_data(graphs.with_labels(labels))
        examples = make_examples(graphs, labels, self.classes_, sample_weight, self.class_weight)
        share = 0.0 if preset.training.selection == "last" else 0.1
        training, held_out = split_off(examples, share, self.seed_)
        lesson = Lesson(
            training,
            n_classes=len(self.classes_),
            parts=Parts(np.zeros(len(training.targets), np.int64), 0),
            seed=self.seed_,
            checkpoint=None if self.checkpoint is None else Path(self.checkpoint),
            progress=self.progress,
        )
        self.member_.fit_whole(lesson, held_out)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_class_weight(self.class_weight)
        resolve(make_preset(self.preset), self.network, self.training)

    def _fit_unlabelled(self, graphs: GraphSet) -> None:
        self.classes_, self.data_ = np.empty(0, dtype=np.int64), describe_data(graphs)
        preset = self.member_.preset
        network = make_network(preset.network, 1, self.seed_)
        engine = choose_engine(self.engine, network, graphs)
        initialise_statistics(compute_windowed(network, graphs, engine), preset.training.batch_size, self.seed_)
        self.member_.trained = [TrainedNetwork(network, self.seed_, self.engine, self.inference, self.progress)]
        self.member_.heads = [{}]

    def save(self, path: str | Path, *, checkup: Checkup | None = None, metrics: Mapping[str, Any] | None = None) -> None:
        """Write the fitted model as a folder: weights, configuration, history, and a card to read.

        Args:
            path: the folder to write; a model that is there is replaced.
            checkup: floors and ceiling of the data for the card, from `check_graphs`.
            metrics: further figures for the card.
        """
        self._check_fitted()
        arrays, values = self.member_.to_state()
        settings = {**self._settings(), "network": values, "metrics": dict(metrics or {})}
        card = write_card(self, checkup, metrics or {})
        save_model(path, settings, {"network": arrays}, histories=self.member_.histories, card=card, report=None)
