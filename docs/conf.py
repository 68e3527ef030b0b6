"""The site: MyST pages as they are, the API from docstrings, the command line from the help texts. Built offline by `make docs`."""

import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import phist

project, author, release = "phist", "The phist authors", phist.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "command_reference"]
exclude_patterns = ["_build"]
html_theme, html_title = "furo", f"phist {release}"
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath", "deflist"]
autodoc_typehints, autodoc_member_order = "description", "bysource"
autodoc_typehints_description_target = "all"
napoleon_google_docstring, napoleon_numpy_docstring = True, False
nitpicky = False
suppress_warnings = ["myst.xref_missing", "toc.not_included"]  # pages also link to files of the repository, which tests check

for name in set(phist.__all__) - {"__version__"}:  # imported on first use; autodoc looks into the module
    setattr(phist, name, getattr(import_module("phist"), name))
