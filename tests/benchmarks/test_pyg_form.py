"""The yardstick of the engine's benchmark computes what the reference computes."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from phist.errors import ConfigError
from phist.graphs.convert import as_graphset
from phist.nn.batch import Batch
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.nn.sampling import Roots
from phist.training.config import TrainingConfig

pytest.importorskip("torch_geometric", reason="the form to compare with is PyTorch Geometric's; pip install phist[gnn]")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))  # scripts, in no package
import pyg_form  # only once it can be found

CONFIG = NetworkConfig(orders=(4, 3), channels=(6, 5), bins=4)


def some_graphs():
    """A few random graphs, one with an isolated node, one disconnected, one of a single node."""
    generator = np.random.default_rng(0)
    tables = [(9, generator.integers(0, 8, (14, 2))), (6, [(0, 1), (2, 3), (3, 4), (4, 2), (0, 5)]), (1, np.empty((0, 2), int))]
    return as_graphset(tables)


def both_forms(roots):
    """The two networks with the same parameters, and what each is to look at."""
    graphs = some_graphs()
    reference = make_network(CONFIG, n_classes=3, seed=1)
    network = pyg_form.PygNetwork(CONFIG, n_classes=3)
    pyg_form.load_parameters(network, reference)
    batch = Batch.from_graphs(graphs)
    theirs = pyg_form.Batch.from_data_list(pyg_form.as_data_list(graphs, torch.zeros(len(graphs), dtype=torch.long)))
    distinct = [column.unique(return_counts=True) for column in roots.T]
    slots = max(len(nodes) for nodes, _ in distinct)
    nodes = torch.stack([torch.cat([kept, kept[:1].expand(slots - len(kept))]) for kept, _ in distinct])
    counts = torch.stack([torch.cat([count, count.new_zeros(slots - len(count))]) for _, count in distinct])
    return (reference, (batch, Roots(nodes, counts.float()))), (network, (theirs, roots))


ROOTS = torch.tensor([[0, 9, 15], [3, 9, 15], [8, 14, 15], [3, 11, 15]])  # repeated ones among them


def test_logits_equal_those_of_the_reference():
    (reference, ours), (network, theirs) = both_forms(ROOTS)
    for _ in range(3):  # the running statistics are learnt on the way, and used
        torch.testing.assert_close(network(*theirs), reference(*ours), rtol=1e-4, atol=1e-4)


def test_gradients_of_the_head_equal_those_of_the_reference():
    (reference, ours), (network, theirs) = both_forms(ROOTS)
    for form, inputs in ((reference, ours), (network, theirs)):
        form(*inputs).square().sum().backward()
    torch.testing.assert_close(network.head.weight.grad, reference.head.weight.grad, rtol=1e-3, atol=1e-3)


def test_gradients_of_biases_equal_those_of_the_reference():
    (reference, ours), (network, theirs) = both_forms(ROOTS)
    for form, inputs in ((reference, ours), (network, theirs)):
        form(*inputs).square().sum().backward()
    bias, expected = network.f_node.convolutions[0].bias.grad, reference.f_node.convolutions[0].bias.grad
    torch.testing.assert_close(bias, expected, rtol=1e-3, atol=1e-3 * float(expected.abs().max()))


def test_roots_are_drawn_from_their_own_graph():
    graphs = some_graphs()
    batch = pyg_form.Batch.from_data_list(pyg_form.as_data_list(graphs, torch.zeros(len(graphs), dtype=torch.long)))
    roots = pyg_form.draw_roots(batch, 200, torch.Generator().manual_seed(0))
    assert torch.equal(batch.batch[roots], torch.arange(len(graphs)).expand(200, -1))
    assert len(roots.unique()) == batch.num_nodes


def test_a_step_changes_every_parameter():
    data = pyg_form.as_data_list(some_graphs(), torch.arange(3))
    network = pyg_form.PygNetwork(CONFIG, n_classes=3)
    before = {name: value.clone() for name, value in network.named_parameters()}
    optimizer = pyg_form.make_optimizer(network, TrainingConfig())
    assert np.isfinite(pyg_form.pyg_step(network, optimizer, data, 1.0, torch.Generator().manual_seed(0)))
    assert not [name for name, value in network.named_parameters() if torch.equal(value, before[name])]


def test_what_the_form_does_not_cover_is_refused():
    with pytest.raises(ConfigError, match="kernel='triangle'"):
        pyg_form.PygNetwork(NetworkConfig(kernel="triangle"), n_classes=2)
