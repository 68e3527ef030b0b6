"""The model card: what a person should know of a saved model before using it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from phist import __version__
from phist.graphs.checkup import Checkup

if TYPE_CHECKING:
    from phist.estimators.classifier import StructuralClassifier
    from phist.estimators.embedder import StructuralEmbedder
    from phist.estimators.members.network import Network


def write_card(estimator: "StructuralClassifier | StructuralEmbedder", checkup: Checkup | None, metrics: Mapping[str, Any]) -> str:
    """The card as Markdown."""
    given = estimator.random_state
    seed = f"random_state {given} (seed {estimator.seed_})" if isinstance(given, int) else f"seed {estimator.seed_}"
    data = estimator.data_
    sections = [
        f"# A structural graph {estimator._saved_as}",
        f"Trained with phist {__version__}, {seed}. It sees nothing of a graph but nodes, edges and weights.",
        _section("Data it was trained on", _data_lines(data)),
        *_report_sections(estimator),
        *_bounds_sections(estimator, checkup),
        *([_section("Further metrics", [f"{name}: {value}" for name, value in metrics.items()])] if metrics else []),
        _section("Networks", [line for member in estimator._members() for line in _network_lines(member)] or ["none"]),
    ]
    return "\n\n".join(sections) + "\n"


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([f"## {title}", "", *(f"- {line}" for line in lines)])


def _report_sections(estimator: Any) -> list[str]:
    if not hasattr(estimator, "report_"):
        return []
    report = estimator.report_
    table = ["| member | weight | accuracy out of fold | log-loss |", "|---|---|---|---|"]
    for candidate in sorted(report.candidates, key=lambda own: -own.weight):
        row = (candidate.name, f"{candidate.weight:.2f}", f"{100 * candidate.accuracy:.1f} %", f"{candidate.log_loss:.3f}")
        table.append(f"| {' | '.join(row)} |")
    members = [f"{member.label}: {member.describe()}" for member in estimator.ensemble_.members if member.predictors]
    return [
        _section("How good it is", report.lines()),
        "\n".join([_section(f"What predicts (effort {report.effort}, {report.seconds:.0f} s)", members), "", *table]),
    ]


def _bounds_sections(estimator: Any, checkup: Checkup | None) -> list[str]:
    """Floors and ceiling of the data; without a checkup the report has them, where there is one."""
    if checkup is None and hasattr(estimator, "report_"):
        return []
    return [_section(_bounds_title(estimator.data_, checkup), _bounds_lines(estimator.data_, checkup))]


def _bounds_title(data: dict[str, Any], checkup: Checkup | None) -> str:
    whole = checkup is not None and checkup.n_graphs != data["graphs"]
    extent = f"the whole set of {checkup.n_graphs} graphs" if checkup is not None and whole else "these graphs"
    return f"What any model should and can reach on {extent}"


def _data_lines(data: dict[str, Any]) -> list[str]:
    classes = ", ".join(f"{label}: {count}" for label, count in data["classes"].items())
    kinds = [kind for kind in ("directed", "weighted") if data[kind]] or ["undirected, unweighted"]
    nodes, edges = data["nodes"], data["edges"]
    return [
        f"{data['graphs']} graphs, {', '.join(kinds)}; classes {classes or 'unknown'}",
        f"{nodes['mean']} nodes (at most {nodes['max']}) and {edges['mean']} edges on average",
        f"content hash {data['fingerprint']}",
    ]


def _bounds_lines(data: dict[str, Any], checkup: Checkup | None) -> list[str]:
    counts = data["classes"].values()
    lines = [f"always the most frequent class: {max(counts) / sum(counts):.1%}"] if counts else []
    if checkup is None:
        return [*lines, "further floors and the 1-WL ceiling were not computed; `phist check` does"]
    return checkup.summary().splitlines()


def _network_lines(member: "Network") -> list[str]:
    config = member.preset.network
    if not member.trained:
        return ["none was trained"]
    parameters = sum(parameter.numel() for parameter in member.trained[0].network.parameters())
    lines = [
        f"{len(member.trained)} of {parameters:,} parameters; {config.convolution} convolutions of order {config.orders}, "
        f"channels {config.channels}",
        f"{config.aggregation} with {config.bins} {config.kernel} bins",
        f"roots: {config.sampler.kind}, {config.sampler.count} draws per graph",
        *(
            f"after {look.epochs} epochs: {100 * look.accuracy:.1f} % out of fold, log-loss {look.log_loss:.3f}"
            for look in member.bag.looks
        ),
    ]
    for history in member.histories[:1]:
        best = history.epochs[history.best]
        lines.append(
            f"training accuracy while training: {best.accuracy:.1%}, {len(history.epochs)} epochs, {history.seconds:.0f} s"
        )
        if best.validation_accuracy is not None:
            lines.append(f"validation accuracy: {best.validation_accuracy:.1%} (it helped to select epoch {best.number + 1})")
    return lines
