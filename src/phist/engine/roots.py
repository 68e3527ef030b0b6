"""f_node on the distinct roots of one graph, all at once or in turns as memory allows."""

from typing import Any, NamedTuple

from phist.engine.arena import (
    BALLS,
    DOUBLES,
    begin_phase,
    charge,
    lower_tops,
    take_floats,
    take_integers,
    take_matrix,
    tops_of,
)
from phist.engine.balls import Chunk, most_counts, open_chunk
from phist.engine.dense import fill
from phist.engine.graph_level import density_of, take_moments
from phist.engine.jit import ZERO, inner, never_inline
from phist.engine.node_level import Held, Responses, embed, held_of, respond, squash, take_responses, whitening_of
from phist.engine.parts import Parts, clear_moments, count_roots, join_moments, moments_of, next_roots
from phist.engine.plan import nodes_in, rows_in
from phist.engine.simd import single
from phist.engine.views import rows_of, stretch
from phist.engine.whitening import add_moments, append_moments, finish_moments

PAIRS_AT_ONCE = 4096  # in statistics


class Roots(NamedTuple):
    """The roots of a work item, as a worker computes them."""

    graph: int
    parts: Parts  # what this worker computes of them
    state: Any  # what it remembers of them between the passes
    distinct: "DistinctRoots"


class DistinctRoots(NamedTuple):
    """The distinct roots of a graph; there may be fewer than draws."""

    draw_root: Any  # (draws): which root each draw is; twins are one
    rows: Any  # (roots): which row of the graph each is
    weights: Any  # (roots): draws of each
    whitening: Any  # (2, width), or (2 · draws, width): mean and scale for all roots, or for each


@inner
def n_sets(shape: Any, n_roots: int) -> int:
    """How many sets of rows have statistics of their own."""
    return 1 if shape.joint else n_roots


@inner
def take_distinct_roots(shape: Any, n_draws: int, arena: Any) -> DistinctRoots:
    """Space for them; at the same tops it is the same."""
    return DistinctRoots(
        take_integers(arena, n_draws),
        take_integers(arena, n_draws),
        take_floats(arena, n_draws),
        take_matrix(arena, 2 * n_sets(shape, n_draws), shape.widths[-1]),
    )


@inner
def merge_roots(job: Any, item: int, distinct: DistinctRoots) -> int:
    """Twin roots have the same embedding: keep each once, with the draws of all; returns how many there are."""
    never_inline()
    plan, draws, position = job.plan, job.work.draws, job.arena.position
    root_row, drawn, counts = plan.root_row, draws.nodes, draws.counts
    first, begin, n_roots = plan.node_ptr[job.work.graphs[item]], draws.ptr[item], 0
    for draw in range(distinct.draw_root.n):
        row = root_row[first + drawn[begin + draw]]
        if position[row] < 0:
            position[row] = n_roots
            distinct.rows[n_roots] = row
            distinct.weights[n_roots] = single(0.0)
            n_roots += 1
        distinct.draw_root[draw] = position[row]
        distinct.weights[position[row]] += counts[begin + draw]
    for root in range(n_roots):
        position[distinct.rows[root]] = -1
    return n_roots


@inner
def open_roots(job: Any, roots: Roots, begin: int, end: int) -> Chunk:
    """As many of the roots from ``begin`` on as memory allows."""
    since, n, distinct = begin_phase(job.arena), end - begin, roots.distinct
    rows, weights = stretch(distinct.rows, begin, n), stretch(distinct.weights, begin, n)
    chunk = open_chunk(job.plan, roots.graph, rows, weights, job.network.shape.reach, job.max_pairs, job.arena)
    charge(job.arena, BALLS, since)
    return chunk


@inner
def pairs_in_turns(job: Any, graph: int, n_roots: int) -> int:
    """All pairs of the roots, where they come in turns and are known beforehand: without balls."""
    plan = job.plan
    if plan.by_balls[graph] or most_counts(plan, graph, n_roots, job.max_pairs).roots == n_roots:
        return 0
    n: int = n_roots * rows_in(plan, graph)
    return n


@inner
def floats_held(shape: Any, n_pairs: int, room: int, has_backward: bool) -> int:
    """Floats of a pair: its terms and last response, which are not computed again then; the last response alone; or nothing."""
    last: int = shape.widths[-1]
    everything: int = last + shape.further_terms + shape.orders[0]
    if has_backward and 0 < n_pairs * everything <= room:
        return everything
    return last if 0 < n_pairs * last <= room else 0


