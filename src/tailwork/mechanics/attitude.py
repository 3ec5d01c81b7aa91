"""How the torso is turned: roll-pitch-yaw in the papers' order, or a quaternion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tailwork.algebra.expression import Scalar, arctan2, cos, sin, sqrt, step
from tailwork.algebra.vectors import Array, array, times
from tailwork.robots.limb import FORWARD_FRAMES

if TYPE_CHECKING:
    from tailwork.mechanics.layout import Layout

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
    bias = [-(sz * cy * c + cz * sy * b) * a - cz * c * b, (cz * cy * c - sz * sy * b) * a - sz * c * b, -(cy * b) * a]
    return [x + y for x, y in zip(turned, bias, strict=True)]


def torso_angles(layout: Layout, q: Sequence[Scalar]) -> tuple[Scalar, Scalar, Scalar]:
    """Roll about the forward axis, pitch about the axis across (nose up) and yaw about z of the torso [rad].

    R = R_z(yaw) R_forward(roll) R_right(pitch), whichever axis is forward and whatever coordinates describe the
    attitude. Facing y they are phi_y, phi_x and phi_z of rpy coordinates. Of a quaternion, roll is within ±pi/2, and
    yaw within ±pi. The angles jump where a roll passes ±pi/2; see `simulation.pose.continuous_angles`.
    """
    if not layout.torso_free:
        return 0.0, 0.0, 0.0
    angles = q[3 : 3 + attitude_size(layout.attitude)]
    yaw, side = 0.0, 1.0
    if layout.attitude != "quaternion":
        x, y, yaw = angles
        if layout.robot.forward == "y":
            return y, x, yaw
        angles = (x, y, 0.0)  # about z both turn alike, which keeps the yaw continuous beyond ±pi
        side = 1.0 - 2.0 * step(-cos(x))  # of both triples of angles, that in which a roll beyond ±pi/2 is one
    axes = array(FORWARD_FRAMES[layout.robot.forward])
    r = times(times(axes.T, rotation_matrix(layout.attitude, angles)), axes)
    roll = arctan2(-r[2, 0], side * sqrt(r[2, 1] * r[2, 1] + r[2, 2] * r[2, 2]))
    return roll, arctan2(side * r[2, 1], side * r[2, 2]), yaw + arctan2(side * r[1, 0], side * r[0, 0])


def torso_angle_rates(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Scalar, Scalar, Scalar]:
    """Rates of roll, pitch and yaw [rad/s], singular at a roll of ±90°; see `torso_angles`."""
    if not layout.torso_free:
        return 0.0, 0.0, 0.0
    phi, omega = q[3 : 3 + attitude_size(layout.attitude)], array(list(v[3:6]))
    if layout.attitude != "quaternion":
        rates = attitude_rates(layout.attitude, phi, omega)
        if layout.robot.forward == "y":
            return rates[1], rates[0], rates[2]
        omega = array(angular_velocity("rpy", phi, rates))  # what the coordinates do, also where angles count as small
    roll, pitch, yaw = torso_angles(layout, q)
    seen = times(array(FORWARD_FRAMES[layout.robot.forward]).T, omega)
    by_x, by_y, by_z = attitude_rates("rpy", (pitch, roll, yaw), seen)
    return by_y, by_x, by_z
