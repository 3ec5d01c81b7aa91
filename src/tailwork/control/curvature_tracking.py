"""PD on a segment's curvature by cables that only pull."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailwork.algebra.expression import Scalar, is_zero, larger, sqrt
from tailwork.algebra.vectors import Array, array, cross, times
from tailwork.control.context import Context
from tailwork.control.laws import least_norm
from tailwork.control.profiles import Profiles
from tailwork.errors import ArgumentError, check_known
from tailwork.mechanics.springs_and_cables import cable_arms
from tailwork.robots.limb import Cable, Limb
from tailwork.robots.quantities import Described, nonnegative

PITCH, YAW = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
LOOSE = 1e-9
"""Tension over which one loose cable gives way to another [N]."""


@dataclass(frozen=True)
class Segment:
    """The joints of a limb between two places where cables are held, and the cables that bend it."""

    pitch: tuple[int, ...]  # joints about x
    yaw: tuple[int, ...]  # joints about z
    cables: tuple[int, ...]  # held at its end, among the limb's actuators


def segments(limb: Limb) -> list[Segment]:
    """Segments of a limb, from the torso on: cables held at the same joint bend the same segment."""
    ends: dict[int, list[int]] = {}
    for k, actuator in enumerate(limb.actuators):
        if isinstance(actuator, Cable):
            ends.setdefault(limb.index(actuator.route[-1].joint), []).append(k)
    found: list[Segment] = []
    start = 0
    for end in sorted(ends):
        joints = range(start, end + 1)
        pitch = tuple(k for k in joints if limb.joints[k].axis == PITCH and not limb.joints[k].slides)
        yaw = tuple(k for k in joints if limb.joints[k].axis == YAW and not limb.joints[k].slides)
        found.append(Segment(pitch, yaw, tuple(ends[end])))
        start = end + 1
    return found


@dataclass(frozen=True, kw_only=True)
class CurvatureTracking(Described):
    """Bends a segment of a cable-driven limb to desired angles (pitch about x, yaw about z: sums over its joints).

    A moment m = kp (desired − bend) + kd (desired rate − rate) is asked of every joint, the bend being that of the
    whole segment. It is given by the segment's three cables, of which only two pull at a time: the third, opposite to
    the moment, is slack (the switching function of 2020, Eq. 74). Moments that cables of farther segments pass on to
    this one are counted in.

    A segment's angle is its curvature times its length.
    """

    limb: str  # its name in the model
    pitch: tuple[Profiles, ...]  # by segment: desired sum of its angles about x [rad]
    yaw: tuple[Profiles, ...]  # by segment: likewise about z [rad]
    kp: Scalar = nonnegative("N m/rad")  # of the error of a segment's bend
    kd: Scalar = nonnegative("N m s/rad")  # of the error of its rate
    stiffness: Scalar = nonnegative("N m/rad", 0.0)  # of a joint, to be fed forward: m + stiffness · desired a joint

    def check(self) -> None:
        """As many segments in pitch as in yaw."""
        if len(self.pitch) != len(self.yaw):
            raise ArgumentError("yaw", len(self.yaw), f"as many profiles as for pitch, {len(self.pitch)}")

    def efforts(self, context: Context) -> Mapping[str, Scalar]:
        """Tensions of all cables of the limb, none negative [N]."""
        check_known("limb", [self.limb], context.layout.limbs, "limb")
        parts = segments(context.layout.limbs[self.limb])
        if parts and len(parts) != len(self.pitch):
            raise ArgumentError("pitch", len(self.pitch), f"a profile for each of the {len(parts)} segments")
        t, pairs = context.t, list(zip(self.pitch, self.yaw, strict=True))
        bends = [(pitch.value(t), yaw.value(t)) for pitch, yaw in pairs]
        rates = [(pitch.rate(t), yaw.rate(t)) for pitch, yaw in pairs]
        return _tensions(context, self.limb, bends, rates, self.kp, self.kd, self.stiffness)


_Pairs = Sequence[tuple[Scalar, Scalar]]
"""By segment: sums of its joint angles about x and about z [rad], or their rates [rad/s]."""


def bend_efforts(
    context: Context, name: str, wanted: Mapping[str, Scalar], rates: Mapping[str, Scalar], kp: Scalar, kd: Scalar,
    stiffness: Scalar,
) -> Mapping[str, Scalar]:  # fmt: skip
    """Tensions [N] that bend the segments of a limb to wanted coordinates [rad] with rates [rad/s]."""
    limb = context.layout.limbs[name]

    def bent(values: Mapping[str, Scalar], joints: Sequence[int]) -> Scalar:
        return sum((values[limb.joints[j].name] for j in joints), 0.0)

    bends, bend_rates = ([(bent(own, s.pitch), bent(own, s.yaw)) for s in segments(limb)] for own in (wanted, rates))
    return _tensions(context, name, bends, bend_rates, kp, kd, stiffness)


def _tensions(
    context: Context, name: str, bends: _Pairs, rates: _Pairs, kp: Scalar, kd: Scalar, stiffness: Scalar
) -> dict[str, Scalar]:
    limb = context.layout.limbs[name]
    parts = segments(limb)
    if not parts or any(len(part.cables) != 3 or not part.pitch or not part.yaw for part in parts):
        raise ArgumentError("limb", name, "a limb of segments with three cables and universal joints each")
    straight = [(1.0, 0.0)] * len(limb.joints)
    arms = [cable_arms(limb, straight, a) if isinstance(a, Cable) else {} for a in limb.actuators]
    tensions: dict[str, Scalar] = {}
    passed = array([0.0, 0.0])  # moment that farther cables exert on this segment's joints
    for k in range(len(parts) - 1, -1, -1):
        moment = []  # asked of each joint of the segment, about x and z [N m]
        for joints, want, rate in zip((parts[k].pitch, parts[k].yaw), bends[k], rates[k], strict=True):
            names = [f"{name}.{limb.joints[j].name}" for j in joints]
            bend = sum((context.coordinate(own) for own in names), 0.0)
            slow = rate - sum((context.rate(own) for own in names), 0.0)
            moment.append((want - bend) * kp + slow * kd + want * (stiffness / len(joints)))
        pulls = two_of_three(pulling(arms, parts[k]), array(moment) - passed)
        for j, tension in zip(parts[k].cables, pulls, strict=True):
            tensions[f"{name}.{limb.actuators[j].name}"] = tension
        if k:
            # What these cables do to the joints of the segment before, in the straight shape.
            nearer = Segment(parts[k - 1].pitch, parts[k - 1].yaw, parts[k].cables)
            passed = times(pulling(arms, nearer), array(pulls)) + passed
    return tensions


def pulling(arms: Sequence[dict[int, Scalar]], segment: Segment) -> Array:
    """Moment about x and about z on each joint for a unit tension of each cable, the mean over the joints [m], from
    d(length)/d(angle) of the cables by joint, in the straight shape [m]."""
    return array([
        [sum((-arms[c].get(j, 0.0) for j in joints), 0.0) * (1.0 / len(joints)) for c in segment.cables]
        for joints in (segment.pitch, segment.yaw)
    ])  # fmt: skip


def _rounded_larger(a: Scalar, b: Scalar, width: Scalar) -> Scalar:
    """The larger of two numbers, never less, its corner rounded over a width: half of it more where both are equal."""
    most = larger(a, b)
    apart = (most - a) + (most - b)  # by this form, the derivatives of both terms below jump by as much
    return most + 0.5 * (width * width) / (sqrt(apart * apart + width * width) + apart)


def two_of_three(arms: Array, moment: Array) -> list[Scalar]:
    """The tensions of three cables that give a moment with the least pull: none negative, one of them zero.

    Where two of them would be, both are pulled by half of LOOSE: which of the two is the loose one, and with it the
    derivative of all tensions, would else be a matter of rounding.

    Args:
        arms: (2, 3): moment for a unit tension of each [m].
        moment: wanted, about two axes [N m].
    """
    rows = cross(array(list(arms[0])), array(list(arms[1])))  # tensions that cancel out, all of one sign
    balanced = rows * rows[0]
    if all(is_zero(share) for share in balanced):
        raise ArgumentError("limb", "cables", "three cables around the joint, not in one plane")
    shares = [tension / share for tension, share in zip(least_norm(arms, moment), balanced, strict=True)]
    round_off = LOOSE / balanced[0]
    slack = _rounded_larger(_rounded_larger(-shares[0], -shares[1], round_off), -shares[2], round_off)
    return [(share + slack) * b for share, b in zip(shares, balanced, strict=True)]
