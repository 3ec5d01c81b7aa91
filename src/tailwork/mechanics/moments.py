"""Moments of a mass distribution of order 0, 1 and 2 about a point, and what they do in motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import Array, array, congruence, cross, dot, symmetric_matrix, times, zeros
from tailwork.robots.body import Body


class Sum:
    """Base of dataclasses of scalars, vectors and matrices that are added and scaled field by field."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*(x + y for x, y in zip(vars(self).values(), vars(other).values(), strict=True)))

    def __mul__(self, factor: Scalar) -> Self:
        return type(self)(*(x * factor for x in vars(self).values()))


@dataclass(frozen=True)
class Moments(Sum):
    """Mass [kg], first moment m c [kg m] and second moment ∫ x xᵀ dm [kg m²] about a point.

    The second moment of a thin rod along an axis has one entry where its inertia tensor has two, and a sum of
    bodies is the sum of their moments.
    """

    mass: Scalar
    first: Array
    second: Array

    def about(self, offset: Array) -> Moments:
        """The same masses about a point at −offset: every place x becomes x + offset."""
        first = self.first + offset * self.mass
        second = zeros(3, 3)
        for i in range(3):
            for k in range(i + 1):
                # x xᵀ + (o (m c)ᵀ + m c oᵀ) + m o oᵀ, with the last two joined as o (m c + m o)ᵀ
                second[i, k] = second[k, i] = self.second[i, k] + offset[i] * first[k] + self.first[i] * offset[k]
        return Moments(self.mass, first, second)

    def turned(self, rotation: Array) -> Moments:
        """The same masses in a frame whose axes' images are the columns of the rotation."""
        return Moments(self.mass, times(rotation, self.first), congruence(rotation, self.second))

    def inertia(self) -> Array:
        """Inertia tensor about the point: trace(second) 1 − second [kg m²]."""
        s = self.second
        diagonal = (s[1, 1] + s[2, 2], s[0, 0] + s[2, 2], s[0, 0] + s[1, 1])
        return array([
            [diagonal[0], -s[0, 1], -s[0, 2]],
            [-s[0, 1], diagonal[1], -s[1, 2]],
            [-s[0, 2], -s[1, 2], diagonal[2]],
        ])  # fmt: skip

    def wrench(self, acceleration: Array, spin: Array) -> tuple[Array, Array]:
        """Force and moment about the point that the masses need to move so (2020, Eq. 1, the inertia terms).

        The point accelerates by `acceleration`, −g included [m/s²]; `spin` is Omega of the body [1/s²].
        """
        force = acceleration * self.mass + times(spin, self.first)
        product = times(spin, self.second)
        moment = cross(self.first, acceleration) + array([
            product[2, 1] - product[1, 2],
            product[0, 2] - product[2, 0],
            product[1, 0] - product[0, 1],
        ])  # fmt: skip
        return force, moment

    def kinetic_energy(self, velocity: Array, omega: Array) -> Scalar:
        """Kinetic energy [J] from the velocity of the point [m/s] and the angular velocity [rad/s]."""
        linear = dot(velocity, velocity) * (self.mass * 0.5) + dot(velocity, cross(omega, self.first))
        return linear + dot(omega, times(self.inertia(), omega)) * 0.5

    def momentum(self, velocity: Array, omega: Array) -> tuple[Array, Array]:
        """Linear momentum [N s] and angular momentum about the point [N m s]."""
        linear = velocity * self.mass + cross(omega, self.first)
        return linear, cross(self.first, velocity) + times(self.inertia(), omega)


NO_MASS = Moments(0.0, zeros(3), zeros(3, 3))


def moments_of(body: Body | None) -> Moments:
    """Moments of a body about the origin of its own frame; zero without a body."""
    if body is None:
        return NO_MASS
    xx, yy, zz, xy, xz, yz = body.inertia
    com = array(body.com)
    # Second central moments from the inertia tensor: the trace enters halved.
    central = symmetric_matrix(((yy + zz - xx) * 0.5, (xx + zz - yy) * 0.5, (xx + yy - zz) * 0.5, -xy, -xz, -yz))
    return Moments(body.mass, zeros(3), central).about(com)


def spin_matrix(alpha: Array, omega: Array) -> Array:
    """Omega = alpha~ + omega~ omega~: a point x of the body accelerates by Omega x against its origin."""
    x, y, z = omega
    xy, xz, yz = x * y, x * z, y * z
    xx, yy, zz = x * x, y * y, z * z
    return array([
        [-(yy + zz), xy - alpha[2], xz + alpha[1]],
        [xy + alpha[2], -(xx + zz), yz - alpha[0]],
        [xz - alpha[1], yz + alpha[0], -(xx + yy)],
    ])  # fmt: skip
