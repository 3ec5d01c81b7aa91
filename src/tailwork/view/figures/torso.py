"""How the torso answers to its tail: angles and their rates over time (Liu & Ben-Tzvi 2020, Figs. 9, 11, 14)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from tailwork.simulation import Run
from tailwork.simulation.pose import TURNS, torso_angles, torso_rates
from tailwork.view.draw.style import PAGE, arranged, legend_below, line_key, look, new_figure, titled, zero_line
from tailwork.view.figures.stops import folded, mark_stop, stop_note
from tailwork.view.scene.colors import looks, shown

LEAST_SPAN = (0.2, 2.0)
"""Of the axes of angles [deg] and rates [deg/s]."""


def torso_response(runs: Mapping[str, Run], *, title: str = "") -> Figure:
    """Pitch, roll and yaw [deg] above, their rates [deg/s] below, over time [ms]; one line a tail.

    A run that stopped early ends in a cross, and the legend says when and why.
    """
    notes = {label: stop_note(run) for label, run in runs.items()}
    with look():
        figure = new_figure(PAGE, 3.6 + 0.17 * len(list(filter(None, notes.values()))))
        axes = figure.subplots(2, 3, sharex=True)
        keys = []
        for label, style in looks(runs).items():
            run, note = runs[label], notes[label]
            times = run.data["time"].to_numpy() * 1e3
            for row, values in zip(axes, (torso_angles(run), torso_rates(run)), strict=True):
                for place, name in zip(row, TURNS, strict=True):
                    degrees = np.degrees(values[name])
                    place.plot(times, degrees, color=style.color, linestyle=style.line, label=shown(label))
                    if note:
                        mark_stop(place, times[-1], degrees[-1], style.color)
            text = folded(f"{shown(label)}, {note}") if note else shown(label)
            keys.append(line_key(text, style, marker="x" if note else None))
        for row, least in zip(axes, LEAST_SPAN, strict=True):
            for place in row:
                zero_line(place)
                low, high = place.get_ylim()
                if high - low < least:  # rounding is not blown up
                    place.set_ylim((low + high - least) / 2, (low + high + least) / 2)
        for top, bottom, name in zip(*axes, TURNS, strict=True):
            top.set_ylabel(f"{name} [deg]")
            bottom.set_ylabel(f"{name} rate [deg/s]")
            bottom.set_xlabel("time [ms]")
        figure.align_ylabels()
        titled(figure, title)
        legend_below(figure, keys)
        return arranged(figure)
