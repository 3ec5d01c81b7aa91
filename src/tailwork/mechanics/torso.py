"""The torso's state in its own frame, and each limb's joint angles and rates from the coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tailwork.algebra.expression import Scalar, arctan2, cos, sin, sqrt
from tailwork.algebra.vectors import Array, array, cross, times, zeros
from tailwork.mechanics.air import air_of, drag_on, has_drag, limb_drag
from tailwork.mechanics.attitude import attitude_rates, attitude_size, rotation_matrix
from tailwork.mechanics.frames import Angle, Link
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.moments import Moments, moments_of
from tailwork.mechanics.pinned import PinnedLeg, Riding, pinned_leg
from tailwork.mechanics.sweeps import NO_WRENCH, Motion, Wrench, nothing
from tailwork.robots.limb import Limb


@dataclass
class TorsoState:
    """Pose and motion of the torso. Vectors in the torso frame unless said otherwise."""

    rotation: Array  # R, torso to inertial frame
    position: Array  # of P, inertial frame [m]
    velocity: Array  # of P [m/s]
    omega: Array  # [rad/s]
    gravity: Array  # g [m/s²]
    moments: Moments | None  # of the torso about P; None where it is fixed
    feet: dict[str, Array]  # by pinned leg: e, its foot from P [m]
    riding: dict[str, Riding] = field(default_factory=dict)  # by pinned leg without a closed form

    def bias_motion(self) -> Motion:
        """The torso turning as it does, P not accelerating."""
        return Motion(self.omega, zeros(3), -self.gravity)

    def to_inertial(self, v: Array) -> Array:
        """A vector in the inertial frame."""
        return times(self.rotation, v)

    def from_inertial(self, v: Array) -> Array:
        """A vector of the inertial frame, in the torso's."""
        return times(self.rotation.T, v)


