"""Whatever the graphs, they come back from disk, from selection and from other libraries as they were."""

import csv
import json
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phist import as_graphset, read_graphs
from phist.errors import PhistError
from phist.graphs.graphset import GraphSet
from phist.graphs.packing import Reading, pack

patient = settings(deadline=None, max_examples=60)  # the first example pays for imports and compilation


whole_numbers = st.integers(-3, 3)


@st.composite
def edge_lists(draw, weighted=False):
    """A node count and distinct edges between different nodes."""
    n_nodes = draw(st.integers(1, 7))
    pairs = [(u, v) for u in range(n_nodes) for v in range(u)]
    edges = sorted(draw(st.sets(st.sampled_from(pairs)))) if pairs else []
    if not weighted:
        return n_nodes, edges
    sizes = st.floats(0.01, 100, allow_nan=False)
    return n_nodes, [(u, v, draw(sizes)) for u, v in edges]


def graphsets(weighted=False, labels=whole_numbers):
    items = st.lists(st.tuples(edge_lists(weighted), labels), min_size=1, max_size=6)
    return items.map(lambda pairs: as_graphset([graph for graph, _ in pairs], labels=[label for _, label in pairs]))


any_graphset = st.one_of(graphsets(), graphsets(weighted=True), graphsets(labels=st.text("äbc\n", max_size=4)))


def rows_of(graph):
    """The undirected edges of an element, each once."""
    matrix = graph.adjacency().tocoo()
    return [(int(u), int(v), float(w)) for u, v, w in zip(*matrix.coords, matrix.data, strict=True) if u <= v]


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


# Disk ------------------------------------------------------------------------------------------------------------------


@patient
@given(any_graphset)
def test_a_saved_set_opens_equal(folder, graphs):
    graphs.save(folder / "set")
    assert GraphSet.open(folder / "set") == graphs


@patient
@given(any_graphset)
def test_a_set_saved_in_parts_opens_equal(folder, graphs):
    from phist.graphs.storage import write_graphset

    write_graphset(folder / "parts", (graphs[i : i + 1] for i in range(len(graphs))))
    assert GraphSet.open(folder / "parts") == graphs


@patient
@given(graphsets(), st.booleans(), st.randoms(use_true_random=False))
def test_a_tu_archive_reads_back(folder, graphs, both_directions, random):
    rows, indicator = [], []
    for number, graph in enumerate(graphs, start=1):
        first = len(indicator) + 1
        indicator += [number] * graph.n_nodes
        rows += [(first + u, first + v) for u, v, _ in rows_of(graph)]
    rows += [(v, u) for u, v in rows] if both_directions else []
    random.shuffle(rows)
    with zipfile.ZipFile(folder / "T.zip", "w") as archive:
        archive.writestr("T/T_A.txt", "".join(f"{u}, {v}\n" for u, v in rows))
        archive.writestr("T/T_graph_indicator.txt", "".join(f"{number}\n" for number in indicator))
        archive.writestr("T/T_graph_labels.txt", "".join(f"{label}\n" for label in graphs.labels))
    assert read_graphs(folder / "T.zip") == graphs


@patient
@given(any_graphset)
def test_jsonl_reads_back(folder, graphs):
    lines = [
        json.dumps({"edges": rows_of(graph), "n_nodes": graph.n_nodes, "label": graph.label, "id": graph.id}) for graph in graphs
    ]
    (folder / "g.jsonl").write_text("\n".join(lines))
    assert read_graphs(folder / "g.jsonl") == graphs


