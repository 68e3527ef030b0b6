"""The report of the study as a page of the site, made of the records at hand whenever the site is built."""

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from sphinx.application import Sphinx

FOLDERS = ("paper", "as-printed", "gnns")


def write_report(app: Sphinx) -> None:
    """Write ``report.html``, which the results page links to."""
    from phist.cli.bench_report import report

    root = Path(app.srcdir).parent
    with redirect_stdout(StringIO()):
        report([root / "experiments" / name for name in FOLDERS], out=Path(app.srcdir) / "_extra" / "report.html")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write it before anything is copied."""
    app.connect("builder-inited", write_report)
    return {"parallel_read_safe": True}
