"""Figures and report of a comparison of tails."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from tailwork.control.tail_motion import TailMotion
from tailwork.format import fixed, minus, rounded
from tailwork.robots.tails.fit import as_named, as_published
from tailwork.robots.tails.tail import tail_name
from tailwork.simulation import Run
from tailwork.studies.compare.comparison import (
    Comparison,
    Plan,
    Result,
    last_common,
    sweep_rotations,
    torso_degrees,
)
from tailwork.studies.compare.curvature import segment_curvatures
from tailwork.studies.compare.ground_comparison import ground_times
from tailwork.studies.measures import AXES, by_kind, meaning_of, shown_measures, unit_of, whole_measure
from tailwork.studies.motions import motion_text
from tailwork.studies.possible import footnote, impossible, mark, marked
from tailwork.view.draw.picture import time_lapse
from tailwork.view.figures.runs import curvature_tracking, foot_forces, net_rotation, torso_response
from tailwork.view.report.page import Drawing, Drawings, Picture, Playback, Report, Section, Table
from tailwork.view.scene.colors import printed

ANGLE_TEXT = {
    "arc": "the arc of Eq. 86", "chain": "the centre of mass of the evenly bent chain of links",
    "tip": "the angle of the last link",
}  # fmt: skip
MOST_NAMED = 2  # motions of a tail that the conclusion names; of more motions, all but the first fold
ROTATION = {
    **{axis: (f"{axis} [°]", 1) for axis in AXES}, "airborne": ("airborne [°]", 1),
    "closed form": ("closed form [°]", 1), "effectiveness": ("effect", 2), "peak_tail_torque": ("torque [N m]", 1),
    "peak_joint_torque": ("torque on a joint [N m]", 1), "peak_segment_torque": ("torque on a segment [N m]", 1),
    "peak_tension": ("cable tension [N]", 0), "tail_energy": ("work [J]", 2),
    "least_normal_force": ("least normal [N]", 0), "friction_needed": ("friction", 2),
}  # fmt: skip
"""Columns of the short table: what stands above, and decimals. Those that no run has are left out."""
TAIL_HEADER = ("tail", "kind", "mass [kg]", "length [m]", "mount [m]", "numbers")
ANGLES = (*AXES, "airborne", "closed form")
MOST_DECIMALS = 6
LITTLE = 0.5
"""Of the rotation in the air: less of it is said to be held by the legs."""
TIE = 0.05
"""Rotations that differ by less than this share are called about equal."""
ALIKE = 0.5  # [deg]; tails whose centres of mass are less off their motion move alike
SAME = 1e-6
"""Masses and lengths that differ by less than this share are the same."""


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
    runs = {tail: {**r.measures, "airborne": _airborne(r), "closed form": r.closed_form} for tail, r in results.items()}
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


def _airborne(result: Result) -> float:
    """How far the robot turns in the air about the motion's own axis [deg]."""
    return float(result.airborne[AXES.index(result.case.scenario.motion.axis)])


def comparison_report(comparison: Comparison) -> Report:
    """The report: what came of it, a motion to be played or a sweep, how it was done, and everything in detail."""
    worst = max(r.measures["energy_balance"] for r in (*comparison.results, *comparison.swept))

    def sections(drawn: Mapping[str, Picture]) -> list[Section]:
        found = comparison_sections(comparison, drawn)
        first = next(section for section in found if section.playback or section.figures)
        if first.playback is None:
            opening, rest = Section("", figures=first.figures), replace(first, figures=())
        else:
            opening = Section("", playback=replace(first.playback, caption=f"{first.title}."))
            rest = replace(first, playback=None)
        return [opening, Section("", comparison_method(comparison)), *(rest if one is first else one for one in found)]

    footer = (
        f"Energy balances in every run to {minus(f'{worst:.1e}')} of what moved. Made by tailwork; runs are kept here."
    )
    return Report("Tails compared", conclusion(comparison), comparison_figures(comparison), sections, footer)


def conclusion(comparison: Comparison) -> str:
    """Which tail turns the torso farthest in which motion, and whether the feet could stay: from the numbers."""
    plan = comparison.plan
    motions = plan.motions or [swept[-1] for swept in plan.sweeps.values()]
    said, ahead = [], dict.fromkeys(plan.robots, 0)
    for motion in motions:
        own = comparison.of(motion)
        first, *others = sorted(own.values(), key=lambda r: -abs(r.measures[motion.axis]))
        ahead[first.case.tail] += 1
        said.append(_farthest(first, others[0] if others else None))
    if len(motions) > MOST_NAMED and len(plan.robots) > 1:
        counts = [f"{_named(tail)} in {count}" for tail, count in ahead.items() if count]
        said = [f"Of {len(motions)} motions, the torso turns farthest with {', with '.join(counts)}.", said[0]]
    results = comparison.results or comparison.swept
    early = sum(r.run.stopped is not None for r in results)
    ended = f" Of {len(results)} runs, {early} ended early." if early else ""
    weak = sum(not {"motor_load", "joint_speed_load"}.isdisjoint(impossible(r.measures)) for r in results)
    ended += f" In {weak} of {len(results)} runs a motor would be beyond its limits." if weak else ""
    return f"{' '.join(said)} {_unlike(results)}{_feet(comparison, results)}{ended}"


