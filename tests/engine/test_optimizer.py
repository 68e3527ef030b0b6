"""FusedAdamW against torch's AdamW and clipping."""

from copy import deepcopy

import pytest
import torch

from phist.engine.optimizer import FusedAdamW

SHAPES = ((3, 1, 16), (16,), (3, 16, 5), (5,), (2, 40), (2,))


def make(kind, **options):
    generator = torch.Generator().manual_seed(0)
    parameters = [torch.nn.Parameter(torch.randn(shape, generator=generator)) for shape in SHAPES]
    groups = [{"params": parameters[::2], "weight_decay": 0.1}, {"params": parameters[1::2], "weight_decay": 0.0}]
    return parameters, kind(groups, lr=3e-3, **options)


def set_gradients(number, *parameter_lists):
    generator = torch.Generator().manual_seed(number)
    for parameters in zip(*parameter_lists, strict=True):
        gradient = torch.randn(parameters[0].shape, generator=generator) * 10 ** (number % 5 - 3)
        for parameter in parameters:
            parameter.grad = gradient.clone()


@pytest.mark.parametrize("clip", [None, 1.0, 1e-3])
def test_steps_are_those_of_torch(clip):
    ours, optimizer = make(FusedAdamW)
    theirs, reference = make(torch.optim.AdamW)
    for number in range(20):
        set_gradients(number, ours, theirs)
        optimizer.step_clipped(clip)
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(theirs, clip)
        reference.step()
    for own, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-5, atol=1e-6)


def test_its_memory_is_that_of_torch_and_can_be_handed_over():
    ours, optimizer = make(FusedAdamW)
    theirs, reference = make(torch.optim.AdamW)
    set_gradients(3, ours, theirs)
    optimizer.step_clipped(None)
    reference.load_state_dict(deepcopy(optimizer.state_dict()))
    for own, other in zip(ours, theirs, strict=True):
        other.data.copy_(own)
    set_gradients(4, ours, theirs)
    optimizer.step_clipped(None)
    reference.step()
    for own, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-5, atol=1e-6)
