import json

from hypothesis import given
from hypothesis import strategies as st
from made_records import make_record, make_study_records

from phist.report.payload import embed, make_payload
from phist.report.study import make_study

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_embedded_values_come_back(value):
    assert json.loads(embed(value)) == value


@given(st.text())
def test_embedded_text_cannot_leave_its_element(text):
    assert not set("<>&") & set(embed([f"</script>{text}<!--"]))


def test_every_record_is_there_with_what_it_was_made_of():
    payload = make_payload(make_study(make_study_records()))
    record = payload["records"]["phist"]["MUTAG"][3]
    assert record["cell"]["fold"] == 3
    assert record["split"] == "5917"
    assert payload["versions"][record["versions"]]["torch"] == "2.13.0"
    assert len(record["history"]["epochs"]) == len(record["history"]["loss"]) == 30


def test_versions_are_written_once():
    assert len(make_payload(make_study(make_study_records()))["versions"]) == 1


def test_predictions_are_kept_graph_by_graph():
    payload = make_payload(make_study([make_record(right=16)]))
    record = payload["records"]["phist"]["MUTAG"][0]
    test = payload["tests"][record["test"]]
    assert test["classes"] == ["-1", "1"] and test["positions"] == list(range(20))
    assert sum(one == other for one, other in zip(test["truth"], record["predicted"], strict=True)) == 16


def test_what_methods_were_tested_on_is_written_once():
    assert len(make_payload(make_study(make_study_records()))["tests"]) == 1


def test_every_metric_of_a_record_is_there_as_text():
    payload = make_payload(make_study([make_record(right=16)]), ["accuracy", "log-loss"])
    assert payload["records"]["phist"]["MUTAG"][0]["scores"] == {"accuracy": "80.0 %", "log-loss": "0.545"}


def test_a_failed_cell_keeps_its_reason():
    failed = make_payload(make_study([make_record(status="failed", reason="no memory")]))["records"]["phist"]["MUTAG"][0]
    assert (failed["status"], failed["reason"]) == ("failed", "no memory")
