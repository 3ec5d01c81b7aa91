"""Figures and report of a comparison of tails."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from matplotlib.figure import Figure

from tailwork.format import capitalised, fixed, minus, number
from tailwork.robots.tails.fit import as_named, as_published
from tailwork.robots.tails.tail import tail_name
from tailwork.simulation import Run
from tailwork.studies.compare.comparison import (
    Comparison,
    Plan,
    Result,
    last_common,
    sweep_rotations,
    torso_angles,
)
from tailwork.studies.compare.curvature import segment_curvatures
from tailwork.studies.compare.ground_comparison import ground_times
from tailwork.studies.measures import AXES, meaning_of, shown_measures, unit_of
from tailwork.studies.motions import motion_text
from tailwork.view.draw.picture import time_lapse
from tailwork.view.figures.runs import curvature_tracking, foot_forces, net_rotation, torso_response
from tailwork.view.report.page import Drawing, Drawings, Picture, Playback, Report, Section, Table
from tailwork.view.scene.colors import shown

ANGLE_TEXT = {
    "arc": "the arc of Eq. 86", "chain": "the centre of mass of the evenly bent chain of links",
    "tip": "the angle of the last link",
}  # fmt: skip
MOST_NAMED = 2  # motions of a tail that the conclusion names
ROTATION_HEADER = (
    "tail", "pitch [°]", "roll [°]", "yaw [°]", "airborne [°]", "closed form [°]", "effect", "peak torque [N m]",
    "work [J]", "least normal [N]", "friction", "tail [kg]", "tail [m]",
)  # fmt: skip
TAIL_HEADER = ("tail", "kind", "mass [kg]", "length [m]", "mount [m]", "numbers")
SAME = 1e-6
"""Masses and lengths that differ by less than this share are the same."""
DECIMALS = {
    "effectiveness": 2, "peak_tail_torque": 1, "tail_energy": 2, "least_normal_force": 0, "friction_needed": 2
}  # fmt: skip


def comparison_figures(comparison: Comparison) -> Drawings:
    """All figures of a comparison, by file name: captions and what draws them."""
    found: dict[str, Drawing] = {}
    for motion in comparison.plan.motions:
        results, text = comparison.of(motion), motion_text(motion)
        runs = {tail: r.run for tail, r in results.items()}
        bent = {tail: r for tail, r in results.items() if r.case.scenario.tail_part.bends}
        title = f"{motion.name}, leg policy {comparison.plan.policy}"
        said = f"Torso response while the tail {text}." if motion.space != "joints" else f"Torso response: {text}."
        found[f"torso-{motion.name}"] = (said, partial(torso_response, runs, title=title))
        if motion.period and bent:
            said = "Curvature of each segment: wanted, found, and the difference."
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


def rotation_rows(results: Mapping[str, Result]) -> list[list[str]]:
    """Rows of the short table: torso rotations with the airborne ones beside them, what they ask, the tail's size."""
    rows = []
    for tail, r in results.items():
        angles = [*(r.measures[name] for name in AXES), _airborne(r), r.closed_form]
        size = (number(r.measures[name], 3) for name in ("tail_mass", "tail_length"))
        rows.append([
            tail, *(fixed(x, 1) for x in angles), *(fixed(r.measures[name], k) for name, k in DECIMALS.items()), *size
        ])  # fmt: skip
    return rows


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
            said = f"{capitalised(first.title)}: to be played, with its curves."
            opening, rest = Section("", playback=replace(first.playback, caption=said)), replace(first, playback=None)
        return [opening, Section("", comparison_method(comparison)), *(rest if one is first else one for one in found)]

    footer = (
        f"Energy balances in every run to {worst:.1e} of what moved. Made by tailwork; runs are kept in the folder."
    )
    return Report("Tails compared", conclusion(comparison), comparison_figures(comparison), sections, footer)


def conclusion(comparison: Comparison) -> str:
    """Which tail turns the torso farthest in which motion, and whether the feet could stay: from the numbers."""
    plan = comparison.plan
    farthest: dict[str, list[tuple[float, str]]] = {}
    for motion in plan.motions or [swept[-1] for swept in plan.sweeps.values()]:
        turned = {tail: r.measures[motion.axis] for tail, r in comparison.of(motion).items()}
        first, *others = sorted(turned, key=lambda tail: -abs(turned[tail]))
        after = "".join(f"; {_named(tail)} {number(turned[tail], 3)}°" for tail in others[:1])
        said = f"{motion.name} ({number(turned[first], 3)}° of {motion.axis}{after})"
        farthest.setdefault(first, []).append((-abs(turned[first]), said))
    said, does = [], f" turns the torso{' farthest' if len(plan.robots) > 1 else ''}"
    for tail, found in farthest.items():
        named, more = [text for _, text in sorted(found)[:MOST_NAMED]], len(found) - MOST_NAMED
        named += [f"{more} more motion{'s' if more > 1 else ''}"] if more > 0 else []
        said.append(f"{_named(tail)}{'' if said else does} in {' and '.join(named)}")
    results = comparison.results or comparison.swept
    early = sum(r.run.stopped is not None for r in results)
    ended = f" Of {len(results)} runs, {early} ended early." if early else ""
    return f"{capitalised('; '.join(said))}. {_feet(comparison, results)}{ended}"


