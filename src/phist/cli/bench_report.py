"""phist bench report"""

from pathlib import Path
from typing import Annotated

import typer

from phist.cli.bench_records import RECORD_DEFAULTS, Against, Folders, RecordOptions, read_study, record_files
from phist.cli.options import Json
from phist.cli.output import is_standard_output, write_text
from phist.cli.output_checks import check_file_place
from phist.cli.screen import console, print_json
from phist.progress import waiting

Out = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The HTML file to write; - for standard output.")]


def report(
    folders: Folders = None,
    out: Out = Path("report.html"),
    against: Against = "phist",
    which: RecordOptions = RECORD_DEFAULTS,
    as_json: Json = False,
) -> None:
    """The study as one HTML file that needs no network: tables, figures, and behind every number its records.

    Examples:
      phist bench report experiments/paper -o report.html
      phist bench report experiments/large --metric roc-auc
    """
    from phist.errors import ConfigError
    from phist.extras import require

    if as_json and is_standard_output(out):
        raise ConfigError("--json and --out - both write to standard output; give the name of a file")

    with waiting("loading SciPy and pandas"):
        require("scikit_posthocs", "report", "the report")

        from phist.report.diagram import diagram_html
        from phist.report.html import make_report

    check_file_place(out, *record_files(folders))
    study = read_study(folders, which)
    with waiting("drawing"):
        page = make_report(study, against, diagram_html)
    write_text(out, page)
    if as_json:
        print_json({"out": str(out), "study": study.name, "records": len(study.records), "bytes": len(page.encode())})
    console(to_program=as_json or is_standard_output(out)).print(
        f"{out}: {len(study.records):,} records, {len(page.encode()) / 1e6:.1f} MB"
    )
