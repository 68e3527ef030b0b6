"""Rows are counted as one counts them by hand."""

import sys
from dataclasses import replace
from pathlib import Path

import networkx
import pytest

from phist import as_graphset
from phist.nn.config import NetworkConfig
from phist.nn.sampling import RootSampler

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))  # scripts, in no package
import reductions

CONFIG = NetworkConfig(orders=(2, 2), sampler=RootSampler("all"))  # two hops


def rows_of(*graphs, config=CONFIG):
    return reductions.count_rows(as_graphset(graphs), config)


def test_leaves_of_a_star_are_one_root_and_two_rows():
    counted = rows_of(networkx.star_graph(9))
    assert counted.distinct == 10 * 10
    assert counted.twins == counted.both == 2 * 3  # roots: the middle and a leaf; rows: the middle, a leaf, all other leaves


def test_balls_of_a_ring_are_counted_with_the_background():
    counted = rows_of(networkx.cycle_graph(20))
    assert counted.twins == counted.distinct == 20 * 20
    assert counted.balls == counted.both == 20 + 20 * 5
    assert counted.by_balls == 1


def test_a_ball_that_holds_everything_is_not_taken():
    assert rows_of(networkx.cycle_graph(6)).balls == 36


def test_root_by_root_statistics_leave_no_background():
    config = replace(CONFIG, statistics="per-root")
    counted = rows_of(networkx.cycle_graph(20), config=config)
    assert counted.balls == counted.both == counted.distinct


def test_graphs_of_a_set_add_up():
    star, ring = networkx.star_graph(9), networkx.cycle_graph(20)
    assert rows_of(star, ring).both == rows_of(star).both + rows_of(ring).both


def test_draws_count_as_often_as_they_are_drawn():
    counted = rows_of(networkx.path_graph(1), config=replace(CONFIG, sampler=RootSampler(count=32)))
    assert (counted.draws, counted.distinct) == (32, 1)


def test_a_document_is_changed_between_its_marks_only(tmp_path):
    (tmp_path / "page.md").write_text(f"before\n{reductions.BEGIN}\nold\n{reductions.END}\nafter\n")
    reductions.update(tmp_path / "page.md", "new")
    assert (tmp_path / "page.md").read_text() == f"before\n{reductions.BEGIN}\n\nnew\n\n{reductions.END}\nafter\n"


@pytest.mark.parametrize("name", ["MUTAG", "IMDB-MULTI"])
def test_the_document_has_a_row_for_every_dataset(name):
    text = (Path(__file__).parents[2] / "docs" / "engine.md").read_text()
    table = text.partition(reductions.BEGIN)[2].partition(reductions.END)[0]
    assert f"| {name} |" in table
