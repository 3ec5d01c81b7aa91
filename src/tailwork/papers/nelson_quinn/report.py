"""Figures and report of the experiments of Nelson & Quinn, in the paper's centimetres, grams and seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tailwork.format import fixed
from tailwork.papers.nelson_quinn import experiments as paper
from tailwork.papers.nelson_quinn.experiments import NelsonQuinn, RestPosture, efforts_by_leg, walking_gait
from tailwork.papers.report import PaperReport, panels_over_time
from tailwork.view.draw.style import FAINT, PAGE, arranged, legend_below, look, new_figure, titled
from tailwork.view.figures.walking import footfall, stride_pictures, torso_travel
from tailwork.view.report.page import WALK_SAMPLES, Drawings, Picture, Playback, Section, Table
from tailwork.view.scene.colors import BLUE, LINES, VERMILION

MILLINEWTON = 1e-3  # N
SOFT, HARD = "ours", "ours, on stiffer ground"
EFFORT = "torque effort [(mN cm)²]"


def table_1(result: NelsonQuinn) -> tuple[tuple[str, ...], list[tuple[float, ...]]]:
    """Table 1 beside ours: headings, and rows of numbers."""
    header = (
        "joint stiffness [dyn cm/rad]", "mean error, paper [deg]", "mean error, ours [deg]",
        "front legs, paper [(mN cm)²]", "front legs, ours [(mN cm)²]", "all legs, ours [(mN cm)²]",
        "horizontal over vertical, ours",
    )  # fmt: skip
    rows = [
        (row.stiffness, error, row.error, effort, row.front_effort, float(row.efforts.sum()), row.sideways)
        for row, error, effort in zip(result.rows, paper.PAPER_ERRORS, paper.PAPER_EFFORTS, strict=True)
    ]
    return header, rows


def table_1_shown(result: NelsonQuinn) -> Table:
    """Table 1 for readers."""
    header, rows = table_1(result)
    header = [name.replace("mN cm", "mN\u00a0cm") for name in header]  # a unit is not broken in two
    forms = (".1e", ".3f", ".3f", ".1f", ".1f", ".1f", ".2f")
    return Table(header, [[f"{x:{form}}" for x, form in zip(row, forms, strict=True)] for row in rows])


def impulse_table(result: NelsonQuinn) -> Table:
    """Longitudinal impulses of a stance beside the paper's, and those of the whole stride."""
    header = ("leg", "paper, stance", "ours, stance", "least", "greatest", "ours, stride")
    rows = []
    for row in paper.ROWS:
        stance, stride = (x[row] / paper.G_CM_PER_S for x in (result.reactions.stance, result.reactions.stride))
        numbers = (paper.PAPER_IMPULSES[row], stance.mean(), stance.min(), stance.max(), stride.mean())
        rows.append([row, *(fixed(x, 1, signed=True) for x in numbers)])
    return Table(
        header, rows, "Longitudinal impulses [g cm/s], over all strides but the first few; left and right leg together."
    )


def mode_table(result: NelsonQuinn) -> Table:
    """Oscillations of the body on three legs."""
    rows = [[mode.coordinate, f"{mode.frequency:.0f}", f"{mode.damping:.3f}",
             f"{mode.frequency * paper.DUTY / paper.FREQUENCY:.1f}"] for mode in result.modes]  # fmt: skip
    said = "The six slowest free oscillations of the body on one tripod, with the servos of the walk."
    return Table(("mostly", "frequency [Hz]", "damping ratio", "periods in a stance"), rows, said)


def damping_table(result: NelsonQuinn) -> Table:
    """Peaks of the vertical force and impulses of the stance against the damping of the joints."""
    header = (
        "damping [dyn cm s/rad]",
        *(f"{row}: peaks" for row in paper.ROWS),
        *(f"{row}: impulse" for row in paper.ROWS),
    )
    rows = []
    for kd, found in result.damped.items():
        impulses = (found.stance[row].mean() / paper.G_CM_PER_S for row in paper.ROWS)
        peaks = (str(paper.force_peaks(found, row)) for row in paper.ROWS)
        rows.append([f"{kd:g}", *peaks, *(fixed(x, 1, signed=True) for x in impulses)])
    said = "Maxima of the mean vertical force in a stance, and longitudinal impulses of the stance [g cm/s]."
    return Table(header, rows, said)


