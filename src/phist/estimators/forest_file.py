"""A forest head as tensors: trees, and the weights of networks of its own. Nothing is ever unpickled."""

from collections import defaultdict
from typing import TYPE_CHECKING

import torch
from sklearn.base import clone

from phist.errors import ModelFileError
from phist.estimators.forest import ForestConfig, ForestHead, make_forest_config, n_forest_features
from phist.estimators.trees import Trees
from phist.training.checkpoint import State
from phist.training.history import History
from phist.training.model_folder import build_network

if TYPE_CHECKING:
    from phist.estimators.base import StructuralEstimator

FOREST = "forest.safetensors"


def pack_forest(head: ForestHead, owner: "StructuralEstimator") -> State:
    """All parts of ``head``, named by their number; the network that ``owner`` saves anyhow is left out."""
    state: State = {}
    for number, (estimator, trees) in enumerate(head.parts):
        state |= {f"{number}.trees.{name}": torch.from_numpy(array) for name, array in trees.to_arrays().items()}
        if estimator is not owner:
            state |= {f"{number}.network.{name}": tensor for name, tensor in estimator.network_.state_dict().items()}
            state[f"{number}.seed"] = torch.tensor(estimator.seed_)
    return state


def unpack_forest(state: State, owner: "StructuralEstimator") -> ForestHead:
    """The inverse of `pack_forest`; tensors that are no such thing are a `ModelFileError`."""
    parts: dict[str, State] = defaultdict(dict)
    for name, tensor in state.items():
        number, _, rest = name.partition(".")
        parts[number][rest] = tensor
    if not parts or set(parts) != {str(number) for number in range(len(parts))}:
        raise ModelFileError(f"the saved forest has parts {sorted(parts)}, which are not numbered from 0; save the model again")
    config = make_forest_config(owner.forest)
    return ForestHead(tuple(_unpack_part(parts[str(number)], owner, config) for number in range(len(parts))), config)


def _unpack_part(part: State, owner: "StructuralEstimator", config: ForestConfig) -> "tuple[StructuralEstimator, Trees]":
    arrays = {name: tensor.numpy() for name, tensor in _below(part, "trees.").items()}
    trees = Trees.from_arrays(arrays, n_forest_features(owner, config), len(owner.classes_))
    weights = _below(part, "network.")
    return (_with_network(owner, weights, part) if weights else owner), trees


def _with_network(owner: "StructuralEstimator", weights: State, part: State) -> "StructuralEstimator":
    """An estimator as ``owner``, but with a network of its own."""
    bias, seed = weights.get("head.bias"), part.get("seed")
    if bias is None or bias.dim() != 1 or seed is None or seed.dtype != torch.int64 or seed.dim() or seed < 0:
        raise ModelFileError("a network of the saved forest has no proper head or seed; save the model again")
    network = build_network(owner.network_config_, len(bias), weights).to(owner._device())
    other: StructuralEstimator = clone(owner).set_params(head="linear")
    other._remember(network, owner.training_config_, History(), int(seed))
    return other


def _below(part: State, prefix: str) -> State:
    return {name.removeprefix(prefix): tensor for name, tensor in part.items() if name.startswith(prefix)}
