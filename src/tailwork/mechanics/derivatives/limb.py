"""A limb's M a + h, differentiated: by its coordinates and their rates and by the turning of the torso.

Spatial vectors in the torso frame about P. Joint j's unit twist S_j, carried by a body of twist v and acceleration a,
changes at the rates D_j = v × S_j and E_j = a × S_j + v × D_j. For a joint i at or beyond j, with I, B and f the
inertia, velocity product and wrench of all bodies from joint i on,

    d tau_i/d q_j = S_iᵀ (2 B D_j + I E_j),                d tau_i/d q-dot_j = 2 S_iᵀ (B S_j + I D_j),
    d tau_j/d q_i = S_jᵀ (2 B D_i + I E_i + S_i ×* f),     d tau_j/d q-dot_i = 2 S_jᵀ (B S_i + I D_i)

(Singh, Russo & Wensing 2022, IEEE Robotics and Automation Letters 7(2), for joints that do not turn their own axis;
the last terms only for i beyond j). Summed over particles m at x, B (w; ·) is the force w × p and the moment Y w, with
the momentum p = Σ m x-dot and Y = Σ m ((x · x-dot) 1 − x-dot xᵀ). P may be taken to rest: a velocity that all bodies
share does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import Array, array, cross, dot, skew, times, zeros
from tailwork.mechanics.kinematics import joint_frames
from tailwork.mechanics.moments import NO_MASS, Moments, Sum, moments_of
from tailwork.mechanics.sweeps import NO_WRENCH, Motion, Wrench
from tailwork.mechanics.torso import LimbState
from tailwork.robots.limb import IDENTITY


@dataclass(frozen=True)
class Twist(Sum):
    """An angular and a linear vector at P: a velocity, an acceleration, or a joint's axis (a; r × a)."""

    angular: Array
    linear: Array

    def cross(self, other: Twist) -> Twist:
        """The rate of change of `other` where this carries it."""
        linear = cross(self.angular, other.linear) + cross(self.linear, other.angular)
        return Twist(cross(self.angular, other.angular), linear)

    def on(self, wrench: Wrench) -> Scalar:
        """Virtual work of a wrench."""
        return dot(self.angular, wrench.moment) + dot(self.linear, wrench.force)


@dataclass(frozen=True)
class Axis(Sum):
    """A unit twist S and its first and second rates of change, D and E."""

    twist: Twist
    first: Twist
    second: Twist


@dataclass(frozen=True)
class Flow(Sum):
    """Mass distribution of some bodies about P, how it moves, and the wrench that this needs."""

    moments: Moments
    momentum: Array  # p [kg m/s]
    coriolis: Array  # Y [kg m²/s]
    wrench: Wrench

    def pushed(self, twist: Twist) -> Wrench:
        """I · twist."""
        moments = self.moments
        force = twist.linear * moments.mass + cross(twist.angular, moments.first)
        return Wrench(force, cross(moments.first, twist.linear) + times(moments.inertia(), twist.angular))

    def coriolis_wrench(self, angular: Array) -> Wrench:
        """B · twist, of which only the angular part counts."""
        return Wrench(cross(angular, self.momentum), times(self.coriolis, angular))


NO_FLOW = Flow(NO_MASS, zeros(3), zeros(3, 3), NO_WRENCH)


def flow(moments: Moments, velocity: Twist, acceleration: Twist) -> Flow:
    """A rigid body's share: its moments about P, its twist (P at rest) and spatial acceleration, −g included."""
    omega, linear = velocity.angular, velocity.linear
    momentum = linear * moments.mass + cross(omega, moments.first)
    carried = array([[x * y for y in moments.first] for x in linear]) + times(skew(omega), moments.second)
    coriolis = -carried
    coriolis[0, 0] = carried[1, 1] + carried[2, 2]
    coriolis[1, 1] = carried[0, 0] + carried[2, 2]
    coriolis[2, 2] = carried[0, 0] + carried[1, 1]
    here = Flow(moments, momentum, coriolis, NO_WRENCH)
    return Flow(moments, momentum, coriolis, here.pushed(acceleration) + here.coriolis_wrench(omega))


@dataclass
class LimbDerivatives:
    """Derivatives of a limb's M a + h in its coordinates (n), without springs; torso rows are (force, moment) at P."""

    flow: Flow  # of the whole limb
    mass: Array  # n × n
    coupling: Array  # n × 6: mass between the coordinates and the torso's (linear, angular) acceleration
    by_place: Array  # n × n
    by_rate: Array  # n × n
    by_omega: Array  # n × 3, by the torso's angular velocity
    torso_by_place: Array  # 6 × n
    torso_by_rate: Array  # 6 × n


