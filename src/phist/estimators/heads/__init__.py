"""Heads: classifiers on what a trained network sees of graphs."""

from phist.estimators.heads.forest import ForestHead
from phist.estimators.heads.head import Head
from phist.estimators.heads.kernel import KernelHead
from phist.estimators.heads.linear import LinearHead

HEADS: dict[str, type[Head]] = {head.name: head for head in (LinearHead, ForestHead, KernelHead)}
