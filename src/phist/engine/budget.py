"""How large the arenas of a pass must be, and how much of it may stay for the backward pass."""

from typing import Any

import numpy as np

from phist.engine.balls import max_entries_of
from phist.engine.jit import compiled, inner
from phist.engine.node_level import ROWS_AT_ONCE
from phist.engine.plan import Plan
from phist.engine.shape import Shape
from phist.engine.simd import LANES
from phist.engine.threads import Shards
from phist.nn.sampling import Draws

FLOATS, INTEGERS, DOUBLES, POSITIONS, KEPT = range(5)
SPARE = 16 * LANES  # for what every allocation is rounded up by


@compiled
def needs(shape: Shape, plan: Plan, graphs: Any, draws: Draws, shards: Shards, max_pairs: int, keep: bool) -> Any:
    """Enough for each shard in any step, whatever balls its roots have.

    Floats below ``result[:, KEPT]`` may be kept for the backward pass.
    """
    n_steps, n_shards = len(shards.ptr), shards.ptr.shape[1] - 1
    result = np.zeros((n_shards, KEPT + 1), np.int64)
    for number in range(n_shards):
        beyond = 0
        for step in range(n_steps):
            items = shards.order[shards.ptr[step, number] : shards.ptr[step, number + 1]]
            own = np.zeros(KEPT + 1, np.int64)
            alone = _needs_of_shard(shape, plan, graphs, draws, items, max_pairs, keep, own)
            beyond = max(beyond, alone)
            result[number] = np.maximum(result[number], own)
        result[number, FLOATS] += beyond
        if not keep:
            result[number, KEPT] = -1
    return result


@inner
def _needs_of_shard(
    shape: Shape, plan: Plan, graphs: Any, draws: Draws, items: Any, max_pairs: int, keep: bool, result: Any
) -> int:
    """What stays in the arena from graph to graph; returns the floats that one graph needs besides."""
    width, size, order = shape.widths[-1], shape.bins.number * shape.widths[-1], shape.orders[0]
    embedding = size + shape.moments * width
    strides, max_norm = 0, order * max(LANES, shape.widths[0])
    for layer in range(1, len(shape.orders)):
        stride = shape.orders[layer] * shape.widths[layer - 1]
        strides += stride
        max_norm = max(max_norm, stride)
    lasting = strides + 2 * width  # of a pair or node: terms, and responses as they are and squashed
    per_pair, stride = 2 + order + lasting, order * shape.widths[0]
    always, alone, kept, integers, most_integers = 0, 0, 0, 0, 0
    for item in items:
        graph, n_draws = graphs[item], draws.ptr[item + 1] - draws.ptr[item]
        n_nodes, n_rows = plan.node_ptr[graph + 1] - plan.node_ptr[graph], plan.row_ptr[graph + 1] - plan.row_ptr[graph]
        n_roots = min(n_draws, n_rows)
        pairs, entries = min(n_roots * n_rows, max(max_pairs, n_rows)), 0
        if plan.by_balls[graph]:
            entries = (pairs // n_rows + 2) * max_entries_of(plan, graph)
            pairs += n_rows
        sets = 1 if shape.joint else n_draws
        distinct = n_draws * (1 + size + stride) + sets * 2 * width + SPARE
        graph_responses = n_nodes * lasting + 2 * width + SPARE
        responses = pairs * per_pair + entries + SPARE
        on_rows = pairs * (shape.widest + max_norm) + n_rows * order * LANES + (min(ROWS_AT_ONCE, n_rows) + 2) * 2 * size
        on_nodes = n_nodes * (1 + shape.widest + 2 * max_norm) + 3 * size
        needed = responses + 2 * n_roots * size + max(on_rows, on_nodes + (0 if keep else graph_responses)) + embedding + SPARE
        drawn, whole = 2 * n_draws, (2 + shape.reach) * n_roots + 2 * pairs + entries + SPARE
        always += distinct + (graph_responses + n_roots * (size + stride) if keep else 0)
        alone = max(alone, needed)
        kept += responses
        integers += drawn + (whole if keep else 0)
        most_integers = max(most_integers, whole, n_draws)
        result[DOUBLES] = max(result[DOUBLES], (sets + 1) * 4 * width + 4 * LANES)
        result[POSITIONS] = max(result[POSITIONS], n_rows)
    result[KEPT] = always + (min(kept, max_pairs * per_pair) if keep else 0)
    result[FLOATS] = result[KEPT]
    result[INTEGERS] = integers + most_integers
    return alone
