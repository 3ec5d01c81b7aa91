"""The leg of real quadrupeds: an abduction hinge, then two parallel ones, beside the hip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tailwork.algebra.expression import Scalar, larger, sqrt
from tailwork.algebra.vectors import Array, array, dot, rotation, times
from tailwork.errors import RobotError
from tailwork.robots.legs.two_bars import two_bar_reach
from tailwork.robots.limb import Limb
from tailwork.robots.quantities import Matrix, RobotPart, Vector

ROUNDING = 1e-15
PARALLEL = 1e-12
"""Axes whose directions differ by no more than this [rad] are parallel."""
SKEW = 1e-6
"""The first axis differs from the second by at least this [rad]."""
UNDECIDED = 1e-6
"""A reference posture nearer than this to a straight leg or to a foot level with its hip [1] decides no sign."""

_Plane = tuple[Scalar, Scalar]


@dataclass(frozen=True, kw_only=True)
class OffsetHinges:
    """Closed form of three hinges about a1, a2 and a3, a2 ∥ a3, a1 in any other direction, with any offsets.

    Seen from the first hinge, in its frame at zero angle, the foot is at s. Turned back by theta_1 it is at
    r = o2 + R(a2, theta_2) (o3 + R(a3, theta_3) f). Turns about a2 keep the part along a2, so that
    r·a2 = d = a2·(o2 + o3 + f) fixes theta_1; what is left of r − o2 across a2 is reached by two bars. With
    c = a1·a2, a⊥ = a2 − c a1, A = a⊥·s, B = (a1 × a⊥)·s, k = a1·s, C = d − c k and w = side sqrt(A² + B² − C²):

        r = k a1 + (C a⊥ + w a1 × a⊥)/|a⊥|²,  cos theta_1 = (A C + B w)/(A² + B²),  sin theta_1 = (B C − A w)/(A² + B²).

    w is how far the foot is beyond the plane of a1 and a2, on the side that `side` says. It ends at zero, where the
    foot is level with the hip: for crossing axes at right angles, at the distance d from the first axis.
    """

    hip: Vector  # the first hinge, torso frame [m]
    frame: Matrix  # structure: its axes at zero angle, torso frame
    first: tuple[float, float, float]  # structure: a1, in its frame
    second: tuple[float, float, float]  # structure: a2, likewise at zero angles
    sense: float  # structure: a3 = sense a2
    to_second: Vector  # o2 [m]
    to_third: Vector  # o3, in the axes of the first hinge's frame at zero angles [m]
    to_foot: Vector  # f, likewise [m]
    side: float  # structure: sign of r·(a1 × a2)
    knee: float  # structure: sign of a2·(o3 × R(a3, theta_3) f)

    @cached_property
    def _axes(self) -> tuple[Array, ...]:
        """a1, a⊥, a1 × a⊥, and across a2: e = a1 × a2/|a1 × a2| and g = a2 × e."""
        first, second = np.array(self.first), np.array(self.second)
        across = second - (first @ second) * first
        e = np.cross(first, second) / np.linalg.norm(across)
        return tuple(map(_plain, (first, across, np.cross(first, across), e, np.cross(second, e))))

    @cached_property
    def _skew(self) -> tuple[float, float]:
        """Cosine c = a1·a2 and sine |a⊥| of the angle between the first two axes."""
        cosine = _plain(np.array([np.dot(self.first, self.second)]))[0]
        return cosine, 1.0 if cosine == 0.0 else float(np.sqrt(1.0 - cosine * cosine))

    def _solved(self, foot: Vector) -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar]:
        """A, B, C, w² and k for a foot in the torso frame [m]."""
        first, across, beyond, _, _ = self._axes
        s = times(array(self.frame).T, array(foot) - array(self.hip))
        a, b, k = dot(across, s), dot(beyond, s), dot(first, s)
        d = dot(_plain(self.second), array(self.to_second) + array(self.to_third) + array(self.to_foot))
        c = d - k * self._skew[0]
        return a, b, c, a * a + b * b - c * c, k

    def _target(self, w: Scalar, c: Scalar, k: Scalar) -> _Plane:
        """(e, g) of r − o2 [m]."""
        _, _, _, e, g = self._axes
        (cosine, sine), start = self._skew, array(self.to_second)
        return w * (1.0 / sine) - dot(e, start), k * sine - c * (cosine / sine) - dot(g, start)

    def _bars(self) -> tuple[_Plane, _Plane]:
        """(e, g) of the two bars o3 and f at zero angles [m]."""
        _, _, _, e, g = self._axes
        thigh, shank = ((dot(e, array(v)), dot(g, array(v))) for v in (self.to_third, self.to_foot))
        return thigh, shank

    def angles(self, foot: Vector) -> list[tuple[Scalar, Scalar]]:
        """(cosine, sine) of the three joint angles for a foot at `foot` in the torso frame [m]."""
        a, b, c, square, k = self._solved(foot)
        w = sqrt(square) * self.side
        per = 1.0 / (a * a + b * b)
        (tx, ty), ((ux, uy), (fx, fy)) = self._target(w, c, k), self._bars()
        reach2, u2, f2 = tx * tx + ty * ty, ux * ux + uy * uy, fx * fx + fy * fy
        product = sqrt(u2 * f2)
        cos_knee = (reach2 - (u2 + f2)) * (1.0 / (2.0 * product))
        sin_knee = sqrt(1.0 - cos_knee * cos_knee) * self.knee
        cos_zero, sin_zero = (ux * fx + uy * fy) / product, (ux * fy - uy * fx) / product  # from o3 to f at zero angle
        cos3, sin3 = cos_knee * cos_zero + sin_knee * sin_zero, sin_knee * cos_zero - cos_knee * sin_zero
        x, y = ux + cos3 * fx - sin3 * fy, uy + sin3 * fx + cos3 * fy
        per_reach2 = 1.0 / reach2
        return [
            ((a * c + b * w) * per, (b * c - a * w) * per),
            ((x * tx + y * ty) * per_reach2, (x * ty - y * tx) * per_reach2),
            (cos3, sin3 * self.sense),
        ]

    def extension(self, foot: Vector) -> Scalar:
        """Distance from the second axis to the foot, across it, as a share of the two bars."""
        _, _, c, square, k = self._solved(foot)
        (tx, ty), bars = self._target(sqrt(larger(square, 0.0)) * self.side, c, k), self._bars()
        thigh, shank = (sqrt(x * x + y * y) for x, y in bars)
        return sqrt(tx * tx + ty * ty) * (1.0 / (thigh + shank))

    def reach(self) -> tuple[Scalar, Scalar]:
        """Extension of the folded and of the straight leg."""
        thigh, shank = (sqrt(x * x + y * y) for x, y in self._bars())
        return two_bar_reach(thigh, shank)

    def clearance(self, foot: Vector) -> Scalar:
        """How far the foot is beyond the plane of the first two axes, as a share of the two bars; 0 where the first
        hinge has no answer, and where the foot is nearer to its axis."""
        _, _, _, square, _ = self._solved(foot)
        thigh, shank = (sqrt(x * x + y * y) for x, y in self._bars())
        return sqrt(larger(square, 0.0)) * (1.0 / self._skew[1]) * (1.0 / (thigh + shank))


def _plain(direction: ArrayLike) -> Array:
    """A direction as scalars, less rounding errors beside zero, so that equations are pruned there."""
    x = np.asarray(direction, dtype=float)
    return array(np.where(np.abs(x) < ROUNDING, 0.0, x).tolist())


@dataclass(frozen=True, kw_only=True)
class OffsetLeg(RobotPart):
    """A leg of three hinges written out joint by joint, the last two parallel: that of most real quadrupeds.

    The limb is given in the torso frame, whichever way that faces: bodies of any inertia, any sideways offset, a first
    axis in any direction, each leg its own (mirrored) geometry. Its foot can be pinned. Two signs say which of the
    postures that reach a foot is meant; `from_posture` reads them off one.
    """

    kind: ClassVar[str] = "offset_leg"

    limb: Limb  # three hinges in a row, the last of which carries the foot
    side: float  # 1 or −1 [1]: the foot's side of the plane of the first two axes a1, a2, along a1 × a2
    knee: float  # 1 or −1 [1]: which way the knee bends, by a turn about a2 from the thigh to the shank

    def check(self) -> None:
        """Three hinges in a row with a foot, axes as they must be, signs that are signs."""
        for name, sign in (("side", self.side), ("knee", self.knee)):
            if abs(sign) != 1.0:
                raise RobotError(name, sign, "1 or −1; OffsetLeg.from_posture reads it off a posture")
        _check_shape(self.limb)

    @classmethod
    def from_posture(cls, limb: Limb, angles: Sequence[float]) -> OffsetLeg:
        """The leg whose foot and knee are on the sides where they are at these three joint angles [rad].

        Raises:
            RobotError: the limb is no such leg, or the posture is on the border of two sides: a leg that is straight or
                folded, or a foot that is level with its hip.
        """
        _check_shape(limb)
        if len(angles) != 3:
            raise RobotError("angles", tuple(angles), "three joint angles [rad]")
        form = _closed_form(limb, 1.0, 1.0)
        first, second = np.array(form.first), np.array(form.second)
        o2, o3, f = (np.array(v, dtype=float) for v in (form.to_second, form.to_third, form.to_foot))

        def turned(angle: float, v: np.ndarray) -> np.ndarray:
            return np.asarray(times(rotation(form.second, float(np.cos(angle)), float(np.sin(angle))), array(v)), float)

        shank = turned(form.sense * float(angles[2]), f)
        foot = o2 + turned(float(angles[1]), o3 + shank)
        bent, beyond = second @ np.cross(o3, shank), foot @ np.cross(first, second)
        across = [np.linalg.norm(v - (v @ second) * second) for v in (o3, shank)]
        if abs(bent) < UNDECIDED * across[0] * across[1]:
            raise RobotError(
                "angles", tuple(angles), "a posture with a bent knee (this leg is straight or folded there)"
            )
        if abs(beyond) < UNDECIDED * sum(across):
            raise RobotError("angles", tuple(angles), "a posture in which the foot is not level with the hip")
        return cls(limb=limb, side=float(np.sign(beyond)), knee=float(np.sign(bent)))

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The leg, under the name of the part."""
        return {name: replace(self.limb, closed_form=_closed_form(self.limb, self.side, self.knee))}


