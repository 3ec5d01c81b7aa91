"""Denavit–Hartenberg tables: chains of hinges given row by row, as limbs.

    classic (distal)   ^(i−1)T_i = Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i)
    modified (Craig)   ^(i−1)T_i = Rx(alpha_(i−1)) Tx(a_(i−1)) Tz(d_i) Rz(theta_i)

A row holds the four numbers of one such transform, whatever indices they bear. The hinge of row i turns frame i: about
z_(i−1) in a classic table, about z_i in a modified one. Frame 0 sits on the torso.

A joint frame of the limb must lie on its hinge. In a modified table frame i does. A classic frame i lies at the far end
of its link; the joint frame is that one moved back by Tx(a_i) Rx(alpha_i). Both tables of one mechanism then have the
same joint frames: z along the hinge, x along the common normal to the next one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import Array, array, congruence, rotation, symmetric_matrix, times, zeros
from tailwork.errors import ArgumentError, RobotError, StateError, as_floats, is_finite_number
from tailwork.robots.body import Body
from tailwork.robots.limb import IDENTITY, MOST_JOINTS, Foot, Joint, Limb, Motor, Tip, as_matrix, as_vector
from tailwork.robots.quantities import Matrix, RobotPart, Vector, check_name, matrix, nonnegative, number, vector

CONVENTIONS = ("classic", "modified")
X_AXIS, Z_AXIS = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class DhRow(RobotPart):
    """A row of a Denavit–Hartenberg table, and the link that it moves.

    Angles are part of the structure, lengths are numbers. The joint angle is theta + q: `theta` is what the table adds
    to the coordinate. A row that does not move ("none") has the angle `theta` and only places what comes after it.
    """

    alpha: float = 0.0  # twist [rad]
    a: Scalar = number("m", 0.0)  # length, along x
    d: Scalar = number("m", 0.0)  # offset, along z
    theta: float = 0.0  # angle at q = 0 [rad]
    moving: str = "theta"  # or "none"
    name: str | None = None  # of the joint; None: theta1, theta2, … by row
    body: Body | None = None  # in the frame of this row
    bar_mass: Scalar = nonnegative("kg", 0.0)  # of an ideal bar from this hinge to the next, or to the end of the chain
    armature: Scalar = nonnegative("kg m^2", 0.0)  # inertia of the rotor, felt about the hinge only

    def check(self) -> None:
        """A row moves by theta or not at all, and its link is a body or a bar."""
        if self.moving == "d":
            required = "'theta' or 'none': a sliding joint, whose d moves, cannot be described; all joints are hinges"
            raise RobotError("moving", self.moving, required)
        if self.moving not in ("theta", "none"):
            raise RobotError("moving", self.moving, "'theta' for a hinge, 'none' for a row without a joint")
        if self.name is not None:
            check_name("name", self.name)
            if self.name.isdecimal():
                raise RobotError("name", self.name, "a name that is no number (rows without a name go by theirs)")
        if self.has_bar and self.body is not None:
            raise RobotError("bar_mass", self.bar_mass, "0 where a body is given")
        if self.moving == "none" and (self.body is not None or self.has_bar or not _is_nothing(self.armature)):
            required = "no body, bar_mass or armature on a row that does not move; give them to the last row that does"
            raise RobotError("moving", self.moving, required)

    @property
    def has_bar(self) -> bool:
        """Whether the link is an ideal bar."""
        return not _is_nothing(self.bar_mass)


@dataclass(frozen=True, kw_only=True)
class DhChain(RobotPart):
    """A chain of hinges given by a Denavit–Hartenberg table, with a motor on each of them.

    Frame 0 lies at `mount` in the torso frame, turned by `rotation`. The origin of the last frame is a tip, or a foot
    that stands at `foot`; there is no closed form of the joint angles, so such a foot swings and cannot be pinned.
    """

    kind: ClassVar[str] = "dh_chain"

    convention: str  # "classic" or "modified"
    rows: tuple[DhRow, ...]  # of the table, from the torso outwards
    mount: Vector = vector("m", (0.0, 0.0, 0.0))  # of frame 0, in the torso frame
    rotation: Matrix = matrix(IDENTITY)  # columns: the axes of frame 0 in the torso frame
    end: str = "tip"  # or "foot"
    foot: Vector = vector("m", (0.0, 0.0, 0.0))  # where it stands, in the inertial frame
    torque_limit: Scalar = nonnegative("N m", 0.0)  # of each motor; 0: not known

    def check(self) -> None:
        """Names differ, some row moves, and the last that does has a mass."""
        _check_convention(self.convention)
        if self.end not in ("tip", "foot"):
            raise RobotError("end", self.end, "'tip' or 'foot'")
        if len(self.rows) > MOST_JOINTS:
            raise RobotError("rows", len(self.rows), f"at most {MOST_JOINTS} rows")
        if not any(row.moving == "theta" for row in self.rows):
            raise RobotError("rows", self.rows, "at least one row that moves")
        names = self._names()
        for k, name in enumerate(names):
            if name in names[:k]:
                raise RobotError(f"rows.{k + 1}.name", name, "a name that no other row has")
        last = max(k for k, row in enumerate(self.rows) if row.moving == "theta")
        if self.rows[last].body is None and not self.rows[last].has_bar:
            label = self.rows[last].name or last + 1
            raise RobotError(f"rows.{label}.body", None, "a body or a bar_mass on the last row that moves")
        Joint(name="frame 0", axis=Z_AXIS, rotation=self.rotation)  # which checks the rotation

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The chain, under the name of the part; `rotation` says how it sits, whichever way the torso faces."""
        return {name: self.limb()}

    def limb(self) -> Limb:
        """The chain as a limb: joint frames on the hinges, all turning about their z."""
        frames, end = self._placements()
        moving = [(name, row) for name, row in zip(self._names(), self.rows, strict=True) if row.moving == "theta"]
        joints: list[Joint] = []
        for (name, row), here, after in zip(moving, frames, [*frames[1:], end], strict=True):
            joints.append(
                Joint(
                    name=name, axis=Z_AXIS, parent=joints[-1].name if joints else None, offset=as_vector(here.place),
                    rotation=as_matrix(here.rotation), body=self._body(row, after.place), armature=row.armature,
                )
            )  # fmt: skip
        last, point = joints[-1].name, as_vector(end.place)
        return Limb(
            joints=tuple(joints),
            actuators=tuple(Motor(name=j.name, coordinate=j.name, limit=self.torque_limit) for j in joints),
            foot=Foot(joint=last, point=point, place=self.foot) if self.end == "foot" else None,
            tip=Tip(joint=last, point=point) if self.end == "tip" else None,
        )

    def _names(self) -> list[str]:
        return [row.name or f"theta{k + 1}" for k, row in enumerate(self.rows)]

    def _placements(self) -> tuple[list[_Placement], _Placement]:
        """Every joint frame in the one before it (the first in the torso's), and the last frame in the last of them."""
        found: list[_Placement] = []
        between = _Placement(array(self.rotation), array(self.mount))
        for row in self.rows:
            near, far = _halves(row, self.convention)
            if row.moving == "theta":
                found.append(between.then(near))
                between = far
            else:
                between = between.then(near).then(far)
        return found, between

    def _body(self, row: DhRow, next_hinge: Array) -> Body | None:
        """The body of a row, in the joint frame."""
        if row.has_bar:
            return _bar_to(row.bar_mass, next_hinge)
        return None if row.body is None else _halves(row, self.convention)[1].of(row.body)


