"""What `phist embed` and `phist predict` do with a stream of graphs: options, and the run that they share."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.option_groups import OptionGroup
from phist.cli.options import ReadingOptions, use_threads
from phist.cli.output import is_standard_output
from phist.cli.output_checks import check_folder_place
from phist.cli.saved_models import LOADING, ModelOptions
from phist.cli.screen import console, print_json
from phist.errors import ConfigError, OutputError
from phist.progress import waiting

if TYPE_CHECKING:
    from phist.scale.answers import Answers
    from phist.scale.bulk import Summary

_PANEL = "Streams: folders and patterns of files, into a folder of Parquet files"

Stream = Annotated[
    bool,
    typer.Option("--stream", help="Stream a single file or dataset too; folders and patterns always are.", rich_help_panel=_PANEL),
]
Shard = Annotated[
    str | None, typer.Option(metavar="i/n", help="The i-th of n equal shares, all into the same --out.", rich_help_panel=_PANEL)
]
OnError = Annotated[
    str,
    typer.Option(
        metavar="stop|skip", help="A bad row ends the run, or is set aside and listed in _skipped.jsonl.", rich_help_panel=_PANEL
    ),
]
PartRows = Annotated[int, typer.Option(min=1, help="Rows of the input for each file of the output.", rich_help_panel=_PANEL)]
BatchRows = Annotated[
    int, typer.Option(min=1, help="Rows in memory together, fewer where graphs are large.", rich_help_panel=_PANEL)
]


@dataclass(frozen=True)
class StreamOptions(OptionGroup):
    """How a stream is cut; the defaults are those of phist.scale.stretches.Limits, which would bring NumPy with it."""

    stream: Stream = False
    shard: Shard = None
    on_error: OnError = "stop"
    part_rows: PartRows = 1 << 15
    batch_rows: BatchRows = 1 << 12

    def are_for(self, data: str) -> bool:
        """Whether graphs are streamed: they are many files, or it was asked for."""
        if self.stream or self.shard is not None:
            return True
        with waiting("loading NumPy and SciPy"):
            from phist.scale.sources import is_stream

        return is_stream(data)


STREAM_DEFAULTS = StreamOptions()


def run_stream(
    verb: str,
    model: Path,
    data: str,
    out: Path | None,
    how: ModelOptions,
    reading: ReadingOptions,
    streams: StreamOptions,
    *,
    as_json: bool = False,
) -> None:
    """Ask a model about a stream, and say what was done: on standard error, and as JSON on standard output if asked to."""
    how.check()
    if out is None or is_standard_output(out):
        raise OutputError("a stream is written to a folder of Parquet files; name it with --out")
    check_folder_place(out)
    with waiting(LOADING):
        from phist.graphs.packing import Reading
        from phist.scale.answers import Embeddings, Predictions
        from phist.scale.bulk import run_bulk
        from phist.scale.parts import Shard as ShardOf
        from phist.scale.stretches import Limits

        use_threads(how.threads)
        answers: Answers = (Embeddings if verb == "embed" else Predictions)(model)
    how.apply(answers.model)
    resolved = Reading(**reading.of_streams(answers.model))
    limits, part = Limits(streams.part_rows, streams.batch_rows), ShardOf.parse(streams.shard)
    on_error: Any = streams.on_error  # run_bulk checks the word
    summary = run_bulk(answers, data, out, reading=resolved, shard=part, on_error=on_error, limits=limits)
    notices = answers.notices()
    if as_json:
        print_json({"out": str(out), **asdict(summary), "notices": notices})
    _tell(out, summary)
    for notice in notices:
        console(to_program=True).print(f"note: {notice}")


def refuse_in_streams(**given: object) -> None:
    """Raise where an option was given that concerns graphs read at once."""
    odd = next((name for name, value in given.items() if value), None)
    if odd is not None:
        raise ConfigError(f"--{odd.replace('_', '-')} is for graphs that are read at once, and these are streamed; leave it out")


def _tell(out: Path, summary: "Summary") -> None:
    screen = console(to_program=True)
    rate = summary.graphs / max(summary.seconds, 1e-9)
    screen.print(f"Wrote {out}: {summary.rows:,} graphs, {summary.graphs:,} of them now, {rate:,.0f} a second")
    if summary.skipped:
        screen.print(f"note: what was set aside is listed in {out / '_skipped.jsonl'}, {summary.skipped:,} entries")
    if summary.labelled:
        percent = f"{100 * summary.right / summary.labelled:.1f} %"
        screen.print(
            f"accuracy {percent} of {summary.labelled:,} labelled graphs; labels that the model does not know count as missed"
        )
