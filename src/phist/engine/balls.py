"""Balls: the pairs of a root and a row of one graph that really need computing.

Where balls pay, a graph's background comes first, one pair a row, and then for every root the rows that its impulse
reaches, nearest first, held as differences to the background. Elsewhere every root has all the rows. Roots are taken in
chunks that memory allows.
"""

from typing import Any, NamedTuple

from phist.engine.arena import lower_tops, take_floats, take_integers, tops_of
from phist.engine.dense import fill
from phist.engine.jit import ONE, ZERO, inner
from phist.engine.plan import nodes_in, operator_of, rows_in
from phist.engine.recursion import QUAD, Operator
from phist.engine.simd import single
from phist.engine.views import stretch


class Chunk(NamedTuple):
    """Some roots of a graph and their pairs, or all its nodes for f_graph: blocks of rows that have one operator."""

    operator: Operator  # of the graph, on its rows or nodes
    transposed: Operator
    n_rows: int
    is_merged: bool  # whether some rows stand for several nodes
    n_roots: int
    n_pairs: int  # with the background
    n_background: int  # pairs of the background, ahead of the others
    balls: "Balls"
    beside: int  # so many roots come row by row: the pairs of a row are one after the other
    row_multiplicity: Any  # (rows): nodes that each stands for
    multiplicity: Any  # (pairs): nodes that the row of a pair stands for
    draw_counts: Any  # (pairs): draws that it counts for in the statistics


class Balls(NamedTuple):
    """The pairs of roots; without a background every root has all rows."""

    starts: Any  # (roots + 1): pairs of each root, counted after the background
    hops: Any  # (roots · (reach + 1)): how many of them are within no hop, one hop, ..., ``reach`` hops
    reach: int  # hops from a root to the last of them
    rows: Any  # (pairs of roots): the graph's row each is
    between: Operator  # between pairs; columns are counted from the root's first pair
    n_entries: int


class Counts(NamedTuple):
    """How much a chunk has of what is found only while it is opened."""

    roots: int
    pairs: int
    entries: int


@inner
def first_pair(chunk: Chunk, root: int) -> int:
    """Of a root, or the pair after the last one's."""
    first: int = chunk.n_background + chunk.balls.starts[root]
    return first


@inner
def beside_from(chunk: Chunk, root: int) -> int:
    """How many roots are side by side that begin with ``root``; those that are too few come one after the other."""
    n: int = chunk.beside if root + chunk.beside <= chunk.n_roots else 1
    return n


@inner
def reached_from(chunk: Chunk, root: int, hop: int) -> Any:
    """How many pairs of a root are within ``hop`` hops, one more, and so on."""
    balls = chunk.balls
    return stretch(balls.hops, root * (balls.reach + 1) + hop, balls.reach + 1 - hop)


@inner
def ball_operator(chunk: Chunk, root: int) -> Operator:
    """The operator between the pairs of a root."""
    between, starts = chunk.balls.between, chunk.balls.starts
    indptr = stretch(between.indptr, starts[root], starts[root + 1] - starts[root] + 1)
    return Operator(indptr, between.indices, between.values)


