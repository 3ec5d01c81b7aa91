"""What the reports of all papers share (Liu & Ben-Tzvi, Nelson & Quinn, Biswal & Mohanty)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from tailwork.papers.claims import Claim
from tailwork.studies.compare.comparison import Progress
from tailwork.typing import Floats
from tailwork.view.draw.style import PAGE, RULE, arranged, legend_below, look, new_figure, titled, zero_line
from tailwork.view.report.page import REPORT, Drawings, Picture, Section, Table, drawn_pictures, page, write_page


def claim_table(claims: Sequence[Claim]) -> Table:
    """Paper and ours side by side."""
    header = ("quantity", "paper", "ours", "note")
    return Table(header, [(c.quantity, c.paper, c.ours, c.reading) for c in claims])


def pictures(drawings: Drawings, folder: Path, progress: Progress, processes: int = 1) -> dict[str, Picture]:
    """Figures drawn and saved, by file name."""
    return drawn_pictures(drawings, folder, lambda what: progress(0, 1, what), processes)


def write_page_of(
    title: str, summary: str, claims: Sequence[Claim], sections: Sequence[Section], folder: Path, footer: str = ""
) -> Path:
    """Write the report of a paper, which starts with its claims; its path."""
    first = Section("Paper and ours", "", (), [claim_table(claims)])
    write_page(folder / REPORT, page(f"{title}, reproduced", summary, [first, *sections], footer))
    return folder / REPORT


def panels_over_time(
    times: Floats, panels: Mapping[str, Mapping[str, ArrayLike]], styles: Mapping[str, Mapping[str, Any]], *,
    xlabel: str, title: str, ylabel: str = "", stance: float | None = None,
) -> Figure:  # fmt: skip
    """Panels side by side, each with the same lines over time.

    Args:
        times: of all lines, in the unit of `xlabel`.
        panels: values by panel and line.
        styles: of the lines; their labels stand in the legend.
        xlabel: below each panel.
        title: above all of them.
        ylabel: of all panels, which then share their axis and have titles; "": each panel's name is its own.
        stance: how long the foot stands in the gait, shaded; None: no gait.
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
