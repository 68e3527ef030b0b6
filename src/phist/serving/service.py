"""Service: a saved model that answers many at a time."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phist import __version__
from phist.errors import ConfigError, shown
from phist.estimators.fitted import FittedClassifier, FittedModel, load_fitted
from phist.graphs.formats.jsonl import parse_graph
from phist.graphs.graphset import GraphSet
from phist.graphs.loose import pack_loose
from phist.graphs.packing import Reading
from phist.scale.answers import model_fingerprint
from phist.serving.batching import Batcher
from phist.serving.limits import Limits, OverloadedError

if TYPE_CHECKING:
    from collections.abc import Hashable

PASS_NODES = 20_000  # computed together at most: some hundred milliseconds, so that nobody waits long behind a crowd


class Service:
    """A model in memory, asked by requests that come at the same time.

    Args:
        path: the model's folder.
        limits: what a request may ask for.
        exact: take every node as a root instead of averaging over samples of roots.
        engine: ``"auto"``, ``"fused"`` or ``"reference"``; the one the model was saved with unless given.
    """

    def __init__(self, path: str | Path, limits: Limits, *, exact: bool = False, engine: str | None = None) -> None:
        self.model: FittedModel = load_fitted(path)
        self.model.progress = False
        self.model.inference = "exact" if exact else self.model.inference
        self.model.engine = engine or self.model.engine
        self.model._check_parameters()
        self.limits, self.fingerprint = limits, model_fingerprint(path)
        self._start_threads()

    def _start_threads(self) -> None:
        self._predictor = Batcher(self._predictions, PASS_NODES, self.limits.waiting)
        self._embedder = Batcher(self._embeddings, PASS_NODES, self.limits.waiting)
        self._explainer, self._explaining = ThreadPoolExecutor(1, thread_name_prefix="phist-explain"), 0

    @property
    def can_classify(self) -> bool:
        """Whether it can be asked for classes and explanations; an embedder cannot."""
        return isinstance(self.model, FittedClassifier)

    @property
    def can_embed(self) -> bool:
        """Whether it has networks; a classifier of other members has none."""
        return bool(self.model._networks())

    @property
    def waiting(self) -> int:
        """Requests that wait."""
        return self._predictor.waiting + self._embedder.waiting + self._explaining

    def facts(self) -> dict[str, Any]:
        """Which model this is, ready for JSON."""
        return {
            "phist": __version__,
            "kind": self.model._saved_as,
            "fingerprint": self.fingerprint,
            "classes": self.model.classes_.tolist(),
            "training_graphs": self.model.data_["graphs"],
            "limits": asdict(self.limits),
        }

    def read(self, graphs: list[dict[str, Any]], *, to_explain: bool = False) -> tuple[GraphSet, list[str]]:
        """Graphs as the model reads them, and what their sender should know."""
        self.limits.check_claims(graphs, to_explain=to_explain)
        loose = [parse_graph(_with_id(graph, number), f"graph {number}") for number, graph in enumerate(graphs)]
        packed = pack_loose(loose, Reading("keep" if self.model.reading_.directed else None, None, "use"))
        self.limits.check(packed, to_explain=to_explain)
        return self.model.reading_.read(packed), self.model.reading_.notices(packed)

    async def predict(self, graphs: GraphSet) -> list[dict[str, Any]]:
        """Class, probabilities and flags of each graph."""
        return _named(graphs, await self._predictor.ask(graphs))

    async def embed(self, graphs: GraphSet) -> list[dict[str, Any]]:
        """The embedding of each graph."""
        return _named(graphs, await self._embedder.ask(graphs))

    async def explain(self, graphs: GraphSet, target: "Hashable", max_deletions: int | None) -> list[dict[str, Any]]:
        """Why the model says what it says of each graph."""
        classes = self.model.classes_.tolist()
        if target is not None and target not in classes:
            raise ConfigError(f"target={shown(target)} is no class of this model; its classes are {shown(classes, 120)}")
        if self._explaining >= self.limits.waiting:
            raise OverloadedError(f"{self.limits.waiting} requests are waiting already; try again in a second")
        limit = min(self.limits.deletions, self.limits.deletions if max_deletions is None else max_deletions)
        self._explaining += 1
        try:
            explained = partial(self._explanations, graphs, target, limit)
            return await asyncio.get_running_loop().run_in_executor(self._explainer, explained)
        finally:
            self._explaining -= 1

    def warm_up(self) -> None:
        """Load the compiled code, or make it, and all that answers need, before the first request comes."""
        graphs, _ = self.read([{"n_nodes": 3, "edges": [[0, 1], [1, 2]]}])
        if self.can_embed:
            self._embeddings(graphs)
        if self.can_classify:
            self._predictions(graphs)
            self._explanations(graphs, None, 1)

    def close(self) -> None:
        """End the threads, each after what it is computing; a later request starts others."""
        self._predictor.close()
        self._embedder.close()
        self._explainer.shutdown(wait=True)
        self._start_threads()

    def _predictions(self, graphs: GraphSet) -> list[dict[str, Any]]:
        assert isinstance(self.model, FittedClassifier)
        probabilities = self.model.predict_proba(_in_company(graphs))[: len(graphs)]
        predicted = self.model.classes_[probabilities.argmax(1)].tolist()
        rows = zip(predicted, probabilities.round(6).tolist(), self.model.flags(graphs), strict=True)
        return [{"predicted": label, "probabilities": row, "flags": flags} for label, row, flags in rows]

    def _embeddings(self, graphs: GraphSet) -> list[dict[str, Any]]:
        return [{"embedding": row} for row in self.model.transform(_in_company(graphs))[: len(graphs)].tolist()]

    def _explanations(self, graphs: GraphSet, target: "Hashable", limit: int) -> list[dict[str, Any]]:
        assert isinstance(self.model, FittedClassifier)
        return [one.to_dict() for one in self.model.explain(graphs, target, max_deletions=limit)]


def _with_id(graph: dict[str, Any], number: int) -> dict[str, Any]:
    return graph if graph.get("id") is not None else graph | {"id": number}


def _named(graphs: GraphSet, answers: Any) -> list[dict[str, Any]]:
    return [{"graph": name, **answer} for name, answer in zip(graphs.ids.tolist(), answers, strict=True)]


def _in_company(graphs: GraphSet) -> GraphSet:
    """A graph that came alone with a second one: products of one row are rounded otherwise than those of several."""
    if len(graphs) > 1:
        return graphs
    node = GraphSet(np.array([0, 1]), np.zeros(2, np.int64), np.empty(0, np.int32), directed=graphs.directed)
    return GraphSet.concatenate([graphs, node])