@inner
def most_counts(plan: Any, graph: int, n_roots: int, max_pairs: int) -> Counts:
    """What a chunk of so many roots can have at most, whatever balls they have."""
    n_rows = rows_in(plan, graph)
    if not plan.by_balls[graph]:
        beside = plan.beside[graph]
        at_once = min(n_roots, max(1, max_pairs // n_rows // beside) * beside)
        return Counts(at_once, at_once * n_rows, 0)
    pairs = min(n_roots * n_rows, max(max_pairs, n_rows))
    # a pair's entries come in fours; the last ball that is looked at may be one too many, and a dense core has more than others
    entries = plan.rows.entry_ptr[graph + 1] - plan.rows.entry_ptr[graph] + (QUAD - 1) * n_rows
    return Counts(n_roots, pairs + n_rows, (pairs // n_rows + 2) * entries)


@inner
def take_chunk(plan: Any, graph: int, n_asked: int, counts: Counts, reach: int, max_pairs: int, arena: Any) -> Chunk:
    """The first of the roots asked for; taken again at the same tops, it is the same chunk.

    What is found pair by pair lies where it does not depend on how much is found.
    """
    n_rows, n_background, capacity, operator = rows_in(plan, graph), 0, 0, operator_of(plan.rows, plan.row_ptr, graph)
    transposed = operator_of(plan.rows_transposed, plan.row_ptr, graph)
    if plan.by_balls[graph]:
        n_background, capacity = n_rows, most_counts(plan, graph, n_asked, max_pairs).pairs
    starts, hops = take_integers(arena, n_asked + 1), take_integers(arena, n_asked * (reach + 1))
    rows, indptr = take_integers(arena, capacity + 1), take_integers(arena, capacity + 1)
    between = Operator(indptr, take_integers(arena, counts.entries), take_floats(arena, counts.entries))
    balls = Balls(starts, hops, reach, rows, between, counts.entries)
    is_merged = nodes_in(plan, graph) != n_rows
    multiplicity, draw_counts = take_floats(arena, counts.pairs), take_floats(arena, counts.pairs)
    return Chunk(
        operator, transposed, n_rows, is_merged, counts.roots, counts.pairs, n_background, balls,
        plan.beside[graph], _multiplicity_of(plan, graph), multiplicity, draw_counts,
    )  # fmt: skip


@inner
def take_nodes(plan: Any, graph: int, arena: Any) -> Chunk:
    """The nodes of a graph, each once."""
    n_nodes, operator = nodes_in(plan, graph), operator_of(plan.nodes, plan.node_ptr, graph)
    transposed = operator_of(plan.nodes_transposed, plan.node_ptr, graph)
    ones, none = take_floats(arena, n_nodes), take_integers(arena, 0)
    balls = Balls(none, none, 0, none, operator, 0)
    return Chunk(operator, transposed, n_nodes, False, 1, n_nodes, 0, balls, ONE, ones, ones, ones)


@inner
def open_chunk(plan: Any, graph: int, roots: Any, weights: Any, reach: int, max_pairs: int, arena: Any) -> Chunk:
    """As many of the roots (rows of the graph, with their draws) as ``max_pairs`` allows, at least one."""
    counts = most_counts(plan, graph, roots.n, max_pairs)
    tops = tops_of(arena)
    chunk = take_chunk(plan, graph, roots.n, counts, reach, max_pairs, arena)
    if not plan.by_balls[graph]:
        _fill_whole(plan, graph, chunk, weights)
        return chunk
    found = _find_balls(chunk, roots, max_pairs, arena)
    lower_tops(arena, tops)
    chunk = take_chunk(plan, graph, roots.n, found, reach, max_pairs, arena)
    _fill_balls(plan, graph, chunk, weights)
    return chunk


@inner
def _multiplicity_of(plan: Any, graph: int) -> Any:
    return stretch(plan.multiplicity, plan.row_ptr[graph], rows_in(plan, graph))


@inner
def _fill_whole(plan: Any, graph: int, chunk: Chunk, weights: Any) -> None:
    multiplicity, starts = _multiplicity_of(plan, graph), chunk.balls.starts
    starts[0] = 0
    for root in range(chunk.n_roots):
        starts[root + 1] = (root + 1) * chunk.n_rows
        group = root // chunk.beside * chunk.beside
        step = beside_from(chunk, group)
        first = group * chunk.n_rows + root - group if step > 1 else root * chunk.n_rows
        for row in range(chunk.n_rows):
            chunk.multiplicity[first + row * step] = multiplicity[row]
            chunk.draw_counts[first + row * step] = weights[root]


@inner
def _find_balls(chunk: Chunk, roots: Any, max_pairs: int, arena: Any) -> Counts:
    """The balls of the chunk's roots and the operators between their pairs; how many there are of all, with the background."""
    starts, indptr, count, found = chunk.balls.starts, chunk.balls.between.indptr, ZERO, ZERO
    n_rows, max_pairs = chunk.n_rows, max(max_pairs, chunk.n_rows)
    max_entries = (max_pairs // n_rows + 1) * (chunk.operator.indices.n + (QUAD - 1) * n_rows)
    starts[0], indptr[0] = 0, 0
    while count < roots.n:
        end = found + _find_ball(chunk, count, roots[count], found, arena)
        if count and (end > max_pairs or indptr[end] > max_entries):
            break  # this ball opens the next chunk
        found, count = end, count + 1
        starts[count] = found
    return Counts(count, n_rows + found, indptr[found])


@inner
def _find_ball(chunk: Chunk, root_number: int, root: int, first: int, arena: Any) -> int:
    """Rows within reach of ``root``, nearest first, from pair ``first`` on; returns their number.

    All neighbours of a row become pairs when it is looked at, so its entries are known at once; those of the rows on the
    rim are looked up in the end. What may be is written and counted only if it is: a processor guesses such things badly.
    """
    balls, operator, position = chunk.balls, chunk.operator, arena.position
    rows, hops, between = stretch(balls.rows, first, balls.rows.n - first), reached_from(chunk, root_number, ZERO), balls.between
    ends, entries = stretch(between.indptr, first, between.indptr.n - first), between.indptr[first]
    rows[0], position[root], hops[0] = root, 0, 1
    begin, count = 0, 1
    for hop in range(1, balls.reach + 1):
        end = count
        for pair in range(begin, end):
            row = rows[pair]
            for number in range(operator.indptr[row], operator.indptr[row + 1]):
                other = operator.indices[number]
                source = position[other]
                is_new = source < 0
                source = count if is_new else source
                position[other] = source
                rows[count] = other
                count += is_new
                between.indices[entries] = source
                between.values[entries] = operator.values[number]
                entries += 1
            entries = _fill_up(between, pair, entries)
            ends[pair + 1] = entries
        begin = end
        hops[hop] = count
    for pair in range(begin, count):
        row = rows[pair]
        for number in range(operator.indptr[row], operator.indptr[row + 1]):
            source = position[operator.indices[number]]
            between.indices[entries] = source
            between.values[entries] = operator.values[number]
            entries += source >= 0
        entries = _fill_up(between, pair, entries)
        ends[pair + 1] = entries
    for pair in range(count):
        position[rows[pair]] = -1
    return count


@inner
def _fill_up(between: Operator, pair: int, entries: int) -> int:
    """Zeros up to the next four entries; returns how many there are then."""
    end = (entries + QUAD - 1) // QUAD * QUAD
    for beyond in range(entries, end):
        between.indices[beyond] = pair
        between.values[beyond] = single(0.0)
    return end


@inner
def _fill_balls(plan: Any, graph: int, chunk: Chunk, weights: Any) -> None:
    """What every pair counts for."""
    own, n_rows, starts, rows = _multiplicity_of(plan, graph), chunk.n_rows, chunk.balls.starts, chunk.balls.rows
    multiplicity, draw_counts, total = chunk.multiplicity, chunk.draw_counts, single(0.0)
    for root in range(chunk.n_roots):
        total += weights[root]
    for row in range(n_rows):
        multiplicity[row], draw_counts[row] = own[row], total
    for root in range(chunk.n_roots):
        weight = weights[root]
        for pair in range(starts[root], starts[root + 1]):
            row = rows[pair]
            multiplicity[n_rows + pair] = own[row]
            draw_counts[n_rows + pair] = weight
            draw_counts[row] -= weight


@inner
def fill_nodes(chunk: Chunk) -> None:
    """Every node counts once."""
    fill(chunk.multiplicity, single(1.0))
