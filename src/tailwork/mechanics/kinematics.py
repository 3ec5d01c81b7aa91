"""Where the bodies of a robot are and how they move: frames of all joints, named points, feet, Jacobians."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tailwork.algebra.expression import Scalar, is_zero
from tailwork.algebra.vectors import Array, array, cross, skew, times, zeros
from tailwork.mechanics.frames import Angle, Turn, joint_place, own_frames
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.moments import NO_MASS, Moments, moments_of
from tailwork.mechanics.pinned import rate_bias
from tailwork.mechanics.sweeps import Motion, link_velocities, motions
from tailwork.mechanics.torso import (
    LimbState,
    TorsoState,
    gearing_of,
    limb_state,
    pinned_values,
    stance_leg,
    torso_state,
)
from tailwork.robots.limb import Limb


@dataclass(frozen=True)
class Frame:
    """The frame of a joint in another frame."""

    place: Array  # of the joint [m]
    rotation: Array  # columns: the axes of the joint's frame
    axis: Array  # of the joint
    slides: bool  # along the axis; else it turns about it

    def arm(self, point: Array) -> Array:
        """How a point [m] of the bodies beyond moves for a unit rate of the joint."""
        return self.axis if self.slides else cross(self.axis, point - self.place)


def joint_frames(limb: Limb, angles: Sequence[Angle], place: Array, rotation: Array) -> list[Frame]:
    """Every joint's frame, seen from where the torso's is at `place` and turned by `rotation`."""
    found: list[Frame] = []
    for joint, angle in zip(limb.joints, angles, strict=True):
        before = None if joint.parent is None else found[limb.index(joint.parent)]
        start, turned = (place, rotation) if before is None else (before.place, before.rotation)
        axis = times(array(joint.rotation), array(joint.axis))  # a joint does not turn its own axis
        found.append(
            Frame(
                start + times(turned, joint_place(joint, angle)),
                times(turned, Turn(joint, angle).matrix()),
                times(turned, axis),
                joint.slides,
            )
        )
    return found


def limb_states(layout: Layout, torso: TorsoState, q: Sequence[Scalar], v: Sequence[Scalar]) -> dict[str, LimbState]:
    """Joint angles and rates of every limb, pinned ones included."""
    states: dict[str, LimbState] = {}
    for name, limb in layout.limbs.items():
        if name in layout.stance:
            leg = stance_leg(layout, torso, name)
            states[name] = LimbState(limb, gearing_of(limb), pinned_values(leg), list(leg.angles), leg.rates)
        else:
            states[name] = limb_state(limb, q[layout.coordinates[name]], v[layout.rates[name]])
    return states


def at_rest(layout: Layout) -> list[Scalar]:
    """Velocities that are zero."""
    return [0.0] * len(layout.velocity_names)


@dataclass(frozen=True)
class MovingBody:
    """The frame of the torso or of a joint, and how it moves."""

    place: Array  # inertial frame [m]
    rotation: Array  # from the body's frame to the inertial
    velocity: Array  # of the frame's origin [m/s], in the body's frame
    omega: Array  # [rad/s], in the body's frame
    moments: Moments  # zero for a joint without a body, or a fixed torso


def bodies(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> dict[str, list[MovingBody]]:
    """By limb: the frame of every joint and how it moves. The torso stands under "torso"."""
    torso = torso_state(layout, q, v)
    base = MovingBody(torso.position, torso.rotation, torso.velocity, torso.omega, torso.moments or NO_MASS)
    seen: dict[str, list[MovingBody]] = {"torso": [base]}
    for name, state in limb_states(layout, torso, q, v).items():
        found: list[MovingBody] = []
        frames = joint_frames(state.limb, state.angles, torso.position, torso.rotation)
        links = own_frames(state.limb, state.angles)
        moving = link_velocities(links, state.rates, torso.velocity, torso.omega)
        for frame, link, (velocity, omega) in zip(frames, links, moving, strict=True):
            found.append(MovingBody(frame.place, frame.rotation, velocity, omega, link.moments))
        seen[name] = found
    return seen


def point_names(layout: Layout) -> list[str]:
    """Names of the points that `points` gives: every joint, foot and tip, with the torso first."""
    return list(named_points(layout))


def named_points(layout: Layout) -> dict[str, tuple[str, int, tuple[Scalar, ...]]]:
    """By name: the limb or "torso", the number of its joint and the point in that joint's frame [m]."""
    found: dict[str, tuple[str, int, tuple[Scalar, ...]]] = {"torso": ("torso", 0, (0.0, 0.0, 0.0))}
    for name, limb in layout.limbs.items():
        found |= {f"{name}.{joint.name}": (name, k, (0.0, 0.0, 0.0)) for k, joint in enumerate(limb.joints)}
        for what, end in (("foot", limb.foot), ("tip", limb.tip)):
            if end is not None:
                found[f"{name}.{what}"] = (name, limb.index(end.joint), end.point)
    return found


def points(layout: Layout, q: Sequence[Scalar]) -> list[Scalar]:
    """Places of all named points in the inertial frame, one after the other [m]."""
    seen = bodies(layout, q, at_rest(layout))
    places: list[Scalar] = []
    for name, k, point in named_points(layout).values():
        body = seen[name][k]
        places += list(body.place + times(body.rotation, array(point)))
    return places


