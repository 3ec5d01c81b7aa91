"""What a comparison of tails comes to: its conclusion, what else to know, and the table that a report opens with."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tailwork.control.tail_motion import TailMotion
from tailwork.format import fixed, rounded
from tailwork.robots.tails.fit import PUBLISHED
from tailwork.robots.tails.tail import tail_name
from tailwork.simulation import Run
from tailwork.studies.compare.comparison import Comparison, Plan, Result, last_common, torso_degrees
from tailwork.studies.compare.ground_comparison import ground_times
from tailwork.studies.measures import AXES
from tailwork.studies.possible import footnote, impossible, mark
from tailwork.view.report.page import Table
from tailwork.view.scene.colors import printed

MOST_NAMED = 2
"""Motions of a tail, and first events of feet, that are named."""
TIE = 0.05
"""Rotations and works that differ by less than this share are called about equal."""
ALIKE = 0.5  # [deg]; tails whose centres of mass are less off their motion move alike
SAME = 1e-6
"""Masses and lengths that differ by less than this share are the same."""
EQUAL = re.compile(" of equal mass(?: and length)?")
"""What `alike_text` says."""
PINNED_HEADER: tuple[str, ...] = (
    "motion", "tail", "largest [°]", "at the end [°]", "in the air [°]", "friction needed", "work [J]",
    "mass, length",
)  # fmt: skip
RIGID_HEADER: tuple[str, ...] = (
    "motion", "tail", "largest [°]", "at the end [°]", "feet pinned [°]", "in the air [°]", "feet", "friction needed",
    "work [J]", "mass, length",
)  # fmt: skip


def conclusion(comparison: Comparison) -> str:
    """In one or two sentences: which tail turns the torso farthest, by how much more and for how much more work than
    another one, and whether the feet could stay."""
    plan = comparison.plan
    motions = plan.motions or [swept[-1] for swept in plan.sweeps.values()]
    feet = _feet(comparison)
    if len(motions) == 1 or len(plan.robots) == 1:
        return f"{_farthest(comparison, motions[0])}; {feet}."
    if len(motions) == MOST_NAMED:
        first, second = (_farthest(comparison, motion) for motion in motions)
        said = [EQUAL.findall(text) for text in (first, second)]
        second = second if said[0] != said[1] else EQUAL.sub("", second)  # said once
        return f"{first}; {second[0].lower()}{second[1:]}. {feet[0].upper()}{feet[1:]}."
    ahead = dict.fromkeys(plan.robots, 0)
    for motion in motions:
        ahead[_ranked(comparison, motion)[0].case.tail] += 1
    counts = [f"{tail_words(tail)} in {count}" for tail, count in ahead.items() if count]
    counted = f"Of {len(motions)} motions, the torso turns farthest with {', with '.join(counts)}"
    return f"{counted}. {_farthest(comparison, motions[0])}; {feet}."


def conclusion_notes(comparison: Comparison) -> list[str]:
    """What else to know of the runs, in a sentence each."""
    plan, results = comparison.plan, comparison.results or comparison.swept
    off: dict[str, float] = {}
    for r in results:
        off[r.case.tail] = max(off.get(r.case.tail, 0.0), r.measures["tail_deviation"])
    said = [f"{tail_words(tail)} by up to {rounded(angle, 2)}°" for tail, angle in off.items() if angle > ALIKE]
    found = [f"Off the wanted motion of the centre of mass: {', '.join(said)}."] if said else []
    early = sum(r.run.stopped is not None for r in results)
    of = f"{len(results)} runs{' on pinned feet' if plan.ground is not None else ''}"
    found += [f"Of {of}, {early} ended early."] if early else []
    weak = sum(not {"motor_load", "joint_speed_load"}.isdisjoint(impossible(r.measures)) for r in results)
    found += [f"In {weak} of {of} a motor would be beyond its limits."] if weak else []
    if plan.ground is not None and comparison.results:
        most = max(comparison.results, key=lambda r: abs(common_turns(r)[0] - common_turns(r)[1]))
        (pinned, rigid, _), motion = common_turns(most), most.case.scenario.motion
        apart = f"differ most from rigid ground in {motion.name} with {tail_words(most.case.tail)}: "
        apart += f"{fixed(pinned, 2)}° of {motion.axis} instead of {fixed(rigid, 2)}°"
        near = "lead to the same turn as rigid ground, to 0.01°"
        found.append(f"Pinned feet {near if abs(pinned - rigid) < 0.01 else apart}.")
    return found


def _ranked(comparison: Comparison, motion: TailMotion) -> list[Result]:
    """The results of a motion, the one that turns the torso farthest first."""
    return sorted(comparison.of(motion).values(), key=lambda r: -abs(largest_turn(_told(r), motion)))


def _told(result: Result) -> Run:
    """The run that a conclusion is made from: on rigid ground, where there is one."""
    return result.run if result.rigid is None else result.rigid


def largest_turn(run: Run, motion: TailMotion) -> float:
    """How far the torso turns at most about the motion's own axis [deg]."""
    angles = torso_degrees(run)[:, AXES.index(motion.axis)]
    turned = angles - angles[0]
    return float(turned[np.abs(turned).argmax()])


