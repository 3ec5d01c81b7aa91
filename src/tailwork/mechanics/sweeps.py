"""Sweeps over a limb: root to tip for motion, tip to root for inertia and loads.

Virtual work in brief. Give every joint of a limb a known acceleration (zero, or a prescribed one) and find the
wrench that each body then needs: the bias. What the true accelerations add is linear in them and is eliminated
joint by joint (articulated), or collected in mass matrices (composite).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from tailwork.algebra.expression import Scalar, is_zero
from tailwork.algebra.vectors import Array, cross, dot, skew, times, zeros
from tailwork.mechanics.frames import Link, Turn, principal_axis
from tailwork.mechanics.moments import NO_MASS, Moments, Sum, spin_matrix


@dataclass
class Motion:
    """How a body moves, in the frame of its link."""

    omega: Array  # angular velocity [rad/s]
    alpha: Array  # angular acceleration [rad/s²]
    acceleration: Array  # of the joint (of P for the torso), −g included [m/s²]
    _spin: Array | None = field(default=None, init=False)

    def spin(self) -> Array:
        """Omega = alpha~ + omega~ omega~ [1/s²]."""
        if self._spin is None:
            self._spin = spin_matrix(self.alpha, self.omega)
        return self._spin


@dataclass
class Wrench(Sum):
    """Force [N] and moment [N m] about the joint of a link (about P for the torso)."""

    force: Array
    moment: Array

    def on(self, link: Link) -> Scalar:
        """What a joint feels of it: the moment about its axis [N m], or the force along it [N]."""
        return dot(link.axis, self.force if link.slides else self.moment)

    def __sub__(self, other: Wrench) -> Wrench:
        return Wrench(self.force - other.force, self.moment - other.moment)


NO_WRENCH = Wrench(zeros(3), zeros(3))


def nothing(v: Array) -> bool:
    """Whether a vector is exactly zero."""
    return all(is_zero(x) for x in v)


def motions(
    links: Sequence[Link], rates: Sequence[Scalar], accelerations: Sequence[Scalar], torso: Motion
) -> list[Motion]:
    """Root to tip: angular motion and acceleration of every link (2020, Eqs. 33–47 for any limb)."""
    result: list[Motion] = []
    for link, rate, acceleration in zip(links, rates, accelerations, strict=True):
        before = torso if link.parent < 0 else result[link.parent]
        start = before.acceleration
        if not nothing(link.offset):
            start = start + times(before.spin(), link.offset)
        start, omega, alpha = (link.turn.outward(x) for x in (start, before.omega, before.alpha))
        turning = cross(omega, link.axis) * rate
        if link.slides:
            result.append(Motion(omega, alpha, start + turning * 2.0 + link.axis * acceleration))
        else:
            alpha = alpha + turning + link.axis * acceleration
            result.append(Motion(omega + link.axis * rate, alpha, start))
    return result


def link_velocities(
    links: Sequence[Link], rates: Sequence[Scalar], velocity: Array, omega: Array
) -> list[tuple[Array, Array]]:
    """Root to tip: velocity of every link's joint and its angular velocity, in its frame, from those of the torso."""
    found: list[tuple[Array, Array]] = []
    for link, rate in zip(links, rates, strict=True):
        linear, angular = (velocity, omega) if link.parent < 0 else found[link.parent]
        start = link.turn.outward(linear + cross(angular, link.offset))
        found.append(link.moved(start, link.turn.outward(angular), rate))
    return found


def loads(links: Sequence[Link], moving: Sequence[Motion], pushes: Sequence[Wrench | None]) -> list[Wrench]:
    """The wrench every body needs for its motion, less what outside forces give it."""
    return [
        Wrench(*link.moments.wrench(motion.acceleration, motion.spin())) - (push or NO_WRENCH)
        for link, motion, push in zip(links, moving, pushes, strict=True)
    ]


def carried(link: Link, wrench: Wrench) -> Wrench:
    """A wrench about a link's joint, about the parent's joint and in the parent's frame."""
    force, moment = link.turn.inward(wrench.force), link.turn.inward(wrench.moment)
    return Wrench(force, moment + cross(link.offset, force))


