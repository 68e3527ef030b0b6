"""load_dataset: the datasets of the catalogue by name, checked, and parsed only once."""

import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from phist.errors import DatasetError, GraphInputError, ModelFileError, OutputError, brief
from phist.graphs.arrays import IntArray
from phist.graphs.catalog import DATASETS as DATASETS
from phist.graphs.catalog import DatasetFacts, dataset_facts, known_dataset
from phist.graphs.convert import as_graphset
from phist.graphs.download import MOST_BYTES
from phist.graphs.download import download as fetch
from phist.graphs.formats.nodes import Nodes
from phist.graphs.formats.tu import read_tu, read_tu_split
from phist.graphs.graphset import GraphSet
from phist.graphs.limits import check_max_bytes
from phist.graphs.locate import DatasetPlace, cache_folder, parsed_folder, places_of
from phist.graphs.locate import find_dataset as find_dataset
from phist.graphs.packing import Directed, Empty, Reading, SelfLoops, Weights
from phist.graphs.read import READABLE, LabelSource, as_path, read_graphs, read_labels
from phist.graphs.storage import GRAPHSET_FOLDER, read_header, write_graphset

Stamp = dict[str, str | int]
SPLIT_WORDS = ("train", "valid", "test")  # of a file NAME_split.txt


def load_dataset(name: str, *, download: bool = True, max_bytes: int | None = None) -> GraphSet:
    """Load a dataset of the catalogue: the paper's nine, such as MUTAG or ENZYMES, and ten more; `DATASETS` has the names.

    It is looked for in the folder ``PHIST_DATA`` (``NAME.zip`` or ``NAME/``), then in the cache (``PHIST_CACHE``, else the
    user's cache folder), then, for MUTAG, inside the installed ``grakel``, and downloaded last. Its content is checked:
    graphs, classes, nodes, edges and fingerprint. A parsed copy is kept in the cache and opened as long as the archive
    stays the same.

    Args:
        name: upper or lower case, with or without hyphens; ``IMDB-B``, ``IMDB-M`` and ``REDDIT-B`` are understood.
        download: ``False`` stays off the network.
        max_bytes: the most that is fetched, 1 GB unless given; the largest archive of the catalogue has 50 MB.
    """
    check_max_bytes(max_bytes)
    facts = dataset_facts(name)
    for place in places_of(facts):
        if place.kind == "download" and not download:
            break
        graphs = _load_from(place, facts, max_bytes)
        if graphs is not None:
            return graphs
    raise _not_here(facts)


def load_split(name: str) -> tuple[IntArray, IntArray, IntArray]:
    """The official split of a dataset that has one, MOLHIV: positions of training, validation and test graphs.

    It is read from the archive, which has to be on this machine as for `load_dataset`, and checked likewise.
    """
    facts = dataset_facts(name)
    if not facts.split_digest:
        known = ", ".join(other.name for other in DATASETS.values() if other.split_digest)
        raise DatasetError(f"{facts.name} has no official split; {known} has one: split other datasets by folds")
    words = _split_words(facts)
    if hashlib.sha256("\n".join(words).encode()).hexdigest() != facts.split_digest:
        raise DatasetError(f"the archive of {facts.name} has another split than the published one; replace the archive")
    parts = np.array(words)
    training, validation, test = (np.flatnonzero(parts == part).astype(np.int64) for part in SPLIT_WORDS)
    return training, validation, test


def load_graphs(
    data: str | Path,
    labels: LabelSource | None = None,
    *,
    directed: Directed | None = None,
    self_loops: SelfLoops | None = None,
    weights: Weights = "use",
    empty: Empty = "error",
    nodes: Nodes | None = None,
    max_bytes: int | None = None,
) -> GraphSet:
    """Load a dataset by name, or read graphs from any path `read_graphs` knows; a path that exists comes first.

    Args:
        data: a path or a dataset's name.
        labels, directed, self_loops, weights, empty, nodes, max_bytes: as in `read_graphs`.
    """
    if not isinstance(data, str) or _exists(data):
        options = {"directed": directed, "self_loops": self_loops, "weights": weights, "empty": empty, "nodes": nodes}
        return read_graphs(data, labels, max_bytes=max_bytes, **options)  # type: ignore[arg-type]
    if known_dataset(data) is None and (Path(data).suffix or len(Path(data).parts) > 1):
        raise GraphInputError(
            f"there is no file or folder {brief(data)}; give {READABLE}, or a dataset's name ({', '.join(DATASETS)})"
        )
    graphs, given = read_labels(labels, load_dataset(data), Reading(empty=empty, max_bytes=max_bytes))
    return as_graphset(graphs, given, directed=directed, self_loops=self_loops, weights=weights)


