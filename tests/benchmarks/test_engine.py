"""The parts of the engine's benchmark that can be right or wrong: counts of operations, ratios, resuming."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from phist.engine.plan import make_plan
from phist.graphs.convert import as_graphset
from phist.nn.config import NetworkConfig
from phist.nn.sampling import Draws

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))  # scripts, in no package
import engine
import engine_results
import engine_scaling
import engine_work

CONFIG = NetworkConfig(orders=(3, 2), channels=(4, 5), bins=3)
PATH = as_graphset([(40, [(node, node + 1) for node in range(39)])])
MACHINE = {"cores": 2}


def one_draw(node):
    return Draws(np.array([0, 1]), np.array([node], np.int32), np.ones(1, np.float32))


def operations(count, node, balls):
    plan = make_plan(PATH, 0.8, reach=3, balls=balls)
    return count(CONFIG, plan, np.array([0]), one_draw(node))


def steps_result(dataset, pyg, engine):
    seconds = {"pyg": pyg, "reference": pyg, "engine": engine, "engine, one thread": engine}
    return {"kind": "steps", "dataset": dataset, "seconds": seconds}


def test_without_twins_and_balls_only_the_wide_layer_saves_operations():
    needed, printed = (operations(count, 20, False) for count in (engine_work.needed_operations, engine_work.printed_operations))
    wide, twin_free = 5 * 3, 40
    assert needed.bins == printed.bins
    assert printed.linear - needed.linear == 3 * 2 * wide * 3 * 4 * (twin_free - 1)


def test_bins_are_counted_for_both_levels_and_both_ways():
    printed = operations(engine_work.printed_operations, 20, False)
    assert printed.bins == 2 * engine_work.PER_BIN * 5 * 3 * (40 + 40)


def test_a_ball_counts_its_rows_and_one_background():
    needed = operations(engine_work.needed_operations, 20, True)
    within_three_hops = 7
    assert needed.bins == 2 * engine_work.PER_BIN * 5 * 3 * (within_three_hops + 40 + 40)


def test_slope_of_a_power_law_is_its_exponent():
    sizes = [10, 100, 1000]
    assert engine_scaling.slope(sizes, [3 * size**1.25 for size in sizes]) == pytest.approx(1.25)


def test_titles_of_panels_do_not_reach_their_neighbours():
    points = [{"size": size, "step": float(size)} for size in (10, 100)]
    curves = {"nodes, random": points, "nodes, power law": points}
    assert max(map(len, engine_results._message(list(curves), curves).splitlines())) < 55


def test_power_law_graphs_have_hubs_and_about_the_edges_asked_for():
    graphs = engine_scaling.make_power_law_graph(2000, 10_000, seed=0)
    assert 8_000 < graphs.n_edges <= 10_000
    assert graphs.degrees().max() > 20 * np.median(graphs.degrees())


def test_ratio_is_taken_within_rounds():
    result = steps_result("MUTAG", pyg=[10.0, 100.0, 40.0], engine=[1.0, 10.0, 2.0])
    assert engine_results.ratio(result, "pyg") == 10


def test_mean_of_ratios_is_geometric():
    found = {"a": steps_result("MUTAG", [4.0], [1.0]), "b": steps_result("NCI1", [9.0], [1.0])}
    assert engine_results.steps_table(found)[-1][5] == "6.0x"


def test_results_are_found_again(tmp_path):
    engine.Results(tmp_path / "results.json", MACHINE).add("steps/MUTAG", {"kind": "steps"})
    assert engine.Results(tmp_path / "results.json", MACHINE).found == {"steps/MUTAG": {"kind": "steps"}}


def test_measuring_some_again_loses_no_others(tmp_path):
    results = engine.Results(tmp_path / "results.json", MACHINE)
    results.add("steps/MUTAG", {"seconds": 1})
    results.add("memory/MUTAG/pyg", {"peak": 1})
    again = engine.Results(tmp_path / "results.json", MACHINE, again=["steps/MUTAG"])
    assert again.found == {"memory/MUTAG/pyg": {"peak": 1}}
    again.add("steps/MUTAG", {"seconds": 2})
    assert engine.Results(tmp_path / "results.json", MACHINE).found == {
        "memory/MUTAG/pyg": {"peak": 1},
        "steps/MUTAG": {"seconds": 2},
    }


def test_published_results_are_complete_and_their_tables_current(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["engine.py", "all"])
    options = engine.parse_arguments()
    content = json.loads(options.out.read_text())
    assert {engine.name_of(request) for request in engine.requests(options)} == content["results"].keys()
    engine_results.write_markdown(content["results"], content["machine"], tmp_path / "engine.md")
    assert (tmp_path / "engine.md").read_text() == options.out.with_suffix(".md").read_text()


def test_results_of_another_machine_are_refused(tmp_path):
    engine.Results(tmp_path / "results.json", MACHINE).add("steps/MUTAG", {})
    with pytest.raises(SystemExit, match="--fresh"):
        engine.Results(tmp_path / "results.json", {"cores": 3})
    assert engine.Results(tmp_path / "results.json", {"cores": 3}, again=["steps/MUTAG"]).found == {}


def test_a_request_that_fails_says_why():
    reason = engine.measure({"kind": "steps", "dataset": "NOWHERE", "threads": 1, "steps": 1, "repeats": 1})
    assert isinstance(reason, str)
    assert "NOWHERE" in reason


def test_a_result_is_named_by_what_was_measured():
    assert engine.name_of({"kind": "scaling", "curve": "bins", "size": 4, "threads": 2}) == "scaling/bins/4"


def test_one_thread_each_has_a_table_of_its_own_with_the_ratios_of_its_rounds():
    result = steps_result("MUTAG", [2.0, 4.0], [0.1, 0.1]) | {"kind": "one-thread"}
    header, row, mean = engine_results.one_thread_table({"one-thread/MUTAG": result})
    assert "one thread each" in header[0]
    assert row[-2:] == mean[-2:] == ["30.0x", "30.0x"]


def test_without_such_measurements_there_is_no_table():
    assert engine_results.one_thread_table({}) == []
