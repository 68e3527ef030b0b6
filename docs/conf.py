"""The site: MyST pages as they are, the API from docstrings, the command line from the help texts. Built offline by `make docs`."""

import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import phist

project, author, copyright, release = "phist", "The phist authors", "the phist authors", phist.__version__
default_role = "py:obj"  # `GraphSet` in a docstring links to it
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
extensions += ["sphinx_copybutton", "sphinx_gallery.gen_gallery", "command_reference", "live_report", "mathml", "unbroken_numbers"]
html_math_renderer = "mathml"
exclude_patterns = ["_build", "**sg_execution_times.rst", "gallery/*.ipynb", "gallery/*.py", "gallery/*.json"]
html_theme, html_title = "furo", f"phist {release}"
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath", "deflist"]
autodoc_typehints, autodoc_member_order = "description", "bysource"
autodoc_typehints_description_target = "all"
napoleon_google_docstring, napoleon_numpy_docstring = True, False
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "image_scrapers": ("figure_scraper.figure_scraper",),
    "capture_repr": ("_repr_html_",),
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1_000_000,  # times are those of the machine that builds the site
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": (),
    "abort_on_example_error": True,
}
html_extra_path = ["_extra"]  # report.html, which live_report writes
(Path(__file__).parent / "_extra").mkdir(exist_ok=True)
nitpicky = False
suppress_warnings = ["myst.xref_missing", "toc.not_included"]  # pages also link to files of the repository, which tests check

for name in set(phist.__all__) - {"__version__"}:  # imported on first use; autodoc looks into the module
    setattr(phist, name, getattr(import_module("phist"), name))
