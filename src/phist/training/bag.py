"""A bag of networks, each trained without one part of the graphs: cycle by cycle, for as long as the graphs left out gain."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phist.errors import ModelFileError
from phist.training.checkpoint import State, fits_network, load_snapshot, save_snapshot
from phist.training.history import Ending
from phist.training.loop import Trainer, copy_state
from phist.training.progress import TrainingProgress

CLEAR = 2.0  # standard errors by which a cycle must lower the log-loss for another, twice as long, to follow


@dataclass(frozen=True)
class Look:
    """What graphs left out said of the networks at the foot of a cycle."""

    epochs: int
    log_loss: float
    accuracy: float


@dataclass
class Bag:
    """The networks' weights at the best look, all looks, and why training ended."""

    states: list[State] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    best: int = -1
    ending: Ending = "finished"


class BagTraining:
    """Trains networks side by side.

    Args:
        trainers: one for each network, all of one configuration.
        look: asks weights, one set for each network, about the graphs left out: the loss of each, and the accuracy.
        run: a name for what is trained on what; files of another run are not continued.
        checkpoint: what the names of files begin with in which a killed training goes on, or ``None``.
        first: number of the first network in the names of these files, where several bags share them.
        deadline: on the clock of `time.monotonic`; no cycle begins that would end later, and the first is shortened to fit.
        fewest: epochs that the first cycle may be shortened to; where not even they fit, nothing is trained.
        progress: whether to show a bar; on a terminal, unless given.
    """

    def __init__(
        self,
        trainers: Sequence[Trainer],
        look: Callable[[list[State]], tuple[NDArray[np.float64], float]],
        *,
        run: str = "",
        checkpoint: Path | None = None,
        first: int = 0,
        deadline: float | None = None,
        fewest: int = 1,
        progress: bool | None = None,
    ) -> None:
        self.trainers, self.look, self.run = trainers, look, run
        self.checkpoint, self.first, self.progress = checkpoint, first, progress
        self.deadline, self.fewest = deadline, fewest
        self.bag = Bag()
        self._losses: NDArray[np.float64] | None = None  # of each graph left out, at the best look

    def train(self) -> Bag:
        """All cycles, or until one does not pay, time is up, or Ctrl-C; the best one counts."""
        ends = self.trainers[0].config.cycle_ends()
        try:
            with TrainingProgress(self.progress, ends[-1] * len(self.trainers), len(self.trainers)) as bar:
                for number, trainer in enumerate(self.trainers):
                    self._resume(number, trainer)
                for end in self._planned_ends(bar):
                    if self.bag.looks and not self._fits(end):
                        self.bag.ending = "time budget"
                        break
                    states = [self._train_until(number, end, bar) for number in range(len(self.trainers))]
                    if not self._pays(end, states):
                        break
        except KeyboardInterrupt:
            if not self.bag.looks:
                raise
            self.bag.ending = "interrupted"
        return self.bag

    def _pays(self, end: int, states: list[State]) -> bool:
        """Whether one that is twice as long may be worth its time: after the first cycle, and whenever the loss clearly fell."""
        losses, accuracy = self.look(states)
        gains = None if self._losses is None else self._losses - losses
        self.bag.looks.append(Look(end, float(losses.mean()), accuracy))
        if gains is None or gains.mean() > 0:
            self.bag.best, self.bag.states, self._losses = len(self.bag.looks) - 1, states, losses
        clear = gains is None or bool(gains.mean() > CLEAR * gains.std() / np.sqrt(len(gains)))
        return bool(self.trainers[0].group.agree(clear))

    def _fits(self, end: int) -> bool:
        """Whether the cycle up to ``end`` can be done in time, as epochs have taken so far."""
        done = sum(len(trainer.history.epochs) for trainer in self.trainers)
        if self.deadline is None or not done:
            return True
        seconds = sum(trainer.history.seconds for trainer in self.trainers) / done
        return (end * len(self.trainers) - done) * seconds < self._seconds_left()

    def _seconds_left(self) -> float:
        """Until the deadline, by the clock of the first process."""
        return np.inf if self.deadline is None else self.trainers[0].group.agree(self.deadline - time.monotonic())

    def _train_until(self, number: int, end: int, bar: TrainingProgress) -> State:
        trainer, snapshot = self.trainers[number], self._file(number, end)
        known = None if snapshot is None or len(trainer.history.epochs) < end else load_snapshot(snapshot, self.run)
        if known is not None and fits_network(known, trainer.network):
            return known
        if len(trainer.history.epochs) > end:
            raise ModelFileError(f"{snapshot} is missing or damaged; remove the checkpoint's other files too, to start afresh")
        with trainer.computation.at_work():
            while len(trainer.history.epochs) < end:
                bar.show(trainer.run_epoch())
                if (file := self._file(number)) is not None:
                    trainer.save(file, self.run)
        state = copy_state(trainer.network)
        if snapshot is not None and trainer.group.is_first:
            save_snapshot(snapshot, state, self.run)
        return state

    def _planned_ends(self, bar: TrainingProgress) -> list[int]:
        """The ends of all cycles; where time is too short for the first, one cycle of as many epochs as fit, or none."""
        first, ends = self.trainers[0], self.trainers[0].config.cycle_ends()
        if self.deadline is None:
            return ends
        if not first.history.epochs:  # one has to be timed
            with first.computation.at_work():
                bar.show(first.run_epoch())
        done = [len(trainer.history.epochs) for trainer in self.trainers]
        if min(done) >= ends[0] or self._fits(ends[0]):
            return ends
        self.bag.ending = "time budget"
        seconds = sum(trainer.history.seconds for trainer in self.trainers) / sum(done)
        affordable = int((self._seconds_left() / seconds + sum(done)) / len(done))
        epochs = max(*done, min(ends[0], affordable))
        if epochs < self.fewest:
            return []
        for trainer in self.trainers:
            trainer.config = replace(trainer.config, epochs=epochs, restarts=0)
        return [epochs]

    def _resume(self, number: int, trainer: Trainer) -> None:
        file = self._file(number)
        if file is not None and file.exists():
            trainer.resume(file, self.run)

    def _file(self, number: int, end: int | None = None) -> Path | None:
        """Where a network is kept: as it is now, or as it was at the foot of a cycle."""
        if self.checkpoint is None:
            return None
        return Path(f"{self.checkpoint}.{self.first + number}" + ("" if end is None else f".{end}"))
