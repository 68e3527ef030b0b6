"""The graph neural networks of the study in their straightforward form: PyTorch Geometric's layers, edge lists, one-hot degrees."""

import torch
from torch import nn
from torch_geometric import nn as pyg

from phist.baselines.gnn_batches import LARGEST_DEGREE

_PERCEPTRON = {"first": "nn.0", "second": "nn.2", "norm": "nn.4"}
_LSTM = {name: f"{name}_l0" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}


class StraightforwardNetwork(nn.Module):
    """A `GnnNetwork` that never coarsens, with the weights of a given one."""

    def __init__(self, network):
        super().__init__()
        self.architecture = network.architecture
        kind = network.architecture.convolution
        self.layers = nn.ModuleList(as_pyg(kind, layer) for layer in network.convolutions)
        self.readout = _readout(network)
        self.head = network.head
        self.n_degrees = _linear(kind, network.convolutions[0]).in_features

    def forward(self, graphs, edge_index):
        degrees = torch.from_numpy(graphs.degrees()).clamp(max=LARGEST_DEGREE)
        graph_of_node = torch.repeat_interleave(torch.from_numpy(graphs.node_counts()))
        x, seen = nn.functional.one_hot(degrees, self.n_degrees).float(), []
        for layer in self.layers:
            x = layer(x, edge_index)
            x = x if isinstance(layer, pyg.GINConv) else x.relu()
            seen.append(self.readout(x, graph_of_node, dim_size=len(graphs)))
        return self.head(torch.cat(seen, 1) if self.architecture.jumping else seen[-1])


def as_pyg(kind, layer):
    """PyTorch Geometric's layer with the parameters of one of ours."""
    inputs, outputs = _linear(kind, layer).in_features, _linear(kind, layer).out_features
    theirs = {
        "gcn": lambda: pyg.GCNConv(inputs, outputs),
        "sage": lambda: pyg.SAGEConv(inputs, outputs),
        "gin-0": lambda: pyg.GINConv(_perceptron(inputs, outputs)),
        "gin-eps": lambda: pyg.GINConv(_perceptron(inputs, outputs), train_eps=True),
    }[kind]()
    theirs.load_state_dict({**theirs.state_dict(), **_renamed(layer.state_dict())})
    return theirs


def _perceptron(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, outputs), nn.ReLU(), nn.Linear(outputs, outputs), nn.ReLU(), nn.BatchNorm1d(outputs))


def _readout(network):
    kind, ours = network.architecture.readout, network.readout
    if kind == "mean":
        return pyg.MeanAggregation()
    if kind == "attention":
        return pyg.AttentionalAggregation(ours.gate_nn)
    theirs = pyg.Set2Set(ours.channels, processing_steps=ours.steps)
    theirs.lstm.load_state_dict({_LSTM[name]: value for name, value in ours.lstm.state_dict().items()})
    return theirs


def _renamed(state):
    parts = {name: name.partition(".") for name in state}
    return {_PERCEPTRON.get(first, first) + dot + rest: state[name] for name, (first, dot, rest) in parts.items()}


def _linear(kind, layer):
    return getattr(layer, {"gcn": "lin", "sage": "lin_l"}.get(kind, "first"))
