"""What processes tell each other; with one process, nothing is sent."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from phist.errors import GroupError
from phist.training import group as groups
from phist.training.group import Group, current_group, process_group

SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from phist.training.group import current_group, process_group

with process_group() as group:
    assert current_group() == group
    parts = [np.random.default_rng(rank).normal(size=11) for rank in range(group.size)]
    whole = group.sum(parts[group.rank])
    assert np.allclose(whole, np.sum(parts, axis=0), rtol=1e-12)
    assert group.sum(parts[group.rank]).tobytes() == whole.tobytes()
    assert parts[group.rank].tobytes() == np.random.default_rng(group.rank).normal(size=11).tobytes()
    assert group.agree(group.rank + 7) == 7
    Path(sys.argv[1], f"rank {group.rank}").write_bytes(whole.tobytes())
"""


def test_alone_a_sum_is_what_was_given():
    values = np.arange(3.0)
    assert Group().sum(values) is values
    assert Group().agree(5) == 5
    assert Group().is_first


def test_without_torchrun_nothing_is_joined(monkeypatch):
    monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)
    monkeypatch.setenv("WORLD_SIZE", "4")  # as schedulers set it for programs of other kinds
    with process_group() as group:
        assert group == current_group() == Group(0, 1)


@pytest.mark.parametrize("size", [2, 3, pytest.param(6, marks=pytest.mark.clusters)])
def test_a_sum_has_the_same_bits_in_every_process_time_after_time(tmp_path, size):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(size), str(script), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = sorted(tmp_path.glob("rank *"))
    assert [path.name for path in found] == [f"rank {own}" for own in range(size)]
    assert len({path.read_bytes() for path in found}) == 1


RESTART = """
import os, sys, time
from pathlib import Path
import numpy as np
from phist.training.group import process_group

again = os.environ["TORCHELASTIC_RESTART_COUNT"] == "1"
if again and os.environ["RANK"] == "1":
    time.sleep(3)  # meanwhile the first reads where its like was before
with process_group() as group:
    group.sum(np.ones(3))
    if not again:
        os._exit(group.rank)
    Path(sys.argv[1], f"rank {group.rank}").touch()
os._exit(0)
"""


@pytest.mark.clusters
def test_processes_that_are_started_again_do_not_look_for_those_that_died(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(RESTART)
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc-per-node",
        "2",
        "--max-restarts",
        "1",
        str(script),
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("rank *"))) == 2


PATIENCE = """
import time
from datetime import timedelta
from phist.training import group as groups

groups.JOINING = timedelta(seconds=2)
with groups.process_group() as group:
    if group.is_first:
        time.sleep(4)
    assert group.agree(group.rank) == 0
"""


def test_the_first_process_may_take_longer_than_joining_may(tmp_path):
    (tmp_path / "script.py").write_text(PATIENCE)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", str(tmp_path / "script.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_processes_that_do_not_find_each_other_end_with_what_to_do(monkeypatch):
    monkeypatch.setattr(groups, "JOINING", groups.timedelta(seconds=1))
    for name, value in {"WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "localhost", "MASTER_PORT": "0"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "alone")
    with pytest.raises(GroupError, match="torchrun with --max-restarts 3"), process_group():
        pass


def test_a_process_that_is_gone_is_told_of_with_what_to_do(monkeypatch):
    def fail(*arguments, **settings):
        raise RuntimeError("Connection closed by peer")

    monkeypatch.setattr(torch.distributed, "isend", fail)
    with pytest.raises(GroupError, match=r"Connection closed by peer.*--max-restarts"):
        Group(0, 2).sum(np.ones(2))
    assert groups.current_group().size == 1
