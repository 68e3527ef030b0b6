"""Ensemble: members, what their predictors weigh, and the temperatures that make probabilities of their answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from phist.checks import text_value
from phist.errors import GraphInputError, ModelFileError
from phist.estimators.combining import COLDEST, HOTTEST, at_temperature, log_loss_of, mixture, temper, weigh
from phist.estimators.members import MEMBERS
from phist.estimators.members.member import Arrays, Lesson, Member, Probabilities
from phist.estimators.members.network import Network
from phist.estimators.trained import Features
from phist.graphs.graphset import GraphSet


@dataclass(frozen=True)
class Candidate:
    """What graphs left out said of one predictor."""

    name: str  # of the member and the predictor
    accuracy: float
    log_loss: float  # once tempered
    temperature: float
    weight: float  # in the ensemble

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """What ``vars`` of a candidate was; accuracy and log-loss are not known of a single network."""
        numbers = {name: float(values[name]) for name in ("accuracy", "log_loss", "temperature", "weight")}
        return cls(text_value("name", values["name"]), **numbers)


@dataclass
class Ensemble:
    """Fitted members and how they are combined.

    Attributes:
        members: in the order of their fitting.
        candidates: all predictors, those without weight included.
        temperature: of the weighted mean.
    """

    members: list[Member]
    candidates: list[Candidate]
    temperature: float

    def predict_proba(self, graphs: GraphSet, seen: Mapping[str, list[Features]] | None = None) -> Probabilities:
        """Probabilities of the classes: (graphs, classes).

        Args:
            seen: by the label of a bag what its networks see of the graphs, where that is wanted for something else as well.
        """
        found: dict[str, Probabilities] = {}
        for member in self.members:
            if any(name.startswith(f"{member.label}/") for name in self.weights):
                known = None if seen is None else seen.get(member.label)
                own = (
                    member.predict_features(known)
                    if known is not None and isinstance(member, Network)
                    else member.predict_proba(graphs)
                )
                found |= {f"{member.label}/{name}": probabilities for name, probabilities in own.items()}
        return self._combine({name: found[name] for name in self.weights})

    @property
    def weights(self) -> dict[str, float]:
        """Of the predictors that have any."""
        return {candidate.name: candidate.weight for candidate in self.candidates if candidate.weight}

    def _combine(self, found: Mapping[str, Probabilities]) -> Probabilities:
        warmth = {candidate.name: candidate.temperature for candidate in self.candidates}
        tempered = {name: at_temperature(own, warmth[name]) for name, own in found.items()}
        return at_temperature(mixture(tempered, self.weights), self.temperature)

    def to_state(self) -> tuple[dict[str, Arrays], dict[str, Any]]:
        """Arrays by the member's label, and plain values."""
        arrays, members = {}, []
        for member in self.members:
            arrays[member.label], values = member.to_state()
            members.append({"kind": member.name, "label": member.label, "values": values})
        values = {
            "members": members,
            "candidates": [vars(candidate) for candidate in self.candidates],
            "temperature": self.temperature,
        }
        return arrays, values

    @classmethod
    def from_state(cls, arrays: Mapping[str, Arrays], values: Mapping[str, Any], n_classes: int) -> "Ensemble":
        """The inverse of `to_state`; what is no ensemble is a `ModelFileError`."""
        try:
            members = []
            for own in values["members"]:
                member = MEMBERS[own["kind"]].from_state(arrays[own["label"]], own["values"], n_classes)
                member.label = str(own["label"])
                members.append(member)
            candidates = [Candidate.from_dict(candidate) for candidate in values["candidates"]]
            ensemble = cls(members, candidates, float(values["temperature"]))
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, ModelFileError):
                raise
            raise ModelFileError(f"the model's members cannot be read ({error!r:.200}); save the model again") from error
        ensemble._check()
        return ensemble

    def _check(self) -> None:
        known = {f"{member.label}/{predictor}" for member in self.members for predictor in member.predictors}
        weights = [own.weight for own in self.candidates]
        temperatures = np.array([self.temperature, *(own.temperature for own in self.candidates)])
        proper = bool(((temperatures >= COLDEST) & (temperatures <= HOTTEST)).all())
        if not set(self.weights) <= known or not proper or not all(0 <= weight <= 1 for weight in weights) or not self.weights:
            raise ModelFileError("the weights of the model's members do not fit them; save the model again")


def fit_ensemble(members: Sequence[Member], lesson: Lesson) -> tuple[Ensemble, Probabilities]:
    """Fit all members, weigh their predictors, and forget those without weight; also what graphs left out were given.

    Returns:
        The ensemble, and the probabilities of the graphs in ``lesson.parts.asked`` by fits that had not seen them.
    """
    _check_weights(lesson)
    asked, targets = lesson.parts.asked, lesson.examples.targets[lesson.parts.asked]
    tempered: dict[str, Probabilities] = {}
    warmth: dict[str, float] = {}
    for member in members:
        is_optional = bool(tempered) or member is not members[-1]
        found = member.fit(replace(lesson, known=dict(tempered), optional=is_optional))
        for predictor, probabilities in found.items():
            name = f"{member.label}/{predictor}"
            tempered[name], warmth[name] = temper(probabilities[asked], targets)
    if not tempered:
        raise KeyboardInterrupt  # nothing was ready when training was interrupted
    weights = weigh(tempered, targets)
    combined, temperature = temper(mixture(tempered, weights), targets)
    candidates = [
        Candidate(
            name,
            accuracy=float((own.argmax(1) == targets).mean()),
            log_loss=log_loss_of(own, targets),
            temperature=warmth[name],
            weight=weights.get(name, 0.0),
        )
        for name, own in tempered.items()
    ]
    # Networks stay where their predictors have no weight: they embed and explain.
    fitted = [member for member in members if member.predictors or isinstance(member, Network)]
    for member in fitted:
        member.keep([name.partition("/")[2] for name in weights if name.partition("/")[0] == member.label])
    return Ensemble(fitted, candidates, temperature), combined


def _check_weights(lesson: Lesson) -> None:
    for part in range(lesson.parts.held_out):
        if not lesson.examples.weights[lesson.parts.training(part)].any():
            raise GraphInputError(
                "all graphs with a positive weight are in one part, and nothing is left to learn from without it; "
                "give more graphs a positive weight"
            )
