"""Scores and embeddings of many graphs: averages over draws of roots, or all nodes as roots."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from phist.checks import whole_number
from phist.engine.computation import Computation
from phist.errors import DivergenceError
from phist.nn.sampling import Draws, draw_all
from phist.progress import SlowProgress
from phist.training.config import MOST_REALIZATIONS
from phist.training.finite import check_finite

Inference = Literal["auto", "sampled", "exact"]
Measure = Literal["scores", "graph_embeddings"]
Sizes = NDArray[np.int64]


@torch.no_grad()
def average_over_roots(
    computation: Computation,
    measure: Measure,
    *,
    realizations: int,
    seed: int,
    inference: Inference = "auto",
    progress: bool | None = False,
) -> NDArray[np.float32]:
    """The mean of a measure over several draws of roots, or its value with every node as a root; one row per graph.

    The roots of a graph depend on ``seed`` and on its size, not on the other graphs or on the order they come in.

    Args:
        realizations: draws to average over; one is enough where nothing is random.
        inference: ``"auto"`` embeds a node once, whichever draws it is in: all nodes of a graph that has no more of them than
            the draws together have roots. ``"sampled"`` begins every draw afresh, as in training. ``"exact"`` shows f_graph every
            node, once.
        progress: whether to show a bar when it takes long; ``None`` shows it on a terminal.
    """
    sampler = computation.network.config.sampler
    realizations = whole_number("realizations", realizations, least=1, most=MOST_REALIZATIONS)
    if inference == "exact" or sampler.kind == "all":
        realizations, inference = 1, "exact"
    check_finite(computation.network)
    computation.network.eval()
    sizes = computation.sizes
    most_roots = {"exact": sizes, "auto": sampler.most_views(sizes, realizations), "sampled": sampler.most_roots(sizes)}[inference]
    result: NDArray[np.float32] | None = None
    with SlowProgress("computing graphs", len(sizes), progress) as bar, computation.at_work():
        for chosen in computation.batches(most_roots):
            own = sizes[chosen]
            if inference == "exact":
                embeddings = computation.graph_embeddings(chosen, draw_all(own))
            elif inference == "auto":
                embeddings = computation.mean_embeddings(chosen, sampler.views_by_size(own, seed, realizations))
            else:
                draws = [sampler.draw_by_size(own, (seed, number)) for number in range(realizations)]
                embeddings = torch.stack([computation.graph_embeddings(chosen, one) for one in draws]).mean(0)
            values = (computation.network.head(embeddings) if measure == "scores" else embeddings).cpu().numpy()
            _check_values(values, chosen)
            if result is None:
                result = np.zeros((len(sizes), values.shape[1]), values.dtype)
            result[chosen] = values
            bar.advance(len(chosen))
    return np.zeros((0, 0), np.float32) if result is None else result


def embed_nodes(computation: Computation, progress: bool | None = False) -> list[NDArray[np.float32]]:
    """For every graph the embeddings of its nodes, every node as a root."""
    found = dict(_nodes_of_each(computation, computation.sizes, draw_all, progress))
    return [found[graph] for graph in range(len(found))]


def node_moments(
    computation: Computation, *, realizations: int, seed: int, inference: Inference = "auto", progress: bool | None = False
) -> NDArray[np.float32]:
    """Mean and standard deviation of the embeddings of a graph's nodes, each as the root and counted once: (graphs, 2 · m_node).

    All nodes, or of a graph that has more of them than ``realizations`` draws have roots, those that are drawn.
    """
    sampler, sizes = computation.network.config.sampler, computation.sizes
    realizations = whole_number("realizations", realizations, least=1, most=MOST_REALIZATIONS)
    if inference == "exact" or sampler.kind == "all":
        nodes = _nodes_of_each(computation, sizes, draw_all, progress)
    else:
        most_roots = sampler.most_views(sizes, realizations)
        nodes = _nodes_of_each(computation, most_roots, lambda own: sampler.views_by_size(own, seed, realizations).roots, progress)
    result = np.zeros((len(sizes), 2 * computation.network.f_node.out_channels), np.float32)
    for graph, rows in nodes:
        result[graph] = _moments(rows)
    return result


@torch.no_grad()
def embed_both_levels(
    computation: Computation, *, realizations: int, seed: int, inference: Inference = "auto", progress: bool | None = False
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Graph embeddings by `average_over_roots` and `node_moments`; by ``"auto"`` inference in one pass over the nodes."""
    network, sizes = computation.network, computation.sizes
    sampler = network.config.sampler
    realizations = whole_number("realizations", realizations, least=1, most=MOST_REALIZATIONS)
    if inference != "auto" or sampler.kind == "all":
        how: Any = {"realizations": realizations, "seed": seed, "inference": inference, "progress": progress}
        return average_over_roots(computation, "graph_embeddings", **how), node_moments(computation, **how)
    check_finite(network)
    network.eval()
    embeddings = np.zeros((len(sizes), network.head.in_features), np.float32)
    moments = np.zeros((len(sizes), 2 * network.f_node.out_channels), np.float32)
    with SlowProgress("computing graphs", len(sizes), progress) as bar, computation.at_work():
        for chosen in computation.batches(sampler.most_views(sizes, realizations)):
            views = sampler.views_by_size(sizes[chosen], seed, realizations)
            graphs, nodes = (level.cpu().numpy() for level in computation.both_levels(chosen, views))
            _check_values(graphs, chosen)
            embeddings[chosen] = graphs
            moments[chosen] = [_moments(rows) for rows in np.split(nodes, views.roots.ptr[1:-1])]
            bar.advance(len(chosen))
    return embeddings, moments


def _nodes_of_each(
    computation: Computation, most_roots: Sizes, draw: Callable[[Sizes], Draws], progress: bool | None
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Every graph's position with the embeddings of the nodes that ``draw`` takes from graphs of such sizes."""
    check_finite(computation.network)
    computation.network.eval()
    with SlowProgress("computing nodes", len(computation.sizes), progress) as bar, computation.at_work(), torch.no_grad():
        for chosen in computation.batches(most_roots):
            roots = draw(computation.sizes[chosen])
            rows = computation.node_embeddings(chosen, roots).cpu().numpy()
            _check_values(rows, np.repeat(chosen, np.diff(roots.ptr)))
            yield from ((graph, rows[roots.ptr[row] : roots.ptr[row + 1]]) for row, graph in enumerate(chosen.tolist()))
            bar.advance(len(chosen))


def _moments(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.concatenate([rows.mean(0), rows.std(0)])


def _check_values(rows: NDArray[np.float32], graphs: Sizes) -> None:
    """One row of each graph, all of it finite."""
    spoilt = graphs[~np.isfinite(rows).all(axis=1)]
    if len(spoilt):
        raise DivergenceError(
            f"the network's values for graph {spoilt[0]} are not finite: edge weights, or the network's own weights, are too large "
            "for single precision; divide the graph's weights by their mean, or train again at a lower learning_rate"
        )


@torch.no_grad()
def initialise_statistics(computation: Computation, batch_size: int, seed: int) -> None:
    """Let the running statistics of an untrained network see every graph once."""
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(computation.sizes))
    computation.network.train()
    with computation.at_work():
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            computation.scores(chosen, computation.network.config.sampler.draw(computation.sizes[chosen], generator))
    computation.network.eval()
