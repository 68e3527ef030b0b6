"""Checkpoints: one safetensors file per run, replaced atomically after every epoch. Nothing is ever unpickled."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from phist.checks import text_value
from phist.errors import ModelFileError, brief
from phist.files import atomic_path
from phist.training.checkpoint_files import FORMAT, is_checkpoint
from phist.training.history import History

State = dict[str, Tensor]


@dataclass
class Checkpoint:
    """Everything a run needs to go on: weights now, weights of the best epoch, the optimiser's memory and the history."""

    run: str  # what is trained on what; a checkpoint of another run is not continued
    network: State
    best: State
    optimizer: State
    history: History


def save_checkpoint(path: str | Path, checkpoint: Checkpoint) -> None:
    """Write ``checkpoint``; a kill at any moment leaves the one before."""
    tensors = {
        f"{part}.{name}": tensor.contiguous()
        for part in ("network", "best", "optimizer")
        for name, tensor in getattr(checkpoint, part).items()
    }
    note = {"format": FORMAT, "run": checkpoint.run, "history": checkpoint.history.to_dict()}
    with atomic_path(path) as temporary:
        temporary.write_bytes(save(tensors, metadata={"phist": json.dumps(note)}))


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Read a checkpoint; a damaged or foreign file is a `ModelFileError`."""
    parts: dict[str, State] = {"network": {}, "best": {}, "optimizer": {}}
    if not Path(path).is_file():
        raise ModelFileError(f"{path} is no regular file; name another place for the checkpoint")
    try:
        with safe_open(str(path), framework="pt") as file:
            note = json.loads((file.metadata() or {}).get("phist", "{}"))
            for name in file.keys():  # noqa: SIM118  # safe_open is not a mapping
                part, _, rest = name.partition(".")
                parts[part][rest] = file.get_tensor(name)
        if not isinstance(note, dict) or note.get("format") != FORMAT:
            raise ModelFileError(f"{path} is not a checkpoint of this version of phist; remove it to start afresh")
        history = History.from_dict(note["history"])
        return Checkpoint(run=text_value("run", note["run"]), history=history, **parts)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError, RuntimeError, MemoryError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{path} cannot be read as a checkpoint ({brief(error)}); remove it to start afresh") from error


def check_contents(path: str | Path, saved: Checkpoint, network: State, optimizer: torch.optim.Optimizer) -> None:
    """Raise a `ModelFileError` unless ``saved`` holds what a run of this network goes on from."""
    expected = {f"{part}.{name}": tensor for part in ("network", "best") for name, tensor in network.items()}
    found = {f"{part}.{name}": tensor for part in ("network", "best") for name, tensor in getattr(saved, part).items()}
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for number in {name.partition(".")[0] for name in saved.optimizer}:
        if number not in map(str, range(len(parameters))):
            raise _unfit(path, f"optimizer.{number}")
        own = parameters[int(number)]
        expected |= {f"optimizer.{number}.{name}": own for name in ("exp_avg", "exp_avg_sq")}
        expected[f"optimizer.{number}.step"] = torch.zeros(())
    found |= {f"optimizer.{name}": tensor for name, tensor in saved.optimizer.items()}
    for name in sorted(expected.keys() | found.keys()):
        if name not in expected or name not in found or not _fits(found[name], expected[name]):
            raise _unfit(path, name)
    if not saved.history.epochs or saved.history.best < 0:
        raise _unfit(path, "history")


def _fits(found: Tensor, expected: Tensor) -> bool:
    return found.shape == expected.shape and found.dtype == expected.dtype and bool(torch.isfinite(found).all())


def _unfit(path: str | Path, name: str) -> ModelFileError:
    return ModelFileError(
        f"{path} is damaged: {brief(name, 60)} is missing, not finite, or not of the network's shape; remove it to start afresh"
    )


def save_snapshot(path: str | Path, state: State, run: str) -> None:
    """Write the weights of a network at the foot of a cycle."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(save(state, metadata={"phist": json.dumps({"format": FORMAT, "run": run})}))


def load_snapshot(path: str | Path, run: str) -> State | None:
    """Weights saved by `save_snapshot`; ``None`` where there are none, or those of another run."""
    if not is_checkpoint(path):
        return None
    try:
        with safe_open(str(path), framework="pt") as file:
            if json.loads(file.metadata()["phist"]).get("run") != run:
                return None
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # safe_open is not a mapping
    except (OSError, SafetensorError, KeyError, TypeError, ValueError, RuntimeError, MemoryError):
        return None


def fits_network(state: State, network: nn.Module) -> bool:
    """Whether ``network`` can take these weights: all of its own, finite, and of their shapes."""
    own = network.state_dict()
    return state.keys() == own.keys() and all(_fits(state[name], own[name]) for name in own)


def optimizer_state(optimizer: torch.optim.Optimizer) -> State:
    """The optimiser's memory as flat tensors."""
    state: dict[int, dict[str, Any]] = optimizer.state_dict()["state"]
    return {f"{number}.{name}": torch.as_tensor(value) for number, values in state.items() for name, value in values.items()}


def restore_optimizer(optimizer: torch.optim.Optimizer, state: State) -> None:
    """Put a memory saved by `optimizer_state` back."""
    restored: dict[int, dict[str, Tensor]] = {}
    for name, value in state.items():
        number, _, key = name.partition(".")
        restored.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict({"state": restored, "param_groups": optimizer.state_dict()["param_groups"]})