def _farthest(comparison: Comparison, motion: TailMotion) -> str:
    """How far the tail that turns the torso farthest does so, beside the pendulum or the one after it."""
    first, *others = _ranked(comparison, motion)
    far, name = abs(largest_turn(_told(first), motion)), tail_words(first.case.tail)
    by = f"by up to {rounded(far, 3)}° of {motion.axis}"
    if not others:
        return f"In {motion.name} {name} turns the torso {by}"
    second = next((r for r in others if r.case.tail == "pendulum"), others[0])
    less, other = abs(largest_turn(_told(second), motion)), tail_words(second.case.tail)
    other += alike_text(comparison.plan, (first.case.tail, second.case.tail))
    if _told(first).stopped is not None or _told(second).stopped is not None:
        beside = f"{other} by {rounded(less, 3)}°, where not both runs reach their end"
        return f"In {motion.name} {name} turns the torso {by}, {beside}"
    work = _work(first, second)
    if less > (1.0 - TIE) * far:
        said = f"In {motion.name} {name} and {other} turn the torso about equally far, {by}"
        return f"{said}, the first for {work}" if work else said
    more = f"{100.0 * (far / less - 1.0):.0f} % further than" if 2.0 * less > far else "farther than"
    more = f"{rounded(far / less, 2)} times as far as" if 0.0 < 2.0 * less <= far else more
    said = f"In {motion.name} {name} turns the torso {more} {other}, {by}"
    return f"{said}, for {work}" if work else said


def _work(first: Result, second: Result) -> str:
    """The work of a tail as a multiple of another's; empty: one does none, or ended early."""
    works = first.measures["tail_energy"], second.measures["tail_energy"]
    if not min(works) > 0.0 or first.run.stopped is not None or second.run.stopped is not None:
        return ""
    ratio = works[0] / works[1]
    if abs(ratio - 1.0) < TIE:
        return "about the same work"
    return f"{rounded(ratio, 2)} times the work" if ratio > 1.0 else f"{rounded(100.0 * ratio, 2)} % of the work"


def alike_text(plan: Plan, tails: Sequence[str]) -> str:
    """Of tails of one mass, and of one length: "of equal mass and length", after a blank; empty: they differ."""
    parts = [robot.part(tail_name(robot)) for robot in (plan.robots[tail] for tail in tails)]
    masses, lengths = ([float(size(part)) for part in parts] for size in (
        lambda part: part.carried_mass(), lambda part: part.total_length(),
    ))  # fmt: skip
    same = [max(own) - min(own) <= SAME * max(own) for own in (masses, lengths)]
    return f" of equal mass{' and length' if same[1] and all(lengths) else ''}" if same[0] else ""


def tail_words(tail: str) -> str:
    """A tail by its label, in a sentence."""
    if tail in PUBLISHED:
        return f"the {printed(tail)}"
    return f"the {'robot’s own' if tail == 'own' else printed(tail)} tail"


def _feet(comparison: Comparison) -> str:
    """Whether the feet could stay where the model holds them."""
    results, ground = comparison.results or comparison.swept, comparison.plan.ground
    if comparison.plan.policy == "airborne":
        return "the robot is in the air"
    rigid = [r.rigid for r in results if r.rigid is not None]
    if rigid and ground is not None:
        moved = sum(feet_text(run) != "all stay" for run in rigid)
        friction = f"on rigid ground of friction {float(ground.friction):.2g}"
        return f"{friction} feet slip or lift in {moved} of {len(rigid)} runs" if moved else f"{friction} all feet stay"
    pulling = sum(r.measures["least_normal_force"] <= 0 for r in results)
    if pulling:
        return f"in {pulling} of {len(results)} runs a foot would have to pull, which no ground allows"
    return f"all feet stay for friction ≥ {max(r.measures['friction_needed'] for r in results):.2f}"


