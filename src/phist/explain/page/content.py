"""What a page carries: the map, the drawings, the explanations and the networks."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from phist.estimators.fitted.classifier import FittedClassifier
from phist.explain.explainer import explain, read_graphs_of
from phist.explain.explanation import Explanation
from phist.explain.export import coverage
from phist.explain.page.details import details_content, similar_content
from phist.explain.page.drawings import Drawing, draw, drawings_content
from phist.explain.page.networks import networks_content
from phist.explain.page.packing import Packer
from phist.explain.page.plane import neighbours_of, plane_of, reduced
from phist.explain.page.roots import Compared, class_averages, compare_roots, node_histograms
from phist.explain.page.selection import MOST_MAPPED, evenly, graphs_to_detail, graphs_to_draw
from phist.explain.page.survey import Survey
from phist.graphs.arrays import IntArray
from phist.progress import SlowProgress, waiting

PLANE_LEVELS = 65535


def page_content(
    model: FittedClassifier, graphs: Any, wanted: Sequence[int], target: Hashable, packer: Packer, max_deletions: int | None = None
) -> dict[str, Any]:
    """Everything but the arrays, which ``packer`` collects.

    Args:
        graphs: those of the map, anything `as_graphset` takes.
        wanted: positions of those to explain in full; chosen by what they tell unless given.
        target: the class to explain; that which is predicted for each graph unless given.
    """
    read = read_graphs_of(model, graphs)
    mapped = evenly(len(read), max(MOST_MAPPED, len(wanted)), wanted)
    survey = Survey.of(model, read[mapped])
    alike = survey.alike()
    detailed = graphs_to_detail(np.flatnonzero(np.isin(mapped, wanted)).tolist(), survey.labels, survey.probabilities, alike)
    explanations = explain(model, survey.graphs[detailed], target, max_deletions=max_deletions)
    drawings = _drawings(survey, detailed, explanations)
    in_full = [drawing for number in detailed.tolist() if (drawing := drawings[number]) is not None]
    with waiting("comparing roots", model.progress):
        compared = compare_roots(list(survey.readers), survey.graphs, detailed) if survey.readers else None
    whole = sorted({len(drawing.nodes) for drawing in drawings if drawing is not None and drawing.whole})
    return {
        "classes": survey.classes,
        "total": len(read),
        "map": _map(survey, alike, packer),
        "drawings": drawings_content(drawings, packer),
        "details": details_content(explanations, in_full, detailed, packer)
        | similar_content(compared, survey.graphs, in_full, detailed, packer),
        "asked": bool(len(wanted)),
        "model": networks_content(survey.carried, whole, packer) | _about(survey, explanations[0]),
        "averages": _averages(survey, compared, packer),
    }


def _drawings(survey: Survey, detailed: IntArray, explanations: Sequence[Explanation]) -> list[Drawing | None]:
    values = {number: one.node_values for number, one in zip(detailed.tolist(), explanations, strict=True)}
    shown = graphs_to_draw(survey.graphs.node_counts() + survey.graphs.edge_counts(), detailed)
    found: list[Drawing | None] = []
    with SlowProgress("drawing graphs", len(survey.graphs), survey.model.progress) as bar:
        for number, graph in enumerate(survey.graphs):
            found.append(draw(graph, values.get(number)) if shown[number] else None)
            bar.advance(1)
    return found


def _map(survey: Survey, alike: IntArray, packer: Packer) -> dict[str, Any]:
    with waiting("placing graphs on the map", survey.model.progress):
        rows = reduced(survey.compared_by())
        places = np.round(plane_of(rows) * PLANE_LEVELS)
        near = neighbours_of(rows)
    said = survey.network_probabilities
    return {
        "ids": [str(identity) for identity in survey.graphs.ids.tolist()],
        "directed": survey.graphs.directed,
        "nodes": packer.whole(survey.graphs.node_counts()),
        "edges": packer.whole(survey.graphs.edge_counts()),
        "labels": packer.whole(survey.labels + 1),
        "probabilities": packer.add(survey.probabilities, "f4"),
        "said": None if said is None else packer.add(said, "f4"),
        "training": packer.whole(survey.trained_on()),
        "alike": packer.whole(alike),
        "x": packer.add(places[:, 0], "u2"),
        "y": packer.add(places[:, 1], "u2"),
        "near": packer.whole(near),
        "nNear": near.shape[1],
    }


def _about(survey: Survey, explanation: Explanation) -> dict[str, Any]:
    return {"covered": survey.covered, "weights": dict(explanation.weights), "coverage": coverage(explanation)}


def _averages(survey: Survey, compared: Compared | None, packer: Packer) -> list[dict[str, Any]]:
    """For every network the mean histogram of each class, of graphs and of roots; by predictions where no class is known."""
    if compared is None:
        return []
    known = survey.labels if (survey.labels >= 0).any() else survey.probabilities.argmax(1)
    of_roots = np.repeat(known[compared.graphs], survey.graphs.node_counts()[compared.graphs])
    n_classes, found = len(survey.classes), []
    for reader, embeddings in zip(survey.readers, compared.embeddings, strict=True):
        graphs = class_averages(survey.histograms(reader)[:, : reader.n_histogram], known, n_classes)
        roots = class_averages(node_histograms(reader, embeddings), of_roots, n_classes)
        found.append({"graph": packer.add(graphs, "f4"), "node": packer.add(roots, "f4")})
    return found
