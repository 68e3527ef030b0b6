"""Pairs of graphs: the families have the properties that they are known for, and files are read or refused."""

from collections import Counter

import networkx as nx
import pytest

from phist.errors import GraphInputError
from phist.theory.pairs import named_pairs, read_pairs, shrikhande_graph


def written(path, *rows):
    path.write_text("\n".join(["category\tfirst\tsecond", *rows]) + "\n")
    return path


def test_families_have_all_their_pairs():
    assert sorted(Counter(pair.category for pair in named_pairs()).values()) == [1, 1, 15, 45]


def test_the_two_graphs_of_a_pair_have_equally_many_nodes():
    assert all(len(set(pair.graphs.node_counts().tolist())) == 1 for pair in named_pairs())


def test_rook_and_shrikhande_are_strongly_regular_alike_but_not_the_same():
    rook, other = nx.cartesian_product(nx.complete_graph(4), nx.complete_graph(4)), shrikhande_graph()
    assert all(nx.is_strongly_regular(graph) and set(dict(graph.degree).values()) == {6} for graph in (rook, other))
    assert (max(map(len, nx.find_cliques(rook))), max(map(len, nx.find_cliques(other)))) == (4, 3)


def test_pairs_are_read_from_graph6(tmp_path):
    graphs = [nx.cycle_graph(6), nx.path_graph(6)]
    texts = [nx.to_graph6_bytes(graph, header=False).decode().strip() for graph in graphs]
    (pair,) = read_pairs(written(tmp_path / "pairs.tsv", "mine\t" + "\t".join(texts)))
    assert pair.category == "mine"
    assert pair.graphs.edge_counts().tolist() == [6, 5]


@pytest.mark.parametrize(
    "row",
    ["mine\tE", "mine\t\x80\tE?", "mine", "mine\t\t", "mine\t" + "x" * 200_000],
    ids=["short", "no letters", "alone", "empty", "long"],
)
def test_damaged_files_are_refused_with_what_is_needed(tmp_path, row):
    with pytest.raises(GraphInputError, match="category, first, second") as raised:
        read_pairs(written(tmp_path / "pairs.tsv", row))
    assert len(str(raised.value)) < 500


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(GraphInputError, match=r"none\.tsv cannot be read"):
        read_pairs(tmp_path / "none.tsv")