@patient
@given(graphsets(weighted=True))
def test_a_table_reads_back(folder, graphs):
    with (folder / "edges.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["graph", "source", "target", "weight"])
        for graph in graphs:
            writer.writerows([graph.id, node, "", ""] for node in range(graph.n_nodes))
            writer.writerows([graph.id, u, v, repr(w)] for u, v, w in rows_of(graph))
    labels = {graph.id: graph.label for graph in graphs}
    assert read_graphs(folder / "edges.csv", labels=labels) == graphs


@patient
@given(graphsets(weighted=True))
def test_graphml_reads_back(folder, graphs):
    for graph in graphs:
        nx.write_graphml(graph.to_networkx(), folder / "g.graphml")
        assert read_graphs(folder / "g.graphml") == as_graphset([graph], labels=None, ids=[0]).with_labels(None)


@patient
@given(st.binary(max_size=200), st.sampled_from(["a.zip", "a.jsonl", "a.csv", "a.graphml", "a.gml", "a.edges", "a.parquet"]))
def test_no_bytes_bring_a_reader_down(folder, content, name):
    (folder / name).write_bytes(content)
    with suppress(PhistError):
        assert len(read_graphs(folder / name)) > 0


@patient
@given(st.text("0123456789-+, \t\r\nx.", max_size=60))
def test_no_text_brings_the_integer_parser_down(folder, text):
    place = folder / "U"
    place.mkdir(exist_ok=True)
    for name, content in {"A": text, "graph_indicator": "1\n1\n1\n", "graph_labels": "0\n"}.items():
        (place / f"U_{name}.txt").write_bytes(content.encode())
    try:
        read_graphs(place)
    except PhistError:
        return
    for line in text.replace("\r", "").split("\n"):
        numbers = line.replace(",", " ").split()
        assert not numbers or [1 <= int(number) <= 3 for number in numbers] == [True, True]


# Selection and joining ---------------------------------------------------------------------------------------------------


@patient
@given(any_graphset, st.data())
def test_selection_selects_like_a_list(graphs, data):
    positions = data.draw(st.lists(st.integers(-len(graphs), len(graphs) - 1), max_size=8))
    chosen, elements = graphs[positions], list(graphs)
    assert [element.id for element in chosen] == [elements[position].id for position in positions]
    for element, position in zip(chosen, positions, strict=True):
        assert np.array_equal(element.adjacency().toarray(), elements[position].adjacency().toarray())


@patient
@given(any_graphset, st.slices(6))
def test_a_slice_equals_the_positions_it_stands_for(graphs, key):
    assert graphs[key] == graphs[np.arange(len(graphs))[key]]


@patient
@given(any_graphset)
def test_elements_join_into_the_set_they_came_from(graphs):
    assert as_graphset(list(graphs)) == graphs


@patient
@given(any_graphset, st.integers(0, 6))
def test_a_set_cut_in_two_concatenates_to_itself(graphs, cut):
    assert GraphSet.concatenate([graphs[:cut], graphs[cut:]]) == graphs


# Packing -----------------------------------------------------------------------------------------------------------------


@patient
@given(any_graphset)
def test_matrices_give_the_set_they_came_from(graphs):
    assert as_graphset([graph.adjacency() for graph in graphs], labels=graphs.labels) == graphs


@patient
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.floats(0.1, 10)), max_size=12), st.booleans())
def test_packing_equals_a_dense_sum(rows, keep):
    dense = np.zeros((5, 5))
    for u, v, weight in rows:
        dense[u, v] += weight
    source, target, weights = (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.empty(0, int),) * 3
    packed = pack(np.array([5]), source, target, weights, reading=Reading("keep" if keep else None, "keep"))
    assert packed[0].adjacency().toarray() == pytest.approx(dense if keep else np.maximum(dense, dense.T))


@patient
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from([1.0, 2.0])), max_size=8))
def test_an_edge_list_is_its_sum_or_the_sum_with_its_reverse(rows):
    dense = np.zeros((5, 5))
    for u, v, weight in rows:
        dense[u, v] += weight
    expected = dense if np.array_equal(dense, dense.T) else dense + dense.T - np.diag(np.diag(dense))
    assert np.array_equal(as_graphset((5, rows), self_loops="keep")[0].adjacency().toarray(), expected)


@patient
@given(st.lists(st.one_of(edge_lists(), edge_lists(weighted=True)), min_size=1, max_size=5))
def test_a_graph_does_not_depend_on_the_others_in_the_list(lists):
    together = as_graphset(lists)
    for position, single in enumerate(lists):
        assert together[position : position + 1] == as_graphset(single, ids=[position])


@patient
@given(any_graphset)
def test_neighbours_are_sorted_within_their_graph_and_mutual(graphs):
    for graph in graphs:
        dense = graph.adjacency().toarray()
        assert np.array_equal(dense, dense.T)
        for start, stop in zip(graph.indptr[:-1], graph.indptr[1:], strict=True):
            assert (np.diff(graph.indices[start:stop]) > 0).all()