@dataclass
class Inertia6(Sum):
    """A 6×6 inertia in blocks: force = A a + B alpha, moment = Bᵀ a + D alpha."""

    a: Array
    b: Array
    d: Array

    def matrix(self) -> Array:
        """All of it, 6 × 6."""
        return np.block([[self.a, self.b], [self.b.T, self.d]])

    def shifted(self, offset: Array) -> Inertia6:
        """About a point at −offset from the old one."""
        if nothing(offset):
            return self
        tilde = skew(offset)
        b = self.b - times(self.a, tilde)
        d = zeros(3, 3)
        for i in range(3):
            for k in range(i + 1):
                d[i, k] = d[k, i] = self.d[i, k] + dot(tilde[i], b[:, k]) + dot(tilde[k], self.b[:, i])
        return Inertia6(self.a, b, d)

    def turned(self, turn: Turn) -> Inertia6:
        """In the frame that a turn leads to."""
        return Inertia6(turn.inward_symmetric(self.a), turn.inward_matrix(self.b), turn.inward_symmetric(self.d))

    def carried(self, link: Link) -> Inertia6:
        """About the parent's joint and in the parent's frame."""
        return self.turned(link.turn).shifted(link.offset)


NO_INERTIA = Inertia6(zeros(3, 3), zeros(3, 3), zeros(3, 3))


def rigid(moments: Moments) -> Inertia6:
    """The 6×6 inertia of a rigid body about the point of its moments."""
    a = zeros(3, 3)
    for i in range(3):
        a[i, i] = moments.mass
    return Inertia6(a, -skew(moments.first), moments.inertia())


@dataclass
class ArticulatedInertia:
    """A free limb reduced to the torso: wrench on the limb = inertia · (torso acceleration) + wrench.

    `solve` gives the joint accelerations that belong to an acceleration of the torso.
    """

    inertia: Inertia6
    wrench: Wrench
    links: Sequence[Link]
    steps: list[tuple[Array, Array, Scalar, Scalar]]  # by joint: U_lin, U_ang, 1/d, u

    def solve(
        self, linear: Array, angular: Array, efforts: Sequence[Scalar] | None = None
    ) -> tuple[list[Scalar], list[tuple[Array, Array]]]:
        """Joint accelerations [rad/s², m/s²] from the torso's, linear at P and angular, in its frame; and what both
        add to the motion of each link, (linear at its joint, angular), in its frame. `efforts` take the place of u."""
        motion: list[tuple[Array, Array]] = []
        result: list[Scalar] = []
        for k, (link, (u_lin, u_ang, per_d, u)) in enumerate(zip(self.links, self.steps, strict=True)):
            a, alpha = (linear, angular) if link.parent < 0 else motion[link.parent]
            a = a + cross(alpha, link.offset)
            a, alpha = link.turn.outward(a), link.turn.outward(alpha)
            effort = u if efforts is None else efforts[k]
            acceleration = (effort - dot(u_lin, a) - dot(u_ang, alpha)) * per_d
            result.append(acceleration)
            motion.append(link.moved(a, alpha, acceleration))
        return result, motion

    def passed(self, k: int, wrench: Wrench, torque: Scalar = 0.0) -> tuple[list[Scalar], Wrench]:
        """What a wrench on a link, in its frame, or a torque of its joint comes to: an effort on each joint, which adds
        to u, and the wrench that is left for the torso."""
        efforts: list[Scalar] = [0.0] * len(self.links)
        while k >= 0:
            link, (u_lin, u_ang, per_d, _) = self.links[k], self.steps[k]
            efforts[k] = torque + wrench.on(link)
            if not is_zero(efforts[k]):
                share = efforts[k] * per_d
                force, moment = wrench.force - u_lin * share, wrench.moment - u_ang * share
                gone = principal_axis(link.axis) if is_zero(link.armature) else -1
                if gone >= 0:
                    (force if link.slides else moment)[gone] = -torque * link.axis[gone]
                wrench = Wrench(force, moment)
            wrench, torque, k = carried(link, wrench), 0.0, link.parent
        return efforts, wrench


def articulated(
    links: Sequence[Link], bias: Sequence[Wrench], torques: Sequence[Scalar],
    added: Mapping[int, Inertia6] = MappingProxyType({}),
) -> ArticulatedInertia:  # fmt: skip
    """Tip to root: eliminate each joint's acceleration by its own equation of virtual work.

    Linear in the number of joints; the articulated-body algorithm of Featherstone with the bias motion taken out.
    `added` is inertia, by link, that acts on the accelerations alone and not on the bias.
    """
    # The last of both is the torso's, whose number is −1.
    inertias, wrenches = [*(rigid(x.moments) for x in links), NO_INERTIA], [*bias, NO_WRENCH]
    for k, more in added.items():
        inertias[k] = inertias[k] + more
    steps: list[tuple[Array, Array, Scalar, Scalar]] = [(zeros(3), zeros(3), 0.0, 0.0)] * len(links)
    for k in range(len(links) - 1, -1, -1):
        link, inertia, wrench = links[k], inertias[k], wrenches[k]
        rows = (inertia.a, inertia.b.T) if link.slides else (inertia.b, inertia.d)
        u_lin, u_ang = (times(x, link.axis) for x in rows)
        u = torques[k] - wrench.on(link)
        per_d = 1.0 / (Wrench(u_lin, u_ang).on(link) + link.armature)
        steps[k] = (u_lin, u_ang, per_d, u)
        inertia, wrench = _without_joint(inertia, wrench, link, u_lin, u_ang, per_d, u, torques[k])
        inertias[link.parent] = inertias[link.parent] + inertia.carried(link)
        wrenches[link.parent] = wrenches[link.parent] + carried(link, wrench)
    return ArticulatedInertia(inertias[-1], wrenches[-1], links, steps)


