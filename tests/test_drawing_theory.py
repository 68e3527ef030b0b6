import json
import math

import numpy as np
import pytest

from phist.drawing.blindness import make_blind_pair, plot_projective_histogram, rotate
from phist.drawing.complexity import plot_complexity
from phist.drawing.curse import histogram_log10_outputs, log10_outputs
from phist.drawing.growth import GrowthPoint, plot_growth
from phist.drawing.isometric import on_page
from phist.drawing.lattice import PLAIN, _sides, plot_matrix
from phist.drawing.schematic import example_of_both_levels
from phist.drawing.style import save_figure
from phist.drawing.theory import FIGURES, plot_theory
from phist.drawing.toy import plot_toy
from phist.errors import ConfigError, GraphInputError
from phist.theory.projective import printed_cells
from phist.theory.scaling import CLAIMS, FULL, QUICK, Curve, make_random_graph, measure_curve, read_curves, setting_of, to_json

CURVES = [
    Curve(name, (10, 20, 40, 80), tuple(0.01 + 1e-4 * size**power for size in (10, 20, 40, 80))) for name, power in CLAIMS.items()
]


@pytest.fixture(scope="module")
def figures():
    return {name: plot_theory(name, CURVES) for name in FIGURES}


@pytest.mark.parametrize(
    ("name", "axes"), [("histogram", 2), ("matrix", 6), ("robustness", 3), ("architecture", 1), ("curse", 2), ("complexity", 3)]
)
def test_every_figure_has_its_panels_and_something_in_each(figures, name, axes):
    panels = figures[name].axes
    assert len(panels) == axes
    for panel in panels:
        assert len(panel.lines) + len(panel.patches) + len(panel.collections) >= 2


def test_figures_are_files_of_both_kinds_and_equal_when_drawn_again(figures, tmp_path):
    for number, figure in enumerate((figures["matrix"], plot_matrix())):
        save_figure(figure, tmp_path / f"matrix{number}")
    for kind in ("png", "svg"):
        first, second = ((tmp_path / f"matrix{number}.{kind}").read_bytes() for number in (0, 1))
        assert first == second
        assert len(first) > 20_000


def test_an_unknown_figure_is_refused():
    with pytest.raises(ConfigError, match="architecture"):
        plot_theory("nothing")


def test_the_blind_pair_has_equal_coordinates_and_differs_when_rotated():
    green, blue = make_blind_pair()
    for coordinate in (0, 1):
        assert np.array_equal(np.sort(green[:, coordinate]), np.sort(blue[:, coordinate]))
    turned = [np.sort(rotate(points, 45)[:, 0]) for points in (green, blue)]
    assert np.abs(turned[0] - turned[1]).max() > 0.3
    assert np.abs(np.concatenate([rotate(points, 45) for points in (green, blue)])).max() <= 1


def test_bars_of_the_blind_pair_are_equal_on_the_left_only():
    for panel, equal in zip(plot_projective_histogram().axes, (True, False), strict=True):
        above = panel.child_axes[0]
        green, blue = np.reshape([bar.get_height() for bar in above.patches], (2, -1))
        assert np.allclose(green, blue) == equal


def test_rotation_keeps_lengths_and_turns_left():
    assert np.allclose(rotate(np.array([[1.0, 0.0]]), 90), [[0, 1]])


def test_the_printed_set_shows_the_four_cells_of_the_counterexample():
    colors = _sides(printed_cells(3, 6))
    assert len(colors) == 18
    assert sum(color != PLAIN for color in colors) == 4


def test_the_third_coordinate_points_up():
    assert on_page(np.array([[0.0, 0.0, 1.0]]))[0].tolist() == [0, 0.96]


def test_the_curse_grows_by_the_same_factor_with_every_dimension():
    assert log10_outputs(6, 0.1) == pytest.approx(6 * log10_outputs(1, 0.1))
    assert histogram_log10_outputs(6, 0.1) == pytest.approx(math.log10(6 * 21))


def test_the_schematic_shows_what_the_network_computes():
    roots, (elements, histogram) = example_of_both_levels()
    assert len(roots) == 3
    assert np.abs(elements).max() <= 1
    assert histogram.shape == (3, 6)
    assert histogram.min() >= 0


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_exponents_are_found_beside_a_constant_part(curve):
    assert curve.exponent == pytest.approx(CLAIMS[curve.name], abs=0.02)
    assert curve.deviation < 1e-6


def test_complexity_draws_any_number_of_curves():
    assert len(plot_complexity(CURVES[:2]).axes) == 2  # exponents, and the points of one curve
    assert len(plot_complexity(CURVES[1:3]).axes) == 1  # exponents alone


@pytest.mark.parametrize("sizes", [QUICK, FULL])
def test_every_claim_is_measured_with_graphs_that_exist(sizes):
    assert sizes.keys() == CLAIMS.keys()
    for name in sizes:
        for size in sizes[name]:
            setting = setting_of(name, size, sizes)
            assert (setting.edges or 5 * setting.nodes) <= setting.nodes * (setting.nodes - 1) // 2
            assert setting.roots <= setting.nodes or name == "nodes"


@pytest.mark.parametrize(("nodes", "edges"), [(2, 1), (5, 10), (300, 1500)])
def test_random_graphs_have_the_edges_asked_for(nodes, edges):
    graph = make_random_graph(nodes, edges, seed=0)
    assert (graph.node_counts().sum(), graph.n_edges) == (nodes, edges)


def test_curves_survive_a_file(tmp_path):
    (tmp_path / "curves.json").write_text(json.dumps(to_json(CURVES)))
    assert read_curves(tmp_path / "curves.json") == CURVES


def test_a_curve_has_a_time_for_every_size():
    curve = measure_curve("roots", {"roots": (4, 8, 16)}, repeats=1)
    assert curve.sizes == (4, 8, 16)
    assert min(curve.seconds) > 0


@pytest.mark.parametrize(
    "content",
    [
        "not json",
        "{}",
        '{"curves": []}',
        '{"curves": [{"name": "nodes", "sizes": [1], "seconds": [1]}]}',
        '{"curves": [{"name": "?", "sizes": [1, 2], "seconds": [1, 2]}]}',
        '{"curves": [{"name": "nodes", "sizes": [1, 2], "seconds": [1, -2]}]}',
    ],
)
def test_files_without_curves_are_refused(tmp_path, content):
    (tmp_path / "curves.json").write_text(content)
    with pytest.raises(GraphInputError, match=r"benchmarks/scaling\.py"):
        read_curves(tmp_path / "curves.json")


def legend_of(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_an_edge_has_one_name_in_all_panels():
    graph, _, changes = plot_toy().axes
    assert legend_of(graph) == legend_of(changes)


def test_the_line_that_is_no_method_is_named():
    curve = [GrowthPoint(labelled, labelled / 100, 50.0) for labelled in (100, 1000)]
    assert legend_of(plot_growth({"phist": curve}, "MOLHIV", "accuracy", "processor time").axes[0]) == ["in proportion"]
