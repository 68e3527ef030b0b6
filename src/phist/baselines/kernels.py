"""The six graph kernels of the paper, on structure alone, each under a support vector machine.

The paper ran GraKeL's kernels on graphs whose attributes were all zero, with GraKeL's default parameters, except for fewer
iterations of WL/shortest-path and fewer samples of graphlets; how many, it does not say. Here every kernel has the default
parameters, in direct forms for graphs without labels that are fast enough to need no cuts, and the values of GraKeL, apart
from one slip of it in SVM-theta and one in graphlet sampling, which are named where they are avoided.
"""

from abc import abstractmethod
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from phist.baselines.method import Method, Task
from phist.baselines.options import check_above_zero, check_positive, read_options
from phist.errors import GraphInputError
from phist.graphs.canonical import in_canonical_order
from phist.graphs.graphset import GraphSet

Gram = NDArray[np.float64]
LARGEST_GRAM = 4e9  # bytes: the matrix, its copy for the training part and the machine share the memory of a laptop


@dataclass(frozen=True)
class KernelOptions:
    """What every kernel may be told."""

    penalties: tuple[float, ...] = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)  # C, over seven decades

    def __post_init__(self) -> None:
        check_above_zero(penalties=self.penalties)


@dataclass(frozen=True)
class RefinementOptions(KernelOptions):
    """Of the Weisfeiler-Lehman kernels."""

    rounds: int = 5  # GraKeL's default

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(rounds=self.rounds)


@dataclass(frozen=True)
class PyramidOptions(KernelOptions):
    """Of the pyramid match kernel."""

    levels: int = 4  # GraKeL's default: cells of 1, 1/2, 1/4 and 1/8
    dimensions: int = 6  # GraKeL's default

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(levels=self.levels, dimensions=self.dimensions)


@dataclass(frozen=True)
class ThetaOptions(KernelOptions):
    """Of the SVM-theta kernel."""

    samples: int = 50  # GraKeL's default

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(samples=self.samples)


@dataclass(frozen=True)
class GraphletOptions(KernelOptions):
    """Of the graphlet sampling kernel."""

    samples: int = 5617  # what GraKeL derives from its default precision and confidence, 0.05 each, for graphlets of 5 nodes

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(samples=self.samples)


