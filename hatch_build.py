"""What a wheel holds beside the sources: the engine's portable code, so that a first use has nothing to type and to lower.

It is made where phist's dependencies are installed, for the Python, Numba and system that build the wheel:

    pip wheel --no-deps --no-build-isolation .

A wheel that is built without them, or used with other versions, holds or finds none, and compiles everything at first use.
"""

import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NEEDED = ("torch", "numba", "scipy", "sklearn", "networkx", "filelock", "safetensors")
PROGRAM = """
from phist import StructuralClassifier
from phist.engine.compiling import prepare
from phist.graphs.generate import make_trees
prepare()
trees = make_trees(30, n_nodes=12, seed=0)
StructuralClassifier(effort="low", random_state=0).fit(trees).predict_proba(trees)
"""


class PortableCodeHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compile in a folder of its own, for no processor in particular, and take what is portable."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        missing = [name for name in NEEDED if find_spec(name) is None]
        if version == "editable" or missing:
            self.app.display_info(f"no portable code in this build (missing: {', '.join(missing) or 'nothing, it is editable'})")
            return
        self._folder = tempfile.TemporaryDirectory()
        sources = os.pathsep.join([str(Path(self.root, "src")), os.environ.get("PYTHONPATH", "")])
        place = {"PYTHONPATH": sources, "NUMBA_CACHE_DIR": self._folder.name, "NUMBA_CPU_NAME": "generic"}
        subprocess.run([sys.executable, "-c", PROGRAM], env={**os.environ, **place}, check=True, stdout=sys.stderr)
        for file in Path(self._folder.name).rglob("*-portable.*"):
            build_data["force_include"][str(file)] = f"phist/jit/shipped/{file.name}"
