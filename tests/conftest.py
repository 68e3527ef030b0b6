"""What every test may ask for, and what no test may touch."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tiny tensors: threads that wait for each other cost more than they give

import numpy as np
import pytest

from phist.graphs.packing import pack


@pytest.fixture(scope="session")
def dataset_folder():
    """The folder with the nine archives, where there is one."""
    value = os.environ.get("PHIST_DATA")
    if not value:
        pytest.skip("PHIST_DATA is not set")
    folder = Path(value)
    if not folder.is_dir():
        pytest.fail(f"PHIST_DATA is {value!r}, which is not a folder")
    return folder


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory):
    """Tests share a cache of their own and leave the user's alone."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("PHIST_CACHE", str(folder))
        yield folder


def odd_graphs(n_graphs=20):
    """Graphs of every awkward kind, each many times: one node, nodes without edges, one edge, a star, a path and a node apart."""
    kinds = [(1, []), (3, []), (2, [(0, 1)]), (5, [(0, 1), (0, 2), (0, 3), (0, 4)]), (4, [(0, 1), (1, 2)])]
    chosen = [kinds[graph % len(kinds)] for graph in range(n_graphs)]
    sizes = np.array([size for size, _ in chosen])
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    arcs = [(u + first, v + first) for (_, edges), first in zip(chosen, offsets, strict=True) for u, v in edges]
    source, target = np.array(arcs).T
    return pack(sizes, source, target)


@pytest.fixture(scope="session")
def make_odd_graphs():
    return odd_graphs


def pytest_collection_modifyitems(items):
    """Tests of Spark need a package that is large and a Java that it can start: where one is missing, they say so."""
    missing = [] if find_spec("pyspark") else ["the extra 'spark' is not installed"]
    missing += [] if shutil.which("java") or os.environ.get("JAVA_HOME") else ["there is no java, which Spark runs in"]
    for item in items:
        if missing and item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.skip(reason=" and ".join(missing)))
