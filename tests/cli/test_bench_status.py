from pathlib import Path

import pytest

PAPER = Path(__file__).parents[2] / "experiments" / "paper.toml"


@pytest.mark.skipif(not PAPER.exists(), reason="the package was installed without its experiments")
def test_a_study_of_nine_datasets_fits_eighty_columns_with_every_name_in_full(run):
    result = run("bench", "status", PAPER)
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "…" not in result.stdout
    for name in ("phist-linear", "phist-low", "phist-deterministic", "REDDIT-BINARY"):
        assert name in result.stdout
