"""A report as one HTML page that holds everything it shows and asks the network for nothing."""

from __future__ import annotations

import base64
import csv
import io
import multiprocessing
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path

from matplotlib.figure import Figure

from tailwork.files import write_whole
from tailwork.format import minus, number
from tailwork.simulation import Run
from tailwork.view.draw.style import rendered, save
from tailwork.view.player import player_assets, player_fragment
from tailwork.view.scene import scenes_of

REPORT, FIGURES = "report.html", "figures"
Cell = str | float | int | bool | None
WALK_SAMPLES = 481  # of several strides, where feet touch and leave the ground
NOTE = "note"  # a column of this heading holds text that may take several lines

WARNING = "Warning: "  # with this, a paragraph that stands out begins
LONG = 24  # columns of text with longer cells may break their lines
Drawings = Mapping[str, tuple[str, Callable[[], Figure]]]  # by file name: a caption and what draws the figure
FOR_A_PROCESS = 6  # a process takes about as long to start as so many pictures take to save


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
    samples: int = 121  # that the page keeps of a run; between them it goes straight


@dataclass(frozen=True)
class Section:
    """A part of the report. Text is plain; an empty line starts a new paragraph, "Warning: " one that stands out."""

    title: str  # above it
    text: str = ""  # before all else
    figures: Sequence[Picture] = ()  # one below the other
    tables: Sequence[Table] = ()  # below the figures
    playback: Playback | None = None  # runs that the reader can play; None: none
    listing: str = ""  # a file or code, shown with its lines as they are


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
{_style()}</style>
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


@cache
def _style() -> str:
    """The style sheet: system fonts, light and dark, phone and print."""
    return files("tailwork.view.report").joinpath("report.css").read_text(encoding="utf-8")


def write_page(path: str | os.PathLike[str], html: str) -> None:
    """Write the page as a whole or not at all."""
    write_whole(path, html)


def _names(sections: Sequence[Section]) -> list[str]:
    """A name for each section that a link can point to."""
    names: list[str] = []
    for k, section in enumerate(sections):
        slug = re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-")
        names.append(f"{k + 1}-{slug}" if slug else f"{k + 1}")
    return names


def _section(name: str, section: Section) -> str:
    parts = [f'<section id="{name}">', f"<h2>{escape(section.title)}</h2>", _paragraphs(section.text)]
    parts += [] if section.playback is None else [_playback(section.playback)]
    parts += [_picture(picture) for picture in section.figures]
    parts += [_table(table) for table in section.tables]
    parts += [f'<pre class="listing" tabindex="0">{escape(section.listing)}</pre>'] if section.listing else []
    return "\n".join([part for part in parts if part] + ["</section>"])


def _paragraphs(text: str) -> str:
    found = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    html = "\n".join(f"<p>{escape(part)}</p>" for part in found if part)
    return html.replace(f"<p>{WARNING}", f'<p class="warning"><strong>{WARNING.strip()}</strong> ')


def _playback(playback: Playback) -> str:
    scenes = scenes_of(playback.runs, most=playback.samples)
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


def _text(cell: Cell) -> str:
    """A cell as text; numbers to four digits."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return cell if isinstance(cell, str) else minus(str(cell)) if isinstance(cell, int) else number(cell)


@contextmanager
def _saving(folder: Path, processes: int) -> Iterator[Callable[[Figure, str, Sequence[str]], dict[str, Path]]]:
    """A function that saves a figure under a name in some kinds of files, now or soon, and returns their paths by kind;
    all are saved when the context ends."""
    if processes < 2:
        yield lambda figure, name, kinds: save(figure, folder, name, kinds)
        return
    waiting: list[Future[dict[str, Path]]] = []
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:

        def later(figure: Figure, name: str, kinds: Sequence[str]) -> dict[str, Path]:
            waiting.append(pool.submit(save, figure, folder, name, kinds))
            return {kind: folder / f"{name}.{kind}" for kind in kinds}

        yield later
        for one in waiting:
            one.result()


def drawn_pictures(
    drawings: Drawings, folder: Path, progress: Callable[[str], None], processes: int = 1
) -> dict[str, Picture]:
    """Figures drawn, saved and ready to be shown. Pictures of the robot, which are large as SVG, are shown as PNG."""
    drawn: dict[str, Picture] = {}
    with _saving(folder / FIGURES, min(processes, len(drawings) // FOR_A_PROCESS)) as keep:
        for name, (caption, draw) in drawings.items():
            progress(f"drawing {name}")
            figure, robot = draw(), name.startswith("timelapse")
            paths = keep(figure, name, ("png", "pdf") if robot else ("png", "pdf", "svg"))
            drawn[name] = Picture(figure, caption, paths["png" if robot else "svg"])
    return drawn


def build_report(
    folder: Path,
    title: str,
    summary: str,
    drawings: Drawings,
    sections: Callable[[dict[str, Picture]], Sequence[Section]],
    footer: str = "Made by tailwork.",
    *,
    progress: Callable[[str], None] = lambda what: None,
    processes: int = 1,
) -> Path:
    """Draw and save all figures into `folder`/figures, and write `folder`/report.html; its path.

    Args:
        folder: where the report goes; made if need be.
        title: of the page.
        summary: the conclusion, above all else.
        drawings: captions and what draws the figures, by file name.
        sections: makes the parts of the page from the pictures, by file name.
        footer: below all.
        progress: called with what is being done.
        processes: how many save figures. With more than one, the program's main module must be importable, as a command
            is; a script of one's own needs the usual `if __name__ == "__main__"`.
    """
    pictures = drawn_pictures(drawings, folder, progress, processes)
    progress("writing the page")
    write_page(folder / REPORT, page(title, summary, sections(pictures), footer))
    return folder / REPORT


def write_numbers(path: str | os.PathLike[str], header: Sequence[str], rows: Iterable[Sequence[str | float]]) -> None:
    """Write a table as CSV, whole or not at all; numbers to nine digits, headings with their units."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([cell if isinstance(cell, str) else f"{cell:.9g}" for cell in row])
    write_whole(path, text.getvalue())
