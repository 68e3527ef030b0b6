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
VALIDATED = 5  # of so many graphs of a sample, one validates
SMALL, LARGE = 0.5, 0.1  # shares of the graphs: the smaller ones to learn from, the largest to test on
SHUFFLE = 12345  # the random state of the folds on which the paper's baselines were compared


@dataclass(frozen=True, eq=False)
class Split:
    """Three parts of a dataset, as sorted positions; together they are all of it, unless it is a sample or by size."""

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
            ``size`` cuts the smaller half of the graphs into ten folds, validates on one, learns from the others and tests
            on the largest tenth, whatever the fold.
        fold: the test fold, from 0 to 9.
        seed: of the inner split of ``fair``; the other protocols ignore it.
        repeat: the shuffle of ``repeated``; the first is the paper's.
        no_duplicates: keep graphs that 1-WL cannot tell apart in one part, so that no answer can be remembered.
    """
    check_choice("protocol", protocol, (*FOLD_PROTOCOLS, "size"))
    check_choice("fold", fold, range(FOLDS))
    if repeat < 0 or (repeat and protocol != "repeated"):
        raise ConfigError(f"repeat={repeat} was given for the protocol {protocol}; 'repeated' takes 0 or more, the others 0 only")
    codes, groups = _class_codes(graphs), _groups(graphs) if no_duplicates else None

    if protocol == "size":
        return _split_by_size(graphs, codes, groups, fold)
    folds = _cut(codes, groups, FOLDS, SHUFFLE + repeat)
    test = folds[fold]
    if protocol != "fair":
        return _split(len(graphs), folds[fold - 1], test)
    rest = np.setdiff1d(np.arange(len(graphs)), test)
    inner = _cut(codes[rest], None if groups is None else groups[rest], FOLDS - 1, _inner_state(seed, fold))
    return _split(len(graphs), rest[inner[0]], test)


def sample_split(split: Split, codes: Positions, *, labelled: int | None, tested: int | None, state: int) -> Split:
    """A part of a split: so many labelled graphs, a fifth of which validates, and so many test graphs.

    Samples hold every class in its share, at least once where there is room; a smaller one is a part of a larger one.

    Args:
        codes: the class of every graph of the dataset.
        labelled: how many graphs to learn from and to choose by; ``None`` keeps both parts as they are.
        tested: how many to test on; ``None`` keeps all.
        state: what is drawn from.
    """
    training, validation, test = split.training, split.validation, split.test
    if labelled is not None:
        pool = np.sort(np.concatenate([training, validation]))
        if not 2 * VALIDATED <= labelled <= len(pool):
            raise ConfigError(
                f"labelled={labelled} was given; a number from {2 * VALIDATED} to {len(pool)}, of this set, is needed"
            )
        kept = pool[_stratified_order(codes[pool], state)[:labelled]]
        last = np.argsort(_class_shares(codes[kept], first=1), kind="stable")[: labelled // VALIDATED]
        validation, training = np.sort(kept[last]), np.sort(np.delete(kept, last))
    if tested is not None and tested < len(test):
        test = np.sort(test[_stratified_order(codes[test], state + 1)[:tested]])
    return Split(training, validation, test)


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


def _split_by_size(graphs: GraphSet, codes: Positions, groups: Positions | None, fold: int) -> Split:
    order = np.argsort(graphs.node_counts(), kind="stable")
    small, large = np.sort(order[: int(SMALL * len(order))]), np.sort(order[len(order) - int(LARGE * len(order)) :])
    if len(np.unique(codes[small])) < 2 or len(small) < 2 * FOLDS or not len(large):
        raise GraphInputError(
            f"the smaller half of the set has {len(small)} graphs of {len(np.unique(codes[small]))} classes; 'size' needs "
            f"{2 * FOLDS} of two: use another set"
        )
    folds = _cut(codes[small], None if groups is None else groups[small], FOLDS, SHUFFLE)
    return Split(np.delete(small, folds[fold]), small[folds[fold]], large)


def _stratified_order(codes: Positions, state: int) -> Positions:
    """All places in an order of which every beginning has the classes in their shares, and each once as early as can be."""
    shuffled = np.random.default_rng(state).permutation(len(codes))
    return shuffled[np.argsort(_class_shares(codes[shuffled]), kind="stable")]


def _class_shares(codes: Positions, first: int = 0) -> NDArray[np.float64]:
    """For every graph, which share of its class stands before it; with ``first=1`` the graph itself counts."""
    shares = np.zeros(len(codes))
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        shares[members] = (np.arange(len(members)) + first) / len(members)
    return shares


def _inner_state(seed: int, fold: int) -> int:
    """Other numbers for other seeds and folds, so that the inner splits of two folds have nothing in common."""
    return int(np.random.SeedSequence([SHUFFLE, seed, fold]).generate_state(1)[0])


def _split(n_graphs: int, validation: Positions, test: Positions) -> Split:
    training = np.setdiff1d(np.arange(n_graphs), np.concatenate([validation, test]))
    return Split(training, np.sort(validation), np.sort(test))
