"""Scores and embeddings of many graphs: averages over draws of roots, or all nodes as roots."""

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from phist.engine.computation import Computation
from phist.nn.sampling import draw_all
from phist.progress import SlowProgress

Inference = Literal["auto", "sampled", "exact"]
Measure = Literal["scores", "graph_embeddings"]


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
    if inference == "exact" or sampler.kind == "all":
        realizations, inference = 1, "exact"
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
            if result is None:
                result = np.zeros((len(sizes), values.shape[1]), values.dtype)
            result[chosen] = values
            bar.advance(len(chosen))
    return np.zeros((0, 0), np.float32) if result is None else result


@torch.no_grad()
def embed_nodes(computation: Computation, progress: bool | None = False) -> list[NDArray[np.float32]]:
    """For every graph the embeddings of its nodes, every node as a root."""
    computation.network.eval()
    found: dict[int, NDArray[np.float32]] = {}
    with SlowProgress("computing nodes", int(computation.sizes.sum()), progress) as bar, computation.at_work():
        for chosen in computation.batches(computation.sizes):
            draws = draw_all(computation.sizes[chosen])
            rows = computation.node_embeddings(chosen, draws).cpu().numpy()
            found |= dict(zip(chosen.tolist(), np.split(rows, draws.ptr[1:-1]), strict=True))
            bar.advance(len(rows))
    return [found[graph] for graph in range(len(found))]


@torch.no_grad()
def settle_statistics(computation: Computation, batch_size: int, seed: int) -> None:
    """Let the running statistics of an untrained network see every graph once."""
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(computation.sizes))
    computation.network.train()
    with computation.at_work():
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            computation.scores(chosen, computation.network.config.sampler.draw(computation.sizes[chosen], generator))
    computation.network.eval()
