"""How many rows the engine's two reductions save, dataset by dataset, with the paper's presets.

    PHIST_DATA=folder python benchmarks/reductions.py [--datasets MUTAG DD] [--json] [--update docs/engine.md]
    python benchmarks/reductions.py --draw docs/images

A row is what f_node computes for one root at one node. Counted are the rows of one draw of roots from every graph: every
node for every distinct root; with twins merged; with balls, the background included, where they pay; and as the engine plans
them. Nothing is timed, so that the figures are the same on every machine.
"""

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from phist import load_dataset
from phist.drawing.engine import plot_balls, plot_twins
from phist.engine.fused import Fused
from phist.engine.plan import Plan, measure_balls
from phist.graphs.graphset import GraphSet
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.nn.sampling import Draws
from phist.training.presets import APPENDIX, make_preset

BEGIN, END = "<!-- reductions:begin -->", "<!-- reductions:end -->"
Array = NDArray[Any]


@dataclass(frozen=True)
class Counted:
    """Rows of one draw of roots from every graph of a set."""

    draws: int  # a copy of the graph for every draw
    distinct: int  # each root once
    twins: int
    balls: int
    both: int
    nodes: float  # of a graph, on average
    reach: int  # hops
    by_balls: float  # share of the graphs whose balls pay, twins merged


def count_rows(graphs: GraphSet, config: NetworkConfig, seed: int = 0) -> Counted:
    """Count the rows of ``graphs`` for roots drawn as ``config`` says."""
    fused = Fused(make_network(config, n_classes=2, seed=0), graphs)
    plan, reach, sizes = fused.plan, fused.shape.reach, graphs.node_counts()
    draws = config.sampler.draw(sizes, np.random.default_rng(seed))
    drawn = np.add.reduceat(draws.counts, draws.ptr[:-1]).astype(np.int64)
    ptr, rows = _distinct_rows(plan, draws)
    first = plan.row_ptr[:-1] + np.arange(len(graphs))
    row_balls = ball_sizes(first, *plan.rows[:3], ptr, rows, reach)
    node_first = plan.node_ptr[:-1] + np.arange(len(graphs))
    node_balls = ball_sizes(node_first, *plan.nodes[:3], draws.ptr, draws.nodes, reach)
    pays = measure_balls(graphs.node_ptr, graphs.indptr, graphs.indices, reach)[0] & fused.shape.joint
    return Counted(
        draws=int((drawn * sizes).sum()),
        distinct=int((np.diff(draws.ptr) * sizes).sum()),
        twins=int((np.diff(ptr) * plan.row_counts).sum()),
        balls=_with_balls(pays, sizes, draws.ptr, node_balls),
        both=_with_balls(plan.by_balls, plan.row_counts, ptr, row_balls),
        nodes=float(sizes.mean()),
        reach=reach,
        by_balls=float(plan.by_balls.mean()),
    )


def _distinct_rows(plan: Plan, draws: Draws) -> tuple[Array, Array]:
    """The rows that stand for the drawn roots, each once for its graph: where each graph's begin, and the rows."""
    graph = np.repeat(np.arange(len(draws.ptr) - 1), np.diff(draws.ptr))
    row = plan.root_row[plan.node_ptr[graph] + draws.nodes]
    pairs = np.unique(np.stack([graph, row]), axis=1)
    return np.searchsorted(pairs[0], np.arange(len(draws.ptr))), pairs[1]


def _with_balls(pays: Array, rows: Array, ptr: Array, balls: Array) -> int:
    """Where balls pay, the background once and every root's ball; elsewhere all rows for every root."""
    in_balls = rows + np.add.reduceat(balls, ptr[:-1])
    return int(np.where(pays, in_balls, np.diff(ptr) * rows).sum())


@numba.njit
def ball_sizes(first: Any, entry_ptr: Any, indptr: Any, indices: Any, root_ptr: Any, roots: Any, reach: int) -> Any:
    """Rows within ``reach`` hops of every root, itself included."""
    sizes = np.ones(len(roots), np.int64)
    for graph in range(len(first)):
        n = (first[graph + 1] - 1 if graph + 1 < len(first) else len(indptr) - 1) - first[graph]
        for number in range(root_ptr[graph], root_ptr[graph + 1]):
            seen, queue = np.zeros(n, np.bool_), np.empty(n, np.int64)
            seen[roots[number]], queue[0] = True, roots[number]
            begin = 0
            for _ in range(reach):
                end = sizes[number]
                for place in range(begin, end):
                    row = first[graph] + queue[place]
                    for entry in range(entry_ptr[graph] + indptr[row], entry_ptr[graph] + indptr[row + 1]):
                        if not seen[indices[entry]]:
                            seen[indices[entry]] = True
                            queue[sizes[number]] = indices[entry]
                            sizes[number] += 1
                begin = end
    return sizes


def as_markdown(counted: dict[str, Counted]) -> str:
    """A table of how many times fewer rows there are."""
    lines = [
        "| dataset | nodes | reach | by balls | each root once | twins | balls | both |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, rows in counted.items():
        saved = [rows.draws / rows.distinct, *(rows.distinct / part for part in (rows.twins, rows.balls, rows.both))]
        figures = " | ".join(f"{value:.2f}x" for value in saved)
        lines.append(f"| {name} | {rows.nodes:.0f} | {rows.reach} hops | {rows.by_balls:.0%} | {figures} |")
    return "\n".join(lines)


def update(document: Path, table: str) -> None:
    """Put the table between its marks."""
    before, _, rest = document.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    document.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


def draw(folder: Path) -> None:
    """Draw engine-twins.png and engine-balls.png."""
    for name, figure in (("twins", plot_twins()), ("balls", plot_balls())):
        figure.savefig(folder / f"engine-{name}.png", dpi=160)


def main() -> None:
    """Count and print, or draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=list(APPENDIX), metavar="NAME")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--update", type=Path, metavar="FILE", help="a document with the table's marks to write it to")
    parser.add_argument("--draw", type=Path, metavar="FOLDER", help="draw the pictures of both reductions there, and nothing else")
    options = parser.parse_args()
    if options.draw:
        draw(options.draw)
        return
    counted = {name: count_rows(load_dataset(name), make_preset(name).network) for name in options.datasets}
    print(json.dumps({name: asdict(rows) for name, rows in counted.items()}, indent=2) if options.json else as_markdown(counted))
    if options.update:
        update(options.update, as_markdown(counted))


if __name__ == "__main__":
    main()
