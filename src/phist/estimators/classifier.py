"""StructuralClassifier."""

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np
from sklearn.base import ClassifierMixin

from phist.checks import finite_number
from phist.errors import ConfigError, check_choice
from phist.estimators.base import StructuralEstimator
from phist.estimators.card import write_card
from phist.estimators.effort import Effort, EffortName, plan_effort
from phist.estimators.ensemble import Candidate, Ensemble, fit_ensemble
from phist.estimators.examples import ClassWeight, as_labelled, check_class_weight, describe_data, make_examples, split_off
from phist.estimators.fitted.classifier import FittedClassifier
from phist.estimators.heads import HEADS
from phist.estimators.members import MEMBERS
from phist.estimators.members.colours import Colours
from phist.estimators.members.member import Lesson, Member
from phist.estimators.members.network import MOST_NETWORKS, Network
from phist.estimators.members.profiles import Profiles
from phist.estimators.model_folder import Arrays, SavedModel, save_model
from phist.estimators.neighbours import Neighbours
from phist.estimators.parts import Parts, cut_parts
from phist.estimators.reading import Reading
from phist.estimators.report import Report, find_floors, make_report
from phist.estimators.settings import NetworkSettings, TrainingSettings, check_ensemble_training, choose_names, draw_seed, resolve
from phist.graphs.checkup import Checkup
from phist.graphs.graphset import GraphSet
from phist.graphs.labels import plain_ids
from phist.graphs.symmetry import weisfeiler_lehman_hashes
from phist.training.inference import Inference
from phist.training.loop import Examples
from phist.training.presets import automatic_preset, make_preset
from phist.training.windows import is_windowed

SECOND_BAG: dict[str, Any] = {"graph_histogram": "density", "orders": (4, 4)}  # blind to sizes, and with a longer reach
VALIDATION_SHARE = 0.1  # of the graphs, where a preset selects the epoch by them


