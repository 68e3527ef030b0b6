"""The one-file edition computes what `phist.nn` computes."""

import ast
import importlib.util
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from phist.graphs.packing import pack
from phist.nn.batch import Batch
from phist.nn.config import NetworkConfig
from phist.nn.convolution import ChebyshevConv
from phist.nn.network import make_network
from phist.nn.sampling import RootSampler

FILE = Path(__file__).resolve().parents[2] / "examples" / "single_file.py"
SIZES = [7, 1, 12, 4]


@pytest.fixture(scope="module")
def single_file():
    spec = importlib.util.spec_from_file_location("single_file", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def graphs():
    """Random weighted graphs; a few nodes are isolated, one graph has a single node."""
    rng = np.random.default_rng(8)
    starts = np.cumsum([0, *SIZES[:-1]])
    pairs = np.concatenate(
        [start + np.argwhere(rng.random((size, size)) < 0.15) for start, size in zip(starts, SIZES, strict=True)]
    )
    return pack(np.array(SIZES), *pairs.T, rng.uniform(0.2, 2.0, len(pairs)))


@pytest.fixture(params=[((3, 3), (4, 6), 5), ((4, 2), (3, 5), 8), ((1, 2), (2, 2), 1)], ids=["odd bins", "even bins", "order one"])
def pair(request, single_file):
    """The reference and the one-file network with the same parameters, in double precision."""
    orders, channels, bins = request.param
    reference = make_network(NetworkConfig(orders=orders, channels=channels, bins=bins), 3, seed=0)
    model = single_file.StructuralNetwork(3, orders, channels, bins)
    model.load_state_dict(reference.state_dict())
    return reference.double(), model.double()


def both_forms(single_file, graphs, seed):
    """A batch with roots for the reference, and the same as lists of matrices and roots."""
    batch = Batch.from_graphs(graphs, dtype=torch.float64)
    roots = RootSampler(count=9).sample(batch, np.random.default_rng(seed))
    laplacians = [torch.from_numpy(single_file.scaled_laplacian(graph.adjacency().toarray())) for graph in graphs]
    drawn = roots.multiplicity > 0
    local = [
        (nodes[there] - first, multiplicity[there])
        for nodes, multiplicity, there, first in zip(roots.nodes, roots.multiplicity, drawn, batch.node_ptr, strict=False)
    ]
    return (batch, roots), (laplacians, local)


@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
def test_node_embeddings_are_equal(single_file, graphs, pair, training):
    reference, model = (network.train(training) for network in pair)
    (batch, roots), lists = both_forms(single_file, graphs, seed=0)
    expected = reference.node_embeddings(batch, roots)[roots.multiplicity > 0]
    torch.testing.assert_close(torch.cat(model.node_embeddings(*lists)), expected)


def test_graph_embeddings_are_equal(single_file, graphs, pair):
    reference, model = pair
    ours, lists = both_forms(single_file, graphs, seed=0)
    torch.testing.assert_close(model.graph_embeddings(*lists), reference.graph_embeddings(*ours))


def test_scores_and_running_statistics_are_equal_batch_after_batch(single_file, graphs, pair):
    reference, model = pair
    for seed in range(4):
        ours, lists = both_forms(single_file, graphs[[seed, 2, 0]], seed)
        torch.testing.assert_close(model(*lists), reference(*ours))
    torch.testing.assert_close(dict(model.state_dict()), dict(reference.state_dict()))
    ours, lists = both_forms(single_file, graphs, seed=9)
    torch.testing.assert_close(model.eval()(*lists), reference.eval()(*ours))


def test_gradients_of_all_parameters_are_equal(single_file, graphs, pair):
    gradients = []
    for network, inputs in zip(pair, both_forms(single_file, graphs, seed=0), strict=True):
        network(*inputs)  # the first batch initialises the running statistics
        network.zero_grad()
        torch.nn.functional.cross_entropy(network(*inputs), torch.tensor([0, 1, 2, 1])).backward()
        gradients.append({name: parameter.grad for name, parameter in network.named_parameters()})
    assert gradients[0].keys() == gradients[1].keys()
    torch.testing.assert_close(*gradients)


def test_weights_begin_the_same(single_file):
    layers = []
    for kind in (single_file.ChebyshevConv, ChebyshevConv):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            layers.append(kind(3, 8, 4))
    torch.testing.assert_close(*(dict(layer.state_dict()) for layer in layers), rtol=1e-3, atol=0)


# From file to accuracy ------------------------------------------------------------------------------------------------


def write_tu(path, n_graphs=40):
    """Rings (label 1) and stars (label -1) in the TU format, arcs in both directions, one repeated, one loop."""
    arcs, indicator, labels, first = [], [], [], 1
    for graph in range(n_graphs):
        size = 4 + graph % 5
        ends = [(i, (i + 1) % size) for i in range(size)] if graph % 2 else [(0, i) for i in range(1, size)]
        arcs += [(first + a, first + b) for a, b in ends] + [(first + b, first + a) for a, b in ends]
        indicator += [graph + 1] * size
        labels.append(1 if graph % 2 else -1)
        first += size
    arcs += [arcs[0], (1, 1)]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("TOY/TOY_A.txt", "".join(f"{a}, {b}\n" for a, b in arcs))
        archive.writestr("TOY/TOY_graph_indicator.txt", "".join(f"{graph}\n" for graph in indicator))
        archive.writestr("TOY/TOY_graph_labels.txt", "".join(f"{label}\n" for label in labels))
    return path


def test_tu_zip_and_folder_are_read_alike(single_file, tmp_path):
    path = write_tu(tmp_path / "TOY.zip")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
    (matrices, targets), (same_matrices, same_targets) = single_file.read_tu(path), single_file.read_tu(tmp_path / "TOY")
    assert all(np.array_equal(*both) for both in zip(matrices, same_matrices, strict=True))
    assert targets.tolist() == same_targets.tolist() == [0, 1] * 20
    star = [[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    assert matrices[0].tolist() == star


def test_folds_are_stratified_and_share_no_graph(single_file):
    targets = np.array([0] * 30 + [1] * 70)
    tested = []
    for fold in range(10):
        parts = single_file.split(targets, fold, np.random.default_rng(0))
        assert sorted(np.concatenate(parts)) == list(range(100))
        assert [np.bincount(targets[part]).tolist() for part in parts] == [[24, 56], [3, 7], [3, 7]]
        tested.append(parts[2])
    assert sorted(np.concatenate(tested)) == list(range(100))


def test_command_goes_from_file_to_accuracy(single_file, tmp_path, monkeypatch, capsys):
    arguments = ["--epochs", "20", "--order", "3", "--channels", "8", "8", "--roots", "8"]
    monkeypatch.setattr(sys, "argv", ["single_file.py", str(write_tu(tmp_path / "TOY.zip")), *arguments])
    monkeypatch.setattr(torch, "set_num_threads", lambda threads: None)
    with torch.random.fork_rng(devices=[]):
        single_file.main()
    output = capsys.readouterr().out
    assert "40 graphs, 2 classes, the largest with a share of 0.500" in output
    assert "mean test accuracy 1.000" in output


# What it promises -----------------------------------------------------------------------------------------------------


def test_it_has_at_most_250_lines():
    assert len(FILE.read_text().splitlines()) <= 250


def test_it_needs_numpy_and_torch_only():
    tree = ast.parse(FILE.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    others = {name.split(".")[0] for name in names} - set(sys.stdlib_module_names)
    assert others == {"numpy", "torch"}