def numbers(result: NelsonQuinn) -> dict[str, tuple[Sequence[str], list[Any]]]:
    """By file: Table 1, the sweep behind the curves, and the reactions over a stride."""
    swept = ("joint stiffness [dyn cm/rad]", "ground stiffness [dyn/cm]", "mean error [deg]", "front legs [(mN cm)²]",
             "all legs [(mN cm)²]", "horizontal over vertical")  # fmt: skip
    sweeps = [
        (s.stiffness, ground, s.error, s.front_effort, float(s.efforts.sum()), s.sideways)
        for ground, sweep in ((4e5, result.sweep), (1e6, result.stiff_ground))
        for s in sweep
    ]
    found = result.reactions
    forces = [found.force[row] / MILLINEWTON for row in paper.ROWS]
    ways = (f"{row} {way} [mN]" for row in paper.ROWS for way in ("forward", "outward", "up"))
    over_time = np.hstack([1e3 * found.share[:, None] / paper.FREQUENCY, *forces]).tolist()
    return {
        "table-1.csv": table_1(result),
        "sweep.csv": (swept, sweeps),
        "reactions.csv": (("time from touch-down [ms]", *ways), over_time),
    }


def effort_figure(result: NelsonQuinn) -> Figure:
    """Table 1 as a curve: torque effort of the front legs against how far the joints give way."""
    with look():
        figure = new_figure(PAGE, 3.1)
        axes = figure.subplots()
        for label, sweep, style in _sweeps(result):
            axes.plot([s.error for s in sweep], [s.front_effort for s in sweep], gid=label, **style)
        axes.plot(
            [s.error for s in result.rows], [s.front_effort for s in result.rows], linestyle="none", marker="o",
            color=BLUE, gid="rows",
        )  # fmt: skip
        axes.plot(paper.PAPER_ERRORS, paper.PAPER_EFFORTS, linestyle="none", marker="s", color=VERMILION, gid="paper")
        axes.set(xscale="log", xlabel="mean position error of the joints [deg]", ylabel=f"front legs, {EFFORT}")
        for place, text in ((0.01, "← stiff joints"), (0.99, "soft joints →")):
            axes.text(place, 0.04, text, transform=axes.transAxes, color=FAINT, ha="left" if place < 0.5 else "right")
        titled(figure, "Table 1: torque effort in stance")
        keys = [Line2D([], [], linestyle="none", marker="s", color=VERMILION, label="paper")]
        legend_below(figure, keys + _keys(result, marker="o"))
        return arranged(figure)


def stiffness_figure(result: NelsonQuinn) -> Figure:
    """Effort of all legs, and how much the feet push sideways, against the stiffness of the joints."""
    least = float(efforts_by_leg(result.least.torques).sum())
    with look():
        figure = new_figure(PAGE, 2.9)
        effort, share = figure.subplots(1, 2)
        for label, sweep, style in _sweeps(result):
            stiffness = [s.stiffness for s in sweep]
            effort.plot(stiffness, [float(s.efforts.sum()) for s in sweep], gid=label, **style)
            share.plot(stiffness, [s.sideways for s in sweep], gid=label, **style)
        effort.axhline(least, color=VERMILION, linewidth=1.0, gid="least")
        effort.set_ylabel(f"all legs, {EFFORT}")
        share.set_ylabel("horizontal over vertical force [1]")
        share.set_ylim(0.0, None)
        for axes in (effort, share):
            axes.set(xscale="log", xlabel="joint stiffness [dyn cm/rad]")
        titled(figure, "Stiff joints, soft joints")
        keys = [
            Line2D([], [], color=VERMILION, linewidth=1.0, label=f"least torques that hold the posture, {least:.1f}")
        ]
        legend_below(figure, _keys(result) + keys)
        return arranged(figure)


