"""Places: the (root, row) pairs of one graph that really need computing.

Where balls pay, a graph's background comes first, one place a row, and then for every root the rows that its impulse
reaches, nearest first, held as differences to the background. Elsewhere every root has all the rows. Roots are taken in
chunks that memory allows.
"""

from typing import NamedTuple

from phist.engine.memory import Memory, take_floats, take_integers
from phist.engine.plan import Plan
from phist.engine.recursion import QUAD
from phist.engine.vectors import inner, single


class Chunk(NamedTuple):
    """Some roots of a graph and their places; what lies in memory is named by where it begins."""

    graph: int
    on_nodes: bool  # whether these are the nodes of a graph, for f_graph, and not the places of roots
    n_rows: int
    n_below: int  # places of the background, ahead of the others
    n_roots: int
    n_places: int  # with the background
    starts: int  # (roots + 1): places of each root, counted after the background
    reach: int  # hops from a root to the last of them
    hops: int  # (roots, reach + 1): how many of them are within no hop, one hop, ..., ``reach`` hops
    rows: int  # (places of roots): the graph's row each is
    indptr: int  # the operator between places, where they are balls
    indices: int  # columns, counted from the root's first place
    values: int
    n_entries: int
    members: int  # (places): nodes that a place stands for
    shares: int  # (places): draws that it counts for in the statistics


@inner
def hops_of(chunk: Chunk, root: int) -> int:
    """Where the counts of a root's places begin: those within no hop, one hop, ..."""
    return chunk.hops + root * (chunk.reach + 1)


@inner
def most_entries_of(plan: Plan, graph: int) -> int:
    """Entries of an operator between places, at most, where every row is among them once; a place's come in fours."""
    n_rows = plan.row_ptr[graph + 1] - plan.row_ptr[graph]
    entries: int = plan.row_entry_ptr[graph + 1] - plan.row_entry_ptr[graph] + (QUAD - 1) * n_rows
    return entries


