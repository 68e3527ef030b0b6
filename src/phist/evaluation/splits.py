"""Splits: which graphs a method learns from, chooses by, and is tested on."""

import hashlib
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phist.errors import ConfigError, GraphInputError, check_choice
from phist.evaluation.cell import FOLD_PROTOCOLS, Protocol
from phist.graphs.datasets import load_split
from phist.graphs.graphset import GraphSet
from phist.graphs.symmetry import weisfeiler_lehman_hashes

Positions = NDArray[np.int64]

FOLDS = 10
SHUFFLE = 12345  # the random state of the folds on which the paper's baselines were compared


@dataclass(frozen=True, eq=False)
class Split:
    """Three parts of a dataset, as sorted positions; together they are all of it."""

    training: Positions
    validation: Positions
    test: Positions

    @property
    def hash(self) -> str:
        """16 hexadecimal digits, equal for equal parts."""
        digest = hashlib.sha256()
        for part in (self.training, self.validation, self.test):
            digest.update(len(part).to_bytes(8, "little") + part.astype("<i8").tobytes())
        return digest.hexdigest()[:16]


def make_split(
    graphs: GraphSet, protocol: Protocol, fold: int, *, seed: int = 0, repeat: int = 0, no_duplicates: bool = False
) -> Split:
    """The split of a labelled set for one test fold of ten.

    Args:
        graphs: the set, with its labels, by which folds are stratified.
        protocol: ``paper`` validates on the fold before the test fold. ``fair`` tests on the same folds and validates on
            a ninth of the rest, drawn by ``seed``. ``repeated`` is ``paper`` with another shuffle in every repeat.
        fold: the test fold, from 0 to 9.
        seed: of the inner split of ``fair``; the other protocols ignore it.
        repeat: the shuffle of ``repeated``; the first is the paper's.
        no_duplicates: keep graphs that 1-WL cannot tell apart in one part, so that no answer can be remembered.
    """
    check_choice("protocol", protocol, FOLD_PROTOCOLS)
    check_choice("fold", fold, range(FOLDS))
    if repeat < 0 or (repeat and protocol != "repeated"):
        raise ConfigError(f"repeat={repeat} was given for the protocol {protocol}; 'repeated' takes 0 or more, the others 0 only")
    codes, groups = _class_codes(graphs), _groups(graphs) if no_duplicates else None

    folds = _cut(codes, groups, FOLDS, SHUFFLE + repeat)
    test = folds[fold]
    if protocol != "fair":
        return _split(len(graphs), folds[fold - 1], test)
    rest = np.setdiff1d(np.arange(len(graphs)), test)
    inner = _cut(codes[rest], None if groups is None else groups[rest], FOLDS - 1, _inner_state(seed, fold))
    return _split(len(graphs), rest[inner[0]], test)


def official_split(dataset: str) -> Split:
    """The split that a dataset comes with, such as MOLHIV; one that has none is a `DatasetError`."""
    return Split(*load_split(dataset))


def count_folds(protocol: Protocol) -> int:
    """How many splits a dataset has, for one shuffle and seed."""
    return 1 if protocol == "official" else FOLDS


def class_codes(graphs: GraphSet) -> tuple[NDArray[np.int64], list[str]]:
    """Every label as the number of its class, and the names of the classes in that order."""
    if graphs.labels is None:
        raise GraphInputError("the graphs have no labels; a study needs them: use a dataset that carries labels")
    numbers = {label: number for number, label in enumerate(graphs.classes)}
    codes = np.array([numbers[label] for label in graphs.label_list()], dtype=np.int64)
    return codes, [str(label) for label in graphs.classes]


def _class_codes(graphs: GraphSet) -> NDArray[np.int64]:
    codes, names = class_codes(graphs)
    largest = int(np.bincount(codes).max()) if len(codes) else 0
    if len(names) < 2 or largest < FOLDS:
        raise GraphInputError(
            f"the set has {len(names)} classes, the largest with {largest} graphs; {FOLDS} folds need 2 classes and a class of "
            f"{FOLDS} graphs: use a larger set"
        )
    return codes


def _groups(graphs: GraphSet) -> Positions:
    distinct, groups = np.unique(weisfeiler_lehman_hashes(graphs), return_inverse=True)
    if len(distinct) < FOLDS:
        raise GraphInputError(
            f"1-WL tells only {len(distinct)} kinds of graphs apart; {FOLDS} folds without duplicates need {FOLDS}: "
            "allow duplicates, or use another set"
        )
    return groups.astype(np.int64)


def _cut(codes: Positions, groups: Positions | None, n_folds: int, state: int) -> list[Positions]:
    """The test parts of stratified folds that keep groups together."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    folds = kind(n_folds, shuffle=True, random_state=state)
    with warnings.catch_warnings():  # a class with fewer members than folds is missing in some: nothing to be done about it
        warnings.simplefilter("ignore", UserWarning)
        return [test.astype(np.int64) for _, test in folds.split(codes, codes, groups)]


def _inner_state(seed: int, fold: int) -> int:
    """Other numbers for other seeds and folds, so that the inner splits of two folds have nothing in common."""
    return int(np.random.SeedSequence([SHUFFLE, seed, fold]).generate_state(1)[0])


def _split(n_graphs: int, validation: Positions, test: Positions) -> Split:
    training = np.setdiff1d(np.arange(n_graphs), np.concatenate([validation, test]))
    return Split(training, np.sort(validation), np.sort(test))
