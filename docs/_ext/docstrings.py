"""A Sphinx extension: docstrings are plain English with `code` between single backticks; here they become reStructuredText."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

CODE = re.compile(r"(`[^`]+`)")
SPECIAL = re.compile(r"([\\*|_])")


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the extension, to come before what reads the sections of a docstring."""
    app.connect("autodoc-process-docstring", to_rst, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def to_rst(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Rewrites the lines of a docstring in place: code as literals, and nothing else special."""
    if what in ("data", "attribute") and "\n".join(lines).strip() == (type(thing).__doc__ or "").strip():
        lines[:] = []  # the docstring of a built-in type, not of ours
    lines[:] = [_inline(line) for line in lines]


def _inline(line: str) -> str:
    """A line with its code as literals; what else would be markup is escaped."""
    parts = CODE.split(line)
    return "".join(f"`{part}`" if CODE.fullmatch(part) else SPECIAL.sub(r"\\\1", part) for part in parts)
