"""The models whose explanations are measured, and the methods that explain them; used by explanations.py.

A method takes graphs and the number of a run, and says how much each node of each graph counts; what is random in it comes from
that number.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
import torch

from phist import GraphSet, StructuralClassifier
from phist.explain.answers import Answering
from phist.explain.readers import readers_of
from phist.graphs.graph import Graph

EPOCHS_GIN, STARTS_GIN = 300, 5
EPOCHS_GNNEXPLAINER = 200  # what its authors take for graphs
EPOCHS_PGEXPLAINER, GRAPHS_PGEXPLAINER = 20, 100  # of the training graphs that it learns from
STEPS_GRADIENTS = 50  # captum's default


class Values(NamedTuple):
    """What a method says of one graph; edges as in `Graph.edges`, if it says anything of them."""

    nodes: np.ndarray
    edges: np.ndarray | None = None


Method = Callable[[GraphSet, int], list[Values]]


class Explained(NamedTuple):
    """A model to explain: centred logits of graphs (graphs, classes), and methods by name."""

    classes: list[Any]
    logits: Callable[[GraphSet], np.ndarray]
    methods: dict[str, Method]


def from_edges(graph: Graph, values: np.ndarray) -> Values:
    """Of a node, that of its strongest edge."""
    nodes = np.full(graph.n_nodes, values.min() if len(values) else 0.0)
    for end in (0, 1):
        np.maximum.at(nodes, graph.edges()[:, end], values)
    return Values(nodes, values)


def make_phist(training: GraphSet, seed: int) -> Explained:
    """One bag of networks under linear heads, so that shares cover the whole prediction."""
    model = StructuralClassifier(members=("network",), heads=("linear",), inference="exact", random_state=seed, progress=False)
    model.fit(training)
    readers, _ = readers_of(model)
    off = {"votes": False, "edges": False, "nodes": False}

    def ask(read: Callable[[Any], Values], **options: bool) -> Method:
        return lambda graphs, run: [read(one) for one in model.explain(graphs, **(off | options))]

    methods = {
        "shares": ask(lambda one: Values(one.node_shares)),
        "votes": ask(lambda one: Values(one.root_votes), votes=True),
        "node deletions": ask(lambda one: Values(one.node_logit_effects), nodes=True),
        "edge deletions": ask(lambda one: from_edges(one.graph, one.edge_logit_effects), edges=True),
        "degree": lambda graphs, run: [Values(np.diff(graph.indptr).astype(float)) for graph in graphs],
        "random": lambda graphs, run: _random(graphs, np.random.default_rng((seed, run))),
    }
    answer = Answering(model.ensemble_, readers)
    return Explained(model.classes_.tolist(), lambda graphs: answer(graphs).logits, methods)


def _random(graphs: GraphSet, rng: np.random.Generator) -> list[Values]:
    return [Values(rng.random(graph.n_nodes), rng.random(graph.n_edges)) for graph in graphs]


class Gin(torch.nn.Module):
    """GIN-0 with a sum over nodes, on constant features."""

    def __init__(self, n_classes: int) -> None:
        from torch_geometric.nn import GIN

        super().__init__()
        self.layers = GIN(1, 32, num_layers=3)
        self.head = torch.nn.Linear(32, n_classes)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor | None = None) -> torch.Tensor:
        from torch_geometric.nn import global_add_pool

        return self.head(global_add_pool(self.layers(x, edge_index), batch))


def make_gin(training: GraphSet, seed: int) -> Explained:
    """Explained by what PyG has for it."""
    classes = training.classes
    model = _trained_gin([as_data(graph, classes) for graph in training], len(classes), seed)
    learnt = [as_data(graph, classes) for graph in training[:GRAPHS_PGEXPLAINER]]

    def logits(graphs: GraphSet) -> np.ndarray:
        with torch.no_grad():
            rows = torch.cat([model(data.x, data.edge_index) for data in (as_data(graph) for graph in graphs)]).numpy()
        return rows - rows.mean(1, keepdims=True)

    def gnn_explainer(graphs: GraphSet, run: int) -> list[Values]:
        from torch_geometric.explain import GNNExplainer

        torch.manual_seed(run)
        explainer = _explainer(model, GNNExplainer(epochs=EPOCHS_GNNEXPLAINER), node_mask_type="object", edge_mask_type="object")
        return [_values(graph, explainer(data.x, data.edge_index)) for graph, data in _with_data(graphs)]

    def gradients(graphs: GraphSet, run: int) -> list[Values]:
        from torch_geometric.explain import CaptumExplainer

        algorithm = CaptumExplainer("IntegratedGradients", n_steps=STEPS_GRADIENTS)
        explainer = _explainer(model, algorithm, node_mask_type="attributes", edge_mask_type="object")
        return [_values(graph, explainer(data.x, data.edge_index)) for graph, data in _with_data(graphs)]

    def pg_explainer(graphs: GraphSet, run: int) -> list[Values]:
        from torch_geometric.explain import PGExplainer

        torch.manual_seed(run)
        explainer = _explainer(
            model, PGExplainer(epochs=EPOCHS_PGEXPLAINER), edge_mask_type="object", explanation_type="phenomenon"
        )
        for epoch in range(EPOCHS_PGEXPLAINER):
            for data in learnt:
                explainer.algorithm.train(epoch, explainer.model, data.x, data.edge_index, target=data.y)
        predicted = torch.from_numpy(logits(graphs).argmax(1))
        return [
            _values(graph, explainer(data.x, data.edge_index, target=predicted[[number]]))
            for number, (graph, data) in enumerate(_with_data(graphs))
        ]

    methods = {
        "GNNExplainer, nodes": gnn_explainer,
        "GNNExplainer, edges": by_edges(gnn_explainer),
        "PGExplainer": by_edges(pg_explainer),
        "integrated gradients, nodes": gradients,
        "integrated gradients, edges": by_edges(gradients),
    }
    return Explained(list(classes), logits, methods)


def by_edges(method: Method) -> Method:
    """The same, with nodes judged by their strongest edges."""
    return lambda graphs, run: [
        from_edges(graph, values.edges) for graph, values in zip(graphs, method(graphs, run), strict=True)  # type: ignore[arg-type]
    ]  # fmt: skip


def _trained_gin(training: list[Any], n_classes: int, seed: int) -> Gin:
    """The first that learns anything: some initialisations never leave the largest class."""
    torch.manual_seed(seed)
    labels = torch.cat([data.y for data in training])
    guess = labels.bincount().max() / len(labels)
    for _ in range(STARTS_GIN):
        model = _one_gin(training, n_classes)
        with torch.no_grad():
            right = torch.cat([model(data.x, data.edge_index).argmax(1) for data in training]) == labels
        if right.float().mean() > guess + 0.05:
            break
    return model


def _one_gin(training: list[Any], n_classes: int) -> Gin:
    from torch_geometric.loader import DataLoader

    model = Gin(n_classes)
    loader = DataLoader(training, batch_size=64, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for _ in range(EPOCHS_GIN):
        for batch in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(batch.x, batch.edge_index, batch.batch), batch.y).backward()
            optimizer.step()
    return model.eval()


def _explainer(model: Gin, algorithm: Any, **options: str) -> Any:
    from torch_geometric.explain import Explainer

    config = {"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"}
    own = deepcopy(model)  # masks leave traces in a model, which captum's do not get along with
    return Explainer(own, algorithm, model_config=config, **({"explanation_type": "model"} | options))


def _with_data(graphs: GraphSet) -> list[tuple[Graph, Any]]:
    return [(graph, as_data(graph)) for graph in graphs]


def _values(graph: Graph, found: Any) -> Values:
    """The masks of PyG; an edge has the mean of its two arcs."""
    arcs = {
        (int(a), int(b)): float(value)
        for (a, b), value in zip(found.edge_index.T, found.edge_mask.detach(), strict=True)
    }  # fmt: skip
    edges = np.array([(arcs[a, b] + arcs[b, a]) / 2 for a, b in graph.edges().tolist()])
    nodes = found.get("node_mask")
    return Values(np.zeros(graph.n_nodes) if nodes is None else nodes.detach().sum(1).numpy(), edges)


def as_data(graph: Graph, classes: list[Any] | None = None) -> Any:
    """For PyG: a constant feature, and the number of the class where ``classes`` are given."""
    from torch_geometric.data import Data

    source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    edge_index = torch.from_numpy(np.stack([source, graph.indices]).astype(np.int64))
    label = None if classes is None else torch.tensor([classes.index(graph.label)])
    return Data(x=torch.ones(graph.n_nodes, 1), edge_index=edge_index, y=label)


MODELS: dict[str, Callable[[GraphSet, int], Explained]] = {"phist": make_phist, "gin-0": make_gin}
METHODS = {
    "phist": ("shares", "votes", "node deletions", "edge deletions", "degree", "random"),
    "gin-0": (
        "GNNExplainer, nodes",
        "GNNExplainer, edges",
        "PGExplainer",
        "integrated gradients, nodes",
        "integrated gradients, edges",
    ),
}
