"""Figures and report of a comparison of tails."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from tailwork.control.tail_motion import TailMotion
from tailwork.format import fixed, minus, rounded
from tailwork.robots.tails.fit import as_named, as_published
from tailwork.robots.tails.tail import tail_name
from tailwork.studies.compare.comparison import (
    Comparison,
    Plan,
    Result,
    last_common,
    sweep_rotations,
    torso_degrees,
)
from tailwork.studies.compare.curvature import segment_curvatures
from tailwork.studies.measures import AXES, by_kind, meaning_of, shown_measures, unit_of, whole_measure
from tailwork.studies.motions import motion_text
from tailwork.studies.possible import footnote, mark, marked
from tailwork.view.draw.picture import time_lapse
from tailwork.view.figures.runs import curvature_tracking, foot_forces, net_rotation, torso_response
from tailwork.view.report.overview import (
    MOST_NAMED,
    SAME,
    airborne_turn,
    conclusion,
    feet_text,
    largest_turn,
    overview_table,
    tail_words,
)
from tailwork.view.report.page import Drawing, Drawings, Picture, Playback, Report, Section, Table
from tailwork.view.scene.colors import printed

ANGLE_TEXT = {
    "arc": "the arc of Eq. 86", "chain": "the centre of mass of the evenly bent chain of links",
    "tip": "the angle of the last link",
}  # fmt: skip
ROTATION = {
    "largest": ("largest [°]", 1), **{axis: (f"{axis} [°]", 1) for axis in AXES}, "airborne": ("airborne [°]", 1),
    "closed form": ("closed form [°]", 1), "effectiveness": ("effect", 2), "peak_tail_torque": ("torque [N m]", 1),
    "peak_joint_torque": ("torque on a joint [N m]", 1), "peak_segment_torque": ("torque on a segment [N m]", 1),
    "peak_tension": ("cable tension [N]", 0), "tail_energy": ("work [J]", 2),
    "least_normal_force": ("least normal [N]", 0), "friction_needed": ("friction", 2),
}  # fmt: skip
"""Columns of the short table: what stands above, and decimals. Those that no run has are left out."""
TAIL_HEADER = ("tail", "kind", "mass [kg]", "length [m]", "mount [m]", "numbers")
ANGLES = ("largest", *AXES, "airborne", "closed form")
MOST_DECIMALS = 6


def comparison_figures(comparison: Comparison) -> Drawings:
    """All figures of a comparison, by file name: captions and what draws them."""
    found: dict[str, Drawing] = {}
    for motion in comparison.plan.motions:
        results, text = comparison.of(motion), motion_text(motion)
        runs = {tail: r.run for tail, r in results.items()}
        bent = {tail: r for tail, r in results.items() if r.case.scenario.tail_part.bends}
        title = f"{motion.name}, leg policy {comparison.plan.policy}"
        said = f"Torso response while the tail {text}."
        found[f"torso-{motion.name}"] = (said, partial(torso_response, runs, title=title))
        if motion.period and bent:
            said = (
                f"Curvature of each segment: wanted, found, and the difference. {cables_text(comparison.plan)}".strip()
            )
            found[f"curvature-{motion.name}"] = (said, partial(_curvature, bent, title))
        if comparison.plan.policy != "airborne":
            said = "Normal force of each foot, and the friction that it needs to stay."
            found[f"feet-{motion.name}"] = (said, partial(foot_forces, runs, title=title))
        said = "The robot at equal intervals; older ones paler, the last in full."
        found[f"timelapse-{motion.name}"] = (said, partial(time_lapse, runs, title=title))
    for axis in comparison.plan.sweeps:
        said = (
            f"Net torso {axis} against the bend of the tail; thin lines: the same tail motions in the air. Hollow: the "
            "run ended early."
        )
        found[f"net-{axis}"] = (said, partial(_net_rotations, comparison, axis))
    return found


def _curvature(results: Mapping[str, Result], title: str) -> Figure:
    times, desired, actual = {}, {}, {}
    for tail, r in results.items():
        for segment, wanted, found in segment_curvatures(r.run, r.case.scenario):
            label = f"{tail}, {segment}"
            times[label], desired[label], actual[label] = r.run.data["time"].to_numpy(), wanted, found
    return curvature_tracking(times, desired, actual, title=title)


def _net_rotations(comparison: Comparison, axis: str) -> Figure:
    tails, *found = zip(*sweep_rotations(comparison, axis), strict=True)
    net, aloft, ends = (dict(zip(tails, values, strict=True)) for values in found)
    return net_rotation(_bends(comparison, axis), net, axis=axis, ends=ends, airborne=aloft)


def _bends(comparison: Comparison, axis: str) -> list[float]:
    """The bends of the tail in a sweep [deg]."""
    return [math.degrees(motion.end[1]) for motion in comparison.plan.sweeps[axis]]


def rotation_table(results: Mapping[str, Result], friction: float) -> Table:
    """The short table: torso rotations with the airborne ones beside them, and what they ask of tail and feet."""
    runs = {
        tail: {
            **r.measures, "airborne": airborne_turn(r), "closed form": r.closed_form,
            "largest": largest_turn(r.run, r.case.scenario.motion),
        }
        for tail, r in results.items()
    }  # fmt: skip
    wanted = by_kind(map(whole_measure, ROTATION), runs.values())
    names = [name for name in wanted if any(not math.isnan(own[name]) for own in runs.values())]
    angle = angle_decimals(results.values())
    decimals = [angle if name in ANGLES else ROTATION[name][1] for name in names]
    rows = [
        marked([tail, *(fixed(own[name], n) for name, n in zip(names, decimals, strict=True))], names, own, friction)
        for tail, own in runs.items()
    ]
    return Table(("tail", *(ROTATION[name][0] for name in names)), rows, note=footnote(runs.values(), friction))


def angle_decimals(results: Iterable[Result]) -> int:
    """Decimals of angles [deg] in a table: one, or as many as show three digits of the largest about its own axis."""
    turned = [abs(r.measures[r.case.scenario.motion.axis]) for r in results]
    largest = max((angle for angle in turned if angle > 0.0), default=1.0)
    return min(max(1, 2 - math.floor(math.log10(largest))), MOST_DECIMALS) if largest < 1.0 else 1


def comparison_report(comparison: Comparison) -> Report:
    """The report: what came of it, a motion to be played or a sweep, how it was done, and everything in detail."""
    worst = max(r.measures["energy_balance"] for r in (*comparison.results, *comparison.swept))

    def sections(drawn: Mapping[str, Picture]) -> list[Section]:
        glance, *found = comparison_sections(comparison, drawn)
        if comparison.plan.motions:
            motion = comparison.plan.motions[0]
            opening = Section("", tables=glance.tables[:1], playback=played(comparison, motion))
        else:
            opening, found[0] = Section("", figures=found[0].figures), replace(found[0], figures=())
        how = Section(
            "How it was done", comparison_method(comparison), tables=[tails_table(comparison.plan)], folded=True
        )
        first = next((k for k, one in enumerate(found) if one.playback), None)
        if first is not None:  # it is played above
            found[first] = replace(found[first], playback=None)
        return [opening, how, *found]

    footer = (
        f"Energy balances in every run to {minus(f'{worst:.1e}')} of what moved. Made by tailwork; runs are kept here."
    )
    return Report("Tails compared", conclusion(comparison), comparison_figures(comparison), sections, footer)


def comparison_method(comparison: Comparison) -> str:
    """What is compared, and how, in a paragraph."""
    plan = comparison.plan
    first, robot = next(iter(plan.robots.items()))
    every = [*plan.motions, *(motion for motions in plan.sweeps.values() for motion in motions)]
    angles = " or ".join(dict.fromkeys(ANGLE_TEXT[motion.angle] for motion in every))
    name, tails = robot.name.removesuffix(f"-{first}"), ", ".join(plan.robots)
    by_cables = f"{cables_text(plan)} ".lstrip()
    return (
        f"Robot {name} with the tails {tails}. {sizes_text(plan)} Leg policy: {plan.policy_text}. Each tail is "
        f"to carry its centre of mass along the same motion, by {angles}; the measure tail deviation is how far off it "
        f"is. {by_cables}The rotation of the torso about the motion's own axis is also given for the robot in the air "
        "with rigid legs."
    )


def cables_text(plan: Plan) -> str:
    """By which law the cables of tails are pulled, in a sentence; empty: no tail has any."""
    pulled = [tail_words(tail) for tail, own in plan.robots.items() if own.part(tail_name(own)).by_cables]
    if not pulled:
        return ""
    return f"PD on the curvature of its segments, with a feed-forward of its springs, bends {' and '.join(pulled)}."


def _start_text(motion: TailMotion, results: Mapping[str, Result]) -> str:
    """Of a motion that starts at speed: with which tails the largest effort is that of the first instant."""
    if motion.from_rest:
        return ""
    first = []
    for tail, r in results.items():
        own = [k for k, name in enumerate(r.run.model.actuator_names) if name.startswith(f"{r.case.scenario.tail}.")]
        if np.abs(r.run.data["tau"].to_numpy()[:, own]).max(axis=1).argmax() == 0:
            first.append(tail)
    said = "The motion starts at speed, the tail from rest."
    if first:
        said += f" This step at t = 0 gives the largest torques and tensions of the tail: {', '.join(first)}."
    return said


def played(comparison: Comparison, motion: TailMotion) -> Playback:
    """A motion on the ground that the conclusion is made from."""
    results = comparison.of(motion)
    rigid = {tail: r.rigid for tail, r in results.items() if r.rigid is not None}
    where = "In the air" if comparison.plan.policy == "airborne" else "On pinned feet"
    where = f"On rigid ground of friction {comparison.plan.friction:.2g}" if rigid else where
    runs = {printed(tail): run for tail, run in (rigid or {tail: r.run for tail, r in results.items()}).items()}
    return Playback(runs, f"{where}: the tail {motion_text(motion)}.")


def comparison_sections(comparison: Comparison, drawn: Mapping[str, Picture]) -> list[Section]:
    """All results: at a glance, a section a motion, a section a sweep, all measures; `drawn` has all
    `comparison_figures`."""
    sections = [_glance(comparison)]
    for motion in comparison.plan.motions:
        results = comparison.of(motion)
        names = [f"{kind}-{motion.name}" for kind in ("timelapse", "torso", "curvature", "feet")]
        table = rotation_table(results, comparison.plan.friction)
        pictures = [drawn[name] for name in names if name in drawn]
        said = [_start_text(motion, results), *(f"{tail}: {r.note}." for tail, r in results.items() if r.note)]
        notes = "\n\n".join(filter(None, said))
        folded = len(comparison.plan.motions) > MOST_NAMED and motion is not comparison.plan.motions[0]
        title = f"{motion.name}: the tail {motion_text(motion)}"
        tables = [table]
        if comparison.plan.ground is not None:
            tables.append(_on_rigid_ground(results, comparison.plan.friction))
            notes = f"{notes}\n\n{RIGID_TEXT}".strip()
        sections.append(Section(title, notes, pictures, tables, played(comparison, motion), folded=folded))
    tails = list(comparison.plan.robots)
    header = ("bend [°]", *(f"{tail} [°]" for tail in tails), *(f"{tail}, airborne [°]" for tail in tails))
    for axis in comparison.plan.sweeps:
        rows, runs = [], []
        for angle, motion in zip(_bends(comparison, axis), comparison.plan.sweeps[axis], strict=True):
            found = comparison.of(motion).values()
            runs += [r.measures for r in found]
            net = [mark(fixed(r.measures[axis], 1), "", r.measures, comparison.plan.friction) for r in found]
            rows.append([f"{angle:.0f}", *net, *(fixed(float(r.airborne[AXES.index(axis)]), 1) for r in found)])
        table = Table(header, rows, note=footnote(runs, comparison.plan.friction))
        sections.append(Section(f"Net {axis} against the bend", "", [drawn[f"net-{axis}"]], [table]))
    return [*sections, _everything(comparison)]


RIGID_ANGLES = (
    "tail", "pitch, pinned [°]", "rigid [°]", "roll, pinned [°]", "rigid [°]", "yaw, pinned [°]", "rigid [°]", "feet",
)  # fmt: skip
RIGID_TEXT = (
    "On rigid ground feet lift, slip and land: that is what becomes of the robot where pinned feet would have to pull "
    "or to hold more than friction can. Angles of both are compared when the first of the two runs ends; a pinned run "
    "ends where a leg becomes straight."
)


def _on_rigid_ground(results: Mapping[str, Result], friction: float) -> Table:
    """What actually happens in a motion."""
    rows, decimals = [], angle_decimals(results.values())
    for tail, r in results.items():
        assert r.rigid is not None
        time, pinned, rigid = last_common(r.run, r.rigid)
        turned = zip(pinned - torso_degrees(r.run)[0], rigid - torso_degrees(r.rigid)[0], strict=True)
        cells = [fixed(x, decimals) for pair in turned for x in pair]
        until = "" if r.run.stopped is None else f" (angles at {time:.3f} s)"
        rows.append([mark(tail, "", r.measures, friction), *cells, feet_text(r.rigid) + until])
    note = footnote([r.measures for r in results.values()], friction).replace("not possible", "not possible as pinned")
    return Table(RIGID_ANGLES, rows, f"Pinned feet beside rigid ground of friction {friction:.2g}", note)


def _glance(comparison: Comparison) -> Section:
    """All motions at a glance."""
    decimals = angle_decimals(comparison.results)
    tables = [overview_table(comparison, decimals)] if comparison.results else []
    return Section("At a glance", cables_text(comparison.plan), tables=[*tables, tails_table(comparison.plan)])


def tails_table(plan: Plan) -> Table:
    """The tails that are compared."""
    return Table(TAIL_HEADER, tail_rows(plan), "The tails")


def tail_rows(plan: Plan) -> list[list[str]]:
    """The tails that are compared: mass with actuators, length from mount to tip when straight, mount, and whose
    numbers they are."""
    rows = []
    for tail, robot in plan.robots.items():
        name = tail_name(robot)
        part = robot.part(name)
        mass, length = float(part.carried_mass()), float(part.total_length())
        mount = minus(", ".join(f"{x:g}" for x in robot.limbs()[name].joints[0].offset))
        known = {"as published (Liu & Ben-Tzvi 2020) but for the mount": as_published(part), "own": tail == "own"}
        known |= {"as tailwork describes it": as_named(part)}
        source = next((words for words, holds in known.items() if holds), "scaled to the robot")
        rows.append([tail, part.kind, f"{mass:.3g}", rounded(length or None, 3), mount, source])
    return rows


def sizes_text(plan: Plan) -> str:
    """Whether the tails are of one mass and length, in a sentence."""
    tails = [robot.part(tail_name(robot)) for robot in plan.robots.values()]
    if all(map(as_published, tails)):
        return "The tails are as published (Liu & Ben-Tzvi 2020) but for their mount, which is not stated there."
    masses = [float(tail.carried_mass()) for tail in tails]
    lengths = [length for tail in tails if (length := float(tail.total_length()))] or [0.0]  # wheels have none
    if len(tails) > 1 and all(max(own) - min(own) <= SAME * max(own) for own in (masses, lengths)):
        which = "length" if len(lengths) == len(tails) else "those that have a length, the same one"
        length = f", and {which}, {lengths[0]:.3g} m" if lengths[0] else ""
        return f"All tails have the same total mass, {masses[0]:.3g} kg{length}."
    return "Mass and length of the tails differ: they are in the tables." if len(tails) > 1 else ""


def _everything(comparison: Comparison) -> Section:
    """All measures of all motions."""
    runs, friction = [r.measures for r in comparison.results], comparison.plan.friction
    header = ["measure", "unit", *(f"{r.case.scenario.motion.name}, {r.case.tail}" for r in comparison.results)]
    names = by_kind(map(whole_measure, shown_measures()), runs)
    rows = [
        [meaning_of(name), unit_of(name), *(mark(rounded(own[name], 3), name, own, friction) for own in runs)]
        for name in names
        if any(not math.isnan(own[name]) for own in runs)
    ]
    text = "Those that any tail has; the same numbers, and those of the sweeps, are in measures.csv. "
    text += cables_text(comparison.plan)
    return Section("All measures", text, (), [Table(header, rows, note=footnote(runs, friction))], folded=True)
