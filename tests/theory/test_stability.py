"""How predictions move, and what a network uses."""

import numpy as np
import pytest
import torch

from phist.errors import ConfigError, GraphInputError
from phist.graphs.convert import as_graphset
from phist.graphs.generate import make_trees
from phist.nn.batch import Batch
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.theory import spectral_sensitivity
from phist.theory.spectral import PolynomialKernels, laplacian_spectrum
from phist.theory.spectral_sensitivity import measure_graph, measure_graphs, summarise_bands
from phist.theory.stability import STRENGTHS, flipped_share, mean_variation, measure_shifts


@pytest.fixture(scope="module")
def graphs():
    return make_trees(10, n_nodes=12, seed=0)


def by_edges(graphs):
    """A classifier that counts: more than ten edges or fewer."""
    more = 1 / (1 + np.exp(10.5 - graphs.edge_counts()))
    return np.stack([1 - more, more], axis=1)


def certain(graphs):
    return np.tile([0.0, 1.0], (len(graphs), 1))


def network(**options):
    return make_network(NetworkConfig(orders=(3, 2), channels=(4, 4), bins=4, **options), n_classes=2, seed=0)


# Shifts ---------------------------------------------------------------------------------------------------------------


def test_shares_and_distances():
    before, after = np.array([[1.0, 0.0], [0.4, 0.6]]), np.array([[0.9, 0.1], [0.6, 0.4]])
    assert flipped_share(before, after) == 0.5
    assert mean_variation(before, after) == pytest.approx(0.15)


def test_every_perturbation_at_every_strength_after_none_at_all(graphs):
    shifts = list(measure_shifts(by_edges, graphs, seed=0, draws=1))
    assert shifts[0].perturbation == "none"
    assert len(shifts) == 1 + 4 * len(STRENGTHS)
    assert {shift.perturbation for shift in shifts[1:]} == {"edge drop", "edge addition", "rewiring", "weight noise"}


def test_a_classifier_that_counts_edges_is_moved_by_dropping_only(graphs):
    shifts = {(shift.perturbation, shift.strength): shift for shift in measure_shifts(by_edges, graphs, seed=0)}
    assert shifts["rewiring", 0.2].moved == shifts["weight noise", 0.2].moved == shifts["edge addition", 0.2].flipped == 0
    assert shifts["edge drop", 0.2].flipped > 0.9
    assert shifts["edge drop", 0.01].moved < shifts["edge drop", 0.2].moved


def test_a_classifier_that_does_not_look_is_moved_by_nothing(graphs):
    assert all(shift.flipped == shift.moved == 0 for shift in measure_shifts(certain, graphs, seed=0, draws=1))


def test_accuracy_counts_unknown_labels_as_missed(graphs):
    targets = np.array([1] * 6 + [0] * 3 + [-1])
    assert next(measure_shifts(certain, graphs, targets, seed=0)).accuracy == pytest.approx(0.6)
    assert next(measure_shifts(certain, graphs, seed=0)).accuracy is None


def test_the_seed_decides(graphs):
    first, again, other = (list(measure_shifts(by_edges, graphs, seed=seed, draws=1)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_at_least_one_draw_is_needed(graphs):
    with pytest.raises(ConfigError, match="draws=0"):
        next(measure_shifts(by_edges, graphs, seed=0, draws=0))


# Bands ----------------------------------------------------------------------------------------------------------------


def test_bands_part_the_spectrum_and_their_shares_add_up(graphs):
    bands = summarise_bands(list(measure_graphs(network(), graphs, seed=0)))
    assert [bands[0].low, bands[-1].high] == [0, 2]
    assert sum(band.eigenvalues for band in bands) == pytest.approx(1)
    assert sum(band.energy for band in bands) == pytest.approx(1)
    assert all(0 <= band.flipped <= 1 and 0 <= band.moved <= 1 for band in bands)


def test_energy_is_that_of_the_first_layers_responses(graphs):
    model = network()
    spectrum = laplacian_spectrum(graphs[0])
    responses = PolynomialKernels.of(model.f_node.convolutions[0])(spectrum.values)  # (channels, eigenvalues)
    matrices = np.einsum("iv,cv,jv->cij", spectrum.vectors, responses, spectrum.vectors)
    measured = measure_graph(model, graphs[:1], seed=0)
    assert measured.energy.sum() == pytest.approx(np.square(matrices).sum() / graphs[0].n_nodes)


def test_muting_nothing_is_the_network_itself(graphs):
    model = network().eval()
    batch = Batch.from_graphs(graphs[:1])
    with torch.no_grad():
        draws = [
            model(batch, model.config.sampler.sample_by_size(batch, (0, draw))) for draw in range(spectral_sensitivity.REALIZATIONS)
        ]
    expected = torch.stack(draws).mean(0).softmax(-1).numpy()
    np.testing.assert_allclose(measure_graph(model, graphs[:1], seed=0).probabilities[-1:], expected, atol=1e-5)


def test_muting_a_band_without_eigenvalues_changes_nothing():
    star = as_graphset([(8, [(0, leaf) for leaf in range(1, 8)])])  # eigenvalues 0, 1 and 2
    measured = measure_graph(network().eval(), star, seed=0, bands=5)
    assert (measured.eigenvalues > 0).tolist() == [True, False, True, False, True]
    np.testing.assert_allclose(measured.probabilities[[1, 3]], measured.probabilities[[5, 5]], atol=1e-5)
    assert np.abs(measured.probabilities[[0, 2, 4]] - measured.probabilities[5]).max() > 1e-5


def test_measuring_leaves_the_network_as_it_was(graphs):
    model = network().eval()
    batch = Batch.from_graphs(graphs)
    roots = model.config.sampler.sample_by_size(batch, (0,))
    before = model(batch, roots)
    list(measure_graphs(model, graphs, seed=0))
    torch.testing.assert_close(model(batch, roots), before)


def test_networks_without_polynomials_have_no_energy_but_can_be_muted(graphs):
    bands = summarise_bands(list(measure_graphs(network(convolution="gin"), graphs[:2], seed=0)))
    assert all(band.energy is None for band in bands)
    assert max(band.moved for band in bands) > 0


def test_graphs_too_large_are_passed_over_and_none_left_is_an_error(graphs, monkeypatch):
    monkeypatch.setattr(spectral_sensitivity, "LARGEST", 12)
    mixed = as_graphset([*graphs[:2], (13, [(0, 1)])])
    assert len(list(measure_graphs(network(), mixed, seed=0))) == 2
    with pytest.raises(GraphInputError, match="more than 12 nodes"):
        list(measure_graphs(network(), mixed[2:], seed=0))


def test_directed_graphs_have_no_spectrum_to_measure():
    with pytest.raises(GraphInputError, match="directed"):
        list(measure_graphs(network(), as_graphset([(2, [(0, 1)])], directed="keep"), seed=0))


def test_nothing_heard_cannot_be_summarised():
    with pytest.raises(ConfigError, match="at least one"):
        summarise_bands([])
