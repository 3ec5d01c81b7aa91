"""What the reports of all papers share (Liu & Ben-Tzvi, Nelson & Quinn, Biswal & Mohanty)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from tailwork.papers.claims import Claim
from tailwork.studies.compare.comparison import Progress
from tailwork.typing import Floats
from tailwork.view.draw.style import PAGE, RULE, arranged, legend_below, look, new_figure, titled, zero_line
from tailwork.view.report.page import Drawings, Picture, Playback, Report, Section, Table, write_numbers, write_report


def claim_table(claims: Sequence[Claim]) -> Table:
    """Paper and ours side by side."""
    header = ("quantity", "paper", "ours", "note")
    return Table(header, [(c.quantity, c.paper, c.ours, c.reading) for c in claims])


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
        first = Section("Paper and ours", "", (), [claim_table(claims)])
        header = ("in the paper", "what it shows", "its counterpart here")
        last = Section("Figures and tables of the paper", "", (), [Table(header, self.counterparts)], folded=True)
        opening = [Section("", playback=self.playback), Section("", self.summary)]
        whole = Report(
            f"{title}, reproduced", self.conclusion, self.drawings,
            lambda drawn: [*opening, first, *self.sections(drawn), last], self.footer,
        )  # fmt: skip
        return write_report(whole, folder, lambda what: progress(0, 1, what), processes)


def panels_over_time(
    times: Floats, panels: Mapping[str, Mapping[str, ArrayLike]], styles: Mapping[str, Mapping[str, Any]], *,
    xlabel: str, title: str, ylabel: str = "", stance: float | None = None,
) -> Figure:  # fmt: skip
    """Panels side by side, each with the same lines over time, in the unit of `xlabel`; values by panel and line.

    With a `ylabel`, panels share their axis and have titles. A `stance`, how long the foot stands, is shaded.
    """
    with look():
        figure = new_figure(PAGE, 2.8)
        row = figure.subplots(1, len(panels), sharex=True, sharey=bool(ylabel))
        for axes, (name, lines) in zip(row, panels.items(), strict=True):
            if stance is not None:
                axes.axvspan(0.0, stance, color=RULE, alpha=0.6, linewidth=0.0, zorder=0.4, gid="stance")
                zero_line(axes)
            for line, values in lines.items():
                axes.plot(times, values, gid=line, **styles[line])
            axes.set(xlabel=xlabel, **({"title": name} if ylabel else {"ylabel": name}))
        if ylabel:
            row[0].set_ylabel(ylabel)
        titled(figure, title)
        keys = [Line2D([], [], **style) for style in styles.values()]
        if stance is not None:
            keys.append(Line2D([], [], color=RULE, linewidth=6.0, label="stance in the gait"))
        legend_below(figure, keys)
        return arranged(figure)
