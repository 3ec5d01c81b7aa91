"""Figures that code leaves: those that pyplot holds, and those of `tailwork.view`, which stand in variables."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from sphinx_gallery.scrapers import figure_rst


def left_figures(namespace: Mapping[str, Any]) -> list[Any]:
    """The figures that code has left; they are closed, and not found a second time."""
    if "matplotlib" not in sys.modules:
        return []
    from matplotlib import pyplot
    from matplotlib.figure import Figure

    open_ones = [pyplot.figure(number) for number in pyplot.get_fignums()]
    named = [value for value in namespace.values() if isinstance(value, Figure)]
    found = []
    for figure in (*open_ones, *named):
        if not getattr(figure, "_is_shown", False):
            figure._is_shown = True  # type: ignore[attr-defined]
            found.append(figure)
    pyplot.close("all")
    return found


def scrape_figures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Saves the figures that a cell of a gallery script has left: a scraper of Sphinx-Gallery."""
    names = []
    for figure in left_figures(block_vars["example_globals"]):
        names.append(next(block_vars["image_path_iterator"]))
        figure.savefig(names[-1], dpi=160, bbox_inches="tight", facecolor=figure.get_facecolor())
    return figure_rst(names, gallery_conf["src_dir"])
