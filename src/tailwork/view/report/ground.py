"""Tables and report of a scenario on compliant ground beside the same one on pinned feet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

from tailwork.format import fixed, minus, rounded
from tailwork.mechanics.compliant.impedance import friction_ratio
from tailwork.robots.tails.fit import tail_text
from tailwork.simulation.contact.ground import critical_damping
from tailwork.studies.compare.ground_comparison import FirstTimes, GroundComparison, stiffness_text
from tailwork.studies.motions import motion_text
from tailwork.studies.possible import footnote, mark
from tailwork.view.figures.ground import convergence_figure, feet_figure, slip_times, torso_figure
from tailwork.view.report.page import Drawing, Picture, Playback, Report, Section, Table, scenario_title
from tailwork.view.scene.curves import stop_note

CONVERGENCE_HEADER = (
    "stiffness [N/m]", "sinks [mm]", "first half [mm]", "first half [°]", "sticking [mm]", "sticking [°]", "end [mm]",
    "end [°]",
)  # fmt: skip
FEET_TEXT = (
    "Pinned feet can push, pull and hold without limit. The ground cannot: where the pinned model asks a foot for more "
    "friction than there is, a foot on the ground slips, and where it asks it to pull, it lifts. On stiff ground that "
    "happens at about the time that the pinned model says; softer ground gives way first. What follows a slip, the "
    "pinned model does not know."
)
CONVERGENCE_TEXT = (
    "How far the torso is from the one on pinned feet: the path of its point P, the first sinking taken off, and the "
    "angle between the two; the largest as long as all feet stick, the largest in the first half of that time, and at "
    "the end. It falls as 1/stiffness (a slope of −1) as long as all feet stick; less so where a leg comes near to "
    "being straight, because softer ground then takes up more of it. The error of the method is taken off by "
    "extrapolation from two steps."
)


ROLLING = (
    "These feet are balls: on the ground they roll where they touch, while a pinned foot turns about its centre. So "
    "the difference has a part that does not fall with stiffness."
)


def rolling_text(comparison: GroundComparison) -> str:
    """What balls for feet do to the comparison; empty: feet are points."""
    return ROLLING if any(float(foot.radius) > 0.0 for foot in comparison.scenario.robot.feet().values()) else ""


def time_rows(comparison: GroundComparison) -> list[list[str]]:
    """By foot: the friction it needs, then what it does and when [ms]: by the pinned model, and on each ground."""
    rows = []
    for foot, pinned in comparison.pinned_times.items():
        firsts = [pinned, *(ground.first_times[foot] for ground in comparison.grounds)]
        firsts += [comparison.rigid_times[foot]] if comparison.rigid is not None else []
        measures = _needed(comparison, foot)
        rows.append([foot, mark(fixed(measures["friction_needed"], 2), "", measures, comparison.friction),
                     *map(_done, firsts)])  # fmt: skip
    return rows


def _needed(comparison: GroundComparison, foot: str) -> dict[str, float]:
    """Measures of one pinned foot."""
    force = comparison.pinned.data["foot_force"].sel(foot=foot).to_numpy()
    return {"friction_needed": float(friction_ratio(force).max()), "least_normal_force": float(force[:, 2].min())}


def time_note(comparison: GroundComparison) -> str:
    """What the marks at the feet mean; empty: there are none."""
    return footnote((_needed(comparison, foot) for foot in comparison.pinned_times), comparison.friction)


def _done(first: FirstTimes) -> str:
    """What a foot does, and when [ms]."""
    done = sorted((time, what) for what, time in (("slips", first.slips), ("lifts", first.lifts)) if time is not None)
    return ", ".join(f"{what} {time * 1e3:.1f}" for time, what in done) or "sticks"


def convergence_rows(comparison: GroundComparison) -> list[list[str]]:
    """By ground: how deep the robot sinks, how far it is from the pinned one as long as all feet stick, in the first
    half of that time and at the end; then the slopes."""
    half, whole = comparison.convergence(comparison.sticking / 2), comparison.convergence()
    rows = []
    for k, ground in enumerate(comparison.grounds):
        lengths = [ground.sinking, half.place[k], whole.place[k], float(ground.place_difference[-1])]
        angles = [half.attitude[k], whole.attitude[k], float(ground.attitude_difference[-1])]
        sinks, *apart = (f"{x * 1e3:.3g}" for x in lengths)
        turned = (f"{math.degrees(x):.3g}" for x in angles)
        pairs = [cell for pair in zip(apart, turned, strict=True) for cell in pair]
        rows.append([stiffness_text(ground.ground), sinks, *pairs])
    if len(rows) > 1:
        slopes = (half.place_slope, half.attitude_slope, whole.place_slope, whole.attitude_slope)
        rows.append(["slope", "", *(fixed(x, 2) for x in slopes), "", ""])
    return rows


def ground_text(comparison: GroundComparison) -> str:
    """The ground as text."""
    ground = comparison.grounds[0].ground
    share = ground.tangential_damping / critical_damping(comparison.scenario.robot, float(ground.stiffness))
    return (
        f"friction {ground.static_friction:.3g}, {ground.kinetic_friction:.3g} while slipping; damping {share:.3g} of "
        "what is critical for the robot that bounces on it"
    )


def ground_notes(comparison: GroundComparison) -> list[str]:
    """Runs that ended early, and why."""
    found = {label: stop_note(run) for label, run in comparison.runs.items()}
    return [f"{label}: {note}" for label, note in found.items() if note]


def ground_report(comparison: GroundComparison) -> Report:
    """The report: when feet slip or lift, the torso, and how near stiff ground comes to pinned feet."""
    title = scenario_title(comparison.scenario)
    found: dict[str, Drawing] = {}
    if slip_times(comparison):
        found["feet-slipping"] = (
            "Each foot around the time when feet slip or lift: normal force, ratio of tangential to normal force, and "
            "when it slips or is in the air (pinned: would slip, would have to pull).",
            lambda: feet_figure(comparison, zoomed=True, title=title),
        )
    found["feet"] = ("Each foot over the whole run.", lambda: feet_figure(comparison, title=title))
    found["torso"] = (
        "The torso on pinned feet and on each ground, and how far apart they are, the first sinking taken off.",
        lambda: torso_figure(comparison, title=title),
    )
    several = len(comparison.grounds) > 1
    if several and (comparison.convergence(comparison.sticking / 2).place > 0.0).all():  # else feet slip at once
        found["convergence"] = (
            "How far the torso is from the one on pinned feet, against stiffness.",
            lambda: convergence_figure(comparison, title=title),
        )
    worst = max(ground.run.momentum_balance_error() for ground in comparison.grounds)
    pinned, ground = (minus(f"{error:.1e}") for error in (comparison.pinned.energy_balance_error(), worst))
    footer = (
        f"On pinned feet energy balances to {pinned} of what moved; on the ground momentum balances to {ground} of the "
        "weight's impulse. Made by tailwork; runs are kept in the folder."
    )
    return Report(
        "Pinned feet and compliant ground", conclusion(comparison), found, partial(_sections, comparison), footer
    )


def conclusion(comparison: GroundComparison) -> str:
    """Whether the feet stay where the pinned model holds them, on the stiffest ground, and how far off the torso is."""
    stiffest, label = comparison.grounds[-1], list(comparison.runs)[len(comparison.grounds)]
    firsts = [(time, foot, what) for foot, first in stiffest.first_times.items()
              for what, time in (("slips", first.slips), ("lifts", first.lifts)) if time is not None]  # fmt: skip
    needed = comparison.pinned.friction_needed()
    required = "feet that pull" if math.isinf(needed) else f"a friction of {needed:.2f}"
    if firsts:
        time, foot, what = min(firsts)
        said = (
            f"The feet do not all stay: on ground of {label} {foot} is the first that {what}, at {1e3 * time:.0f} ms; "
            f"the pinned model needs {required}, the ground has {comparison.friction:.2g}."
        )
    else:
        said = (
            f"All feet stay on ground of {label}: the pinned model needs {required}, the ground has "
            f"{comparison.friction:.2g}."
        )
    apart, turned = float(stiffest.place_difference[-1]), float(stiffest.attitude_difference[-1])
    return (
        f"{said} The torso ends {rounded(1e3 * apart, 2)} mm and {rounded(math.degrees(turned), 2)}° away from where "
        "pinned feet bring it."
    )


def _sections(comparison: GroundComparison, drawn: Mapping[str, Picture]) -> list[Section]:
    feet = [picture for name, picture in drawn.items() if name.startswith("feet")]
    times = ("foot", "friction needed", *(f"{label} [ms]" for label in comparison.runs))
    said = f"When each foot first slips and lifts. The tail: {tail_text(comparison.scenario.tail_part)}."
    first = Table(times, time_rows(comparison), said, time_note(comparison))
    return [
        Section("", tables=[first], playback=Playback(comparison.runs, "All runs in one place.", "overlay")),
        Section("How it was done", _summary(comparison), folded=True),
        Section(
            "When feet slip or lift",
            "\n\n".join([FEET_TEXT, *(f"{note}." for note in ground_notes(comparison))]),
            feet,
        ),
        Section("The torso", "", [drawn["torso"]]),
        Section(
            "Nearer to pinned feet with stiffness",
            f"{CONVERGENCE_TEXT} All feet stick until {comparison.sticking * 1e3:.1f} ms. {rolling_text(comparison)}",
            [drawn[name] for name in ("convergence",) if name in drawn],
            [Table(CONVERGENCE_HEADER, convergence_rows(comparison))],
            folded=True,
        ),
    ]


def _summary(comparison: GroundComparison) -> str:
    scenario = comparison.scenario
    return (
        f"Robot {scenario.robot.name}. Tail: {tail_text(scenario.tail_part)}. It "
        f"{motion_text(scenario.motion)}. Leg policy: {scenario.leg_policy.text(scenario.robot)}. "
        "The same is done on pinned feet and on flat compliant ground: "
        f"{ground_text(comparison)}. There the robot starts as it stands, pressed into the ground by what its feet "
        "bear at the first instant."
    )