@inner
def take_held(job: Any, roots: Roots, n_roots: int, room: int, has_backward: bool) -> Any:
    """Space for what is held of the worker's own roots through all turns, if there is room: (pairs, floats)."""
    n = pairs_in_turns(job, roots.graph, count_roots(roots.parts, n_roots))
    floats = floats_held(job.network.shape, n, room, has_backward)
    return take_matrix(job.arena, n if floats else 0, floats)


@inner
def take_root_responses(shape: Any, chunk: Chunk, roots: Roots, begin: int, held: Held, arena: Any) -> Responses:
    """Those of a chunk whose first root is ``begin``."""
    whitening = rows_of(roots.distinct.whitening, 0 if shape.joint else 2 * begin, 2 * n_sets(shape, chunk.n_roots))
    return take_responses(shape, chunk, held, whitening, arena)


@inner
def embed_roots(job: Any, roots: Roots, embeddings: Any, held: Any) -> Chunk:
    """f_node: embeddings of the worker's own roots. Returns the last chunk; a single one stays in the arena with its responses."""
    never_inline()
    arena, shape, n_roots, parts = job.arena, job.network.shape, embeddings.n, roots.parts
    doubles, n_own = arena.tops[DOUBLES], count_roots(parts, n_roots)
    moments, scratch = take_moments(shape.widths[-1], n_sets(shape, n_roots), arena)
    for c in range(moments.n):
        moments[c] = 0.0
    clear_moments(job, parts)
    tops = tops_of(arena)
    number, begin, end = next_roots(parts, n_roots, ZERO)
    chunk = open_roots(job, roots, begin, end)
    responses = take_root_responses(shape, chunk, roots, begin, held_of(shape, chunk, held, ZERO), arena)
    in_turns = chunk.n_roots < n_own
    for turn in range(2):
        done = ZERO
        while done < n_own:
            number, begin, end = next_roots(parts, n_roots, done)
            if done or (in_turns and turn):
                lower_tops(arena, tops)
                chunk = open_roots(job, roots, begin, end)
                own = held_of(shape, chunk, held, done * chunk.n_rows)
                responses = take_root_responses(shape, chunk, roots, begin, own, arena)
            if turn == 0 or (in_turns and not held.n):
                respond(shape, job.network.node, chunk, stretch(roots.distinct.rows, begin, chunk.n_roots), responses, arena)
            if turn == 0:
                _add_moments(shape, chunk, responses.y, begin, moments_of(job, parts, number, moments), scratch)
            else:
                density = density_of(shape.node_density, nodes_in(job.plan, roots.graph))
                squash(shape, chunk, responses, arena)
                embed(shape, chunk, responses, rows_of(embeddings, begin, chunk.n_roots), density, arena)
            done += chunk.n_roots
        if turn == 0:
            join_moments(job, parts, moments)
            _finish_moments(shape, moments, roots.distinct, n_roots)
    arena.tops[DOUBLES] = doubles
    return chunk


@inner
def _add_moments(shape: Any, chunk: Chunk, y: Any, begin: int, moments: Any, own: Any) -> None:
    """Statistics of the responses, over all pairs or root by root; of many, some at a time, which stay in the cache."""
    n, size = chunk.n_pairs if shape.joint else chunk.n_rows, 1 + 2 * shape.widths[-1]
    for number in range(n_sets(shape, chunk.n_roots)):
        to = stretch(moments, 0 if shape.joint else (begin + number) * size, size)
        for first in range(number * n, (number + 1) * n, PAIRS_AT_ONCE):
            count = min(PAIRS_AT_ONCE, (number + 1) * n - first)
            multiplicity, draw_counts = stretch(chunk.multiplicity, first, count), stretch(chunk.draw_counts, first, count)
            add_moments(rows_of(y, first, count), multiplicity, draw_counts, to, own)


@inner
def _finish_moments(shape: Any, moments: Any, distinct: DistinctRoots, n_roots: int) -> None:
    size = 1 + 2 * shape.widths[-1]
    for number in range(n_sets(shape, n_roots)):
        finish_moments(stretch(moments, number * size, size), shape.epsilon, whitening_of(shape, distinct.whitening, number))


@inner
def count_draws(distinct: DistinctRoots, n_roots: int) -> Any:
    total = single(0.0)
    for root in range(n_roots):
        total += distinct.weights[root]
    return total


@inner
def add_node_moments(shape: Any, distinct: DistinctRoots, n_roots: int, result: Any) -> None:
    """Mean and standard deviation of f_node's responses, the mean over the roots where each has its own: (2, width)."""
    n_draws = count_draws(distinct, n_roots)
    fill(result, single(0.0))
    for number in range(n_sets(shape, n_roots)):
        fraction = single(1.0) if shape.joint else distinct.weights[number] / n_draws
        append_moments(whitening_of(shape, distinct.whitening, number), fraction, result)