def feet_text(run: Run) -> str:
    """What the feet of a run on the ground do first, and when [ms]."""
    firsts = sorted((time, foot, what) for foot, first in ground_times(run).items()
                    for what, time in (("slips", first.slips), ("lifts", first.lifts)) if time is not None)  # fmt: skip
    said = [f"{foot} {what} at {1e3 * time:.0f} ms" for time, foot, what in firsts[:MOST_NAMED]]
    more = f", {len(firsts) - MOST_NAMED} more" if len(firsts) > MOST_NAMED else ""
    return ", ".join(said) + more if said else "all stay"


def airborne_turn(result: Result) -> float:
    """How far the robot turns in the air about the motion's own axis [deg]."""
    return float(result.airborne[AXES.index(result.case.scenario.motion.axis)])


def common_turns(result: Result) -> tuple[float, float, float]:
    """About the motion's axis when the first of the two runs ends: pinned and on rigid ground [deg]; then [s]."""
    assert result.rigid is not None
    axis = AXES.index(result.case.scenario.motion.axis)
    time, *angles = last_common(result.run, result.rigid)
    pinned, free = (now - torso_degrees(run)[0] for now, run in zip(angles, (result.run, result.rigid), strict=True))
    return float(pinned[axis]), float(free[axis]), time


def overview_table(comparison: Comparison, decimals: int = 1) -> Table:
    """How far the torso turns about each motion's own axis, what it takes of feet and tail, and the tails' sizes."""
    plan, own = comparison.plan, comparison.plan.friction
    rigid = plan.ground is not None
    rows = []
    for r in comparison.results:
        motion, part = r.case.scenario.motion, r.case.scenario.tail_part
        name = motion.name if motion.axis in motion.name else f"{motion.name} ({motion.axis})"
        friction = mark(fixed(r.measures["friction_needed"], 2), "friction_needed", r.measures, own)
        largest, aloft = (fixed(x, decimals) for x in (largest_turn(_told(r), motion), airborne_turn(r)))
        mass, length = float(part.carried_mass()), float(part.total_length())
        sizes = f"{mass:.3g} kg" + (f", {rounded(length, 3)} m" if length else "")
        if rigid:
            pinned, free, time = common_turns(r)
            until = "" if r.run.stopped is None else f" (the end: {time:.3f} s)"
            turned = [
                mark(largest, "tail_clearance", r.measures, own),
                mark(fixed(free, decimals), "tail_clearance", r.measures, own),
                mark(fixed(pinned, decimals), "", r.measures, own), aloft, f"{feet_text(_told(r))}{until}", friction,
            ]  # fmt: skip
        else:
            until = "" if r.run.stopped is None else f"; ends at {r.run.stopped.time:.3f} s"
            end = mark(fixed(r.measures[motion.axis], decimals), "", r.measures, own)
            turned = [mark(largest, "", r.measures, own), end, aloft, friction + until]
        rows.append([name, printed(r.case.tail), *turned, fixed(r.measures["tail_energy"], 2), sizes])
    caption = "How far the torso turns about the motion’s own axis: at most, at the end, and in the air."
    if rigid:
        caption = (
            f"How far the torso turns about the motion’s own axis on rigid ground of friction {own:.2g}, at most and "
            "at the end; at the end with pinned feet, and in the air; and what the feet do on that ground. The end is "
            "where the first of these runs ends. Friction needed and work are those of pinned feet."
        )
    header = RIGID_HEADER if rigid else PINNED_HEADER
    note = " ".join([_impossible(comparison), *conclusion_notes(comparison)]).strip()
    return Table(header, rows, caption, note)


def _impossible(comparison: Comparison) -> str:
    """What the marks mean: most only say that pinned feet cannot be; a tail below the ground is so on every ground."""
    runs, own = [r.measures for r in comparison.results], comparison.plan.friction
    if comparison.plan.ground is None:
        return footnote(runs, own)
    pinned = [{name: x for name, x in run.items() if name != "tail_clearance"} for run in runs]
    below = [{"tail_clearance": run["tail_clearance"]} for run in runs]
    pinned_only = footnote(pinned, own).replace("not possible", "not possible as pinned")
    return " ".join(filter(None, (pinned_only, footnote(below))))
