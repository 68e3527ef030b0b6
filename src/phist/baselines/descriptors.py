"""Rivals that look at hand-made descriptions of a graph: local degree and topological profiles, and the spectrum."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, get_args

import numpy as np

from phist.baselines.feature_cache import computed_once
from phist.baselines.forests import CHOICE, ForestMethod, Settings
from phist.baselines.method import Method, Task
from phist.baselines.options import check_above_zero, check_positive, read_options
from phist.descriptors.profiles import Profile, Scale, degree_profile, edge_profile, histograms
from phist.descriptors.spectrum import smallest_eigenvalues
from phist.errors import ConfigError, check_choice
from phist.graphs.arrays import Array


@dataclass(frozen=True)
class ProfileOptions:
    """What is chosen from for a profile."""

    bins: tuple[int, ...] = (20, 50)  # 50 is the authors' default; small graphs may do better with fewer
    scales: tuple[Scale, ...] = ("own", "shared")  # the authors', and one in which values mean the same in every graph
    trees: int = 500  # as in the topological profile's paper

    def __post_init__(self) -> None:
        check_positive(bins=self.bins, trees=self.trees)
        if not self.scales:
            raise ConfigError(f"scales=[] was given; name one or more of {', '.join(get_args(Scale))}")
        for scale in self.scales:
            check_choice("scales", scale, get_args(Scale))


@dataclass(frozen=True)
class SpectrumOptions:
    """What is chosen from for the spectrum."""

    shares: tuple[float, ...] = (
        0.5,
        1.0,
        2.0,
    )  # eigenvalues, as a multiple of the mean number of nodes, which is the authors' rule
    most: int = 256  # eigenvalues at most, so that the table of a set of large graphs stays small
    trees: int = 500

    def __post_init__(self) -> None:
        check_positive(most=self.most, trees=self.trees)
        check_above_zero(shares=self.shares)


class _Descriptor(ForestMethod):
    family = "descriptor"
    selection = CHOICE
    options_kind: ClassVar[type[Any]] = ProfileOptions

    def forest(self, task: Task) -> Any:
        from sklearn.ensemble import RandomForestClassifier

        trees = read_options(self.options_kind, self.name, self.options).trees
        return RandomForestClassifier(n_estimators=trees, random_state=task.seed, n_jobs=task.threads)


class LocalDegreeProfile(_Descriptor):
    """Histograms of nodes' degrees and of the extremes, means and standard deviations of their neighbours' degrees."""

    name = "ldp"

    def candidates(self, task: Task) -> Iterator[tuple[Settings, Array]]:
        options = read_options(ProfileOptions, self.name, self.options)
        profiles = self.profiles(task)
        for scale, bins in product(options.scales, options.bins):
            tables = [histograms(profile, bins, scale, task.training) for profile in profiles]
            yield {"scale": scale, "bins": bins}, np.concatenate(tables, axis=1)

    def profiles(self, task: Task) -> list[Profile]:
        """What is counted in histograms."""
        arrays = computed_once(task.graphs, "degree-profile-1", task.cache, lambda: vars(degree_profile(task.graphs)))
        return [Profile(**arrays)]


class LocalTopologicalProfile(LocalDegreeProfile):
    """The same, and histograms of the edges' betweenness, Jaccard index and local degree score."""

    name = "ltp"

    def profiles(self, task: Task) -> list[Profile]:
        arrays = computed_once(task.graphs, "edge-profile-1", task.cache, lambda: vars(edge_profile(task.graphs, task.threads)))
        return [*super().profiles(task), Profile(**arrays)]


class LaplacianSpectrum(_Descriptor):
    """The smallest eigenvalues of the normalised Laplacian."""

    name = "spectrum"
    options_kind = SpectrumOptions

    def candidates(self, task: Task) -> Iterator[tuple[Settings, Array]]:
        options = read_options(SpectrumOptions, self.name, self.options)
        mean_nodes = float(task.graphs.node_counts()[task.training].mean())
        counts = [min(options.most, max(1, round(share * mean_nodes))) for share in options.shares]
        arrays = computed_once(
            task.graphs,
            f"spectrum-1-{options.most}",
            task.cache,
            lambda: {"values": smallest_eigenvalues(task.graphs, min(options.most, int(task.graphs.node_counts().max())))},
        )
        for count in sorted(set(counts)):
            yield {"eigenvalues": count}, arrays["values"][:, :count]


METHODS: tuple[type[Method], ...] = (LocalDegreeProfile, LocalTopologicalProfile, LaplacianSpectrum)
