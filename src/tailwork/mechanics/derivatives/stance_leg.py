"""A stance leg's M a + h − B tau, differentiated by what it sees of the torso.

In its own frame and about its foot, a leg knows of the torso only five vectors: the velocity v and acceleration k of
the torso's point at the foot, omega, alpha and gravity; and its own shape, the angles after the first. Its wrench is
differentiated by those, on the tape, where the equations are small; the rest is geometry:

    v = V + omega × e,   k = A + alpha × e − omega × (2 V + omega × e),   d(angles) = −N de.

The first angle only turns the leg: it turns the five vectors back, and the wrench on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tailwork.algebra.derivatives import along, jacobian
from tailwork.algebra.expression import Scalar, Tape, opaque
from tailwork.algebra.vectors import Array, array, cross, skew, times
from tailwork.mechanics.forward import leg_torques
from tailwork.mechanics.frames import Turn
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.pinned import PinnedLeg, leg_angles, leg_inertia, leg_needs, leg_with_angles, with_rate_bias
from tailwork.mechanics.sweeps import Inertia6
from tailwork.mechanics.torso import TorsoState


@dataclass(frozen=True)
class LegDerivatives:
    """Inertia of a stance leg on the torso, and derivatives (6 × 3) of the (force, moment) at P that it needs.

    By the torso's velocity, its angular velocity, gravity and the place of the foot from P, all in the torso frame. To
    those by the angular velocity belong terms of the inertia besides: see `inertial_turning`.
    """

    inertia: Inertia6
    by_velocity: Array
    by_omega: Array
    by_gravity: Array
    by_foot: Array


def inertial_turning(by_linear: Array, by_angular: Array, velocity: Array, omega: Array) -> Array:
    """What inertias of stance legs add to `by_omega`: columns by the torso's linear and angular acceleration given."""
    return times(by_linear, skew(velocity * 2.0)) + times(by_angular, skew(omega))


def leg_derivatives(
    tape: Tape, layout: Layout, torso: TorsoState, name: str, linear: Array, angular: Array, tau: Sequence[Scalar]
) -> LegDerivatives:
    """Derivatives of a stance leg's wrench for a torso that accelerates so, linear at P and angular, torso frame."""
    limb, foot = layout.limbs[name], torso.feet[name]
    angles = [(opaque(c), opaque(s)) for c, s in leg_angles(limb, foot)]

    def seen(turn: Turn, vector: Array) -> Array:
        return array([opaque(x) for x in turn.outward(vector)])

    at_foot = torso.velocity + cross(torso.omega, foot)
    leg = leg_with_angles(limb, angles, foot, lambda turn: seen(turn, at_foot))
    towards = linear + cross(angular, foot) - cross(torso.omega, torso.velocity + at_foot)
    v, k, omega, alpha, gravity = (seen(leg.turn, x) for x in (at_foot, towards, torso.omega, angular, torso.gravity))
    torques = leg_torques(layout, name, leg, tau)
    _, net, about_foot = leg_needs(leg, omega, alpha, gravity, with_rate_bias(leg, k), torques, [None] * len(angles))
    wrench = [*times(leg.rates_map.T, array(net)), *about_foot]
    by_seen = array(jacobian(tape, wrench, [*v, *omega, *gravity]))
    by_v, by_omega, by_gravity = by_seen[:, :3], by_seen[:, 3:6], by_seen[:, 6:]
    inertia = leg_inertia(leg).torso
    by_k, by_alpha = np.hsplit(inertia.matrix(), 2)
    held = [(x, 0.0) for vector in (v, k, omega, alpha, gravity) for x in vector]
    turns = [[(c, -s), (s, c), *held] for c, s in angles]
    by_angle = array(along(tape, wrench, turns))
    axis = leg.axes[0]
    force, moment = array(wrench[:3]), array(wrench[3:])
    whole = array([*cross(axis, force), *cross(axis, moment)])
    for columns, x in ((by_v, v), (by_k, k), (by_omega, omega), (by_alpha, alpha), (by_gravity, gravity)):
        whole = whole - times(columns, cross(axis, x))
    by_angle[:, 0] = by_angle[:, 0] + whole
    spin = skew(omega)
    by_velocity = by_v - times(by_k, spin * 2.0)
    by_foot = times(by_v, spin) + times(by_k, skew(alpha) - times(spin, spin)) - times(by_angle, leg.rates_map)
    by_foot[3:] = by_foot[3:] - skew(force)
    by_velocity = _to_torso(leg, by_velocity)
    return LegDerivatives(
        leg.inertia_to_torso(inertia),
        by_velocity,
        _to_torso(leg, by_omega - times(by_alpha, spin)) - times(by_velocity, skew(foot)),
        _to_torso(leg, by_gravity),
        _to_torso(leg, by_foot),
    )


def _to_torso(leg: PinnedLeg, columns: Array) -> Array:
    """Derivatives of (force, moment) about the foot by a vector, all in the leg's frame: about P, in the torso's."""
    force, moment = leg.turn.inward_matrix(columns[:3]), leg.turn.inward_matrix(columns[3:])
    return np.concatenate([force, moment + times(skew(leg.foot), force)])