@dataclass(frozen=True)
class _Placement:
    """Where a frame is in another one."""

    rotation: Array  # numbers only
    place: Array  # [m]

    def then(self, other: _Placement) -> _Placement:
        """Where a frame is that `other` places in this one."""
        return _Placement(times(self.rotation, other.rotation), self.place + times(self.rotation, other.place))

    def of(self, body: Body) -> Body:
        """A body of this frame, in the other one."""
        com = self.place + times(self.rotation, array(body.com))
        turned = congruence(self.rotation, symmetric_matrix(body.inertia))
        xx, yy, zz, xy, xz, yz = turned[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        return Body(mass=body.mass, com=as_vector(com), inertia=(xx, yy, zz, xy, xz, yz))


def _halves(row: DhRow, convention: str) -> tuple[_Placement, _Placement]:
    """The transform of a row at q = 0 in two: up to the joint frame, and from there on."""
    across = _Placement(rotation(X_AXIS, *_cosine_and_sine(row.alpha)), array([row.a, 0.0, 0.0]))
    along = _Placement(rotation(Z_AXIS, *_cosine_and_sine(row.theta)), array([0.0, 0.0, row.d]))
    if convention == "classic":
        return along, across
    return across.then(along), _Placement(array(IDENTITY), zeros(3))


def _cosine_and_sine(angle: float) -> tuple[float, float]:
    """Exactly 0 and ±1 for quarter turns, so that those leave zeros in the equations."""
    quarters = round(angle / (math.pi / 2))
    if abs(angle - quarters * (math.pi / 2)) <= 1e-15 * max(1.0, abs(angle)):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
    return math.cos(angle), math.sin(angle)


def _bar_to(mass: Scalar, far: Array) -> Body:
    """An ideal bar from the origin to a point [m]: a uniform thin rod."""
    x, y, z = far
    twelfth = mass / 12.0
    inertia = (
        twelfth * (y * y + z * z), twelfth * (x * x + z * z), twelfth * (x * x + y * y),
        -twelfth * (x * y), -twelfth * (x * z), -twelfth * (y * z),
    )  # fmt: skip
    return Body(mass=mass, com=(x * 0.5, y * 0.5, z * 0.5), inertia=inertia)


def _is_nothing(value: Scalar) -> bool:
    return isinstance(value, float) and value == 0.0


def _check_convention(convention: str) -> None:
    if not isinstance(convention, str) or convention not in CONVENTIONS:
        required = "'classic' (distal: Rz Tz Tx Rx) or 'modified' (Craig: Rx Tx Tz Rz)"
        raise RobotError("convention", convention, required)


def dh_transform(alpha: float, a: float, d: float, theta: float, convention: str) -> NDArray[np.float64]:
    """^(i−1)T_i (4 × 4) of one row of a table, straight from its numbers [rad, m]."""
    _check_convention(convention)
    for name, value in {"alpha": alpha, "a": a, "d": d, "theta": theta}.items():
        if not is_finite_number(value):
            raise ArgumentError(name, value, f"a finite number [{'rad' if name in ('alpha', 'theta') else 'm'}]")
    (ca, sa), (ct, st) = ((math.cos(angle), math.sin(angle)) for angle in (alpha, theta))
    across = np.array([[1.0, 0.0, 0.0, a], [0.0, ca, -sa, 0.0], [0.0, sa, ca, 0.0], [0.0, 0.0, 0.0, 1.0]])
    along = np.array([[ct, -st, 0.0, 0.0], [st, ct, 0.0, 0.0], [0.0, 0.0, 1.0, d], [0.0, 0.0, 0.0, 1.0]])
    return along @ across if convention == "classic" else across @ along


def dh_frames(chain: DhChain, q: ArrayLike) -> NDArray[np.float64]:
    """Frames 0, 1, 2, … of a table as transforms into the torso frame, (rows + 1, 4, 4), straight from its numbers.

    Args:
        chain: the table and where it sits.
        q: joint angles of the rows that move, in their order [rad].
    """
    if not isinstance(chain, DhChain):
        raise ArgumentError("chain", chain, "a DhChain")
    angles = as_floats("q", q, "numbers [rad]")
    count = sum(row.moving == "theta" for row in chain.rows)
    if angles.shape != (count,):
        raise StateError("q", f"has shape {angles.shape}; required: ({count},), an angle for each row that moves")
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = chain.rotation, chain.mount
    frames, following = [frame], iter(angles)
    for row in chain.rows:
        theta = row.theta + (next(following) if row.moving == "theta" else 0.0)
        frames.append(frames[-1] @ dh_transform(row.alpha, row.a, row.d, theta, chain.convention))
    return np.array(frames)
