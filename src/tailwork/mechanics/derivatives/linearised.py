"""M a + h − B tau linearised in the torso frame, without outside forces and the air (`inverse.outside_force`).

Rows are the torso's force and moment in the torso frame, then the limbs' coordinates. Columns are likewise: a velocity
or shift of P and an angular velocity or turn of the torso, both in the torso frame, then the limbs' coordinates. While
the torso turns by a small d, the inertial frame holds gravity, velocities, accelerations and feet; in the torso frame
such a vector x becomes x + x × d.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tailwork.algebra.derivatives import jacobian
from tailwork.algebra.expression import Scalar, Tape, opaque
from tailwork.algebra.vectors import Array, array, cross, skew, times, zeros
from tailwork.mechanics.derivatives.limb import LimbDerivatives, Twist, flow, limb_derivatives
from tailwork.mechanics.derivatives.stance_leg import inertial_turning, leg_derivatives
from tailwork.mechanics.forward import joint_torques
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.sweeps import NO_INERTIA, Motion, rigid
from tailwork.mechanics.torso import TorsoState, limb_state, torso_state


@dataclass(frozen=True)
class LinearisedDynamics:
    """M a + h − B tau about a state, for efforts that are held."""

    torso: TorsoState
    mass: Array  # M, by accelerations
    by_rate: Array  # by velocities
    by_place: Array  # by shifts and turns of the torso and by the limbs' coordinates


def linearised(
    tape: Tape, layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar],
    acceleration: Sequence[Scalar],
) -> LinearisedDynamics:  # fmt: skip
    """Linearise about coordinates, velocities and accelerations given as usual, in the inertial frame."""
    torso = torso_state(layout, q, v)
    linear, angular = zeros(3), zeros(3)
    if layout.torso_free:
        linear, angular = (torso.from_inertial(array(list(x))) for x in (acceleration[:3], acceleration[3:6]))
    motion = Motion(torso.omega, angular, linear - torso.gravity)
    size = len(v)
    mass, by_rate, by_place = zeros(size, size), zeros(size, size), zeros(size, size)
    limbs: dict[str, LimbDerivatives] = {}
    for name in layout.moving:
        here = layout.rates[name]
        found = limbs[name] = _limb(tape, layout, name, motion, q, v, tau, acceleration)
        mass[here, here], by_rate[here, here], by_place[here, here] = found.mass, found.by_rate, found.by_place
        if layout.torso_free:
            mass[here, :6], mass[:6, here] = found.coupling, found.coupling.T
            by_rate[here, 3:6] = found.by_omega
            by_rate[:6, here], by_place[:6, here] = found.torso_by_rate, found.torso_by_place
            by_torso = _turned(found.coupling[:, :3], motion.acceleration) + _turned(found.coupling[:, 3:], angular)
            by_place[here, 3:6] = by_torso + _turned(found.by_omega, torso.omega)
    if layout.torso_free:
        _torso_rows(tape, layout, torso, linear, angular, tau, limbs, mass, by_rate, by_place)
    return LinearisedDynamics(torso, mass, by_rate, by_place)


def _limb(
    tape: Tape, layout: Layout, name: str, motion: Motion, q: Sequence[Scalar], v: Sequence[Scalar],
    tau: Sequence[Scalar], acceleration: Sequence[Scalar],
) -> LimbDerivatives:  # fmt: skip
    """A limb with its springs, dampers and actuators: those on the tape, each joint seeing but a few of them."""
    limb, here = layout.limbs[name], layout.rates[name]
    places, rates = ([opaque(x) for x in part] for part in (q[layout.coordinates[name]], v[here]))
    state = limb_state(limb, places, rates)
    derivatives = limb_derivatives(state, motion, list(times(state.gearing, array(list(acceleration[here])))))
    efforts = tau[layout.efforts[name]] if name in layout.efforts else [0.0] * len(limb.actuators)
    forces = list(times(state.gearing.T, array(joint_torques(limb, state, efforts))))
    by_own = array(jacobian(tape, forces, [*places, *rates])).reshape(len(places), 2 * len(places))
    derivatives.by_place = derivatives.by_place - by_own[:, : len(places)]
    derivatives.by_rate = derivatives.by_rate - by_own[:, len(places) :]
    return derivatives


def _torso_rows(
    tape: Tape, layout: Layout, torso: TorsoState, linear: Array, angular: Array, tau: Sequence[Scalar],
    limbs: dict[str, LimbDerivatives], mass: Array, by_rate: Array, by_place: Array,
) -> None:  # fmt: skip
    """The torso's force and moment by its own motion and pose."""
    assert torso.moments is not None
    still = Twist(zeros(3), zeros(3))
    free = flow(torso.moments, Twist(torso.omega, zeros(3)), still)
    for derivatives in limbs.values():
        free = free + derivatives.flow
    legs = [leg_derivatives(tape, layout, torso, name, linear, angular, tau) for name in layout.stance]
    hung, standing = rigid(free.moments).matrix(), sum((leg.inertia for leg in legs), NO_INERTIA).matrix()
    by_linear, by_angular = hung[:, :3] + standing[:, :3], hung[:, 3:] + standing[:, 3:]
    by_velocity = sum((leg.by_velocity for leg in legs), zeros(6, 3))
    by_gravity = sum((leg.by_gravity for leg in legs), -hung[:, :3])
    by_omega = np.concatenate([skew(free.momentum) * -2.0, free.coriolis * 2.0])
    turning = inertial_turning(standing[:, :3], by_angular, torso.velocity, torso.omega)
    by_omega = sum((leg.by_omega for leg in legs), by_omega) + turning
    seen = [
        (by_linear, linear), (by_angular, angular), (by_gravity, torso.gravity), (by_velocity, torso.velocity),
        (by_omega, torso.omega),
    ]  # fmt: skip
    seen += [(leg.by_foot, torso.feet[name]) for name, leg in zip(layout.stance, legs, strict=True)]
    mass[:6, :3], mass[:6, 3:6] = by_linear, by_angular
    by_rate[:6, :3], by_rate[:6, 3:6] = by_velocity, by_omega
    by_place[:6, :3] = sum((-leg.by_foot for leg in legs), zeros(6, 3))
    by_place[:6, 3:6] = sum((_turned(columns, x) for columns, x in seen), zeros(6, 3))


def _turned(columns: Array, x: Array) -> Array:
    """From derivatives by a vector x that the inertial frame holds: those by a turn of the torso."""
    return array([cross(row, x) for row in columns]).reshape(len(columns), 3)


def turn_by_attitude(tape: Tape, rotation: Array, coordinates: Sequence[Scalar]) -> Array:
    """How the torso turns, in its own frame, with the coordinates of its attitude (3 × those): Rᵀ dR = (turn)~."""
    by_each = array(jacobian(tape, list(rotation.ravel()), coordinates)).reshape(3, 3, len(coordinates))
    columns = []
    for k in range(len(coordinates)):
        moved = times(rotation.T, by_each[:, :, k])
        columns.append([moved[2, 1], moved[0, 2], moved[1, 0]])
    return array(columns).T
