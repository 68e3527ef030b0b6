"""Bodies of requests to a server."""

import functools
import json
import math

from fuzzing.graph_files import GRAPHS
from fuzzing.invariants import Violation, check_message
from fuzzing.models import saved_models
from fuzzing.mutation import as_json, mutate_bytes, mutate_value

ANSWERED, REFUSED = 200, (400, 413, 422)


def fuzz_request(random, folder):
    question = {"graphs": [dict(graph) for graph in GRAPHS]}
    path = random.choice(("/predict", "/embed", "/explain"))
    if path == "/explain" and random.random() < 0.5:
        question |= {"target": "path", "max_deletions": 2}
    body = as_json(mutate_value(random, question)).encode(errors="surrogatepass")
    sent = mutate_bytes(random, body) if random.random() < 0.3 else body
    return lambda: _check_answer(_client().post(path, content=sent, headers={"content-type": "application/json"}))


REQUEST_FORMATS = {"request": fuzz_request}


def _check_answer(answer):
    content = json.loads(answer.text, parse_constant=_not_json)
    if answer.status_code in REFUSED:
        check_message(content["detail"])
    elif answer.status_code != ANSWERED:
        raise Violation(f"status {answer.status_code}")
    for prediction in content.get("predictions", ()):
        if not math.isclose(sum(prediction["probabilities"]), 1, abs_tol=1e-4):
            raise Violation(f"probabilities {prediction['probabilities']}")


def _not_json(name):
    raise Violation(f"{name} in an answer")


@functools.cache
def _client():
    """A client that raises whatever the application lets through."""
    from fastapi.testclient import TestClient

    from phist.serving.app import make_app

    client = TestClient(make_app(saved_models() / "ensemble"))
    client.__enter__()  # for as long as the process lasts
    return client
