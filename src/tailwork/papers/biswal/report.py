"""Figures and report of the quadruped of Biswal & Mohanty: its leg in millimetres, as in the paper, and a trot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tailwork.control.gait.gait import Gait
from tailwork.errors import ArgumentError
from tailwork.format import fixed
from tailwork.papers.biswal import leg as paper
from tailwork.papers.biswal.dh_leg import MASSES, MM, DhLeg
from tailwork.papers.biswal.experiments import FREQUENCY, KD, KP, LIFT, SETTLING, SPEED, Biswal, trot_gait
from tailwork.papers.report import NARROW, PaperReport, panels_over_time
from tailwork.simulation import Run
from tailwork.typing import Floats
from tailwork.view.draw.style import FAINT, arranged, legend_below, look, panel_grid, titled, zero_line
from tailwork.view.figures.runs import Panel
from tailwork.view.figures.walking import footfall, leg_names, samples_a_stride, stride_pictures, torso_travel
from tailwork.view.report.page import WALK_SAMPLES, Drawings, Picture, Playback, Section, Table
from tailwork.view.scene.colors import BLUE, GREEN, INK, LINES, ORANGE, PURPLE, SKY

READING_STYLES: dict[str, dict[str, Any]] = {
    "A": {"color": ORANGE, "linestyle": LINES[1], "linewidth": 1.0, "label": "A: as printed"},
    "B": {"color": GREEN, "linestyle": LINES[2], "linewidth": 1.0, "label": "B: added to the posture"},
    "C": {"color": BLUE, "linewidth": 2.0, "label": "C: theta_3 = +9 t (default)"},
}
"""C, the default, stands out."""
LEG_COLORS = (BLUE, ORANGE, GREEN, PURPLE)
JOINTS = {"ha": "theta_1 (ha)", "hb": "theta_2 (hb)", "k": "theta_3 (k)"}
LEG_POINTS = ("hip, O_0", "hinge of theta_2", "knee", "foot")
TABLE_TIMES = (0.0, 1.0, 3.0, 5.0)  # [s]
CUBIC_CM = 1e6
"""From m³ to cm³."""


COUNTERPARTS = (
    ("Fig. 1", "conceptual model of the quadruped (sketch)", "robot biswal: `tailwork show biswal`"),
    ("Table 1", "D-H parameters", "documentation, “Read a D-H table”; the part dh_chain of a robot file"),
    ("Fig. 2", "workspace of a foot", "Workspace and inverse kinematics"),
    ("Fig. 3", "virtual prototype in Adams", "the player of the trot"),
    ("Figs. 4–6", "driving torques of the three joints", "Joint torques"),
    ("Figs. 7–9", "displacement of the foot along x, y, z", "Motion of the foot"),
)


def foot_table(result: DhLeg) -> Table:
    """Places of the foot at a few times, by reading."""
    rows = []
    for time in TABLE_TIMES:
        k = int(np.abs(result.times - time).argmin())
        for axis, name in enumerate("xyz"):
            rows.append([f"{time:g}", name, *(fixed(MM * path[k, axis], 1) for path in result.feet.values())])
    return Table(("t [s]", "foot", *(f"{name} [mm]" for name in result.feet)), rows)


def torque_table(result: DhLeg) -> Table:
    """The largest torque of each joint, by reading."""
    most = {name: MM * np.abs(found).max(axis=0) for name, found in result.torques.items()}
    rows = [[f"theta_{k + 1}", *(fixed(own[k], 1) for own in most.values())] for k in range(3)]
    return Table(("largest torque", *(f"{name} [N mm]" for name in most)), rows)


def posture_table(leg: paper.Leg) -> Table:
    """The posture of Sect. 4 from the place of its foot."""
    branches = np.degrees(paper.joint_angles(leg, paper.foot_place(leg, np.radians(paper.POSTURE))))
    rows = [[f"theta_{k + 1} [°]", *(fixed(x[k], 0) for x in (paper.POSTURE, *branches))] for k in range(3)]
    said = "The posture of Sect. 4, and what Eqs. 11–13 as corrected give for the place of its foot."
    return Table(("", "paper", *(f"solution {k + 1}" for k in range(len(branches)))), rows, said)


def stride_torques(run: Run, gait: Gait, settling: int = SETTLING) -> tuple[Floats, dict[str, Floats]]:
    """Share of a leg's stride, from touch-down in the gait, and by leg the torques (shares, 3) on its joints [N m].

    Means over the strides after the first few.
    """
    tau, each = run.data["tau"].to_numpy(), samples_a_stride(run, gait)
    strides = (len(tau) - 1) // each
    if strides <= settling:
        raise ArgumentError("run", run.model.robot.name, f"a run of more than {settling} strides")
    mean = tau[settling * each : strides * each].reshape(-1, each, tau.shape[1]).mean(axis=0)
    names = run.model.actuator_names
    found: dict[str, Floats] = {}
    for leg, phase in zip(gait.legs, gait.phases, strict=True):
        joints = [names.index(f"{leg}.{joint}") for joint in JOINTS]
        found[leg] = np.roll(mean[:, joints], -round(phase * each), axis=0)
    return np.arange(each) / each, found


def numbers(result: Biswal) -> dict[str, tuple[Sequence[str], list[Any]]]:
    """By file: foot and torques over the motion of Sect. 4 in all readings, and torques over a stride of the trot."""
    header, columns = ["time [s]"], [result.leg.times[:, None]]
    for name, path in result.leg.feet.items():
        header += [f"{name} {axis} [mm]" for axis in "xyz"] + [f"{name} torque {k} [N mm]" for k in (1, 2, 3)]
        columns += [MM * path, MM * result.leg.torques[name]]
    share, torques = stride_torques(result.trot.run, trot_gait())
    joints = ("time from touch-down [s]", *(f"{leg}.{joint} [N m]" for leg in torques for joint in JOINTS))
    over_stride = np.hstack([share[:, None] / FREQUENCY, *torques.values()]).tolist()
    return {"leg.csv": (header, np.hstack(columns).tolist()), "trot-torques.csv": (joints, over_stride)}


def leg_places(leg: paper.Leg, theta: Floats) -> Floats:
    """Hip O_0, hinge of theta_2, knee and foot in the base frame [m], (4, 3): Eqs. (2)–(6) one after the other."""
    frames = [paper.base_transform(leg)]
    for step in paper.link_transforms(leg, theta):
        frames.append(frames[-1] @ step)
    return np.array([frames[k][:3, 3] for k in (0, 2, 3, 4)], dtype=np.float64)


def workspace_figure(leg: paper.Leg) -> Figure:
    """Fig. 2: where the foot can be in the x–z plane; beside it, the leg in all branches of the quoted posture."""
    space = paper.workspace(leg)
    turn = (-math.pi, math.pi)
    points = MM * paper.workspace_samples(leg, [(0.0, 0.0), turn, turn], 46)
    posture = np.radians(paper.POSTURE)
    branches = paper.joint_angles(leg, paper.foot_place(leg, posture))
    with look():
        figure, (reach, poses) = panel_grid(2, 1, NARROW, 3.2, 0.4)
        reach.plot(
            points[:, 0], points[:, 2], linestyle="none", marker=".", markersize=1.6, color=SKY, markeredgewidth=0.0,
            gid="samples",
        )  # fmt: skip
        for edge in space.boundary():
            reach.plot(*(MM * edge).T, color=BLUE, gid="boundary")
        _draw_leg(reach, MM * leg_places(leg, np.zeros(3)), INK)
        for number, branch in enumerate(branches):
            color, angles = LEG_COLORS[number % len(LEG_COLORS)], ", ".join(f"{x:.0f}" for x in np.degrees(branch))
            _draw_leg(poses, MM * leg_places(leg, branch), color, f"({angles})°".replace("-", "−"))
        titles = {"workspace at theta_1 = 0": reach, "one foot, two sets of theta_1, theta_2, theta_3": poses}
        for title, axes in titles.items():
            axes.set_aspect("equal", adjustable="datalim")
            axes.set(xlabel="x [mm]", ylabel="z [mm]", title=title)
        for name, (x, _, z) in zip(LEG_POINTS, MM * leg_places(leg, branches[-1]), strict=True):
            poses.annotate(name, (x, z), (7.0, 0.0), textcoords="offset points", va="center", color=FAINT)
        poses.margins(0.1)
        titled(figure, "Fig. 2, and the posture of Sect. 4 from the side")
        keys = [
            Line2D([], [], linestyle="none", marker="o", markersize=2.5, color=SKY, label="sampled"),
            Line2D([], [], color=BLUE, label="edge, by formula"),
            Line2D([], [], color=INK, marker="o", markersize=3.5, label="leg at zero angles"),
        ]
        poses.legend(loc="upper left")
        legend_below(figure, keys)
        return arranged(figure)


def _draw_leg(axes: Axes, places: Floats, color: str, label: str | None = None) -> None:
    axes.plot(
        places[:, 0], places[:, 2], color=color, marker="o", markersize=3.5, linewidth=1.8, label=label, gid="leg",
        zorder=3,
    )  # fmt: skip


def singularity_figure(result: DhLeg, leg: paper.Leg) -> Figure:
    """Where the leg is singular, with the motion of Sect. 4 in each reading, and the determinant along it."""
    angles = np.linspace(-180.0, 180.0, 181)
    theta = np.radians(np.stack([np.zeros((181, 181)), *np.meshgrid(angles, angles)], axis=-1))
    determinant = CUBIC_CM * paper.jacobian_determinant(leg, theta)
    most = float(np.ceil(np.abs(determinant).max() / 500.0) * 500.0)
    with look():
        figure, (chart, along) = panel_grid(2, 1, NARROW, 2.8, 0.5)
        filled = chart.contourf(
            angles, angles, determinant, levels=np.linspace(-most, most, 13), cmap="PuOr", alpha=0.75
        )  # fmt: skip
        below_hip = leg.hip[2] - paper.foot_place(leg, theta)[..., 2]  # A of Eqs. (8)–(10)
        chart.contour(angles, angles, below_hip, levels=[0.0], colors=INK, linewidths=1.0)
        chart.hlines([-180.0, 0.0, 180.0], -180.0, 180.0, color=INK, linewidth=1.0)
        for name, style in READING_STYLES.items():
            path = paper.joint_motion(result.times, name)
            chart.plot(*np.degrees(path[:, 1:]).T, gid=name, **style)
            chart.plot(*np.degrees(path[-1:, 1:]).T, marker="o", markersize=4, color=style["color"])
            along.plot(result.times, CUBIC_CM * paper.jacobian_determinant(leg, path), gid=name, **style)
        ticks = range(-180, 181, 90)
        chart.set(xlabel="theta_2 [deg]", ylabel="theta_3 [deg]", xticks=ticks, yticks=ticks)
        chart.set_title("det J [cm³]; black: singular")
        chart.grid(visible=False)
        figure.colorbar(filled, ax=chart, shrink=0.9, pad=0.02, ticks=np.linspace(-most, most, 5))
        zero_line(along)
        along.set(xlabel="time [s]", ylabel="det J [cm³]", title="over the motion of Sect. 4")
        titled(figure, "Postures in which the leg loses a direction")
        legend_below(figure, [Line2D([], [], **style) for style in READING_STYLES.values()])
        return arranged(figure)


def foot_figure(result: DhLeg) -> Figure:
    """Figs. 7–9: the foot over time in the three readings."""
    return _by_reading(result, [f"{axis} [mm]" for axis in "xyz"], result.feet, "Figs. 7–9: motion of the foot", False)


def torque_figure(result: DhLeg) -> Figure:
    """Figs. 4–6: the torques over time in the three readings."""
    quantities = [f"torque {k} [N mm]" for k in (1, 2, 3)]
    return _by_reading(result, quantities, result.torques, "Figs. 4–6: driving torques", True)


def _by_reading(
    result: DhLeg, quantities: Sequence[str], values: Mapping[str, Any], title: str, zero: bool
) -> Figure:  # fmt: skip
    panels = [
        Panel(said, {name: (result.times, MM * found[:, k]) for name, found in values.items()})
        for k, said in enumerate(quantities)
    ]
    return panels_over_time(panels, READING_STYLES, xlabel="time [s]", per_second=1.0, title=title, zero=zero)


def trot_torque_figure(result: Biswal) -> Figure:
    """Torques of all legs over a stride."""
    gait = trot_gait()
    share, torques = stride_torques(result.trot.run, gait)
    names = leg_names(result.trot.run.model.robot)
    styles = {
        leg: {"color": color, "linestyle": LINES[k % 2], "linewidth": 1.1, "label": names[leg]}
        for k, (leg, color) in enumerate(zip(torques, LEG_COLORS, strict=True))
    }
    times = share / gait.frequency
    panels = [
        Panel(joint, {leg: (times, found[:, k]) for leg, found in torques.items()})
        for k, joint in enumerate(JOINTS.values())
    ]
    return panels_over_time(
        panels, styles, xlabel="time from touch-down [s]", per_second=1.0, ylabel="torque [N m]",
        title="Trot: joint torques over a stride", shaded={"stance in the gait": [(0.0, gait.duty / gait.frequency)]},
    )  # fmt: skip


SUMMARY = (
    "The quadruped of Biswal & Mohanty: three hinges a leg. The paper gives the lengths of a leg and shows its "
    "workspace, the path of a foot and joint torques as pictures. It prints no masses, and none of its figures shows "
    "the trot that it speaks of: ours are estimates, and all are stated. Misprints in its equations are put right; "
    "tailwork.papers.biswal.leg lists them."
)
READING_TEXT = """
The paper quotes the posture (−10, −35, 45)° and the motion theta = (−2, −7, −9) t [deg] over 5 s. The two do not agree:
at 5 s the printed motion has theta_3 = −45°. Three readings are shown. A takes the motion as it is printed. B adds it
to the posture. C takes theta_3 = +9 t: with that one sign changed, the motion ends in the posture. C is our default.
"""
TORQUE_TEXT = """
The text says neither which motion Figs. 4–6 show nor whether the base is held. Both are readings here: the motion of
Sect. 4 as above, on a base that is held.
"""
SINGULAR_TEXT = """
Where the determinant of the Jacobian is zero, there is a direction in which no joint rates move the foot. That is so
where the knee is straight or folded (theta_3 = 0° or 180°), and where the foot is on the axis of theta_1 (the curved
line). A and C start with a straight knee; B ends with one.
"""


def conclusion(result: Biswal) -> str:
    """What the reproduction shows, from its numbers."""
    foot = {name: MM * path[-1] for name, path in result.leg.feet.items()}
    quoted = MM * paper.foot_place(paper.Leg(), np.radians(paper.POSTURE))
    near = min(foot, key=lambda name: float(np.linalg.norm(foot[name] - quoted)))
    one, two, three = (f"{x:.0f}" for x in MM * np.abs(result.leg.torques[near]).max(axis=0))
    return (
        f"As printed, the motion of the leg ends with its foot {np.linalg.norm(foot['A'] - quoted):.0f} mm from where "
        f"the quoted posture has it; in reading {near}, {paper.READINGS[near].said.split(',')[0]}, it ends "
        f"{np.linalg.norm(foot[near] - quoted):.1f} mm from it. With estimated masses and a base that is held, reading "
        f"{near} takes torques of up to {one}, {two} and {three} N mm on its three joints."
    )


def report(result: Biswal) -> PaperReport:
    """Tables, figures and text."""
    leg, gait, run, feet = paper.Leg(), trot_gait(), result.trot.run, foot_table(result.leg)
    bars = ", ".join(f"{mass:.2f}" for mass in MASSES)
    drawings: Drawings = {
        "figure-2": (
            "Above: places of the foot for all pairs of angles theta_2, theta_3 in steps of 8°, and the edge that the "
            "lengths of the links give. The paper prints no limits of its joints. Below: the leg from the side in both "
            "solutions of the inverse kinematics, Eqs. 11–13 as corrected.",
            lambda: workspace_figure(leg),
        ),
        "figures-7-9": ("Place of the foot in the base frame.", lambda: foot_figure(result.leg)),
        "figures-4-6": (
            f"Torques that carry the motion of Sect. 4 on a base that is held, for bars of {bars} kg (hip, thigh, "
            "shank; estimates).",
            lambda: torque_figure(result.leg),
        ),
        "singularities": (
            "Above: determinant of the Jacobian by theta_2 and theta_3 (theta_1 does not matter), with the motion of "
            "each reading; dots: where it ends. Below: along the motion.",
            lambda: singularity_figure(result.leg, leg),
        ),
        "trot-torques": (
            f"Mean over the strides after the first {SETTLING}, each leg from its own touch-down.",
            lambda: trot_torque_figure(result),
        ),
        "trot-torso": (
            "Height of P, speed, pitch and roll.",
            lambda: torso_travel(run, gait, settling=SETTLING, title="Trot: the torso"),
        ),
        "footfall": (
            "The last three strides.",
            lambda: footfall(
                run, window=(run.duration - 3 * gait.period, run.duration), gait=gait,
                names=leg_names(run.model.robot), title="Trot: footfall",
            ),
        ),
        "timelapse-trot": (
            "The last stride, from the side and from behind; the camera follows.",
            lambda: stride_pictures(run, gait, views=("side", "three-quarter"), title="Trot: a stride"),
        ),
    }  # fmt: skip
    trot_said = (
        f"The whole robot on compliant ground, its joints driven by springs of {KP:g} N m/rad and dampers of {KD:g} "
        f"N m s/rad along a gait: diagonal pairs in turn, {SPEED:g} m/s, {FREQUENCY:g} Hz, feet lifted by "
        f"{1e3 * LIFT:g} mm. Feet come down a little early: loaded, the robot is a few millimetres lower than planned."
    )
    played = Playback({"biswal": run}, "The trot.", samples=WALK_SAMPLES)

    def sections(drawn: Mapping[str, Picture]) -> list[Section]:
        trotting = [drawn[k] for k in ("trot-torques", "trot-torso", "footfall", "timelapse-trot")]
        return [
            Section("Workspace and inverse kinematics", "", [drawn["figure-2"]], [posture_table(leg)]),
            Section("Motion of the foot", READING_TEXT, [drawn["figures-7-9"]], [feet]),
            Section("Joint torques", TORQUE_TEXT, [drawn["figures-4-6"]], [torque_table(result.leg)]),
            Section("Singular postures", SINGULAR_TEXT, [drawn["singularities"]]),
            Section("Trot", trot_said, trotting),
        ]

    footer = (
        "Numbers behind the figures: leg.csv and trot-torques.csv; runs/trot.nc holds the trot. Momentum balances in "
        f"it to {result.trot.closure:.1e} of the weight's impulse. Made by tailwork."
    )
    shown = {"The foot in the motion of Sect. 4, by reading": feet}
    return PaperReport(
        conclusion(result), SUMMARY, drawings, sections, shown, numbers(result), footer, played, COUNTERPARTS
    )
