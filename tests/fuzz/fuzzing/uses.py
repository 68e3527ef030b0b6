"""What is asked of a fitted model beside predictions, with odd graphs, edits and options; and files of a validation."""

import functools
import json

import networkx as nx
import numpy as np

from fuzzing.invariants import Violation
from fuzzing.memory import ODD, random_graphs
from fuzzing.models import fuzz_graphs, saved_models
from fuzzing.mutation import as_json, mutate_bytes, mutate_value


def fuzz_explain(random, folder):
    graph = random.choice((nx.path_graph(5), nx.cycle_graph(4), nx.empty_graph(1), nx.star_graph(4)))
    graphs = random_graphs(random) if random.random() < 0.4 else graph
    options = {"votes": random.random() < 0.5, "edges": random.random() < 0.7, "nodes": random.random() < 0.7}
    if random.random() < 0.4:
        options["target"] = random.choice(("path", "cycle", *ODD))
    if random.random() < 0.4:
        options["max_deletions"] = random.choice((0, 1, 10**9, *ODD))
    edits = {name: _items(random) for name in ("add", "remove") if random.random() < 0.6}
    question = random.choice(
        (
            lambda model: _explained(model, graphs, options),
            lambda model: _check_row(_explainer().what_if(model, graph, **edits).after),
            lambda model: _explainer().delete(model, graph, [_items(random)] if random.random() < 0.8 else _items(random)),
        )
    )
    return lambda: question(explained_model())


def fuzz_validation(random, folder):
    file = folder / "records.jsonl"
    content = results_of_validation()
    if random.random() < 0.3:
        file.write_bytes(mutate_bytes(random, content))
    else:
        lines = content.decode().splitlines()
        place = random.randrange(len(lines))
        lines[place] = as_json(mutate_value(random, json.loads(lines[place])))
        file.write_text("\n".join(lines) + "\n")

    def resume():
        validation = validate(file)
        if len(validation.results) == validation.folds:
            _check_row(validation.summary().probabilities.sum(0) / len(fuzz_graphs()))

    return resume


USE_FORMATS = {"explain": fuzz_explain, "validation": fuzz_validation}


def _explainer():
    import phist.explain

    return phist.explain


def _explained(model, graphs, options):
    for one in _explainer().explain(model, graphs, **options):
        json.dumps(one.to_dict(), allow_nan=False, default=str)
        str(one)


def _check_row(probabilities):
    if not np.isfinite(probabilities).all() or abs(probabilities.sum() - 1) > 1e-3:
        raise Violation(f"probabilities {probabilities}")


def _items(random):
    """Nodes and edges to add, remove or delete, some of which no graph has."""
    odd = random.choice(ODD)
    items = [random.choice((0, 1, 4, 5, (0, 1), (1, 2), [0, 2], (0, 3, 2.0), (0, 5), odd, (0, odd), (0, 2, odd))) for _ in range(3)]
    return random.choice((items[:1], items, items[0], (item for item in items), odd))


@functools.cache
def explained_model():
    from phist.estimators import load_estimator

    return load_estimator(saved_models() / "ensemble")


def validate(file):
    from phist import StructuralClassifier
    from phist.estimators.validation import CrossValidation

    model = StructuralClassifier("low", members=("colours",), random_state=0, progress=False)
    return CrossValidation(model, fuzz_graphs(), folds=2, records=file)


@functools.cache
def results_of_validation():
    file = saved_models() / "validation.jsonl"
    list(validate(file).run())
    return file.read_bytes()
