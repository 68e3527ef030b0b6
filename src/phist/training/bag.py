"""A bag of networks, each trained without one part of the graphs: cycle by cycle, for as long as the graphs left out profit."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from phist.errors import ModelFileError
from phist.training.checkpoint import State, load_snapshot, save_snapshot
from phist.training.finite import first_non_finite
from phist.training.history import Ending
from phist.training.loop import Trainer, copy_state
from phist.training.progress import TrainingProgress


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
        look: asks weights, one set for each network, about the graphs left out: their log-loss and accuracy.
        run: a name for what is trained on what; files of another run are not continued.
        checkpoint: what the names of files begin with in which a killed training goes on, or ``None``.
        deadline: on the clock of `time.monotonic`; no cycle begins that would end later, and the first is shortened to fit.
        progress: whether to show a bar; on a terminal, unless given.
    """

    def __init__(
        self,
        trainers: Sequence[Trainer],
        look: Callable[[list[State]], tuple[float, float]],
        *,
        run: str = "",
        checkpoint: Path | None = None,
        deadline: float | None = None,
        progress: bool | None = None,
    ) -> None:
        self.trainers, self.look, self.run = trainers, look, run
        self.checkpoint, self.deadline, self.progress = checkpoint, deadline, progress
        self.bag = Bag()

    def train(self) -> Bag:
        """All cycles, or until one does not lower the log-loss, time is up, or Ctrl-C; then the best cycle so far counts."""
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
                    if not self._improves(end, states):
                        break
        except KeyboardInterrupt:
            if not self.bag.looks:
                raise
            self.bag.ending = "interrupted"
        return self.bag

    def _improves(self, end: int, states: list[State]) -> bool:
        log_loss, accuracy = self.look(states)
        looks = self.bag.looks
        looks.append(Look(end, log_loss, accuracy))
        if self.bag.best >= 0 and log_loss >= looks[self.bag.best].log_loss:
            return False
        self.bag.best, self.bag.states = len(looks) - 1, states
        return True

    def _fits(self, end: int) -> bool:
        """Whether the cycle up to ``end`` can be done in time, as epochs have taken so far."""
        done = sum(len(trainer.history.epochs) for trainer in self.trainers)
        if self.deadline is None or not done:
            return True
        seconds = sum(trainer.history.seconds for trainer in self.trainers) / done
        return (end * len(self.trainers) - done) * seconds < self.deadline - time.monotonic()

    def _train_until(self, number: int, end: int, bar: TrainingProgress) -> State:
        trainer, snapshot = self.trainers[number], self._file(f"{number}.{end}")
        known = None if snapshot is None or len(trainer.history.epochs) < end else load_snapshot(snapshot, self.run)
        if known is not None and _is_of(known, trainer):
            return known
        if len(trainer.history.epochs) > end:
            raise ModelFileError(f"{snapshot} is missing or damaged; remove the checkpoint's other files too, to start afresh")
        with trainer.computation.at_work():
            while len(trainer.history.epochs) < end:
                bar.show(trainer.run_epoch())
                if (file := self._file(str(number))) is not None:
                    trainer.save(file, self.run)
        state = copy_state(trainer.network)
        if snapshot is not None:
            save_snapshot(snapshot, state, self.run)
        return state

    def _planned_ends(self, bar: TrainingProgress) -> list[int]:
        """The ends of all cycles; where time is too short for the first, one cycle of as many epochs as fit, at least one."""
        first, ends = self.trainers[0], self.trainers[0].config.cycle_ends()
        if self.deadline is None:
            return ends
        if not first.history.epochs:  # one has to be timed
            with first.computation.at_work():
                bar.show(first.run_epoch())
        done = [len(trainer.history.epochs) for trainer in self.trainers]
        if min(done) >= ends[0] or self._fits(ends[0]):
            return ends
        seconds = sum(trainer.history.seconds for trainer in self.trainers) / sum(done)
        affordable = int(((self.deadline - time.monotonic()) / seconds + sum(done)) / len(done))
        epochs = max(*done, min(ends[0], affordable))
        for trainer in self.trainers:
            trainer.config = replace(trainer.config, epochs=epochs, restarts=0)
        self.bag.ending = "time budget"
        return [epochs]

    def _resume(self, number: int, trainer: Trainer) -> None:
        file = self._file(str(number))
        if file is not None and file.exists():
            trainer.resume(file, self.run)

    def _file(self, suffix: str) -> Path | None:
        return None if self.checkpoint is None else Path(f"{self.checkpoint}.{suffix}")


def _is_of(state: State, trainer: Trainer) -> bool:
    """Whether weights from a file are such as the trainer's network has, all of them finite."""
    own = {name: (tensor.shape, tensor.dtype) for name, tensor in trainer.network.state_dict().items()}
    return own == {name: (tensor.shape, tensor.dtype) for name, tensor in state.items()} and first_non_finite(state) is None
