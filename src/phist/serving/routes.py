"""The paths of the application, in groups that a model has or has not."""

from typing import Any

from fastapi import APIRouter

from phist.serving.schemas import (
    Embeddings,
    ExplainQuestion,
    Explanations,
    Health,
    ModelFacts,
    Predictions,
    Problem,
    Question,
)
from phist.serving.service import Service

REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The body is not JSON."},
    413: {"model": Problem, "description": "More was asked for than the limits allow."},
    422: {"model": Problem, "description": "The body, or a graph in it, is not what it should be."},
    503: {"model": Problem, "description": "Too many requests are waiting; try again later."},
}


def about(service: Service) -> APIRouter:
    """Health and facts."""
    router = APIRouter(tags=["about"])

    @router.get("/health", summary="Whether requests are answered")
    async def health() -> Health:
        return Health(status="ok", waiting=service.waiting)

    @router.get("/model", summary="Which model this is, and the limits")
    async def model() -> ModelFacts:
        return ModelFacts(**service.facts())

    return router


def classifying(service: Service) -> APIRouter:
    """What only classifiers answer."""
    router = APIRouter(tags=["ask"], responses=REFUSALS)

    @router.post("/predict", summary="Class and probabilities of each graph")
    async def predict(question: Question) -> Predictions:
        graphs, notices = service.read(_graphs(question))
        answers: Any = await service.predict(graphs)
        return Predictions(classes=service.model.classes_.tolist(), predictions=answers, notices=notices)

    @router.post("/explain", summary="Which nodes and edges made the decision")
    async def explain(question: ExplainQuestion) -> Explanations:
        graphs, notices = service.read(_graphs(question), to_explain=True)
        answers = await service.explain(graphs, question.target, question.max_deletions)
        return Explanations(explanations=answers, notices=notices)

    return router


def embedding(service: Service) -> APIRouter:
    """What models with networks answer."""
    router = APIRouter(tags=["ask"], responses=REFUSALS)

    @router.post("/embed", summary="A vector for each graph")
    async def embed(question: Question) -> Embeddings:
        graphs, notices = service.read(_graphs(question))
        answers: Any = await service.embed(graphs)
        return Embeddings(embeddings=answers, notices=notices)

    return router


def _graphs(question: Question) -> list[dict[str, Any]]:
    return [graph.model_dump(mode="json") for graph in question.graphs]
