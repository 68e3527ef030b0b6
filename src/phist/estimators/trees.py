"""Trees: a grown forest as plain arrays, which can be saved and loaded without executing anything."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from phist.errors import ModelFileError

_LEAF = -1
_KINDS = {"first": np.int64, "left": np.int32, "right": np.int32, "feature": np.int32, "threshold": np.float64, "share": np.float64}


@dataclass(frozen=True)
class Trees:
    """The nodes of all trees, one tree after the other; a tree's root is its first node, and children come after their parent.

    Attributes:
        first: (trees + 1): where each tree begins, and the number of all nodes.
        left, right: (nodes): where a graph goes whose feature is at most, or above, the threshold; -1 at a leaf.
        feature, threshold: (nodes): what an inner node asks.
        share: (nodes, classes): of the training graphs that came to a node, the share of each class.
    """

    first: NDArray[np.int64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    share: NDArray[np.float64]

    @classmethod
    def from_sklearn(cls, forest: Any, n_classes: int) -> Self:
        """The trees of a fitted forest whose classes are numbers below ``n_classes``."""
        trees = [estimator.tree_ for estimator in forest.estimators_]
        first = np.cumsum([0, *(tree.node_count for tree in trees)])
        share = np.zeros((first[-1], n_classes))
        share[:, forest.classes_] = np.concatenate([tree.value[:, 0, :] for tree in trees])
        return cls(
            first=first.astype(np.int64),
            left=_moved([tree.children_left for tree in trees], first),
            right=_moved([tree.children_right for tree in trees], first),
            feature=np.concatenate([tree.feature for tree in trees]).astype(np.int32),
            threshold=np.concatenate([tree.threshold for tree in trees]),
            share=share / share.sum(1, keepdims=True),
        )

    def predict_proba(self, features: NDArray[Any]) -> NDArray[np.float64]:
        """The mean over trees of the shares in the leaves that each row of ``features`` comes to: (rows, classes)."""
        rows = np.asarray(features, dtype=np.float32)  # trees were grown on single precision, and ask it
        total = np.zeros((len(rows), self.share.shape[1]))
        for root in self.first[:-1]:
            total += self.share[self._leaves(rows, int(root))]
        return total / (len(self.first) - 1)

    def _leaves(self, rows: NDArray[np.float32], root: int) -> NDArray[np.int64]:
        node = np.full(len(rows), root, dtype=np.int64)
        going = np.flatnonzero(self.left[node] != _LEAF)
        while len(going):
            at = node[going]
            goes_left = rows[going, self.feature[at]] <= self.threshold[at]
            node[going] = np.where(goes_left, self.left[at], self.right[at])
            going = going[self.left[node[going]] != _LEAF]
        return node

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """By name, ready to be saved."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_features: int, n_classes: int) -> Self:
        """The inverse of `to_arrays`; arrays that are no trees, or trees of other features and classes, are a `ModelFileError`."""
        for name, kind in _KINDS.items():
            if name not in arrays or arrays[name].dtype != kind:
                raise ModelFileError(f"the forest's {name!r} is missing or not {np.dtype(kind)}; save the model again")
        trees = cls(**{name: arrays[name] for name in _KINDS})
        fault = trees._fault(n_features, n_classes)
        if fault:
            raise ModelFileError(f"the saved forest cannot be used: {fault}; save the model again")
        return trees

    def _fault(self, n_features: int, n_classes: int) -> str | None:
        """What is wrong with arrays from a file: whoever follows them must neither leave them nor run in a circle."""
        flat = (self.left, self.right, self.feature, self.threshold)
        nodes = len(self.left)
        if any(array.shape != (nodes,) for array in flat) or self.share.shape != (nodes, n_classes):
            return f"its arrays are not of one length with {n_classes} classes"
        if (
            self.first.ndim != 1
            or len(self.first) < 2
            or self.first[0] != 0
            or self.first[-1] != nodes
            or (self.first < 0).any()  # before differences, which could wrap around
            or (self.first > nodes).any()
            or (np.diff(self.first) < 1).any()
        ):
            return "its trees do not follow one another"
        inner = np.flatnonzero(self.left != _LEAF)
        end_of_tree = np.repeat(self.first[1:], np.diff(self.first))[inner]
        for children in (self.left[inner], self.right[inner]):
            if (children <= inner).any() or (children >= end_of_tree).any():
                return "a node's child does not come after it in its tree"
        if ((self.feature[inner] < 0) | (self.feature[inner] >= n_features)).any():
            return f"a node asks for a feature that is not among {n_features}"
        if not np.isfinite(self.threshold).all() or (self.share < 0).any() or not np.allclose(self.share.sum(1), 1):
            return "its thresholds or shares are not proper numbers"
        return None


def grow_trees(
    rows: NDArray[Any],
    targets: NDArray[np.int64],
    weights: NDArray[np.float64],
    n_classes: int,
    n_trees: int,
    seed: int,
) -> Trees:
    """Extra trees on ``rows``; they depend on the seed only."""
    from sklearn.ensemble import ExtraTreesClassifier

    forest = ExtraTreesClassifier(n_trees, random_state=seed, n_jobs=1)
    return Trees.from_sklearn(forest.fit(rows, targets, sample_weight=weights), n_classes)


def _moved(children: list[NDArray[np.int64]], first: NDArray[np.int64]) -> NDArray[np.int32]:
    """Numbers of nodes within a tree as numbers among all nodes."""
    moved = [np.where(numbers == _LEAF, _LEAF, numbers + start) for numbers, start in zip(children, first, strict=False)]
    return np.concatenate(moved).astype(np.int32)
