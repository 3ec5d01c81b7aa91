"""What the reports of all papers share (Liu & Ben-Tzvi, Nelson & Quinn, Biswal & Mohanty)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tailwork.papers.claims import Claim
from tailwork.robots.robot import Robot
from tailwork.robots.tails.fit import tail_text
from tailwork.robots.tails.tail import tails_of
from tailwork.studies.compare.comparison import Progress
from tailwork.studies.possible import MARK
from tailwork.view.draw.style import RULE, arranged, look, panel_grid, zero_line
from tailwork.view.figures.runs import Panel
from tailwork.view.report.page import Drawings, Picture, Playback, Report, Section, Table, write_numbers, write_report

NARROW = 4.1  # [in]: a figure that is no wider is shown whole on a phone
SHADES = (RULE, "#c3cad2")


def sizes_text(robots: Iterable[Robot]) -> str:
    """Masses of robots, and masses and lengths of their tails, in words."""
    said = []
    for robot in robots:
        tails = ", ".join(tail_text(tail) for tail in tails_of(robot).values())
        said.append(f"{robot.name}, {float(robot.mass()):.3g} kg" + (f" with a tail: {tails}" if tails else ""))
    return f"Played above: {'; '.join(said)}." if said else ""


def claim_table(claims: Sequence[Claim], caption: str = "") -> Table:
    """Paper and ours side by side, numbers with minus signs."""
    rows = [[re.sub(r"(?<!\w)-(?=\d)", "−", said) for said in (c.quantity, c.paper, c.ours, c.reading)] for c in claims]
    note = f"{MARK} not possible on real ground: see the note beside it." if any(MARK in c.ours for c in claims) else ""
    return Table(("quantity", "paper", "ours", "note"), rows, caption, note)


@dataclass(frozen=True)
class PaperReport:
    """What the report of a paper shows, after its claims."""

    conclusion: str  # from the numbers, above all else
    summary: str  # what is reproduced, and how it is to be read
    drawings: Drawings  # captions and what draws the figures, by file name
    sections: Callable[[Mapping[str, Picture]], Sequence[Section]]  # from the pictures, by file name
    tables: Mapping[str, Table] = field(default_factory=dict)  # that the terminal shows, too, by title
    numbers: Mapping[str, tuple[Sequence[str], Iterable[Sequence[float]]]] = field(default_factory=dict)  # by CSV file
    footer: str = ""  # below all
    playback: Playback | None = None  # the run that the page opens with
    counterparts: Sequence[tuple[str, str, str]] = ()  # of the paper's figures and tables: number, what, where here

    def write_numbers(self, folder: Path) -> None:
        """Write the numbers behind the figures as CSV files."""
        for name, (header, rows) in self.numbers.items():
            write_numbers(folder / name, header, rows)

    def write(self, title: str, claims: Sequence[Claim], folder: Path, progress: Progress, processes: int) -> Path:
        """Write numbers, figures and `folder`/report.html; its path."""
        self.write_numbers(folder)
        played = self.playback.runs.values() if self.playback else ()
        first = Section("Paper and ours", "", (), [claim_table(claims, sizes_text(run.model.robot for run in played))])
        header = ("in the paper", "what it shows", "its counterpart here")
        last = Section("Figures and tables of the paper", "", (), [Table(header, self.counterparts)], folded=True)
        opening = [Section("", playback=self.playback), Section("", self.summary)]
        whole = Report(
            f"{title}, reproduced", self.conclusion, self.drawings,
            lambda drawn: [*opening, first, *self.sections(drawn), last], self.footer,
        )  # fmt: skip
        return write_report(whole, folder, lambda what: progress(0, 1, what), processes)


def panels_over_time(
    panels: Sequence[Panel], styles: Mapping[str, Mapping[str, Any]], *, title: str, columns: int = 1,
    height: float = 1.5, xlabel: str = "time [ms]", per_second: float = 1e3, ylabel: str = "", zero: bool = True,
    shaded: Mapping[str, Sequence[tuple[float, float]]] = MappingProxyType({}),
) -> Figure:  # fmt: skip
    """Panels over time, `height` [in] each; a label has the same line in all, and the unit of `xlabel` is `per_second`.

    With a `ylabel`, panels share their axis, and their quantities stand above them. `shaded`: by what it is, from when
    to when [s].
    """
    with look():
        figure, places = panel_grid(len(panels), columns, NARROW, height, 0.7)
        for k, (axes, panel) in enumerate(zip(places, panels, strict=True)):
            if ylabel and k:
                axes.sharey(places[0])
            for shade, spans in zip(SHADES, shaded.values(), strict=False):
                for start, end in spans:
                    axes.axvspan(per_second * start, per_second * end, color=shade, linewidth=0.0, zorder=0.4)
            if panel.log:
                axes.set_yscale("log")
            elif zero:
                zero_line(axes)
            for line, (times, values) in panel.lines.items():
                axes.plot(per_second * times, values, gid=line, **styles[line])
            axes.set(xlabel=xlabel if k + columns >= len(panels) else "", ylabel=ylabel or panel.quantity)
            if ylabel:
                axes.set_title(panel.quantity)
        keys = [Line2D([], [], **style) for style in styles.values()]
        for shade, name in zip(SHADES, shaded, strict=False):
            keys.append(Line2D([], [], color=shade, linewidth=6.0, label=name))
        return arranged(figure, title, keys)