def reaction_figure(result: NelsonQuinn) -> Figure:
    """Fig. 4: ground reactions of a front, a middle and a hind leg over a stride."""
    found = result.reactions
    panels = {}
    for row in paper.ROWS:
        impulses = found.stance[row].mean() / paper.G_CM_PER_S, paper.PAPER_IMPULSES[row]
        ours, theirs = (fixed(x, 1, signed=True) for x in impulses)
        force = found.force[row] / MILLINEWTON
        panels[f"{row} leg: {ours} g cm/s (paper {theirs})"] = {"vertical": force[:, 2], "longitudinal": force[:, 0]}
    styles = {
        "vertical": {"color": FAINT, "linestyle": LINES[1], "label": "vertical"},
        "longitudinal": {"color": BLUE, "label": "longitudinal (forward is positive)"},
    }
    return panels_over_time(
        1e3 * found.share / paper.FREQUENCY, panels, styles, xlabel="time from touch-down [ms]",
        title="Fig. 4: ground reactions over a stride, and longitudinal impulses", ylabel="ground reaction [mN]",
        stance=1e3 * paper.DUTY / paper.FREQUENCY,
    )  # fmt: skip


def _sweeps(result: NelsonQuinn) -> list[tuple[str, tuple[RestPosture, ...], dict[str, Any]]]:
    return [
        (SOFT, result.sweep, {"color": BLUE}),
        (HARD, result.stiff_ground, {"color": BLUE, "linewidth": 0.8, "linestyle": LINES[1]}),
    ]


def _keys(result: NelsonQuinn, **more: Any) -> list[Line2D]:
    (soft, _, first), (hard, _, second) = _sweeps(result)
    return [Line2D([], [], label=soft, **first, **more), Line2D([], [], label=hard, **second)]


SUMMARY = (
    "The cockroach of Nelson & Quinn: a body and six legs of five hinges each, 36 degrees of freedom. It stands with "
    "joints that give way, and it walks. The paper took masses and lengths from the animal and joint angles from "
    "video, and prints none of these. Masses and lengths here are estimates from the literature, and a tripod gait at "
    "constant speed stands in for the video. So shapes and signs are to be compared rather than digits."
)
STANDING_TEXT = """
A standing cockroach has far more joints than it needs to stand. Many sets of joint torques hold it up; they differ in
how the feet push against each other through the ground. Each joint is a spring here, and the mean position error says
how far it gives way. Torque effort is the sum of the squared torques.

Very stiff joints do not give way, but the ground does, a little: the feet sink straight down, the ground pushes
straight up, and the joints bear the full lever arms of the feet. Softer joints give way instead of the ground: the body
settles, the legs spread, and the ground pushes the feet back towards the body. Such a force passes closer to the
joints, and their torques drop. Springs of equal stiffness share a load so that the sum of the squared torques is least,
which is why the effort falls towards the least one that can hold the posture (the red line). Joints that are softer
still let the posture itself sag, and the effort rises again. That is the minimum that the paper found.
"""
WALKING_TEXT = """
In a steady walk nothing is gained or lost over a stride, so braking and driving must add up to nothing. They are shared
unevenly: the front legs brake, the hind legs drive, and the middle legs first brake, then drive. The impulse is the
area under the longitudinal force over the stance interval, as in the paper; here that is the interval in which the
gait plans the foot to stand. Feet also scuff before it and after it, because the loaded body is lower than planned: the
value of the whole stride counts that in. How large the impulses are depends on the damping of the joints and on
friction, which the paper does not print.

The force of a stance has several peaks. They are the body ringing on its legs: held by the joints' servos, it is a mass
on springs with little damping, and each touch-down strikes it. The tables below show how many periods of these
oscillations a stance lasts, and that joints with more damping have fewer peaks. The damping of the walk is kept low
because more of it drives the middle legs forward, which the paper and the animal do not show.
"""
COUNTERPARTS = (
    ("Fig. 1", "the modelled leg and body, all angles zero (sketch)", "robot blaberus: `tailwork show blaberus`"),
    ("Fig. 2", "the same in a general position (sketch)", "the player above shows all six legs as they walk"),
    ("Fig. 3", "the text does not mention it", "—"),
    ("Fig. 4", "ground reactions of a front, middle and back leg over a stance", "Walking: Fig. 4, reactions.csv"),
    ("Table 1", "torque effort in stance with various controllers", "Standing: Table 1, table-1.csv"),
)


