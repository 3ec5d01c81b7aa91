"""One look for every picture: sizes, text, colours on light and dark paper, and files that are the same each time."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any

import matplotlib
import numpy as np
from matplotlib import rc_params_from_file
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from tailwork.files import ready_folder, write_whole
from tailwork.typing import Floats
from tailwork.view.scene.colors import INK, Look, mixed

COLUMN = 3.5  # width of a column of a paper [in]
PAGE = 7.2  # width of a page of a paper [in]

FAINT = "#6e7781"
RULE = "#e4e7eb"
WARNING = "#b3261e"

RC: Any = rc_params_from_file(Path(__file__).with_name("tailwork.mplstyle"), use_default_template=False)
"""Settings of matplotlib: the style sheet beside this module."""

METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"Creator": "tailwork", "Producer": None, "CreationDate": None},
    "svg": {"Creator": "tailwork", "Date": None},
}
"""What a file says of itself: no date and no version, so that the same picture is the same file."""
KINDS = tuple(METADATA)
DOTS_PER_INCH = 200

_settings = RLock()  # matplotlib keeps its settings in one place; threads draw one after the other
DARKEST = 0.1  # luminance below which a colour is made brighter on dark paper


@contextlib.contextmanager
def look() -> Iterator[None]:
    """While it lasts, matplotlib draws in our look; afterwards its settings are as before."""
    with _settings, matplotlib.rc_context(RC):
        yield


class PlainFigure(Figure):
    """A figure whose texts mean what they say: a $ in somebody's name of a robot begins no formula."""

    def draw(self, renderer: Any) -> None:
        """Draw all."""
        for text in self.findobj(Text):
            assert isinstance(text, Text)
            if "$" in text.get_text() and "mathdefault" not in text.get_text():  # which ticks of logarithms have
                text.set_parse_math(False)
        super().draw(renderer)


def new_figure(width: float, height: float) -> Figure:
    """An empty figure [in] that arranges itself."""
    return PlainFigure(figsize=(width, height), layout="constrained")


def arranged(figure: Figure, title: str = "", keys: Sequence[Artist] = ()) -> Figure:
    """The figure with a title above, a legend below, and its arrangement settled, so that all its files are alike."""
    titled(figure, title)
    if keys:
        figure.align_ylabels()
        legend_below(figure, keys)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def titled(figure: Figure, title: str) -> None:
    """A title above all panels, at the left; empty: none."""
    if title:
        figure.suptitle(title, x=0.01, ha="left")


def line_key(text: str, style: Look, **more: Any) -> Line2D:
    """The entry of a line in a legend."""
    return Line2D([], [], label=text, **style.stroke, **more)


def panel_grid(count: int, columns: int, width: float, row: float, more: float) -> tuple[Figure, list[Axes]]:
    """A figure so wide, with rows so high and some more [in], and its panels; what is left of the last row is empty."""
    rows = -(-count // columns)
    figure = new_figure(width, row * rows + more)
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in panels[count:]:
        axes.set_axis_off()
    return figure, panels[:count]


def color_bar(figure: Figure, drawn: Any, text: str, **more: Any) -> None:
    """What the colours of something drawn mean, as text with its unit."""
    bar = figure.colorbar(drawn, **more)
    bar.set_label(text)
    bar.outline.set_visible(False)  # type: ignore[operator]  # a spine, which is an artist


def legend_below(figure: Figure, handles: Sequence[Artist]) -> None:
    """One legend below all panels: in one row if there is room, else in as many columns as find some."""
    widths = [0.064 * len(str(handle.get_label())) + 0.55 for handle in handles]  # [in]
    columns = len(handles) if sum(widths) < figure.get_figwidth() else int(figure.get_figwidth() / max(widths))
    figure.legend(handles=list(handles), loc="outside lower center", ncols=max(1, columns))


def zero_line(axes: Axes) -> None:
    """A thin line at zero."""
    axes.axhline(0.0, color="#8c959f", linewidth=0.6, zorder=1)


def rendered(figure: Figure, kind: str, dpi: float = DOTS_PER_INCH) -> bytes:
    """The figure as the content of a file: "png" with so many dots an inch, "pdf" or "svg"."""
    memory = io.BytesIO()
    with look():
        figure.savefig(memory, format=kind, dpi=dpi, metadata=METADATA[kind], facecolor="auto")
    return memory.getvalue()


def save(figure: Figure, folder: str | os.PathLike[str], name: str, kinds: Sequence[str] = KINDS) -> dict[str, Path]:
    """Write name.png, name.pdf and name.svg, or some of them, into a folder, made if need be; their paths by kind."""
    ready_folder(folder)
    paths = {kind: Path(folder) / f"{name}.{kind}" for kind in kinds}
    for kind, path in paths.items():
        write_whole(path, rendered(figure, kind))
    return paths


@dataclass(frozen=True)
class Theme:
    """Colours of paper, text, grid, shadow and warnings."""

    paper: str
    ink: str
    faint: str
    rule: str
    shadow: str
    warning: str
    dark: bool = False

    def readable(self, color: str) -> str:
        """A colour of a scene as it is seen on this paper: on dark paper the darkest ones are made brighter."""
        return mixed(color, "#ffffff", 0.35) if self.dark and luminance(color) < DARKEST else color


LIGHT = Theme("#ffffff", INK, FAINT, RULE, "#dde1e6", WARNING)
DARK = Theme("#14181d", "#e3e7eb", "#9aa4ae", "#323a43", "#090b0e", "#ff8a80", dark=True)


def luminance(color: str) -> float:
    """Relative luminance of a colour, from 0 (black) to 1 (white), as the web's rules of contrast have it."""
    channels = np.array(to_rgb(color))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def blend(colors: Floats, other: str, share: Floats | float) -> Floats:
    """Colours (…, 3) with a share, one for all or one each, of another one."""
    share = np.asarray(share)[..., None]
    return (1.0 - share) * colors + share * np.array(to_rgb(other))


@contextlib.contextmanager
def drawing(theme: Theme) -> Iterator[None]:
    """While it lasts, matplotlib draws in our look on this paper."""
    inks = {name: theme.ink for name in ("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor")}
    papers = {name: theme.paper for name in ("figure.facecolor", "axes.facecolor", "savefig.facecolor")}
    with look(), matplotlib.rc_context(inks | papers | {"grid.color": theme.rule, "text.parse_math": False}):  # pyright: ignore[reportArgumentType]
        yield
