"""How the site is built: `make docs`."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

_extensions = str(Path(__file__).parent / "_ext")
sys.path.insert(0, _extensions)
os.environ["PYTHONPATH"] = os.pathsep.join([_extensions, *filter(None, [os.environ.get("PYTHONPATH")])])  # of workers

import tailwork  # noqa: E402

project = "tailwork"
author = "tailwork contributors"
copyright = "tailwork contributors"
version = release = tailwork.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "executed",
    "docstrings",
    "equations",
    "links",
    "offline",
]
exclude_patterns = ["_build", "_ran", "gallery"]
suppress_warnings = ["config.cache"]

# Pages are Markdown. Mathematics is between dollars, as on code hosts.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

# MathJax from a package of this machine: one file, with its fonts in it.
_mathjax = Path((find_spec("sphinx-mathjax-offline").submodule_search_locations or [""])[0]) / "static" / "mathjax"
mathjax_path = "tex-svg.js"
mathjax3_config = {"options": {"enableMenu": False}}

html_theme = "furo"
html_title = "tailwork"
html_static_path = ["_static", str(_mathjax / "tex-svg.js")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False

copybutton_prompt_text = "$ "
copybutton_exclude = ".output .highlight"

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_default_options = {"members": True}
autodoc_type_aliases = {name: name for name in ("Array", "ArrayLike", "Floats", "Scalar")}
add_module_names = False
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"
smartquotes_action = "D"  # dashes; quotes stay as they are typed

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "subsection_order": ["gallery/beginner", "gallery/intermediate", "gallery/advanced"],
    "within_subsection_order": "FileNameSortKey",
    "min_reported_time": 1e9,
    "parallel": 2,
    "image_scrapers": ("figures.scrape_figures",),
}