class StructuralClassifier(ClassifierMixin, StructuralEstimator, FittedClassifier):  # type: ignore[misc]
    """Classify graphs by their structure alone.

    Graphs come as a `GraphSet`, or as anything `as_graphset` takes: lists of networkx graphs, matrices, PyG data.

    As it is, the training graphs are cut into parts; structural networks, Weisfeiler-Lehman colours and local profiles are each
    fitted without one part in turn; what they say of it decides how long the networks train, what each member weighs, and how
    certain the probabilities are. The same predictions make the report: how good the model is, and whether that beats the
    floors. With a ``preset`` by name one network is trained, as in the paper.

    Args:
        effort: ``"low"`` holds out one part and trains one short network; ``"medium"`` holds out each of five parts; ``"high"``
            trains longer, and a second kind of networks. `docs/estimator.md` says what each costs and brings.
        time_budget: seconds that a fit may take, about; what does not fit in is left out.
        class_weight: ``"balanced"``, or a weight for each label.
        random_state: seed of every random choice; the same seed gives the same model.
        preset: ``"auto"``; ``"one"`` for one network with sizes by the graphs; a dataset's name for one with the appendix's sizes
            and our recipe (``"ENZYMES"``); or ``"paper:ENZYMES"`` for the network and training as printed.
        members: ``"auto"`` for those of the effort, or names of the members to try: ``"network"``, ``"colours"``, ``"profiles"``.
        heads: ``"auto"``, or names of the networks' heads to try: ``"linear"``, ``"forest"``, ``"kernel"``.
        network: a `NetworkConfig`, or fields of one by name, in place of the preset's; ``"roots"`` is the number of roots drawn
            per graph, or ``"all"``.
        training: a `TrainingConfig`, or fields of one by name, such as ``{"epochs": 50}``.
        engine: ``"auto"`` computes by the fused engine wherever it can; ``"fused"`` insists on it, ``"reference"`` takes the
            plain PyTorch network.
        inference: ``"auto"`` averages over ten draws of roots and embeds each node once, whichever draws it is in; ``"sampled"``
            begins every draw afresh, as the paper does; ``"exact"`` takes every node.
        checkpoint: what the names of files begin with from which a killed fit goes on. They stay, and a fit to other graphs needs
            another name.
        progress: whether to show progress bars; on a terminal, unless given.

    Attributes:
        report_: `Report` of a fit without a preset by name; print it.
        classes_: the labels, in the order of the columns of `predict_proba`.

    Example:
        >>> from phist.graphs.generate import make_planted_partitions
        >>> graphs = make_planted_partitions(40, seed=0)
        >>> classifier = StructuralClassifier(effort="low", random_state=0).fit(graphs)
        >>> classifier.predict(graphs[:2]).shape
        (2,)
    """

    def __init__(
        self,
        effort: EffortName = "medium",
        time_budget: float | None = None,
        class_weight: ClassWeight = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        *,
        preset: str = "auto",
        members: str | tuple[str, ...] = "auto",
        heads: str | tuple[str, ...] = "auto",
        network: NetworkSettings = None,
        training: TrainingSettings = None,
        engine: str = "auto",
        inference: Inference = "auto",
        checkpoint: str | Path | None = None,
        progress: bool | None = None,
    ) -> None:
        self.effort = effort
        self.time_budget = time_budget
        self.class_weight = class_weight
        self.random_state = random_state
        self.preset = preset
        self.members = members
        self.heads = heads
        self.network = network
        self.training = training
        self.engine = engine
        self.inference = inference
        self.checkpoint = checkpoint
        self.progress = progress

    # Fitting ----------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, validation: tuple[Any, Any] | None = None) -> Self:
        """Learn from graphs ``X`` with labels ``y``, by default the graphs' own.

        A fit that fails leaves the model as it was. Ctrl-C while networks are trained is passed on as `KeyboardInterrupt` once what
        is ready has become a model, which can be used and saved; where nothing is ready, the model is as it was.

        Args:
            X: graphs: a `GraphSet`, or anything `as_graphset` takes.
            y: one label for each graph; the graphs' own unless given.
            sample_weight: how much each graph counts.
            validation: graphs and labels to select the epoch by; only presets by name do that.
        """
        with self._all_or_nothing():
            self._fit(X, y, sample_weight, validation)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, validation: tuple[Any, Any] | None) -> None:
        begin = time.monotonic()
        graphs, labels = as_labelled(X, y)
        self._check_parameters()
        self.classes_ = self._read_classes(labels)
        self.seed_ = draw_seed(self.random_state)
        examples = make_examples(graphs, labels, self.classes_, sample_weight, self.class_weight)
        self.reading_, self.data_ = Reading.of(graphs), describe_data(graphs.with_labels(labels))
        self.ids_: Any = graphs.ids
        self.hashes_ = np.unique(weisfeiler_lehman_hashes(graphs))
        for name in ("report_", "neighbours_", "out_of_fold_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if self.preset == "auto":
            if validation is not None:
                raise ConfigError(
                    "validation graphs were given; without a preset by name nothing is selected by them: leave them out"
                )
            self._fit_ensemble(examples, begin)
        else:
            self._fit_preset(examples, validation)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("effort", self.effort, get_args(EffortName))
        self._chosen_members(tuple(MEMBERS))
        self._chosen_heads(tuple(HEADS))
        preset = resolve(make_preset(self.preset), self.network, self.training)
        if self.time_budget is not None:
            finite_number("time_budget", self.time_budget, least=0, above=True)
        check_class_weight(self.class_weight)
        if self.preset == "auto":
            check_ensemble_training(preset.training)

    def _chosen_members(self, default: tuple[str, ...]) -> tuple[str, ...]:
        return choose_names("members", self.members, "auto", default, tuple(MEMBERS))

    def _chosen_heads(self, default: tuple[str, ...]) -> tuple[str, ...]:
        return choose_names("heads", self.heads, "auto", default, tuple(HEADS))

    def _fit_ensemble(self, examples: Examples, begin: float) -> None:
        effort = plan_effort(self.effort, examples.graphs)
        lesson = Lesson(
            examples,
            n_classes=len(self.classes_),
            parts=cut_parts(examples.targets, effort.parts, effort.held_out, self.seed_),
            seed=self.seed_,
            deadline=None if self.time_budget is None else begin + self.time_budget,
            checkpoint=None if self.checkpoint is None else Path(self.checkpoint),
            progress=self.progress,
        )
        floors = find_floors(lesson)  # first, so that a time budget counts them
        members = self._make_members(effort, examples.graphs)
        self.ensemble_, combined = fit_ensemble(members, lesson)
        self.out_of_fold_ = (combined, examples.targets[lesson.parts.asked])
        if self._networks() and not is_windowed(examples.graphs):
            seen = [features.embeddings for member in self._members() for features in member.seen]
            self.neighbours_ = Neighbours.of(np.concatenate(seen, axis=1), self.seed_)
        for member in self._members():
            member.seen.clear()
        notes = [note for member in members for note in member.notes(lesson)] + _notes_of_left_out(members)
        if effort.held_out == 1:
            notes.insert(0, f"one part of {effort.parts} was held out; the estimate rests on it alone")
        if is_windowed(examples.graphs):
            notes.append("the graphs do not fit into memory: one network learnt from them, and similar graphs are not remembered")
        seconds = time.monotonic() - begin
        self.report_ = make_report(
            lesson, combined, tuple(self.ensemble_.candidates),
            floors=floors, effort=self.effort, seconds=seconds, notes=tuple(notes),
        )  # fmt: skip

    def _make_members(self, effort: Effort, graphs: GraphSet) -> list[Member]:
        """Those that take seconds first: where time is short, the networks have what is left."""
        chosen = self._chosen_members(effort.members)
        members: list[Member] = [kind() for kind in (Colours, Profiles) if kind.name in chosen]
        if "network" in chosen:
            heads = self._chosen_heads(effort.heads)
            preset = automatic_preset(graphs, effort.epochs, effort.restarts)
            first = resolve(preset, self.network, self.training)
            members.append(Network(first, heads, self.engine, self.inference))
            if effort.second_bag:
                other = resolve(replace(preset, network=replace(preset.network, **SECOND_BAG)), self.network, self.training)
                members.append(Network(other, heads, self.engine, self.inference, label="densities", first=MOST_NETWORKS))
        return members

    def _fit_preset(self, examples: Examples, validation: tuple[Any, Any] | None) -> None:
        """One network on all graphs, or all but those that select the epoch."""
        preset = resolve(make_preset(self.preset, examples.graphs), self.network, self.training)
        if self.time_budget is not None:
            preset = replace(preset, training=replace(preset.training, time_budget=self.time_budget))
        if validation is not None:
            held_out: Examples | None = make_examples(*as_labelled(*validation), self.classes_, class_weight=self.class_weight)
            training = examples
        else:
            share = 0.0 if preset.training.selection == "last" else VALIDATION_SHARE
            training, held_out = split_off(examples, share, self.seed_)
        lesson = Lesson(
            training,
            n_classes=len(self.classes_),
            parts=Parts(np.zeros(len(training.targets), np.int64), 0),
            seed=self.seed_,
            checkpoint=None if self.checkpoint is None else Path(self.checkpoint),
            progress=self.progress,
        )
        heads = self._chosen_heads(("linear",))
        member = Network(preset, heads, self.engine, self.inference)
        member.fit_whole(lesson, held_out)
        weight = 1 / len(heads)
        candidates = [Candidate(f"network/{head}", float("nan"), float("nan"), 1.0, weight) for head in heads]
        self.ensemble_ = Ensemble([member], candidates, 1.0)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy on graphs ``X`` with labels ``y``, by default the graphs' own.

        Args:
            X: graphs: a `GraphSet`, or anything `as_graphset` takes.
            y: one label for each graph; the graphs' own unless given.
            sample_weight: how much each graph counts, (graphs); all alike unless given.
        """
        _, labels = as_labelled(X, y)
        return float(np.average(self.predict(X) == labels, weights=sample_weight))

    # On disk ----------------------------------------------------------------------------------------------------------

    def save(
        self,
        path: str | Path,
        *,
        checkup: Checkup | None = None,
        metrics: Mapping[str, Any] | None = None,
        held_out: Sequence[Hashable] = (),
    ) -> None:
        """Write the fitted model as a folder: weights, configuration, history, report, and a card to read.

        Args:
            path: the folder to write; a model that is there is replaced.
            checkup: floors and ceiling of the data for the card, from `check_graphs`.
            metrics: further figures for the card, such as accuracy on held-out graphs.
            held_out: ids of graphs that were kept apart to test the model; a loaded model has them as ``held_out_``.
        """
        self._check_fitted()
        arrays, values = self.ensemble_.to_state()
        settings = {**self._settings(), "ensemble": values, "metrics": dict(metrics or {})}
        settings |= {"ids": self._plain_ids(), "held_out": plain_ids(held_out or getattr(self, "held_out_", ()))}
        files: dict[str, Arrays] = {**arrays, "training": {"hashes": self.hashes_}}
        if hasattr(self, "out_of_fold_"):
            probabilities, targets = self.out_of_fold_
            files["calibration"] = {"probabilities": probabilities, "targets": targets}
        if hasattr(self, "neighbours_"):
            files["neighbours"] = self.neighbours_.to_arrays()
        report = self.report_.to_dict() if hasattr(self, "report_") else None
        card = write_card(self, checkup, metrics or {})
        save_model(path, settings, files, histories=self.histories_, card=card, report=report)

    def _restore(self, saved: SavedModel) -> None:
        super()._restore(saved)
        if saved.report is not None:
            self.report_ = Report.from_dict(saved.report)

    def _plain_ids(self) -> list[str | int] | None:
        return None if self.ids_ is None or not hasattr(self, "neighbours_") else plain_ids(self.ids_)


def _notes_of_left_out(members: list[Member]) -> list[str]:
    left_out = [
        f"{member.label}/{name}" + (f" (about {seconds:.0f} s)" if np.isfinite(seconds) else "")
        for member in members
        for name, seconds in member.left_out.items()
    ]
    return [f"left out, for which the time budget is too short: {', '.join(left_out)}"] if left_out else []