@inner
def open_chunk(
    plan: Plan, graph: int, roots: int, weights: int, n_roots: int, reach: int, most_places: int, memory: Memory
) -> Chunk:
    """As many of the roots (rows of the graph, with their draws) as ``most_places`` allows, at least one."""
    n_rows = plan.row_ptr[graph + 1] - plan.row_ptr[graph]
    if not plan.by_balls[graph]:
        count = min(n_roots, max(1, most_places // n_rows))
        chunk = lay_chunk(plan, graph, count, count, count * n_rows, 0, reach, most_places, memory)
        _fill_whole(plan, chunk, weights, memory)
        return chunk
    mark, integers_mark = memory.tops[0], memory.tops[1]
    chunk = lay_chunk(plan, graph, n_roots, n_roots, n_rows, 0, reach, most_places, memory)
    count, found, entries = _find_balls(plan, chunk, roots, most_places, memory)
    memory.tops[0], memory.tops[1] = mark, integers_mark
    chunk = lay_chunk(plan, graph, n_roots, count, n_rows + found, entries, reach, most_places, memory)
    _fill_balls(plan, chunk, weights, memory)
    return chunk


@inner
def lay_chunk(
    plan: Plan, graph: int, asked: int, n_roots: int, n_places: int, n_entries: int, reach: int, most_places: int, memory: Memory
) -> Chunk:
    """The first ``n_roots`` of the roots asked for; laid again at the same tops, it is the same chunk.

    What is found place by place lies where it does not depend on how much is found.
    """
    n_rows = plan.row_ptr[graph + 1] - plan.row_ptr[graph]
    n_below, room = 0, 0
    if plan.by_balls[graph]:
        n_below, room = n_rows, min(asked * n_rows, max(most_places, n_rows) + n_rows)
    starts, hops = take_integers(memory, asked + 1), take_integers(memory, asked * (reach + 1))
    rows, indptr, indices = take_integers(memory, room + 1), take_integers(memory, room + 1), take_integers(memory, n_entries)
    values = take_floats(memory, n_entries)
    members, shares = take_floats(memory, n_places), take_floats(memory, n_places)
    return Chunk(
        graph, False, n_rows, n_below, n_roots, n_places, starts, reach, hops, rows, indptr, indices, values, n_entries, members,
        shares,
    )  # fmt: skip


@inner
def _fill_whole(plan: Plan, chunk: Chunk, weights: int, memory: Memory) -> None:
    floats, integers, first = memory.floats, memory.integers, plan.row_ptr[chunk.graph]
    integers[chunk.starts] = 0
    for root in range(chunk.n_roots):
        integers[chunk.starts + root + 1] = (root + 1) * chunk.n_rows
        for row in range(chunk.n_rows):
            floats[chunk.members + root * chunk.n_rows + row] = plan.members[first + row]
            floats[chunk.shares + root * chunk.n_rows + row] = floats[weights + root]


@inner
def _find_balls(plan: Plan, chunk: Chunk, roots: int, most_places: int, memory: Memory) -> tuple[int, int, int]:
    """The balls of the chunk's roots and the operators between their places; how many roots, places and entries there are."""
    integers, count, found, entries = memory.integers, 0, 0, 0
    most_places = max(most_places, chunk.n_rows)
    most_entries = (most_places // chunk.n_rows + 1) * most_entries_of(plan, chunk.graph)  # a dense core has more than its share
    integers[chunk.starts], integers[chunk.indptr] = 0, 0
    while count < chunk.n_roots:
        end = found + _find_ball(plan, chunk, count, integers[roots + count], found, entries, memory)
        if count and (end > most_places or integers[chunk.indptr + end] > most_entries):
            break  # this ball opens the next chunk
        found, entries, count = end, integers[chunk.indptr + end], count + 1
        integers[chunk.starts + count] = found
    return count, found, entries


@inner
def _find_ball(plan: Plan, chunk: Chunk, root_number: int, root: int, first: int, entries: int, memory: Memory) -> int:
    """Rows within reach of ``root``, nearest first, from place ``first`` on; returns their number.

    All neighbours of a row become places when it is looked at, so its entries are known at once; those of the rows on the
    rim are looked up in the end. What may be is written and counted only if it is: a processor guesses such things badly.
    """
    floats, integers, position = memory.floats, memory.integers, memory.position
    first_row, entry = plan.row_ptr[chunk.graph] + chunk.graph, plan.row_entry_ptr[chunk.graph]
    rows, hops, ends = chunk.rows + first, hops_of(chunk, root_number), chunk.indptr + first + 1
    integers[rows] = root
    position[root] = 0
    begin, count = 0, 1
    integers[hops] = count
    for hop in range(1, chunk.reach + 1):
        end = count
        for place in range(begin, end):
            at = first_row + integers[rows + place]
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
            entries = _fill_up(chunk, place, entries, memory)
            integers[ends + place] = entries
        begin = end
        integers[hops + hop] = count
    for place in range(begin, count):
        at = first_row + integers[rows + place]
        for number in range(entry + plan.row_indptr[at], entry + plan.row_indptr[at + 1]):
            source = position[plan.row_indices[number]]
            integers[chunk.indices + entries] = source
            floats[chunk.values + entries] = plan.row_values[number]
            entries += source >= 0
        entries = _fill_up(chunk, place, entries, memory)
        integers[ends + place] = entries
    for place in range(count):
        position[integers[rows + place]] = -1
    return count


@inner
def _fill_up(chunk: Chunk, place: int, entries: int, memory: Memory) -> int:
    """Zeros up to the next four entries; returns how many there are then."""
    for beyond in range(entries, entries + QUAD - 1):
        memory.integers[chunk.indices + beyond] = place
        memory.floats[chunk.values + beyond] = single(0.0)
    return (entries + QUAD - 1) // QUAD * QUAD


@inner
def _fill_balls(plan: Plan, chunk: Chunk, weights: int, memory: Memory) -> None:
    """What every place counts for."""
    floats, integers, n_rows = memory.floats, memory.integers, chunk.n_rows
    members, shares = chunk.members, chunk.shares
    total = single(0.0)
    for root in range(chunk.n_roots):
        total += floats[weights + root]
    for row in range(n_rows):
        floats[members + row] = plan.members[plan.row_ptr[chunk.graph] + row]
        floats[shares + row] = total
    for root in range(chunk.n_roots):
        weight = floats[weights + root]
        for place in range(integers[chunk.starts + root], integers[chunk.starts + root + 1]):
            row = integers[chunk.rows + place]
            floats[members + n_rows + place] = floats[members + row]
            floats[shares + n_rows + place] = weight
            floats[shares + row] -= weight
