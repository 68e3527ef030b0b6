"""Our own methods: the estimator as users have it, its networks alone, one network under each head or as printed, and ablations."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from phist.baselines.forests import accuracy_of
from phist.baselines.method import Account, Method, Task
from phist.errors import ConfigError, ModelFileError

if TYPE_CHECKING:
    from phist.estimators import StructuralClassifier

LAST_EPOCH = "last epoch of an annealed schedule, which validation has no part in"
COVERAGE = 0.9  # of the sets of classes whose hits are counted on validation graphs
OUT_OF_FOLD = "epochs, weights and temperatures by out-of-fold predictions of the training graphs, which validation has no part in"


class PhistMethod(Method):
    """A `StructuralClassifier` fitted to the training part."""

    family = "phist"
    libraries = (
        "phist.estimators.classifier", "phist.training.loop", "scipy.linalg", "scipy.optimize",
        "sklearn.decomposition", "sklearn.ensemble", "sklearn.linear_model", "sklearn.model_selection", "sklearn.neighbors",
    )  # fmt: skip
    fixed: ClassVar[Mapping[str, Any]] = {}  # parameters that make the method what it is
    networks_of: ClassVar[str] = ""  # the method that trains the same networks, where there is one
    leaves_networks: ClassVar[bool] = False  # in the cache, for a method that trains the same

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if options:  # so that a study with options nobody knows does not begin; without any, torch need not be loaded
            from phist.baselines.phist_options import check_parameters

            check_parameters(self._options())

    def prepare(self) -> None:
        from phist.engine.compiling import prepare

        super().prepare()
        if self._options().get("engine") != "reference":
            prepare()

    def fit(self, task: Task) -> Self:
        from phist.estimators import StructuralClassifier

        self._task = task
        parameters = self.parameters(task)
        checkpoint = self._checkpoint(task, parameters)
        self.earlier_seconds = _seconds_in(checkpoint)
        self._model = StructuralClassifier(**parameters, random_state=task.seed, progress=None, checkpoint=checkpoint)
        with _torch_threads(task.threads):
            try:
                self._fit_model(task)
            except (ModelFileError, ConfigError):
                if not _remove(checkpoint):
                    raise
                self.earlier_seconds = 0.0  # what was there is damaged, or from before the defaults were changed
                self._fit_model(task)
        self.account = self._account()
        if not self.leaves_networks:
            _remove(checkpoint)
        return self

    def _fit_model(self, task: Task) -> None:
        self._model.fit(task.graphs[task.training], task.labels_of(task.training), **self._further(task))

    def predict(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """With a column for every class, those that are missing in training included."""
        found = np.zeros((len(positions), self._task.n_classes))
        if len(positions):
            with _torch_threads(self._task.threads):
                found[:, self._model.classes_] = self._model.predict_proba(self._task.graphs[positions])
        return found

    def parameters(self, task: Task) -> dict[str, Any]:
        """Of the estimator, for this task."""
        return self._options()

    def _options(self) -> dict[str, Any]:
        from phist.baselines.phist_options import estimator_parameters

        return estimator_parameters(self.name, {**self.options, **self.fixed})

    def _further(self, task: Task) -> dict[str, Any]:
        """What the estimator is fitted with besides."""
        return {}

    def _account(self) -> Account:
        account = Account(chosen=_chosen_of(self._model), history=_history_of(self._model))
        if hasattr(self._model, "report_"):
            account.tried = [asdict(candidate) for candidate in self._model.report_.candidates]
            account.notes = list(self._model.report_.notes)
        return account

    def look_back(self) -> None:
        task, account = self._task, self.account
        account.training_accuracy = accuracy_of(self.predict(task.training), task.labels_of(task.training))
        account.validation_accuracy = accuracy_of(self.predict(task.validation), task.labels_of(task.validation))
        if hasattr(self._model, "report_"):
            account.chosen["sets"] = self._measure_sets(task)

    def _measure_sets(self, task: Task) -> dict[str, float]:
        """How often the class of a validation graph, which the estimator has not seen, is in its set, and how large sets are."""
        sets = self._model.predict_set(task.graphs[task.validation], COVERAGE)
        hits = [own in found for own, found in zip(task.labels_of(task.validation), sets, strict=True)]
        sizes = [len(found) for found in sets]
        return {"promised": COVERAGE, "reached": float(np.mean(hits)), "size": float(np.mean(sizes))} if sets else {}

    def _checkpoint(self, task: Task, parameters: Mapping[str, Any]) -> Path | None:
        """Where a cell goes on when it is killed: until it is done, and for this cell and those that train the same networks."""
        common = {name: value for name, value in parameters.items() if name not in ("members", "heads")}
        return _checkpoint_of(task, self.networks_of or self.name, common)


class Phist(PhistMethod):
    """The estimator as users have it: no option, the same on every dataset."""

    name = "phist"
    selection = OUT_OF_FOLD
    leaves_networks = True


class PhistNetwork(PhistMethod):
    """The estimator with its structural networks alone, no hand-made description beside them.

    Where the whole estimator was fitted to the same graphs before, its networks are not trained again: only how many of their
    cycles to take, heads and weights are decided anew. The time of their training counts for both.
    """

    name = "phist-network"
    selection = OUT_OF_FOLD
    fixed: ClassVar[Mapping[str, Any]] = {"members": "network"}
    networks_of = Phist.name


class PhistLow(PhistMethod):
    """The estimator with low effort."""

    name = "phist-low"
    selection = OUT_OF_FOLD
    fixed: ClassVar[Mapping[str, Any]] = {"effort": "low"}


class PhistHigh(PhistMethod):
    """The estimator with high effort."""

    name = "phist-high"
    selection = OUT_OF_FOLD
    fixed: ClassVar[Mapping[str, Any]] = {"effort": "high"}


class OneNetwork(PhistMethod):
    """One network with the appendix's sizes for the dataset, trained as our recipe or the paper says."""

    prefix: ClassVar[str] = ""  # of the preset's name

    def parameters(self, task: Task) -> dict[str, Any]:
        from phist.baselines.phist_options import preset_of

        return {"preset": preset_of(task.dataset, self.prefix), "inference": "sampled", **self._options()}

    def _account(self) -> Account:
        from phist.training.presets import make_preset

        account, task = super()._account(), self._task
        usual = make_preset(self.parameters(task)["preset"], task.graphs[task.training]).training.epochs
        if self.options.get("epochs", usual) != usual:
            account.notes.append(f"{self.options['epochs']:,} epochs instead of {usual:,}")
        return account

    def _further(self, task: Task) -> dict[str, Any]:
        """The validation graphs of classes that occur in training; the network has no output for others."""
        known = np.isin(task.labels_of(task.validation), task.labels_of(task.training))
        seen = task.validation[known]
        return {"validation": (task.graphs[seen], task.labels_of(seen))} if len(seen) else {}


