"""The graphs that are explained in full: what the whole model says of them, node by node and edge by edge."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from phist.explain.explanation import MOST, Explanation
from phist.explain.page.drawings import Drawing
from phist.explain.page.packing import Packer
from phist.explain.page.roots import SIMILAR, Compared
from phist.graphs.arrays import IntArray, starts_of
from phist.graphs.graphset import GraphSet


def details_content(
    explanations: Sequence[Explanation], drawings: Sequence[Drawing], positions: IntArray, packer: Packer
) -> dict[str, Any]:
    """Numbers of the nodes and edges that are shown, one graph after the other, a column for each class."""
    pairs = list(zip(explanations, drawings, strict=True))
    deletions = [(one.deletions, drawing) for one, drawing in pairs]
    content = {
        "graphs": packer.whole(positions),
        "targets": packer.whole([one.target_number for one in explanations]),
        "nodeEffects": packer.quantise(np.concatenate([own.nodes[drawing.nodes] for own, drawing in deletions])),
        "edgeEffects": packer.quantise(np.concatenate([own.edges[drawing.edge_numbers] for own, drawing in deletions])),
        "byShares": explanations[0].covered >= MOST,
    }
    return content | _of_networks(pairs, packer)


def _of_networks(pairs: Sequence[tuple[Explanation, Drawing]], packer: Packer) -> dict[str, Any]:
    networks = [one.network for one, _ in pairs if one.network is not None]
    if not networks:
        return {}
    votes = [own.votes for own in networks if own.votes is not None]
    nodes = [drawing.nodes for _, drawing in pairs]
    logits = np.concatenate([one.deletions.edge_logits[drawing.edge_numbers] for one, drawing in pairs])
    return {
        "base": networks[0].base.tolist(),
        "sizes": packer.add(np.stack([own.size for own in networks]), "f4"),
        "shares": packer.quantise(np.concatenate([own.shares[shown] for own, shown in zip(networks, nodes, strict=True)])),
        "votes": packer.quantise(np.concatenate([own[shown] for own, shown in zip(votes, nodes, strict=True)])),
        "nodeLogits": packer.quantise(np.concatenate([one.deletions.node_logits[drawing.nodes] for one, drawing in pairs])),
        "edgeLogits": packer.quantise(logits),
        "draws": packer.add(np.stack([own.draws for own in networks]), "f4"),
        "nDraws": len(networks[0].draws),
        "channels": [[[effect.network, effect.channel, round(effect.effect, 4)] for effect in own.channels] for own in networks],
    }


def similar_content(
    compared: Compared | None, graphs: GraphSet, drawings: Sequence[Drawing], positions: IntArray, packer: Packer
) -> dict[str, Any]:
    """For every node that is shown the most similar roots elsewhere: their graphs, and their numbers there."""
    if compared is None:
        return {}
    starts = dict(zip(compared.graphs.tolist(), starts_of(graphs.node_counts()[compared.graphs])[:-1].tolist(), strict=True))
    rows = []
    for position, drawing in zip(positions.tolist(), drawings, strict=True):
        own = np.stack([np.full(len(drawing.nodes), position), drawing.nodes], axis=1)[:, None].repeat(SIMILAR, axis=1)
        rows.append(compared.similar[starts[position] + drawing.nodes] if position in starts else own)
    found = np.concatenate(rows)
    return {"similarGraphs": packer.whole(found[..., 0]), "similarNodes": packer.whole(found[..., 1]), "nSimilar": SIMILAR}
