"""Blocks of Markdown files that are written from records, so that no figure in a document is ever typed by hand.

A block stands between two comments, ``<!-- results:begin main ../experiments/paper -->`` and ``<!-- results:end -->``: the
name of a table, and the folders of the records as seen from the document; ``|`` stands between the folders of two studies.
"""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from phist.errors import ConfigError, GraphInputError, check_choice
from phist.files import atomic_path
from phist.report.beside import beside_table
from phist.report.costs import costs_table, times_table
from phist.report.differences import difference_table
from phist.report.estimates import estimates_table
from phist.report.growth import growth_markdown
from phist.report.ranks import ranks_table
from phist.report.render import to_markdown
from phist.report.study import Study, load_study
from phist.report.summary import OURS, summary_markdown
from phist.report.tables import NO_RECORDS, generalisation_table, leave_out_unmeasured, main_table

HEADLINE_ROWS = 4  # what a README has room for; the first datasets of the study, whatever came out
WHOLE, ABLATIONS = "phist-linear", ("phist-sum", "phist-deterministic")  # one network under the linear head each
SLOWEST = "phist-high"  # the datasets that have it have all efforts
PRINTED = "phist-paper"  # the network trained as printed; what is changed about it stands beside it in its studies
TIMED = ("phist", "phist-low", "phist-linear", "wl-shortest-path", "ltp")  # both efforts, the paper's network, the best rivals
BLOCKS: dict[str, Callable[[Study], str]] = {
    "headline": lambda study: summary_markdown(study, HEADLINE_ROWS),
    "summary": summary_markdown,
    "main": lambda study: to_markdown(main_table(study)),
    "measured": lambda study: to_markdown(leave_out_unmeasured(main_table(study))),
    "generalisation": lambda study: to_markdown(generalisation_table(study)),
    "differences": lambda study: to_markdown(difference_table(study, OURS)),
    "ablations": lambda study: to_markdown(difference_table(study, WHOLE, ABLATIONS)),
    "as-printed": lambda study: to_markdown(difference_table(study, PRINTED)),
    "ranks": lambda study: to_markdown(ranks_table(study)),
    "costs": lambda study: to_markdown(costs_table(study)),
    "times": lambda study: to_markdown(times_table(study, TIMED)),
    "efforts": lambda study: to_markdown(costs_table(study, SLOWEST)),
    "growth": growth_markdown,
    "labels": lambda study: growth_markdown(study, times=False),
    "estimates": lambda study: to_markdown(estimates_table(study)),
}
BLOCKS_OF_TWO: dict[str, Callable[[Study, Study], str]] = {
    "beside": lambda first, second: to_markdown(beside_table(first, second)),
}
_BLOCK = re.compile(r"(<!-- results:begin (\S+) (\S[^\n]*?) -->\n)(.*?)(<!-- results:end -->)", re.DOTALL)
_MARK = "<!-- results:"


def current_text(document: str | Path) -> str:
    """The document as it should be now: every block made afresh from its records."""
    document = Path(document)
    try:
        text = document.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GraphInputError(f"{document} cannot be read: {error}; give a Markdown file") from error
    found = _BLOCK.findall(text)
    if not found or text.count(_MARK) != 2 * len(found):
        raise ConfigError(
            f"{document} has {text.count(_MARK)} marks of results, which make {len(found)} whole blocks; a block begins with "
            "'<!-- results:begin TABLE FOLDERS -->' and ends with '<!-- results:end -->', each on a line of its own"
        )
    # Several blocks of one document tend to be of one study, which is then read once.
    study_of = cache(lambda folders: load_study(*(document.parent / folder for folder in folders.split())))

    def renew(block: re.Match[str]) -> str:
        studies = [study_of(folders) for folders in block[3].split("|")]
        return f"{block[1]}\n{_content(block[2], studies)}\n{block[5]}"

    return _BLOCK.sub(renew, text)


def is_current(document: str | Path) -> bool:
    """Whether all blocks of a document agree with their records."""
    return current_text(document) == Path(document).read_text(encoding="utf-8")


def update_document(document: str | Path) -> bool:
    """Write all blocks afresh; whether anything changed."""
    text = current_text(document)
    if text == Path(document).read_text(encoding="utf-8"):
        return False
    with atomic_path(document) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return True


def _content(table: str, studies: list[Study]) -> str:
    check_choice("table", table, (*BLOCKS, *BLOCKS_OF_TWO))
    if len(studies) != 1 + (table in BLOCKS_OF_TWO):
        raise ConfigError(
            f"a block of {table!r} takes one study, 'beside' two with '|' between their folders; given were {len(studies)}"
        )
    if any(study.setting is None for study in studies):
        return NO_RECORDS + "\n"
    return BLOCKS_OF_TWO[table](*studies) if table in BLOCKS_OF_TWO else BLOCKS[table](*studies)