class PhistLinear(OneNetwork):
    """Our recipe under the paper's linear head. The network serves the two methods below, and counts in the time of all three."""

    name = "phist-linear"
    selection = LAST_EPOCH
    fixed: ClassVar[Mapping[str, Any]] = {"heads": "linear"}
    leaves_networks = True


class PhistForest(OneNetwork):
    """Our recipe's embeddings of graphs, averaged over realisations, and of nodes, under extra trees."""

    name = "phist-forest"
    selection = LAST_EPOCH
    fixed: ClassVar[Mapping[str, Any]] = {"heads": "forest"}
    networks_of = PhistLinear.name
    leaves_networks = True


class PhistKernel(OneNetwork):
    """Kernel ridge regression on our recipe's embeddings of nodes."""

    name = "phist-kernel"
    selection = LAST_EPOCH
    fixed: ClassVar[Mapping[str, Any]] = {"heads": "kernel"}
    networks_of = PhistLinear.name


class PhistPaper(OneNetwork):
    """The network and its training as printed."""

    name = "phist-paper"
    selection = "epoch of the lowest validation loss"
    prefix = "paper:"

    def skip(self, dataset: str) -> str | None:
        from phist.training.presets import appendix_name

        return None if appendix_name(dataset) else f"the paper's appendix has no sizes for {dataset}"


