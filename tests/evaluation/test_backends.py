import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from phist.cores import usable_cores
from phist.errors import ConfigError, MissingExtraError
from phist.evaluation.backends import Workers, compute
from phist.evaluation.cell import Cell
from phist.evaluation.execution import run_cell
from phist.evaluation.records import Record
from phist.evaluation.runner import make_plan, run_plan


@pytest.fixture
def toy_cells(make_cell):
    def make(count, **options):
        return [make_cell(method="toy", seed=seed, options=options) for seed in range(count)]

    return make


@pytest.fixture
def fresh_processes():
    """joblib keeps its processes for the next call; a test needs those with its own environment."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)
    yield
    get_reusable_executor().shutdown(wait=True)


def _note_process(cell: Cell, threads: int) -> Record:
    return Record(cell, "ok", reason=str(os.getpid()), threads=threads)


def test_processes_compute_every_cell_once(toy_cells, fresh_processes):
    records = list(compute(_note_process, toy_cells(8), Workers(jobs=2)))
    assert sorted(record.cell.seed for record in records) == list(range(8))
    assert str(os.getpid()) not in {record.reason for record in records}


def _die_on_seed_1(cell: Cell, threads: int) -> Record:
    if cell.seed == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return Record(cell, "ok")


def test_a_cell_that_kills_its_process_fails_and_the_others_do_not(toy_cells, fresh_processes):
    records = {record.cell.seed: record for record in compute(_die_on_seed_1, toy_cells(4), Workers(jobs=2))}
    assert [records[seed].status for seed in range(4)] == ["ok", "failed", "ok", "ok"]
    assert "killed" in records[1].reason


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"backend": "slurm"}, "backend='slurm'"),
        ({"backend": "dask"}, "--address"),
        ({"address": "here:1"}, "--backend dask"),
        ({"jobs": 0}, "at least 1"),
        ({"jobs": 10_000, "threads": 2}, "lower --jobs or --threads"),
    ],
)
def test_workers_that_cannot_be_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        Workers(**settings)


def test_no_cluster_is_asked_for_where_there_is_nothing_to_compute():
    assert list(compute(run_cell, [], Workers(backend="dask", address="127.0.0.1:1"))) == []


def test_jobs_and_threads_fill_the_cores_and_no_more():
    assert Workers().processes == usable_cores()
    assert Workers(threads=usable_cores()).processes == 1


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture
def dask_cluster(other_processes, tmp_path):
    """A scheduler and two workers, as somebody starts them by hand."""
    distributed = pytest.importorskip("distributed", reason="the extra 'scale' is not installed")
    address = f"127.0.0.1:{free_port()}"
    dask = [sys.executable, "-m", "dask"]

    def start(*arguments):
        return subprocess.Popen(
            [*dask, *arguments], env=other_processes, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    worker = ("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path))
    host, port = address.split(":")
    processes = [start("scheduler", "--host", host, "--port", port, "--no-dashboard"), start(*worker), start(*worker)]
    try:
        with distributed.Client(address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield address, processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_a_dask_worker_that_is_killed_costs_no_cell_and_doubles_none(dask_cluster, toy_cells, tmp_path):
    address, workers = dask_cluster
    log, folder = tmp_path / "log", tmp_path / "records"
    cells = toy_cells(10, wait=0.2, log=str(log))

    killed = []

    def kill_one_in_the_middle(record):
        if len({line.split()[0] for line in log.read_text().splitlines()}) == 2 and not killed:
            workers[0].kill()
            killed.append(record)

    run_plan(make_plan(cells, folder), folder, Workers(backend="dask", address=address), tell=kill_one_in_the_middle)
    assert killed
    lines = [json.loads(line) for line in (folder / "trees" / "toy.jsonl").read_text().splitlines()]
    assert sorted(line["hash"] for line in lines) == sorted(cell.hash for cell in cells)
    assert {line["status"] for line in lines} == {"ok"}
    assert {line.split()[0] for line in log.read_text().splitlines()} == {str(worker.pid) for worker in workers}


def _not_here():
    raise ModuleNotFoundError("no module named phist")


class Unloadable:
    """Work that a cluster cannot even begin."""

    def __call__(self, cell, threads):
        raise AssertionError

    def __reduce__(self):
        return _not_here, ()


def test_a_cell_that_dask_gives_up_is_a_failure_rather_than_a_wait_for_ever(toy_cells):
    distributed = pytest.importorskip("distributed", reason="the extra 'scale' is not installed")
    with distributed.LocalCluster(1, processes=False, dashboard_address=None) as cluster:
        workers = Workers(backend="dask", address=cluster.scheduler_address)
        records = list(compute(Unloadable(), toy_cells(3), workers))
    assert sorted(record.cell.seed for record in records) == [0, 1, 2]
    assert all(record.status == "failed" and record.reason.startswith("the cluster gave it up") for record in records)


def test_a_scheduler_that_does_not_answer_is_named(toy_cells):
    dask = pytest.importorskip("dask", reason="the extra 'scale' is not installed")
    pytest.importorskip("distributed", reason="the extra 'scale' is not installed")
    address = f"127.0.0.1:{free_port()}"
    with dask.config.set({"distributed.comm.timeouts.connect": "500ms"}), pytest.raises(ConfigError, match=address):
        list(compute(run_cell, toy_cells(1), Workers(backend="dask", address=address)))


@pytest.fixture
def ray_cluster(other_processes, monkeypatch):
    """Ray on this machine, with two cores to give away."""
    ray = pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def processes_in(log):
    return [int(line.split()[0]) for line in log.read_text().splitlines()]


def test_a_ray_worker_that_is_killed_costs_no_cell_and_doubles_none(ray_cluster, toy_cells, tmp_path):
    log, folder = tmp_path / "log", tmp_path / "records"
    cells = toy_cells(10, wait=0.3, log=str(log))

    killed = []

    def kill_one_in_the_middle(record):
        if killed:
            return
        begun = processes_in(log)
        while len(processes_in(log)) == len(begun):
            time.sleep(0.01)
        killed.append(processes_in(log)[-1])  # it has only just begun
        os.kill(killed[0], signal.SIGKILL)

    run_plan(make_plan(cells, folder), folder, Workers(backend="ray"), tell=kill_one_in_the_middle)
    lines = [json.loads(line) for line in (folder / "trees" / "toy.jsonl").read_text().splitlines()]
    assert sorted(line["hash"] for line in lines) == sorted(cell.hash for cell in cells)
    assert {line["status"] for line in lines} == {"ok"}
    assert len(processes_in(log)) == len(cells) + 1, "the cell of the killed worker was begun twice, all others once"


def test_on_ray_a_cell_that_kills_every_worker_fails_and_the_others_do_not(ray_cluster, toy_cells):
    ray_cluster.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers cannot import a test
    records = {record.cell.seed: record for record in compute(_die_on_seed_1, toy_cells(3), Workers(backend="ray"))}
    assert [records[seed].status for seed in range(3)] == ["ok", "failed", "ok"]
    assert records[1].reason.startswith("the cluster gave it up")


def test_threads_that_no_machine_of_ray_has_are_refused(ray_cluster, toy_cells):
    with pytest.raises(ConfigError, match="lower --threads"):
        list(compute(run_cell, toy_cells(1), Workers(backend="ray", threads=3)))


def test_a_ray_cluster_that_does_not_answer_is_named(toy_cells):
    pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(ConfigError, match=address):
        list(compute(run_cell, toy_cells(1), Workers(backend="ray", address=address)))


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="ray is installed")
def test_without_ray_the_message_says_what_to_install(toy_cells):
    with pytest.raises(MissingExtraError, match=r"phist\[ray\]"):
        list(compute(run_cell, toy_cells(1), Workers(backend="ray")))
