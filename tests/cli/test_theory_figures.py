import json

import pytest

from phist.drawing.theory import FIGURES
from phist.theory import scaling

TINY = dict.fromkeys(scaling.CLAIMS, (8, 16, 24)) | {"edges": (100, 200, 300)}


def test_all_figures_are_drawn_in_both_formats(run, tmp_path, monkeypatch):
    monkeypatch.setattr(scaling, "QUICK", TINY)
    monkeypatch.setattr(scaling, "keep_memory", lambda: None)  # would last for all tests that follow
    result = run("theory", "figures", "--out", tmp_path / "new" / "folder")
    assert result.exit_code == 0, result.output
    for name in FIGURES:
        assert f"{name}: " in result.stdout
        assert (tmp_path / "new" / "folder" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / "new" / "folder" / f"{name}.svg").stat().st_size > 10_000


def test_one_figure_is_drawn_alone(run, tmp_path):
    assert run("theory", "figures", "--out", tmp_path, "--only", "curse").exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curse.png", "curse.svg"]


def test_complexity_is_drawn_from_a_file(run, tmp_path):
    curves = [scaling.Curve("nodes", (1, 2, 4), (0.1, 0.2, 0.4))]
    (tmp_path / "curves.json").write_text(json.dumps(scaling.to_json(curves)))
    result = run("theory", "figures", "--out", tmp_path, "--only", "complexity", "--complexity", tmp_path / "curves.json")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "complexity.svg").stat().st_size > 5_000


def test_an_unknown_figure_is_refused_before_anything_is_drawn(refused, tmp_path):
    assert "'histogram'" in refused("theory", "figures", "--out", tmp_path / "out", "--only", "nothing")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("place", ["file/out", "taken"])
def test_a_place_that_cannot_be_written_is_refused(refused, tmp_path, place):
    (tmp_path / "file").write_text("")
    (tmp_path / "taken" / "curse.png").mkdir(parents=True)
    assert "cannot write" in refused("theory", "figures", "--out", tmp_path / place, "--only", "curse")


def test_a_missing_file_of_curves_is_refused(refused, tmp_path):
    arguments = ("theory", "figures", "--out", tmp_path, "--only", "complexity", "--complexity", tmp_path / "none.json")
    assert "benchmarks/scaling.py" in refused(*arguments)
