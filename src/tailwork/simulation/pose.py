"""How the torso is turned over a run."""

from __future__ import annotations

import numpy as np

from tailwork.algebra.columns import columns, plain
from tailwork.errors import RobotError
from tailwork.mechanics import attitude
from tailwork.mechanics.layout import Layout
from tailwork.simulation.run import Run
from tailwork.typing import Floats

TURNS = ("pitch", "roll", "yaw")


def torso_rotations(layout: Layout, q: Floats) -> Floats:
    """Rotation matrices from the torso frame to the inertial frame, (states, 3, 3)."""
    if not layout.torso_free:
        return np.tile(np.eye(3), (len(q), 1, 1))
    angles = columns(q[:, 3 : 3 + attitude.attitude_size(layout.attitude)])
    return plain(attitude.rotation_matrix(layout.attitude, angles), (len(q),))


def torso_angles(run: Run) -> dict[str, Floats]:
    """Pitch, roll and yaw of the torso over the times of a run's data [rad]; see `mechanics.attitude.torso_angles`."""
    q = run.data["q"].to_numpy()
    roll, pitch, yaw = (plain(x, (len(q),)) for x in attitude.torso_angles(_free(run), columns(q)))
    return {"pitch": pitch, "roll": roll, "yaw": np.unwrap(yaw)}


def torso_rates(run: Run) -> dict[str, Floats]:
    """Rates of the angles of `torso_angles` over the times of a run's data [rad/s]."""
    q, v = run.data["q"].to_numpy(), run.data["v"].to_numpy()
    roll, pitch, yaw = (plain(x, (len(q),)) for x in attitude.torso_angle_rates(_free(run), columns(q), columns(v)))
    return {"pitch": pitch, "roll": roll, "yaw": yaw}


def _free(run: Run) -> Layout:
    if not run.model.layout.torso_free:
        raise RobotError("torso", "fixed", "a run whose torso is free to move")
    return run.model.layout
