"""Springs, dampers, stops, dry friction and cables of a limb: torques on its joints, energies, the cables' arms."""

from __future__ import annotations

from collections.abc import Sequence

from tailwork.algebra.expression import Scalar, is_zero, larger, sqrt
from tailwork.algebra.vectors import Array, array, cross, dot, times
from tailwork.mechanics.frames import Angle, Turn, joint_place
from tailwork.robots.limb import Cable, Joint, Limb
from tailwork.robots.springs import BendingSpring, JointSpring, PointSpring, StopSpring
from tailwork.robots.variable_stiffness import VariableStiffness

# atan(x)/x as a polynomial in x² for 0 ≤ x² ≤ 1, by interpolation in Chebyshev points; relative error below 2e-16.
ARCTANGENT = (
    1.0, -0.3333333333333325, 0.19999999999986157, -0.14285714284820428, 0.11111111080383854, -0.09090908440338843,
    0.07692298432985685, -0.06666572806289763, 0.05881647236717415, -0.05259103789485882, 0.0474370596643217,
    -0.042828645702794474, 0.038129809754225044, -0.03264116292977077, 0.0259471057039563, -0.018386836817918875,
    0.011122014669752633, -0.005484778971809356, 0.002090633535263676, -0.0005727925781292097, 9.978410811953032e-05,
    -8.26799581733715e-06,
)  # fmt: skip

FRICTION_RATE = {"hinge": 0.01, "slider": 0.001}
"""By motion of a joint: the rate at which dry friction has reached 71 % of its size [rad/s, m/s]."""


def dry_friction(joint: Joint, rate: Scalar) -> Scalar:
    """Torque [N m], or force [N] on a slider, of a joint's dry friction: −friction · rate / sqrt(rate² + s²).

    The law is smooth, with s = `FRICTION_RATE`: from 0.07 rad/s (7 mm/s) on it is within 1 % of Coulomb's. A joint does
    not stick: under a load of a share p of the friction it creeps at s p / sqrt(1 − p²), at p = 0.7 by 0.01 rad/s.
    """
    least = FRICTION_RATE[joint.motion]
    return -(rate * joint.friction) / sqrt(rate * rate + least * least)


def stop(spring: StopSpring, value: Scalar, rate: Scalar) -> tuple[Scalar, Scalar]:
    """How far a joint is beyond its stops [rad, m], either way, and the stop's torque [N m, N] (Hunt & Crossley's law):
    stiffness · depth · (1 + damping · rate of depth), which never pulls."""
    above, below = larger(value - spring.upper, 0.0), larger(spring.lower - value, 0.0)
    push = below * larger(1.0 - rate * spring.damping, 0.0) - above * larger(rate * spring.damping + 1.0, 0.0)
    return above - below, push * spring.stiffness


def bending(first: Angle, second: Angle) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """Net bending of a universal joint: (sigma/sin sigma, sin² sigma, and sin sigma · grad sigma by both angles).

    cos sigma = cos a cos b (2020, Eq. 48). sigma/sin sigma is smooth at sigma = 0; with the half angle's cosine
    h = sqrt((1 + cos sigma)/2) and k = 1/(2 h (1 + h)) it is 4 k atan(t)/t, t² = tan²(sigma/4) = k² sin² sigma, which
    needs no division by a small number and holds for all |sigma| < 180°.
    """
    (ca, sa), (cb, sb) = first, second
    ga, gb = sa * cb, ca * sb
    sine2 = sa * sa + gb * gb
    h = sqrt((ca * cb) * 0.5 + 0.5)
    k = 0.5 / (h * (h + 1.0))
    t2 = k * k * sine2
    series: Scalar = ARCTANGENT[-1]
    for coefficient in reversed(ARCTANGENT[:-1]):
        series = series * t2 + coefficient
    return 4.0 * k * series, sine2, ga, gb


