"""How well explanations point to what tells the classes apart, where that is known: ours beside GNNExplainer and simple baselines.

    python benchmarks/explanations.py [--set ba-2motifs] [--graphs 60] [--seed 0]

Every explained graph is a line of experiments/explanations/records.jsonl; a run goes on where the last one ended, and writes
experiments/explanations/summary.md of all lines there are. Only graphs that the explained model classifies correctly count.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from phist import GraphSet, StructuralClassifier
from phist.explain.metrics import groundtruth_auroc, precision_at_k
from phist.graphs.graph import Graph
from phist.graphs.motifs import Truth, make_ba_2motifs, make_planted_motifs, make_triangles

FOLDER = Path(__file__).parents[1] / "experiments" / "explanations"
RECORDS, SUMMARY = FOLDER / "records.jsonl", FOLDER / "summary.md"
SETS: dict[str, Callable[..., tuple[GraphSet, Truth]]] = {
    "ba-2motifs": make_ba_2motifs,
    "planted-motifs": make_planted_motifs,
    "triangles": make_triangles,
}
TRAINING_GRAPHS, MOST_GRAPHS = 400, 60  # all are always made, so that a number means the same graph in every run
EPOCHS_GIN, EPOCHS_EXPLAINER = 300, 200  # the latter is what GNNExplainer's authors take for graphs


class Values(NamedTuple):
    """What a method says of one graph; edges as in `Graph.edges`, if it says anything of them."""

    nodes: np.ndarray
    edges: np.ndarray | None = None


class Explained(NamedTuple):
    """A model to explain: its predictions, and methods by name."""

    predict: Callable[[GraphSet], np.ndarray]
    methods: dict[str, Callable[[GraphSet], Values]]


def make_phist(training: GraphSet, seed: int) -> Explained:
    model = StructuralClassifier(members=("network",), heads=("linear",), inference="exact", random_state=seed, progress=False)
    model.fit(training)
    rng = np.random.default_rng(seed)
    off = {"votes": False, "edges": False, "nodes": False}

    def ask(name: str, read: Callable[[Any], Values]) -> Callable[[GraphSet], Values]:
        options = off | ({name: True} if name in off else {})
        return lambda graph: read(model.explain(graph, **options)[0])

    methods = {
        "shares": ask("shares", lambda one: Values(one.node_shares)),
        "votes": ask("votes", lambda one: Values(one.root_votes)),
        "node deletions": ask("nodes", lambda one: Values(one.node_logit_effects)),
        "edge deletions": ask("edges", lambda one: from_edges(one.graph, one.edge_logit_effects)),
        "degree": lambda graph: Values(graph.degrees().astype(float)),
        "random": lambda graph: Values(rng.random(graph.n_nodes), rng.random(graph.n_edges)),
    }
    return Explained(model.predict, methods)


def from_edges(graph: Graph, values: np.ndarray) -> Values:
    """Of a node, that of its strongest edge."""
    nodes = np.full(graph.n_nodes, values.min() if len(values) else 0.0)
    for end in (0, 1):
        np.maximum.at(nodes, graph.edges()[:, end], values)
    return Values(nodes, values)


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
    from torch_geometric.explain import Explainer, GNNExplainer
    from torch_geometric.loader import DataLoader

    torch.manual_seed(seed)
    classes = training.classes
    model = Gin(len(classes))
    loader = DataLoader([as_data(graph, classes) for graph in training], batch_size=64, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for _ in range(EPOCHS_GIN):
        for batch in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(batch.x, batch.edge_index, batch.batch), batch.y).backward()
            optimizer.step()
    model.eval()
    config = {"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"}
    kinds = {"explanation_type": "model", "node_mask_type": "object", "edge_mask_type": "object"}
    explainer = Explainer(model, GNNExplainer(epochs=EPOCHS_EXPLAINER), model_config=config, **kinds)

    def explain(graphs: GraphSet) -> Values:
        data = as_data(graphs[0], classes)
        found = explainer(data.x, data.edge_index)
        arcs = {(int(a), int(b)): float(value) for (a, b), value in zip(data.edge_index.T, found.edge_mask, strict=True)}
        edges = np.array([(arcs[a, b] + arcs[b, a]) / 2 for a, b in graphs[0].edges().tolist()])
        return Values(found.node_mask[:, 0].numpy(), edges)

    def explain_by_edges(graphs: GraphSet) -> Values:
        return from_edges(graphs[0], explain(graphs).edges)

    def predict(graphs: GraphSet) -> np.ndarray:
        with torch.no_grad():
            numbers = [int(model(data.x, data.edge_index).argmax()) for data in (as_data(graph, classes) for graph in graphs)]
        return np.array(classes, dtype=object)[numbers]

    return Explained(predict, {"GNNExplainer, nodes": explain, "GNNExplainer, edges": explain_by_edges})


def as_data(graph: Graph, classes: list[Any]) -> Any:
    from torch_geometric.data import Data

    source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    edge_index = torch.from_numpy(np.stack([source, graph.indices]).astype(np.int64))
    return Data(x=torch.ones(graph.n_nodes, 1), edge_index=edge_index, y=torch.tensor([classes.index(graph.label)]))


MODELS = {"phist": make_phist, "gin-0": make_gin}
METHODS = {
    "phist": ("shares", "votes", "node deletions", "edge deletions", "degree", "random"),
    "gin-0": ("GNNExplainer, nodes", "GNNExplainer, edges"),
}


def measure(name: str, n_test: int, seed: int, done: set[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """The records that are not there yet, one graph after the other."""
    graphs, truth = SETS[name](TRAINING_GRAPHS + MOST_GRAPHS, seed=seed)
    test = graphs[TRAINING_GRAPHS:]
    for model in MODELS:
        missing = [(m, g) for g in range(n_test) for m in METHODS[model] if (name, seed, model, m, g) not in done]
        if not missing:
            continue
        explained = MODELS[model](graphs[:TRAINING_GRAPHS], seed)
        right = explained.predict(test) == test.labels
        print(f"{name}, {model}: accuracy {right.mean():.3f}", flush=True)
        for method, number in missing:
            begin = time.perf_counter()
            values = explained.methods[method](test[[number]])
            seconds = time.perf_counter() - begin
            again = explained.methods[method](test[[number]])
            masks = truth.nodes[TRAINING_GRAPHS + number], truth.edges[TRAINING_GRAPHS + number]
            yield {
                "set": name,
                "seed": seed,
                "model": model,
                "method": method,
                "graph": number,
                "label": test[number].label,
                "right": bool(right[number]),
                "node_auroc": groundtruth_auroc(values.nodes, masks[0]),
                "node_precision": precision_at_k(values.nodes, masks[0]),
                "edge_auroc": None if values.edges is None else groundtruth_auroc(values.edges, masks[1]),
                "repeat": correlation(values.nodes, again.nodes),
                "seconds": round(seconds, 5),
            }


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Of two runs; one where they are identical."""
    return 1.0 if np.array_equal(one, other) else float(np.corrcoef(one, other)[0, 1])


