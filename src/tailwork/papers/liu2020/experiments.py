"""The claims of Liu & Ben-Tzvi 2020, Sect. 5, beside ours, in several readings of what the paper leaves open.

The bend of the R3's centre of mass is that of the arc, as in the paper (Eq. 86), or of the exact chain of links; the
attitude is exact or, as in the paper, omega = phi-dot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.optimize import root_scalar

from tailwork.control import TailMotion, TailTracking
from tailwork.model import Model
from tailwork.papers.claims import Claim, silent
from tailwork.robots import liu2020
from tailwork.robots.robot import Robot
from tailwork.simulation import LegStraight, Run
from tailwork.simulation.problem import Problem
from tailwork.simulation.simulate import run_of
from tailwork.studies.compare import comparison as studies
from tailwork.studies.compare.comparison import SWEPT, Comparison, Progress, angles_at, torso_degrees
from tailwork.studies.compare.curvature import segment_curvatures
from tailwork.studies.leg_policies import EQUATION_85
from tailwork.studies.measures import AXES
from tailwork.studies.motions import coupled, pitch, roll, yaw
from tailwork.studies.perform import perform, scenario_options
from tailwork.studies.scenario import Scenario

VARIANTS = (("arc", "rpy"), ("arc", "rpy-small-angle"), ("chain", "rpy"), ("chain", "rpy-small-angle"))
VARIANT_NAMES = ("arc, exact", "arc, small angles", "chain, exact", "chain, small angles")
RATIOS: tuple[tuple[TailMotion, str, str], ...] = (
    (yaw(40), "yaw", "similar"),
    (yaw(50), "yaw", "R3 less above 50°"),
    (yaw(80), "yaw", "R3 less"),
    (roll(40), "roll", "+11.6 %"),
    (roll(50), "roll", "R3 more below 50°, less above"),
    (roll(80), "roll", "−41.4 %"),
    (coupled(), "roll", "+33.2 %"),
)
"""Motions, the axis that is compared, and what the paper says of R3 against the pendulum."""
WAVE = pitch(20, duration=0.3, period=1.2)
PAPER_MORE = 4.0, 66.6  # [deg], [%], by which R3 pitches the torso more than the USRT, Sect. 5.3
PAPER_ERRORS = {"r3": (0.07, 0.07), "usrt": (-0.57, -0.69)}  # mean curvature errors by segment [1/m], Sect. 5.3
GAINS = ((5.0, 0.25), (20.0, 1.0), (60.0, 3.0), (200.0, 10.0))  # of the USRT's cables, which the paper does not state


MOST_BEND = 85  # [deg], up to which a crossing is looked for; by Eq. 86 an arc bends its centre by 87° at most

Pair = Callable[[str], tuple[TailMotion, TailMotion]]
"""What pendulum and R3 do, by how the bend of the R3's centre of mass is found, "arc" or "chain"."""


@dataclass(frozen=True)
class Ratio:
    """How much more the torso turns with the R3 tail than with the pendulum, in each reading."""

    motion: TailMotion
    reading: str  # what is read otherwise than in the first rows; empty: nothing
    axis: str
    paper: str
    ours: tuple[float, ...]  # [%], by variant
    times: tuple[float, ...]  # [s], when both were compared


@dataclass(frozen=True)
class Wave:
    """The sine of Sect. 5.3 with one tail: the torso's pitch at a quarter period and mean curvature errors."""

    label: str
    run: Run
    pitch: float  # [deg]
    errors: tuple[float, ...]  # by segment [1/m]


@dataclass(frozen=True)
class Liu2020:
    """Numbers of the reproduction."""

    claims: tuple[Claim, ...]
    ratios: tuple[Ratio, ...]
    comparison: Comparison  # of all tails in all motions, with its figures
    swept: Mapping[str, tuple[Mapping[str, list[float]], list[bool]]]  # by axis: see `swept`
    crossings: Mapping[str, Mapping[str, tuple[float, ...]]]  # by axis and reading: bends by variant [deg]
    waves: tuple[Wave, ...]  # R3, then the USRT with each pair of gains


