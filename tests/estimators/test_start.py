"""What a prediction must not wait for."""

import subprocess
import sys

import pytest
from small_models import quick_classifier

from phist.graphs.generate import make_planted_partitions

HEAVY = [  # what only fitting or compiling needs, or nobody: most take a tenth of a second, scikit-learn with pandas over one
    "sklearn", "pandas", "scipy.linalg", "scipy.optimize", "scipy.special", "scipy.stats", "matplotlib", "networkx",
    "rich.progress", "torch._dynamo", "numba.np.arraymath", "numba.cpython.setobj",
]  # fmt: skip
COMMAND = f"""
import sys
from phist.cli.app import main
try:
    main()
finally:
    print("loaded:", *(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)
"""
PROGRAM = """
import sys
from phist import load_estimator
load_estimator(sys.argv[1]).predict([(3, [(0, 1), (1, 2)])])
sys.exit("torch._dynamo" in sys.modules)
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Of every member and every head."""
    path = tmp_path_factory.mktemp("start") / "model"
    classifier = quick_classifier(heads=("linear", "forest", "kernel"), engine="auto")
    classifier.fit(make_planted_partitions(20, n_nodes=8, seed=0)).save(path)
    return path


def test_loading_and_predicting_do_not_load_the_compiler_of_torch(model):
    assert subprocess.run([sys.executable, "-c", PROGRAM, model]).returncode == 0


@pytest.mark.parametrize("verb", [("predict",), ("embed", "--out", "-")])
def test_using_a_saved_model_loads_nothing_that_only_fitting_and_compiling_need(model, tmp_path, verb):
    graphs = tmp_path / "graphs.jsonl"
    graphs.write_text('{"edges": [[0, 1], [1, 2]]}\n')
    command = [sys.executable, "-c", COMMAND, *verb, str(model), str(graphs)]
    subprocess.run(command, check=True, capture_output=True)  # what is not yet compiled is now
    assert subprocess.run(command, check=True, capture_output=True, text=True).stderr.splitlines()[-1] == "loaded:"
