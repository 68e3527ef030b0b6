"""The model card: what a person should know of a saved model before using it."""

from typing import Any

from phist import __version__
from phist.estimators.forest import make_forest_config
from phist.graphs.checkup import Checkup
from phist.nn.network import StructuralNetwork
from phist.training.history import History


def write_card(settings: dict[str, Any], network: StructuralNetwork, history: History, checkup: Checkup | None) -> str:
    """The card as Markdown."""
    sections = [
        f"# A structural graph {settings['estimator']}",
        f"Trained with phist {__version__}, {_describe_seed(settings)}. It sees nothing of a graph but nodes, edges and weights.",
        _section("Data it was trained on", _data_lines(settings["data"])),
        _section(_bounds_title(settings["data"], checkup), _bounds_lines(settings["data"], checkup)),
        _section("Metrics", _metric_lines(settings["metrics"], history)),
        _section("Network", [*_network_lines(network), _head_line(settings["parameters"])]),
    ]
    return "\n\n".join(sections) + "\n"


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([f"## {title}", "", *(f"- {line}" for line in lines)])


def _describe_seed(settings: dict[str, Any]) -> str:
    given = settings["parameters"]["random_state"]
    return f"seed {settings['seed']}" if given is None else f"random_state {given} (seed {settings['seed']})"


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


def _metric_lines(metrics: dict[str, Any], history: History) -> list[str]:
    lines = [f"{name}: {value}" for name, value in metrics.items()]
    if history.epochs:
        best = history.epochs[history.best]
        lines.append(f"epoch {best.number + 1} of {len(history.epochs)} was kept ({history.ending}, {history.seconds:.0f} s)")
        lines.append(f"training accuracy while training: {best.accuracy:.1%}")
        if best.validation_accuracy is not None:
            lines.append(f"validation accuracy: {best.validation_accuracy:.1%} (it helped to select the epoch)")
    return lines or ["none: the network was not trained"]


def _network_lines(network: StructuralNetwork) -> list[str]:
    config = network.config
    parameters = sum(parameter.numel() for parameter in network.parameters())
    return [
        f"{parameters:,} parameters; {config.convolution} convolutions of order {config.orders}, channels {config.channels}",
        f"{config.aggregation} with {config.bins} {config.kernel} bins",
        f"roots: {config.sampler.kind}, {config.sampler.count} draws per graph",
    ]


def _head_line(parameters: dict[str, Any]) -> str:
    if parameters["head"] == "linear":
        return "head: linear"
    kernel = "kernel ridge regression on embeddings of nodes"
    if parameters["head"] == "kernel":
        return f"head: {kernel}"
    forest = make_forest_config(parameters["forest"])
    own = (
        "the network's own training graphs"
        if forest.folds == 1
        else f"{forest.folds} further networks, each trained without a fold"
    )
    beside = f"the mean of a linear one, {kernel}, and " if parameters["head"] == "all" else ""
    return f"head: {beside}forests of {forest.trees} extra trees on embeddings of {own}"
