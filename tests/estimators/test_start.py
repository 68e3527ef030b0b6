"""What a prediction must not wait for."""

import subprocess
import sys

from small_models import quick_classifier

from phist.graphs.generate import make_planted_partitions

PROGRAM = """
import sys
from phist import load_estimator
load_estimator(sys.argv[1]).predict([(3, [(0, 1), (1, 2)])])
sys.exit("torch._dynamo" in sys.modules)
"""


def test_loading_and_predicting_do_not_load_the_compiler_of_torch(tmp_path):
    quick_classifier().fit(make_planted_partitions(20, n_nodes=8, seed=0)).save(tmp_path / "model")
    assert subprocess.run([sys.executable, "-c", PROGRAM, tmp_path / "model"]).returncode == 0
