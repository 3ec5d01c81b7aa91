"""The claims of Liu & Ben-Tzvi 2020, Sect. 5, beside ours, in every reading of what the paper leaves open.

The map from the centre of mass to the tail's shape is the paper's arc (Eq. 86) or the exact centre of mass of the
links; the attitude is exact or, as in the paper, omega = phi-dot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tailwork.control import CurvatureTracking
from tailwork.model import Model
from tailwork.papers.claims import Claim, listed, silent
from tailwork.robots import liu2020
from tailwork.robots.robot import Robot
from tailwork.simulation import LegStraight, Run, simulate
from tailwork.studies.compare.comparison import (
    SWEEP_SAMPLES,
    TAIL_NAMES,
    Case,
    Comparison,
    Progress,
    compare,
    kept_run,
    last_common,
    paper_plan,
)
from tailwork.studies.curvature import bending
from tailwork.studies.manoeuvre import ATOL, RTOL, Manoeuvre, perform, tail_laws
from tailwork.studies.measures import AXES, mean_over, torso_angles
from tailwork.studies.motions import TailMotion, coupled, pitch, roll, yaw
from tailwork.studies.policies import EQUATION_85, stand
from tailwork.typing import Floats

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
    pitch: float  # [deg]
    errors: tuple[float, ...]  # by segment [1/m]


@dataclass(frozen=True)
class Liu2020:
    """Numbers of the reproduction."""

    claims: tuple[Claim, ...]
    ratios: tuple[Ratio, ...]
    angles: tuple[tuple[str, str, Floats], ...]  # motion, tail, net pitch, roll and yaw [deg], arc and exact
    reactions: tuple[tuple[str, str, float, float], ...]  # motion, tail, least normal force [N], friction needed
    comparison: Comparison  # of all tails in all motions, with its figures


def reproduce(folder: Path, progress: Progress = silent) -> Liu2020:
    """All numbers of Sect. 5; runs are kept in `folder`/runs and taken from there."""
    comparison = compare(paper_plan(), folder, progress)
    jobs = [(motion, tail, *variant) for motion, _, _ in RATIOS for variant in VARIANTS for tail in ("pendulum", "r3")]
    runs: dict[tuple[str, str, str, str], Run] = {}
    total = len(jobs) + 2 + len(GAINS)
    for done, (motion, tail, com_map, attitude) in enumerate(jobs):
        progress(done, total, f"{motion.name}, {tail}, {com_map}, {attitude}")
        # A pendulum's shape does not depend on the map.
        manoeuvre = Manoeuvre(liu2020(tail), motion, "paper", com_map=com_map, attitude=attitude)
        name = f"{tail}-{com_map}-{attitude}" if tail != "pendulum" else f"{tail}-{attitude}"
        if tail == "pendulum":
            manoeuvre = replace(manoeuvre, com_map="arc")
        runs[motion.name, tail, com_map, attitude] = kept_run(Case(name, manoeuvre, SWEEP_SAMPLES), folder / "runs")
    ratios = tuple(_ratio(motion, axis, paper, runs) for motion, axis, paper in RATIOS)
    exact = [
        (motion, tail, runs[motion.name, tail, "arc", "rpy"]) for motion, _, _ in RATIOS for tail in TAIL_NAMES[:2]
    ]
    angles = tuple((motion.name, tail, torso_angles(run)[-1] - torso_angles(run)[0]) for motion, tail, run in exact)
    reactions = tuple((motion.name, tail, run.min_normal_force(), run.friction_needed()) for motion, tail, run in exact)
    waves = []
    for done, (label, manoeuvre, gains) in enumerate(_wave_cases()):
        progress(len(jobs) + done, total, f"sine of Sect. 5.3, {label}")
        waves.append(_wave(label, manoeuvre, gains))
    progress(total - 1, total, "until the torso falls")
    claims = (*_stance_claims(), *_fall_claims(), *wave_claims(tuple(waves)))
    progress(total, total, "")
    return Liu2020(claims, ratios, angles, reactions, comparison)


def _ratio(motion: TailMotion, axis: str, paper: str, runs: dict[tuple[str, str, str, str], Run]) -> Ratio:
    k = AXES.index(axis)
    found, times = [], []
    for variant in VARIANTS:
        time, one, other = last_common(*(runs[motion.name, tail, *variant] for tail in ("pendulum", "r3")))
        found.append(100.0 * (other[k] / one[k] - 1.0))
        times.append(time)
    return Ratio(motion, axis, paper, tuple(found), tuple(times))


def torso_poles(robot: Robot) -> dict[str, float]:
    """The fastest growing motion of the torso in roll, pitch and yaw [1/s]: tail held, balancing torques constant."""
    model = Model(robot, prescribed=["tail"])
    still = np.zeros(len(model.prescribed_names))
    start = np.concatenate([model.standing()[:6], np.zeros(6)])
    tau = model.static_torques(model.standing())
    steps = np.arange(1, 5) * 1e-3
    weights = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])  # central differences of order eight

    def rates(x: Floats) -> Floats:
        q, v = np.concatenate([x[:6], still]), np.concatenate([x[6:], still])
        forward = model.forward_dynamics(q, v, tau, given=still)
        return np.concatenate([model.coordinate_rates(q, v)[:6], forward[:6]])

    slopes = np.array([
        sum(w * (rates(start + h * e) - rates(start - h * e)) for h, w in zip(steps, weights, strict=True)) / 1e-3
        for e in np.eye(12)
    ]).T  # fmt: skip
    found_poles: Any = np.linalg.eig(slopes)
    poles, shapes = found_poles
    found: dict[str, float] = {}
    for k in np.argsort(poles.real):
        turned = int(np.abs(shapes[3:6, k]).argmax())  # told apart by how the torso turns
        found[AXES[turned]] = max(float(poles.real[k]), found.get(AXES[turned], 0.0))
    return {axis: found[axis] for axis in ("roll", "pitch", "yaw")}


def _stance_claims() -> list[Claim]:
    model = Model(liu2020("pendulum").replace({"gravity": 9.81}))
    torques = model.static_torques(model.standing())[:12]
    same = np.array_equal(np.round(torques, 2) + 0.0, np.array(EQUATION_85))
    printed = ", ".join(f"{x:g}" for x in EQUATION_85[:3] + EQUATION_85[6:9])
    ours = ", ".join(f"{round(x, 4) + 0.0:.4f}" for x in (*torques[:3], *torques[6:9]))
    claims = [
        Claim(
            "Eq. 85, torques of legs 1 and 3 [N m]", printed, ours,
            f"g = 9.81, smallest torques; all twelve {'agree' if same else 'do not agree'} to the printed digits",
        )
    ]  # fmt: skip
    for tail in TAIL_NAMES:
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
        run = perform(Manoeuvre(liu2020(tail), replace(WAVE, duration=WAVE.period), "paper"), samples=SWEEP_SAMPLES)
        said = "a full period" if run.stopped is None else f"until {run.stopped.time:.2f} s: {run.stopped.reason}"
        reading = "" if run.stopped is None else "the torso falls in the open loop: no full period is possible"
        claims.append(Claim(f"Fig. 15, sine of 20° and 1.2 s, {tail}", "1.2 s shown", said, reading))
    return claims


def _wave_cases() -> list[tuple[str, Manoeuvre, tuple[float, float] | None]]:
    cases: list[tuple[str, Manoeuvre, tuple[float, float] | None]] = [
        ("r3", Manoeuvre(liu2020("r3"), WAVE, "paper"), None)
    ]
    return cases + [
        (f"usrt, gains {kp:g}, {kd:g}", Manoeuvre(liu2020("usrt"), WAVE, "paper"), (kp, kd)) for kp, kd in GAINS
    ]


def _wave(label: str, manoeuvre: Manoeuvre, gains: tuple[float, float] | None) -> Wave:
    """A quarter period from rest, the tail bending down."""
    if gains is None:
        run = perform(manoeuvre)
    else:
        shape = manoeuvre.start_shape()
        ready = stand(manoeuvre.robot, manoeuvre.policy, manoeuvre.tail, shape, prescribed=False)
        laws = [
            replace(law, kp=gains[0], kd=gains[1], stiffness=0.0)
            for law in tail_laws(manoeuvre)
            if isinstance(law, CurvatureTracking)
        ]
        run = simulate(
            ready.model, ready.q, WAVE.duration, control=[*ready.laws, *laws], rtol=RTOL, atol=ATOL,
            events=(LegStraight(),), samples=301,
        )  # fmt: skip
    times = run.data["time"].to_numpy()
    errors = tuple(mean_over(b.error, times) for b in bending(run, manoeuvre))
    return Wave(label, float(torso_angles(run)[-1, 0] - torso_angles(run)[0, 0]), errors)


def wave_claims(waves: tuple[Wave, ...]) -> list[Claim]:
    """Sect. 5.3 beside ours."""
    rigid = waves[0]
    claims = [
        Claim(
            "Fig. 16, mean curvature errors, R3 [1/m]", listed(PAPER_ERRORS["r3"], "+.2f"),
            listed(rigid.errors, "+.2f"),
            "a quarter period from rest; gains of the R3 tail are not stated",
        )
    ]  # fmt: skip
    for wave in waves[1:]:
        more = 100.0 * (rigid.pitch / wave.pitch - 1.0)
        said = f"{rigid.pitch:.1f}° against {wave.pitch:.1f}°: {more:+.0f} %; errors {listed(wave.errors, '+.2f')} 1/m"
        claims.append(
            Claim(
                f"Figs. 15, 16, torso pitch of R3 against {wave.label}",
                f"4° more, +66.6 %; errors {listed(PAPER_ERRORS['usrt'], '+.2f')} 1/m",
                said,
                "plain PD; the paper states neither the cable controller nor its gains",
            )
        )
    return claims
