"""A report as one HTML page that holds everything it shows and asks the network for nothing."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from tailwork.files import write_whole
from tailwork.simulation import Run
from tailwork.view.draw.style import rendered
from tailwork.view.player import player_assets, player_fragment
from tailwork.view.report.sheet import STYLE
from tailwork.view.scene import scenes_of

Cell = str | float | int | bool | None
WALK_MOMENTS = 481
"""Of several strides, where feet touch and leave the ground."""
NOTE = "note"
"""A column of this heading holds text that may take several lines."""

LONG = 24
"""Columns of text with longer cells may break their lines."""


@dataclass(frozen=True)
class Picture:
    """A figure and what it shows; where it has been saved, the file is embedded as it is."""

    figure: Figure  # of matplotlib
    caption: str  # below it
    file: Path | None = None  # PNG or SVG


@dataclass(frozen=True)
class Table:
    """A table: a heading for each column, and rows of text and numbers."""

    header: Sequence[str]  # by column
    rows: Sequence[Sequence[Cell]]  # one below the other
    caption: str = ""  # what it shows


@dataclass(frozen=True)
class Playback:
    """Runs that the reader can play, by label, all on one clock."""

    runs: Mapping[str, Run]
    caption: str
    layout: str = "side"  # or "overlay"
    moments: int = 121  # that the page keeps of a run; between them it goes straight


@dataclass(frozen=True)
class Section:
    """A part of the report. Text is plain; an empty line starts a new paragraph."""

    title: str  # above it
    text: str = ""  # before all else
    figures: Sequence[Picture] = ()  # one below the other
    tables: Sequence[Table] = ()  # below the figures
    playback: Playback | None = None  # runs that the reader can play; None: none


def page(title: str, summary: str, sections: Sequence[Section], footer: str = "") -> str:
    """The report as HTML."""
    names = _names(sections)
    contents = "".join(
        f'<li><a href="#{name}">{escape(section.title)}</a></li>' for name, section in zip(names, sections, strict=True)
    )
    assets = player_assets() if any(section.playback for section in sections) else ""
    body = "\n".join(_section(name, section) for name, section in zip(names, sections, strict=True))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
{STYLE}</style>
{assets}
</head>
<body>
<header class="top">
<h1>{escape(title)}</h1>
<div class="summary">
{_paragraphs(summary)}
</div>
</header>
<nav aria-label="Contents">
<p class="label">Contents</p>
<ol>{contents}</ol>
</nav>
<main>
{body}
</main>
<footer>
{_paragraphs(footer)}
</footer>
</body>
</html>
"""


def write_page(path: str | os.PathLike[str], html: str) -> None:
    """Write the page as a whole or not at all."""
    write_whole(path, html)


def _names(sections: Sequence[Section]) -> list[str]:
    """A name for each section that a link can point to."""
    names: list[str] = []
    for k, section in enumerate(sections):
        words = re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-")
        names.append(f"{k + 1}-{words}" if words else f"{k + 1}")
    return names


def _section(name: str, section: Section) -> str:
    parts = [f'<section id="{name}">', f"<h2>{escape(section.title)}</h2>", _paragraphs(section.text)]
    parts += [] if section.playback is None else [_playback(section.playback)]
    parts += [_picture(picture) for picture in section.figures]
    parts += [_table(table) for table in section.tables]
    return "\n".join([part for part in parts if part] + ["</section>"])


def _paragraphs(text: str) -> str:
    found = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    return "\n".join(f"<p>{escape(part)}</p>" for part in found if part)


def _playback(playback: Playback) -> str:
    scenes = scenes_of(playback.runs, most=playback.moments)
    player = player_fragment(scenes, layout=playback.layout)
    return f"<figure>\n{player}\n<figcaption>{escape(playback.caption)}</figcaption>\n</figure>"


def _picture(picture: Picture) -> str:
    content = rendered(picture.figure, "svg") if picture.file is None else picture.file.read_bytes()
    form = "png" if picture.file is not None and picture.file.suffix == ".png" else "svg+xml"
    data = base64.b64encode(content).decode("ascii")
    caption = escape(picture.caption)
    width, height = (round(96 * side) for side in picture.figure.get_size_inches())  # [px]
    kind = "card wide" if width > 400 else "card"
    return (
        f'<figure>\n<div class="{kind}" tabindex="0"><img src="data:image/{form};base64,{data}" alt="{caption}" '
        f'width="{width}" height="{height}"></div>\n<figcaption>{caption}</figcaption>\n</figure>'
    )


def _table(table: Table) -> str:
    kinds = [_kind(name, [row[k] for row in table.rows]) for k, name in enumerate(table.header)]
    head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(table.header, kinds, strict=True))
    rows = "\n".join(
        "<tr>"
        + "".join(f"<td{kind}>{escape(_text(cell))}</td>" for cell, kind in zip(row, kinds, strict=True))
        + "</tr>"
        for row in table.rows
    )
    caption = f"<caption>{escape(table.caption)}</caption>\n" if table.caption else ""
    return (
        f'<div class="table" tabindex="0">\n<table>\n{caption}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
    )


def _kind(name: str, cells: Sequence[Cell]) -> str:
    """The class of a column: numbers stand right, notes may wrap."""
    if name.casefold() == NOTE:
        return ' class="note"'
    filled = [cell for cell in cells if cell not in (None, "", "—", "∞")]
    if filled and all(_is_number(cell) for cell in filled):
        return ' class="number"'
    return ' class="text"' if any(len(_text(cell)) > LONG for cell in cells) else ""


def _is_number(cell: Cell) -> bool:
    """Whether a cell is a number, or text that is one."""
    if isinstance(cell, str):
        return re.fullmatch(r"[+−-]?[\d ]*\.?\d+(e[+−-]?\d+)?[ ]?[%°×]?", cell) is not None
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _text(cell: Any) -> str:
    """A cell as text; numbers to four digits."""
    if cell is None:
        return "—"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.4g}".replace("-", "−")
    if isinstance(cell, int):
        return str(cell).replace("-", "−")
    return str(cell)
