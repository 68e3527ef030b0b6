"""What every test may ask for, and what no test may touch."""

import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tiny tensors: threads that wait for each other cost more than they give

import pytest


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
