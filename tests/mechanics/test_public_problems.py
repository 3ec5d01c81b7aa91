"""Public benchmark problems of multibody dynamics, to their printed digits.

IFToMM library of computational benchmark problems. A02, the N-four-bar mechanism, has closed loops of links and is not
among the robots that can be described.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from oracles.layout import Array
from tailwork.model import Model
from tailwork.robots import FreeLimb, Joint, Limb, Robot, Tip, Torso, point_mass


def simple_pendulum() -> Model:
    """A01: a point mass of 1 kg on a massless rod of 1 m, turning about a fixed hinge; level to the left at angle 0."""
    at_end = (-1.0, 0.0, 0.0)
    hinge = Joint(name="hinge", axis=(0.0, -1.0, 0.0), body=point_mass(1.0, at_end))
    limb = Limb(joints=(hinge,), tip=Tip(joint="hinge", point=at_end))
    ground = Torso(mass=1.0, inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0))
    robot = Robot(name="A01", torso=ground, parts={"pendulum": FreeLimb(limb=limb)}, gravity=9.81)
    return Model(robot, "none", torso="fixed")


def swing(model: Model, duration: float, tolerance: float) -> Array:
    """Angles and rates [rad, rad/s] at every step of DOP853, released at rest; a state a row."""

    def slope(t: float, y: Array) -> Array:
        return np.concatenate([y[1:], model.forward_dynamics(y[:1], y[1:], ())])

    return solve_ivp(slope, (0.0, duration), [0.0, 0.0], "DOP853", rtol=tolerance, atol=tolerance).y.T


@pytest.mark.measured("equations")
@pytest.mark.parametrize(
    ("time", "x", "y"),
    [(1.0, 0.986291751132, -0.165010853126), (10.0, -0.275087462576, -0.961419205099)],
)
def test_a01_simple_pendulum(measured: Callable[..., None], time: float, x: float, y: float) -> None:
    """Where the mass is after 1 s and 10 s; its motion is in the plane of x and z."""
    model = simple_pendulum()
    end = swing(model, time, 3e-14)[-1]
    place = model.points(end[:1])[model.point_names.index("pendulum.tip")]
    apart = np.abs(place - [x, 0.0, y]).max()
    measured("IFToMM problem A01, pendulum after 1 s and 10 s", apart, at_most=1e-12, unit="m")


def test_a01_energy() -> None:
    """Energy is kept to 1e-9 of its swing at a tolerance of 1e-10, and better as the tolerance falls."""
    model = simple_pendulum()
    drifts = []
    for tolerance in (1e-8, 1e-10, 1e-12):
        path = swing(model, 10.0, tolerance)
        drifts.append(np.abs(model.energy(path[:, :1], path[:, 1:]).total).max() / 9.81)
    assert drifts[1] < 1e-9
    assert drifts[0] > 20 * drifts[1] > 400 * drifts[2]
