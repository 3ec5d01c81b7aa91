"""The claims of Liu & Ben-Tzvi 2020, Sect. 5, beside ours, in every reading of what the paper leaves open.

The bend of a tail's centre of mass is that of the paper's arc (Eq. 86) or of the exact chain of links; the attitude is
exact or, as in the paper, omega = phi-dot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tailwork.control import TailMotion, TailTracking
from tailwork.model import Model
from tailwork.papers.claims import Claim, listed, silent
from tailwork.robots import liu2020
from tailwork.robots.robot import Robot
from tailwork.simulation import Run
from tailwork.simulation.problem import Problem
from tailwork.simulation.simulate import run_of
from tailwork.studies.compare import comparison as studies
from tailwork.studies.compare.comparison import Comparison, Progress, torso_angles
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
    (yaw(50), "yaw", "about equal, crossover"),
    (yaw(80), "yaw", "R3 less"),
    (roll(40), "roll", "+11.6 %"),
    (roll(50), "roll", "crossover"),
    (roll(80), "roll", "−41.4 %"),
    (coupled(), "roll", "+33.2 %"),
)
"""Motions, the axis that is compared, and what the paper says of R3 against the pendulum."""
WAVE = pitch(20, duration=0.3, period=1.2)
PAPER_ERRORS = {"r3": (0.07, 0.07), "usrt": (-0.57, -0.69)}  # mean curvature errors by segment [1/m], Sect. 5.3
GAINS = ((5.0, 0.25), (20.0, 1.0), (60.0, 3.0), (200.0, 10.0))  # of the USRT's cables, which the paper does not state


@dataclass(frozen=True)
class Ratio:
    """How much more the torso turns with the R3 tail than with the pendulum, in each reading."""

    motion: TailMotion
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
    runs: tuple[tuple[str, str, Run], ...]  # motion, tail and run, arc and exact angles
    comparison: Comparison  # of all tails in all motions, with its figures
    chain: Mapping[str, tuple[Run, ...]]  # by axis: the R3's sweeps of Figs. 10 and 12 by the exact chain of links
    waves: tuple[Wave, ...]  # R3, then the USRT with each pair of gains


def scenario(tail: str, motion: TailMotion, angle: str = "arc", attitude: str = "rpy") -> Scenario:
    """A motion of the study, the legs with the constant torques of Eq. 85."""
    return Scenario(liu2020(tail), replace(motion, angle=angle), "paper", attitude=attitude)


def reproduce(folder: Path, progress: Progress = silent) -> Liu2020:
    """All numbers of Sect. 5; runs are kept in `folder`/runs and taken from there."""
    comparison = studies.compare(studies.paper_plan(), folder, progress)
    jobs = [(motion, tail, *variant) for motion, _, _ in RATIOS for variant in VARIANTS for tail in ("pendulum", "r3")]
    runs: dict[tuple[str, str, str, str], Run] = {}
    total = len(jobs) + 3 + len(GAINS)
    for done, (motion, tail, angle, attitude) in enumerate(jobs):
        progress(done, total, f"{motion.name}, {tail}, {angle}, {attitude}")
        # A pendulum has one bend, however it is measured.
        name = f"{tail}-{angle}-{attitude}" if tail != "pendulum" else f"{tail}-{attitude}"
        wanted = scenario(tail, motion, "arc" if tail == "pendulum" else angle, attitude)
        case = studies.Case(name, wanted, studies.SWEEP_SAMPLES)
        runs[motion.name, tail, angle, attitude] = studies.kept_run(case, folder / "runs")
    ratios = tuple(_ratio(motion, axis, paper, runs) for motion, axis, paper in RATIOS)
    exact = tuple((name, tail, run) for (name, tail, *variant), run in runs.items() if variant == ["arc", "rpy"])
    progress(len(jobs), total, "Figs. 10 and 12 by the exact chain")
    chain = {
        axis: tuple(
            studies.kept_run(studies.Case("r3-chain", scenario("r3", motion, "chain"), studies.SWEEP_SAMPLES),
                             folder / "runs")
            for motion in motions
        )
        for axis, motions in comparison.plan.sweeps.items()
    }  # fmt: skip
    waves = []
    for done, case in enumerate(_wave_cases(), start=1):
        progress(len(jobs) + done, total, f"sine of Sect. 5.3, {case[0]}")
        waves.append(_wave(*case))
    progress(total - 1, total, "until the torso falls")
    claims = (*_stance_claims(), *_fall_claims(), *wave_claims(tuple(waves)))
    progress(total, total, "")
    return Liu2020(claims, ratios, exact, comparison, chain, tuple(waves))


def _ratio(motion: TailMotion, axis: str, paper: str, runs: dict[tuple[str, str, str, str], Run]) -> Ratio:
    k = AXES.index(axis)
    found, times = [], []
    for variant in VARIANTS:
        time, one, other = studies.last_common(*(runs[motion.name, tail, *variant] for tail in ("pendulum", "r3")))
        found.append(100.0 * (other[k] / one[k] - 1.0))
        times.append(time)
    return Ratio(motion, axis, paper, tuple(found), tuple(times))


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
    printed = ", ".join(f"{x:g}" for x in EQUATION_85[:3] + EQUATION_85[6:9])
    ours = ", ".join(f"{round(x, 4) + 0.0:.4f}" for x in (*torques[:3], *torques[6:9]))
    reading = f"g = 9.81, smallest torques; all twelve {'agree' if same else 'do not agree'} to the printed digits"
    claims = [Claim("Eq. 85, torques of legs 1 and 3 [N m]", printed, ours, reading)]
    for tail in studies.TAIL_NAMES:
        model = Model(liu2020(tail))
        legs = np.concatenate([EQUATION_85, np.zeros(len(model.actuator_names) - 12)])
        rest = np.zeros(len(model.velocity_names))
        left = model.actuation_matrix(model.standing()) @ legs - model.bias(model.standing(), rest)
        said = f"{left[2]:+.3f} N lift, {left[3]:+.3f} N m pitch"
        claims.append(Claim(f"what Eq. 85 leaves over with g = 9.8, {tail}", "—", said, "Table 1 says g = 9.8"))
    found = torso_poles(liu2020().replace({"gravity": 9.81}))
    poles = ", ".join(f"{axis} {value:.2f}" for axis, value in found.items())
    grown = ", ".join(f"{axis} {np.cosh(0.3 * value):.1f}" for axis, value in found.items())
    claims.append(Claim("growth of the open-loop torso [1/s]", "—", poles, f"in 0.3 s an error grows by {grown} times"))
    return claims


def _fall_claims() -> list[Claim]:
    """How long the sine of Sect. 5.3 can go on in the open loop."""
    claims = []
    for tail in ("r3", "usrt"):
        run = perform(scenario(tail, replace(WAVE, duration=WAVE.period)), samples=studies.SWEEP_SAMPLES)
        said = "a full period" if run.stopped is None else f"until {run.stopped.time:.2f} s: {run.stopped.reason}"
        reading = "" if run.stopped is None else "the torso falls in the open loop: no full period is possible"
        claims.append(Claim(f"§5.3, sine of 20°, period 1.2 s, {tail}: how long it goes on", "—", said, reading))
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
    times, angles = run.data["time"].to_numpy(), torso_angles(run)
    curvatures = segment_curvatures(run, scenario(tail, WAVE))
    errors = tuple(float(np.trapezoid(actual - desired, times) / times[-1]) for _, desired, actual in curvatures)
    return Wave(label, run, float(angles[-1, 0] - angles[0, 0]), errors)


def wave_claims(waves: tuple[Wave, ...]) -> list[Claim]:
    """Sect. 5.3 beside ours."""
    rigid = waves[0]
    paper, ours = listed(PAPER_ERRORS["r3"], "+.2f"), listed(rigid.errors, "+.2f")
    reading = "a quarter period from rest; gains of the R3 tail are not stated"
    claims = [Claim("Fig. 16, mean curvature errors, R3 [1/m]", paper, ours, reading)]
    for wave in waves[1:]:
        more = 100.0 * (rigid.pitch / wave.pitch - 1.0)
        said = f"{rigid.pitch:.1f}° against {wave.pitch:.1f}°: {more:+.0f} %; errors {listed(wave.errors, '+.2f')} 1/m"
        paper = f"4° more, +66.6 %; errors {listed(PAPER_ERRORS['usrt'], '+.2f')} 1/m"
        reading = "plain PD; the paper states neither the cable controller nor its gains"
        claims.append(Claim(f"Figs. 15, 16, torso pitch of R3 against {wave.label}", paper, said, reading))
    return claims
