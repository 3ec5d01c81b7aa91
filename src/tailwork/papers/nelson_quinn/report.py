"""Figures and report of the experiments of Nelson & Quinn, in the paper's centimetres, grams and seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tailwork.format import fixed
from tailwork.papers.nelson_quinn import experiments as paper
from tailwork.papers.nelson_quinn.experiments import (
    NelsonQuinn,
    Reactions,
    RestPosture,
    efforts_by_leg,
    halves,
    sign_counts,
    walking_gait,
)
from tailwork.papers.report import NARROW, PaperReport, panels_over_time
from tailwork.view.draw.style import (
    FAINT,
    arranged,
    legend_below,
    look,
    new_figure,
    panel_grid,
    titled,
    zero_line,
)
from tailwork.view.figures.runs import Panel
from tailwork.view.figures.walking import footfall, stride_pictures, torso_travel
from tailwork.view.report.page import WALK_SAMPLES, Drawings, Picture, Playback, Section, Table
from tailwork.view.scene.colors import BLUE, INK, LINES, SKY, VERMILION

MILLINEWTON = 1e-3  # N
SOFT, HARD = "ours", "ours, on stiffer ground"
EFFORT = "torque effort [(mN cm)²]"
GAIN_STYLES: tuple[dict[str, Any], ...] = (
    {"color": SKY, "linestyle": LINES[1]}, {"color": BLUE}, {"color": INK, "linestyle": LINES[2]},
)  # fmt: skip
MOSTLY = 0.5
"""Share of the strides from which on both tripods are said to touch."""


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
    """Longitudinal impulses of a leg beside the paper's."""
    header = ("leg", "paper", "all contact", "until mid-stance", "after it", "planned stance")
    found, rows = result.reactions, []
    for row in paper.ROWS:
        own = found.stride[row].mean(), *halves(found, row), found.stance[row].mean()
        rows.append([paper.PAPER_IMPULSES[row], *(x / paper.G_CM_PER_S for x in own)])
    rows.append([sum(column) for column in zip(*rows, strict=True)])
    said = "Longitudinal impulses [g cm/s], mean over left and right leg and over all strides but the first few."
    cells = [
        [name, *(fixed(x, 1, signed=True) for x in row)] for name, row in zip((*paper.ROWS, "sum"), rows, strict=True)
    ]
    return Table(header, cells, said)


def mode_table(result: NelsonQuinn) -> Table:
    """Oscillations of the body on three legs."""
    rows = [[mode.coordinate, f"{mode.frequency:.0f}", f"{mode.damping:.3f}",
             f"{mode.frequency * paper.DUTY / paper.FREQUENCY:.1f}"] for mode in result.modes]  # fmt: skip
    said = "The six slowest free oscillations of the body on one tripod, with the servos of the walk."
    return Table(("mostly", "frequency [Hz]", "damping ratio", "periods in a stance"), rows, said)


def peak_table(result: NelsonQuinn) -> Table:
    """Peaks of the vertical force against the gains of the joints."""
    header = ("stiffness", "damping", "least damping ratio", *paper.ROWS, "of these, both tripods down")
    rows = []
    for kp, by_damping in result.by_gains.items():
        for kd, found in by_damping.items():
            ratio = min(mode.damping for mode in paper.body_modes(kd * paper.DYN_CM, kp * paper.DYN_CM))
            peaks = {row: paper.force_peaks(found, row) for row in paper.ROWS}
            down = sum(int((np.interp(times, found.share, found.both) >= MOSTLY).sum()) for times in peaks.values())
            rows.append([f"{kp:g}", f"{kd:g}", f"{ratio:.3f}", *(str(len(x)) for x in peaks.values()), str(down)])
    said = (
        "Peaks of the mean vertical force in the stance of the gait: maxima of more than a tenth of the largest. "
        "Stiffness [dyn cm/rad] and damping [dyn cm s/rad] of the joints."
    )
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
    contact, planned = ([f"{row}, {what} [g cm/s]" for row in paper.ROWS] for what in ("all contact", "planned stance"))
    gains = [
        (kp, kd, *(float(impulse[row].mean()) / paper.G_CM_PER_S for impulse in (own.stride, own.stance)
                   for row in paper.ROWS))
        for kp, by_damping in result.by_gains.items()
        for kd, own in by_damping.items()
    ]  # fmt: skip
    return {
        "table-1.csv": table_1(result),
        "sweep.csv": (swept, sweeps),
        "reactions.csv": (("time from touch-down [ms]", *ways), over_time),
        "gains.csv": (("stiffness [dyn cm/rad]", "damping [dyn cm s/rad]", *contact, *planned), gains),
    }