def _not_here(facts: DatasetFacts) -> DatasetError:
    download = "it is not in the TU collection" if facts.collection_name is None else "or allow the download"
    return DatasetError(
        f"{facts.name} is not on this machine (looked for {facts.name}.zip in PHIST_DATA and {cache_folder()}); "
        f"set PHIST_DATA to a folder that holds it, {download}"
    )


def _split_words(facts: DatasetFacts) -> list[str]:
    archives = [place.path for place in places_of(facts) if place.path is not None and place.kind != "parsed"]
    if not archives:
        raise _not_here(facts)
    try:
        return read_tu_split(archives[0])
    except (GraphInputError, OSError) as error:
        raise DatasetError(f"the split of {facts.name} cannot be read: {error}") from error


def _exists(data: str) -> bool:
    try:
        return as_path(data).exists()
    except OSError:  # a name that no file can have, or a folder we may not look into
        return False


def _load_from(place: DatasetPlace, facts: DatasetFacts, max_bytes: int | None = None) -> GraphSet | None:
    """The dataset, or ``None`` where a parsed copy turns out not to be one."""
    if place.kind == "parsed":
        return _open_parsed(facts, None)
    if place.path is not None:
        return _load_local(facts, place.path)
    return _load_download(facts, str(place.url), max_bytes or MOST_BYTES)


def _load_local(facts: DatasetFacts, path: Path) -> GraphSet:
    stamp = _stamp(path)
    graphs = _open_parsed(facts, stamp)
    if graphs is None:
        graphs = _read_checked(facts, path)
        _keep_parsed(facts, graphs, stamp)
    return graphs


def _load_download(facts: DatasetFacts, url: str, max_bytes: int) -> GraphSet:
    archive = cache_folder() / f"{facts.name}.zip"
    try:
        fetch(url, archive, max_bytes)
    except OutputError:  # no cache to write to: good for this once
        with TemporaryDirectory() as folder:
            fetch(url, Path(folder) / archive.name, max_bytes)
            return _read_checked(facts, Path(folder) / archive.name)
    try:
        return _load_local(facts, archive)
    except DatasetError:
        archive.unlink(missing_ok=True)  # so that the next attempt downloads again
        raise


def _read_checked(facts: DatasetFacts, path: Path) -> GraphSet:
    try:
        graphs = read_tu(path)
    except GraphInputError as error:
        raise DatasetError(f"{facts.name} cannot be read: {error}") from error
    except OSError as error:
        raise DatasetError(f"{facts.name} cannot be read from {path}: {error.strerror or error}") from error
    facts.check(graphs, str(path))
    return graphs


def _open_parsed(facts: DatasetFacts, stamp: Stamp | None) -> GraphSet | None:
    """The parsed copy, if it was made from this very archive (from any, without ``stamp``) and is still what it should be."""
    folder = parsed_folder(facts)
    try:
        extra = read_header(folder).get("extra")
        if not isinstance(extra, dict) or (stamp is not None and extra.get("source") != stamp):
            return None
        graphs = GraphSet.open(folder)
    except (ModelFileError, OSError):
        return None
    return graphs if graphs.fingerprint() == facts.fingerprint else None


def _keep_parsed(facts: DatasetFacts, graphs: GraphSet, stamp: Stamp) -> None:
    try:
        GRAPHSET_FOLDER.discard_damaged(parsed_folder(facts))
        write_graphset(parsed_folder(facts), [graphs], extra={"source": stamp, "fingerprint": facts.fingerprint})
    except (OutputError, OSError):
        return  # a cache that cannot be written to costs time, nothing else


def _stamp(path: Path) -> Stamp:
    """What tells that an archive or folder has changed: its place, size and time of writing."""
    files = sorted(path.rglob("*.txt")) if path.is_dir() else [path]
    states = [file.stat() for file in files]
    return {
        "path": str(path.resolve()),
        "size": sum(state.st_size for state in states),
        "modified": max(state.st_mtime_ns for state in states),
    }
