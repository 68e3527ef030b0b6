"""An explanation in the forms of other libraries, as JSON and as text."""

from importlib.util import find_spec
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from phist.errors import brief
from phist.extras import require
from phist.notebook import html_table

if TYPE_CHECKING:
    import networkx
    import pandas

    from phist.explain.explanation import Explanation

NUMBERS = ("share", "vote", "effect", "logit_effect")
SHOWN = 5  # nodes and edges in a text
SHOWN_CHANNELS = 3  # with the names of their networks, as many as a line of 80 characters takes
DRAWN = 200  # most nodes of a graph that a notebook draws by itself: more take long to place


def to_pyg(explanation: "Explanation") -> Any:
    pyg = require("torch_geometric.explain", "gnn", "an explanation for PyTorch Geometric")
    result = pyg.Explanation(
        x=torch.ones(explanation.graph.n_nodes, 1),
        edge_index=explanation.edge_index,
        node_mask=explanation.node_mask,
        edge_mask=explanation.edge_mask,
        target=torch.tensor([explanation.target_number]),
        prediction=torch.from_numpy(explanation.probabilities).float().unsqueeze(0),
    )
    result.validate()
    return result


def to_networkx(explanation: "Explanation") -> "networkx.Graph[int]":
    graph = explanation.graph.to_networkx()
    for node, values in enumerate(node_rows(explanation)):
        graph.nodes[node].update({name: value for name, value in values.items() if value is not None})
    for (source, target), values in zip(explanation.graph.edges().tolist(), edge_rows(explanation), strict=True):
        graph.edges[source, target].update({name: value for name, value in values.items() if value is not None})
    return graph


def to_frame(explanation: "Explanation") -> "pandas.DataFrame":
    pandas = require("pandas", "report", "a table of an explanation")
    rows = [{"kind": "node", "source": node, "target": None, **values} for node, values in enumerate(node_rows(explanation))]
    edges = zip(explanation.graph.edges().tolist(), edge_rows(explanation), strict=True)
    rows += [{"kind": "edge", "source": ends[0], "target": ends[1], **values} for ends, values in edges]
    frame = pandas.DataFrame(rows, columns=["kind", "source", "target", *NUMBERS])
    return frame.astype({"target": "Int64", **dict.fromkeys(NUMBERS, float)})


def edge_rows(explanation: "Explanation") -> list[dict[str, float | None]]:
    """Deletion effects of every edge on the target's probability and logit."""
    columns = zip(plain(explanation.edge_effects), plain(explanation.edge_logit_effects), strict=True)
    return [{"effect": effect, "logit_effect": logit} for effect, logit in columns]


def node_rows(explanation: "Explanation") -> list[dict[str, float | None]]:
    """Share, vote and deletion effects of every node, for the target."""
    absent = [None] * explanation.graph.n_nodes
    shares = absent if explanation.node_shares is None else plain(explanation.node_shares)
    votes = absent if explanation.root_votes is None else plain(explanation.root_votes)
    columns = zip(shares, votes, plain(explanation.node_effects), strict=True)
    rows = [{"share": share, "vote": vote, "effect": effect} for share, vote, effect in columns]
    for row, logit in zip(rows, plain(explanation.node_logit_effects), strict=True):
        row["logit_effect"] = logit
    return rows


def to_dict(explanation: "Explanation") -> dict[str, Any]:
    graph, network = explanation.graph, explanation.network
    return {
        "graph": graph.id,
        "label": graph.label,
        "n_nodes": graph.n_nodes,
        "directed": graph.directed,
        "edges": graph.edges().tolist(),
        "classes": list(explanation.classes),
        "predicted": explanation.predicted,
        "target": explanation.target,
        "probabilities": plain(explanation.probabilities),
        "weights": dict(explanation.weights),
        "covered": round(explanation.covered, 6),
        "network": None if network is None else _network(network),
        "deletions": {name: plain(values) for name, values in vars(explanation.deletions).items()},
    }


def _network(network: Any) -> dict[str, Any]:
    return {
        "logits": plain(network.logits),
        "base": plain(network.base),
        "size": plain(network.size),
        "shares": plain(network.shares),
        "votes": None if network.votes is None else plain(network.votes),
        "draws": plain(network.draws),
        "bins": [one.to_dict() for one in network.bins],
        "channels": [one.to_dict() for one in network.channels],
    }


def plain(values: NDArray[Any]) -> list[Any]:
    """Nested lists with six digits, and ``None`` for what is no finite number."""
    rounded = np.round(values.astype(np.float64), 6)
    return np.where(~np.isfinite(rounded), None, rounded.astype(object)).tolist()  # type: ignore[call-overload, no-any-return]


def to_text(explanation: "Explanation") -> str:
    """The explanation on a few lines."""
    graph, target = explanation.graph, explanation.target_number
    lines = [
        f"graph {brief(graph.id, 60)}: {brief(explanation.target, 60)} with probability {explanation.probabilities[target]:.3f}"
        + ("" if explanation.target == explanation.predicted else f" (predicted: {brief(explanation.predicted, 60)})"),
        f"  {coverage(explanation)}",
    ]
    if explanation.network is not None:
        network = explanation.network
        lines.append(
            f"  logit {network.logits[target]:+.3f} = base {network.base[target]:+.3f}, size {network.size[target]:+.3f}, "
            f"nodes {network.shares[:, target].sum():+.3f}"
        )
        lines.append(f"  draws: standard deviation of the logit {network.draws[:, target].std():.3f}")
    lines.append(f"  nodes: {_strongest(explanation.node_values, [str(node) for node in range(graph.n_nodes)])}")
    lines.append(f"  edges: {_strongest(explanation.edge_values, [f'{one}-{other}' for one, other in graph.edges().tolist()])}")
    if explanation.network is not None:
        channels = [f"{one.network}:{one.channel} {one.effect:+.3f}" for one in explanation.network.channels[:SHOWN_CHANNELS]]
        lines.append(f"  channels: {', '.join(channels)}")
    return "\n".join(lines)


def to_html(explanation: "Explanation") -> str:
    """The same for a notebook, with a picture of a graph that is small enough for one, where matplotlib is installed."""
    first, *rest = to_text(explanation).splitlines()
    table = html_table(first, [line.strip().split(": ", 1) for line in rest])
    if explanation.graph.n_nodes > DRAWN or find_spec("matplotlib") is None:
        return table
    picture = StringIO()
    explanation.visualize().savefig(picture, format="svg", metadata={"Date": None})
    return table + picture.getvalue()[picture.getvalue().index("<svg") :]


def coverage(explanation: "Explanation") -> str:
    """Which part of the prediction the node shares are about, in words."""
    if explanation.network is None:
        return "the model has no network and so no node shares; deletion effects are of the whole model"
    if not explanation.covered:
        return "the model does not use its networks' linear heads: node shares cover none of the prediction, deletion effects all"
    return f"node shares cover {explanation.covered:.0%} of the prediction (linear heads of networks), deletion effects all of it"


def _strongest(values: NDArray[np.float64], names: list[str]) -> str:
    order = np.argsort(-np.abs(values), kind="stable")[:SHOWN].tolist()
    return ", ".join(f"{names[number]} {values[number]:+.3f}" for number in order if values[number]) or "none has an effect"
