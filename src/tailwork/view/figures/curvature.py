"""How well tails follow the curvature asked of them (Liu & Ben-Tzvi 2020, Figs. 15, 16)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from tailwork.errors import UnknownNameError
from tailwork.typing import Floats
from tailwork.view.draw.style import COLUMN, arranged, legend_below, line_key, look, new_figure, titled, zero_line
from tailwork.view.scene.colors import looks, shown

BAND = {"color": "#c3cad2", "linewidth": 3.6}
"""How the desired curvature is drawn: a broad pale line under the others."""


def curvature_tracking(
    times: ArrayLike | Mapping[str, ArrayLike],
    desired: Mapping[str, ArrayLike],
    actual: Mapping[str, ArrayLike],
    *,
    title: str = "",
) -> Figure:
    """Curvatures [1/m] over time [ms] above, actual less desired below.

    Args:
        times: of the samples [s]; by "tail, segment" where lines have times of their own (runs of different lengths).
        desired: by "tail, segment": curvature asked for [1/m].
        actual: by "tail, segment": curvature found [1/m]; may end early (fewer samples).
        title: above the panels.
    """
    with look():
        figure = new_figure(COLUMN, 3.9)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        keys = [Line2D([], [], label="desired", **BAND)]
        drawn: list[tuple[Floats, Floats]] = []
        for label, style in looks(actual).items():
            if label not in desired:
                raise UnknownNameError.among("desired", label, desired, "line")
            found, wanted = (np.asarray(lines[label], dtype=float) for lines in (actual, desired))
            milliseconds = np.asarray(times[label] if isinstance(times, Mapping) else times, dtype=float) * 1e3
            asked = (milliseconds[: len(wanted)], wanted)
            if not any(all(map(np.array_equal, asked, other)) for other in drawn):  # most lines are asked the same
                above.plot(*asked, zorder=1.5, gid="desired", **BAND)
                drawn.append(asked)
            line = {"color": style.color, "linestyle": style.line}
            above.plot(milliseconds[: len(found)], found, label=shown(label), gid="actual", **line)
            below.plot(milliseconds[: len(found)], found - wanted[: len(found)], gid="error", **line)
            keys.append(line_key(shown(label), style))
        for axes in (above, below):
            zero_line(axes)
        above.set_ylabel("curvature [1/m]")
        below.set_ylabel("error [1/m]")
        below.set_xlabel("time [ms]")
        figure.align_ylabels()
        titled(figure, title)
        legend_below(figure, keys)
        return arranged(figure)
