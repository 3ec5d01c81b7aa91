"""A report as one HTML page that holds everything it shows and asks the network for nothing."""

from __future__ import annotations

import base64
import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from multiprocessing import get_context
from pathlib import Path

from matplotlib.figure import Figure

from tailwork.files import write_whole
from tailwork.format import minus, rounded
from tailwork.simulation import Run
from tailwork.studies.possible import MARK
from tailwork.studies.scenario import Scenario
from tailwork.view.draw.style import rendered, save
from tailwork.view.player import player_assets, player_fragment
from tailwork.view.scene import scenes_of

REPORT, FIGURES = "report.html", "figures"
Cell = str | float | int | bool | None
WALK_SAMPLES = 481  # of several strides, where feet touch and leave the ground
NOTE = "note"  # a column of this heading holds text that may take several lines

WARNING = "Warning: "  # with this, a paragraph that stands out begins
LONG = 24  # columns of text with longer cells may break their lines
SWIPED = 520  # [px]: figures that are wider are swiped on a phone, where their text could not be read if shrunk
NARROW = 40  # characters that a phone shows side by side; rows of wider tables stand as blocks there
MANY = 14  # columns: tables with more are swiped, their first column stays in sight
Drawing = tuple[str, Callable[[], Figure]]  # a caption and what draws the figure
Drawings = Mapping[str, Drawing]  # by file name
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
    note: str = ""  # below it: what its marks mean


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
    folded: bool = False  # whether a reader opens it to see more than its title


@dataclass(frozen=True)
class Report:
    """A page whose figures are yet to be drawn."""

    title: str  # of the page
    summary: str  # the conclusion, above all else
    drawings: Drawings  # captions and what draws the figures, by file name
    sections: Callable[[Mapping[str, Picture]], Sequence[Section]]  # the parts of the page, from the pictures
    footer: str = "Made by tailwork."  # below all


def page(title: str, summary: str, sections: Sequence[Section], footer: str = "") -> str:
    """The report as HTML. Sections without a title stand above the contents."""
    titled = [section for section in sections if section.title]
    slugs = [re.sub(r"[^a-z0-9]+", "-", section.title.lower()) for section in titled]
    names = [f"{k}-{slug.strip('-')}".rstrip("-") for k, slug in enumerate(slugs, start=1)]
    named = list(zip(names, titled, strict=True))
    contents = "".join(f'<li><a href="#{name}">{escape(section.title)}</a></li>' for name, section in named)
    assets = player_assets() if any(section.playback for section in sections) else ""
    opening = "\n".join(_content(section) for section in sections if not section.title)
    body = "\n".join(f'<section id="{name}">\n{_titled(section)}\n</section>' for name, section in named)
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
{opening}
</header>
<nav aria-label="Contents">
<details>
<summary class="label">Contents</summary>
<ol>{contents}</ol>
</details>
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


def _titled(section: Section) -> str:
    heading, content = f"<h2>{escape(section.title)}</h2>", _content(section)
    return f"<details>\n<summary>{heading}</summary>\n{content}\n</details>" if section.folded else heading + content


def _content(section: Section) -> str:
    parts = [_paragraphs(section.text)]
    parts += [] if section.playback is None else [_playback(section.playback)]
    parts += [_picture(picture) for picture in section.figures]
    parts += [_table(table) for table in section.tables]
    parts += [f'<pre class="listing" tabindex="0">{escape(section.listing)}</pre>'] if section.listing else []
    return "\n".join(filter(None, parts))


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
    kind = "card wide" if width > SWIPED else "card"
    return (
        f'<figure>\n<div class="{kind}" tabindex="0"><img src="data:image/{form};base64,{data}" alt="{caption}" '
        f'width="{width}" height="{height}"></div>\n<figcaption>{caption}</figcaption>\n</figure>'
    )


