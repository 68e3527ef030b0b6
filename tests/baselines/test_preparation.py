"""What a process does once is done before the clock of a record starts."""

import json
import subprocess
import sys

import pytest

FIT = """
import json
import sys
import numpy as np
from phist.baselines.registry import make_method
from phist.evaluation.execution import make_task
from phist.evaluation.splits import make_split
from phist.graphs.generate import make_planted_partitions

graphs, codes = make_planted_partitions(60, n_nodes=12, seed=0), np.arange(60) % 2
split = make_split(graphs, "paper", 0)
method = make_method(sys.argv[1], **json.loads(sys.argv[2]))
method.prepare()
loaded = set(sys.modules)
method.fit(make_task(graphs, codes, split, dataset="made", n_classes=2, seed=0, cache=None, threads=1)).predict(split.test)
print(*sorted(set(sys.modules) - loaded))
"""


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("phist-low", {}),
        ("phist", {"time_budget": 10}),
        ("gin-0", {"layers": [2], "hidden": [16], "epochs": 2}),
        ("ltp", {"trees": 10}),
        ("wl-subtree", {}),
        ("degree-histogram", {}),
    ],
)
def test_libraries_are_loaded_before_a_fit(method, options):
    done = subprocess.run([sys.executable, "-c", FIT, method, json.dumps(options)], capture_output=True, text=True, check=True)
    late = {name for name in done.stdout.split() if name.startswith(("sklearn.", "torch."))}  # compiling loads parts of Numba
    assert late <= {"torch.profiler._cupti_monitor"}