class KernelMethod(Method):
    """A kernel's Gram matrix over all graphs of the set, which needs no label, and a machine on the part that is trained on."""

    family = "kernel"
    selection = "C of the highest validation accuracy, the smallest among equals"
    randomized = False
    libraries = ("phist.baselines.kernel_machine",)
    options_kind: ClassVar[type[KernelOptions]] = KernelOptions
    note: ClassVar[str | None] = None  # how the figure differs from the paper's

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        read_options(self.options_kind, self.name, options)

    def skip_size(self, n_graphs: int) -> str | None:
        return _too_many(n_graphs)

    @abstractmethod
    def gram(self, graphs: GraphSet, options: Any, seed: int) -> Gram:
        """Raw similarities of all pairs of graphs."""

    def fit(self, task: Task) -> Self:
        from phist.baselines.kernel_machine import KernelMachine
        from phist.descriptors.grams.cache import kept_gram

        options = read_options(self.options_kind, self.name, self.options)
        if reason := _too_many(len(task.graphs)):
            raise GraphInputError(f"{self.name} cannot be run on this set: {reason}; leave it out of the study")
        graphs = _plain(task.graphs)
        settings = {name: value for name, value in asdict(options).items() if name != "penalties"}
        key = settings | {"seed": task.seed} if self.randomized else settings
        gram = kept_gram(task.cache, graphs, self.name, key, lambda: self.gram(graphs, options, task.seed))
        self._machine = KernelMachine(gram, options.penalties)
        self.account = self._machine.fit(task)
        self.account.chosen |= settings
        self.account.notes += [self.note] if self.note else []
        return self

    def predict(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Softmax of the machine's decision values: right in their order, not calibrated."""
        return self._machine.predict(positions)


class WLSubtree(KernelMethod):
    """Colour counts in every round of Weisfeiler-Lehman refinement."""

    name = "wl-subtree"
    options_kind = RefinementOptions

    def gram(self, graphs: GraphSet, options: RefinementOptions, seed: int) -> Gram:
        from phist.descriptors.grams.wl_subtree import wl_subtree_gram

        return wl_subtree_gram(graphs, options.rounds)


class ShortestPath(KernelMethod):
    """Pairs of nodes by their distance."""

    name = "shortest-path"

    def gram(self, graphs: GraphSet, options: KernelOptions, seed: int) -> Gram:
        from phist.descriptors.grams.shortest_path import shortest_path_gram

        return shortest_path_gram(graphs)


class WLShortestPath(KernelMethod):
    """Pairs of nodes by their colours and their distance, in every round of Weisfeiler-Lehman refinement."""

    name = "wl-shortest-path"
    options_kind = RefinementOptions
    note = "the paper took fewer rounds than GraKeL's default of 5, without saying how many"

    def gram(self, graphs: GraphSet, options: RefinementOptions, seed: int) -> Gram:
        from phist.descriptors.grams.wl_shortest_path import wl_shortest_path_gram

        return wl_shortest_path_gram(graphs, options.rounds)


class PyramidMatch(KernelMethod):
    """Nodes as points given by eigenvectors, matched in cells of four sizes."""

    name = "pyramid-match"
    options_kind = PyramidOptions

    def gram(self, graphs: GraphSet, options: PyramidOptions, seed: int) -> Gram:
        from phist.descriptors.grams.pyramid_match import pyramid_match_gram

        return pyramid_match_gram(graphs, options.levels, options.dimensions)


class SVMTheta(KernelMethod):
    """Weights of nodes from a one-class machine, averaged over random subsets."""

    name = "svm-theta"
    note = "inner products of the values for all sizes of subsets; GraKeL compares those for subsets of two nodes only"
    options_kind = ThetaOptions
    randomized = True

    def gram(self, graphs: GraphSet, options: ThetaOptions, seed: int) -> Gram:
        from phist.descriptors.grams.svm_theta import svm_theta_gram

        return svm_theta_gram(graphs, options.samples, seed)


class GraphletSampling(KernelMethod):
    """Kinds of small graphs on randomly drawn nodes."""

    name = "graphlet-sampling"
    note = "the paper drew fewer samples than GraKeL would by default, without saying how many"
    options_kind = GraphletOptions
    randomized = True

    def gram(self, graphs: GraphSet, options: GraphletOptions, seed: int) -> Gram:
        from phist.descriptors.grams.graphlets import graphlet_gram

        return graphlet_gram(graphs, options.samples, seed)


def _too_many(n_graphs: int) -> str | None:
    """Why a set has too many graphs for a Gram matrix, if it has."""
    size = 8.0 * n_graphs**2
    if size <= LARGEST_GRAM:
        return None
    return (
        f"the Gram matrix of {n_graphs:,} graphs takes {size / 1e9:.1f} GB, more than the {LARGEST_GRAM / 1e9:.0f} GB allowed; "
        "a linear machine on sparse counts would be another method"
    )


def _plain(graphs: GraphSet) -> GraphSet:
    """The graphs as the kernels see them: undirected edges, all alike, nodes in canonical order.

    Kernels that draw nodes draw the same ones of all graphs of a size, and eigenvectors of equal eigenvalues come as the nodes
    are numbered: in the order of a file both would show it.
    """
    if graphs.directed:
        raise GraphInputError('the graphs are directed; the kernels need undirected ones: read them with directed="symmetrise"')
    return in_canonical_order(replace(graphs, weights=None, labels=None)).graphs


METHODS: tuple[type[Method], ...] = (WLSubtree, WLShortestPath, SVMTheta, ShortestPath, PyramidMatch, GraphletSampling)