def _farthest(first: Result, second: Result | None) -> str:
    """How far the tail that turns the torso farthest does so, and the one after it."""
    motion = first.case.scenario.motion
    by, aloft, name = first.measures[motion.axis], _airborne(first), _named(first.case.tail)
    turned = f"{rounded(by, 3)}° of {motion.axis} at the end"
    if abs(by) < LITTLE * abs(aloft):
        turned += f" (in the air {rounded(aloft, 3)}°: the legs hold the rest)"
    if second is None:
        return f"In {motion.name} {name} turns the torso by {turned}."
    other = second.measures[motion.axis]
    after = f"{_named(second.case.tail)} ({rounded(other, 3)}°)"
    works = first.measures["tail_energy"], second.measures["tail_energy"]
    whole = first.run.stopped is None and second.run.stopped is None
    ratio = rounded(works[0] / works[1], 2) if whole and min(works) > 0.0 else ""
    work = f"{'about the' if ratio == '1' else f'{ratio} times the'} work" if ratio else ""
    if whole and by * other > 0.0 and abs(other) > (1.0 - TIE) * abs(by):
        said = f"In {motion.name} the torso turns about equally far with {name}, by {turned}, and {after}"
        return f"{said}; the first does {work} of the second." if work else f"{said}."
    said = f"In {motion.name} {name} turns the torso farthest, by {turned}"
    if work:
        return f"{said}, for {work} of {after}."
    return f"{said}, before {after}{'' if whole else '; not both runs reach their end'}."


def _unlike(results: Sequence[Result]) -> str:
    """How far the tails' centres of mass are off their motion, where they are."""
    off: dict[str, float] = {}
    for r in results:
        off[r.case.tail] = max(off.get(r.case.tail, 0.0), r.measures["tail_deviation"])
    said = [f"{_named(tail)} by up to {rounded(angle, 2)}°" for tail, angle in off.items() if angle > ALIKE]
    return f"Off the wanted motion of the centre of mass: {', '.join(said)}. " if said else ""


def _named(tail: str) -> str:
    return f"the {'robot’s own' if tail == 'own' else printed(tail)} tail"


def _feet(comparison: Comparison, results: Sequence[Result]) -> str:
    """Whether the feet could stay where the model holds them."""
    if comparison.plan.policy == "airborne":
        return "The robot is in the air: no foot holds it."
    rigid = [r for r in results if r.rigid is not None]
    if rigid and comparison.plan.ground is not None:
        moved = [r for r in rigid if r.rigid is not None and feet_text(r.rigid) != "all stay"]
        friction = f"On rigid ground of friction {float(comparison.plan.ground.friction):.2g}"
        if not moved:
            return f"{friction} all feet stay."
        named = ", ".join(dict.fromkeys(r.case.scenario.motion.name for r in moved))
        return f"{friction} feet slip or lift in {len(moved)} of {len(rigid)} runs ({named})."
    pulling = sum(r.measures["least_normal_force"] <= 0 for r in results)
    if pulling:
        return f"In {pulling} of {len(results)} runs a foot would have to pull, which no ground allows."
    needed = max(r.measures["friction_needed"] for r in results)
    return f"The feet stay only where the friction of the ground is {needed:.2f} or more."


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
    pulled = [_named(tail) for tail, own in plan.robots.items() if own.part(tail_name(own)).by_cables]
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


