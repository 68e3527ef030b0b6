"""Arguments and options that several verbs share."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.help import COMPUTING, READING
from phist.cli.option_groups import OptionGroup
from phist.errors import GraphInputError
from phist.progress import waiting

if TYPE_CHECKING:
    from phist.estimators.fitted import FittedModel
    from phist.graphs.graphset import GraphSet

DATA_HELP = (
    "A dataset's name (see 'phist datasets') or a path: TU folder or zip, folder per class, JSONL, GraphML, GML, "
    "edge list, table as CSV or Parquet, saved GraphSet."
)
ENGINES = ("auto", "fused", "reference")  # phist.engine.choice.Engine, which would bring torch with it
EFFORTS = ("low", "medium", "high")  # phist.estimators.effort.EffortName, likewise


def complete_dataset(incomplete: str) -> list[str]:
    """The names that shell completion offers; where none begins so, the shell offers files."""
    from phist.graphs.catalog import DATASETS

    return [name for name in DATASETS if name.lower().startswith(incomplete.lower())]


Data = Annotated[str, typer.Argument(help=DATA_HELP, show_default=False, autocompletion=complete_dataset)]
Model = Annotated[Path, typer.Argument(help="A model folder made by 'phist fit' or save().", show_default=False)]
Labels = Annotated[
    Path | None,
    typer.Option(help="A table (graph, label) as CSV, TSV or Parquet, for data that carry no labels.", rich_help_panel=READING),
]
Directed = Annotated[
    str | None,
    typer.Option(
        metavar="symmetrise|keep",
        help="What becomes of arcs: an edge, the default, or kept for the random-walk operator.",
        rich_help_panel=READING,
    ),
]
SelfLoops = Annotated[
    str | None, typer.Option(metavar="drop|keep", help="What becomes of self-loops: dropped by default.", rich_help_panel=READING)
]
Weights = Annotated[
    str,
    typer.Option(metavar="use|abs|ignore", help="Weights as they are, their absolute value, or all one.", rich_help_panel=READING),
]
Empty = Annotated[
    str,
    typer.Option(metavar="error|drop", help="What becomes of graphs without nodes: refused or left out.", rich_help_panel=READING),
]
NodeTable = Annotated[
    Path | None,
    typer.Option(
        help="For a table of edges: a table (graph, node) or (graph, n_nodes), which keeps nodes without edges.",
        rich_help_panel=READING,
    ),
]
MaxBytes = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Memory that the data may take by what they say of themselves; 256 times their size by default, and 256 MB at least.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="JSON on standard output, everything else on standard error.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of every random choice.")]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Most threads of the engine and of PyTorch; one for each core, unless given. 1 on a busy machine.",
        show_default=False,
        rich_help_panel=COMPUTING,
    ),
]


@dataclass(frozen=True)
class ReadingOptions(OptionGroup):
    """What becomes of arcs, loops, weights and empty graphs while graphs are read."""

    directed: Directed = None
    self_loops: SelfLoops = None
    weights: Weights = "use"
    empty: Empty = "error"
    node_table: NodeTable = None
    max_bytes: MaxBytes = None

    def of_streams(self, model: "FittedModel | None" = None) -> dict[str, Any]:
        """Arguments for graphs that are read one by one; where nothing is asked, arcs are kept if those of ``model`` were."""
        own = {"directed": self.directed, "self_loops": self.self_loops, "weights": self.weights, "empty": self.empty}
        if model is not None and self.directed is None:
            own["directed"] = "keep" if model.data_.get("directed") else None
        return {**own, "max_bytes": self.max_bytes}

    def arguments(self, model: "FittedModel | None" = None) -> dict[str, Any]:
        """The same for `load_graphs`."""
        return {**self.of_streams(model), "nodes": self.node_table}


READING_DEFAULTS = ReadingOptions()


def use_threads(count: int | None) -> None:
    """Set how many threads PyTorch and the engine take in this process at most; ``None`` leaves torch's own number, as in Python.

    That is one for each core, or ``OMP_NUM_THREADS``; the engine takes fewer where the steps are too short to share. On idle
    cores two threads train 1.2 to 1.8 times as fast as one (benchmarks/results/engine.md). Where other programs want the cores,
    the threads of a step wait for the one that has none, and two take 1.3 to 1.7 times as long as one (benchmarks/threads.py).
    """
    if count is None:
        return
    import torch

    torch.set_num_threads(count)


def load_labelled(data: str, labels: Path | None, **reading: Any) -> "GraphSet":
    """Graphs to learn from: labelled, of at least two classes."""
    with waiting("loading NumPy and SciPy"):
        from phist.graphs.datasets import load_graphs

    return check_labelled(load_graphs(data, labels, **reading), data)


def check_labelled(graphs: "GraphSet", data: str) -> "GraphSet":
    """The same graphs, or an error where they have no labels, or one."""
    if graphs.labels is None:
        raise GraphInputError(
            f"the graphs of {data} have no labels; give them with --labels FILE, a table (graph, label) as CSV, TSV or Parquet"
        )
    if len(graphs.classes) < 2:
        raise GraphInputError(f"all {len(graphs)} graphs of {data} are labelled {graphs.classes[0]!r}; two classes are needed")
    return graphs