def effort_figure(result: NelsonQuinn) -> Figure:
    """Table 1 as a curve: torque effort of the front legs against how far the joints give way."""
    with look():
        figure = new_figure(NARROW, 3.3)
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
        figure, (effort, share) = panel_grid(2, 1, NARROW, 2.0, 0.9)
        for label, sweep, style in _sweeps(result):
            stiffness = [s.stiffness for s in sweep]
            effort.plot(stiffness, [float(s.efforts.sum()) for s in sweep], gid=label, **style)
            share.plot(stiffness, [s.sideways for s in sweep], gid=label, **style)
        effort.axhline(least, color=VERMILION, linewidth=1.0, gid="least")
        effort.set_ylabel("all legs, effort [(mN cm)²]")
        share.set_ylabel("horizontal / vertical force [1]")
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
    times, panels = found.share / paper.FREQUENCY, []
    for row in paper.ROWS:
        impulses = found.stride[row].mean() / paper.G_CM_PER_S, paper.PAPER_IMPULSES[row]
        ours, theirs = (fixed(x, 1, signed=True) for x in impulses)
        force = found.force[row] / MILLINEWTON
        lines = {"vertical": (times, force[:, 2]), "longitudinal": (times, force[:, 0])}
        panels.append(Panel(f"{row} leg: {ours} g cm/s (paper {theirs})", lines))
    styles = {
        "vertical": {"color": FAINT, "linestyle": LINES[1], "label": "vertical"},
        "longitudinal": {"color": BLUE, "label": "longitudinal (forward is positive)"},
    }
    shaded = {"stance in the gait": [(0.0, paper.DUTY / paper.FREQUENCY)], "both tripods touch": _spans(found)}
    return panels_over_time(
        panels, styles, xlabel="time from touch-down [ms]", ylabel="ground reaction [mN]", shaded=shaded,
        title="Fig. 4: ground reactions over a stride",
    )  # fmt: skip