class PhistPaperSum(PhistPaper):
    """The same with sums in place of histograms, the paper's first ablation as printed."""

    name = "phist-paper-sum"
    fixed: ClassVar[Mapping[str, Any]] = {"aggregation": "sum"}


class PhistPaperDeterministic(PhistPaper):
    """The same with every node as a root, the paper's second ablation as printed."""

    name = "phist-paper-deterministic"
    fixed: ClassVar[Mapping[str, Any]] = {"roots": "all"}


class PhistSum(OneNetwork):
    """Our recipe with sums in place of histograms, the paper's first ablation."""

    name = "phist-sum"
    selection = LAST_EPOCH
    fixed: ClassVar[Mapping[str, Any]] = {"aggregation": "sum"}


class PhistDeterministic(OneNetwork):
    """Our recipe with every node as a root, in training and in use, the paper's second ablation."""

    name = "phist-deterministic"
    selection = LAST_EPOCH
    fixed: ClassVar[Mapping[str, Any]] = {"roots": "all"}


METHODS: tuple[type[Method], ...] = (
    Phist, PhistNetwork, PhistLow, PhistHigh, PhistLinear, PhistForest, PhistKernel, PhistSum, PhistDeterministic,
    PhistPaper, PhistPaperSum, PhistPaperDeterministic,
)  # fmt: skip


def _checkpoint_of(task: Task, name: str, parameters: Mapping[str, Any]) -> Path | None:
    folder = None if task.cache is None else _writable(task.cache / "unfinished")
    if folder is None:
        return None
    digest = hashlib.sha256(task.training.tobytes() + task.validation.tobytes())
    digest.update(repr((name, sorted(parameters.items()), task.seed, task.threads)).encode())
    return folder / digest.hexdigest()[:32]


def _writable(folder: Path) -> Path | None:
    """``folder``, or nothing where it cannot be written to: that costs a killed run time, and nobody a result."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _files_of(checkpoint: Path | None) -> list[Path]:
    return [] if checkpoint is None else sorted(checkpoint.parent.glob(f"{checkpoint.name}*"))


def _remove(checkpoint: Path | None) -> bool:
    """Delete the files of a checkpoint; true if there were any."""
    files = _files_of(checkpoint)
    for file in files:
        file.unlink(missing_ok=True)
    return bool(files)


def _seconds_in(checkpoint: Path | None) -> float:
    """How long training took up to these files; those that cannot be read are removed, so that training begins anew."""
    from phist.training.checkpoint import load_checkpoint

    seconds = 0.0
    for file in _files_of(checkpoint):
        try:
            if file.name.count(".") < 2:  # others are networks at the ends of cycles
                seconds += load_checkpoint(file).history.seconds
        except ModelFileError:
            file.unlink()
    return seconds


def _history_of(model: "StructuralClassifier") -> list[dict[str, Any]]:
    """Epoch by epoch, of the first network."""
    rows = [asdict(epoch) for history in model.histories_[:1] for epoch in history.epochs]
    return [{"epoch": row.pop("number"), **row} for row in rows]


def _chosen_of(model: "StructuralClassifier") -> dict[str, Any]:
    chosen: dict[str, Any] = {"weights": {name: round(weight, 4) for name, weight in model.ensemble_.weights.items()}}
    if hasattr(model, "report_"):
        chosen["out_of_fold"] = model.report_.metrics.to_dict()
    for member in model._members():
        if member.bag.looks:
            chosen["epochs"] = member.bag.looks[member.bag.best].epochs
            chosen["looks"] = [asdict(look) for look in member.bag.looks]
        elif member.histories:
            chosen |= {"epoch": member.histories[0].best, "epochs": len(member.histories[0].epochs)}
    return chosen


@contextmanager
def _torch_threads(count: int) -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
