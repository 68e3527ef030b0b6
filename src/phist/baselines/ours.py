"""Our own methods: the network with our recipe under each head and under all, as printed, and its ablations."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from phist.baselines.forests import accuracy_of
from phist.baselines.method import Account, Method, Task
from phist.errors import ModelFileError
from phist.graphs.graphset import GraphSet

if TYPE_CHECKING:
    from phist.baselines.ours_options import OurOptions
    from phist.estimators import StructuralClassifier
    from phist.estimators.base import Head

LAST_EPOCH = "last epoch of an annealed schedule, which validation has no part in"
CLEARLY = 2  # standard errors of a difference
_DOUBT = 1e-3  # least probability that counts in the log-loss: a forest's zero is no certainty


class StructuralMethod(Method):
    """A network, or several of different seeds, trained on the training part and used under one of ``heads``."""

    family = "phist"
    heads: ClassVar["tuple[Head, ...]"] = ("linear",)
    fixed: ClassVar[dict[str, Any]] = {}  # options that make the method what it is
    prefix: ClassVar[str] = ""  # of the preset's name

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if options:  # so that a study with options nobody knows does not begin; without any, torch need not be loaded
            self._settings()

    def prepare(self) -> None:
        from phist.engine.compiling import prepare

        if self._settings().estimator.get("engine") != "reference":
            prepare()

    def fit(self, task: Task) -> Self:
        self._task = task
        self._checkpoints: list[Path] = []
        with _torch_threads(task.threads):
            self._models = [self._train(task, number) for number in range(self._settings().ensemble)]
            self.account = Account(history=_history_of(self._models[0]), notes=self._notes())
            self._choose_head(task)
            self.account.training_accuracy = accuracy_of(self.predict(task.training), task.labels_of(task.training))
        for checkpoint in self._checkpoints:
            checkpoint.unlink(missing_ok=True)
        return self

    def predict(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._probabilities((self._head,), positions)[self._head]

    def _settings(self) -> "OurOptions":
        from phist.baselines.ours_options import sort_options

        return sort_options(self.name, {**self.options, **self.fixed}, self.heads)

    def _train(self, task: Task, number: int) -> "StructuralClassifier":
        from phist.baselines.ours_options import preset_of
        from phist.estimators import StructuralClassifier

        seed = task.seed if number == 0 else int(np.random.default_rng((task.seed, number)).integers(2**31))
        settings = self._settings()
        parameters = {"preset": preset_of(task.dataset, self.prefix), **settings.estimator}
        head = settings.candidates[0] if len(settings.candidates) == 1 else "all"
        checkpoint = self._checkpoint(task, parameters["preset"], number)
        if checkpoint is not None:
            self._checkpoints.append(checkpoint)
            self.earlier_seconds += _seconds_in(checkpoint)
        model = StructuralClassifier(**parameters, head=head, random_state=seed, progress=None, checkpoint=checkpoint)
        return model.fit(task.graphs[task.training], task.labels_of(task.training), validation=_validation_of(task))

    def _checkpoint(self, task: Task, preset: str, number: int) -> Path | None:
        """Where a network's training goes on when its cell is killed: until the cell is done, and for this cell alone."""
        from phist.training.presets import make_preset

        folder = None if task.cache is None else _writable(task.cache / "unfinished")
        if folder is None:
            return None
        recipe = make_preset(preset, task.graphs[task.training])  # one that was changed since does not meet the old file
        digest = hashlib.sha256(task.training.tobytes() + task.validation.tobytes())
        digest.update(repr((self.name, sorted(self.options.items()), recipe, task.seed, task.threads)).encode())
        return folder / f"{digest.hexdigest()[:32]}-{number}.safetensors"

    def _choose_head(self, task: Task) -> None:
        """The first candidate, unless the validation part speaks clearly for another; every one's figures are kept."""
        labels, candidates = task.labels_of(task.validation), self._settings().candidates
        found = self._probabilities(candidates, task.validation)
        figures = {head: _figures(found[head], labels) for head in candidates}
        self._head = _clearly_best({head: found[head].argmax(1) == labels for head in candidates})
        self.account.tried = [{"head": head, **figures[head]} for head in candidates]
        self.account.chosen = {"head": self._head, **_chosen_of(self._models[0])}
        self.account.validation_accuracy = figures[self._head]["validation_accuracy"]

    def _probabilities(self, heads: "tuple[Head, ...]", positions: NDArray[np.int64]) -> "dict[Head, NDArray[np.float64]]":
        """By each of ``heads``, the mean over networks: (graphs, classes)."""
        graphs, n_classes = self._task.graphs[positions], self._task.n_classes
        with _torch_threads(self._task.threads):
            shares = [_class_probabilities(model, heads, graphs, n_classes) for model in self._models]
        return {head: np.mean([share[head] for share in shares], axis=0) for head in heads}

    def _notes(self) -> list[str]:
        notes = []
        if len(self._models) > 1:
            notes.append(f"probabilities averaged over {len(self._models)} seeds; the history is the first one's")
        ending = self._models[0].history_.ending
        if ending != "finished":
            notes.append(f"training ended before its last epoch: {ending}")
        return notes


