"""Gram matrices on disk: found again when whole, made anew when not."""

from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import numpy as np
import pytest

from phist import as_graphset
from phist.descriptors.grams.cache import kept_gram

GRAPHS = as_graphset([nx.path_graph(3), nx.cycle_graph(4)])


class Computation:
    """Counts how often it is asked."""

    def __init__(self, value=1.0):
        self.value, self.calls = value, 0

    def __call__(self):
        self.calls += 1
        return np.full((2, 2), self.value)


def test_a_gram_is_computed_once(tmp_path):
    compute = Computation(1 / 3)
    first, second = (kept_gram(tmp_path, GRAPHS, "made", {"rounds": 1}, compute) for _ in range(2))
    assert compute.calls == 1
    np.testing.assert_array_equal(first, second)


def test_a_kept_gram_is_the_one_that_is_not_kept(tmp_path):
    compute = Computation(1 / 3)
    kept_gram(tmp_path, GRAPHS, "made", {}, compute)
    np.testing.assert_array_equal(kept_gram(tmp_path, GRAPHS, "made", {}, compute), kept_gram(None, GRAPHS, "made", {}, compute))


def test_a_folder_that_cannot_be_written_to_costs_no_gram(tmp_path):
    (tmp_path / "file").touch()
    assert (kept_gram(tmp_path / "file" / "folder", GRAPHS, "made", {}, Computation(2.0)) == 2).all()


@pytest.mark.parametrize(
    ("graphs", "kernel", "settings"), [(GRAPHS[::-1], "made", {}), (GRAPHS, "other", {}), (GRAPHS, "made", {"rounds": 2})]
)
def test_another_set_kernel_or_setting_is_another_gram(tmp_path, graphs, kernel, settings):
    kept_gram(tmp_path, GRAPHS, "made", {}, Computation(1.0))
    assert kept_gram(tmp_path, graphs, kernel, settings, Computation(2.0))[0, 0] == 2.0


@pytest.mark.parametrize("damage", [lambda content: content[:-1], lambda content: b"", lambda content: content[:-1] + b"\0"])
def test_a_damaged_file_is_computed_anew_and_replaced(tmp_path, damage):
    kept_gram(tmp_path, GRAPHS, "made", {}, Computation(1.0))
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert kept_gram(tmp_path, GRAPHS, "made", {}, Computation(2.0))[0, 0] == 2.0
    assert kept_gram(tmp_path, GRAPHS, "made", {}, Computation(3.0))[0, 0] == 2.0


def test_a_file_under_a_wrong_name_is_not_taken(tmp_path):
    kept_gram(tmp_path, GRAPHS, "made", {}, Computation(1.0))
    (wrong,) = tmp_path.iterdir()
    kept_gram(tmp_path, GRAPHS, "made", {"rounds": 2}, Computation(2.0))
    (right,) = set(tmp_path.iterdir()) - {wrong}
    wrong.replace(right)
    assert kept_gram(tmp_path, GRAPHS, "made", {"rounds": 2}, Computation(2.0))[0, 0] == 2.0


def test_writers_at_the_same_time_leave_one_whole_file(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        grams = list(pool.map(lambda _: kept_gram(tmp_path, GRAPHS, "made", {}, Computation(5.0)), range(16)))
    assert all((gram == 5.0).all() for gram in grams)
    assert len(list(tmp_path.iterdir())) == 1
    assert kept_gram(tmp_path, GRAPHS, "made", {}, Computation(6.0))[0, 0] == 5.0
