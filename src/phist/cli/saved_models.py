"""What the verbs that use a saved model share: how it computes, how it is loaded, and what it remarks on graphs."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phist.cli.help import COMPUTING
from phist.cli.option_groups import OptionGroup
from phist.cli.options import ENGINES, Threads, use_threads
from phist.errors import check_choice
from phist.progress import waiting

if TYPE_CHECKING:
    from phist.estimators.fitted import FittedClassifier, FittedModel
    from phist.graphs.graphset import GraphSet

LOADING = "loading PyTorch and the model"

Exact = Annotated[
    bool,
    typer.Option("--exact", help="Every node as a root, instead of an average over samples of roots.", rich_help_panel=COMPUTING),
]
OtherEngine = Annotated[
    str | None,
    typer.Option(
        metavar="|".join(ENGINES),
        help="Compute by this engine, not by the one that the model was fitted with.",
        show_default=False,
        rich_help_panel=COMPUTING,
    ),
]


@dataclass(frozen=True)
class ModelOptions(OptionGroup):
    """How a saved model computes."""

    exact: Exact = False
    engine: OtherEngine = None
    threads: Threads = None

    def check(self) -> None:
        """Refuse an engine that is none, before anything is loaded."""
        if self.engine is not None:
            check_choice("engine", self.engine, ENGINES)

    def apply(self, model: "FittedModel") -> None:
        """Let the model compute so."""
        if self.exact:
            model.inference = "exact"
        if self.engine is not None:
            model.engine = self.engine


MODEL_DEFAULTS = ModelOptions()


def load_classifier(path: Path, how: ModelOptions) -> "FittedClassifier":
    """The classifier of a folder, computing as it is asked to."""
    how.check()
    with waiting(LOADING):
        from phist.estimators.fitted import FittedClassifier

        use_threads(how.threads)
        classifier = FittedClassifier.load(path)
    how.apply(classifier)
    return classifier


def load_model(path: Path, how: ModelOptions) -> "FittedModel":
    """The classifier or embedder of a folder, likewise."""
    how.check()
    with waiting(LOADING):
        from phist.estimators.fitted import load_fitted

        use_threads(how.threads)
        model = load_fitted(path)
    how.apply(model)
    return model


def with_labels_of(model: "FittedClassifier", graphs: "GraphSet") -> "GraphSet":
    """The graphs with their labels as the model has them: 1 may come as "1" where a table's other labels are no numbers."""
    known = {str(label): label for label in model.classes_.tolist()}
    if graphs.labels is None or len(known) < len(model.classes_):
        return graphs
    return graphs.with_labels([known.get(str(label), label) for label in graphs.label_list()])


@contextmanager
def input_notices() -> Iterator[list[str]]:
    """A list that holds, afterwards, what models remarked on the graphs they were given, once each."""
    from phist.estimators.reading import InputNotice

    found: list[str] = []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        yield found
    found.extend(dict.fromkeys(str(one.message) for one in said if issubclass(one.category, InputNotice)))
