"""The structural network: one for each part of the graphs, trained without it, under each of several heads."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from phist.checks import finite_number, whole_number
from phist.engine.choice import choose_engine
from phist.errors import ModelFileError, check_choice
from phist.estimators.combining import LEAST, mixture, softmax, temper, weigh
from phist.estimators.heads import HEADS
from phist.estimators.heads.head import Head
from phist.estimators.heads.kernel import MOST_GRAPHS
from phist.estimators.heads.linear import LinearHead
from phist.estimators.members.member import Arrays, Lesson, Member, Probabilities
from phist.estimators.members.rehearsal import Rehearsal
from phist.estimators.network_file import network_arrays, network_from_arrays
from phist.estimators.trained import Features, TrainedNetwork
from phist.graphs.graphset import GraphSet
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.training.bag import Bag, BagTraining, Look
from phist.training.checkpoint import State
from phist.training.config import TrainingConfig
from phist.training.history import Ending, History
from phist.training.inference import Inference
from phist.training.loop import Examples, Trainer, copy_state, fit_network
from phist.training.presets import Preset
from phist.training.windows import is_windowed

MOST_NETWORKS = 100  # in one model


class Network(Member):
    """A bag of networks. A predictor is a head: the mean over networks of the logarithms of its probabilities.

    Args:
        preset: shape and training of each network.
        heads: names of the heads to fit.
        engine, inference: how the networks are computed.
        label: tells several bags apart.
        first: number of the first network, where several bags are numbered together.
    """

    name = "network"

    def __init__(
        self,
        preset: Preset,
        heads: tuple[str, ...],
        engine: str = "auto",
        inference: Inference = "auto",
        label: str = "network",
        first: int = 0,
    ) -> None:
        self.preset, self.predictors, self.label, self.first = preset, heads, label, first
        self.engine, self.inference = engine, inference
        self.trained: list[TrainedNetwork] = []
        self.heads: list[dict[str, Head]] = []
        self.histories: list[History] = []
        self.seen: list[Features] = []  # of each network what it sees of the training graphs, while the estimator is fitted
        self.bag = Bag()

    # Fitting ----------------------------------------------------------------------------------------------------------

    def fit(self, lesson: Lesson) -> Mapping[str, Probabilities]:
        parts = range(lesson.parts.held_out)
        trainers = [self._trainer(lesson, part) for part in parts]
        deadline = None if lesson.deadline is None else lesson.deadline - self._choose_heads(trainers[0], lesson)
        training = BagTraining(
            trainers,
            lambda states: self._look(states, lesson),
            run=self._run_name(lesson),
            checkpoint=lesson.checkpoint,
            first=self.first,
            deadline=deadline,
            fewest=1 if self.first == 0 else self.preset.training.cycle_ends()[0],
            progress=lesson.progress,
        )
        try:
            self.bag = training.train()
        except KeyboardInterrupt:
            self.bag.ending = "interrupted"
        self.histories = [trainer.history for trainer in trainers]
        if not self.bag.states:
            if self.bag.ending == "time budget":
                self.left_out = {**self.left_out, **dict.fromkeys(self.predictors, np.inf)}
            self.predictors = ()
            return {}
        if self.bag.ending == "interrupted":
            self.predictors = self.predictors[:1]  # the other heads take longer than anybody waits after Ctrl-C
        self.trained = [self._trained(part, state, lesson) for part, state in enumerate(self.bag.states)]
        return self._fit_heads(lesson)

    def _trainer(self, lesson: Lesson, part: int) -> Trainer:
        chosen = lesson.parts.training(part)
        network = make_network(self.preset.network, lesson.n_classes, _seed(lesson, part))
        config = replace(self.preset.training, seed=_seed(lesson, part))
        engine = choose_engine(self.engine, network, lesson.graphs)
        return Trainer(network, lesson.examples.part(chosen), None, config, engine)

    def _trained(self, part: int, state: State, lesson: Lesson) -> TrainedNetwork:
        network = make_network(self.preset.network, lesson.n_classes, _seed(lesson, part))
        network.load_state_dict(state)
        return TrainedNetwork(network.eval(), _seed(lesson, part), self.engine, self.inference, lesson.progress)

    def _choose_heads(self, trainer: Trainer, lesson: Lesson) -> float:
        """Leave out heads that there is no time for, and return the seconds that will be needed after training.

        A network that has not learnt yet takes as long to use as one that has. The first head is always fitted.
        """
        if is_windowed(lesson.graphs):
            return 0.0
        rehearsal, n_networks = Rehearsal(lesson), lesson.parts.held_out
        trained = self._trained(0, copy_state(trainer.network), lesson)

        def use(few: Lesson) -> Features:
            features = Features(trained, few.graphs, both=self._both_levels)
            for name in self.predictors:
                HEADS[name].look_at(features)
            return features

        features = use(rehearsal.few)
        rehearsal.planned = rehearsal.seconds(use, times=1 + n_networks)  # a look takes as long as one network in use

        def fit(few: Lesson, name: str) -> None:
            weights = few.examples.weights
            HEADS[name].fit(features, few.examples.targets, weights, lesson.n_classes, lesson.seed, 1 / n_networks)

        chosen = [
            name
            for name in self.predictors[1:]
            if rehearsal.has_time_for(name, partial(fit, name=name), HEADS[name].growth, later=2 * n_networks)
        ]
        self.predictors, self.left_out = (self.predictors[0], *chosen), rehearsal.left_out
        return min(rehearsal.planned, max(0.0, lesson.seconds_left()))

    def _look(self, states: list[State], lesson: Lesson) -> tuple[NDArray[np.float64], float]:
        """The log-loss of each graph that its network has not seen, by the linear head among what is known, and the accuracy."""
        found, targets, asked = lesson.blank(), lesson.examples.targets, lesson.parts.asked
        for part, state in enumerate(states):
            test = lesson.parts.test(part)
            features = Features(self._trained(part, state, lesson), lesson.graphs, test)
            found[test] = LinearHead().predict_proba(features)
        candidates = {**lesson.known, self.label: temper(found[asked], targets[asked])[0]}
        return _losses(candidates, targets[asked])

    def _fit_heads(self, lesson: Lesson) -> Mapping[str, Probabilities]:
        found = {name: lesson.blank() for name in self.predictors}
        for part, trained in enumerate(self.trained):
            features, test = Features(trained, lesson.graphs, both=self._both_levels), lesson.parts.test(part)
            for name in self.predictors if not is_windowed(lesson.graphs) else ():
                HEADS[name].look_at(features)  # at all graphs at once, before they are split
            without = self._heads_of(features, lesson.examples, lesson.parts.training(part), lesson.n_classes)
            for name, head in without.items():
                found[name][test] = head.predict_proba(features.part(test))
            everything = np.arange(len(lesson.examples.targets))
            self.heads.append(self._heads_of(features, lesson.examples, everything, lesson.n_classes))
            self.seen.append(features)
        return found

    @property
    def _both_levels(self) -> bool:
        """Whether the heads look at both levels of a network, one or several of them."""
        views = {HEADS[name].view for name in self.predictors}
        return "both_levels" in views or len(views) > 1

    def _heads_of(self, features: Features, examples: Examples, chosen: NDArray[np.int64], n_classes: int) -> dict[str, Head]:
        own, targets, weights = features.part(chosen), examples.targets[chosen], examples.weights[chosen]
        share = 1 / max(1, len(self.trained))
        return {name: HEADS[name].fit(own, targets, weights, n_classes, features.trained.seed, share) for name in self.predictors}

    def fit_whole(self, lesson: Lesson, validation: Examples | None) -> None:
        """Train one network on all graphs, as the paper does; ``validation`` selects the epoch where the training asks for it."""
        examples, seed = lesson.examples, lesson.seed
        network = make_network(self.preset.network, lesson.n_classes, seed)
        config = replace(self.preset.training, seed=seed)
        engine = choose_engine(self.engine, network, examples.graphs)
        history = fit_network(
            network, examples, validation, config,
            engine=engine, checkpoint=lesson.checkpoint, run=self._run_name(lesson), progress=lesson.progress,
        )  # fmt: skip
        self.histories, self.bag.ending = [history], history.ending
        self.trained = [TrainedNetwork(network, seed, self.engine, self.inference, lesson.progress)]
        features = Features(self.trained[0], examples.graphs)
        self.heads = [self._heads_of(features, examples, np.arange(len(examples.targets)), lesson.n_classes)]

    def _run_name(self, lesson: Lesson) -> str:
        settings = {"network": self.preset.network.to_dict(), "training": self.preset.training.to_dict(), "seed": lesson.seed}
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
        examples = lesson.examples
        for content in (examples.targets, examples.weights, lesson.parts.number):
            digest.update(np.ascontiguousarray(content).tobytes())
        digest.update(examples.graphs.fingerprint().encode())
        return digest.hexdigest()

    def notes(self, lesson: Lesson) -> Iterable[str]:
        if self.bag.ending == "time budget" and not self.trained:
            return  # told with what else was left out
        if self.bag.ending != "finished":
            yield f"training of the networks ended before its last cycle: {self.bag.ending}"
        if not self.trained:
            yield "no network was ready in time; what is predicted comes from hand-made descriptions alone"
        if "kernel" in self.predictors and len(lesson.graphs) > MOST_GRAPHS:
            yield f"the kernel head compares with {MOST_GRAPHS:,} of the {len(lesson.graphs):,} graphs, drawn at random"

    # Use --------------------------------------------------------------------------------------------------------------

    def predict_proba(self, graphs: GraphSet) -> Mapping[str, Probabilities]:
        return self.predict_features(self.features(graphs))

    def features(self, graphs: GraphSet) -> list[Features]:
        """What each network sees of graphs, computed when it is asked for."""
        return [Features(trained, graphs, both=self._both_levels) for trained in self.trained]

    def predict_features(self, seen: list[Features]) -> Mapping[str, Probabilities]:
        """`predict_proba`, given what each network sees."""
        logs: dict[str, list[Probabilities]] = {name: [] for name in self.predictors}
        for features, heads in zip(seen, self.heads, strict=True):
            for name in self.predictors:
                logs[name].append(np.log(np.maximum(heads[name].predict_proba(features), LEAST)))
        return {name: softmax(np.mean(own, axis=0)) for name, own in logs.items()}

    def use(self, engine: str, inference: Inference, progress: bool | None) -> None:
        """Compute this way from now on."""
        self.engine, self.inference = engine, inference
        self.trained = [replace(trained, engine=engine, inference=inference, progress=progress) for trained in self.trained]

    def keep(self, predictors: Iterable[str]) -> None:
        kept = set(predictors)
        self.predictors = tuple(name for name in self.predictors if name in kept)
        self.heads = [{name: heads[name] for name in self.predictors} for heads in self.heads]

    # On disk ----------------------------------------------------------------------------------------------------------

    def to_state(self) -> tuple[Arrays, dict[str, Any]]:
        arrays: Arrays = {}
        for number, (trained, heads) in enumerate(zip(self.trained, self.heads, strict=True)):
            arrays |= {f"{number}.network.{name}": array for name, array in network_arrays(trained.network).items()}
            for name, head in heads.items():
                arrays |= {f"{number}.{name}.{key}": array for key, array in head.to_arrays().items()}
        values = {
            "network": self.preset.network.to_dict(),
            "training": self.preset.training.to_dict(),
            "heads": list(self.predictors),
            "seeds": [trained.seed for trained in self.trained],
            "engine": self.engine,
            "inference": self.inference,
            "looks": [asdict(look) for look in self.bag.looks],
            "best": self.bag.best,
            "ending": self.bag.ending,
        }
        return arrays, values

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any], n_classes: int) -> Self:
        try:
            preset = Preset(NetworkConfig.from_dict(values["network"]), TrainingConfig(**values["training"]))
            member = cls(preset, tuple(values["heads"]), values["engine"], values["inference"])
            member.bag = _bag(values["looks"], values["best"], values["ending"])
            seeds = [whole_number("seed", seed, least=0) for seed in values["seeds"]]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the model's network cannot be read ({error!r:.200}); save the model again") from error
        if member.predictors and not seeds:
            raise ModelFileError("the model's network has heads and no weights; save the model again")
        if not set(member.predictors) <= set(HEADS) or len(seeds) > MOST_NETWORKS:
            raise ModelFileError(f"the model has heads {values['heads']!r:.100} or more networks than {MOST_NETWORKS}")
        for number, seed in enumerate(seeds):
            own = _below(arrays, f"{number}.")
            network = network_from_arrays(preset.network, n_classes, _below(own, "network."))
            member.trained.append(TrainedNetwork(network, seed, member.engine, member.inference))
            heads = {name: HEADS[name].from_arrays(_below(own, f"{name}."), network, n_classes) for name in member.predictors}
            member.heads.append(heads)
        return member

    def describe(self) -> str:
        epochs = self.bag.looks[self.bag.best].epochs if self.bag.looks else 0
        networks = "1 structural network" if len(self.trained) == 1 else f"{len(self.trained)} structural networks"
        heads = f"{', '.join(self.predictors)} {'head' if len(self.predictors) == 1 else 'heads'}"
        return f"{networks} of {epochs} epochs under the {heads}"


def _bag(looks: list[dict[str, Any]], best: Any, ending: Any) -> Bag:
    """What a saved model tells of its training."""
    for look in looks:
        whole_number("epochs", look["epochs"], least=1)
        finite_number("log_loss", look["log_loss"], least=0)
        finite_number("accuracy", look["accuracy"], least=0, most=1)
    check_choice("ending", ending, get_args(Ending))
    whole_number("best", best, least=-1, most=len(looks) - 1)
    return Bag([], [Look(**look) for look in looks], best, ending)


def _below(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _losses(candidates: Mapping[str, Probabilities], targets: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
    """The log-loss of each graph under the mixture of these candidates, and the mixture's accuracy."""
    combined, _ = temper(mixture(candidates, weigh(candidates, targets)), targets)
    given = combined[np.arange(len(targets)), targets]
    return -np.log(np.maximum(given, LEAST)), float((combined.argmax(1) == targets).mean())


def _seed(lesson: Lesson, part: int) -> int:
    return int(np.random.default_rng((lesson.seed, part)).integers(2**31))
