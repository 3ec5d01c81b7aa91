"""How the torso is turned over a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tailwork.algebra.columns import columns, stacked
from tailwork.errors import ArgumentError
from tailwork.mechanics import attitude
from tailwork.mechanics.layout import Layout
from tailwork.robots.limb import FORWARD_FRAMES
from tailwork.typing import Floats

if TYPE_CHECKING:
    from tailwork.simulation.run import Run

TURNS = ("pitch", "roll", "yaw")


def torso_rotations(layout: Layout, q: Floats) -> Floats:
    """Rotation matrices from the torso frame to the inertial frame, (states, 3, 3)."""
    if not layout.torso_free:
        return np.tile(np.eye(3), (len(q), 1, 1))
    angles = columns(q[:, 3 : 3 + attitude.attitude_size(layout.attitude)])
    return stacked(attitude.rotation_matrix(layout.attitude, angles), (len(q),))


def continuous_angles(layout: Layout, q: Floats) -> Floats:
    """Roll, pitch and yaw of the torso in states that follow each other, (3, states) [rad]; see
    `mechanics.attitude.torso_angles`.

    (roll, pitch, yaw) and (pi − roll, pitch + pi, yaw + pi) are one attitude. Of a quaternion, the second is taken
    where the torso has come upside down about its forward axis, and in a state that starts so, the smaller.
    """
    angles = np.stack([stacked(x, (len(q),)) for x in attitude.torso_angles(layout, columns(q))])
    if layout.attitude == "quaternion" and layout.torso_free:
        frame, up = np.array(FORWARD_FRAMES[layout.robot.forward], dtype=float), torso_rotations(layout, q)[:, 2]
        other, over = np.pi + angles * [[-1.0], [1.0], [1.0]], up[:, 2] < 0.0
        rolled, beyond = _size(other[:, 0]) < _size(angles[:, 0]), np.zeros(len(q), dtype=bool)
        for k in np.flatnonzero(over):
            if k > 0 and not over[k - 1]:
                across, along = np.abs(up[k] @ frame[:, :2])
                rolled = across > along
            beyond[k] = rolled
        angles = np.where(beyond, other, angles)
    return np.unwrap(angles, axis=-1)


def _size(angles: Floats) -> float:
    """Of a few angles, whole turns left out."""
    return float(np.square(np.angle(np.exp(1j * angles))).sum())


def run_torso_angles(run: Run) -> dict[str, Floats]:
    """Pitch, roll and yaw of the torso over the times of a run's data, without jumps [rad]."""
    roll, pitch, yaw = continuous_angles(_free(run), run.record.states()[1])
    return {"pitch": pitch, "roll": roll, "yaw": yaw}


def torso_rates(run: Run) -> dict[str, Floats]:
    """Rates of the angles of `run_torso_angles` over the times of a run's data [rad/s]."""
    _, q, v = run.record.states()
    roll, pitch, yaw = (stacked(x, (len(q),)) for x in attitude.torso_angle_rates(_free(run), columns(q), columns(v)))
    return {"pitch": pitch, "roll": roll, "yaw": yaw}


def _free(run: Run) -> Layout:
    if not run.model.layout.torso_free:
        raise ArgumentError("torso", "fixed", "a run whose torso is free to move")
    return run.model.layout
