"""A design simulated again, alone, by the adaptive method, and its measures read from that run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tailwork.control.curvature_tracking import segments
from tailwork.errors import RobotError
from tailwork.robots.limb import Cable, Motor
from tailwork.simulation import Run, simulate
from tailwork.simulation.pose import torso_angles, torso_rates
from tailwork.studies.design.evaluate import Evaluator, cable_law, prepared
from tailwork.studies.design.measures import MEASURES
from tailwork.studies.design.problem import Study
from tailwork.studies.design.variables import Design, design_of
from tailwork.typing import Floats

FINER = 8
"""How many times more nodes the designs are looked at again."""
AGREE = 1e-4
"""Measures that differ by less than this share of their size agree."""
RTOL, ATOL = 1e-10, 1e-12


@dataclass(frozen=True)
class Verified:
    """A design's measures at the steps of the search, at finer steps, and from a single adaptive run."""

    design: Design
    run: Run
    coarse: dict[str, float]
    fine: dict[str, float]
    alone: dict[str, float]

    def disagreements(self) -> dict[str, tuple[float, float]]:
        """Measures of finer steps and of the single run that differ."""
        return {
            name: (value, self.alone[name])
            for name, value in self.fine.items()
            if value != self.alone[name]  # as both may be infinite
            and not abs(value - self.alone[name]) <= AGREE * max(abs(value), abs(self.alone[name]), 1e-6)
        }


@dataclass(frozen=True)
class Alone:
    """A design's single adaptive run and its measures."""

    run: Run
    measures: dict[str, float]


def as_given(study: Study, wanted: Iterable[str]) -> Alone | None:
    """What the robot of a problem does as it is, by the scenario's own motion; None: it cannot, or ends early."""
    try:
        design = design_of(study, {})
    except RobotError:  # a sweep that is always varied may be stated beyond what is possible
        return None
    run = simulated(study, design, FINER * study.steps + 1)
    return None if run.stopped is not None else Alone(run, measured_alone(study, design, run, wanted))


def verified(evaluator: Evaluator, values: Floats) -> Verified:
    """Look at a design again."""
    study = evaluator.study
    names = [name for name, measure in MEASURES.items() if evaluator.judge.has(measure.quantity)]
    steps = FINER * study.steps
    coarse = {name: float(x[0]) for name, x in evaluator.measures(values[None], names).items()}
    fine = {name: float(x[0]) for name, x in evaluator.measures(values[None], names, steps).items()}
    design = design_of(study, dict(zip((v.name for v in evaluator.variables), values.tolist(), strict=True)))
    run = simulated(study, design, steps + 1)
    return Verified(design, run, coarse, fine, measured_alone(study, design, run, fine))


def simulated(study: Study, design: Design, samples: int) -> Run:
    """A design's run by the adaptive method."""
    ready = prepared(study, design)
    run = simulate(
        ready.system.model, (ready.q, ready.v), design.duration, control=ready.system.laws, motions=ready.system.motions,
        rtol=RTOL, atol=ATOL, samples=samples,
    )  # fmt: skip
    return run.titled(f"{study.name}: the tail sweeps {design.sweep:.3g}° in {design.duration:.3g} s")


