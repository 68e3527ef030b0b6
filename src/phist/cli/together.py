"""What `phist fit` does with other processes that torchrun has started, and with data of many files."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phist.cli.verbosity import is_quiet
from phist.progress import silenced, waiting

if TYPE_CHECKING:
    from phist.graphs.graphset import GraphSet
    from phist.training.group import Group


@contextmanager
def together() -> "Iterator[Group]":
    """The processes of this fit; all but the first keep silent."""
    with waiting("loading PyTorch"):
        from phist.training.group import process_group
    with process_group() as group, silenced(is_quiet() or not group.is_first):
        yield group
    if not group.is_first:
        end_at_once(group)


def end_at_once(group: "Group") -> None:
    """End a process of several here: at the interpreter's own end a thread of the transport may abort, and torchrun fails."""
    if group.size == 1:
        return
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def begin_anew(checkpoint: Path, fresh: bool, group: "Group") -> None:
    """Discard the checkpoint of an earlier run if that is asked for; not that of this one, which torchrun has started again."""
    from phist.training.checkpoint_files import remove_checkpoint

    if fresh and group.is_first and os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0":
        remove_checkpoint(checkpoint)
    group.agree(0)  # nobody looks for it before


def gathered(data: str, checkpoint: Path, group: "Group", reading: dict[str, Any]) -> "GraphSet":
    """The graphs of many files as one mapped set beside the checkpoint; the first process writes it, the others wait."""
    from phist.graphs.packing import Reading
    from phist.scale.gathering import gather_graphs

    if group.is_first:
        gather_graphs(data, _place(checkpoint), Reading(**reading))
    group.agree(0)
    return gather_graphs(data, _place(checkpoint), Reading(**reading))


def remove_gathered(checkpoint: Path) -> None:
    """The model is saved: the copy of its graphs is no longer needed; a set that is no copy stays."""
    from phist.graphs.storage import GRAPHSET_FOLDER
    from phist.scale.gathering import is_gathered

    if is_gathered(place := _place(checkpoint)):
        GRAPHSET_FOLDER.check(place)
        shutil.rmtree(place)


def _place(checkpoint: Path) -> Path:
    return Path(f"{checkpoint}.graphs")
