import pytest
import schemathesis

from phist import StructuralClassifier, StructuralEmbedder
from phist.graphs.generate import make_trees
from phist.serving.app import make_app
from phist.serving.limits import Limits


@pytest.fixture(scope="session")
def graphs():
    return make_trees(30, n_nodes=10, seed=0)


@pytest.fixture(scope="session")
def model(graphs, tmp_path_factory):
    path = tmp_path_factory.mktemp("serving") / "trees"
    StructuralClassifier("low", training={"epochs": 2}, random_state=0, progress=False).fit(graphs).save(path)
    return path


@pytest.fixture(scope="session")
def embedder(graphs, tmp_path_factory):
    path = tmp_path_factory.mktemp("serving") / "vectors"
    StructuralEmbedder(training={"epochs": 1}, random_state=0, progress=False).fit(graphs).save(path)
    return path


@pytest.fixture(scope="session")
def app(model):
    return make_app(model, Limits(body_bytes=20_000, graphs=20, nodes=300, explained_nodes=40))


@pytest.fixture(scope="session")
def description(app):
    """What the server says of itself."""
    return schemathesis.openapi.from_asgi("/openapi.json", app)


@pytest.fixture(scope="session")
def client(app):
    from fastapi.testclient import TestClient

    with TestClient(app) as client:
        yield client


@pytest.fixture(scope="session")
def body(graphs):
    """A set of graphs as the body of a request."""

    def write(chosen):
        return {"graphs": [{"id": f"g{one.id}", "n_nodes": one.n_nodes, "edges": one.edges().tolist()} for one in chosen]}

    return write