@dataclass(frozen=True)
class MovingPoint:
    """A point that can touch the ground, inertial frame."""

    place: Array  # of the point, the centre of a ball [m]
    velocity: Array  # [m/s]
    rolling: Array  # radius · omega of its body [m/s]
    radius: Scalar  # [m]
    friction: Scalar  # factor on the ground's


def contact_motions(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> dict[str, MovingPoint]:
    """By name as `Robot.contact_points` has it: how the points that can touch the ground move."""
    seen = bodies(layout, q, v)
    found: dict[str, MovingPoint] = {}
    for name, (limb, contact) in layout.contact_points.items():
        body = seen[limb][0 if limb == "torso" else layout.limbs[limb].index(contact.joint)]
        point = array(contact.point)
        found[name] = MovingPoint(
            body.place + times(body.rotation, point),
            times(body.rotation, body.velocity + cross(body.omega, point)),
            zeros(3) if is_zero(contact.radius) else times(body.rotation, body.omega) * contact.radius,
            contact.radius,
            contact.friction,
        )
    return found


def joint_names(layout: Layout) -> list[str]:
    """Names of the joints of all limbs, "limb.joint"."""
    return [f"{name}.{joint.name}" for name, limb in layout.limbs.items() for joint in limb.joints]


def joint_angles(layout: Layout, q: Sequence[Scalar]) -> list[Scalar]:
    """Angles of all joints of all limbs, pinned legs included [rad], and ways of sliders [m]."""
    still = at_rest(layout)
    states = limb_states(layout, torso_state(layout, q, still), q, still)
    return [value for state in states.values() for value in state.values]


def joint_rates(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Rates of all joints of all limbs, pinned legs included [rad/s], of sliders [m/s]."""
    states = limb_states(layout, torso_state(layout, q, v), q, v)
    return [rate for state in states.values() for rate in state.rates]


@dataclass(frozen=True)
class FrameJacobian:
    """The frame of the torso or of a joint, inertial frame, and what its velocities are made of: v_origin = linear · v,
    omega = angular · v."""

    place: Array  # [m]
    rotation: Array
    linear: Array  # 3 × velocities
    angular: Array  # 3 × velocities
    moments: Moments  # of the body, in its own frame


def frame_jacobians(layout: Layout, q: Sequence[Scalar]) -> list[FrameJacobian]:
    """Of the torso and of every joint of every limb."""
    still = at_rest(layout)
    torso = torso_state(layout, q, still)
    linear, angular = zeros(3, len(still)), zeros(3, len(still))
    if layout.torso_free:
        for i in range(3):
            linear[i, i] = angular[i, 3 + i] = 1.0
    base = FrameJacobian(torso.position, torso.rotation, linear, angular, torso.moments or NO_MASS)
    result = [base]
    for name, limb in layout.limbs.items():
        angles, rates = _joint_rate_matrix(layout, torso, name, q)
        found: list[FrameJacobian] = []
        frames = joint_frames(limb, angles, torso.position, torso.rotation)
        for joint, frame, row in zip(limb.joints, frames, rates, strict=True):
            before = base if joint.parent is None else found[limb.index(joint.parent)]
            linear = before.linear - times(skew(frame.place - before.place), before.angular)
            own, angular = array([[a * rate for rate in row] for a in frame.axis]), before.angular
            linear, angular = (linear + own, angular) if frame.slides else (linear, angular + own)
            found.append(FrameJacobian(frame.place, frame.rotation, linear, angular, moments_of(joint.body)))
        result += found
    return result


def _joint_rate_matrix(
    layout: Layout, torso: TorsoState, name: str, q: Sequence[Scalar]
) -> tuple[Sequence[Angle], Array]:
    """Joint angles of a limb, and its joint rates as a matrix times v."""
    limb, still = layout.limbs[name], at_rest(layout)
    rates = zeros(len(limb.joints), len(still))
    if name not in layout.stance:
        state = limb_state(limb, q[layout.coordinates[name]], still[layout.rates[name]])
        rates[:, layout.rates[name]] = state.gearing
        return state.angles, rates
    leg = stance_leg(layout, torso, name)
    by_velocity = times(leg.rates_map, leg.turn.matrix().T)
    rates[:, :3] = times(by_velocity, torso.rotation.T)
    rates[:, 3:6] = -times(times(by_velocity, skew(leg.foot)), torso.rotation.T)
    if name in layout.dependent:
        rates[:, layout.rates[name]] = leg.own
    return leg.angles, rates


def frame_drifts(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Motion]:
    """How the frames of `frame_jacobians` accelerate while v does not change, J-dot v, in their own axes."""
    torso = torso_state(layout, q, v)
    base = Motion(torso.omega, zeros(3), zeros(3))
    result = [base]
    for name, state in limb_states(layout, torso, q, v).items():
        accelerations: list[Scalar] = [0.0] * len(state.rates)
        if name in layout.stance:
            accelerations = rate_bias(stance_leg(layout, torso, name), torso.velocity, torso.omega)
        result += motions(own_frames(state.limb, state.angles), state.rates, accelerations, base)
    return result
