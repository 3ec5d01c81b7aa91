"""The order of coordinates, velocities and efforts, read off a description; shared by the oracles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tailwork.robots.limb import Cable, Limb, Motor
from tailwork.robots.robot import Robot

Array: TypeAlias = NDArray[np.float64]
PointForce: TypeAlias = tuple[str, str | None, ArrayLike, ArrayLike]
"""(limb or "torso", joint or None for the torso, point in that frame [m], force in the inertial frame [N])."""


@dataclass(frozen=True)
class Layout:
    """Where everything is.

    q = [p, phi_x, phi_y, phi_z, limbs without a foot, swing legs], v = [v, omega, rates of the same]; with a fixed
    torso the first six are missing. Behind these come the coordinates of the pinned legs, which follow from the rest:
    together they are the "tree" coordinates, in which nothing is eliminated. Limbs keep the order of the robot.
    """

    robot: Robot
    stance: tuple[str, ...] = ()
    torso: str = "free"
    limbs: dict[str, Limb] = field(init=False)
    slices: dict[str, slice] = field(init=False)  # of every limb in the tree coordinates
    efforts: tuple[tuple[str, Motor | Cable], ...] = field(init=False)  # (limb, actuator) in the order of tau
    pinned: tuple[str, ...] = field(init=False)  # the stance in the order of the robot
    size: int = field(init=False)  # of q and v
    tree_size: int = field(init=False)

    def __post_init__(self) -> None:
        if self.torso not in ("free", "fixed"):
            raise ValueError(f"torso is {self.torso!r}, not 'free' or 'fixed'")
        limbs = self.robot.limbs()
        feet = [name for name, limb in limbs.items() if limb.foot is not None]
        for name in self.stance:
            if name not in feet or limbs[name].closed_form is None:
                raise ValueError(f"{name!r} is no leg that can be pinned")
        others = [name for name in limbs if name not in feet]
        swing = [name for name in feet if name not in self.stance]
        pinned = [name for name in feet if name in self.stance]
        slices, size, at = {}, 0, self.base
        for name in others + swing + pinned:
            slices[name] = slice(at, at + len(limbs[name].coordinates))
            at = slices[name].stop
            size = size if name in pinned else at
        values = {
            "limbs": limbs,
            "slices": slices,
            "efforts": tuple((name, actuator) for name in feet + others for actuator in limbs[name].actuators),
            "pinned": tuple(pinned),
            "size": max(size, self.base),
            "tree_size": at,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def base(self) -> int:
        """Number of coordinates of the torso: 6, or 0 if it is fixed."""
        return 6 if self.torso == "free" else 0

    def coordinate(self, limb: str, name: str) -> int:
        """Index of a coordinate in the velocity of the tree."""
        return self.slices[limb].start + self.limbs[limb].coordinates.index(name)

    def torso_pose(self, q: ArrayLike) -> tuple[Array, Array]:
        """Place p of P [m] and rotation R from the torso to the inertial frame."""
        q = np.asarray(q, float)
        return (q[:3], rotation(q[3:6])) if self.base else (np.zeros(3), np.eye(3))

    def foot_from_torso(self, name: str, q: ArrayLike) -> Array:
        """Place of a pinned foot in the torso frame [m]."""
        p, turn = self.torso_pose(q)
        foot = self.limbs[name].foot
        assert foot is not None
        return turn.T @ (np.array(foot.place) - p)

    def closed_form_angles(self, name: str, q: ArrayLike) -> Array:
        """Joint angles of a pinned leg by the closed form of its description [rad]; the oracles check them."""
        closed_form = self.limbs[name].closed_form
        assert closed_form is not None
        x, y, z = self.foot_from_torso(name, q)
        return np.array([np.arctan2(s, c) for c, s in closed_form.angles((float(x), float(y), float(z)))])

    def difference(self, found: ArrayLike, expected: ArrayLike) -> float:
        """Largest relative difference of two accelerations or velocities, block by block.

        The blocks, each measured by its own largest entry, are v, omega and every limb that is not pinned.
        """
        found, expected = np.asarray(found, float), np.asarray(expected, float)
        blocks = [slice(0, 3), slice(3, 6)] if self.base else []
        blocks += [here for name, here in self.slices.items() if name not in self.pinned]
        return max((relative(found[here], expected[here]) for here in blocks), default=0.0)

    def rates(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Time derivative of q at the velocity v."""
        dq = np.array(v, float)
        if self.base:
            dq[3:6] = np.linalg.solve(euler_matrix(np.asarray(q, float)[3:6]), dq[3:6])
        return dq


def joint_matrix(limb: Limb) -> Array:
    """The matrix that makes joint angles, in the order of limb.joints, from the coordinates of a limb."""
    if limb.gearing is not None:
        return np.array(limb.gearing)
    return np.array([[float(joint.name == name) for name in limb.coordinates] for joint in limb.joints])


def relative(found: ArrayLike, expected: ArrayLike) -> float:
    """Largest difference of two arrays per largest entry of the expected one; 0 for empty arrays."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    return float(np.abs(found - expected).max() / np.abs(expected).max()) if expected.size else 0.0


def rotation(phi: ArrayLike) -> Array:
    """R = Rz(phi_z) Ry(phi_y) Rx(phi_x), from the torso to the inertial frame."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(phi), np.sin(phi)
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def euler_matrix(phi: ArrayLike) -> Array:
    """E with omega = E · d(phi)/dt, omega in the inertial frame."""
    _, y, z = np.asarray(phi, float)
    return np.array(
        [[np.cos(z) * np.cos(y), -np.sin(z), 0.0], [np.sin(z) * np.cos(y), np.cos(z), 0.0], [-np.sin(y), 0.0, 1.0]]
    )


def skew(a: ArrayLike) -> Array:
    """The matrix of the cross product: skew(a) b = a × b."""
    x, y, z = np.asarray(a, float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
