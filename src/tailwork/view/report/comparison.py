"""Figures and report of a comparison of tails."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from matplotlib.figure import Figure

from tailwork.format import fixed, minus, number
from tailwork.robots.tails.tail import tail_name
from tailwork.simulation import Run
from tailwork.studies.compare.comparison import Comparison, Result, sweep_rotations
from tailwork.studies.compare.curvature import segment_curvatures
from tailwork.studies.leg_policies import POLICIES
from tailwork.studies.measures import AXES, meaning_of, shown_measures, unit_of
from tailwork.studies.motions import TailMotion, motion_text
from tailwork.view.draw.picture import time_lapse
from tailwork.view.figures.runs import curvature_tracking, foot_forces, net_rotation, torso_response
from tailwork.view.report.page import Drawings, Picture, Playback, Section, Table, build_report

ANGLE_TEXT = {
    "arc": "the arc of Eq. 86", "chain": "the centre of mass of the evenly bent chain of links",
    "tip": "the angle of the last link",
}  # fmt: skip
ROTATION_HEADER = (
    "tail", "pitch [°]", "roll [°]", "yaw [°]", "airborne [°]", "closed form [°]", "effectiveness", "peak torque [N m]",
    "work [J]", "least normal force [N]", "friction needed",
)  # fmt: skip


def figures(comparison: Comparison) -> Drawings:
    """All figures of a comparison, by file name: captions and what draws them."""
    found: dict[str, tuple[str, Callable[[], Figure]]] = {}
    for motion in comparison.plan.motions:
        results = comparison.of(motion)
        runs = {tail: r.run for tail, r in results.items()}
        text, title = motion_text(motion), f"{motion.name}, leg policy {comparison.plan.policy}"
        found[f"torso-{motion.name}"] = (
            f"Torso response while the tail {text}." if motion.space != "joints" else f"Torso response: {text}.",
            _drawing(torso_response, runs, title),
        )
        bent = {tail: r for tail, r in results.items() if r.case.scenario.tail_part.bends}
        if motion.period and bent:
            found[f"curvature-{motion.name}"] = (
                "Curvature of each segment: wanted, found, and the difference.",
                lambda bent=bent, title=title: _curvature(bent, title),
            )
        if comparison.plan.policy != "airborne":
            found[f"feet-{motion.name}"] = (
                "Normal force of each foot, and the friction that it needs to stay.",
                _drawing(foot_forces, runs, title),
            )
        found[f"timelapse-{motion.name}"] = (
            "The robot at equal intervals; older ones paler, the last in full.",
            _drawing(time_lapse, runs, title),
        )
    for axis, motions in comparison.plan.sweeps.items():
        found[f"net-{axis}"] = (
            f"Net torso {axis} against the bend of the tail; thin lines: the same tail motions in the air. Hollow: the "
            "run ended early.",
            lambda axis=axis, motions=motions: _sweep(comparison, axis, motions),
        )
    return found


def _drawing(draw: Callable[..., Figure], runs: Mapping[str, Run], title: str) -> Callable[[], Figure]:
    return lambda: draw(runs, title=title)


def _curvature(results: Mapping[str, Result], title: str) -> Figure:
    times, desired, actual = {}, {}, {}
    for tail, r in results.items():
        for segment, wanted, found in segment_curvatures(r.run, r.case.scenario):
            label = f"{tail}, {segment}"
            times[label], desired[label], actual[label] = r.run.data["time"].to_numpy(), wanted, found
    return curvature_tracking(times, desired, actual, title=title)


def _sweep(comparison: Comparison, axis: str, motions: tuple[TailMotion, ...]) -> Figure:
    angles = [math.degrees(motion.end[1]) for motion in motions]
    by_tail: dict[str, list[float]] = {}
    ends: dict[str, list[bool]] = {}
    aloft: dict[str, list[float]] = {}
    for tail, net, airborne, ended in sweep_rotations(comparison, axis):
        by_tail[tail], ends[tail], aloft[tail] = net, ended, airborne
    return net_rotation(angles, by_tail, axis=axis, ends=ends, airborne=aloft)


def rotation_rows(results: Mapping[str, Result]) -> list[list[str]]:
    """Rows of the short table: torso rotations with the airborne ones beside them, and what they ask."""
    rows = []
    for tail, r in results.items():
        axis = AXES.index(r.case.scenario.motion.axis)
        angles = [r.measures[name] for name in AXES]
        rows.append([
            tail,
            *(fixed(x, 1) for x in angles),
            fixed(r.airborne[axis], 1),
            fixed(r.closed_form, 1),
            fixed(r.measures["effectiveness"], 2),
            fixed(r.measures["peak_tail_torque"], 1),
            fixed(r.measures["tail_energy"], 2),
            fixed(r.measures["least_normal_force"], 0),
            fixed(r.measures["friction_needed"], 2),
        ])  # fmt: skip
    return rows


def notes(results: Mapping[str, Result]) -> str:
    """What must be known of the runs, a paragraph a tail."""
    return "\n\n".join(f"{tail}: {r.note}." for tail, r in results.items() if r.note)


def write_report(
    comparison: Comparison, folder: Path, progress: Callable[[str], None] = lambda what: None, processes: int = 1
) -> Path:
    """Draw and save all figures, and write the report; its path. For `processes` see `build_report`."""
    worst = max(r.measures["energy_balance"] for r in (*comparison.results, *comparison.swept))
    return build_report(
        folder, "Tails compared", summary(comparison), figures(comparison),
        lambda drawn: comparison_sections(comparison, drawn),
        f"Energy balances in every run to {worst:.1e} of what moved. Made by tailwork; runs are kept in the folder.",
        progress=progress, processes=processes,
    )  # fmt: skip


def summary(comparison: Comparison) -> str:
    """What is compared, and how, in a paragraph."""
    plan = comparison.plan
    first, robot = next(iter(plan.robots.items()))
    every = [*plan.motions, *(motion for motions in plan.sweeps.values() for motion in motions)]
    angles = " or ".join(dict.fromkeys(ANGLE_TEXT[motion.angle] for motion in every))
    name, tails = robot.name.removesuffix(f"-{first}"), ", ".join(plan.robots)
    return (
        f"Robot {name} with the tails {tails}. Leg policy: {POLICIES[plan.policy].meaning}. All tails are to "
        f"carry their centre of mass alike, by {angles}; how far off they are is among the measures "
        "(tail deviation). A USRT is bent by its cables: PD on curvature, with what its springs need fed forward. "
        "Beside every rotation of the torso about the motion's own axis stands what the same tail motion does to the "
        "robot in the air with its legs rigid."
    )


def comparison_sections(comparison: Comparison, drawn: Mapping[str, Picture]) -> list[Section]:
    """The parts of the report: a section a motion, a section a sweep, all measures; `drawn` has all `figures`."""
    sections = [_overview(comparison)] if comparison.plan.motions else []
    for motion in comparison.plan.motions:
        results = comparison.of(motion)
        names = [f"{kind}-{motion.name}" for kind in ("timelapse", "torso", "curvature", "feet")]
        table = Table(ROTATION_HEADER, rotation_rows(results))
        pictures = [drawn[name] for name in names if name in drawn]
        playback = Playback({tail: r.run for tail, r in results.items()}, "The same runs, to be played.")
        title = f"{motion.name}: {motion_text(motion)}"
        sections.append(Section(title, notes(results), pictures, [table], playback))
    for axis in comparison.plan.sweeps:
        header = ("bend [°]", *(f"{tail} [°]" for tail in comparison.plan.robots),
                  *(f"{tail}, airborne [°]" for tail in comparison.plan.robots))  # fmt: skip
        angles = [math.degrees(motion.end[1]) for motion in comparison.plan.sweeps[axis]]
        columns = list(sweep_rotations(comparison, axis))
        rows = [
            [f"{angle:.0f}", *(fixed(c[1][k], 1) for c in columns), *(fixed(c[2][k], 1) for c in columns)]
            for k, angle in enumerate(angles)
        ]
        sections.append(Section(f"Net {axis} against the bend", "", [drawn[f"net-{axis}"]], [Table(header, rows)]))
    sections.append(_everything(comparison))
    return sections


def _overview(comparison: Comparison) -> Section:
    """Net rotations of all motions at a glance."""
    header = ("motion", "tail", "pitch [°]", "roll [°]", "yaw [°]", "about", "stance [°]", "airborne [°]", "feet stay")
    rows = []
    for r in comparison.results:
        axis = r.case.scenario.motion.axis
        angles = [r.measures[name] for name in AXES]
        stay = "—" if comparison.plan.policy == "airborne" else "no" if r.measures["least_normal_force"] <= 0 else "yes"
        if stay == "yes":
            stay = f"friction ≥ {r.measures['friction_needed']:.2f}"
        if r.run.stopped is not None:
            stay += f"; ends at {r.run.stopped.time:.3f} s"
        rows.append([
            r.case.scenario.motion.name, r.case.tail, *(fixed(x, 1) for x in angles), axis,
            fixed(angles[AXES.index(axis)], 1), fixed(r.airborne[AXES.index(axis)], 1), stay,
        ])  # fmt: skip
    text = (
        "How far the torso has turned at the end of each run, and about the motion's own axis in stance and in the "
        "air. The difference is what the ground and the legs do."
    )
    return Section("At a glance", text, (), [Table(header, rows), tail_table(comparison)])


def tail_table(comparison: Comparison) -> Table:
    """The tails that are compared: mass, length from mount to tip when straight, mount."""
    rows = []
    for tail, robot in comparison.plan.robots.items():
        name = tail_name(robot)
        part = robot.part(name)
        mass, length = float(part.total_mass()), float(part.total_length())
        mount = minus(", ".join(f"{x:g}" for x in robot.limbs()[name].joints[0].offset))
        rows.append([tail, part.kind, f"{mass:.3g}", f"{length:.3g}", mount])
    return Table(("tail", "kind", "mass [kg]", "length [m]", "mount [m]"), rows, "The tails")


def _everything(comparison: Comparison) -> Section:
    """All measures of all motions."""
    results = comparison.results
    header = ["measure", "unit", *(f"{r.case.scenario.motion.name}, {r.case.tail}" for r in results)]
    rows = [
        [meaning_of(name), unit_of(name), *(number(r.measures[name], 3) for r in results)] for name in shown_measures()
    ]
    return Section(
        "All measures", "The same numbers, and those of the sweeps, are in measures.csv.", (), [Table(header, rows)]
    )
