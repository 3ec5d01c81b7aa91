"""Figures and report of Liu & Ben-Tzvi 2018."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from matplotlib.figure import Figure

from tailwork.format import fixed
from tailwork.model import Model
from tailwork.model.model import LIU2018_REDUNDANT
from tailwork.papers.liu2018.experiments import Liu2018, compensation, desired_states, errors
from tailwork.papers.report import PaperReport
from tailwork.simulation import Run
from tailwork.typing import Floats
from tailwork.view.draw.picture import time_lapse
from tailwork.view.figures.runs import Panel, series
from tailwork.view.report.page import Drawings, Playback, Section

ANGLE_NAMES = {"phi_x": "pitch", "phi_y": "roll", "phi_z": "yaw", "tail.ta": "tail pitch", "tail.tb": "tail yaw"}


def _panels(runs: Mapping[str, tuple[Floats, Floats]], model: Model) -> list[Panel]:
    """Place from where the robot stands [mm], attitude and tail [deg]; by label: times and coordinates."""
    panels = []
    for k, name in enumerate(model.coordinate_names):
        scale, start = (1e3, model.robot.stand[k]) if k < 3 else (180.0 / np.pi, 0.0)
        lines = {label: (times, scale * (q[:, k] - start)) for label, (times, q) in runs.items()}
        panels.append(Panel(f"{name} [mm]" if k < 3 else f"{ANGLE_NAMES[name]} [deg]", lines))
    return panels


def figure_6(run: Run, others: Mapping[str, Floats] = MappingProxyType({})) -> Figure:
    """2018, Fig. 6: place, attitude and tail under the given torques; `others`: the same by other engines."""
    times = run.data["time"].to_numpy()
    lines = {"ours": (times, run.data["q"].to_numpy())}
    lines |= {label: (times, q) for label, q in others.items()}
    return series(_panels(lines, run.model), columns=4, title="2018, Fig. 6: torques given")


def figure_8(result: Liu2018) -> Figure:
    """2018, Fig. 8: with control, without, and the desired motion."""
    model, times = result.controlled.model, result.controlled.data["time"].to_numpy()
    lines = {"desired": (times, desired_states(model, times)[0])}
    for label, run in {"open loop": result.open_loop, "with feedback": result.controlled}.items():
        lines[label] = (run.data["time"].to_numpy(), run.data["q"].to_numpy())
    return series(_panels(lines, model), columns=4, title="2018, Fig. 8: the pitch motion of Sect. 4.2 from rest")


def figure_9(result: Liu2018) -> Figure:
    """2018, Fig. 9: the torque of every motor that the inverse model asks for, and what feedback adds to it."""
    times, names = result.controlled.data["time"].to_numpy(), result.controlled.model.actuator_names
    added = result.controlled.data["tau"].to_numpy() - result.required
    used = [k for k, name in enumerate(names) if name not in LIU2018_REDUNDANT]
    panels = [
        Panel(f"{names[k]} [N m]", {
            "required": (times, result.required[:, k]), "compensation": (times[1:], added[1:, k]),
            "required, all motors sharing": (times, result.least[:, k]),
        })
        for k in used
    ]  # fmt: skip
    return series(panels, columns=4, title="2018, Fig. 9: required and compensation torque")


def compensation_figure(result: Liu2018) -> Figure:
    """The largest compensation torque over time: it approaches zero."""
    times = result.controlled.data["time"].to_numpy()
    runs = {"feed-forward with feedback": result.controlled, "computed torque": result.computed}
    added = {label: (times[1:], compensation(run, result.required)[1:]) for label, run in runs.items()}
    return series([Panel("largest compensation [N m]", added, log=True)], columns=1, title="What feedback adds")


COUNTERPARTS = (
    ("Fig. 1", "kinematic configuration of the quadruped (sketch)", "documentation: Mechanics, the robot"),
    ("Fig. 2", "kinematic parameters of a leg (sketch)", "documentation: Mechanics, stance"),
    ("Fig. 3", "kinematic parameters of the tail (sketch)", "documentation: Mechanics, limbs"),
    ("Fig. 4", "a leg on the ground, a rigid bar (sketch)", "documentation: Mechanics, virtual work"),
    ("Table 1", "parameters of the quadruped", "robot liu2018: `tailwork show liu2018`"),
    ("Fig. 5", "3D model in Adams", "the player and the time-lapse of Sect. 4.1"),
    (
        "Fig. 6",
        "motion under given torques, Adams and Simulink",
        "Fig. 6: engine, tree with multipliers, MuJoCo where installed",
    ),
    ("Fig. 7", "feed-forward control scheme (sketch)", "law FeedForward of tailwork.control"),
    ("Fig. 8", "pitch motion with and without control", "Fig. 8: places and angles"),
    ("Fig. 9", "required and compensation torque", "Fig. 9: every motor, and what feedback adds"),
)
SUMMARY = (
    "The quadruped of Liu & Ben-Tzvi 2018 with its pendulum tail. Numbers of the paper stand beside ours, with the "
    "reading chosen where the paper leaves one open. Leg policy: the torques that the paper gives."
)


def conclusion(result: Liu2018) -> str:
    """What the reproduction shows, from its numbers."""
    early = result.forward.data["time"].to_numpy() <= 0.3
    apart = float(np.abs(result.second - result.forward.data["q"].to_numpy())[early].max())
    tracked = float(np.abs(errors(result.matched))[-1].max())
    off = float(
        np.interp(0.05, result.open_loop.data["time"].to_numpy(), np.abs(errors(result.open_loop)).max(axis=-1))
    )
    pull = result.matched.min_normal_force()
    return (
        f"Two formulations of the forward model agree to {apart:.0e} m or rad until 0.3 s. The torques of the inverse "
        f"model track the pitch motion to {tracked:.0e}° at 0.2 s if it starts with the desired velocity; from rest, "
        f"as the paper states, they are {off:.0f}° off at 50 ms. That start, and not the integrator, explains the "
        f"paper's deviation. The feet would have to pull with up to {fixed(-pull, 0)} N, which no ground lets them do."
    )


def report(result: Liu2018) -> PaperReport:
    """Figures and text."""
    others = {"tree with multipliers": result.second, **({} if result.third is None else {"MuJoCo": result.third})}
    drawings: Drawings = {
        "figure-6": (
            "Motion under the torques of Sect. 4.1, by the engine and by a second formulation in which every joint is "
            "a coordinate and multipliers hold the feet; and by MuJoCo, where it is installed.",
            lambda: figure_6(result.forward, others),
        ),
        "timelapse": (
            "The same run as pictures.",
            lambda: time_lapse({"pendulum": result.forward}, title="2018, Sect. 4.1"),
        ),
        "figure-8": ("The pitch motion from rest, with and without feedback.", lambda: figure_8(result)),
        "figure-9": (
            "Torques that the inverse model asks for with tau_p = 0, what feedback adds, and the smallest torques that "
            "do the same with all motors.",
            lambda: figure_9(result),
        ),
        "compensation": ("The largest compensation torque approaches zero.", lambda: compensation_figure(result)),
    }
    run = result.forward.titled("torques of Sect. 4.1")
    played = Playback({"pendulum": run}, "The torques of Sect. 4.1, to be played.")
    largest, least = (float(np.abs(torques).max()) for torques in (result.required, result.least))
    text = (
        f"With tau_p = 0 the inverse model asks for up to {largest:.0f} N m, from the abductions of the front legs, "
        "which work almost against each other: J_tau,a is near a singularity there, as the paper says. The allocation "
        f"needs it, not the motion: all 14 motors together do the same with at most {least:.0f} N m each."
    )
    return PaperReport(
        conclusion(result), SUMMARY, drawings, lambda drawn: [Section("Figures", text, list(drawn.values()))],
        playback=played, counterparts=COUNTERPARTS,
    )  # fmt: skip