def limb_derivatives(state: LimbState, torso: Motion, accelerations: Sequence[Scalar]) -> LimbDerivatives:
    """Derivatives of a free or geared limb on a torso that moves so; accelerations of its joints in [rad/s²]."""
    limb, gearing, count = state.limb, state.gearing, state.gearing.shape[1]
    axes, flows = _moving(state, torso, accelerations)
    flows.append(NO_FLOW)  # the torso's, whose number is −1
    for k in range(len(flows) - 2, -1, -1):
        parent = limb.index(limb.joints[k].parent)
        flows[parent] = flows[parent] + flows[k]
    result = LimbDerivatives(
        flows[-1], zeros(count, count), zeros(count, 6), zeros(count, count), zeros(count, count), zeros(count, 3),
        zeros(6, count), zeros(6, count),
    )  # fmt: skip
    turned: list[dict[int, Axis]] = []  # by joint: by coordinate, what it turns of the joints up to that one
    for k, joint in enumerate(limb.joints):
        parent = limb.index(joint.parent)
        above = {} if parent < 0 else turned[parent]
        own = {c: axes[k] * gearing[k, c] for c in range(count) if gearing[k, c] != 0.0}
        upto = above | {c: above[c] + axis if c in above else axis for c, axis in own.items()}
        turned.append(upto)
        _add_joint(result, flows[k], axes[k], torso.omega, gearing[k], above, upto, joint.armature)
    return result


def _moving(state: LimbState, torso: Motion, accelerations: Sequence[Scalar]) -> tuple[list[Axis], list[Flow]]:
    """Root to tip: every joint's axis and every body's share, about P in the torso frame."""
    limb = state.limb
    start = Twist(torso.omega, zeros(3)), Twist(torso.alpha, torso.acceleration)
    moving: list[tuple[Twist, Twist]] = []
    axes: list[Axis] = []
    flows: list[Flow] = []
    frames = joint_frames(limb, state.angles, zeros(3), array(IDENTITY))
    for k, (joint, frame) in enumerate(zip(limb.joints, frames, strict=True)):
        parent = limb.index(joint.parent)
        twist = Twist(zeros(3), frame.axis) if joint.slides else Twist(frame.axis, cross(frame.place, frame.axis))
        velocity, acceleration = start if parent < 0 else moving[parent]
        first = velocity.cross(twist)
        axes.append(Axis(twist, first, acceleration.cross(twist) + velocity.cross(first)))
        acceleration = acceleration + twist * accelerations[k] + first * state.rates[k]
        velocity = velocity + twist * state.rates[k]
        moving.append((velocity, acceleration))
        body = moments_of(joint.body).turned(frame.rotation).about(frame.place)
        flows.append(flow(body, velocity, acceleration))
    return axes, flows


def _add_joint(
    result: LimbDerivatives, beyond: Flow, axis: Axis, omega: Array, gears: Array, above: dict[int, Axis],
    upto: dict[int, Axis], armature: Scalar,
) -> None:  # fmt: skip
    """Everything between one joint and those that carry it, `upto` with itself and `above` without."""
    twist, first = axis.twist, axis.first
    unit = beyond.pushed(twist)
    twice = Flow(beyond.moments, beyond.momentum * 2.0, beyond.coriolis * 2.0, beyond.wrench)
    by_rate = twice.coriolis_wrench(twist.angular) + beyond.pushed(first * 2.0)
    force, moment = beyond.wrench.force, beyond.wrench.moment
    dragged = Wrench(cross(twist.angular, force), cross(twist.angular, moment) + cross(twist.linear, force))
    by_place = twice.coriolis_wrench(first.angular) + beyond.pushed(axis.second) + dragged
    row = cross(twice.momentum, twist.linear) + times(twice.coriolis.T, twist.angular)  # S_iᵀ 2 B
    along = [(d, gears[d]) for d in range(len(gears)) if gears[d] != 0.0]
    for d, gear in along:
        result.coupling[d] = result.coupling[d] + array([*unit.force, *unit.moment]) * gear
        result.by_omega[d] = result.by_omega[d] + (row + cross(unit.moment, omega)) * gear
        result.torso_by_place[:, d] = result.torso_by_place[:, d] + array([*by_place.force, *by_place.moment]) * gear
        result.torso_by_rate[:, d] = result.torso_by_rate[:, d] + array([*by_rate.force, *by_rate.moment]) * gear
        for e, other in along:
            result.mass[d, e] = result.mass[d, e] + armature * (gear * other)
    for c, other in upto.items():
        mass = other.twist.on(unit)
        place = dot(row, other.first.angular) + other.second.on(unit)
        rate = dot(row, other.twist.angular) + (other.first * 2.0).on(unit)
        for d, gear in along:
            result.mass[d, c] = result.mass[d, c] + mass * gear
            result.by_place[d, c] = result.by_place[d, c] + place * gear
            result.by_rate[d, c] = result.by_rate[d, c] + rate * gear
    for c, other in above.items():
        mass, place, rate = other.twist.on(unit), other.twist.on(by_place), other.twist.on(by_rate)
        for d, gear in along:
            result.mass[c, d] = result.mass[c, d] + mass * gear
            result.by_place[c, d] = result.by_place[c, d] + place * gear
            result.by_rate[c, d] = result.by_rate[c, d] + rate * gear
