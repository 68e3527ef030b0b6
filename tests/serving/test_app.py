from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from fastapi.testclient import TestClient

from phist import StructuralClassifier, StructuralEmbedder
from phist.errors import ConfigError, ModelFileError
from phist.serving.app import make_app
from phist.serving.service import Service

TRIANGLE = {"n_nodes": 3, "edges": [[0, 1], [1, 2], [2, 0]]}


def refused(response, status, text):
    assert response.status_code == status, response.text
    assert text in response.json()["detail"]


def test_predict_answers_what_the_model_predicts(client, model, graphs, body):
    answer = client.post("/predict", json=body(graphs[:5])).json()
    known = StructuralClassifier.load(model)
    assert [one["graph"] for one in answer["predictions"]] == [f"g{name}" for name in graphs[:5].ids]
    assert [one["predicted"] for one in answer["predictions"]] == known.predict(graphs[:5]).tolist()
    found = [one["probabilities"] for one in answer["predictions"]]
    np.testing.assert_allclose(found, known.predict_proba(graphs[:5]), atol=1e-6)
    assert answer["classes"] == known.classes_.tolist()


def test_predict_flags_what_the_model_was_fitted_to(client, graphs, body):
    assert client.post("/predict", json=body(graphs[:1])).json()["predictions"][0]["flags"] == ["look-alike"]


def test_embed_answers_the_embeddings(client, model, graphs, body):
    answer = client.post("/embed", json=body(graphs[:3])).json()
    found = [one["embedding"] for one in answer["embeddings"]]
    np.testing.assert_allclose(found, StructuralClassifier.load(model).transform(graphs[:3]), rtol=1e-6)


def test_explain_answers_as_the_command_line_does(client, model, graphs, body):
    answer = client.post("/explain", json=body(graphs[:1]) | {"target": "uniform"}).json()["explanations"][0]
    own = StructuralClassifier.load(model).explain(graphs[:1], "uniform")[0].to_dict()
    assert answer["network"]["shares"] == own["network"]["shares"]
    assert answer["deletions"]["edges"] == own["deletions"]["edges"]
    assert answer["target"] == "uniform"


def test_an_answer_does_not_depend_on_the_graphs_beside(client, graphs, body):
    alone = client.post("/embed", json=body(graphs[3:4])).json()["embeddings"][0]
    together = client.post("/embed", json=body(graphs[:8])).json()["embeddings"][3]
    assert alone == together


def test_graphs_without_an_id_are_numbered(client):
    answer = client.post("/predict", json={"graphs": [TRIANGLE, TRIANGLE | {"id": "t"}]}).json()
    assert [one["graph"] for one in answer["predictions"]] == [0, "t"]


def test_a_line_of_a_labelled_file_can_be_sent_as_it_is(client):
    line = {"edges": [["a", "b"], ["b", "c"]], "nodes": ["a", "b", "c", "d"], "label": "path", "directed": False}
    assert client.post("/predict", json={"graphs": [line]}).status_code == 200


@pytest.mark.parametrize("graph", [{"n_nodes": 1, "edges": []}, {"n_nodes": 4, "edges": []}, {"edges": [[0, 0]]}])
def test_degenerate_graphs_are_answered(client, graph):
    for verb in ("predict", "embed", "explain"):
        assert client.post(f"/{verb}", json={"graphs": [graph]}).status_code == 200


def test_weights_that_the_model_does_not_know_are_noticed(client):
    answer = client.post("/predict", json={"graphs": [{"edges": [[0, 1, 2.5]]}]}).json()
    assert "they are ignored" in answer["notices"][0]


def test_health_and_model_say_what_this_is(client, model):
    assert client.get("/health").json() == {"status": "ok", "waiting": 0}
    facts = client.get("/model").json()
    assert (facts["kind"], facts["training_graphs"], facts["limits"]["nodes"]) == ("classifier", 30, 300)


def test_the_page_of_the_api_needs_nothing_from_elsewhere(client):
    page = client.get("/docs").text
    assert "swagger-ui-bundle.js" in page
    assert "//" not in page.replace("<!--", "").replace("<!DOCTYPE", "").split("<script src=")[1].split(">")[0]
    assert client.get("/static-offline-docs/swagger-ui-bundle.js").status_code == 200


def test_too_long_a_body_is_refused(client):
    refused(client.post("/predict", content=b" " * 20_001), 413, "longer than 20,000 bytes")


def test_too_long_a_body_is_refused_without_its_length(client):
    pieces = (b" " * 1000 for _ in range(30))
    refused(client.post("/predict", content=pieces, headers={"content-type": "application/json"}), 413, "20,000 bytes")


