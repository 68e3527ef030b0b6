"""What is sent and answered, as the OpenAPI page describes it. A graph is written as on a line of JSONL."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

EXACT = 2**53  # whole numbers up to here are the same in every JSON reader
Name = Annotated[int, Field(strict=True, ge=-EXACT, le=EXACT)] | Annotated[str, Field(max_length=200)]
Label = bool | int | float | str
Weight = Annotated[float, Field(allow_inf_nan=False, ge=0)]
Edge = tuple[Name, Name] | tuple[Name, Name, Weight]


class GraphIn(BaseModel):
    """A graph, as on a line of JSONL."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"n_nodes": 3, "edges": [[0, 1], [1, 2]]}]})

    edges: list[Edge] = Field(description="Rows [source, target] or [source, target, weight].")
    weights: list[Weight] | None = Field(
        None, description="Their weights, in the same order, instead of a third number in each row."
    )
    n_nodes: int | None = Field(None, ge=1, strict=True, description="The number of nodes, which are then 0 to n_nodes - 1.")
    nodes: list[Name] | None = Field(None, description="The names of the nodes, in order, instead of n_nodes.")
    id: Name | None = Field(None, description="What the answer calls this graph; its number in the request unless given.")
    directed: bool | None = Field(None, description="Whether rows are arcs.")
    label: Label | None = Field(None, description="Ignored, so that lines of a labelled file can be sent as they are.")


class Question(BaseModel):
    """Graphs to ask about."""

    model_config = ConfigDict(extra="forbid")

    graphs: list[GraphIn] = Field(min_length=1)


class ExplainQuestion(Question):
    """Graphs to explain."""

    target: Label | None = Field(None, description="The class to explain; the predicted one unless given.")
    max_deletions: int | None = Field(
        None, ge=0, strict=True, description="The most edges, and the most nodes, to delete of a graph."
    )


class Prediction(BaseModel):
    """What the model says of one graph."""

    graph: Name
    predicted: Label
    probabilities: list[float] = Field(description="In the order of the classes.")
    flags: list[str] = Field(
        description="look-alike: 1-WL cannot tell it from a training graph; larger: far larger than any of them."
    )


class Predictions(BaseModel):
    """The answer to predict."""

    classes: list[Label]
    predictions: list[Prediction]
    notices: list[str]


class Embedding(BaseModel):
    """The vector of one graph."""

    graph: Name
    embedding: list[float]


class Embeddings(BaseModel):
    """The answer to embed."""

    embeddings: list[Embedding]
    notices: list[str]


class Explanations(BaseModel):
    """The answer to explain."""

    explanations: list[dict[str, Any]] = Field(description="As `phist explain --json` writes them.")
    notices: list[str]


class Health(BaseModel):
    """Whether requests are answered."""

    status: str
    waiting: int = Field(description="Requests that wait for the model.")


class ModelFacts(BaseModel):
    """Which model this is, and what may be asked of it."""

    phist: str
    kind: str
    fingerprint: str = Field(description="A hash of the model's settings and weights.")
    classes: list[Label]
    training_graphs: int
    limits: dict[str, int]


class Problem(BaseModel):
    """Why a request was refused."""

    detail: str
