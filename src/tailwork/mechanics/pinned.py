"""A limb whose foot is fixed to the ground, seen from its foot.

Its three joint angles follow from the torso's pose, their rates from the torso's twist: theta-dot = N v_e, where v_e
is the velocity of the torso's own point at the foot e. All moments are taken about e, where the last body turns and
does not move, so that each body's motion is its joints' turns alone:

    joint j turns the bodies from j on about e by a_j, and carries those before it by −(r_j × a_j).

Virtual work of the bodies in (theta, torso rotation) gives M_ll, M_lw and the loads; theta-dot = N v_e maps them to the
torso. The papers' Jacobians j_ha, j_hb, j_k (2020, Eqs. 11–14) are the rows of N taken about P.

A leg without a closed form has its angles in the configuration, where they follow theta-dot = N v_e as a quaternion
follows its rates. What the equations see are these angles after two Newton steps, which close the leg to rounding. A
leg of more than three hinges has three that depend on the others: theta-dot = N v_e + G u, u the rates of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from tailwork.algebra.expression import Scalar, cos, sin, sqrt
from tailwork.algebra.vectors import Array, array, congruence, cross, dot, inverse3, times, zeros
from tailwork.errors import RobotError
from tailwork.mechanics.frames import Angle, Link, Turn, one_frame
from tailwork.mechanics.moments import Moments, moments_of, spin_matrix
from tailwork.mechanics.sweeps import NO_WRENCH, Inertia6, Wrench, nothing
from tailwork.robots.limb import Limb


@dataclass
class PinnedLeg:
    """Geometry and velocity of a stance leg in the frame of its first joint."""

    limb: Limb
    links: Sequence[Link]
    turn: Turn  # from the leg's frame to the torso's
    foot: Array  # e: the foot from P, torso frame [m]
    axes: list[Array]  # a_j
    arms: list[Array]  # r_j × a_j: velocity at the foot for a unit rate of joint j [m]
    bodies: list[Moments]  # about the far end of each body: the next joint, or the foot
    ends: list[Array]  # where that end is, from the foot [m]
    spans: list[Array]  # from each joint to the far end of its body [m]
    rates_map: Array  # N: joint rates from v_e [rad/m]
    own: Array  # G: joint rates from those of the joints that are free, joints × those
    angles: Sequence[Angle]
    rates: list[Scalar]
    values: list[Scalar] | None = None  # joint angles [rad] of a leg without a closed form

    def to_torso(self, wrench: Wrench) -> Wrench:
        """A wrench about the foot in the leg's frame, about P in the torso's."""
        force, moment = self.turn.inward(wrench.force), self.turn.inward(wrench.moment)
        return Wrench(force, moment + cross(self.foot, force))

    def inertia_to_torso(self, inertia: Inertia6) -> Inertia6:
        """An inertia about the foot in the leg's frame, about P in the torso's."""
        return inertia.turned(self.turn).shifted(self.foot)

    def about_foot(self, k: int) -> Moments:
        """Moments of body k about the foot."""
        return self.bodies[k].about(self.ends[k])


def extension(limb: Limb, foot: Array) -> Scalar:
    """Distance to the foot, from P [m], as a share of the longest that the leg can reach; 1 is a straight leg."""
    if limb.closed_form is not None:
        return limb.closed_form.extension((foot[0], foot[1], foot[2]))
    assert limb.foot is not None
    pieces = [array(piece) for piece in (*(joint.offset for joint in limb.joints[1:]), limb.foot.point)]
    away = foot - array(limb.joints[0].offset)
    return sqrt(dot(away, away)) / sum((sqrt(dot(piece, piece)) for piece in pieces if not nothing(piece)), 0.0)


def reach(limb: Limb) -> tuple[Scalar, Scalar]:
    """Least and greatest extension."""
    return (0.0, 1.0) if limb.closed_form is None else limb.closed_form.reach()


@dataclass(frozen=True)
class Riding:
    """What the configuration holds of a stance leg without a closed form."""

    values: list[Scalar]  # angles of all joints [rad]
    rates: list[Scalar]  # of the joints that are free [rad/s]
    dependent: tuple[int, ...]  # the three joints that are not


NEWTON_STEPS = 2
"""By which the angles of a leg without a closed form are closed: they are nearly closed already."""
FARTHEST = 1e-3
"""How far such angles may be from closed [rad]; beyond it there is no answer."""


def pinned_leg(limb: Limb, foot: Array, velocity: Array, omega: Array, riding: Riding | None = None) -> PinnedLeg:
    """Solve a stance leg of hinges in a row for position and rates.

    In the torso frame: e, its foot from P [m], the velocity of P [m/s] and that of the torso's turning [rad/s].
    """

    def at_foot(turn: Turn) -> Array:
        return turn.outward(velocity + cross(omega, foot))

    if riding is None:
        return leg_with_angles(limb, leg_angles(limb, foot), foot, at_foot)
    values = closed_values(limb, riding, foot)
    angles = [(cos(x), sin(x)) for x in values]
    return replace(leg_with_angles(limb, angles, foot, at_foot, riding.dependent, riding.rates), values=values)


def leg_angles(limb: Limb, foot: Array) -> list[Angle]:
    """Of a leg with a closed form, for its foot from P [m]."""
    if limb.closed_form is None:
        raise RobotError("leg", [joint.name for joint in limb.joints], "a leg with a closed form")
    return limb.closed_form.angles((foot[0], foot[1], foot[2]))


def closed_values(limb: Limb, riding: Riding, foot: Array) -> list[Scalar]:
    """Joint angles [rad] that bring the foot to its place from P [m], from those in the configuration; NaN
    where these are too far from it."""
    values = list(riding.values)
    for step in range(NEWTON_STEPS):
        walk = _walk(limb, [(cos(x), sin(x)) for x in values])
        turn = walk.links[0].turn
        missed = turn.outward(array(limb.joints[0].offset) - foot) - walk.hip
        change = times(-inverse3(array([walk.arms[k] for k in riding.dependent]).T), missed)
        share: Scalar = 1.0
        if step == 0:
            left = FARTHEST * FARTHEST - dot(change, change)
            share = sqrt(left) / sqrt(left + 1e-300)  # 1, or NaN
        for k, x in zip(riding.dependent, change, strict=True):
            values[k] = values[k] + x * share
    return values


@dataclass(frozen=True)
class _Walk:
    """A leg from its foot to its hip, in the frame of its first joint."""

    links: Sequence[Link]
    axes: list[Array]
    arms: list[Array]
    bodies: list[Moments]
    ends: list[Array]
    spans: list[Array]
    hip: Array  # from the foot [m]


def _walk(limb: Limb, angles: Sequence[Angle]) -> _Walk:
    assert limb.foot is not None
    links = one_frame(limb, angles)
    found: list[tuple[Array, Array, Moments, Array, Array]] = []
    end, tip = zeros(3), array(limb.foot.point)
    for joint, link in zip(reversed(limb.joints), reversed(links), strict=True):
        span = times(link.orientation, tip)
        body = moments_of(joint.body).about(-tip).turned(link.orientation)
        found.append((link.axis, cross(end - span, link.axis), body, end, span))
        end, tip = end - span, array(joint.offset)
    axes, arms, bodies, ends, spans = map(list, zip(*reversed(found), strict=True))
    return _Walk(links, axes, arms, bodies, ends, spans, end)


def leg_with_angles(
    limb: Limb, angles: Sequence[Angle], foot: Array, at_foot: Callable[[Turn], Array],
    dependent: Sequence[int] = (0, 1, 2), own_rates: Sequence[Scalar] = (),
) -> PinnedLeg:  # fmt: skip
    """A stance leg whose angles are known; `at_foot` gives v_e in the leg's frame [m/s] from the leg's turn."""
    walk = _walk(limb, angles)
    turn, count = walk.links[0].turn, len(walk.arms)
    free = [k for k in range(count) if k not in dependent]
    follow = -inverse3(array([walk.arms[k] for k in dependent]).T)
    rates_map, own = zeros(count, 3), zeros(count, len(free))
    for row, k in zip(follow, dependent, strict=True):
        rates_map[k] = row
    for c, k in enumerate(free):
        own[k, c] = 1.0
        own[list(dependent), c] = times(follow, walk.arms[k])
    rates = list(times(rates_map, at_foot(turn)))
    if free:
        rates = [x + y for x, y in zip(rates, times(own, array(list(own_rates))), strict=True)]
    return PinnedLeg(
        limb, walk.links, turn, foot, walk.axes, walk.arms, walk.bodies, walk.ends, walk.spans, rates_map, own, angles,
        rates,
    )  # fmt: skip


def rate_bias(leg: PinnedLeg, velocity: Array, omega: Array) -> list[Scalar]:
    """gamma: joint accelerations while the torso's linear and angular accelerations are zero [rad/s²].

    Seen from the torso, the resting foot accelerates by omega × (2 v + omega × e), the torso against it by the
    opposite; the rates of the joints alone would give it the centripetal part.
    """
    return with_rate_bias(leg, -leg.turn.outward(cross(omega, velocity * 2.0 + cross(omega, leg.foot))))


def with_rate_bias(leg: PinnedLeg, bias: Array) -> list[Scalar]:
    """Joint accelerations [rad/s²] for an acceleration of the torso against the foot, leg frame [m/s²]."""
    spin, turning = zeros(3), zeros(3)
    for axis, rate, span in zip(leg.axes, leg.rates, leg.spans, strict=True):
        turning = turning + cross(spin, axis) * rate
        spin = spin + axis * rate
        if not nothing(span):
            bias = bias + times(spin_matrix(turning, spin), span)
    return list(times(leg.rates_map, bias))


def leg_needs(
    leg: PinnedLeg, omega: Array, alpha: Array, gravity: Array, accelerations: Sequence[Scalar],
    torques: Sequence[Scalar], pushes: Sequence[Wrench | None],
) -> tuple[list[Wrench], list[Scalar], Array]:  # fmt: skip
    """What a stance leg needs to move so: the wrench of each body about the foot, the virtual work of each joint beyond
    the torques on it, and that of a turn of the torso about the foot.

    Args:
        leg: the solved leg.
        omega: angular velocity of the torso, in the leg's frame [rad/s].
        alpha: angular acceleration of the torso, in the leg's frame [rad/s²].
        gravity: g in the leg's frame [m/s²].
        accelerations: of the joints [rad/s²].
        torques: on the joints, of actuators and springs [N m].
        pushes: outside wrenches on the bodies about the foot, in the leg's frame.
    """
    spins: list[Array] = []
    for axis, rate, acceleration in zip(leg.axes, leg.rates, accelerations, strict=True):
        alpha = alpha + cross(omega, axis) * rate + axis * acceleration
        omega = omega + axis * rate
        spins.append(spin_matrix(alpha, omega))
    loads: list[Wrench] = []
    at_end = -gravity  # acceleration of the far end of a body, beginning with the resting foot
    for k in range(len(spins) - 1, -1, -1):
        force, moment = leg.bodies[k].wrench(at_end, spins[k])
        loads.insert(0, Wrench(force, moment + cross(leg.ends[k], force)) - (pushes[k] or NO_WRENCH))
        if k:
            at_end = at_end - times(spins[k], leg.spans[k])
    work, turning = leg_work(leg, loads)
    rows = zip(work, leg.limb.joints, accelerations, torques, strict=True)
    return loads, [need + joint.armature * a - torque for need, joint, a, torque in rows], turning


def leg_work(leg: PinnedLeg, wrenches: Sequence[Wrench]) -> tuple[list[Scalar], Array]:
    """Virtual work of wrenches on a stance leg's bodies, about its foot in the leg's frame: of each joint, and of a
    turn of the torso about the foot."""
    turning = list(accumulate(wrench.moment for wrench in reversed(wrenches)))[::-1]  # of the bodies beyond each joint
    before = zeros(3)  # force of the bodies that the joint carries
    work: list[Scalar] = []
    for k, wrench in enumerate(wrenches):
        work.append(dot(leg.axes[k], turning[k]) - dot(leg.arms[k], before))
        before = before + wrench.force
    return work, turning[0]


@dataclass
class LegInertia:
    """Mass matrices of a stance leg: about its foot, in its own frame."""

    torso: Inertia6  # of the torso's point at the foot and its turning: Nᵀ M_ll N and so on
    coupling: Array  # free joints × 6: between them and these
    mass: Array  # free joints × free joints: Gᵀ M_ll G


def leg_inertia(leg: PinnedLeg) -> LegInertia:
    """The leg's inertia on the torso, and on its joints that are free."""
    count = len(leg.axes)
    bodies = [leg.about_foot(k) for k in range(count)]
    tensors = [beyond.inertia() for beyond in accumulate(reversed(bodies))][::-1]  # of the bodies from k on
    mass, rotation = zeros(count, count), zeros(count, 3)
    for j in range(count):
        turned = times(tensors[j], leg.axes[j])
        rotation[j] = turned - cross(_first_moment(bodies[:j]), leg.arms[j])
        for i in range(j + 1):
            # Bodies from j on turn with both joints; those from i to j turn with i and are carried by j; those before
            # i are carried by both.
            between, carried = _first_moment(bodies[i:j]), sum((body.mass for body in bodies[:i]), 0.0)
            mass[i, j] = mass[j, i] = (
                dot(leg.axes[i], turned)
                - dot(leg.axes[i], cross(between, leg.arms[j]))
                + dot(leg.arms[i], leg.arms[j]) * carried
            )
        mass[j, j] = mass[j, j] + leg.limb.joints[j].armature
    transposed, free = leg.rates_map.T, leg.own.T
    torso = Inertia6(congruence(transposed, mass), times(transposed, rotation), tensors[0])
    if not len(free):
        return LegInertia(torso, zeros(0, 6), zeros(0, 0))
    coupling = np.concatenate([times(times(free, mass), leg.rates_map), times(free, rotation)], axis=1)
    return LegInertia(torso, coupling, congruence(free, mass))


