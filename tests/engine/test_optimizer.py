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


def take_steps(numbers, clip, ours, optimizer, theirs, reference):
    """The same steps by both optimisers."""
    for number in numbers:
        set_gradients(number, ours, theirs)
        optimizer.step_clipped(clip)
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(theirs, clip)
        reference.step()


def assert_same(ours, theirs):
    for own, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-5, atol=1e-6)


def both(**options):
    """Parameters and optimiser of ours, and the same of torch's."""
    return *make(FusedAdamW, **options), *make(torch.optim.AdamW, **options)


@pytest.mark.parametrize("clip", [None, 1.0, 1e-3])
def test_steps_are_those_of_torch(clip):
    ours, optimizer, theirs, reference = both()
    take_steps(range(20), clip, ours, optimizer, theirs, reference)
    assert_same(ours, theirs)


def test_other_rates_are_those_of_torch():
    ours, optimizer, theirs, reference = both(betas=(0.8, 0.95), eps=1e-4)
    for number in range(5):
        for one in (optimizer, reference):
            for group, factor in zip(one.param_groups, (1, 3), strict=True):  # as schedules do
                group["lr"] = factor * 1e-3 / (1 + number)
        take_steps([number], 1.0, ours, optimizer, theirs, reference)
    assert_same(ours, theirs)


def test_groups_decay_each_at_its_own_rate():
    parameters, optimizer = make(FusedAdamW)
    before = [part.detach().clone() for part in parameters]
    for part in parameters:
        part.grad = torch.zeros_like(part)
    optimizer.step_clipped(None)
    for number, (part, old) in enumerate(zip(parameters, before, strict=True)):
        torch.testing.assert_close(part.detach(), old * (1 if number % 2 else 1 - 3e-3 * 0.1))


def test_gradients_are_left_as_they_are():
    parameters, optimizer = make(FusedAdamW)
    set_gradients(4, parameters)
    before = [part.grad.clone() for part in parameters]
    optimizer.step_clipped(1e-3)
    assert all(torch.equal(part.grad, old) for part, old in zip(parameters, before, strict=True))


def test_gradients_in_new_memory_are_found():
    ours, optimizer, theirs, reference = both()
    kept = []  # so that no memory comes again
    for number in range(3):
        take_steps([number], None, ours, optimizer, theirs, reference)
        kept += [part.grad for part in ours]
    assert_same(ours, theirs)


def test_gradients_written_over_in_place_are_found():
    ours, optimizer, theirs, reference = both()
    take_steps([3], None, ours, optimizer, theirs, reference)
    for part in (*ours, *theirs):
        part.grad.mul_(-5)
    optimizer.step_clipped(None)
    reference.step()
    assert_same(ours, theirs)


def test_parameters_loaded_between_steps_are_stepped_from():
    ours, optimizer, theirs, reference = both()
    take_steps([3], None, ours, optimizer, theirs, reference)
    with torch.no_grad():
        for part in (*ours, *theirs):
            part.fill_(2)
    take_steps([4], None, ours, optimizer, theirs, reference)
    assert_same(ours, theirs)


def test_parameters_that_moved_to_other_memory_are_stepped():
    ours, optimizer, theirs, reference = both()
    take_steps([3], None, ours, optimizer, theirs, reference)
    for part in ours:
        part.data = part.data.clone()
    take_steps([4], None, ours, optimizer, theirs, reference)
    assert_same(ours, theirs)


# Its memory -----------------------------------------------------------------------------------------------------------


def saved(state, tmp_path):
    torch.save(state, tmp_path / "state.pt")
    return torch.load(tmp_path / "state.pt")


def test_state_is_that_of_torch():
    ours, optimizer, theirs, reference = both()
    take_steps(range(3), 1.0, ours, optimizer, theirs, reference)
    found, expected = optimizer.state_dict(), reference.state_dict()
    assert found["state"].keys() == expected["state"].keys()
    for number, state in expected["state"].items():
        assert found["state"][number].keys() == state.keys()
        for name, value in state.items():
            torch.testing.assert_close(found["state"][number][name], value, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("kind", [FusedAdamW, torch.optim.AdamW])
def test_either_optimiser_goes_on_from_a_state_on_disk(kind, tmp_path):
    ours, optimizer, theirs, reference = both()
    take_steps(range(3), 1.0, ours, optimizer, theirs, reference)
    source = optimizer if kind is FusedAdamW else reference
    fresh, other = make(FusedAdamW)
    for own, old in zip(fresh, ours, strict=True):
        own.data.copy_(old.data)
    other.load_state_dict(saved(source.state_dict(), tmp_path))
    take_steps(range(3, 6), 1.0, fresh, other, theirs, reference)
    assert_same(fresh, theirs)


def test_torch_goes_on_from_its_state(tmp_path):
    ours, optimizer, theirs, reference = both()
    set_gradients(3, ours, theirs)
    optimizer.step_clipped(None)
    reference.load_state_dict(saved(optimizer.state_dict(), tmp_path))
    for own, other in zip(ours, theirs, strict=True):
        other.data.copy_(own.data)
    take_steps([4], None, ours, optimizer, theirs, reference)
    assert_same(ours, theirs)


def test_state_loaded_in_the_middle_replaces_what_was_learnt():
    ours, optimizer, theirs, reference = both()
    take_steps(range(2), None, ours, optimizer, theirs, reference)
    before = deepcopy(optimizer.state_dict())
    take_steps(range(2, 5), None, ours, optimizer, theirs, reference)
    for one in (optimizer, reference):
        one.load_state_dict(deepcopy(before))
    take_steps(range(5, 7), None, ours, optimizer, theirs, reference)
    assert_same(ours, theirs)
    assert {float(state["step"]) for state in optimizer.state.values()} == {4}


def test_optimiser_whose_state_was_taken_is_not_changed_by_the_other():
    ours, optimizer, theirs, reference = both()
    take_steps(range(2), None, ours, optimizer, theirs, reference)
    fresh, other = make(FusedAdamW)
    other.load_state_dict(optimizer.state_dict())
    set_gradients(9, fresh)
    other.step_clipped(None)
    take_steps([3], None, ours, optimizer, theirs, reference)
    assert_same(ours, theirs)


@pytest.mark.parametrize("steps", [0, 3])
def test_copy_goes_on_by_itself(steps):
    ours, optimizer, theirs, reference = both()
    take_steps(range(steps), 1.0, ours, optimizer, theirs, reference)
    copied, copied_theirs = deepcopy((ours, optimizer)), deepcopy((theirs, reference))
    take_steps([9], 1.0, ours, optimizer, theirs, reference)
    take_steps(range(steps, 5), 1.0, *copied, *copied_theirs)
    assert_same(copied[0], copied_theirs[0])
    assert_same(ours, theirs)
