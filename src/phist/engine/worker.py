"""What a worker runs: its work items of a pass, or of many steps of training with nothing of Python in between.

Most of the engine's code is compiled here, and once.
"""

from typing import Any, NamedTuple

from phist.engine.arena import Arena
from phist.engine.barrier import begin_round, end_round, n_threads_of, take_next, wait_at_barrier
from phist.engine.dense import fill
from phist.engine.jit import compiled, inner
from phist.engine.optimizer import AdamWArrays, adamw_part, sum_gradients
from phist.engine.passes import Work, backward, forward, heads_backward
from phist.engine.plan import Plan
from phist.engine.shape import Network
from phist.engine.simd import single
from phist.engine.statistics import (
    RunningStatistics,
    fill_standardizer,
    next_step_size,
    update_from_embeddings,
    update_from_moments,
)

FORWARD, BACKWARD, LEARN, TRAIN = range(4)  # LEARN is both passes, and TRAIN has a step of the optimiser after them
PAIRS_IN_CACHE = 1 << 11  # a few hundred bytes each


class Training(NamedTuple):
    """What a step of training moves."""

    adamw: AdamWArrays
    nodes: RunningStatistics
    graphs: RunningStatistics


@compiled
def run_worker(
    number: int,
    cells: Any,
    this_round: int,
    mode: int,
    plan: Plan,
    network: Network,
    work: Work,
    training: Training,
    max_pairs: int,
    arena: Arena,
) -> None:
    """What worker ``number`` does, forward, backward or both, step after step: its own shard, then spare ones, while there are."""
    begin_round(cells, number, this_round)
    n_threads, n_shards = n_threads_of(cells), len(work.moments)
    for step in range(len(work.shards.ptr)):
        shard = number
        while shard < n_shards:
            items = work.shards.order[work.shards.ptr[step, shard] : work.shards.ptr[step, shard + 1]]
            if mode != FORWARD:
                fill(work.gradients[shard], 0, work.gradients.shape[1], single(0.0))
            begin = 0
            while begin < len(items):
                end = len(items) if mode < LEARN else _next_end(items, begin, plan, work)
                _run_items(items[begin:end], shard, mode, plan, network, work, max_pairs, arena)
                begin = end
            shard = n_threads + take_next(work.taken, step) if n_shards > n_threads else n_shards
        if mode == TRAIN:
            _finish_step(step, number, cells, network, work, training)
    end_round(cells, number, this_round)


@inner
def _next_end(items: Any, begin: int, plan: Plan, work: Work) -> int:
    """As many graphs as stay in the cache through both passes, at least one."""
    pairs, end = 0, begin
    while end < len(items) and pairs < PAIRS_IN_CACHE:
        graph, n_draws = work.graphs[items[end]], work.draws.ptr[items[end] + 1] - work.draws.ptr[items[end]]
        pairs += min(n_draws, plan.row_ptr[graph + 1] - plan.row_ptr[graph]) * plan.ball_sizes[graph]
        end += 1
    return end


@inner
def _run_items(items: Any, shard: int, mode: int, plan: Plan, network: Network, work: Work, max_pairs: int, arena: Arena) -> None:
    if mode != BACKWARD:
        arena.tops[0], arena.tops[1] = 0, 0
        work.root_embeddings[shard] = forward(items, shard, plan, network, work, max_pairs, arena)
    if mode >= LEARN:
        heads_backward(items, shard, network, work, arena)
    if mode != FORWARD:
        backward(items, shard, plan, network, work, max_pairs, arena)


@inner
def _finish_step(step: int, number: int, cells: Any, network: Network, work: Work, training: Training) -> None:
    """A step of the optimiser and of the running statistics, all threads together."""
    n_threads, n_parts = n_threads_of(cells), len(training.adamw.squares)  # parts by threads, of which fewer may be at work
    wait_at_barrier(cells, number, 3 * step + 1)  # all gradients are there
    for part in range(number, n_parts, n_threads):
        sum_gradients(work.gradients, training.adamw, part, n_parts)
    if number == 0:
        _update_node_statistics(step, network, work, training.nodes)
    if number == n_threads - 1:
        _update_graph_statistics(step, network, work, training.graphs)
    wait_at_barrier(cells, number, 3 * step + 2)  # and the length of their sum
    for part in range(number, n_parts, n_threads):
        adamw_part(training.adamw, step, part, network.node.values)
    wait_at_barrier(cells, number, 3 * step + 3)  # all parameters have moved


@inner
def _update_node_statistics(step: int, network: Network, work: Work, running: RunningStatistics) -> None:
    to = network.node_standardizer
    if step >= running.first_step:
        update_from_moments(work.moments, running.columns, len(to.shift), next_step_size(running), running.mean, running.variance)
        fill_standardizer(running.mean, running.variance, running.epsilon, running.columns, to.shift, to.scale)
    work.moments[:] = 0.0


@inner
def _update_graph_statistics(step: int, network: Network, work: Work, running: RunningStatistics) -> None:
    to, size = network.graph_standardizer, len(network.graph_standardizer.shift)
    if step >= running.first_step:
        items = work.graph_embeddings[work.shards.ptr[step, 0] * size : work.shards.ptr[step, -1] * size]
        update_from_embeddings(items, running.columns, size, next_step_size(running), running.mean, running.variance)
        fill_standardizer(running.mean, running.variance, running.epsilon, running.columns, to.shift, to.scale)
