"""Work: what is to be done in a call of the engine and what comes out of it; Job: all that a worker knows of it."""

from typing import Any, NamedTuple, cast

import numpy as np

from phist.engine.arena import Arena
from phist.engine.barrier import wait_at_barrier
from phist.engine.jit import inner
from phist.engine.plan import Plan
from phist.engine.shape import Network
from phist.engine.threads import Shards
from phist.nn.sampling import Draws

STATES = 9  # what is remembered of a work item between the passes:
IS_KEPT, HELD_WIDTH, FIRST_FLOAT, FIRST_INTEGER, N_PAIRS, N_ENTRIES, N_ROOTS, FIRST_ROOT, FIRST_RESPONSE = range(STATES)
SHARED = cast(int, np.int64(-1))  # in place of a shard: a graph that all workers share


class Exchange(NamedTuple):
    """What workers tell each other of a graph whose roots they share; parts are as many as threads."""

    moments: Any  # (parts, 1 + 2 · width): of the responses to a part of the roots
    sums: Any  # (parts, 2 · width): gradients of mean and variance, likewise
    embeddings: Any  # (roots · bins · width)
    grad_embeddings: Any  # likewise


class Work(NamedTuple):
    """What workers read and fill in passes over work items, each a graph with its draws; in training, a step follows every pass."""

    graphs: Any  # (graphs): by their numbers in the plan
    draws: Draws
    targets: Any  # (graphs): their classes, for the head
    weights: Any  # (graphs): what each counts for in the loss, those of a step together 1
    shards: Shards
    taken: Any  # (steps): spare shards that some worker has taken
    keep: Any  # (shards): responses of so many floats stay for the backward pass; below 0 nothing stays
    states: Any  # (graphs + threads, STATES): of work items, then of each worker's part of a graph that all share
    exchange: Exchange
    root_embeddings: Any  # (shards): where those of its roots begin in a worker's arena
    node_embeddings: Any  # those of the drawn nodes, unless empty; without views they are all that is asked for
    views: Draws  # (graphs · n_views): what f_graph sees of the drawn nodes, the mean over them; they have no backward pass
    n_views: int  # 0 where it sees them all once
    graph_embeddings: Any  # (graphs · (bins + moments) · width): those of f_graph, its moments, those of f_node
    grad_graph_embeddings: Any  # likewise
    moments: Any  # (shards, 1 + 2 · bins · width): draws, sums and sums of squares of drawn embeddings less the shift
    losses: Any  # (graphs): what each adds to the loss of its step
    hits: Any  # (graphs)
    gradients: Any  # (shards, parameters with padding, without transposes)


class Job(NamedTuple):
    """All that a worker needs for its work items; functions take it as a handle."""

    plan: Plan
    network: Network
    work: Work
    max_pairs: int  # of a root and a row that are held at once
    max_held: int  # floats of responses that are held where roots come in turns
    arena: Arena
    number: int  # of the worker
    cells: Any  # of its team's barriers


@inner
def meet(job: Any) -> None:
    """Wait until all workers have come here."""
    wait_at_barrier(job.cells, job.number)


@inner
def draws_of(work: Any, item: int) -> int:
    """How many nodes were drawn for a work item."""
    n: int = work.draws.ptr[item + 1] - work.draws.ptr[item]
    return n