def _named(tail: str) -> str:
    return f"the {'robot’s own' if tail == 'own' else shown(tail)} tail"


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
        named = ", ".join(f"{r.case.scenario.motion.name} with {_named(r.case.tail)}" for r in moved[:MOST_NAMED])
        more = f" and {len(moved) - MOST_NAMED} more" if len(moved) > MOST_NAMED else ""
        return f"{friction} feet slip or lift in {len(moved)} of {len(rigid)} runs: {named}{more}."
    pulling = sum(r.measures["least_normal_force"] <= 0 for r in results)
    if pulling:
        return f"In {pulling} of {len(results)} runs a foot would have to pull, which no ground lets it do."
    needed = max(r.measures["friction_needed"] for r in results)
    return f"All feet stay where the friction of the ground is {needed:.2f} or more."


def comparison_method(comparison: Comparison) -> str:
    """What is compared, and how, in a paragraph."""
    plan = comparison.plan
    first, robot = next(iter(plan.robots.items()))
    every = [*plan.motions, *(motion for motions in plan.sweeps.values() for motion in motions)]
    angles = " or ".join(dict.fromkeys(ANGLE_TEXT[motion.angle] for motion in every))
    name, tails = robot.name.removesuffix(f"-{first}"), ", ".join(plan.robots)
    return (
        f"Robot {name} with the tails {tails}. {sizes_text(plan)} Leg policy: {plan.policy_text}. All tails are to "
        f"carry their centre of mass alike, by {angles}; how far off they are is among the measures "
        "(tail deviation). A USRT is bent by its cables: PD on curvature, with what its springs need fed forward. "
        "Beside every rotation of the torso about the motion's own axis stands what the same tail motion does to the "
        "robot in the air with its legs rigid."
    )


def comparison_sections(comparison: Comparison, drawn: Mapping[str, Picture]) -> list[Section]:
    """All results: a section a motion, a section a sweep, all measures; `drawn` has all `comparison_figures`."""
    sections = [_overview(comparison)] if comparison.plan.motions else []
    for motion in comparison.plan.motions:
        results = comparison.of(motion)
        names = [f"{kind}-{motion.name}" for kind in ("timelapse", "torso", "curvature", "feet")]
        table = Table(ROTATION_HEADER, rotation_rows(results))
        pictures = [drawn[name] for name in names if name in drawn]
        playback = Playback({tail: r.run for tail, r in results.items()}, "The same runs, to be played.")
        notes = "\n\n".join(f"{tail}: {r.note}." for tail, r in results.items() if r.note)
        sections.append(Section(f"{motion.name}: {motion_text(motion)}", notes, pictures, [table], playback))
        if comparison.plan.ground is not None:
            sections.append(_on_rigid_ground(motion.name, results, float(comparison.plan.ground.friction)))
    tails = list(comparison.plan.robots)
    header = ("bend [°]", *(f"{tail} [°]" for tail in tails), *(f"{tail}, airborne [°]" for tail in tails))
    for axis in comparison.plan.sweeps:
        columns = list(sweep_rotations(comparison, axis))
        rows = [
            [f"{angle:.0f}", *(fixed(c[1][k], 1) for c in columns), *(fixed(c[2][k], 1) for c in columns)]
            for k, angle in enumerate(_bends(comparison, axis))
        ]
        sections.append(Section(f"Net {axis} against the bend", "", [drawn[f"net-{axis}"]], [Table(header, rows)]))
    return [*sections, _everything(comparison)]


RIGID_HEADER = (
    "tail", "pitch, pinned [°]", "rigid [°]", "roll, pinned [°]", "rigid [°]", "yaw, pinned [°]", "rigid [°]", "feet",
)  # fmt: skip
RIGID_TEXT = (
    "The same motion on rigid ground of friction {:.2g}, where feet lift, slip and land: what becomes of the robot "
    "where pinned feet would have to pull or to hold more than friction can. Angles are compared when the first of the "
    "two runs ends; a pinned run ends where a leg becomes straight."
)