def _without_joint(
    inertia: Inertia6, wrench: Wrench, link: Link, u_lin: Array, u_ang: Array, per_d: Scalar, u: Scalar, torque: Scalar
) -> tuple[Inertia6, Wrench]:
    """The inertia and wrench that are felt through a joint which is free to move."""
    lin, ang = u_lin * per_d, u_ang * per_d
    a, b, d = inertia.a.copy(), inertia.b.copy(), inertia.d.copy()
    # About or along a principal axis without armature the joint passes nothing but its torque or force: that row is
    # known exactly.
    gone = principal_axis(link.axis) if is_zero(link.armature) else -1
    turned, slid = (-1, gone) if link.slides else (gone, -1)
    force, moment = wrench.force + u_lin * (u * per_d), wrench.moment + u_ang * (u * per_d)
    for i in range(3):
        for k in range(i + 1):
            a[i, k] = a[k, i] = 0.0 if slid in (i, k) else inertia.a[i, k] - lin[i] * u_lin[k]
            d[i, k] = d[k, i] = 0.0 if turned in (i, k) else inertia.d[i, k] - ang[i] * u_ang[k]
        for k in range(3):
            b[i, k] = 0.0 if turned == k or slid == i else inertia.b[i, k] - lin[i] * u_ang[k]
    if gone >= 0:
        (force if link.slides else moment)[gone] = torque * link.axis[gone]
    return Inertia6(a, b, d), Wrench(force, moment)


def collected(links: Sequence[Link], bodies: Sequence[Wrench]) -> tuple[list[Scalar], Wrench]:
    """Tip to root: the torque each joint must bear for the bodies' wrenches, and the wrench the torso must give."""
    wrenches = [*bodies, NO_WRENCH]  # the last is the torso's, whose number is −1
    torques: list[Scalar] = [0.0] * len(links)
    for k in range(len(links) - 1, -1, -1):
        link = links[k]
        torques[k] = wrenches[k].on(link)
        wrenches[link.parent] = wrenches[link.parent] + carried(link, wrenches[k])
    return torques, wrenches[-1]


@dataclass
class Composite:
    """Mass matrices of a limb on the torso, in its coordinates."""

    moments: Moments  # of the whole limb about P, in the torso frame
    coupling: list[Wrench]  # by coordinate: wrench on the limb for a unit acceleration of it (M_lb)
    mass: Array  # coordinates × coordinates (M_ll)


def composite(links: Sequence[Link], gearing: Array) -> Composite:
    """Tip to root: composite moments and, by coordinate, the wrench of a unit acceleration."""
    count = gearing.shape[1]
    moments = [*(x.moments for x in links), NO_MASS]  # the last is the torso's, whose number is −1
    columns = [[NO_WRENCH] * count for _ in moments]
    mass = zeros(count, count)
    for k in range(len(links) - 1, -1, -1):
        link, whole, column = links[k], moments[k], columns[k]
        if link.slides:
            own = Wrench(link.axis * whole.mass, cross(whole.first, link.axis))
        else:
            own = Wrench(cross(link.axis, whole.first), times(whole.inertia(), link.axis))
        geared = [c for c in range(count) if gearing[k, c] != 0.0]
        for c in geared:
            for d, other in enumerate(column):  # this joint against those beyond it, both ways
                product = other.on(link) * gearing[k, c]
                mass[c, d] = mass[c, d] + product
                mass[d, c] = mass[d, c] + product
            for d in geared:
                alone = own.on(link) + link.armature
                mass[c, d] = mass[c, d] + alone * (gearing[k, c] * gearing[k, d])
        for c in geared:
            column[c] = column[c] + own * gearing[k, c]
        moments[link.parent] = moments[link.parent] + whole.turned(link.turn.matrix()).about(link.offset)
        held = columns[link.parent]
        columns[link.parent] = [before + carried(link, x) for before, x in zip(held, column, strict=True)]
    return Composite(moments[-1], columns[-1], mass)
