"""Torch's threads: fits in several Python threads keep their seeds, nobody's number of threads changes, children may be forked."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from threading import Barrier, Event, Thread

import joblib
import numpy as np
import pytest
import torch
from joblib.externals.loky import get_reusable_executor
from sklearn.model_selection import cross_val_score

from phist import StructuralClassifier
from phist.engine.choice import compute
from phist.engine.torch_threads import openmp_limit, thread_budget
from phist.graphs.generate import make_planted_partitions
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network

GRAPHS = make_planted_partitions(16, n_nodes=12, seed=0)
CONVOLUTIONS = ["chebyshev", "cayley", "arma", "gin", "sage"]
TOO_LONG = 300  # seconds: a child that waits for threads it does not have waits for ever


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def small(seed=0, **given):
    network = {"channels": (4, 6), "bins": 4, "roots": 6}
    return StructuralClassifier(preset="MUTAG", network=network, training={"epochs": 1}, random_state=seed, progress=False, **given)


# Generators -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("convolution", CONVOLUTIONS)
def test_torchs_generator_is_neither_read_nor_moved(convolution):
    config, found = NetworkConfig(convolution=convolution), []
    for outer in (0, 1):
        torch.manual_seed(outer)
        before = torch.random.get_rng_state()
        found.append(make_network(config, 3, seed=5).state_dict())
        assert torch.equal(before, torch.random.get_rng_state())
    assert all(torch.equal(found[0][name], found[1][name]) for name in found[0])


@pytest.mark.parametrize("convolution", CONVOLUTIONS)
def test_parameters_are_those_that_torch_draws_from_the_seed(convolution):
    config = NetworkConfig(convolution=convolution)
    made = make_network(config, 3, seed=7).state_dict()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        drawn = type(make_network(config, 3, seed=0))(config, 3).state_dict()
    assert all(torch.equal(made[name], drawn[name]) for name in drawn)


def test_networks_made_in_several_threads_depend_on_their_seed_alone():
    config = NetworkConfig(channels=(64, 64))
    expected = [make_network(config, 3, seed).state_dict() for seed in range(4)]
    begin = Barrier(4)

    def make(seed):
        begin.wait()
        return [make_network(config, 3, seed).state_dict() for _ in range(10)]

    with ThreadPoolExecutor(4) as pool:
        for wanted, made in zip(expected, pool.map(make, range(4)), strict=True):
            assert all(torch.equal(state[name], wanted[name]) for state in made for name in wanted)


@pytest.mark.parametrize("engine", ["fused", "reference"])
def test_fits_in_several_threads_keep_their_seeds(two_threads, engine):
    expected = [small(seed, engine=engine).fit(GRAPHS).predict_proba(GRAPHS) for seed in range(3)]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda seed: small(seed, engine=engine).fit(GRAPHS).predict_proba(GRAPHS), range(3)))
    np.testing.assert_allclose(found, expected, atol=0 if engine == "fused" else 1e-5)
    assert torch.get_num_threads() == 2


def test_cross_validation_in_threads_gives_the_scores_of_one_thread():
    alone = cross_val_score(small(), list(GRAPHS), GRAPHS.labels, cv=3)
    with joblib.parallel_config("threading"):
        together = cross_val_score(small(), list(GRAPHS), GRAPHS.labels, cv=3, n_jobs=3)
    assert alone.tolist() == together.tolist()


# Processes begun anew -------------------------------------------------------------------------------------------------


def test_a_spawned_process_predicts_the_same(two_threads):
    model = small().fit(GRAPHS)
    with get_context("spawn").Pool(1) as pool:
        found = pool.apply_async(model.predict_proba, (GRAPHS,)).get(TOO_LONG)
    np.testing.assert_allclose(found, model.predict_proba(GRAPHS), atol=1e-5)


def test_cross_validation_in_processes_gives_the_scores_of_one():
    alone = cross_val_score(small(), list(GRAPHS), GRAPHS.labels, cv=2)
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        together = cross_val_score(small(), list(GRAPHS), GRAPHS.labels, cv=2, n_jobs=2)
    get_reusable_executor().shutdown(wait=True)
    assert alone.tolist() == together.tolist()


# Number of threads ----------------------------------------------------------------------------------------------------


def test_a_thread_that_begins_while_another_works_has_the_whole_budget(two_threads):
    found = []
    with openmp_limit():
        assert torch.get_num_threads() == 1
        thread = Thread(target=lambda: found.append(thread_budget()))
        thread.start()
        thread.join()
    assert found == [2]
    assert torch.get_num_threads() == 2


def test_threads_that_work_at_once_leave_the_number_as_it_was(two_threads):
    network, inside, leave = make_network(NetworkConfig(), 2, seed=0), Event(), Event()
    computation = compute(network, GRAPHS.with_labels(None), "fused")

    def work():
        with computation.at_work():
            inside.set()
            leave.wait()

    thread = Thread(target=work)
    thread.start()
    inside.wait()
    with computation.at_work():
        leave.set()
        thread.join()
    assert torch.get_num_threads() == 2
    found = []
    later = Thread(target=lambda: found.append(torch.get_num_threads()))
    later.start()
    later.join()
    assert found == [2]


# Forked processes -----------------------------------------------------------------------------------------------------


def exit_code_of_child(work):
    """What a forked process ends with: 0 if ``work`` came to its end, a negative number if it was killed for taking too long."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(TOO_LONG)
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def use_all_threads():
    """Start torch's pool of threads, as a user's own computations may."""
    large = torch.ones(600, 600)
    return (large @ large).exp().sum()


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@needs_fork
@pytest.mark.parametrize("engine", ["fused", "reference"])
def test_a_child_forked_after_a_prediction_predicts_and_fits(two_threads, engine):
    model = small(engine=engine).fit(GRAPHS)
    expected = model.predict_proba(GRAPHS)
    use_all_threads()

    def work():
        use_all_threads()
        np.testing.assert_allclose(model.predict_proba(GRAPHS), expected, atol=1e-4)
        small(engine=engine).fit(GRAPHS)

    assert exit_code_of_child(work) == 0
    np.testing.assert_array_equal(model.predict_proba(GRAPHS), expected)


@needs_fork
def test_a_child_forked_from_another_thread_predicts_in_any_thread(two_threads):
    model = small().fit(GRAPHS)
    model.predict(GRAPHS)
    codes = []

    def work():
        use_all_threads()
        model.predict(GRAPHS)
        thread = Thread(target=lambda: (use_all_threads(), model.predict(GRAPHS)))
        thread.start()
        thread.join()

    def fork():
        use_all_threads()
        model.predict(GRAPHS)
        codes.append(exit_code_of_child(work))

    thread = Thread(target=fork)
    thread.start()
    thread.join()
    assert codes == [0]