def _spans(found: Reactions) -> list[tuple[float, float]]:
    """When feet of both tripods touch in most strides, from touch-down [s]."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], found.both >= MOSTLY, [False]]).astype(int)))
    width = 1.0 / (len(found.both) * paper.FREQUENCY)
    return [(float(start * width), float(end * width)) for start, end in edges.reshape(-1, 2)]


def gain_figure(result: NelsonQuinn) -> Figure:
    """Longitudinal impulses of all contact against the gains of the joints."""
    with look():
        figure, places = panel_grid(3, 1, NARROW, 1.4, 0.8)
        for axes, row in zip(places, paper.ROWS, strict=True):
            zero_line(axes)
            axes.axhline(paper.PAPER_IMPULSES[row], color=VERMILION, linewidth=1.0, gid="paper")
            for style, (kp, found) in zip(GAIN_STYLES, result.by_gains.items(), strict=False):
                impulses = [own.stride[row].mean() / paper.G_CM_PER_S for own in found.values()]
                axes.plot(list(found), impulses, marker="o", gid=f"{kp:g}", **style)
            axes.set(xscale="log", ylabel=f"{row} leg [g cm/s]")
        places[-1].set_xlabel("damping of the joints [dyn cm s/rad]")
        keys = [Line2D([], [], label=f"stiffness {kp:g} dyn cm/rad", marker="o", **style)
                for style, kp in zip(GAIN_STYLES, result.by_gains, strict=False)]  # fmt: skip
        keys.append(Line2D([], [], color=VERMILION, linewidth=1.0, label="paper"))
        return arranged(figure, "Longitudinal impulses against the gains of the joints", keys)


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
unevenly: the front legs brake, the hind legs drive, and the middle legs first brake, then drive. The paper speaks of
the impulse during a stance interval. Its stance is not defined further; here it is all contact of a stride, from the
first touch of the foot to the last. The interval in which the gait plans the foot to stand is another reading, the last
column of the table. Feet scuff before it and after it, because the loaded body is lower than planned, and so its
impulses do not add up to nothing.

How large the impulses are depends on the gains of the joints and on friction, which the paper does not print. The
stiffness of the joints here lies between the two rows of Table 1 with the least effort; their damping is that of the
standing simulation. Neither was chosen by Fig. 4. The figure below shows what other gains do: the signs of front and
hind legs are a result, their sizes and the sum of the middle legs are not. Exceptions are with the softest joints, on
which the body sags and feet of both tripods touch nearly all the time.
"""
PEAK_TEXT = """
The vertical force has several peaks in a stance, from two causes. One is the body that oscillates on its legs, a mass
on the springs of the joints' servos, struck by each touch-down: with stiff or little damped joints there are many peaks
while one tripod alone is down. The other is the change of tripods: while feet of both touch (dark in the figure), the
weight goes over from one to the other, and feet scuff. These peaks stay where all oscillations are well damped.

The paper says that its result comes from actual locomotion, “which accounts for much of the ‘noise’ and other
variability in the data”. Ours has neither noise nor variability of an animal, so the peaks here do not explain the
paper's.
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
    front, hind, _, pairs = sign_counts(result.by_gains)
    least = min(result.sweep, key=lambda row: row.front_effort)
    best = int(np.argmin(paper.PAPER_EFFORTS))
    return (
        f"Walking, as in the paper, the front legs brake with {front} and the hind legs drive with {hind} of "
        f"{pairs} pairs of gains of the joints, which the paper does not print and on which the sizes of the "
        "impulses depend. Standing, the torque effort of the front legs has a minimum: "
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
            "Above: effort of all legs. Red: the least torques that hold the undeformed posture, over all ways to "
            "share the weight. Below: of the six feet, the largest horizontal force as a share of the vertical one; "
            "with stiff joints it goes to zero.",
            lambda: stiffness_figure(result),
        ),
        "figure-4": (
            "Mean over strides and over left and right leg. In the titles: longitudinal impulse of all contact in a "
            f"stride. The first {paper.SETTLING} strides are left out.",
            lambda: reaction_figure(result),
        ),
        "gains": (
            "Impulses of all contact in a stride, for joints of other stiffness and damping. Red: the paper's.",
            lambda: gain_figure(result),
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
    played = Playback({"cockroach": result.walk}, "The walk.", samples=WALK_SAMPLES)

    def sections(drawn: Mapping[str, Picture]) -> list[Section]:
        return [
            Section("Standing: Table 1", STANDING_TEXT, [drawn["table-1"], drawn["stiffness"]], [table]),
            Section(
                "Walking: Fig. 4",
                f"{walk_said}\n{WALKING_TEXT}",
                [drawn["figure-4"], drawn["gains"]],
                [impulse_table(result)],
            ),
            Section("Walking: peaks of the force", PEAK_TEXT, (), [mode_table(result), peak_table(result)]),
            Section("The walk", "", [drawn[name] for name in ("footfall", "timelapse-walk", "torso")]),
        ]

    footer = (
        "Numbers behind the figures: table-1.csv, sweep.csv, reactions.csv, gains.csv; runs/settled.nc and "
        "runs/walk.nc hold the simulations. Momentum balances in the walk to "
        f"{result.walk.momentum_balance_error():.1e} of the weight's impulse. Made by tailwork."
    )
    shown = {"Table 1: standing with joints of various stiffness": table}
    return PaperReport(
        conclusion(result), SUMMARY, drawings, sections, shown, numbers(result), footer, played, COUNTERPARTS
    )
