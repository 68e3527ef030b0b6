"""What many graphs cost: rates of embedding, memory of streams and of fits, and training on several processes.

    PHIST_DATA=folder python benchmarks/scale.py rates|reading|streams|fit|steps|order [--graphs N] [--datasets NAME ...]

Every figure is of a process of its own. Seconds of a core are processor time, which other programs change little; seconds
on the clock are given beside them. Results go to benchmarks/results/scale.json, under the name of the mode.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from engine_memory import peak_memory

RESULTS = Path(__file__).parent / "results" / "scale.json"
PARTS = 20  # of the output of a stream, so that two shards have as much to do each
PART_ROWS = 2048  # in a part of a long stream
PART = 100_000  # generated graphs in a file
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
ROOM = 4 << 30  # bytes that a fit may have, mapped files apart
SMALL = {"channels": (4, 6), "bins": 4, "roots": 6}  # a network for figures of memory, which hardly depend on it


def molecules(n_graphs, seed):
    """Graphs of 25 nodes: a random tree of low degree, closed to two rings; labelled by whether the rings share a node."""
    from phist.graphs.packing import pack

    generator, size = np.random.default_rng(seed), 25
    parents = np.maximum(np.arange(1, size) - generator.integers(1, 4, (n_graphs, size - 1)), 0)
    ring = generator.integers(0, size - 6, (n_graphs, 2))
    source = np.concatenate([np.broadcast_to(np.arange(1, size), parents.shape), ring], axis=1)
    target = np.concatenate([parents, ring + 5], axis=1)
    first = size * np.arange(n_graphs)[:, None]
    labels = (np.abs(ring[:, 0] - ring[:, 1]) <= 5).astype(np.int64)
    return pack(np.full(n_graphs, size), (source + first).ravel(), (target + first).ravel()).with_labels(labels)


def fit_model(folder, graphs, **settings):
    """A model whose quality does not matter."""
    from phist import StructuralClassifier

    model = StructuralClassifier("low", random_state=0, progress=False, members=("network",), training={"epochs": 1}, **settings)
    model.fit(graphs).save(folder)


def child(call, *words, env=None):
    """A function of this file in a process of its own; what it returns, with its processor time and peak memory."""
    command = [sys.executable, __file__, "--call", call, *map(str, words)]
    done = subprocess.run(command, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr.strip())
    return json.loads(done.stdout.splitlines()[-1])


# Rates of embedding --------------------------------------------------------------------------------------------------


def at_once(model, lake):
    """Embed graphs in memory."""
    from phist import read_graphs
    from phist.estimators.fitted import load_fitted

    fitted = load_fitted(model)
    fitted.progress = False
    graphs = read_graphs(Path(lake) / "graphs.parquet").with_labels(None)
    fitted.transform(graphs)  # as in `streamed_again`
    return timed(lambda: fitted.transform(graphs))


def streamed(model, lake, part_rows, out, shard="1/1"):
    """Embed the same graphs from a stream into a folder."""
    from phist.scale.answers import Embeddings
    from phist.scale.bulk import run_bulk
    from phist.scale.parts import Shard
    from phist.scale.stretches import Limits

    answers = Embeddings(model)
    answers.no_columns()
    limits = Limits(part_rows=int(part_rows))
    return timed(lambda: run_bulk(answers, str(lake), out, shard=Shard.parse(shard), limits=limits, progress=False))


def streamed_again(model, lake, part_rows, out, shard="1/1"):
    """The same for the second time in a process: long streams are the subject, and a first pass loads and allocates."""
    streamed(model, lake, part_rows, f"{out}-first", shard)
    return streamed(model, lake, part_rows, out, shard)


def timed(call):
    """Seconds of a core and on the clock, and the most memory of this process."""
    core, clock = time.process_time(), time.perf_counter()
    call()
    seconds = {"core_seconds": time.process_time() - core, "seconds": time.perf_counter() - clock}
    return {**seconds, "peak_mb": peak_memory() / 2**20}


def rates(options):
    """Graphs a second and core: in memory, as a stream, and as a stream by two processes at once; each process has one thread."""
    from phist import load_dataset
    from phist.graphs.formats.graph_rows import write_graph_rows

    results = {}
    for name in options.datasets:
        graphs = load_dataset(name)
        some = np.random.default_rng(0).permutation(len(graphs))  # files may be sorted by class
        chosen = graphs[np.sort(some[: options.graphs or len(graphs)])]
        with TemporaryDirectory() as folder:
            place = Path(folder)
            (place / "lake").mkdir()
            write_graph_rows(place / "lake" / "graphs.parquet", chosen)
            fit_model(place / "model", graphs[some[:200]])
            words = place / "model", place / "lake", len(chosen) // PARTS
            repeats = [
                (
                    child("at_once", *words[:2], env=ONE_THREAD),
                    child("streamed_again", *words, place / f"out{number}", env=ONE_THREAD),
                    _two(*words, place / f"two{number}"),
                )
                for number in range(options.repeats)
            ]
        figures = zip(("in memory", "stream", "two processes"), zip(*repeats, strict=True), strict=True)
        results[name] = {"graphs": len(chosen)} | {
            kind: {key: median(one[key] for one in found) for key in ("core_seconds", "seconds")} for kind, found in figures
        }
    return results


def _two(model, lake, part_rows, out):
    """Two processes, each with its shard, at the same time: seconds of the slower, and of both cores together."""
    command = [sys.executable, __file__, "--call", "streamed_again", model, lake, part_rows, out]
    settings = {"stdout": subprocess.PIPE, "text": True, "env": {**os.environ, **ONE_THREAD}}
    running = [subprocess.Popen([*map(str, command), f"{number}/2"], **settings) for number in (1, 2)]
    found = [json.loads(process.communicate()[0].splitlines()[-1]) for process in running]
    return {"core_seconds": sum(own["core_seconds"] for own in found), "seconds": max(own["seconds"] for own in found)}


def reading(options):
    """Graphs a minute from Parquet, one a row, on one core."""
    from reading import rows_a_minute

    return {options.datasets[0]: rows_a_minute(options.datasets[0])}


# Memory --------------------------------------------------------------------------------------------------------------


def streams(options):
    """The most memory that a stream of generated graphs takes, whatever their number."""
    from phist.graphs.formats.graph_rows import write_graph_rows

    results = {}
    with TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "lake").mkdir()
        fit_model(place / "model", molecules(500, 0), network=SMALL)
        written = 0
        for count in [options.graphs] if options.graphs else (10**5, 10**6, 10**7):
            while written < count:
                write_graph_rows(place / "lake" / f"{written // PART:05d}.parquet", molecules(PART, written))
                written += PART
            found = child("streamed", place / "model", place / "lake", PART_ROWS, place / f"out{count}", env=ONE_THREAD)
            results[str(count)] = {"graphs": count, **found}
            print(results[str(count)], file=sys.stderr)
    return results


def fitted(place):
    """Fit to a mapped set under a limit of memory."""
    resource.setrlimit(resource.RLIMIT_DATA, (ROOM, ROOM))
    from phist import GraphSet, StructuralClassifier

    graphs = GraphSet.open(place, check=False)
    model = StructuralClassifier("low", random_state=0, progress=False, network=SMALL)
    found = timed(lambda: model.fit(graphs))
    status = Path("/proc/self/status").read_text().splitlines()
    data = next(int(line.split()[1]) for line in status if line.startswith("VmPeak"))
    return {**found, "peak_address_mb": data / 1024, "accuracy": model.report_.metrics.accuracy, "floors": model.report_.floors}


def fit(options):
    """Fit to generated graphs, two million unless said otherwise, in less than four gigabytes."""
    from phist.graphs.storage import write_graphset

    n_graphs = options.graphs or 2 * 10**6
    with TemporaryDirectory() as folder:
        place = Path(folder) / "set"
        write_graphset(place, (molecules(PART, begin) for begin in range(0, n_graphs, PART)))
        size = sum(file.stat().st_size for file in place.iterdir())
        return {str(n_graphs): {"graphs": n_graphs, "set_mb": size / 2**20, **child("fitted", place, env={"OMP_NUM_THREADS": "1"})}}


# Training on several processes ---------------------------------------------------------------------------------------


def stepping(name, batch_size, epochs):
    """Train on a dataset with the other processes of a group; the first tells seconds of a step and of a sum."""
    import torch

    from phist import load_dataset
    from phist.nn.config import NetworkConfig
    from phist.nn.network import make_network
    from phist.training.config import TrainingConfig
    from phist.training.group import process_group
    from phist.training.loop import Examples, Trainer

    torch.set_num_threads(1)
    graphs = load_dataset(name)[:4096]
    targets = np.unique(graphs.labels, return_inverse=True)[1]
    with process_group() as group:
        network = make_network(NetworkConfig(moments="head"), int(targets.max()) + 1, seed=0)
        examples = Examples(graphs.with_labels(None), targets, np.ones(len(targets)))
        trainer = Trainer(network, examples, None, TrainingConfig(batch_size=int(batch_size)), "fused")
        trainer.run_epoch()
        core, clocks = time.process_time(), []
        for _ in range(int(epochs)):
            begin = time.perf_counter()
            trainer.run_epoch()
            clocks.append(time.perf_counter() - begin)
        core = time.process_time() - core
        size = sum(parameter.numel() for parameter in network.parameters())
        sums = []
        for _ in range(50):
            begin = time.perf_counter()
            group.sum(np.zeros(size))
            sums.append(time.perf_counter() - begin)
        n_steps = -(-len(graphs) // int(batch_size))
        cores = group.sum(np.array([core]))[0]
        if group.is_first:
            found = {"processes": group.size, "batch": int(batch_size), "parameters": size, "sum_ms": 1e3 * min(sums)}
            found |= {"step_ms": 1e3 * min(clocks) / n_steps, "core_ms_a_step": 1e3 * cores / int(epochs) / n_steps}
            Path(os.environ["PHIST_FOUND"]).write_text(json.dumps(found))
    os._exit(0)  # a thread of the transport may abort at the interpreter's own end, and torchrun fails


def steps(options):
    """Seconds of a step at several numbers of processes and sizes of a step."""
    results = {}
    for batch_size in (32, 256, 1024):
        for count in range(1, options.processes + 1):
            with TemporaryDirectory() as folder:
                launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(count), __file__]
                words = ["--call", "stepping", options.datasets[0], str(batch_size), str(options.repeats)]
                found = Path(folder) / "found"
                environment = {**os.environ, "OMP_NUM_THREADS": "1", "PHIST_FOUND": str(found)}
                subprocess.run([*launch, *words], env=environment, check=True, stdout=sys.stderr)
                results[f"{batch_size}/{count}"] = json.loads(found.read_text())
                print(results[f"{batch_size}/{count}"], file=sys.stderr)
    return results


# The order of graphs -------------------------------------------------------------------------------------------------


def ordered(name, how, seed):
    """Accuracy on a fifth of a dataset, sorted by class, of a network trained in windows of a tenth, or in any order."""
    from phist import StructuralClassifier, load_dataset
    from phist.training import windows

    graphs = load_dataset(name)
    chosen = np.random.default_rng(int(seed)).permutation(len(graphs))
    test, training = chosen[: len(graphs) // 5], chosen[len(graphs) // 5 :]
    if how == "sorted":
        training = training[np.argsort(graphs.labels[training], kind="stable")]
    graphs_in_order = graphs[training]
    size = len(graphs_in_order.indices) + graphs_in_order.n_nodes
    if how != "any":
        windows.MOST_AT_ONCE, windows.WINDOW = 0, size // 10
        windows.BLOCK = max(1, len(training) // 400)  # as many blocks a window as 33 million nodes and arcs have: some dozens
    model = StructuralClassifier(preset="one", random_state=int(seed), progress=False, training={"epochs": 15})
    model.fit(graphs_in_order)
    windows.MOST_AT_ONCE = 1 << 25
    return {"accuracy": model.score(graphs[test])}


def order(options):
    """What shuffling by blocks costs in accuracy: any order against windows, over files as they are and files sorted by class."""
    results = {}
    for name in options.datasets:
        for how in ("any", "windows", "sorted"):
            found = [child("ordered", name, how, seed, env={"OMP_NUM_THREADS": "1"})["accuracy"] for seed in range(options.repeats)]
            results[f"{name}/{how}"] = {
                "mean": float(np.mean(found)),
                "deviation": float(np.std(found, ddof=1)),
                "seeds": len(found),
            }
            print(name, how, results[f"{name}/{how}"], file=sys.stderr)
    return results


CALLS = {
    "at_once": at_once,
    "streamed": streamed,
    "streamed_again": streamed_again,
    "fitted": fitted,
    "stepping": stepping,
    "ordered": ordered,
}
MODES = {"rates": rates, "reading": reading, "streams": streams, "fit": fit, "steps": steps, "order": order}


def main():
    """Measure, and keep what was found."""
    if sys.argv[1:2] == ["--call"]:
        print(json.dumps(CALLS[sys.argv[2]](*sys.argv[3:])))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mode", choices=MODES)
    parser.add_argument("--graphs", type=int)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--datasets", nargs="+", default=["MOLHIV", "COLLAB"])
    options = parser.parse_args()
    found = MODES[options.mode](options)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known.setdefault(options.mode, {}).update(found)
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