def read_records() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RECORDS.read_text().splitlines()] if RECORDS.exists() else []


def summary(records: list[dict[str, Any]]) -> str:
    """A table for each set: means over the graphs that the explained model classifies correctly, all seeds together."""
    text = "# Explanations against the truth\n\nWritten by `benchmarks/explanations.py` from `records.jsonl`.\n\n"
    text += "Means are over correctly classified graphs; seconds are wall time, and the machine may have been busy.\n"
    for name in dict.fromkeys(record["set"] for record in records):
        text += f"\n## {name}\n\n| model | method | right | node AUROC | node precision | edge AUROC | repeat | seconds a graph |\n"
        text += "|---|---|---|---|---|---|---|---|\n"
        for model, methods in METHODS.items():
            for method in methods:
                own = [one for one in records if (one["set"], one["model"], one["method"]) == (name, model, method)]
                if own:
                    text += _row(model, method, own)
    return text


def _row(model: str, method: str, own: list[dict[str, Any]]) -> str:
    right = [one for one in own if one["right"]]

    def mean(field: str, digits: int = 3) -> str:
        values = [one[field] for one in right if one[field] is not None]
        return f"{np.nanmean(values):.{digits}f}" if values else ""

    fields = [mean(field) for field in ("node_auroc", "node_precision", "edge_auroc", "repeat", "seconds")]
    return f"| {model} | {method} | {len(right)} of {len(own)} | {' | '.join(fields)} |\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", choices=SETS, help="may be repeated; BA-2motifs unless given")
    parser.add_argument(
        "--graphs", type=int, default=MOST_GRAPHS, choices=range(1, MOST_GRAPHS + 1), metavar="N", help="to explain"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    done = {(one["set"], one["seed"], one["model"], one["method"], one["graph"]) for one in read_records()}
    for name in options.set or ["ba-2motifs"]:
        for record in measure(name, options.graphs, options.seed, done):
            with RECORDS.open("a") as file:
                file.write(json.dumps(record) + "\n")
    SUMMARY.write_text(summary(read_records()))
    print(SUMMARY.read_text())


if __name__ == "__main__":
    main()