def spring_torques(
    limb: Limb, values: Sequence[Scalar], angles: Sequence[Angle], rates: Sequence[Scalar]
) -> list[Scalar]:
    """Torque of all springs, dampers, stops and dry friction on each joint [N m; N on sliders], from its angle, that's
    cosine and sine, and its rate."""
    torques: list[Scalar] = [
        0.0 if is_zero(joint.friction) else dry_friction(joint, rate)
        for joint, rate in zip(limb.joints, rates, strict=True)
    ]
    for spring in limb.springs:
        if isinstance(spring, StopSpring):
            k = limb.index(spring.joint)
            torques[k] = torques[k] + stop(spring, values[k], rates[k])[1]
        elif isinstance(spring, JointSpring):
            k = limb.index(spring.joint)
            pull = (values[k] - spring.rest) * spring.stiffness + rates[k] * spring.damping
            torques[k] = torques[k] - pull + spring.preload
        elif isinstance(spring, BendingSpring):
            i, k = limb.index(spring.first), limb.index(spring.second)
            ratio, sine2, ga, gb = bending(angles[i], angles[k])
            # 2020, Eqs. 63 and 64 with the limit at sigma = 0 chosen as BendingSpring says.
            blend2 = spring.blend * spring.blend
            damping = spring.damping / (sine2 + blend2)
            pull = ratio * spring.stiffness + (ga * rates[i] + gb * rates[k]) * damping
            torques[i] = torques[i] - ga * pull - rates[i] * (damping * blend2)
            torques[k] = torques[k] - gb * pull - rates[k] * (damping * blend2)
        else:
            length, arms = span(limb, angles, spring.first, spring.first_point, spring.second, spring.second_point)
            tension = (length - spring.rest_length) * spring.stiffness
            for k, arm in arms.items():
                torques[k] = torques[k] - arm * tension
    return torques


def spring_energy(limb: Limb, values: Sequence[Scalar], angles: Sequence[Angle]) -> Scalar:
    """Energy stored in all springs [J]."""
    energy: Scalar = 0.0
    for spring in limb.springs:
        if isinstance(spring, StopSpring):
            depth, _ = stop(spring, values[limb.index(spring.joint)], 0.0)
            energy = energy + depth * depth * (spring.stiffness * 0.5)
        elif isinstance(spring, JointSpring):
            value = values[limb.index(spring.joint)]
            stretch = value - spring.rest
            energy = energy + stretch * stretch * (spring.stiffness * 0.5) - value * spring.preload
        elif isinstance(spring, BendingSpring):
            ratio, sine2, _, _ = bending(angles[limb.index(spring.first)], angles[limb.index(spring.second)])
            energy = energy + ratio * ratio * sine2 * (spring.stiffness * 0.5)
        else:
            length, _ = span(limb, angles, spring.first, spring.first_point, spring.second, spring.second_point)
            stretch = length - spring.rest_length
            energy = energy + stretch * stretch * (spring.stiffness * 0.5)
    return energy


def damping_power(limb: Limb, values: Sequence[Scalar], angles: Sequence[Angle], rates: Sequence[Scalar]) -> Scalar:
    """Power that dampers, stops and dry friction take out of the motion [W], never negative."""
    power: Scalar = 0.0
    for joint, rate in zip(limb.joints, rates, strict=True):
        if not is_zero(joint.friction):
            power = power - dry_friction(joint, rate) * rate
    for spring in limb.springs:
        if isinstance(spring, StopSpring):
            k = limb.index(spring.joint)
            depth, push = stop(spring, values[k], rates[k])
            power = power - (push + depth * spring.stiffness) * rates[k]
        elif isinstance(spring, JointSpring):
            rate = rates[limb.index(spring.joint)]
            power = power + rate * rate * spring.damping
        elif isinstance(spring, BendingSpring):
            i, k = limb.index(spring.first), limb.index(spring.second)
            _, sine2, ga, gb = bending(angles[i], angles[k])
            blend2 = spring.blend * spring.blend
            along = ga * rates[i] + gb * rates[k]
            both = rates[i] * rates[i] + rates[k] * rates[k]
            power = power + (along * along + both * blend2) * (spring.damping / (sine2 + blend2))
    return power


