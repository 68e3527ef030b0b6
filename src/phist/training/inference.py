"""Scores and embeddings of many graphs: sensible batches, averages over root samples, or all nodes as roots."""

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phist.graphs.graphset import GraphSet
from phist.nn.batch import Batch
from phist.nn.network import StructuralNetwork
from phist.nn.sampling import Roots, all_roots
from phist.progress import SlowProgress

Inference = Literal["sampled", "exact"]
Measure = Callable[[Batch, Roots], Tensor]


@torch.no_grad()
def average_over_roots(
    network: StructuralNetwork,
    graphs: GraphSet,
    measure: Measure,
    *,
    realizations: int,
    seed: int,
    inference: Inference = "sampled",
    progress: bool | None = False,
) -> NDArray[np.float32]:
    """The mean of ``measure`` over several draws of roots, or its value with every node as a root.

    The roots of a graph depend on ``seed`` and on its size, not on the other graphs or on the order they come in.

    Args:
        measure: what to compute of a batch and its roots, one row per graph: the network itself for its logits,
            ``network.graph_embeddings`` for embeddings.
        realizations: draws to average over; one is enough where nothing is random.
        progress: whether to show a bar when it takes long; ``None`` shows it on a terminal.
    """
    if inference == "exact" or network.config.sampler.kind == "all":
        realizations, inference = 1, "exact"
    network.eval()
    device = next(network.parameters()).device
    rows: list[Tensor] = []
    positions: list[NDArray[np.int64]] = []
    with SlowProgress("computing graphs", len(graphs) * realizations, progress) as bar:
        for chosen in batches_by_size(graphs, network, inference):
            batch = Batch.from_graphs(graphs[chosen], device)
            total = torch.zeros(())
            for realization in range(realizations):
                roots = (
                    all_roots(batch) if inference == "exact" else network.config.sampler.sample_by_size(batch, (seed, realization))
                )
                total = total + measure(batch, roots).cpu()
                bar.advance(len(chosen))
            rows.append(total / realizations)
            positions.append(chosen)
    result = torch.cat(rows)[torch.from_numpy(np.argsort(np.concatenate(positions)))]
    values: NDArray[np.float32] = result.numpy()
    return values


@torch.no_grad()
def embed_nodes(network: StructuralNetwork, graphs: GraphSet, progress: bool | None = False) -> list[NDArray[np.float32]]:
    """For every graph the embeddings of its nodes, every node as a root."""
    network.eval()
    device = next(network.parameters()).device
    found: dict[int, NDArray[np.float32]] = {}
    with SlowProgress("computing nodes", graphs.n_nodes, progress) as bar:
        for chosen in batches_by_size(graphs, network, "exact"):
            batch = Batch.from_graphs(graphs[chosen], device)
            embeddings = network.node_embeddings(batch, all_roots(batch)).cpu()
            for graph, size, rows in zip(chosen.tolist(), batch.node_counts.tolist(), embeddings, strict=True):
                found[graph] = rows[:size].numpy()
            bar.advance(batch.n_nodes)
    return [found[graph] for graph in range(len(graphs))]


@torch.no_grad()
def settle_statistics(network: StructuralNetwork, graphs: GraphSet, batch_size: int, seed: int) -> None:
    """Let the running statistics of an untrained network see every graph once."""
    generator = np.random.default_rng(seed)
    device = next(network.parameters()).device
    order = generator.permutation(len(graphs))
    network.train()
    for start in range(0, len(graphs), batch_size):
        batch = Batch.from_graphs(graphs[order[start : start + batch_size]], device)
        network(batch, network.config.sampler.sample(batch, generator))
    network.eval()


def batches_by_size(graphs: GraphSet, network: StructuralNetwork, inference: Inference) -> Iterator[NDArray[np.int64]]:
    """Graphs of like size together, so that few slots stay empty, as many as the memory limit allows."""
    sizes = graphs.node_counts()
    order = np.argsort(sizes, kind="stable")
    few = inference == "sampled" and network.config.sampler.kind == "replacement"
    slots = np.minimum(sizes, network.config.sampler.count) if few else sizes
    limit = max(1, network.config.max_elements // max(network.config.channels))
    start = 0
    nodes = 0
    for position, graph in enumerate(order):
        nodes += int(sizes[graph])
        if position > start and nodes * int(slots[graph]) > limit:
            yield order[start:position]
            start, nodes = position, int(sizes[graph])
    if len(order):
        yield order[start:]
