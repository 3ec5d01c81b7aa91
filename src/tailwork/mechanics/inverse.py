"""Inverse dynamics, mass matrix and actuation matrix in the coordinates: M(q) a + h(q, v) = B(q) tau."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import Array, array, congruence, times, zeros
from tailwork.mechanics.forward import Inputs, limb_needs, stance_needs
from tailwork.mechanics.frames import Angle, cheaper_frames
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.pinned import leg_inertia, leg_work
from tailwork.mechanics.springs_and_cables import pull_arms
from tailwork.mechanics.sweeps import NO_WRENCH, Motion, Wrench, collected, composite, rigid
from tailwork.mechanics.torso import (
    TorsoState,
    leg_pushes,
    limb_state,
    outside_wrenches,
    pinned_values,
    stance_leg,
    torso_push,
    torso_state,
)
from tailwork.robots.limb import Actuator, Limb, Motor


def generalised_force(layout: Layout, inputs: Inputs, acceleration: Sequence[Scalar]) -> list[Scalar]:
    """M a + h: what the actuators must give for an acceleration (2020, Eqs. 2 and 3, the right-hand side).

    The bias h, with gravity, springs and dampers, is this for a = 0. `inputs.tau` is not used.
    """
    torso = torso_state(layout, inputs.q, inputs.v)
    forces = torso_frame_force(layout, torso, inputs, acceleration)
    return _rows_to_inertial(torso, array(forces).reshape(-1, 1))[:, 0].tolist() if layout.torso_free else forces


def torso_frame_force(
    layout: Layout, torso: TorsoState, inputs: Inputs, acceleration: Sequence[Scalar]
) -> list[Scalar]:
    """M a + h with the torso's force and moment in the torso frame; the acceleration is in the inertial frame."""
    start = 6 if layout.torso_free else 0
    linear, angular, total = zeros(3), zeros(3), NO_WRENCH
    if layout.torso_free:
        linear, angular = (torso.from_inertial(array(list(x))) for x in (acceleration[:3], acceleration[3:6]))
    motion = Motion(torso.omega, angular, linear - torso.gravity)
    if torso.moments is not None:
        wrench = Wrench(*torso.moments.wrench(motion.acceleration, motion.spin()))
        total = wrench - torso_push(layout, torso, inputs.forces)
    still = replace(inputs, tau=[0.0] * len(layout.actuator_names))
    free_forces: list[Scalar] = []  # on joints of stance legs that are free
    for name in layout.stance:
        leg = stance_leg(layout, torso, name)
        own = list(acceleration[layout.rates[name]]) if name in layout.dependent else []
        _, net, wrench = stance_needs(layout, torso, name, leg, still, linear, angular, own)
        total = total + wrench
        free_forces += list(times(leg.own.T, array(net)))
    limb_forces: list[Scalar] = []
    for name in layout.moving:
        limb = layout.limbs[name]
        state = limb_state(limb, inputs.q[layout.coordinates[name]], inputs.v[layout.rates[name]])
        own = list(acceleration[start : start + len(limb.coordinates)])
        start += len(limb.coordinates)
        links = cheaper_frames(limb, state.angles)
        needs, wrench = limb_needs(layout, torso, motion, name, state, links, own, inputs)
        total = total + wrench
        limb_forces += needs
    return [*total.force, *total.moment, *limb_forces, *free_forces] if layout.torso_free else limb_forces


def outside_force(layout: Layout, torso: TorsoState, inputs: Inputs) -> list[Scalar]:
    """Generalised force of outside forces and of the air, the torso's force and moment in the torso frame."""
    total = torso_push(layout, torso, inputs.forces) if layout.torso_free else NO_WRENCH
    free_forces: list[Scalar] = []
    for name in layout.stance:
        leg = stance_leg(layout, torso, name)
        work, about_foot = leg_work(leg, leg_pushes(layout, torso, name, leg, inputs.forces))
        total = total + leg.to_torso(Wrench(times(leg.rates_map.T, array(work)), about_foot))
        free_forces += list(times(leg.own.T, array(work)))
    limb_forces: list[Scalar] = []
    for name in layout.moving:
        limb = layout.limbs[name]
        state = limb_state(limb, inputs.q[layout.coordinates[name]], inputs.v[layout.rates[name]])
        links = cheaper_frames(limb, state.angles)
        pushes = outside_wrenches(layout, torso, name, links, state.rates, inputs.forces)
        torques, wrench = collected(links, pushes)
        total = total + wrench
        limb_forces += list(times(state.gearing.T, array(torques)))
    return [*total.force, *total.moment, *limb_forces, *free_forces] if layout.torso_free else limb_forces


def _rows_to_inertial(torso: TorsoState, matrix: Array) -> Array:
    """A matrix whose first six rows are a force and a moment, those turned from the torso frame to the inertial."""
    result = matrix.copy()
    result[:3], result[3:6] = times(torso.rotation, matrix[:3]), times(torso.rotation, matrix[3:6])
    return result


