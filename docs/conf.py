"""Settings of the documentation: `sphinx-build -W docs docs/_build/html` makes the site."""

import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE / "extensions"))

project = "neurowhere"
author = "The neurowhere developers"
copyright = author
release = metadata.version("neurowhere")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "commands",
    "mathml",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "generated/gallery/*.ipynb"]
suppress_warnings = ["toc.not_included"]  # tables in results/; tests/test_docs.py looks for pages
default_role = "py:obj"

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"  # by the browser itself: no script, no network

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the docstrings say the types in words
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "generated/gallery",
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"matplotlib|mpl_toolkits|nilearn",  # a figure says nothing in words
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "matplotlib_animations": False,
    "abort_on_example_error": True,
    "plot_gallery": "True",
}

html_theme = "furo"
html_title = "neurowhere"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