def cable_arms(limb: Limb, angles: Sequence[Angle], cable: Cable) -> dict[int, Scalar]:
    """d(length)/d(angle) of a cable by joint [m] (2020, Eqs. 75–78 as corrected: it pulls with −T times this)."""
    total: dict[int, Scalar] = {}
    for before, after in zip(cable.route, cable.route[1:], strict=False):
        _, arms = span(limb, angles, before.joint, before.point, after.joint, after.point)
        for k, arm in arms.items():
            total[k] = total.get(k, 0.0) + arm
    return total


def pull_arms(
    limb: Limb, values: Sequence[Scalar], angles: Sequence[Angle], actuator: Cable | VariableStiffness
) -> dict[int, Scalar]:
    """By joint: what it is pulled back by for a unit effort, d(length)/d(angle) of a cable [m], or stretch times
    d(stretch)/d(angle) of springs whose stiffness changes."""
    if isinstance(actuator, Cable):
        return cable_arms(limb, angles, actuator)
    total: dict[int, Scalar] = {}
    for number, factor in actuator.shares():
        spring = limb.springs[number]
        if isinstance(spring, JointSpring):
            k = limb.index(spring.joint)
            arms = {k: values[k] - spring.rest}
        elif isinstance(spring, BendingSpring):
            i, k = limb.index(spring.first), limb.index(spring.second)
            ratio, _, ga, gb = bending(angles[i], angles[k])
            arms = {i: ga * ratio, k: gb * ratio}
        else:
            assert isinstance(spring, PointSpring)
            length, arms = span(limb, angles, spring.first, spring.first_point, spring.second, spring.second_point)
            arms = {k: arm * (length - spring.rest_length) for k, arm in arms.items()}
        for k, arm in arms.items():
            total[k] = total.get(k, 0.0) + arm * factor
    return total


def span(
    limb: Limb, angles: Sequence[Angle], first: str | None, first_point: tuple[Scalar, ...], second: str | None,
    second_point: tuple[Scalar, ...],
) -> tuple[Scalar, dict[int, Scalar]]:  # fmt: skip
    """Distance between points of two bodies [m] and its derivative by each joint between them [m; 1 of a slider]."""
    chains = [_ancestors(limb, limb.index(first)), _ancestors(limb, limb.index(second))]
    shared = set(chains[0]) & set(chains[1])
    a, joints_a = _seen_from(limb, angles, [k for k in chains[0] if k not in shared], array(first_point))
    b, joints_b = _seen_from(limb, angles, [k for k in chains[1] if k not in shared], array(second_point))
    difference = b - a
    length = sqrt(dot(difference, difference))
    per_length = 1.0 / length
    arms: dict[int, Scalar] = {}
    # Turning the second body about r moves its point by axis × (b − r); along the span that is axis · ((a−r) × (b−r)).
    for joints, sign in ((joints_b, 1.0), (joints_a, -1.0)):
        for k, (origin, axis) in joints.items():
            arm = difference if limb.joints[k].slides else cross(a - origin, b - origin)
            arms[k] = dot(axis, arm) * per_length * sign
    return length, arms


def _ancestors(limb: Limb, k: int) -> list[int]:
    """A joint and all between it and the torso."""
    chain = []
    while k >= 0:
        chain.append(k)
        k = limb.index(limb.joints[k].parent)
    return chain


def _seen_from(
    limb: Limb, angles: Sequence[Angle], chain: Sequence[int], point: Array
) -> tuple[Array, dict[int, tuple[Array, Array]]]:
    """A point of the chain's last body and the chain's joints (origin, axis), seen from the body before the chain.

    The chain lists joints from the last to the first.
    """
    joints: dict[int, tuple[Array, Array]] = {}
    for k in chain:
        joint = limb.joints[k]
        turn, offset = Turn(joint, angles[k]), joint_place(joint, angles[k])
        point = offset + turn.inward(point)
        joints = {j: (offset + turn.inward(origin), turn.inward(axis)) for j, (origin, axis) in joints.items()}
        joints[k] = (offset, times(array(joint.rotation), array(joint.axis)))
    return point, joints