def scenario(tail: str, motion: TailMotion, angle: str = "arc", attitude: str = "rpy") -> Scenario:
    """A motion of the study, the legs with the constant torques of Eq. 85."""
    return Scenario(liu2020(tail), replace(motion, angle=angle), "paper", attitude=attitude)


def same_center(motion: TailMotion) -> Pair:
    """Both tails carry their centres of mass along the same motion."""
    return lambda angle: (motion, replace(motion, angle=angle))


def joint_cubics(motion: TailMotion) -> Pair:
    """The pendulum goes to the same direction by cubics of its joint angles, so that it leaves the cone of a roll."""
    ends = {
        name: (math.atan2(math.cos(alpha) * math.sin(theta), math.cos(theta)),
               -math.asin(math.sin(alpha) * math.sin(theta)))
        for name, (alpha, theta) in (("start", motion.start), ("end", motion.end))
    }  # fmt: skip
    return lambda angle: (replace(motion, space="joints", **ends), replace(motion, angle=angle))


def beta_cubic(motion: TailMotion) -> Pair:
    """The R3 goes to the same bend by a cubic of the angle of its joints, not of its centre of mass."""
    tail, (alpha, theta) = liu2020("r3").part("tail"), motion.end

    def pair(angle: str) -> tuple[TailMotion, TailMotion]:
        joints = tail.coordinates(alpha, theta, angle)
        tip = tail.links_per_segment * sum(float(x) for name, x in joints.items() if name.startswith("beta"))
        return motion, replace(motion, angle="tip", end=(alpha, tip))

    return pair


MAIN, BY_JOINTS, BY_BETA = "", "the pendulum by cubics of its joint angles", "the R3 by a cubic of beta"
PAIRS: dict[str, Callable[[TailMotion], Pair]] = {MAIN: same_center, BY_JOINTS: joint_cubics, BY_BETA: beta_cubic}
"""By reading."""
STRAIGHTER = 0.9999  # share of its length that a leg may reach, instead of 0.985


def performed(tail: str, motion: TailMotion, attitude: str, extension: float | None = None) -> Run:
    """A motion with the constant torques of Eq. 85, until a leg has some extension."""
    wanted = Scenario(liu2020(tail), motion, "paper", attitude=attitude)
    if extension is None:
        return perform(wanted, samples=studies.SWEEP_SAMPLES)
    problem = replace(wanted.problem(), events=(LegStraight(extension=extension),))
    return run_of(problem, scenario_options({"samples": studies.SWEEP_SAMPLES}))


def compared(
    pair: Pair, axis: str, variant: tuple[str, str], extension: float | None = None
) -> tuple[float, float, float]:  # fmt: skip
    """The last time that both runs reach [s], and how far pendulum and R3 have turned the torso then [deg]."""
    angle, attitude = variant
    runs = (performed(tail, motion, attitude, extension)
            for tail, motion in zip(("pendulum", "r3"), pair(angle), strict=True))  # fmt: skip
    time, one, other = studies.last_common(*runs)
    return time, float(one[AXES.index(axis)]), float(other[AXES.index(axis)])


def swept(axis: str) -> tuple[dict[str, list[float]], list[bool]]:
    """Figs. 10 and 12: how far the torso turns at each bend [deg], by tail and map, at the last time that all three
    runs reach; and whether that is before the motion's end. Exact attitude."""
    made = {"yaw": yaw, "roll": roll}[axis]
    found: dict[str, list[float]] = {"pendulum": [], "r3, arc of Eq. 86": [], "r3, exact chain": []}
    early = []
    for bend in SWEPT:
        (rod, arc), (_, chain) = (same_center(made(bend))(angle) for angle in ("arc", "chain"))
        runs = [performed(tail, motion, "rpy") for tail, motion in (("pendulum", rod), ("r3", arc), ("r3", chain))]
        time = min(run.duration for run in runs)
        early.append(time < made(bend).duration - 1e-9)
        for turned, run in zip(found.values(), runs, strict=True):
            turned.append(float(angles_at(run, time)[AXES.index(axis)]))
    return found, early


