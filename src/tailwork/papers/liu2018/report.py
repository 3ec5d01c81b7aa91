"""Figures and report of Liu & Ben-Tzvi 2018."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from tailwork.papers.liu2018.experiments import Liu2018, compensation, desired_states
from tailwork.papers.report import PaperReport
from tailwork.simulation import Run
from tailwork.view.draw.picture import time_lapse
from tailwork.view.figures.runs import Panel, series
from tailwork.view.report.page import Drawings, Playback, Section

ANGLE_NAMES = {"phi_x": "pitch", "phi_y": "roll", "phi_z": "yaw", "tail.ta": "tail pitch", "tail.tb": "tail yaw"}


def figure_6(run: Run) -> Figure:
    """2018, Fig. 6: place, attitude and tail under the given torques."""
    times = run.data["time"].to_numpy()
    q = run.data["q"]
    panels = [
        Panel(f"{axis} [mm]", {"ours": (times, 1e3 * (q.sel(coordinate=axis).to_numpy() - start))})
        for axis, start in zip("xyz", run.model.robot.stand, strict=True)
    ]
    panels += [
        Panel(f"{said} [deg]", {"ours": (times, np.degrees(q.sel(coordinate=name).to_numpy()))})
        for name, said in ANGLE_NAMES.items()
    ]
    return series(panels, columns=4, title="2018, Fig. 6: torques given")


def figure_8(result: Liu2018) -> Figure:
    """2018, Fig. 8: with control, without, and the desired motion."""
    runs = {"open loop": result.open_loop, "with feedback": result.controlled}
    times = result.controlled.data["time"].to_numpy()
    names = result.controlled.model.coordinate_names
    wanted = np.degrees(desired_states(result.controlled.model, times)[0])
    panels = []
    for name, said in ANGLE_NAMES.items():
        lines = {"desired": (times, wanted[:, names.index(name)])}
        for label, run in runs.items():
            angle = np.degrees(run.data["q"].sel(coordinate=name).to_numpy())
            lines[label] = (run.data["time"].to_numpy(), angle)
        panels.append(Panel(f"{said} [deg]", lines))
    return series(panels, title="2018, Fig. 8: the pitch motion of Sect. 4.2 from rest")


def figure_9(result: Liu2018) -> Figure:
    """2018, Fig. 9: torques of the inverse model, and what feedback adds."""
    times = result.controlled.data["time"].to_numpy()
    runs = {"feed-forward with feedback": result.controlled, "computed torque": result.computed}
    required = np.abs(result.required).max(axis=-1)
    added = {label: (times[1:], compensation(run, result.required)[1:]) for label, run in runs.items()}
    panels = [
        Panel("largest torque [N m]", {"required": (times, required)}),
        Panel("largest compensation [N m]", added, log=True),
    ]
    return series(panels, columns=2, title="2018, Fig. 9: required and compensation torque")


SUMMARY = (
    "The quadruped of Liu & Ben-Tzvi 2018 with its pendulum tail. Numbers of the paper stand beside ours, with the "
    "reading chosen where the paper leaves one open. Leg policy: the torques that the paper gives."
)


def report(result: Liu2018) -> PaperReport:
    """Figures and text."""
    drawings: Drawings = {
        "figure-6": ("Motion under the torques of Sect. 4.1.", lambda: figure_6(result.forward)),
        "timelapse": (
            "The same run as pictures.",
            lambda: time_lapse({"pendulum": result.forward}, title="2018, Sect. 4.1"),
        ),
        "figure-8": ("The pitch motion from rest, with and without feedback.", lambda: figure_8(result)),
        "figure-9": ("Torques that the inverse model asks for, and what feedback adds.", lambda: figure_9(result)),
    }
    run = result.forward.titled("torques of Sect. 4.1")
    played = Playback({"pendulum": run}, "The torques of Sect. 4.1, to be played.")
    return PaperReport(SUMMARY, drawings, lambda drawn: [Section("Figures", "", list(drawn.values()), (), played)])
