"""Places: the (root, row) pairs of one graph that really need computing.

Where balls pay, a graph's background comes first, one place a row, and then for every root the rows that its impulse
reaches, nearest first, held as differences to the background. Elsewhere every root has all the rows. Roots are taken in
chunks that memory allows.
"""

from typing import NamedTuple

from phist.engine.memory import Memory, take_floats, take_integers
from phist.engine.plan import Plan
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
    near: int  # (roots): how many of them the first layer reaches
    rows: int  # (places of roots): the graph's row each is
    indptr: int  # the operator between places, where they are balls
    indices: int  # columns, counted from the root's first place
    values: int
    n_entries: int
    members: int  # (places): nodes that a place stands for
    shares: int  # (places): draws that it counts for in the statistics


@inner
def open_chunk(
    plan: Plan, graph: int, roots: int, weights: int, n_roots: int, reach: int, first_reach: int, most_places: int, memory: Memory
) -> Chunk:
    """As many of the roots (rows of the graph, with their draws) as ``most_places`` allows, at least one."""
    n_rows = plan.row_ptr[graph + 1] - plan.row_ptr[graph]
    if not plan.by_balls[graph]:
        n_roots = min(n_roots, max(1, most_places // n_rows))
        chunk = reopen_chunk(plan, graph, n_roots, n_roots * n_rows, 0, memory)
        _fill_whole(plan, chunk, weights, memory)
        return chunk
    starts, near = take_integers(memory, n_roots + 1), take_integers(memory, n_roots)
    integers, found, count = memory.integers, 0, 0
    integers[starts] = 0
    all_entries, entries = plan.row_entry_ptr[graph + 1] - plan.row_entry_ptr[graph], 0
    most_places = max(most_places, n_rows)
    most_entries = (most_places // n_rows + 1) * all_entries  # a dense core has more than its share of them
    while count < n_roots:
        begin = memory.tops[1] + found
        ball = _find_ball(plan, graph, integers[roots + count], reach, first_reach, begin, near + count, memory)
        for place in range(begin, begin + ball):
            row = plan.row_ptr[graph] + graph + integers[place]
            entries += plan.row_indptr[row + 1] - plan.row_indptr[row]
        if count and (found + ball > most_places or entries > most_entries):
            break  # this ball opens the next chunk
        found += ball
        count += 1
        integers[starts + count] = found
    rows = take_integers(memory, found)
    indptr, indices = take_integers(memory, found + 1), memory.tops[1]
    members, shares = take_floats(memory, n_rows + found), take_floats(memory, n_rows + found)
    values = memory.tops[0]
    chunk = Chunk(
        graph, False, n_rows, n_rows, count, n_rows + found, starts, near, rows, indptr, indices, values, 0, members, shares
    )
    entries = _fill_balls(plan, chunk, weights, memory)  # fewer: those between places of a ball
    take_integers(memory, entries)
    take_floats(memory, entries)
    return Chunk(
        graph, False, n_rows, n_rows, count, n_rows + found, starts, near, rows, indptr, indices, values, entries, members, shares
    )


@inner
def reopen_chunk(plan: Plan, graph: int, n_roots: int, n_places: int, n_entries: int, memory: Memory) -> Chunk:
    """A chunk of all roots that `open_chunk` left in memory at the same tops."""
    n_rows = plan.row_ptr[graph + 1] - plan.row_ptr[graph]
    n_below = n_rows if plan.by_balls[graph] else 0
    starts, near = take_integers(memory, n_roots + 1), take_integers(memory, n_roots)
    rows = take_integers(memory, n_places - n_below if n_below else 0)
    indptr = take_integers(memory, n_places - n_below + 1 if n_below else 0)
    indices = take_integers(memory, n_entries)
    members, shares = take_floats(memory, n_places), take_floats(memory, n_places)
    values = take_floats(memory, n_entries)
    return Chunk(
        graph, False, n_rows, n_below, n_roots, n_places, starts, near, rows, indptr, indices, values, n_entries, members, shares
    )


@inner
def _fill_whole(plan: Plan, chunk: Chunk, weights: int, memory: Memory) -> None:
    floats, integers, first = memory.floats, memory.integers, plan.row_ptr[chunk.graph]
    integers[chunk.starts] = 0
    for root in range(chunk.n_roots):
        integers[chunk.starts + root + 1] = (root + 1) * chunk.n_rows
        integers[chunk.near + root] = chunk.n_rows
        for row in range(chunk.n_rows):
            floats[chunk.members + root * chunk.n_rows + row] = plan.members[first + row]
            floats[chunk.shares + root * chunk.n_rows + row] = floats[weights + root]


@inner
def _find_ball(plan: Plan, graph: int, root: int, reach: int, first_reach: int, rows: int, near: int, memory: Memory) -> int:
    """Rows within ``reach`` hops of ``root``, nearest first; returns their number."""
    integers, position = memory.integers, memory.position
    first, entry = plan.row_ptr[graph] + graph, plan.row_entry_ptr[graph]
    integers[rows] = root
    position[root] = 0
    begin, count, within = 0, 1, 1
    for hop in range(1, reach + 1):
        end = count
        for place in range(begin, end):
            row = first + integers[rows + place]
            for number in range(entry + plan.row_indptr[row], entry + plan.row_indptr[row + 1]):
                other = plan.row_indices[number]
                if position[other] < 0:
                    position[other] = count
                    integers[rows + count] = other
                    count += 1
        begin = end
        if hop <= first_reach:
            within = count
    integers[near] = within
    for place in range(count):
        position[integers[rows + place]] = -1
    return count


@inner
def _fill_balls(plan: Plan, chunk: Chunk, weights: int, memory: Memory) -> int:
    """The operator between the places of each ball, and what every place counts for; returns the operator's entries."""
    floats, integers, position = memory.floats, memory.integers, memory.position
    first, entry, n_rows = plan.row_ptr[chunk.graph] + chunk.graph, plan.row_entry_ptr[chunk.graph], chunk.n_rows
    members, shares = chunk.members, chunk.shares
    total = single(0.0)
    for root in range(chunk.n_roots):
        total += floats[weights + root]
    for row in range(n_rows):
        floats[members + row] = plan.members[plan.row_ptr[chunk.graph] + row]
        floats[shares + row] = total
    entries = 0
    integers[chunk.indptr] = 0
    for root in range(chunk.n_roots):
        begin, end, weight = integers[chunk.starts + root], integers[chunk.starts + root + 1], floats[weights + root]
        for place in range(begin, end):
            position[integers[chunk.rows + place]] = place - begin
        for place in range(begin, end):
            row = integers[chunk.rows + place]
            floats[members + n_rows + place] = floats[members + row]
            floats[shares + n_rows + place] = weight
            floats[shares + row] -= weight
            for number in range(entry + plan.row_indptr[first + row], entry + plan.row_indptr[first + row + 1]):
                source = position[plan.row_indices[number]]
                if source >= 0:
                    integers[chunk.indices + entries] = source
                    floats[chunk.values + entries] = plan.row_values[number]
                    entries += 1
            integers[chunk.indptr + place + 1] = entries
        for place in range(begin, end):
            position[integers[chunk.rows + place]] = -1
    return entries
