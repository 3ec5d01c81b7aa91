"""Tail motions named by what the tail's centre of mass does, the same for every kind of tail, as equations.

The direction from the mount to the tail's centre of mass is given by a roll alpha about the tail's axis and a bend
theta away from it: alpha = 0 bends down (+) and up, alpha = −90° bends to the right (+) and left. What a tail must do
for it follows from the tail's own numbers, so that a change of design needs no new motion.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tailwork.algebra.expression import Scalar, arctan2, cos, is_zero, sin, sqrt
from tailwork.control.context import Context
from tailwork.control.curvature_tracking import bend_efforts
from tailwork.control.laws import motors_of
from tailwork.control.profiles import Shaped, Sine
from tailwork.errors import ArgumentError, UnknownNameError, check_known
from tailwork.mechanics.layout import Layout
from tailwork.robots.quantities import Described, all_numbers, caption, nonnegative, number, numbers, positive
from tailwork.robots.tails.tail import ANGLES, Tail
from tailwork.typing import Floats

PROFILES = ("cubic", "sine")
SPACES = ("polar", "joints")
AXES = ("roll", "pitch", "yaw")
CHECKED = 201
"""Shares of a motion at which it is checked whether a tail can make it."""
MOST_ANGLE = 4.0 * math.pi
"""Of a direction: more turns are taken for degrees [rad]."""
STRAIGHT = math.radians(0.1)
"""Bends below this have no defined plane [rad]."""


@dataclass(frozen=True, kw_only=True)
class TailMotion(Described):
    """From one direction of the tail's centre of mass to another.

    In the space "polar" the two numbers of a direction are (alpha, theta); in "joints" they are (ta, tb), the angles of
    a pendulum that points there. Both move in proportion to one share of the motion: "cubic" goes from 0 to 1 within
    the duration, from rest to rest, by `Shaped`; "sine" swings between −1 and 1 about the start.
    """

    name: str = caption()  # for tables, file names and captions
    axis: str  # what the motion is meant to do to the torso: "pitch", "roll" or "yaw"
    start: tuple[Scalar, ...] = numbers("rad")  # direction at the start, two numbers
    end: tuple[Scalar, ...] = numbers("rad")  # direction at the end, or farthest of a sine, two numbers
    space: str = "polar"  # what the numbers of a direction are: "polar" or "joints"
    profile: str = "cubic"  # how the share of the motion goes: "cubic" or "sine"
    angle: str = "arc"  # what the bend of a tail of many links is: "arc" (2020, Eq. 86), "chain" (exact) or "tip"
    duration: Scalar = positive("s", 0.3)  # of the cubic, and of the run
    period: Scalar = nonnegative("s", 0.0)  # of the sine; 0 for a cubic
    early: Scalar = number("", 0.0)  # how far a cubic runs ahead in the middle [1]
    skew: Scalar = number("", 0.0)  # how far it runs ahead in the first half and falls behind in the second [1]

    def check(self) -> None:
        """Known words, two numbers a direction, and a period with a sine alone."""
        for name, value, known in (
            ("profile", self.profile, PROFILES), ("space", self.space, SPACES), ("axis", self.axis, AXES),
            ("angle", self.angle, ANGLES),
        ):  # fmt: skip
            if value not in known:
                raise UnknownNameError.among(name, value, known, name)
        for name in ("start", "end"):
            if len(getattr(self, name)) != 2:
                raise ArgumentError(name, getattr(self, name), "two angles [rad]")
        for name in ("start", "end"):
            own = getattr(self, name)
            if all_numbers(*own) and max(map(abs, own)) > MOST_ANGLE:
                far = max(own, key=abs)
                required = f"angles of at most {MOST_ANGLE:.4g} rad: {far:.4g}° are {math.radians(far):.4g} rad"
                raise ArgumentError(name, own, required)
        if all_numbers(self.period) and (self.profile == "sine") != (self.period > 0):
            raise ArgumentError("period", self.period, "a period [s] greater than 0 with a sine, none with a cubic")
        if self.planar and all_numbers(*self.start, *self.end):
            alpha = self.start[0]
            if alpha != self.end[0] or abs(math.cos(alpha) if self.axis == "yaw" else math.sin(alpha)) > 1e-9:
                required = "a bend in the vertical or horizontal plane: alpha of 0 or 180° for pitch, of ±90° for yaw"
                raise ArgumentError("start", self.start, required)

    @property
    def planar(self) -> bool:
        """Whether the tail bends in one plane, vertical for pitch and horizontal for yaw, whatever the numbers."""
        return self.space == "polar" and self.axis != "roll"

    @property
    def from_rest(self) -> bool:
        """Whether the tail is at rest at the start."""
        return self.profile == "cubic"

    @property
    def share(self) -> Shaped | Sine:
        """The share of the motion done, over time."""
        if self.profile == "sine":
            return Sine(amplitude=1.0, period=self.period)
        return Shaped(sweep=1.0, duration=self.duration, early=self.early, skew=self.skew)

    def direction(self, t: Scalar) -> tuple[Scalar, Scalar]:
        """(alpha, theta) at a time [rad]."""
        return self._direction(self.share.value(t))

    def _numbers(self, share: Scalar) -> tuple[Scalar, Scalar]:
        first, second = (a + (b - a) * share for a, b in zip(self.start, self.end, strict=True))
        return self.start[0] if self.planar else first, second

    def _direction(self, share: Scalar) -> tuple[Scalar, Scalar]:
        first, second = self._numbers(share)
        if self.space == "polar":
            return first, second
        back, aside = cos(second) * sin(first), sin(second)
        return arctan2(-aside, back), arctan2(sqrt(back * back + aside * aside), cos(first) * cos(second))

    def _universal_angles(self, share: Scalar) -> tuple[Scalar, Scalar] | None:
        """(ta, tb) of a universal joint [rad] that need no inverse functions: of given angles, or in one plane."""
        first, second = self._numbers(share)
        if self.space == "joints":
            return first, second
        if self.axis == "roll":
            return None
        return (0.0, -(sin(first) * second)) if self.axis == "yaw" else (cos(first) * second, 0.0)

    def of(self, tail: Tail, t: Scalar) -> dict[str, Scalar]:
        """All coordinates of a tail [rad] at a time [s]."""
        share = self.share.value(t)
        angles = self._universal_angles(share)
        direct = None if angles is None else tail.universal_coordinates(*angles)
        return tail.coordinates(*self._direction(share), self.angle) if direct is None else direct

    def coordinates(self, layout: Layout, limb: str, t: Scalar) -> Mapping[str, Scalar]:
        """All coordinates of the robot's tail [rad] at a time [s]."""
        return self.of(layout.robot.part(limb), t)

    def directions(self, shares: Floats) -> tuple[Floats, Floats]:
        """(alpha, theta) at given shares of the motion [rad]."""
        found = np.array([self._direction(float(share)) for share in np.ravel(shares)], dtype=float)
        return found[:, 0].reshape(np.shape(shares)), found[:, 1].reshape(np.shape(shares))

    def check_tail(self, tail: Tail, imposed: bool = False) -> None:
        """Refuses a motion that a tail cannot make. A bar that bends in one plane may go beyond 90° to the side where
        its motion is imposed, or its first motor has an armature: there the bar moves no inertia about that axis."""
        shares = np.linspace(-1.0 if self.profile == "sine" else 0.0, 1.0, CHECKED)
        universal = tail.universal_coordinates(0.0, 0.0) is not None
        if self.planar and universal and (imposed or not is_zero(tail.limb.joints[0].armature)):
            farthest = math.degrees(np.abs(self.directions(shares)[1]).max())
            if farthest >= 180.0:
                raise ArgumentError("motion", f"{farthest:.4g}°", "less than 180°, where the tail comes to the torso")
            return
        if self.space == "joints":
            pairs = [self._numbers(float(share)) for share in shares]
            if universal:
                tail.check_directions(np.full(CHECKED, -math.pi / 2), np.array([float(b) for _, b in pairs]))
                return
        alpha, theta = self.directions(shares)
        if self.space == "joints" and np.abs(theta).min() < STRAIGHT:
            raise ArgumentError("motion", self.name, "no way through the straight tail, where its roll is not defined")
        tail.check_directions(alpha, theta, self.angle)