def _table(table: Table) -> str:
    texts = [[_text(cell) for cell in row] for row in table.rows]
    kinds = [_kind(name, [row[k] for row in table.rows]) for k, name in enumerate(table.header)]
    head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(table.header, kinds, strict=True))
    heads = [f' data-head="{escape(name)}"' if name else "" for name in table.header]
    rows = "\n".join(
        "<tr>"
        + "".join(f"<td{kind}{name}>{escape(cell)}</td>" for cell, kind, name in zip(row, kinds, heads, strict=True))
        + "</tr>"
        for row in texts
    )
    caption = f"<caption>{escape(table.caption)}</caption>\n" if table.caption else ""
    widths = [
        max(map(len, [*(row[k] for row in texts), *name.split()]), default=0) for k, name in enumerate(table.header)
    ]
    wide = sum(widths) + 2 * len(widths) > NARROW
    kind = "table blocks" if wide and 1 < len(widths) <= MANY else "table"
    return (
        f'<div class="{kind}" tabindex="0">\n<table>\n{caption}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
        + (f'\n<p class="footnote">{escape(table.note)}</p>' if table.note else "")
    )


def _kind(name: str, cells: Sequence[Cell]) -> str:
    """The class of a column: numbers stand right, notes may wrap."""
    if name.casefold() == NOTE:
        return ' class="note"'
    filled = [cell for cell in cells if cell not in (None, "", "—", "∞", f"∞ {MARK}")]
    if filled and all(_is_number(cell) for cell in filled):
        return ' class="number"'
    return ' class="text"' if any(len(_text(cell)) > LONG for cell in cells) else ""


def _is_number(cell: Cell) -> bool:
    """Whether a cell is a number, or text that is one."""
    if isinstance(cell, str):
        return re.fullmatch(rf"[+−-]?[\d ]*\.?\d+(e[+−-]?\d+)?[ ]?[%°×]?( [{MARK}×])?", cell) is not None
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _text(cell: Cell) -> str:
    """A cell as text; numbers to four digits."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return cell if isinstance(cell, str) else minus(str(cell)) if isinstance(cell, int) else rounded(cell)


def drawn_pictures(
    drawings: Drawings, folder: Path, progress: Callable[[str], None], processes: int = 1
) -> dict[str, Picture]:
    """Figures drawn, saved and ready to be shown. Pictures of the robot, which are large as SVG, are shown as PNG."""
    drawn: dict[str, Picture] = {}
    waiting: list[Future[dict[str, Path]]] = []
    processes, target = min(processes, len(drawings) // FOR_A_PROCESS), folder / FIGURES
    with ProcessPoolExecutor(processes, get_context("spawn")) if processes > 1 else nullcontext() as pool:
        for name, (caption, draw) in drawings.items():
            progress(f"drawing {name}")
            figure, robot = draw(), name.startswith("timelapse")
            kinds = ("png", "pdf") if robot else ("png", "pdf", "svg")
            if pool is None:
                save(figure, target, name, kinds)
            else:
                waiting.append(pool.submit(save, figure, target, name, kinds))
            drawn[name] = Picture(figure, caption, target / f"{name}.{'png' if robot else 'svg'}")
        for one in waiting:
            one.result()
    return drawn


def write_report(
    report: Report, folder: Path, progress: Callable[[str], None] = lambda what: None, processes: int = 1
) -> Path:
    """Draw and save all figures into `folder`/figures, and write `folder`/report.html; its path.

    Args:
        report: what is written.
        folder: where it goes; made if need be.
        progress: called with what is being done.
        processes: how many save figures. With more than one, the program's main module must be importable, as a command
            is; a script of one's own needs the usual `if __name__ == "__main__"`.
    """
    pictures = drawn_pictures(report.drawings, folder, progress, processes)
    progress("writing the page")
    write_page(folder / REPORT, page(report.title, report.summary, report.sections(pictures), report.footer))
    return folder / REPORT


def scenario_title(scenario: Scenario) -> str:
    """What stands above figures of one scenario."""
    return f"{scenario.robot.name}, {scenario.motion.name}, leg policy {scenario.policy}"


def write_numbers(path: str | os.PathLike[str], header: Sequence[str], rows: Iterable[Sequence[str | float]]) -> None:
    """Write a table as CSV, whole or not at all; numbers to nine digits, headings with their units."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([cell if isinstance(cell, str) else f"{cell:.9g}" for cell in row])
    write_whole(path, text.getvalue())