def torso_state(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> TorsoState:
    """The torso's state from the coordinates q and velocities v."""
    down = -1.0 * layout.robot.gravity
    if not layout.torso_free:
        still = array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        return TorsoState(still, zeros(3), zeros(3), zeros(3), array([0.0, 0.0, down]), None, {})
    rotation = rotation_matrix(layout.attitude, q[3 : 3 + attitude_size(layout.attitude)])
    position = array(list(q[:3]))
    feet: dict[str, Array] = {}
    for name in layout.stance:
        foot = layout.limbs[name].foot
        assert foot is not None
        feet[name] = times(rotation.T, array(foot.place) - position)
    return TorsoState(
        rotation=rotation,
        position=position,
        velocity=times(rotation.T, array(list(v[:3]))),
        omega=times(rotation.T, array(list(v[3:6]))),
        gravity=rotation[2] * down,
        moments=moments_of(layout.robot.torso_with_actuators()),
        feet=feet,
        riding={
            name: Riding(list(q[layout.coordinates[name]]), list(v[layout.rates[name]]), joints)
            for name, joints in layout.dependent.items()
        },
    )


CLOSING = 20.0
"""Rate at which angles in the configuration go back to where they close, whatever integration lets them drift [1/s].
Equations see closed angles in any case."""


def coordinate_rates(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Time derivative of q from q and v."""
    if not layout.torso_free:
        return list(v)
    end = 6 + sum(len(layout.limbs[name].coordinates) for name in layout.moving)
    turning = attitude_rates(layout.attitude, q[3 : 3 + attitude_size(layout.attitude)], array(list(v[3:6])))
    rates = [*v[:3], *turning, *v[6:end]]
    if layout.dependent:
        torso = torso_state(layout, q, v)
        for name, joints in layout.dependent.items():
            leg = stance_leg(layout, torso, name)
            assert leg.values is not None
            rows = zip(leg.rates, leg.values, q[layout.coordinates[name]], strict=True)
            rates += [rate + (to - x) * CLOSING if k in joints else rate for k, (rate, to, x) in enumerate(rows)]
    return rates


def moved(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar], time: Scalar, at_end: bool = False) -> list[Scalar]:
    """q after a time [s] at velocities v; with the rates of the attitude's angles as they are then, if `at_end`."""
    rates = coordinate_rates(layout, q, v)
    found = [x + rate * time for x, rate in zip(q, rates, strict=True)]
    if not layout.torso_free:
        return found
    if attitude_size(layout.attitude) == 4:
        per_length = 1.0 / sqrt(sum((x * x for x in found[3:7]), 0.0))
        found[3:7] = [x * per_length for x in found[3:7]]
    elif at_end:
        rates = coordinate_rates(layout, found, v)
        found[3:6] = [x + rate * time for x, rate in zip(q[3:6], rates[3:6], strict=True)]
    return found


@dataclass
class LimbState:
    """Joint angles and rates of a limb that has coordinates of its own."""

    limb: Limb
    gearing: Array  # joints × coordinates
    values: list[Scalar]  # joint angles [rad], ways of sliders [m]
    angles: list[Angle]
    rates: list[Scalar]  # joint rates [rad/s], of sliders [m/s]


def gearing_of(limb: Limb) -> Array:
    """The matrix from coordinates to joint angles."""
    if limb.gearing is not None:
        return array([list(row) for row in limb.gearing])
    return array([[float(joint.name == name) for name in limb.coordinates] for joint in limb.joints])


def limb_state(limb: Limb, coordinates: Sequence[Scalar], rates: Sequence[Scalar]) -> LimbState:
    """Joint angles and rates from a limb's coordinates and their rates."""
    gearing = gearing_of(limb)
    values = list(times(gearing, array(list(coordinates))))
    angles = [(x, 0.0) if joint.slides else (cos(x), sin(x)) for joint, x in zip(limb.joints, values, strict=True)]
    return LimbState(limb, gearing, values, angles, list(times(gearing, array(list(rates)))))


def stance_leg(layout: Layout, torso: TorsoState, name: str) -> PinnedLeg:
    """A pinned leg solved for its position and rates."""
    return pinned_leg(layout.limbs[name], torso.feet[name], torso.velocity, torso.omega, torso.riding.get(name))


def pinned_values(leg: PinnedLeg) -> list[Scalar]:
    """Joint angles of a stance leg [rad]: within half a turn of the middle of the joint's range, or of zero."""
    if leg.values is not None:
        return leg.values
    found: list[Scalar] = []
    for joint, (cosine, sine) in zip(leg.limb.joints, leg.angles, strict=True):
        middle = 0.0 if joint.range is None else (joint.range[0] + joint.range[1]) * 0.5
        c, s = cos(middle), sin(middle)
        found.append(arctan2(sine * c - cosine * s, cosine * c + sine * s) + middle)
    return found


def against_air(layout: Layout, torso: TorsoState) -> Array:
    """Velocity of P against the air, in the torso frame [m/s]."""
    wind = array(air_of(layout.robot).wind)
    return torso.velocity if nothing(wind) else torso.velocity - torso.from_inertial(wind)


def outside_wrenches(
    layout: Layout, torso: TorsoState, name: str, links: Sequence[Link], rates: Sequence[Scalar],
    forces: Sequence[Array],
) -> list[Wrench]:  # fmt: skip
    """What outside forces and the air do to a limb's bodies: wrenches about their joints, in the links' frames."""
    limb = layout.limbs[name]
    found = limb_pushes(links, pushes_on(layout, torso, name, forces))
    if not has_drag(limb):
        return found
    drags = limb_drag(limb, links, rates, against_air(layout, torso), torso.omega, air_of(layout.robot).density)
    return [push + drag for push, drag in zip(found, drags, strict=True)]


def pushes_on(layout: Layout, torso: TorsoState, name: str, forces: Sequence[Array]) -> list[list[tuple[Array, Array]]]:
    """By joint of a limb: (point in the joint's frame, force in the torso frame) of the pushes on its body."""
    limb = layout.limbs[name]
    found: list[list[tuple[Array, Array]]] = [[] for _ in limb.joints]
    for push, force in zip(layout.pushes, forces, strict=True):
        if push.limb == name:
            found[limb.index(push.joint)].append((array(push.point), torso.from_inertial(force)))
    return found


def torso_push(layout: Layout, torso: TorsoState, forces: Sequence[Array]) -> Wrench:
    """Wrench of the pushes and of the air on the torso itself, about P."""
    total, drag = NO_WRENCH, layout.robot.torso_body().drag
    if drag:
        total = drag_on(drag, against_air(layout, torso), torso.omega, air_of(layout.robot).density)
    for push, force in zip(layout.pushes, forces, strict=True):
        if push.limb == "torso":
            local = torso.from_inertial(force)
            total = total + Wrench(local, cross(array(push.point), local))
    return total


def into_link(links: Sequence[Link], k: int, v: Array) -> Array:
    """A vector of the torso frame, in the frame of a link."""
    link = links[k]
    return link.turn.outward(v if link.parent < 0 else into_link(links, link.parent, v))


def out_of_link(links: Sequence[Link], k: int, v: Array) -> Array:
    """A vector of a link's frame, in the torso frame."""
    link = links[k]
    turned = link.turn.inward(v)
    return turned if link.parent < 0 else out_of_link(links, link.parent, turned)


def limb_pushes(links: Sequence[Link], pushes: Sequence[Sequence[tuple[Array, Array]]]) -> list[Wrench]:
    """Pushes on a limb's bodies as wrenches about their joints, in the links' frames."""
    result = [NO_WRENCH] * len(links)
    for k, found in enumerate(pushes):
        for point, force in found:
            local = into_link(links, k, force)
            result[k] = result[k] + Wrench(local, cross(times(links[k].orientation, point), local))
    return result


def leg_pushes(layout: Layout, torso: TorsoState, name: str, leg: PinnedLeg, forces: Sequence[Array]) -> list[Wrench]:
    """What outside forces and the air do to a stance leg's bodies: wrenches about its foot, in the leg's frame."""
    places = [end - span for end, span in zip(leg.ends, leg.spans, strict=True)]
    return [
        Wrench(wrench.force, wrench.moment + cross(place, wrench.force))
        for wrench, place in zip(
            outside_wrenches(layout, torso, name, leg.links, leg.rates, forces), places, strict=True
        )
    ]
