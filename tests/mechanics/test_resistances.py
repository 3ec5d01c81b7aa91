"""Contact points of any body, with a radius or without: what the ground does to them over an implicit step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from oracles.layout import Array, relative
from tailwork.algebra.vectors import array
from tailwork.mechanics.compliant.impedance import ContactImpedance
from tailwork.mechanics.forward import Inputs, forward_dynamics
from tailwork.mechanics.inverse import actuation_matrix, generalised_force, mass_matrix
from tailwork.mechanics.kinematics import contact_motions
from tailwork.mechanics.layout import make_layout
from tailwork.robots import ContactPoint, FreeTail, Robot, liu2020


def robot_with_points(tail: str) -> Robot:
    """The quadruped with ball feet, two points on its tail and one, a ball, on its torso."""
    robot = liu2020(tail)
    limb = robot.part("tail").limb
    last, middle = limb.joints[-1].name, limb.joints[len(limb.joints) // 2].name
    points = (
        ContactPoint(name="tip", joint=last, point=(0.01, -0.03, 0.02), radius=0.01),
        ContactPoint(name="middle", joint=middle, point=(0.0, -0.02, -0.03)),
    )
    robot = robot.with_part("tail", FreeTail(shape=replace(limb, contacts=points)))
    robot = replace(robot, contacts=(ContactPoint(name="nose", point=(0.02, 0.3, -0.05), radius=0.03),))
    return robot


@pytest.mark.parametrize("torso", ["free", "fixed"])
@pytest.mark.parametrize("drive", ["free", "prescribed"])
@pytest.mark.parametrize("tail", ["pendulum", "r3"])
def test_a_resistance_at_a_point_is_a_mass_that_accelerations_feel(tail: str, drive: str, torso: str) -> None:
    """(M + Σ Jᵀ R J) a + h = B tau + Σ Jᵀ f, for points on torso, free, geared and prescribed limbs.

    J is that of the lowest point of a ball; the answer has J a, and the efforts that a prescribed limb then needs.
    """
    rng = np.random.default_rng(3)
    prescribed = ("tail",) if drive == "prescribed" else ()
    layout = make_layout(robot_with_points(tail), "none", prescribed, torso, "rpy", ())
    names, size = list(layout.contact_points), len(layout.velocity_names)
    q, v = rng.uniform(-0.3, 0.3, len(layout.coordinate_names)), rng.normal(size=size)
    tau = rng.normal(size=len(layout.actuator_names))
    contacts: dict[str, ContactImpedance] = {}
    normals = {}
    for name in names:
        normal = rng.normal(size=3)
        normals[name] = normal = normal / np.linalg.norm(normal)
        along, across = rng.uniform(0.1, 2.0, 2)
        contacts[name] = ContactImpedance(array(rng.normal(size=3).tolist()), array(normal.tolist()), along, across)

    def velocities(rates: Array) -> Array:
        seen = contact_motions(layout, q.tolist(), rates.tolist())
        found = []
        for name in names:
            point = seen[name]
            found.append(np.array(point.velocity, float) - np.cross(np.array(point.rolling, float), normals[name]))
        return np.concatenate(found)

    jacobian = np.array([velocities(row) for row in np.eye(size)]).T
    resistance = np.zeros((3 * len(names), 3 * len(names)))
    for k, name in enumerate(names):
        n, c = normals[name], contacts[name]
        block = c.along * np.outer(n, n) + c.across * (np.eye(3) - np.outer(n, n))
        resistance[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = block
    force = np.concatenate([np.array(contacts[name].force, float) for name in names])
    given = rng.normal(size=len(layout.prescribed_names))
    inputs: dict[str, Any] = {"q": q.tolist(), "v": v.tolist(), "tau": tau.tolist()}
    found = forward_dynamics(layout, Inputs(**inputs, prescribed_acceleration=given.tolist(), contacts=contacts))
    mass = np.array(mass_matrix(layout, q.tolist()), float) + jacobian.T @ resistance @ jacobian
    still = Inputs(**inputs, prescribed_acceleration=given.tolist())
    bias = np.array(generalised_force(layout, still, [0.0] * size), float)
    actuation = np.array(actuation_matrix(layout, q.tolist()), float).reshape(size, len(tau))
    load = actuation @ tau + jacobian.T @ force - bias
    held = layout.prescribed_rates
    free = [k for k in range(size) if k not in held]
    a = np.zeros(size)
    a[held] = given
    a[free] = np.linalg.solve(mass[np.ix_(free, free)], load[free] - mass[np.ix_(free, held)] @ given)
    assert relative(np.array(found.acceleration, float), a) < 1e-12
    efforts = (mass @ a - load)[held]
    assert np.array(found.prescribed_efforts, float) == pytest.approx(efforts, abs=1e-11)
    points = np.concatenate([np.array(found.points[name], float) for name in names])
    assert relative(points, jacobian @ a) < 1e-11