def comparison_sections(comparison: Comparison, drawn: Mapping[str, Picture]) -> list[Section]:
    """All results: a section a motion, a section a sweep, all measures; `drawn` has all `comparison_figures`."""
    sections = [_overview(comparison)] if comparison.plan.motions else []
    for motion in comparison.plan.motions:
        results = comparison.of(motion)
        names = [f"{kind}-{motion.name}" for kind in ("timelapse", "torso", "curvature", "feet")]
        table = rotation_table(results, comparison.plan.friction)
        pictures = [drawn[name] for name in names if name in drawn]
        where = "In the air" if comparison.plan.policy == "airborne" else "On pinned feet"
        played = f"{where}: the tail {motion_text(motion)}."
        playback = Playback({tail: r.run for tail, r in results.items()}, played)
        said = [_start_text(motion, results), *(f"{tail}: {r.note}." for tail, r in results.items() if r.note)]
        notes = "\n\n".join(filter(None, said))
        folded = len(comparison.plan.motions) > MOST_NAMED and motion is not comparison.plan.motions[0]
        title = f"{motion.name}: the tail {motion_text(motion)}"
        sections.append(Section(title, notes, pictures, [table], playback, folded=folded))
        if comparison.plan.ground is not None:
            rigid = _on_rigid_ground(motion, results, comparison.plan.friction)
            sections.append(replace(rigid, folded=folded))
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


RIGID_HEADER = (
    "tail", "pitch, pinned [°]", "rigid [°]", "roll, pinned [°]", "rigid [°]", "yaw, pinned [°]", "rigid [°]", "feet",
)  # fmt: skip
RIGID_TEXT = (
    "The same motion on rigid ground of friction {:.2g}, where feet lift, slip and land: what becomes of the robot "
    "where pinned feet would have to pull or to hold more than friction can. Angles are compared when the first of the "
    "two runs ends; a pinned run ends where a leg becomes straight."
)


def _on_rigid_ground(motion: TailMotion, results: Mapping[str, Result], friction: float) -> Section:
    """What actually happens in a motion."""
    rows = []
    for tail, r in results.items():
        assert r.rigid is not None
        time, pinned, rigid = last_common(r.run, r.rigid)
        turned = zip(pinned - torso_degrees(r.run)[0], rigid - torso_degrees(r.rigid)[0], strict=True)
        cells = [fixed(x, 1) for pair in turned for x in pair]
        until = "" if r.run.stopped is None else f" (angles at {time:.3f} s)"
        rows.append([mark(tail, "", r.measures, friction), *cells, feet_text(r.rigid) + until])
    note = footnote([r.measures for r in results.values()], friction).replace("not possible", "not possible as pinned")
    runs = {tail: r.rigid for tail, r in results.items() if r.rigid is not None}
    played = Playback(runs, f"On rigid ground: the tail {motion_text(motion)}.")
    return Section(
        f"{motion.name} on rigid ground",
        RIGID_TEXT.format(friction),
        (),
        [Table(RIGID_HEADER, rows, note=note)],
        played,
    )


def feet_text(run: Run) -> str:
    """What the feet of a run on the ground do first, and when [ms]."""
    firsts = sorted((time, foot, what) for foot, first in ground_times(run).items()
                    for what, time in (("slips", first.slips), ("lifts", first.lifts)) if time is not None)  # fmt: skip
    said = [f"{foot} {what} at {1e3 * time:.0f} ms" for time, foot, what in firsts[:MOST_NAMED]]
    more = f", {len(firsts) - MOST_NAMED} more" if len(firsts) > MOST_NAMED else ""
    return ", ".join(said) + more if said else "all stay"


def _overview(comparison: Comparison) -> Section:
    """Net rotations of all motions at a glance."""
    header = ("motion", "tail", "pitch [°]", "roll [°]", "yaw [°]", "about", "airborne [°]", "feet stay")
    rows, friction = [], comparison.plan.friction
    decimals = angle_decimals(comparison.results)
    for r in comparison.results:
        motion = r.case.scenario.motion
        stay = "—" if comparison.plan.policy == "airborne" else "no" if r.measures["least_normal_force"] <= 0 else "yes"
        if stay == "yes":
            stay = f"friction ≥ {r.measures['friction_needed']:.2f}"
        if r.run.stopped is not None:
            stay += f"; ends at {r.run.stopped.time:.3f} s"
        angles = [fixed(r.measures[name], decimals) for name in AXES]
        cells = [motion.name, r.case.tail, *angles, motion.axis, fixed(_airborne(r), decimals), stay]
        rows.append(marked(cells, [""] * 6 + ["friction_needed"], r.measures, friction))
    text = (
        "How far the torso has turned at the end of each run, and about the motion's own axis in the air. The "
        "difference is what the ground and the legs do. "
    )
    own = tail_rows(comparison.plan)
    sizes = "; ".join(
        f"{tail} {mass} kg{'' if length == '—' else f', {length} m'}" for tail, _, mass, length, *_ in own
    )
    text += f"Tails: {sizes}. {cables_text(comparison.plan)}"
    note = footnote([r.measures for r in comparison.results], friction)
    tails = Table(TAIL_HEADER, own, "The tails")
    return Section("At a glance", text, (), [Table(header, rows, note=note), tails])


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
