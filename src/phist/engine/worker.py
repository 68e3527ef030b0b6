"""What a worker runs: its work items of a pass, or of many steps of training with nothing of Python in between.

Most of the engine's code is compiled here, and once.
"""

from typing import Any, NamedTuple

from phist.engine.arena import clear
from phist.engine.barrier import begin_round, end_round, n_threads_of, take_next
from phist.engine.dense import fill
from phist.engine.jit import ZERO, compiled, inner
from phist.engine.optimizer import AdamWArrays, adamw_part, sum_gradients
from phist.engine.passes import backward, forward, heads_backward
from phist.engine.plan import rows_in
from phist.engine.simd import single
from phist.engine.statistics import (
    RunningStatistics,
    fill_standardizer,
    next_step_size,
    update_from_embeddings,
    update_from_moments,
)
from phist.engine.views import handle_of, stretch
from phist.engine.work import SHARED, Job, draws_of, meet

FORWARD, BACKWARD, TRAIN = range(3)  # a pass, or both and a step of the optimiser after them
PAIRS_IN_CACHE = 1 << 11  # a few hundred bytes each


class Training(NamedTuple):
    """What a step of training moves."""

    adamw: AdamWArrays
    nodes: RunningStatistics
    graphs: RunningStatistics


@compiled
def run_worker(this_round: int, mode: int, job: Job, training: Training) -> None:
    """What a worker does, a pass or step after step: its own shard, then spare ones, while there are, then what all share."""
    begin_round(job.cells, job.number, this_round)
    n_threads, n_shards, own, moved = n_threads_of(job.cells), len(job.work.moments), handle_of(job), handle_of(training)
    shards = job.work.shards
    for step in range(len(shards.ptr)):
        shard = job.number
        while shard < n_shards:
            _run_shard(step, shard, mode, own)
            shard = n_threads + take_next(job.work.taken, step) if n_shards > n_threads else n_shards
        for at in range(shards.ptr[step, -1], shards.ends[step]):
            _run_shared(shards.order[at : at + 1], mode, own)
        if mode == TRAIN:
            finish_step(step, own, moved)
    end_round(job.cells, job.number, this_round)


@inner
def _run_shard(step: int, shard: int, mode: int, job: Any) -> None:
    """In training as many graphs at a time as stay in the cache through both passes."""
    work = job.work
    items = work.shards.order[work.shards.ptr[step, shard] : work.shards.ptr[step, shard + 1]]
    if mode != FORWARD:
        fill(stretch(work.gradients[shard], 0, work.gradients.shape[1]), single(0.0))
    begin = ZERO
    while begin < len(items):
        end = _next_end(items, begin, job) if mode == TRAIN else len(items)
        own = items[begin:end]
        if mode != BACKWARD:
            clear(job.arena)
            forward(own, shard, job)
        if mode == TRAIN:
            heads_backward(own, shard, job)
        if mode != FORWARD:
            backward(own, shard, job)
        begin = end


@inner
def _run_shared(items: Any, mode: int, job: Any) -> None:
    """A graph that all workers share; the first has the head."""
    forward(items, SHARED, job)
    if mode == TRAIN:
        if job.number == 0:
            heads_backward(items, ZERO, job)
        backward(items, SHARED, job)


@inner
def _next_end(items: Any, begin: int, job: Any) -> int:
    """Where so many graphs end, at least one."""
    pairs, end, work, plan = ZERO, begin, job.work, job.plan
    while end < len(items) and pairs < PAIRS_IN_CACHE:
        graph = work.graphs[items[end]]
        pairs += min(draws_of(work, items[end]), rows_in(plan, graph)) * plan.ball_sizes[graph]
        end += 1
    return end


@inner
def finish_step(step: int, job: Any, training: Any) -> None:
    """A step of the optimiser and of the running statistics, all threads together."""
    adamw, number = training.adamw, job.number
    n_threads, n_parts = n_threads_of(job.cells), len(adamw.squares)  # parts by threads, of which fewer may be at work
    meet(job)  # all gradients are there
    for own in range(number, n_parts, n_threads):
        sum_gradients(job.work.gradients, adamw, own, n_parts)
    if number == 0:
        _update_node_statistics(step, job, training.nodes)
    if number == n_threads - 1:
        _update_graph_statistics(step, job, training.graphs)
    meet(job)  # and the length of their sum
    for own in range(number, n_parts, n_threads):
        adamw_part(adamw, step, own, job.network.node.values)
    meet(job)  # all parameters have moved


@inner
def _update_node_statistics(step: int, job: Any, running: Any) -> None:
    to, moments = job.network.node_standardizer, job.work.moments
    if step >= running.first_step:
        update_from_moments(moments, running.columns, len(to.shift), next_step_size(running), running.mean, running.variance)
        fill_standardizer(running.mean, running.variance, running.epsilon, running.columns, to.shift, to.scale)
    for shard in range(len(moments)):
        for at in range(moments.shape[1]):
            moments[shard, at] = 0.0


@inner
def _update_graph_statistics(step: int, job: Any, running: Any) -> None:
    to, work, size = job.network.graph_standardizer, job.work, len(job.network.graph_standardizer.shift)
    if step >= running.first_step:
        items = work.graph_embeddings[work.shards.ptr[step, 0] * size : work.shards.ends[step] * size]
        update_from_embeddings(items, running.columns, size, next_step_size(running), running.mean, running.variance)
        fill_standardizer(running.mean, running.variance, running.epsilon, running.columns, to.shift, to.scale)
