"""Panels on a sheet of paper, placed in inches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailwork.typing import Floats

HEAD, TITLE, TIME, GAP, EDGE = 0.3, 0.24, 0.18, 0.14, 0.06  # heights of titles and times, distances [in]


@dataclass(frozen=True)
class Sheet:
    """A figure, measured in inches from its upper left corner, whose panels all show the same part of the world."""

    figure: Figure
    low: Floats  # lower left corner of each panel, on the sheet of the camera [m]
    high: Floats

    def panel(self, left: float, top: float, width: float, way: Floats | float = 0.0) -> Axes:
        """An empty panel without axes; the eye has gone so far from where it was (2,) [m]."""
        wide, tall = self.figure.get_size_inches()
        height = width * aspect(self.low, self.high)
        axes = self.figure.add_axes((left / wide, 1.0 - (top + height) / tall, width / wide, height / tall))
        axes.set_axis_off()
        show_part(axes, self.low, self.high, way)
        return axes

    def write(self, left: float, top: float, text: str, **style: Any) -> None:
        """Text that hangs from a place."""
        wide, tall = self.figure.get_size_inches()
        self.figure.text(left / wide, 1.0 - top / tall, text, va="top", **style)


def aspect(low: Floats, high: Floats) -> float:
    """Height over width."""
    wide, tall = high - low
    return float(tall / wide)


def show_part(axes: Axes, low: Floats, high: Floats, way: Floats | float = 0.0) -> None:
    """Show the part of the world between two corners (2,), so far from there (2,) [m]."""
    (left, lower), (right, upper) = low + way, high + way
    axes.set(xlim=(left, right), ylim=(lower, upper))
