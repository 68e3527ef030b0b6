"""Balls: the pairs of a root and a row of one graph that really need computing.

Where balls pay, a graph's background comes first, one pair a row, and then for every root the rows that its impulse
reaches, nearest first, held as differences to the background. Elsewhere every root has all the rows. Roots are taken in
chunks that memory allows.
"""

from typing import NamedTuple

from phist.engine.arena import Arena, take_floats, take_integers
from phist.engine.jit import inner
from phist.engine.plan import Plan
from phist.engine.recursion import QUAD
from phist.engine.simd import single


class Chunk(NamedTuple):
    """Some roots of a graph and their pairs; what lies in the arena is named by where it begins."""

    graph: int
    on_nodes: bool  # whether these are the nodes of a graph, for f_graph, and not the pairs of roots
    n_rows: int
    n_background: int  # pairs of the background, ahead of the others
    n_roots: int
    n_pairs: int  # with the background
    starts: int  # (roots + 1): pairs of each root, counted after the background
    reach: int  # hops from a root to the last of them
    hops: int  # (roots, reach + 1): how many of them are within no hop, one hop, ..., ``reach`` hops
    rows: int  # (pairs of roots): the graph's row each is
    indptr: int  # the operator between pairs, where they are balls
    indices: int  # columns, counted from the root's first pair
    values: int
    n_entries: int
    multiplicity: int  # (pairs): nodes that the row of a pair stands for
    draw_counts: int  # (pairs): draws that it counts for in the statistics


@inner
def hops_of(chunk: Chunk, root: int) -> int:
    """Where the counts of a root's pairs begin: those within no hop, one hop, ..."""
    return chunk.hops + root * (chunk.reach + 1)


@inner
def max_entries_of(plan: Plan, graph: int) -> int:
    """Entries of an operator between pairs, at most, where every row is among them once; a pair's come in fours."""
    n_rows = plan.row_ptr[graph + 1] - plan.row_ptr[graph]
    entries: int = plan.row_entry_ptr[graph + 1] - plan.row_entry_ptr[graph] + (QUAD - 1) * n_rows
    return entries