def crossing(axis: str, reading: str, variant: tuple[str, str]) -> float:
    """The bend from which on the pendulum turns the torso farther than the R3 [deg]; NaN: none up to `MOST_BEND`."""
    made = {"yaw": yaw, "roll": roll}[axis]

    def ahead(bend: float) -> float:
        _, one, other = compared(PAIRS[reading](made(bend)), axis, variant)
        return abs(other) - abs(one)

    for (low, first), (high, second) in pairwise((bend, ahead(bend)) for bend in (*SWEPT, MOST_BEND)):
        if first > 0.0 >= second:
            return float(root_scalar(ahead, bracket=(low, high), xtol=0.02).root)
    return math.nan


def reproduce(folder: Path, progress: Progress = silent) -> Liu2020:
    """All numbers of Sect. 5; runs of the comparison are kept in `folder`/runs and taken from there."""
    comparison = studies.compare(studies.paper_plan(), folder, progress)
    total = 5 + len(GAINS)
    progress(0, total, "R3 against pendulum")
    rows = [(MAIN, None, *row) for row in RATIOS]
    rows += [(BY_JOINTS, None, *row) for row in RATIOS if row[0].axis == "roll" and row[0].space == "polar"]
    rows += [(BY_BETA, None, *row) for row in RATIOS if row[1] == "yaw"]
    rows += [(f"until a leg is at {STRAIGHTER:g} of its length", STRAIGHTER, *row) for row in RATIOS
             if row[0].name == "roll80"]  # fmt: skip
    ratios = tuple(_ratio(*row) for row in rows)
    progress(1, total, "Figs. 10 and 12")
    sweeps = {axis: swept(axis) for axis in ("yaw", "roll")}
    progress(2, total, "where R3 and pendulum cross")
    crossings = {
        axis: {reading: tuple(crossing(axis, reading, variant) for variant in VARIANTS) for reading in readings}
        for axis, readings in (("yaw", (MAIN, BY_BETA)), ("roll", (MAIN, BY_JOINTS)))
    }
    waves = []
    for done, case in enumerate(_wave_cases(), start=3):
        progress(done, total, f"sine of Sect. 5.3, {case[0]}")
        waves.append(_wave(*case))
    progress(total - 1, total, "until the torso falls")
    claims = (*_stance_claims(), *_fall_claims())
    progress(total, total, "")
    return Liu2020(claims, ratios, comparison, sweeps, crossings, tuple(waves))


def _ratio(reading: str, extension: float | None, motion: TailMotion, axis: str, paper: str) -> Ratio:
    pair = PAIRS.get(reading, same_center)(motion)
    found = [compared(pair, axis, variant, extension) for variant in VARIANTS]
    more = tuple(100.0 * (other / one - 1.0) for _, one, other in found)
    return Ratio(motion, reading, axis, paper, more, tuple(time for time, *_ in found))


def torso_poles(robot: Robot) -> dict[str, float]:
    """The fastest growing motion of the torso in roll, pitch and yaw [1/s]: tail held, balancing torques constant."""
    model = Model(robot, prescribed=["tail"])
    still, rest = np.zeros(len(model.prescribed_names)), np.zeros(len(model.velocity_names))
    found = model.casadi("forward_dynamics").jacobian()(
        q=model.standing(), v=rest, tau=model.static_torques(model.standing()), prescribed_acceleration=still,
        parameters=model.parameters(),
    )  # fmt: skip
    by_place, by_rate = (np.array(found[f"jac_acceleration_{x}"])[:6, :6] for x in "qv")
    # Upright, the rates of the angles are omega.
    poles, shapes = np.linalg.eig(np.block([[np.zeros((6, 6)), np.eye(6)], [by_place, by_rate]]))
    growth = np.real(poles)
    fastest: dict[str, float] = {}
    for k in np.argsort(growth):
        turned = int(np.abs(shapes[3:6, k]).argmax())  # the axis that the torso turns about most
        fastest[AXES[turned]] = max(float(growth[k]), fastest.get(AXES[turned], 0.0))
    return {axis: fastest[axis] for axis in ("roll", "pitch", "yaw")}


