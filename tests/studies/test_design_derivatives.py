"""Derivatives of designs: of every quantity at every node and of measures, beside central differences."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from few_links import few_links
from tailwork.studies.design import Evaluator, Goal, Study, Variable
from tailwork.studies.motions import sweep
from tailwork.studies.scenario import ActuatorMass, Scenario
from tailwork.typing import Floats

MOTION = (
    Variable("motion.sweep", 30.0, 50.0),
    Variable("motion.duration", 0.25, 0.35),
    Variable("motion.early", -1.0, 1.0),
)
VARIABLES = {
    "pendulum": (
        Variable("tail.length", 0.3, 0.6), Variable("tail.total_mass", 0.6, 1.2), Variable("tail.tip_share", 0.1, 0.9),
        Variable("tail.mount.z", -0.05, 0.05), Variable("stand.z", 0.38, 0.42), Variable("legs.hips.1.x", 0.13, 0.17),
        Variable("torso.mass", 10.0, 14.0), *MOTION, Variable("motion.skew", -1.0, 1.0),
    ),
    "pendulum by motors": (
        Variable("tail.total_length", 0.3, 0.6), Variable("control.kp", 200.0, 400.0),
        Variable("control.kd", 4.0, 8.0), *MOTION,
    ),
    "usrt": (
        Variable("tail.total_mass", 0.8, 1.2), Variable("tail.total_length", 0.4, 0.56),
        Variable("tail.bending_stiffness", 1.0, 3.0), Variable("tail.mount.z", -0.05, 0.05),
        Variable("control.kp", 50.0, 70.0), Variable("control.kd", 2.0, 4.0), *MOTION,
    ),
}  # fmt: skip
SMOOTH = ("turn", "roll", "tail_energy", "peak_tail_torque", "peak_leg_torque", "least_normal_force", "friction_needed",
          "most_extension", "effectiveness", "cost", "impulse_yaw", "tail_mass", "added_mass", "peak_tail_power",
          "curvature_error_rms", "curvature_error_peak", "peak_tension", "duration")  # fmt: skip
POLICY = {"pendulum": "straight-down-joint", "pendulum by motors": "constant", "usrt": "straight-down"}
STEPS = 24
ALL = pytest.mark.parametrize("name", VARIABLES)


@cache
def evaluator(name: str) -> Evaluator:
    """The problem, compiled once."""
    scenario = Scenario(
        few_links(name.split()[0]), sweep("yaw", 40.0), POLICY[name], "motors" if "motors" in name else "auto",
        actuator=ActuatorMass(0.1, 0.02, 0.01),
    )  # fmt: skip
    study = Study(name, scenario, VARIABLES[name], (Goal("turn", "most"),), steps=STEPS)
    return Evaluator(study, threads=1, also=SMOOTH)


@cache
def design(name: str) -> Floats:
    """Somewhere within the bounds."""
    own = evaluator(name)
    return own.low + (own.high - own.low) * np.random.default_rng(4).uniform(0.3, 0.6, len(own.low))


def central(own: Evaluator, at: Floats, of: Callable[[Floats], Floats]) -> Floats:
    """Differences of order four, a row a variable, from designs to values."""
    rows = []
    for k in range(len(at)):
        h = 2e-3 * (own.high[k] - own.low[k])
        moved = np.tile(at, (4, 1))
        moved[:, k] += np.array([1.0, -1.0, 0.5, -0.5]) * h
        x = of(moved)
        rows.append((4.0 * (x[2] - x[3]) / h - (x[0] - x[1]) / (2.0 * h)) / 3.0)
    return np.array(rows)


@pytest.mark.measured("design")
@ALL
def test_quantities_at_the_nodes(name: str, measured: Callable[..., None]) -> None:
    """By variables of the robot, of the tail as a whole, of the motion and of the gains."""
    own = evaluator(name)
    found, wanted = own.tangents(design(name)), central(own, design(name), own.roll)
    span = (own.high - own.low)[:, None, None]
    sizes = np.maximum((np.abs(wanted) * span).max(axis=(0, 1)), 1e-6) / span
    assert found.shape == (len(own.variables), STEPS + 1, wanted.shape[-1]) and np.isfinite(wanted).all()
    apart = float((np.abs(found - wanted) / sizes).max())
    measured("quantities along the path of designs, exact beside differences", apart, at_most=1e-6)


@pytest.mark.measured("design")
@ALL
def test_measures(name: str, measured: Callable[..., None]) -> None:
    """Every kind of reduction; those that a robot has not are NaN."""
    own = evaluator(name)
    names = [one for one in SMOOTH if own.look.has(one)]
    assert len(names) > 12
    found = own.derivatives(design(name), names)
    span = own.high - own.low
    for one in names:
        wanted = central(own, design(name), lambda designs, one=one: own.measures(designs, [one])[one])
        size = max(float(np.abs(wanted * span).max()), 1e-6)
        apart = float((np.abs(found[one] - wanted) * span).max()) / size
        measured("measures of designs, exact derivatives beside differences", apart, at_most=1e-6)
