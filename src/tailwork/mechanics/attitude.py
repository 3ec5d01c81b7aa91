"""How the torso is turned: roll-pitch-yaw in the papers' order, or a quaternion."""

from __future__ import annotations

from collections.abc import Sequence

from tailwork.algebra.expression import Scalar, cos, sin
from tailwork.algebra.vectors import Array, array

ATTITUDES = ("rpy", "rpy-small-angle", "quaternion")


def attitude_size(attitude: str) -> int:
    """How many coordinates describe the attitude."""
    return 4 if attitude == "quaternion" else 3


def rotation_matrix(attitude: str, angles: Sequence[Scalar]) -> Array:
    """R from the torso frame to the inertial frame.

    Roll-pitch-yaw: R = Rz(phi_z) Ry(phi_y) Rx(phi_x) (2018 Eq. 1, 2020 Eq. 4). Quaternion: (w, x, y, z), of any
    length but zero; the matrix is that of the unit quaternion.
    """
    if attitude == "quaternion":
        w, x, y, z = angles
        scale = 2.0 / (w * w + x * x + y * y + z * z)
        return array([
            [1.0 - scale * (y * y + z * z), scale * (x * y - w * z), scale * (x * z + w * y)],
            [scale * (x * y + w * z), 1.0 - scale * (x * x + z * z), scale * (y * z - w * x)],
            [scale * (x * z - w * y), scale * (y * z + w * x), 1.0 - scale * (x * x + y * y)],
        ])  # fmt: skip
    (cx, cy, cz), (sx, sy, sz) = [cos(a) for a in angles], [sin(a) for a in angles]
    return array([
        [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
        [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
        [-sy, cy * sx, cy * cx],
    ])  # fmt: skip


def attitude_rates(attitude: str, angles: Sequence[Scalar], omega: Array) -> list[Scalar]:
    """Time derivatives of the attitude coordinates from the angular velocity in the inertial frame [rad/s].

    "rpy": phi-dot = E⁻¹ omega, exact, singular at phi_y = ±90°. "rpy-small-angle": phi-dot = omega, what both papers
    set (2018 Eq. 2, 2020 Eq. 5); true only for small angles. "quaternion": ½ omega ∘ quaternion, never singular.
    """
    if attitude == "rpy-small-angle":
        return list(omega)
    if attitude == "quaternion":
        w, x, y, z = (a * 0.5 for a in angles)
        ox, oy, oz = omega
        return [
            -(ox * x + oy * y + oz * z),
            ox * w + oy * z - oz * y,
            oy * w + oz * x - ox * z,
            oz * w + ox * y - oy * x,
        ]
    _, y, z = angles
    cy, sy, cz, sz = cos(y), sin(y), cos(z), sin(z)
    # omega = E phi-dot with E = [[cz cy, −sz, 0], [sz cy, cz, 0], [−sy, 0, 1]]
    along = (cz * omega[0] + sz * omega[1]) / cy
    return [along, cz * omega[1] - sz * omega[0], omega[2] + sy * along]


def angular_velocity(attitude: str, angles: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Scalar]:
    """omega in the inertial frame [rad/s] from roll-pitch-yaw angles and their rates: the inverse of attitude_rates."""
    if attitude == "rpy-small-angle":
        return list(rates)
    _, y, z = angles
    a, b, c = rates
    cy, sy, cz, sz = cos(y), sin(y), cos(z), sin(z)
    return [cz * cy * a - sz * b, sz * cy * a + cz * b, c - sy * a]


def angular_acceleration(
    attitude: str, angles: Sequence[Scalar], rates: Sequence[Scalar], accelerations: Sequence[Scalar]
) -> list[Scalar]:
    """omega-dot in the inertial frame [rad/s²]: E phi-ddot + E-dot phi-dot."""
    turned = angular_velocity(attitude, angles, accelerations)
    if attitude == "rpy-small-angle":
        return turned
    _, y, z = angles
    a, b, c = rates
    cy, sy, cz, sz = cos(y), sin(y), cos(z), sin(z)
    bias = [
        -(sz * cy * c + cz * sy * b) * a - cz * c * b,
        (cz * cy * c - sz * sy * b) * a - sz * c * b,
        -(cy * b) * a,
    ]
    return [x + y for x, y in zip(turned, bias, strict=True)]
