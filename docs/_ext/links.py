"""A Sphinx extension: every link within the finished site leads to a place that is there; a dead one fails the build.

Pages of source code link back to where a name is documented, under one of the paths that it has. Where it is documented
under another, the link is turned there.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

LINK = re.compile(r'href="(?P<page>[^"#:?]*)(?:#(?P<place>[^"]*))?"')
PLACE = re.compile(r'\bid="([^"]+)"')


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the extension, to come before what looks at the finished pages."""
    app.connect("build-finished", check_links, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def check_links(app: Sphinx, error: Exception | None) -> None:
    """Turns links back from source code where need be, then looks at all links."""
    if error is not None:
        return
    site = Path(app.outdir)
    pages = {str(path.relative_to(site)): path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}
    pages = {name: text for name, text in pages.items() if not name.startswith("_ran/")}
    places = {name: set(PLACE.findall(text)) for name, text in pages.items()}
    for name, text in pages.items():
        if name.startswith("_modules/"):
            turned = _turned(name, text, places)
            if turned != text:
                (site / name).write_text(turned, encoding="utf-8")
                pages[name] = turned
    dead = sorted({dead for name, text in pages.items() for dead in _dead(site, name, text, places)})
    if dead:
        raise ExtensionError("links lead nowhere:\n" + "\n".join(dead[:20]))


def _dead(site: Path, name: str, text: str, places: dict[str, set[str]]) -> Iterator[str]:
    """The links of a page that lead nowhere."""
    for match in LINK.finditer(text):
        target = _target(name, match["page"])
        if target not in places and not (site / target).exists():
            yield f"{name}: {match['page']}"
        elif match["place"] and target in places and unquote(match["place"]) not in places[target]:
            yield f"{name}: {match['page']}#{match['place']}"


def _turned(name: str, text: str, places: dict[str, set[str]]) -> str:
    """A page of source code whose links back lead to the one place that ends with the same name, or to the page."""

    def turned(match: re.Match[str]) -> str:
        target = _target(name, match["page"])
        if not match["place"] or match["place"] in places.get(target, ()):
            return match[0]
        last = match["place"].rsplit(".", 1)[-1]
        alike = [place for place in places.get(target, ()) if place.rsplit(".", 1)[-1] == last]
        return f'href="{match["page"]}#{alike[0]}"' if len(alike) == 1 else f'href="{match["page"]}"'

    return LINK.sub(turned, text)


def _target(name: str, page: str) -> str:
    """The page that a link means, from the root of the site."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(page))) if page else name
