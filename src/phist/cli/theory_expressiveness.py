"""phist theory expressiveness"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phist.cli.options import Json, Seed, use_threads
from phist.cli.output_checks import check_file_place
from phist.cli.screen import console, print_json
from phist.cli.theory_robustness import with_bar
from phist.errors import DatasetError
from phist.progress import waiting

if TYPE_CHECKING:
    from phist.theory.expressiveness_record import Record
    from phist.theory.pairs import Pair

SUITE = "BREC.tsv"

Pairs = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help=f"Pairs of graphs in graph6, tab-separated: category, first, second; {SUITE} in PHIST_DATA unless given.",
    ),
]
Only = Annotated[
    list[str] | None, typer.Option("--category", metavar="NAME", help="Only this category; may be given several times.")
]
Orders = Annotated[
    list[int] | None, typer.Option("--order", metavar="N", min=1, help="Order of both layers; may be given several times.")
]
Draws = Annotated[int, typer.Option(min=2, help="Draws of 32 roots to average over.")]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the counts here; what is there already is not done again.")]
Update = Annotated[Path | None, typer.Option(metavar="FILE", help="A Markdown document whose tables to write afresh.")]


def expressiveness(
    pairs: Pairs = None,
    category: Only = None,
    order: Orders = None,
    draws: Draws = 64,
    seed: Seed = 0,
    out: Out = None,
    update: Update = None,
    as_json: Json = False,
) -> None:
    """How many pairs of graphs the network tells apart, with random weights, beside the ceilings of 1-WL with a marked root.

    Variants: all nodes as roots or the mean over draws of them, without and with moments for the head, orders 3, 4 and 6. A pair
    counts as told apart if its graphs differ by twice as much as copies of one graph with other node numbers and other draws.

    Examples:
      phist theory expressiveness --pairs BREC.tsv --out expressiveness.json
      phist theory expressiveness --category basic --order 3 --json
    """
    for place in (out, update):
        if place is not None:
            check_file_place(place, pairs)
    with waiting("loading PyTorch"):
        use_threads(1)
    record = _compute(_suite(pairs, category), tuple(order or ()), draws, seed, out)
    if update is not None:
        from phist.theory.expressiveness_record import update_document

        update_document(update)
    if as_json:
        print_json(record.to_dict())
        return
    for name in ("suite", "families"):
        console().print(record.table(name) + "\n")


def _suite(path: Path | None, categories: list[str] | None) -> "list[Pair]":
    from phist.errors import check_choice
    from phist.graphs.locate import data_folder
    from phist.theory.pairs import read_pairs

    if path is None:
        folder = data_folder()
        if folder is None or not (folder / SUITE).is_file():
            raise DatasetError(f"there is no {SUITE} in PHIST_DATA ({folder}); give the file with --pairs FILE")
        path = folder / SUITE
    pairs = read_pairs(path)
    for category in categories or ():
        check_choice("--category", category, {pair.category for pair in pairs})
    return [pair for pair in pairs if categories is None or pair.category in categories]


def _compute(suite: "list[Pair]", orders: tuple[int, ...], draws: int, seed: int, out: Path | None) -> "Record":
    """Category by category; each is kept as soon as it is complete."""
    from phist.theory.expressiveness import ORDERS, judge_pairs
    from phist.theory.expressiveness_record import Record, count_verdicts
    from phist.theory.pairs import named_pairs

    record = _begin(Record(orders or ORDERS, draws, seed), out)
    for counts, pairs in ((record.families, named_pairs()), (record.suite, suite)):
        for category in dict.fromkeys(pair.category for pair in pairs):
            if category not in counts:
                own = [pair for pair in pairs if pair.category == category]
                counts[category] = count_verdicts(with_bar(judge_pairs(own, record.orders, draws, seed), len(own), category))
                if out is not None:
                    record.write(out)
    return record


def _begin(asked: "Record", out: Path | None) -> "Record":
    """The record that is there already, if it is of the same settings."""
    from phist.errors import OutputError

    if out is None or not out.exists():
        return asked
    found = type(asked).read(out)
    if (found.orders, found.draws, found.seed) != (asked.orders, asked.draws, asked.seed):
        raise OutputError(
            f"{out} was made with orders {found.orders}, {found.draws} draws and seed {found.seed}; ask for the same, "
            "or name another file"
        )
    return found