def measured_alone(study: Study, design: Design, run: Run, wanted: Iterable[str]) -> dict[str, float]:
    """The measures that are wanted and that the robot has, from the data of a run."""
    data, tail = run.data, study.tail_name
    angles = {name: np.degrees(values) for name, values in torso_angles(run).items()}
    rates = {name: np.degrees(values) for name, values in torso_rates(run).items()}
    torque, tension = _tail_efforts(run, tail)
    sources = (*run.model.actuator_names, *run.model.prescribed_names)
    power = data["power"].to_numpy()[:, _own(sources, tail)].sum(axis=1)
    speed = np.degrees(data["v"].to_numpy()[:, run.model.layout.rates[tail]])
    limb = run.model.layout.limbs[tail]
    mass = sum(float(joint.body.mass) for joint in limb.joints if joint.body is not None)
    places = {name: data["points"].sel(point=f"{tail}.{name}").to_numpy()[0] for name in (limb.joints[0].name, "tip")}
    motors = study.actuator
    carried = motors.base + motors.per_torque * torque.max(initial=0.0) + motors.per_power * np.abs(power).max()
    against = -np.sign(design.sweep)
    found = {f"peak_{name}": np.abs(values).max() for name, values in angles.items()}
    found |= {name: values[-1] - values[0] for name, values in angles.items()}
    found |= {f"peak_{name}_rate": np.abs(values).max() for name, values in rates.items()}
    found |= {
        "turn": against * found[study.scenario.axis],
        "peak_tail_torque": torque.max(initial=0.0),
        "peak_tension": tension.max(initial=0.0),
        "peak_tail_speed": np.abs(speed).max(),
        "peak_tail_power": np.abs(power).max(),
        "tail_energy": np.trapezoid(np.abs(power), data["time"].to_numpy()),
        "tail_mass": mass,
        "tail_length": np.linalg.norm(places["tip"] - places[limb.joints[0].name]),
        "actuator_mass": carried,
        "added_mass": mass + carried,
    }
    if tension.size and tail not in run.model.layout.prescribed:
        errors = _curvature_errors(study, design, run)
        times = data["time"].to_numpy()
        mean = np.trapezoid((errors**2).mean(axis=0), times) / (times[-1] - times[0])
        found |= {"curvature_error": np.sqrt(mean), "peak_curvature_error": np.abs(errors).max()}
    if run.model.foot_names:
        force = data["foot_force"].to_numpy()
        least = force[..., 2].min()
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (np.hypot(force[..., 0], force[..., 1]) / force[..., 2]).max()
        found |= {
            "least_normal_force": least,
            "friction_needed": ratio if least > 0.0 else np.inf,
            "most_extension": data["extension"].to_numpy().max(),
            "peak_leg_torque": np.abs(data["tau"].to_numpy()[:, _legs(run)]).max(),
        }
    return {name: float(found[name]) for name in wanted if name in found}


def _own(names: tuple[str, ...], limb: str) -> list[int]:
    return [k for k, name in enumerate(names) if name.startswith(f"{limb}.")]


def _legs(run: Run) -> list[int]:
    return [k for k, name in enumerate(run.model.actuator_names) if name.partition(".")[0] in run.model.layout.legs]


def _tail_efforts(run: Run, tail: str) -> tuple[Floats, Floats]:
    """Sizes of the torques on a tail's coordinates [N m] and tensions of its cables [N], over time."""
    limb = run.model.layout.limbs[tail]
    if tail in run.model.layout.prescribed:
        own = run.data["prescribed_effort"].to_numpy()[:, _own(run.model.prescribed_names, tail)]
        pulled = [
            own[:, limb.coordinates.index(motor.coordinate)] / float(motor.ratio)
            for motor in limb.actuators
            if isinstance(motor, Motor) and motor.unit == "N"
        ]
        return np.abs(own), np.abs(np.array(pulled).reshape(-1, len(own)).T)
    own = run.data["tau"].to_numpy()[:, _own(run.model.actuator_names, tail)]
    cables = np.array([isinstance(actuator, Cable) for actuator in limb.actuators])
    return np.abs(own[:, ~cables]), own[:, cables]


def _curvature_errors(study: Study, design: Design, run: Run) -> Floats:
    """Actual less desired curvature of each segment over time [1/m], from the joint angles of a run."""
    tail, times = study.tail_name, run.data["time"].to_numpy()
    part, limb = design.robot.part(tail), run.model.layout.limbs[tail]
    errors = []
    for profile, segment in zip(getattr(cable_law(study, design), study.scenario.axis), segments(limb), strict=True):
        joints = segment.yaw if study.scenario.axis == "yaw" else segment.pitch
        bend = sum(run.data["q"].sel(coordinate=f"{tail}.{limb.joints[k].name}").to_numpy() for k in joints)
        wanted = np.array([float(profile.value(float(t))) for t in times])
        errors.append((bend - wanted) / (len(joints) * float(part.link_length)))
    return np.array(errors)
