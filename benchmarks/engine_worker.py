"""One measurement of benchmarks/engine.py in a process of its own, so that memory is its own too.

    python benchmarks/engine_worker.py '{"kind": "memory", "dataset": "MUTAG", "form": "engine", "threads": 2, "steps": 2}'

The result is printed as JSON, on the last line.
"""

import json
import os
import resource
import sys
import time
from statistics import median
from typing import Any

import numpy as np
import torch
from engine_forms import FORMS, PhistForm, dataset_task, make_form, smallest
from engine_memory import peak_memory, reset_peak
from engine_scaling import measure_point
from engine_work import cycles_per_second, multiply_rate, needed_operations, printed_operations

MOST_OF_MEMORY = 0.9  # rather fail than drive the machine into swap


def measure_steps(dataset: str, threads: int, steps: int, repeats: int) -> dict[str, Any]:
    """Seconds of a step in every form, one after the other in every round; the first round is not counted."""
    task = dataset_task(dataset, steps)
    forms = {name: make_form(name, task, threads) for name in FORMS}
    forms["engine, one thread"] = make_form("engine", task, threads=1)
    engine, timed = forms["engine"], make_form("engine", task, threads)
    forms["engine, by the clock"] = timed
    timed.trainer.computation.keep_time()
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    cycles = []
    for number in range(1 + repeats):
        for name, form in forms.items():
            before, epochs = _clocks(timed), timed.epochs
            taken = form.run()
            if number:
                seconds[name].append(taken)
            if number and form is timed:
                cycles.append((_clocks(timed) - before) / ((timed.epochs - epochs) * task.n_steps))
    spent = np.median(cycles, axis=0)
    return {
        "graphs": len(task.examples.graphs),
        "steps": task.n_steps,
        "seconds": seconds,
        "phases": _phases(spent, median(seconds["engine, by the clock"]), threads),
        **_work(engine),
        "multiply_rate": multiply_rate(threads),
    }


def measure_one_thread(dataset: str, threads: int, steps: int, repeats: int) -> dict[str, Any]:
    """Processor seconds of a step with one thread for every form: PyG gains little by a second one in short steps.

    Processor time, as with one thread it is the wall time of an idle machine, and other programs hardly change it.
    """
    task = dataset_task(dataset, steps)
    forms = {name: make_form(name, task, threads) for name in FORMS}
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    for number in range(1 + repeats):
        for name, form in forms.items():
            begin, epochs = time.process_time(), form.epochs
            form.run()
            if number:
                seconds[name].append((time.process_time() - begin) / ((form.epochs - epochs) * task.n_steps))
    return {"graphs": len(task.examples.graphs), "steps": task.n_steps, "seconds": seconds}


def _clocks(form: PhistForm) -> Any:
    return form.trainer.computation.clocks.sum(axis=0).copy()


def _phases(cycles: Any, seconds: float, threads: int) -> dict[str, float]:
    """The share of all threads' time that each phase takes; Python, torch, the optimiser and waiting are the rest."""
    from phist.engine.arena import PHASES

    shares = cycles / (cycles_per_second() * seconds * threads)
    return {**dict(zip(PHASES, shares.tolist(), strict=True)), "rest": 1 - float(shares.sum())}


def _work(form: PhistForm) -> dict[str, Any]:
    """Operations of a step, the mean over the epoch that was taken last."""
    trainer, config = form.trainer, form.task.preset
    plan, sizes = trainer.computation.plan, trainer.computation.sizes
    generator = np.random.default_rng((trainer.config.seed, form.epochs - 1))
    order, size = generator.permutation(len(sizes)), config.training.batch_size  # as in training: the steps that were taken
    drawn = config.network.sampler.draw(sizes[order], generator)
    needed, printed = [], []
    for begin in range(0, len(order), size):
        chosen, draws = order[begin : begin + size], drawn.part(begin, min(begin + size, len(order)))
        needed.append(needed_operations(config.network, plan, chosen, draws))
        printed.append(printed_operations(config.network, plan, chosen, draws))
    kinds = ("recursion", "linear", "bins", "total")
    return {
        "needed_operations": {kind: float(np.mean([getattr(one, kind) for one in needed])) for kind in kinds},
        "printed_operations": {kind: float(np.mean([getattr(one, kind) for one in printed])) for kind in kinds},
    }


def measure_memory(dataset: str, form: str, threads: int, steps: int) -> dict[str, Any]:
    """What an epoch adds, at its peak, to the memory of libraries, compiled code and graphs; apart, what the first one adds.

    The first is that of a new network, whose running statistics its first batch has to set.
    """
    task = dataset_task(dataset, steps)
    make_form(form, smallest(task), threads).run()  # loads all code
    before = reset_peak()
    measured = make_form(form, task, threads)
    measured.run()
    first = peak_memory()
    reset_peak()
    measured.run()
    return {"bytes": peak_memory() - before, "first_bytes": first - before, "before": before}


def main() -> None:
    """Measure what the argument asks for."""
    request = json.loads(sys.argv[1])
    limit = int(MOST_OF_MEMORY * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    torch.set_num_threads(request["threads"])
    kinds = {"steps": measure_steps, "one-thread": measure_one_thread, "memory": measure_memory, "scaling": measure_point}
    measure = kinds[request.pop("kind")]
    print(json.dumps(measure(**request)))


if __name__ == "__main__":
    main()