def conclusion(result: NelsonQuinn) -> str:
    """What the reproduction shows, from its numbers."""
    impulse = {row: float(result.reactions.stance[row].mean()) / paper.G_CM_PER_S for row in paper.ROWS}
    said = ", ".join(f"{row} {fixed(impulse[row], 0, signed=True)} ({fixed(paper.PAPER_IMPULSES[row], 0, signed=True)})"
                     for row in paper.ROWS)  # fmt: skip
    least = min(result.sweep, key=lambda row: row.front_effort)
    best = int(np.argmin(paper.PAPER_EFFORTS))
    return (
        f"Walking, the front legs brake and the hind legs drive, as in the paper: longitudinal impulses of a stance in "
        f"g cm/s are {said}, the paper's in brackets. Standing, the torque effort of the front legs has a minimum: "
        f"{least.front_effort:.0f} (mN cm)² where joints give way by {least.error:.2f}° in the mean; the paper's is "
        f"{paper.PAPER_EFFORTS[best]:.0f} at {paper.PAPER_ERRORS[best]:.2f}°."
    )


def report(result: NelsonQuinn) -> PaperReport:
    """Tables, figures and text."""
    gait, end, table = walking_gait(), result.walk.duration, table_1_shown(result)
    drawings: Drawings = {
        "table-1": (
            "Squares: the paper's Table 1, whose unit is taken as (mN cm)². Dots: ours, with joint stiffnesses chosen "
            "for the paper's errors. Lines: all stiffnesses between; dashed, on ground of 1e6 instead of 4e5 dyn/cm.",
            lambda: effort_figure(result),
        ),
        "stiffness": (
            "Left: effort of all legs. Red: the least torques that hold the undeformed posture, over all ways to share "
            "the weight. Right: of the six feet, the largest horizontal force as a share of the vertical one; with "
            "stiff joints it goes to zero.",
            lambda: stiffness_figure(result),
        ),
        "figure-4": (
            "Mean over strides and over left and right leg. In the titles: longitudinal impulse over the stance, which "
            f"is shaded. The first {paper.SETTLING} strides are left out.",
            lambda: reaction_figure(result),
        ),
        "footfall": (
            "The last three strides. Feet scuff before they are to stand: loaded, the body is lower than the gait "
            "plans. They slip mostly then, and when they leave.",
            lambda: footfall(
                result.walk, window=(end - 3 * gait.period, end), gait=gait, title="Footfall of the tripod walk"
            ),
        ),
        "timelapse-walk": (
            "The last stride, from the side and from above; the eye goes along.",
            lambda: stride_pictures(result.walk, gait, title="A stride of the tripod walk"),
        ),
        "torso": (
            "Height of the body's origin above the ground, speed, pitch and roll of the body.",
            lambda: torso_travel(
                result.walk, gait, settling=paper.SETTLING, unit="cm", title="The body over the walk"
            ),
        ),
    }  # fmt: skip
    walk_said = (
        f"Tripod gait: {100 * paper.SPEED:g} cm/s, {paper.FREQUENCY:g} Hz, each foot on the ground {paper.DUTY:.0%} of "
        f"the stride, lifted by {1e3 * paper.LIFT:g} mm."
    )
    played = Playback({"cockroach": result.walk}, "The walk, to be played.", samples=WALK_SAMPLES)

    def sections(drawn: Mapping[str, Picture]) -> list[Section]:
        return [
            Section("Standing: Table 1", STANDING_TEXT, [drawn["table-1"], drawn["stiffness"]], [table]),
            Section(
                "Walking: Fig. 4",
                f"{walk_said}\n{WALKING_TEXT}",
                [drawn["figure-4"]],
                [impulse_table(result), mode_table(result), damping_table(result)],
            ),
            Section("The walk", "", [drawn[name] for name in ("footfall", "timelapse-walk", "torso")]),
        ]

    footer = (
        "Numbers behind the figures: table-1.csv, sweep.csv, reactions.csv; runs/settled.nc and runs/walk.nc hold the "
        f"simulations. Momentum balances in the walk to {result.walk.momentum_balance_error():.1e} of the weight's "
        "impulse. Made by tailwork."
    )
    shown = {"Table 1: standing with joints of various stiffness": table}
    return PaperReport(
        conclusion(result), SUMMARY, drawings, sections, shown, numbers(result), footer, played, COUNTERPARTS
    )