@inner
def open_chunk(plan: Plan, graph: int, roots: int, weights: int, n_roots: int, reach: int, max_pairs: int, arena: Arena) -> Chunk:
    """As many of the roots (rows of the graph, with their draws) as ``max_pairs`` allows, at least one."""
    n_rows = plan.row_ptr[graph + 1] - plan.row_ptr[graph]
    if not plan.by_balls[graph]:
        count = min(n_roots, max(1, max_pairs // n_rows))
        chunk = lay_chunk(plan, graph, count, count, count * n_rows, 0, reach, max_pairs, arena)
        _fill_whole(plan, chunk, weights, arena)
        return chunk
    mark, integers_mark = arena.tops[0], arena.tops[1]
    chunk = lay_chunk(plan, graph, n_roots, n_roots, n_rows, 0, reach, max_pairs, arena)
    count, found, entries = _find_balls(plan, chunk, roots, max_pairs, arena)
    arena.tops[0], arena.tops[1] = mark, integers_mark
    chunk = lay_chunk(plan, graph, n_roots, count, n_rows + found, entries, reach, max_pairs, arena)
    _fill_balls(plan, chunk, weights, arena)
    return chunk


@inner
def lay_chunk(
    plan: Plan, graph: int, n_asked: int, n_roots: int, n_pairs: int, n_entries: int, reach: int, max_pairs: int, arena: Arena
) -> Chunk:
    """The first ``n_roots`` of the roots asked for; laid again at the same tops, it is the same chunk.

    What is found pair by pair lies where it does not depend on how much is found.
    """
    n_rows = plan.row_ptr[graph + 1] - plan.row_ptr[graph]
    n_background, capacity = 0, 0
    if plan.by_balls[graph]:
        n_background, capacity = n_rows, min(n_asked * n_rows, max(max_pairs, n_rows) + n_rows)
    starts, hops = take_integers(arena, n_asked + 1), take_integers(arena, n_asked * (reach + 1))
    rows, indptr, indices = take_integers(arena, capacity + 1), take_integers(arena, capacity + 1), take_integers(arena, n_entries)
    values = take_floats(arena, n_entries)
    multiplicity, draw_counts = take_floats(arena, n_pairs), take_floats(arena, n_pairs)
    return Chunk(
        graph,
        False,
        n_rows,
        n_background,
        n_roots,
        n_pairs,
        starts,
        reach,
        hops,
        rows,
        indptr,
        indices,
        values,
        n_entries,
        multiplicity,
        draw_counts,
    )


@inner
def _fill_whole(plan: Plan, chunk: Chunk, weights: int, arena: Arena) -> None:
    floats, integers, first = arena.floats, arena.integers, plan.row_ptr[chunk.graph]
    integers[chunk.starts] = 0
    for root in range(chunk.n_roots):
        integers[chunk.starts + root + 1] = (root + 1) * chunk.n_rows
        for row in range(chunk.n_rows):
            floats[chunk.multiplicity + root * chunk.n_rows + row] = plan.multiplicity[first + row]
            floats[chunk.draw_counts + root * chunk.n_rows + row] = floats[weights + root]


@inner
def _find_balls(plan: Plan, chunk: Chunk, roots: int, max_pairs: int, arena: Arena) -> tuple[int, int, int]:
    """The balls of the chunk's roots and the operators between their pairs; how many roots, pairs and entries there are."""
    integers, count, found, entries = arena.integers, 0, 0, 0
    max_pairs = max(max_pairs, chunk.n_rows)
    max_entries = (max_pairs // chunk.n_rows + 1) * max_entries_of(plan, chunk.graph)  # a dense core has more than the average
    integers[chunk.starts], integers[chunk.indptr] = 0, 0
    while count < chunk.n_roots:
        end = found + _find_ball(plan, chunk, count, integers[roots + count], found, entries, arena)
        if count and (end > max_pairs or integers[chunk.indptr + end] > max_entries):
            break  # this ball opens the next chunk
        found, entries, count = end, integers[chunk.indptr + end], count + 1
        integers[chunk.starts + count] = found
    return count, found, entries


@inner
def _find_ball(plan: Plan, chunk: Chunk, root_number: int, root: int, first: int, entries: int, arena: Arena) -> int:
    """Rows within reach of ``root``, nearest first, from pair ``first`` on; returns their number.

    All neighbours of a row become pairs when it is looked at, so its entries are known at once; those of the rows on the
    rim are looked up in the end. What may be is written and counted only if it is: a processor guesses such things badly.
    """
    floats, integers, position = arena.floats, arena.integers, arena.position
    first_row, entry = plan.row_ptr[chunk.graph] + chunk.graph, plan.row_entry_ptr[chunk.graph]
    rows, hops, ends = chunk.rows + first, hops_of(chunk, root_number), chunk.indptr + first + 1
    integers[rows] = root
    position[root] = 0
    begin, count = 0, 1
    integers[hops] = count
    for hop in range(1, chunk.reach + 1):
        end = count
        for pair in range(begin, end):
            at = first_row + integers[rows + pair]
            for number in range(entry + plan.row_indptr[at], entry + plan.row_indptr[at + 1]):
                other = plan.row_indices[number]
                source = position[other]
                is_new = source < 0
                source = count if is_new else source
                position[other] = source
                integers[rows + count] = other
                count += is_new
                integers[chunk.indices + entries] = source
                floats[chunk.values + entries] = plan.row_values[number]
                entries += 1
            entries = _fill_up(chunk, pair, entries, arena)
            integers[ends + pair] = entries
        begin = end
        integers[hops + hop] = count
    for pair in range(begin, count):
        at = first_row + integers[rows + pair]
        for number in range(entry + plan.row_indptr[at], entry + plan.row_indptr[at + 1]):
            source = position[plan.row_indices[number]]
            integers[chunk.indices + entries] = source
            floats[chunk.values + entries] = plan.row_values[number]
            entries += source >= 0
        entries = _fill_up(chunk, pair, entries, arena)
        integers[ends + pair] = entries
    for pair in range(count):
        position[integers[rows + pair]] = -1
    return count


@inner
def _fill_up(chunk: Chunk, pair: int, entries: int, arena: Arena) -> int:
    """Zeros up to the next four entries; returns how many there are then."""
    for beyond in range(entries, entries + QUAD - 1):
        arena.integers[chunk.indices + beyond] = pair
        arena.floats[chunk.values + beyond] = single(0.0)
    return (entries + QUAD - 1) // QUAD * QUAD


@inner
def _fill_balls(plan: Plan, chunk: Chunk, weights: int, arena: Arena) -> None:
    """What every pair counts for."""
    floats, integers, n_rows = arena.floats, arena.integers, chunk.n_rows
    multiplicity, draw_counts = chunk.multiplicity, chunk.draw_counts
    total = single(0.0)
    for root in range(chunk.n_roots):
        total += floats[weights + root]
    for row in range(n_rows):
        floats[multiplicity + row] = plan.multiplicity[plan.row_ptr[chunk.graph] + row]
        floats[draw_counts + row] = total
    for root in range(chunk.n_roots):
        weight = floats[weights + root]
        for pair in range(integers[chunk.starts + root], integers[chunk.starts + root + 1]):
            row = integers[chunk.rows + pair]
            floats[multiplicity + n_rows + pair] = floats[multiplicity + row]
            floats[draw_counts + n_rows + pair] = weight
            floats[draw_counts + row] -= weight