def _on_rigid_ground(name: str, results: Mapping[str, Result], friction: float) -> Section:
    """What actually happens in a motion."""
    rows = []
    for tail, r in results.items():
        assert r.rigid is not None
        time, pinned, rigid = last_common(r.run, r.rigid)
        turned = zip(pinned - torso_angles(r.run)[0], rigid - torso_angles(r.rigid)[0], strict=True)
        cells = [fixed(x, 1) for pair in turned for x in pair]
        until = "" if r.run.stopped is None else f" (angles at {time:.3f} s)"
        rows.append([tail, *cells, feet_text(r.rigid) + until])
    played = Playback({tail: r.rigid for tail, r in results.items() if r.rigid is not None}, "On rigid ground.")
    return Section(f"{name} on rigid ground", RIGID_TEXT.format(friction), (), [Table(RIGID_HEADER, rows)], played)


def feet_text(run: Run) -> str:
    """What the feet of a run on the ground do first, and when [ms]."""
    firsts = sorted((time, foot, what) for foot, first in ground_times(run).items()
                    for what, time in (("slips", first.slips), ("lifts", first.lifts)) if time is not None)  # fmt: skip
    said = [f"{foot} {what} at {1e3 * time:.0f} ms" for time, foot, what in firsts[:MOST_NAMED]]
    more = f", {len(firsts) - MOST_NAMED} more" if len(firsts) > MOST_NAMED else ""
    return ", ".join(said) + more if said else "all stay"


def _overview(comparison: Comparison) -> Section:
    """Net rotations of all motions at a glance."""
    header = ("motion", "tail", "pitch [°]", "roll [°]", "yaw [°]", "about", "stance [°]", "airborne [°]", "feet stay")
    rows = []
    for r in comparison.results:
        motion = r.case.scenario.motion
        angles = [r.measures[name] for name in (*AXES, motion.axis)]
        stay = "—" if comparison.plan.policy == "airborne" else "no" if r.measures["least_normal_force"] <= 0 else "yes"
        if stay == "yes":
            stay = f"friction ≥ {r.measures['friction_needed']:.2f}"
        if r.run.stopped is not None:
            stay += f"; ends at {r.run.stopped.time:.3f} s"
        *cells, own = (fixed(x, 1) for x in angles)
        rows.append([motion.name, r.case.tail, *cells, motion.axis, own, fixed(_airborne(r), 1), stay])
    text = (
        "How far the torso has turned at the end of each run, and about the motion's own axis in stance and in the "
        "air. The difference is what the ground and the legs do."
    )
    return Section(
        "At a glance", text, (), [Table(header, rows), Table(TAIL_HEADER, tail_rows(comparison.plan), "The tails")]
    )


def tail_rows(plan: Plan) -> list[list[str]]:
    """The tails that are compared: mass, length from mount to tip when straight, mount, and whose numbers they are."""
    rows = []
    for tail, robot in plan.robots.items():
        name = tail_name(robot)
        part = robot.part(name)
        mass, length = float(part.total_mass()), float(part.total_length())
        mount = minus(", ".join(f"{x:g}" for x in robot.limbs()[name].joints[0].offset))
        known = {"as published (Liu & Ben-Tzvi 2020)": as_published(part), "own": tail == "own"}
        known |= {"as tailwork describes it": as_named(part)}
        source = next((words for words, holds in known.items() if holds), "scaled to the robot")
        rows.append([tail, part.kind, f"{mass:.3g}", number(length or None, 3), mount, source])
    return rows


def sizes_text(plan: Plan) -> str:
    """Whether the tails are of one mass and length, in a sentence."""
    tails = [robot.part(tail_name(robot)) for robot in plan.robots.values()]
    if all(map(as_published, tails)):
        return "The tails are as published (Liu & Ben-Tzvi 2020)."
    masses = [float(tail.total_mass()) for tail in tails]
    lengths = [length for tail in tails if (length := float(tail.total_length()))] or [0.0]  # wheels have none
    if len(tails) > 1 and all(max(own) - min(own) <= SAME * max(own) for own in (masses, lengths)):
        length = f", and length, {lengths[0]:.3g} m" if lengths[0] else ""
        return f"All tails have the same total mass, {masses[0]:.3g} kg{length}."
    return "Mass and length of the tails differ: they are in the tables." if len(tails) > 1 else ""


def _everything(comparison: Comparison) -> Section:
    """All measures of all motions."""
    results = comparison.results
    header = ["measure", "unit", *(f"{r.case.scenario.motion.name}, {r.case.tail}" for r in results)]
    rows = [
        [meaning_of(name), unit_of(name), *(number(r.measures[name], 3) for r in results)] for name in shown_measures()
    ]
    return Section(
        "All measures", "The same numbers, and those of the sweeps, are in measures.csv.", (), [Table(header, rows)],
        folded=True,
    )  # fmt: skip