@dataclass(frozen=True, kw_only=True)
class TailTracking(Described):
    """A tail's own actuators follow the motion that the problem states for it: PD on each driven coordinate, or on the
    bend of each segment of a tail with cables (see `CurvatureTracking`)."""

    limb: str  # the tail
    coordinates: tuple[str, ...] = ()  # that are driven; "bend" for cables
    kp: tuple[Scalar, ...] = numbers("N m/rad", ())  # by driven coordinate; none: as the tail says
    kd: tuple[Scalar, ...] = numbers("N m s/rad", ())  # by driven coordinate; none: as the tail says
    feedforward: bool = True  # whether cables also give what springs in the joints need; False: plain PD

    @classmethod
    def of(cls, limb: str, tail: Tail, kp: float | None = None, kd: float | None = None) -> TailTracking:
        """With the tail's own gains, or the given ones for all [N m/rad], [N m s/rad]."""
        gains = tail.tracking_gains()
        if kp is None and kd is None and type(tail).tracking_gains is Tail.tracking_gains:
            return cls(limb=limb, coordinates=tuple(gains))  # gains go with the tail's inertia: equations, too
        return cls(
            limb=limb, coordinates=tuple(gains),
            kp=tuple(p if kp is None else kp for p, _ in gains.values()),
            kd=tuple(d if kd is None else kd for _, d in gains.values()),
        )  # fmt: skip

    def efforts(self, context: Context) -> Mapping[str, Scalar]:
        """Torques of the motors [N m], or tensions [N]."""
        layout = context.layout
        wanted = context.motion(self.limb).coordinates(layout, self.limb, context.t)
        limb, tail = layout.limbs[self.limb], layout.robot.part(self.limb)
        own = tail.tracking_gains().values()
        stiff, damped = self.kp or tuple(kp for kp, _ in own), self.kd or tuple(kd for _, kd in own)
        names = list(wanted)
        rates = dict(zip(names, context.time_derivatives([wanted[name] for name in names]), strict=True))
        if self.coordinates == ("bend",):
            stiffness = getattr(tail, "bending_stiffness", 0.0) if self.feedforward else 0.0
            return bend_efforts(context, self.limb, wanted, rates, stiff[0], damped[0], stiffness)
        found: dict[str, Scalar] = {}
        motors = motors_of(limb)
        check_known("control.coordinates", self.coordinates, motors, f"coordinate of {self.limb} that a motor drives")
        if not len(self.coordinates) == len(stiff) == len(damped):
            said = (self.coordinates, self.kp, self.kd)
            raise ArgumentError("control", said, f"coordinates and gains of all that motors drive: {', '.join(motors)}")
        for name, kp, kd in zip(self.coordinates, stiff, damped, strict=True):
            full, motor = f"{self.limb}.{name}", motors[name]
            error, slow = wanted[name] - context.coordinate(full), rates[name] - context.rate(full)
            found[f"{self.limb}.{motor.name}"] = (error * kp + slow * kd) / motor.ratio
        return found
