"""How the engine's time and memory grow: with nodes, roots, bins, and graphs in the set.

Mean degree is 10 throughout and the network is the default one; 32 roots unless roots are what grows. A step of the curves
over one graph is a full training step on it; of the curve over graphs in the set it is an epoch of 20 graphs a step. The
network has seen a few steps on a tiny graph before: the very first batch of a new one, which sets the running statistics, may
be computed by the reference.
"""

import time
from statistics import median
from typing import Any

import numpy as np
from engine_forms import PhistForm, make_task
from engine_memory import peak_memory, reset_peak

from phist.graphs.convert import as_graphset
from phist.graphs.graphset import GraphSet
from phist.nn.config import NetworkConfig
from phist.nn.sampling import RootSampler
from phist.theory.scaling import make_random_graph
from phist.training.config import TrainingConfig
from phist.training.inference import average_over_roots
from phist.training.presets import Preset

NODES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
CURVES: dict[str, tuple[int, ...]] = {
    "nodes, random": NODES,
    "nodes, power law": NODES,
    "roots": (8, 16, 32, 64, 128, 256, 512),
    "bins": (2, 4, 8, 16, 32, 64),
    "graphs in the set": (100, 300, 1_000, 3_000, 10_000),
}
FIXED_NODES = 5_000  # of the one graph, where roots or bins grow
SET_NODES = 30  # of each graph, where the set grows
POWER = 2.5  # exponent of the degrees' distribution


def make_power_law_graph(nodes: int, edges: int, seed: int) -> GraphSet:
    """About so many edges whose ends are drawn in proportion to weights that fall off by a power law."""
    generator = np.random.default_rng(seed)
    weights = np.arange(1, nodes + 1) ** (-1 / (POWER - 1))
    cumulated = np.cumsum(weights / weights.sum())
    ends = np.searchsorted(cumulated, generator.random((edges, 2))).clip(max=nodes - 1)
    distinct = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    return as_graphset([(nodes, generator.permutation(nodes)[distinct])])


def graphs_at(curve: str, size: int) -> GraphSet:
    """What is computed on at one point of a curve."""
    if curve == "nodes, power law":
        return make_power_law_graph(size, 5 * size, seed=0)
    if curve == "nodes, random":
        return make_random_graph(size, 5 * size, seed=0)
    if curve == "graphs in the set":
        return GraphSet.concatenate(make_random_graph(SET_NODES, 5 * SET_NODES, seed=number) for number in range(size))
    return make_random_graph(FIXED_NODES, 5 * FIXED_NODES, seed=0)


def preset_at(curve: str, size: int) -> Preset:
    """What it is computed with."""
    network = NetworkConfig(
        bins=size if curve == "bins" else NetworkConfig.bins, sampler=RootSampler(count=size if curve == "roots" else 32)
    )
    return Preset(network, TrainingConfig(batch_size=20))


def measure_point(curve: str, size: int, threads: int, repeats: int) -> dict[str, Any]:
    """Seconds of planning, of a step and of embedding, and the peak of memory, also above what libraries and graphs took."""
    graphs, preset = graphs_at(curve, size), preset_at(curve, size)
    tiny = PhistForm(make_task(make_random_graph(50, 250, seed=0), preset), threads, engine="fused")
    for _ in range(2):  # loads all code
        tiny.run()
    _embed(tiny)
    begun = tiny.trainer.network.state_dict()

    before = reset_peak()
    begin = time.perf_counter()
    form = PhistForm(make_task(graphs, preset), threads, engine="fused")
    plan = time.perf_counter() - begin
    form.trainer.network.load_state_dict(begun)
    form.run()  # the first epoch is not counted
    processor, epochs = time.process_time(), form.epochs
    steps = [form.run() * form.task.n_steps for _ in range(repeats)]
    processor = (time.process_time() - processor) / (form.epochs - epochs)
    embeds = [_embed(form) for _ in range(repeats)]
    return {
        "edges": graphs.n_edges,
        "plan": plan,
        "step": median(steps),
        "processor": processor,  # of all threads in a step, which other programs disturb less
        "embed": median(embeds),
        "steps": steps,
        "embeds": embeds,
        "bytes": peak_memory() - before,
        "peak": peak_memory(),
    }


def _embed(form: PhistForm) -> float:
    begin = time.perf_counter()
    average_over_roots(form.trainer.computation, "graph_embeddings", realizations=1, seed=0)
    return time.perf_counter() - begin


def slope(sizes: list[int], values: list[float]) -> float:
    """The exponent of a power law through the points, by least squares of logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