class PhistLinear(StructuralMethod):
    """Our recipe under the paper's linear head."""

    name = "phist-linear"
    selection = LAST_EPOCH


class PhistForest(StructuralMethod):
    """Our recipe's embeddings of graphs, averaged over realisations, and of nodes, under extra trees."""

    name = "phist-forest"
    selection = LAST_EPOCH
    heads = ("forest",)


class PhistKernel(StructuralMethod):
    """Kernel ridge regression on our recipe's embeddings of nodes."""

    name = "phist-kernel"
    selection = LAST_EPOCH
    heads = ("kernel",)


class Phist(StructuralMethod):
    """Our recipe under all heads: the mean of their probabilities, or one of them that is clearly better.

    The option ``candidates`` names the heads to choose from, the one to take in doubt first.
    """

    name = "phist"
    selection = (
        f"{LAST_EPOCH}; the mean of the probabilities of three heads, unless the validation accuracy of one head alone is higher "
        "by more than two standard errors of the difference"
    )
    heads = ("all", "linear", "forest", "kernel")


class PhistPaper(StructuralMethod):
    """The network and its training as printed."""

    name = "phist-paper"
    selection = "epoch of the lowest validation loss"
    prefix = "paper:"

    def skip(self, dataset: str) -> str | None:
        from phist.training.presets import appendix_name

        return None if appendix_name(dataset) else f"the paper's appendix has no sizes for {dataset}"


class PhistSum(StructuralMethod):
    """Our recipe with sums in place of histograms, the paper's first ablation."""

    name = "phist-sum"
    selection = LAST_EPOCH
    fixed: ClassVar[dict[str, Any]] = {"aggregation": "sum"}


class PhistDeterministic(StructuralMethod):
    """Our recipe with every node as a root, in training and in use, the paper's second ablation."""

    name = "phist-deterministic"
    selection = LAST_EPOCH
    fixed: ClassVar[dict[str, Any]] = {"roots": "all"}


METHODS: tuple[type[Method], ...] = (Phist, PhistLinear, PhistForest, PhistKernel, PhistPaper, PhistSum, PhistDeterministic)


def _writable(folder: Path) -> Path | None:
    """``folder``, or nothing where it cannot be written to: that costs a killed run time, and nobody a result."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _seconds_in(checkpoint: Path) -> float:
    """How long training took up to ``checkpoint``; one that cannot be read is removed, so that training begins anew."""
    from phist.training.checkpoint import load_checkpoint

    if not checkpoint.exists():
        return 0.0
    try:
        return load_checkpoint(checkpoint).history.seconds
    except ModelFileError:
        checkpoint.unlink()
        return 0.0


def _validation_of(task: Task) -> "tuple[Any, Any] | None":
    """The validation graphs of classes that occur in training; the network has no output for others."""
    known = np.isin(task.labels_of(task.validation), task.labels_of(task.training))
    seen = task.validation[known]
    return (task.graphs[seen], task.labels_of(seen)) if len(seen) else None


def _class_probabilities(
    model: "StructuralClassifier", heads: "tuple[Head, ...]", graphs: GraphSet, n_classes: int
) -> "dict[Head, NDArray[np.float64]]":
    """By each of ``heads``, with a column for every class, those that are missing in training included."""
    found = {head: np.zeros((len(graphs), n_classes)) for head in heads}
    if len(graphs):
        for head, probabilities in model.predict_proba_by(heads, graphs).items():
            found[head][:, model.classes_] = probabilities
    return found


def _history_of(model: "StructuralClassifier") -> list[dict[str, Any]]:
    rows = [asdict(epoch) for epoch in model.history_.epochs]
    return [{"epoch": row.pop("number"), **row} for row in rows]


def _chosen_of(model: "StructuralClassifier") -> dict[str, Any]:
    config = model.training_config_
    return {
        "epoch": model.history_.best,
        "epochs": config.epochs,
        "learning_rate": config.learning_rate,
        "weight_decay": config.weight_decay,
        "engine": getattr(model, "engine_", "reference"),
    }


def _clearly_best(right: "dict[Head, NDArray[np.bool_]]") -> "Head":
    """The first head, or the one with the greatest lead over it, where that is more than two standard errors.

    Of graphs on which two heads differ, each is right on half if they are equally good: what one leads by then has a
    deviation of the square root of their number.
    """
    first, *others = right
    best, greatest = first, 0
    for head in others:
        lead = int(right[head].sum()) - int(right[first].sum())
        if lead > greatest and lead**2 > CLEARLY**2 * (right[head] != right[first]).sum():
            best, greatest = head, lead
    return best


def _figures(probabilities: NDArray[np.float64], labels: NDArray[np.int64]) -> dict[str, float | None]:
    given = probabilities[np.arange(len(labels)), labels]
    return {
        "validation_accuracy": accuracy_of(probabilities, labels),
        "validation_log_loss": float(-np.log(np.maximum(given, _DOUBT)).mean()) if len(labels) else None,
    }


@contextmanager
def _torch_threads(count: int) -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