def _stance_claims() -> list[Claim]:
    model = Model(liu2020("pendulum").replace({"gravity": 9.81}))
    torques = model.static_torques(model.standing())[:12]
    same = np.array_equal(np.round(torques, 2) + 0.0, np.array(EQUATION_85))
    reading = f"g = 9.81, smallest torques; all twelve {'agree' if same else 'do not agree'} to the printed digits"
    claims = [
        Claim(f"Eq. 85, {model.actuator_names[k]} [N m]", f"{EQUATION_85[k]:g}", f"{torques[k]:.4f}", reading)
        for k in (1, 2, 7, 8)
    ]
    for tail in studies.TAIL_NAMES:
        model = Model(liu2020(tail))
        legs = np.concatenate([EQUATION_85, np.zeros(len(model.actuator_names) - 12)])
        rest = np.zeros(len(model.velocity_names))
        left = model.actuation_matrix(model.standing()) @ legs - model.bias(model.standing(), rest)
        claims += [
            Claim(f"what Eq. 85 leaves over, {tail}: {what}", "—", f"{left[k]:+.3f}", "g = 9.8, as in Table 1")
            for k, what in ((2, "lift [N]"), (3, "pitch [N m]"))
        ]
    return claims + [
        Claim(f"growth of the open-loop torso in {axis} [1/s]", "—", f"{value:.2f}",
              f"in 0.3 s an error grows {np.cosh(0.3 * value):.1f} times")
        for axis, value in torso_poles(liu2020().replace({"gravity": 9.81})).items()
    ]  # fmt: skip


def _fall_claims() -> list[Claim]:
    """How long the sine of Sect. 5.3 can go on in the open loop, down first and up first."""
    claims = []
    for tail in ("r3", "usrt"):
        for way, angle in (("down", 20), ("up", -20)):
            sine = pitch(angle, duration=WAVE.period, period=WAVE.period)
            run = perform(scenario(tail, sine), samples=studies.SWEEP_SAMPLES)
            said = "a full period" if run.stopped is None else f"{run.stopped.time:.2f}"
            reading = "" if run.stopped is None else f"the torso falls in the open loop: {run.stopped.reason}"
            claims.append(Claim(f"§5.3, sine of 20° and 1.2 s, {tail}, {way} first: until [s]", "—", said, reading))
    return claims


def _wave_cases() -> list[tuple[str, str, tuple[float, float] | None]]:
    """Label, tail and gains of the cables."""
    return [("r3", "r3", None), *((f"usrt, gains {kp:g}, {kd:g}", "usrt", (kp, kd)) for kp, kd in GAINS)]


def wave_problem(tail: str, gains: tuple[float, float] | None) -> Problem:
    """A quarter period from rest, the tail bending down; cables are pulled by plain PD with the gains."""
    wave = scenario(tail, WAVE)
    if gains is None:
        return wave.problem()
    tracking = TailTracking.of(wave.tail, wave.tail_part, *gains)
    return replace(wave.problem(), control=(*wave.laws[:-1], replace(tracking, feedforward=False)))


def _wave(label: str, tail: str, gains: tuple[float, float] | None) -> Wave:
    run = run_of(wave_problem(tail, gains), scenario_options({}))
    times, angles = run.data["time"].to_numpy(), torso_degrees(run)
    curvatures = segment_curvatures(run, scenario(tail, WAVE))
    errors = tuple(float(np.trapezoid(actual - desired, times) / times[-1]) for _, desired, actual in curvatures)
    return Wave(label, run, float(angles[-1, 0] - angles[0, 0]), errors)