def _first_moment(bodies: Sequence[Moments]) -> Array:
    return sum((body.first for body in bodies), zeros(3))


def foot_force(
    leg: PinnedLeg, loads: Sequence[Wrench], net: Sequence[Scalar], at_foot: Array, alpha: Array, own: Sequence[Scalar]
) -> Array:
    """Force of the ground on the foot, leg frame [N].

    It carries the leg's bodies and what the leg hands on to the torso: the virtual work of a shift of the torso. In the
    bias motion `leg_needs` gives `loads` and `net`; beyond it, the torso's own point at the foot accelerates by
    `at_foot` [m/s²], the torso turns by `alpha` [rad/s²], leg frame, and joints that are free by `own` [rad/s²].
    """
    turning = times(leg.rates_map, at_foot)
    whole = leg_inertia(leg)
    inertia = whole.torso
    handed_on = times(inertia.a, at_foot) + times(inertia.b, alpha) + times(leg.rates_map.T, array(list(net)))
    if len(own):
        turning = turning + times(leg.own, array(list(own)))
        handed_on = handed_on + times(whole.coupling[:, :3].T, array(list(own)))
    force = -handed_on
    for k, wrench in enumerate(loads):
        moments = leg.about_foot(k)
        alpha = alpha + leg.axes[k] * turning[k]
        force = force + wrench.force + cross(alpha, moments.first)
        for j in range(k + 1, len(leg.axes)):  # the joints beyond carry it
            force = force - leg.arms[j] * (turning[j] * moments.mass)
    return force
