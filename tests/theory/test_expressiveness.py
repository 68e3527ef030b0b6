"""What is told apart: reliably, and no more than can be."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch

from phist.errors import ConfigError, GraphInputError
from phist.files import write_json
from phist.graphs.convert import as_graphset
from phist.nn.batch import Batch
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.nn.sampling import Roots, all_roots
from phist.theory.expressiveness import CEILINGS, judge_pairs, read_draws, relabelled, variant_name
from phist.theory.expressiveness_record import PAIRS, Record, count_verdicts, current_text, update_document
from phist.theory.pairs import Pair, named_pairs

ROOT = Path(__file__).parents[2]
ORDER = 3
BLIND, SEEING = variant_name("all", False, ORDER), variant_name("all", True, ORDER)
SAMPLED = [variant_name("sampled", moments, ORDER) for moments in (False, True)]


def verdict_of(category, draws=32):
    pair = next(pair for pair in named_pairs() if pair.category == category)
    (verdict,) = judge_pairs([pair], orders=(ORDER,), draws=draws)
    return verdict.told_apart


def test_moments_tell_the_hexagon_from_two_triangles_and_nothing_else_does_with_all_roots():
    found = verdict_of("C6 and two triangles")
    assert (found[BLIND], found[SEEING]) == (False, True)


def test_strongly_regular_graphs_stay_out_of_reach_with_all_roots():
    found = verdict_of("Rook and Shrikhande", draws=2)
    assert not any(found[name] for name in (*CEILINGS, BLIND, SEEING))


@pytest.mark.parametrize("seed", range(3))
def test_a_graph_is_not_told_from_itself(seed):
    graph = as_graphset([nx.gnp_random_graph(12, 0.4, seed=seed)])
    copy = relabelled(graph, np.random.default_rng(seed))
    (verdict,) = judge_pairs([Pair("same", type(graph).concatenate([graph, copy]))], orders=(ORDER,), draws=32, seed=seed)
    assert not any(verdict.told_apart.values())


def test_graphs_of_other_degrees_are_told_apart_by_every_variant():
    pair = as_graphset([nx.star_graph(9), nx.lollipop_graph(5, 5)])
    (verdict,) = judge_pairs([Pair("easy", pair)], orders=(ORDER,), draws=32)
    assert all(verdict.told_apart.values())


@torch.no_grad()
def test_draws_read_at_once_are_read_as_the_network_does():
    graph = as_graphset([nx.lollipop_graph(5, 4)])
    network = make_network(NetworkConfig(orders=(4, 3), channels=(5, 6), bins=3, moments="head"), 2, seed=0).double()
    batch = Batch.from_graphs(graph, dtype=torch.float64)
    network(batch, all_roots(batch))
    nodes = network.eval().node_level(batch, all_roots(batch))
    times = torch.tensor([[1, 0, 2]] * 4 + [[1, 3, 0]] * 5, dtype=torch.float64)
    expected = [network.read(batch, Roots(all_roots(batch).nodes, own[None]), nodes)[0] for own in times.T]
    torch.testing.assert_close(read_draws(network, batch, nodes, times), torch.stack(expected))


# Records --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def record():
    pairs = [pair for pair in named_pairs() if pair.category == "C6 and two triangles"]
    counts = count_verdicts(judge_pairs(pairs, orders=(ORDER,), draws=2))
    return Record(orders=(ORDER,), draws=2, suite={"a": counts, "b": counts}, families={"c": counts})


def test_counts_are_of_pairs_and_variants(record):
    counts = record.families["c"]
    assert counts[PAIRS] == 1 and counts[SEEING] == 1 and counts[BLIND] == 0
    assert counts.keys() == {PAIRS, *CEILINGS, BLIND, SEEING, *SAMPLED}


def test_record_survives_its_file(record, tmp_path):
    record.write(tmp_path / "record.json")
    assert Record.read(tmp_path / "record.json") == record


def test_other_files_are_no_records(tmp_path):
    (tmp_path / "record.json").write_text('{"orders": [3], "heads": 1}')
    with pytest.raises(GraphInputError, match="no record of expressiveness"):
        Record.read(tmp_path / "record.json")


def test_counts_that_are_none_are_refused_at_reading(record, tmp_path):
    for category in ([], {"pairs": 1}, {**record.suite["a"], "pairs": "1"}, {**record.suite["a"], SEEING: -1}):
        write_json(tmp_path / "record.json", {**record.to_dict(), "suite": {"a": category}})
        with pytest.raises(GraphInputError, match="no record of expressiveness"):
            Record.read(tmp_path / "record.json")


def test_a_record_without_a_category_has_a_table_of_zeros(record):
    assert "| 0 |" in Record(record.orders).table("suite")


def test_table_has_a_row_for_every_variant_and_the_sum_of_the_suite(record):
    lines = record.table("suite").splitlines()
    assert lines[0] == "|  | a (1) | b (1) | all (2) |"
    assert f"| {SEEING} | 1 | 1 | 2 |" in lines
    assert len(lines) == 2 + len(CEILINGS) + 4


def test_document_is_written_afresh_from_its_record(record, tmp_path):
    record.write(tmp_path / "record.json")
    document = tmp_path / "text.md"
    document.write_text("before\n<!-- expressiveness:begin families record.json -->\nold\n<!-- expressiveness:end -->\nafter\n")
    update_document(document)
    assert record.table("families") in document.read_text() and "old" not in document.read_text()
    assert current_text(document) == document.read_text()


def test_document_without_a_table_is_refused(tmp_path):
    (tmp_path / "text.md").write_text("nothing")
    with pytest.raises(ConfigError, match="no table of expressiveness"):
        current_text(tmp_path / "text.md")


def test_tables_of_the_theory_are_those_of_the_record():
    document = ROOT / "docs" / "theory.md"
    assert current_text(document) == document.read_text()


def test_the_record_reaches_the_known_ceilings():
    """251 pairs by 1-WL with a marked root, 254 with another 1-WL over the roots."""
    suite = Record.read(ROOT / "experiments" / "expressiveness.json").suite
    assert sum(counts[PAIRS] for counts in suite.values()) == 400
    assert [sum(counts[name] for counts in suite.values()) for name in CEILINGS] == [251, 254]
