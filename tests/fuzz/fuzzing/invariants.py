"""What a GraphSet promises, checked without the code that is under test."""

import numpy as np

from phist.errors import PhistError
from phist.graphs.symmetry import weisfeiler_lehman_hashes

LONGEST_MESSAGE = 700


class Violation(Exception):
    """Something was accepted that should not have been, or an error that cannot be read."""


def check_message(error):
    """An error is short and does not repeat what it was given."""
    if len(str(error)) > LONGEST_MESSAGE:
        raise Violation(f"a message of {len(str(error))} characters: {str(error)[:200]}...")


def check_graphset(graphs):
    """Raise a `Violation` unless the arrays are those of a GraphSet; then use them as others would."""
    node_ptr, indptr, indices = graphs.node_ptr, graphs.indptr, graphs.indices
    _need(len(graphs) > 0, "no graph")
    _need(node_ptr[0] == 0 and (np.diff(node_ptr) > 0).all(), "node_ptr")
    _need(indptr[0] == 0 and (np.diff(indptr) >= 0).all(), "indptr")
    _need(node_ptr[-1] == len(indptr) - 1 and indptr[-1] == len(indices), "lengths")
    _need(graphs.labels is None or len(graphs.labels) == len(graphs), "labels")
    _need(len(graphs.ids) == len(graphs), "ids")
    _check_arcs(graphs)
    repr(graphs)
    graphs.fingerprint()
    _need(len(weisfeiler_lehman_hashes(graphs)) == len(graphs), "hashes")
    _need(sum(graph.n_edges for graph in graphs) == graphs.n_edges, "edges")


def _check_arcs(graphs):
    sizes = np.repeat(graphs.node_counts(), graphs.node_counts())
    rows = np.repeat(np.arange(graphs.n_nodes), np.diff(graphs.indptr))
    _need((graphs.indices >= 0).all() and (graphs.indices < sizes[rows]).all(), "a neighbour outside")
    columns = graphs.indices + np.repeat(graphs.node_ptr[:-1], graphs.node_counts())[rows]
    arcs = list(zip(rows.tolist(), columns.tolist(), strict=True))
    _need(arcs == sorted(set(arcs)), "neighbours unsorted or repeated")
    weights = [1.0] * len(arcs) if graphs.weights is None else graphs.weights.tolist()
    _need(len(weights) == len(arcs) and all(0 <= weight < float("inf") for weight in weights), "weights")
    if not graphs.directed:
        weight_of = dict(zip(arcs, weights, strict=True))
        _need(all(weight_of.get((j, i)) == weight for (i, j), weight in weight_of.items()), "asymmetric")


def check_saved(graphs, folder):
    """What is saved is opened again as it was; labels that cannot be saved are refused."""
    try:
        graphs.save(folder)
    except PhistError as error:
        check_message(error)
        return
    _need(type(graphs).open(folder) == graphs, "saved and opened again it differs")


def _need(holds, what):
    if not holds:
        raise Violation(what)