def mass_matrix(layout: Layout, q: Sequence[Scalar]) -> Array:
    """M(q), symmetric, in the order of v."""
    torso = torso_state(layout, q, [0.0] * len(layout.velocity_names))
    matrix = torso_frame_mass(layout, torso, q)
    if not layout.torso_free:
        return matrix
    r = torso.rotation
    result = _rows_to_inertial(torso, matrix)
    result[6:, :6] = result[:6, 6:].T
    result[:3, :3], result[3:6, 3:6] = congruence(r, matrix[:3, :3]), congruence(r, matrix[3:6, 3:6])
    result[:3, 3:6] = times(result[:3, 3:6], r.T)
    result[3:6, :3] = result[:3, 3:6].T
    return result


def torso_frame_mass(layout: Layout, torso: TorsoState, q: Sequence[Scalar]) -> Array:
    """The mass matrix with the torso's velocities and forces in the torso frame."""
    still = [0.0] * len(layout.velocity_names)
    matrix = zeros(len(still), len(still))
    total = None if torso.moments is None else rigid(torso.moments)
    for name in layout.moving:
        limb = layout.limbs[name]
        state = limb_state(limb, q[layout.coordinates[name]], still[layout.rates[name]])
        whole = composite(cheaper_frames(limb, state.angles), state.gearing)
        here = layout.rates[name]
        matrix[here, here] = whole.mass
        if total is not None:
            total = total + rigid(whole.moments)
            for k, column in zip(range(here.start, here.stop), whole.coupling, strict=True):
                matrix[:6, k] = matrix[k, :6] = [*column.force, *column.moment]
    for name in layout.stance:
        leg = stance_leg(layout, torso, name)
        assert total is not None
        whole = leg_inertia(leg)
        total = total + leg.inertia_to_torso(whole.torso)
        if name in layout.dependent:
            here = layout.rates[name]
            matrix[here, here] = whole.mass
            for k, column in zip(range(here.start, here.stop), whole.coupling, strict=True):
                wrench = leg.to_torso(Wrench(column[:3], column[3:]))
                matrix[:6, k] = matrix[k, :6] = [*wrench.force, *wrench.moment]
    if total is not None:
        matrix[:6, :6] = total.matrix()
    return matrix


def actuation_matrix(layout: Layout, q: Sequence[Scalar]) -> Array:
    """B(q): generalised force = B · efforts (2020, Eqs. 68–78 as corrected)."""
    torso = torso_state(layout, q, [0.0] * len(layout.velocity_names))
    matrix = torso_frame_actuation(layout, torso, q)
    return _rows_to_inertial(torso, matrix) if layout.torso_free else matrix


def torso_frame_actuation(layout: Layout, torso: TorsoState, q: Sequence[Scalar]) -> Array:
    """The actuation matrix with the torso's force and moment in the torso frame."""
    still = [0.0] * len(layout.velocity_names)
    matrix = zeros(len(layout.velocity_names), len(layout.actuator_names))
    for name in layout.actuated:
        limb = layout.limbs[name]
        columns = range(layout.efforts[name].start, layout.efforts[name].stop)
        if name in layout.stance:
            leg = stance_leg(layout, torso, name)
            for column, actuator in zip(columns, limb.actuators, strict=True):
                by_joint = _joint_arms(limb, pinned_values(leg), leg.angles, actuator)
                wrench = leg.to_torso(Wrench(times(leg.rates_map.T, array(by_joint)), zeros(3)))
                matrix[:6, column] = [*wrench.force, *wrench.moment]
                if name in layout.dependent:
                    matrix[layout.rates[name], column] = times(leg.own.T, array(by_joint))
            continue
        state = limb_state(limb, q[layout.coordinates[name]], still[layout.rates[name]])
        for column, actuator in zip(columns, limb.actuators, strict=True):
            if isinstance(actuator, Motor):
                matrix[layout.rates[name].start + limb.coordinates.index(actuator.coordinate), column] = actuator.ratio
            else:
                by_joint = _joint_arms(limb, state.values, state.angles, actuator)
                matrix[layout.rates[name], column] = times(state.gearing.T, array(by_joint))
    return matrix


def _joint_arms(limb: Limb, values: Sequence[Scalar], angles: Sequence[Angle], actuator: Actuator) -> list[Scalar]:
    """Torque on each joint for a unit effort of an actuator."""
    arms: list[Scalar] = [0.0] * len(limb.joints)
    if isinstance(actuator, Motor):
        arms[limb.index(actuator.coordinate)] = actuator.ratio
    else:
        for k, arm in pull_arms(limb, values, angles, actuator).items():
            arms[k] = -arm
    return arms
