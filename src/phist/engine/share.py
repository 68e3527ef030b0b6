"""What a thread is called for: its graphs of a pass, or of many steps of training with nothing of Python in between.

Most of the engine's code is compiled here, and once.
"""

from typing import Any, NamedTuple

from phist.engine.barrier import begin_round, end_round, n_threads_of, take_next, wait_at_barrier
from phist.engine.dense import fill
from phist.engine.fused import Pass, backward, forward, learn_heads
from phist.engine.memory import Memory
from phist.engine.optimizer import Descent, descend_part, sum_gradients
from phist.engine.plan import Plan
from phist.engine.shape import Network
from phist.engine.statistics import Running, learn_graphs, learn_nodes, next_share, settle
from phist.engine.vectors import compiled, inner, single

FORWARD, BACKWARD, LEARN, TRAIN = range(4)  # LEARN is all the way there and back, and TRAIN steps on after it
PLACES_IN_CACHE = 1 << 11  # a few hundred bytes each


class Movement(NamedTuple):
    """What a step of training moves."""

    descent: Descent
    nodes: Running
    graphs: Running


@compiled
def run_share(
    number: int,
    cells: Any,
    this_round: int,
    asked: int,
    plan: Plan,
    network: Network,
    batch: Pass,
    movement: Movement,
    most_places: int,
    memory: Memory,
) -> None:
    """What thread ``number`` does, forward, backward or both, step after step: its own share, then spare ones, while there are."""
    begin_round(cells, number, this_round)
    n_threads, n_shares = n_threads_of(cells), len(batch.moments)
    for step in range(len(batch.shares.ptr)):
        share = number
        while share < n_shares:
            some = batch.shares.order[batch.shares.ptr[step, share] : batch.shares.ptr[step, share + 1]]
            if asked != FORWARD:
                fill(batch.gradients[share], 0, batch.gradients.shape[1], single(0.0))
            begin = 0
            while begin < len(some):
                end = len(some) if asked < LEARN else _next_end(some, begin, plan, batch)
                _run_some(some[begin:end], share, asked, plan, network, batch, most_places, memory)
                begin = end
            share = n_threads + take_next(batch.taken, step) if n_shares > n_threads else n_shares
        if asked == TRAIN:
            _move(step, number, cells, network, batch, movement)
    end_round(cells, number, this_round)


@inner
def _next_end(some: Any, begin: int, plan: Plan, batch: Pass) -> int:
    """As many graphs as stay in the cache all the way there and back, at least one."""
    places, end = 0, begin
    while end < len(some) and places < PLACES_IN_CACHE:
        graph, n_draws = batch.graphs[some[end]], batch.draws.ptr[some[end] + 1] - batch.draws.ptr[some[end]]
        places += min(n_draws, plan.row_ptr[graph + 1] - plan.row_ptr[graph]) * plan.ball_sizes[graph]
        end += 1
    return end


@inner
def _run_some(
    some: Any, share: int, asked: int, plan: Plan, network: Network, batch: Pass, most_places: int, memory: Memory
) -> None:
    if asked != BACKWARD:
        memory.tops[0], memory.tops[1] = 0, 0
        batch.embeddings[share] = forward(some, share, plan, network, batch, most_places, memory)
    if asked >= LEARN:
        learn_heads(some, share, network, batch, memory)
    if asked != FORWARD:
        backward(some, share, plan, network, batch, most_places, memory)


@inner
def _move(step: int, number: int, cells: Any, network: Network, batch: Pass, movement: Movement) -> None:
    """A step of the optimiser and of the running statistics, all threads together."""
    n_threads, n_parts = n_threads_of(cells), len(movement.descent.squares)  # parts by threads, of which fewer may be at work
    wait_at_barrier(cells, number, 3 * step + 1)  # all gradients are there
    for part in range(number, n_parts, n_threads):
        sum_gradients(batch.gradients, movement.descent, part, n_parts)
    if number == 0:
        _follow_nodes(step, network, batch, movement.nodes)
    if number == n_threads - 1:
        _follow_graphs(step, network, batch, movement.graphs)
    wait_at_barrier(cells, number, 3 * step + 2)  # and the length of their sum
    for part in range(number, n_parts, n_threads):
        descend_part(movement.descent, step, part, network.node.values)
    wait_at_barrier(cells, number, 3 * step + 3)  # all parameters have moved


@inner
def _follow_nodes(step: int, network: Network, batch: Pass, running: Running) -> None:
    to = network.node_standardizer
    if step >= running.first_step:
        learn_nodes(batch.moments, running.columns, len(to.shift), next_share(running), running.mean, running.variance)
        settle(running.mean, running.variance, running.epsilon, running.columns, to.shift, to.scale)
    batch.moments[:] = 0.0


@inner
def _follow_graphs(step: int, network: Network, batch: Pass, running: Running) -> None:
    to, size = network.graph_standardizer, len(network.graph_standardizer.shift)
    if step >= running.first_step:
        some = batch.histograms[batch.shares.ptr[step, 0] * size : batch.shares.ptr[step, -1] * size]
        learn_graphs(some, running.columns, size, next_share(running), running.mean, running.variance)
        settle(running.mean, running.variance, running.epsilon, running.columns, to.shift, to.scale)