def test_too_many_graphs_are_refused(client):
    refused(client.post("/predict", json={"graphs": [TRIANGLE] * 21}), 413, "20 are the most")


def test_claimed_nodes_are_refused_before_memory_is_taken(client):
    refused(client.post("/embed", json={"graphs": [{"edges": [], "n_nodes": 2**31}]}), 413, "300 are the most")


def test_named_nodes_count_too(client):
    refused(client.post("/embed", json={"graphs": [{"edges": [], "nodes": list(range(301))}]}), 413, "301 nodes")


def test_explanations_have_a_limit_of_their_own(client):
    graph = {"edges": [[0, 1]], "n_nodes": 41}
    refused(client.post("/explain", json={"graphs": [graph]}), 413, "to explain have 41 nodes")
    assert client.post("/predict", json={"graphs": [graph]}).status_code == 200


def test_an_edge_that_leaves_the_graph_is_refused(client):
    refused(client.post("/predict", json={"graphs": [{"edges": [[0, 5]], "n_nodes": 2}]}), 422, "graph 0: 5 does not fit")


def test_an_unknown_class_to_explain_is_refused(client):
    refused(client.post("/explain", json={"graphs": [TRIANGLE], "target": "cat"}), 422, "target='cat' is no class")


@pytest.mark.parametrize("content", [b'{"graphs": [{"edges": [[0, NaN]], "id": "\\ud800"}]}', b'{"graphs": 5}', b'{"graphs": []}'])
def test_bodies_of_another_kind_are_refused_in_one_line(client, content):
    response = client.post("/predict", content=content, headers={"content-type": "application/json"})
    refused(response, 422, "graphs")
    assert len(response.json()["detail"]) < 400


@pytest.mark.parametrize("content", [b"[" * 5_000, b"9" * 5_000, b"\xff", b""])
def test_what_is_not_json_is_refused(client, content):
    response = client.post("/predict", content=content, headers={"content-type": "application/json"})
    assert response.status_code in (400, 422)
    assert len(response.text) < 400


def test_a_body_that_is_not_json_is_said_to_be_none(client):
    response = client.post("/predict", content=b'{"graphs": ', headers={"content-type": "application/json"})
    refused(response, 422, "the body is not JSON (Expecting value at character 11)")


def test_the_root_leads_to_the_page_of_the_api(client):
    assert client.get("/", follow_redirects=False).headers["location"] == "/docs"


def test_an_embedder_embeds_and_does_nothing_else(embedder, graphs, body):
    with TestClient(make_app(embedder)) as client:
        found = client.post("/embed", json=body(graphs[:2])).json()["embeddings"]
        np.testing.assert_allclose(found[1]["embedding"], StructuralEmbedder.load(embedder).transform(graphs[:2])[1], rtol=1e-6)
        assert client.post("/predict", json=body(graphs[:2])).status_code == 404


def test_an_application_can_be_started_again(model, graphs, body):
    app = make_app(model)
    for _ in range(2):
        with TestClient(app) as client:
            assert client.post("/embed", json=body(graphs[:1])).status_code == 200


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(ModelFileError):
        make_app(tmp_path)


def test_an_unknown_engine_is_refused(model):
    with pytest.raises(ConfigError, match="engine"):
        make_app(model, engine="steam")


def test_requests_at_the_same_time_get_the_answers_they_get_alone(client, graphs, body):
    asked = [("predict", body(graphs[number : number + 1])) for number in range(6)]
    asked += [("embed", body(graphs[:3])), ("explain", body(graphs[:1]))]

    def ask(question):
        return client.post(f"/{question[0]}", json=question[1]).json()

    alone = [ask(question) for question in asked]
    with ThreadPoolExecutor(len(asked)) as clients:
        assert list(clients.map(ask, asked)) == alone


def test_the_first_request_of_every_kind_finds_a_server_that_has_answered_one(model, monkeypatch):
    asked = []
    for name in ("_embeddings", "_predictions", "_explanations"):
        whole = getattr(Service, name)
        monkeypatch.setattr(Service, name, lambda *given, name=name, whole=whole: asked.append(name) or whole(*given))
    with TestClient(make_app(model)):
        assert asked == ["_embeddings", "_predictions", "_explanations"]


def test_weights_may_stand_beside_the_edges(client):
    beside = client.post("/predict", json={"graphs": [{"n_nodes": 3, "edges": [[0, 1], [1, 2]], "weights": [1, 2.5]}]})
    within = client.post("/predict", json={"graphs": [{"n_nodes": 3, "edges": [[0, 1, 1], [1, 2, 2.5]]}]})
    assert beside.status_code == 200, beside.text
    assert beside.json() == within.json()
