"""A few thousand of the harness's inputs: `make fuzz N=100000` tries more."""

import pytest
from fuzzing.catalogue import CRAFTED, FORMATS, inputs
from fuzzing.driver import try_inputs
from fuzzing.graph_files import GRAPH_FORMATS
from fuzzing.invariants import Violation, check_graphset
from fuzzing.models import MODEL_FORMATS
from fuzzing.requests import REQUEST_FORMATS
from fuzzing.settings import SETTING_FORMATS
from fuzzing.streams import STREAM_FORMATS
from fuzzing.studies import STUDY_FORMATS
from fuzzing.uses import USE_FORMATS

from phist.graphs.graphset import GraphSet

GRAPHS = (*GRAPH_FORMATS, "memory")


def test_no_graphs_of_any_format_are_mishandled():
    account = try_inputs(inputs(2500, formats=GRAPHS))
    assert account.tried.total() >= 2490
    assert account.faults == []


def test_no_crafted_input_is_mishandled():
    account = try_inputs([("crafted", name) for name in CRAFTED])
    assert account.tried["crafted"] == len(CRAFTED)
    assert account.faults == []


@pytest.mark.parametrize("format", MODEL_FORMATS)
def test_no_saved_model_checkpoint_or_record_is_mishandled(format):
    account = try_inputs(inputs({"model": 120, "checkpoint": 20, "records": 80}[format], formats=[format]))
    assert account.faults == []


def test_no_stream_and_no_use_of_a_model_is_mishandled():
    counts = {"graph rows": 150, "stream": 30, "gathered": 30, "batch": 30, "explain": 60, "validation": 150, "request": 60}
    account = try_inputs([one for name, count in counts.items() for one in inputs(count, formats=[name])])
    assert account.tried == counts
    assert account.faults == []


def test_no_study_and_no_setting_is_mishandled():
    account = try_inputs(inputs(600, formats=[*STUDY_FORMATS, *SETTING_FORMATS]))
    assert account.tried.total() >= 590
    assert account.faults == []


def test_every_format_is_tried():
    assert set(FORMATS) == {
        *GRAPHS, *MODEL_FORMATS, *STREAM_FORMATS, *USE_FORMATS, *STUDY_FORMATS, *SETTING_FORMATS, *REQUEST_FORMATS,
    }  # fmt: skip


def test_the_harness_notices_each_kind_of_fault():
    kinds = {"raises": "KeyError", "hangs": "took too long", "eats memory": "MemoryError", "crashes": "crashed", "exits": "ended"}
    account = try_inputs([("faulty", name) for name in kinds], seconds=1)
    assert account.tried["faulty"] == len(kinds)
    assert {seed: kind in what for (_, seed, what), kind in zip(account.faults, kinds.values(), strict=True)} == dict.fromkeys(
        kinds, True
    )


@pytest.mark.parametrize(
    ("indices", "fault"), [([1, 0, 2, 1], None), ([1, 2, 0, 1], "unsorted"), ([1, 0, 0, 1], "unsorted"), ([2, 0, 2, 1], "asymm")]
)
def test_the_harness_knows_what_a_graph_set_promises(indices, fault):
    graphs = GraphSet([0, 3], [0, 1, 3, 4], indices)
    if fault is None:
        check_graphset(graphs)
    else:
        with pytest.raises(Violation, match=fault):
            check_graphset(graphs)
