"""A Sphinx extension: the site asks the network for nothing; a build whose pages would fails."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

FETCHED = re.compile(r"""<(?:script|img|link|iframe|source)\b[^>]*\b(?:src|href)=["'](?:https?:)?//[^"']*["'][^>]*>""")
IMPORTED = re.compile(r"""(?:url\(|@import\s+)["']?(?:https?:)?//[^)"';]+""")


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the extension."""
    app.connect("build-finished", check_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def check_pages(app: Sphinx, error: Exception | None) -> None:
    """Looks through pages and styles for what a browser would fetch from elsewhere."""
    if error is not None:
        return
    site = Path(app.outdir)
    found = [
        f"{path.relative_to(site)}: {match[0][:120]}"
        for pattern, kind in ((FETCHED, "*.html"), (IMPORTED, "*.css"))
        for path in sorted(site.rglob(kind))
        for match in pattern.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]
    here = str(Path(app.srcdir).parent)
    found += [
        f"{path.relative_to(site)}: names the folder of the sources"
        for path in sorted(site.rglob("*.html"))
        if here in path.read_text(encoding="utf-8", errors="replace")
    ]
    if found:
        raise ExtensionError("the site would ask the network, or speaks of this machine:\n" + "\n".join(found[:20]))
