"""How many epochs a time budget allows for: the first are timed, and the schedule is then made to end with the last that fits."""

import statistics

from phist.training.config import TrainingConfig
from phist.training.history import History

TIMED_EPOCHS = 3  # at most; the first one alone is slower than the others
TIMED_SHARE = 0.2  # of the budget, at most: long epochs leave no time to measure several
RESERVE = 0.05  # of the time left, for epochs that take longer than those measured


def plan_epochs(history: History, config: TrainingConfig) -> None:
    """Once enough epochs were timed, write into ``history`` how many there will be; from then on it is not changed."""
    done, budget = len(history.epochs), config.time_budget
    if budget is None or history.planned is not None or not done:
        return
    if done < TIMED_EPOCHS and history.seconds < TIMED_SHARE * budget:
        return
    measured = history.epochs[1:] or history.epochs
    seconds = max(statistics.median(epoch.seconds for epoch in measured), 1e-6)
    fitting = max(0, int((1 - RESERVE) * (budget - history.seconds) / seconds))
    history.planned, history.timed = min(config.epochs, done + fitting), done


def epochs_at(history: History, config: TrainingConfig, number: int) -> int:
    """The epochs that the schedule of epoch ``number`` is made for."""
    return config.epochs if history.planned is None or number < history.timed else history.planned