def _check_shape(limb: Limb) -> None:
    """Raises an error unless three hinges in a row carry a foot, the last two parallel, the first not."""
    in_a_row = [limb.index(joint.parent) for joint in limb.joints] == [-1, 0, 1]
    if not in_a_row or limb.foot is None or limb.foot.joint != limb.joints[2].name or limb.gearing is not None:
        required = "three hinges in a row, not geared, with a foot on the last body"
        raise RobotError("limb", [joint.name for joint in limb.joints], required)
    first, second, third = _axes_at_zero(limb)
    if np.linalg.norm(np.cross(second, third)) > PARALLEL:
        raise RobotError("limb.joints", limb.joints[2].name, f"an axis parallel to that of {limb.joints[1].name}")
    if np.linalg.norm(np.cross(first, second)) < SKEW:
        raise RobotError("limb.joints", limb.joints[1].name, f"an axis not parallel to that of {limb.joints[0].name}")


def _axes_at_zero(limb: Limb) -> list[np.ndarray]:
    """The three axes in the frame of the first hinge at zero angles."""
    turn, found = np.eye(3), []
    for k, joint in enumerate(limb.joints):
        turn = turn if k == 0 else turn @ np.array(joint.rotation)
        found.append(turn @ np.array(joint.axis))
    return found


def _closed_form(limb: Limb, side: float, knee: float) -> OffsetHinges:
    hip, thigh, shank = limb.joints
    assert limb.foot is not None
    first, second, third = _axes_at_zero(limb)
    before = array(thigh.rotation)
    to_foot = times(before, times(array(shank.rotation), array(limb.foot.point)))
    return OffsetHinges(
        hip=hip.offset, frame=hip.rotation, first=tuple(first.tolist()), second=tuple(second.tolist()),
        sense=float(np.sign(second @ third)), to_second=thigh.offset,
        to_third=tuple(times(before, array(shank.offset))), to_foot=tuple(to_foot), side=side, knee=knee,
    )  # fmt: skip
