"""phist info"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.options import Json
from phist.cli.screen import console, print_json
from phist.progress import waiting

if TYPE_CHECKING:
    from rich.console import Console

PACKAGES = ("torch", "numpy", "numba", "scipy", "scikit-learn")
VECTOR_BITS = {"avx512f": 512, "avx2": 256, "avx": 256, "neon": 128, "sse2": 128}  # the widest first

Model = Annotated[Path | None, typer.Argument(help="A model folder: tell which engine computes this model.", show_default=False)]


def info(model: Model = None, as_json: Json = False) -> None:
    """Tell what is installed, how many threads there are, which engine computes and why, and where datasets are found.

    Nothing is trained, compiled or downloaded.

    Examples:
      phist info
      phist info mymodel
      phist info --json
    """
    with waiting("looking at what is installed"):
        engine = _engine(model)  # first, since a folder without a model is to be reported and nothing else
        content = {
            "versions": _versions(),
            "extras": _extras(),
            "threads": _threads(),
            "engine": engine,
            "compiled": _compiled(),
            "vectors": _vectors(),
            "datasets": _datasets(),
        }
    if as_json:
        print_json(content)
    else:
        _show(console(), content)


def _versions() -> dict[str, str]:
    from importlib.metadata import version
    from platform import python_version

    from phist import __version__

    return {"phist": __version__, "python": python_version(), **{name: version(name) for name in PACKAGES}}


def _extras() -> dict[str, dict[str, str | None]]:
    """For every extra that people install, its packages with their versions, or ``None`` where they are missing."""
    from importlib.metadata import PackageNotFoundError, requires, version

    def version_of(package: str) -> str | None:
        try:
            return version(package)
        except PackageNotFoundError:
            return None

    extras: dict[str, dict[str, str | None]] = {}
    for requirement in requires("phist") or []:
        found = re.match(r"([\w.-]+)[^;]*;.*extra == .(\w+)", requirement)
        if found and found[2] not in ("all", "dev", "docs"):
            extras.setdefault(found[2], {})[found[1]] = version_of(found[1])
    return extras


def _threads() -> dict[str, int]:
    import torch

    from phist.cores import usable_cores

    return {"cores": usable_cores(), "default": torch.get_num_threads(), "study": 1}


def _engine(model: Path | None) -> dict[str, Any]:
    """What ``engine="auto"``, or what a model was told, comes to; the reason is the engine's own."""
    import warnings

    from phist.engine.choice import choose_engine
    from phist.estimators.fitted import load_fitted
    from phist.graphs.convert import as_graphset
    from phist.nn.config import NetworkConfig
    from phist.nn.network import make_network

    if model is None:
        asked, directed = "auto", False
        network = make_network(NetworkConfig(), n_classes=2, seed=0)
    else:
        estimator = load_fitted(model)
        trained_on = estimator.data_ if isinstance(estimator.data_, dict) else {}
        asked, network, directed = estimator.engine, estimator.network_, bool(trained_on.get("directed"))
    graphs = as_graphset([(2, [(0, 1)])], directed="keep" if directed else None)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        engine = choose_engine(asked, network, graphs)
    if said:
        reason = str(said[-1].message)
    elif engine == asked:
        reason = f"the model was told to: engine={asked!r}"
    else:
        reason = "it covers everything this network does, on this device"
    return {"model": None if model is None else str(model), "engine": engine, "reason": reason}


def _compiled() -> dict[str, Any]:
    from phist.engine.compiling import code_folder, compiling_time, is_compiled, is_portable

    folder = None if (found := code_folder()) is None else str(found)
    return {"on_disk": is_compiled(), "portable": is_portable(), "folder": folder, "compiling_time": compiling_time()}


def _vectors() -> dict[str, Any]:
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    widest = next((name for name in VECTOR_BITS if features.get(name)), None)
    return {"processor": binding.get_host_cpu_name(), "feature": widest, "bits": VECTOR_BITS.get(widest or "", 0)}


def _datasets() -> dict[str, Any]:
    from phist.errors import DatasetError
    from phist.graphs.datasets import DATASETS, find_dataset
    from phist.graphs.locate import cache_folder, data_folder

    folders = {"PHIST_DATA": os.environ.get("PHIST_DATA"), "cache": str(cache_folder())}
    try:
        data_folder()
    except DatasetError as error:  # what is wrong belongs into the answer, which is asked for when something is wrong
        return {**folders, "problem": str(error), "found": {}}
    return {**folders, "problem": None, "found": {name: find_dataset(name).kind for name in DATASETS}}


def _show(screen: "Console", content: dict[str, Any]) -> None:
    versions, threads, engine = content["versions"], content["threads"], content["engine"]
    _show_section(screen, "Versions", versions)
    _show_section(screen, "Extras", {name: _describe_extra(name, packages) for name, packages in content["extras"].items()})
    _show_section(screen, "Threads", {
        "cores": threads["cores"],
        "at most": f"{threads['default']}, torch's own number; torch.set_num_threads or --threads changes it",
        "in a study": f"{threads['study']} for each cell: cells fill the cores; phist bench run --threads changes it",
    })  # fmt: skip
    compiled, vectors = content["compiled"], content["vectors"]
    feature = f"{vectors['bits']} bits ({vectors['feature']})" if vectors["feature"] else "no vector instructions known to us"
    _show_section(screen, "Engine", {
        "model": engine["model"] or "a network of the default configuration",
        "engine": engine["engine"],
        "because": engine["reason"],
        "compiled code": _describe_code(compiled),
        "vectors": f"{feature} on {vectors['processor']}",
    })  # fmt: skip
    _show_section(screen, "Datasets", _describe_datasets(content["datasets"]))


def _show_section(screen: "Console", title: str, rows: dict[str, Any]) -> None:
    screen.print(title, style="bold")
    for name, value in rows.items():
        screen.print(f"  {name:<14} {value}")


def _describe_code(compiled: dict[str, Any]) -> str:
    if compiled["folder"] is None:
        return f"made in every process, {compiled['compiling_time']}: set NUMBA_CACHE_DIR to a folder that can be written to"
    if compiled["on_disk"]:
        return f"on disk, in {compiled['folder']}"
    known = "there, but not yet for this processor" if compiled["portable"] else "not yet"
    return f"{known}; it will be compiled at first use, which takes {compiled['compiling_time']}"


def _describe_extra(name: str, packages: dict[str, str | None]) -> str:
    missing = [package for package, version in packages.items() if version is None]
    present = [f"{package} {version}" for package, version in packages.items() if version is not None]
    advice = [f"without {', '.join(missing)}: pip install 'phist[{name}]'"] if missing else []
    return "; ".join([", ".join(present)] * bool(present) + advice)


def _describe_datasets(datasets: dict[str, Any]) -> dict[str, str]:
    rows = {"PHIST_DATA": datasets["PHIST_DATA"] or "not set", "cache": datasets["cache"]}
    if datasets["problem"]:
        return {**rows, "problem": datasets["problem"]}
    found = datasets["found"]
    missing = [name for name, kind in found.items() if kind == "download"]
    here = f"{len(found) - len(missing)} of {len(found)}"
    return {**rows, "found": here if not missing else f"{here}; to be downloaded at first use: {', '.join(missing)}"}
