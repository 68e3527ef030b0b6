import json
from collections import Counter
from pathlib import Path

import pytest

from phist.cli.bench_status import _describe_commits

PAPER = Path(__file__).parents[2] / "experiments" / "paper.toml"


@pytest.mark.skipif(not PAPER.exists(), reason="the package was installed without its experiments")
def test_a_study_of_nine_datasets_fits_eighty_columns_with_every_name_in_full(run):
    result = run("bench", "status", PAPER)
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "…" not in result.stdout
    for name in ("phist-linear", "phist-low", "phist-deterministic", "REDDIT-BINARY"):
        assert name in result.stdout


def test_status_says_of_how_many_states_of_the_code_records_are():
    text = _describe_commits(Counter({"": 1200, "abc": 2, "abc with changes": 3, "def": 4}))
    assert text == "1,209 records of 2 commits of phist; 1,200 name none; 3 were made with changes that are in none"
    assert _describe_commits(Counter({"abc": 2})) == "2 records of 1 commits of phist"


@pytest.mark.skipif(not PAPER.exists(), reason="the package was installed without its experiments")
def test_every_record_is_counted_among_the_commits(run):
    found = json.loads(run("bench", "status", PAPER, "--json").stdout)
    assert sum(found["commits"].values()) == sum(count for state, count in found["totals"].items() if state != "missing")
