"""Plots on one person's page. What is already there gets other data, and is not built again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from viser import GuiApi

from tailwork.typing import Floats
from tailwork.view.scene import Curve, Plot, Scene
from tailwork.view.scene.colors import LINES

KEYS = ("pitch", "roll", "yaw", "tail torques", "tail tensions", "normal force")
"""The plots of a scene that are shown, in this order."""
WIDTH = 2  # of a line [px]
HEIGHT = 140  # of a plot [px]
PADDING = (8, 24, 0, 0)  # of a plot: above, right, below, left [px]
PAD = 0.05  # above and below the curves, as a share of their height
LEAST = {"°": 0.05, "N m": 1e-3, "N": 1e-2}
"""By unit: a plot reaches at least this far either side of zero, so that rounding is not blown up to its height."""


@dataclass(frozen=True, eq=False)
class LiveChart:
    """What a plot shows: curves over common times."""

    title: str
    times: Floats  # [ms]
    curves: tuple[Curve, ...]
    values: tuple[Floats, ...]  # by curve, at the times; NaN where a run has ended
    least: float  # how far it reaches at least either side of zero


def charts_of(scenes: Sequence[Scene]) -> list[LiveChart]:
    """The plots of all scenes: shared ones hold a curve each, of others there is one a scene."""
    found: list[LiveChart] = []
    for key in KEYS:
        having = [(scene, plot) for scene in scenes for plot in scene.plots if plot.key == key]
        if having and having[0][1].shared:
            found.append(_chart(having[0][1].title, having))
        else:
            found += [_chart(f"{plot.title}, {scene.label}", [(scene, plot)]) for scene, plot in having]
    return found


def _chart(title: str, plots: Sequence[tuple[Scene, Plot]]) -> LiveChart:
    longest = max((scene.times for scene, _ in plots), key=lambda times: float(times[-1]))
    curves = tuple(curve for _, plot in plots for curve in plot.curves)
    values = tuple(
        np.interp(longest, scene.times, curve.values, right=np.nan) for scene, plot in plots for curve in plot.curves
    )
    unit = plots[0][1].unit
    return LiveChart(f"{title} [{unit}]", 1e3 * longest, curves, values, LEAST.get(unit, 0.0))


class Charts:
    """The plots, in the container in which they are made."""

    def __init__(self, api: GuiApi, container: Any) -> None:
        self._api, self._container = api, container
        self._plots: list[Any] = []
        self._kinds: list[Any] = []

    def show(self, scenes: Sequence[Scene]) -> None:
        """The plots of these scenes."""
        charts = charts_of(scenes)
        kinds = [tuple((curve.name, curve.color, curve.dash) for curve in chart.curves) for chart in charts]
        if kinds != self._kinds:
            for plot in self._plots:
                plot.remove()
            with self._container:
                self._plots = [self._made(chart) for chart in charts]
            self._kinds = kinds
            return
        for plot, chart in zip(self._plots, charts, strict=True):
            if not all(map(np.array_equal, plot.data, _data(chart))):
                plot.data = _data(chart)
            if plot.scales != _scales(chart):  # which builds it anew
                plot.scales = _scales(chart)
            if plot.title != chart.title:
                plot.title = chart.title

    def _made(self, chart: LiveChart) -> Any:
        series: list[Any] = [{"label": "ms"}]
        for curve in chart.curves:
            line = {"label": curve.name, "stroke": curve.color, "width": WIDTH, "points": {"show": False}}
            series.append(line | ({"dash": _dashes(curve.dash)} if curve.dash else {}))
        small, label = {"font": "11px sans-serif"}, {"labelFont": "11px sans-serif", "labelSize": 28, "labelGap": 0}
        axes: Any = ({"size": 22, "gap": 1, "label": "time [ms]"} | small | label, {"size": 44} | small)
        return self._api.add_uplot(
            _data(chart), tuple(series), title=chart.title, scales=_scales(chart), height=HEIGHT, padding=PADDING,
            axes=axes, legend={"show": True, "live": False},
            cursor={"sync": {"key": "lab"}},
        )  # fmt: skip


def _dashes(number: int) -> tuple[float, ...]:
    """Dashes and gaps of a line style [px]."""
    _, lengths = LINES[number]
    return tuple(WIDTH * length for length in lengths)


def _data(chart: LiveChart) -> tuple[Floats, ...]:
    return (chart.times, *chart.values)


def _scales(chart: LiveChart) -> dict[str, Any]:
    if all(np.isfinite(values).all() for values in chart.values):
        low, high = ({"pad": PAD, "soft": side * chart.least, "mode": 1} for side in (-1.0, 1.0))
        return {"x": {"time": False}, "y": {"range": {"min": low, "max": high}}}
    # With NaN among its values, a plot that looks for their range itself would stay blank.
    low, high = min(-chart.least, float(np.nanmin(chart.values))), max(chart.least, float(np.nanmax(chart.values)))
    room = PAD * (high - low)
    return {"x": {"time": False}, "y": {"range": (low - room, high + room)}}
