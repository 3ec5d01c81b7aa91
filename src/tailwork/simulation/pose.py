"""How the torso is turned over a run."""

from __future__ import annotations

import numpy as np

from tailwork.errors import RobotError
from tailwork.mechanics.attitude import attitude_rates, attitude_size, rotation_matrix
from tailwork.mechanics.layout import Layout
from tailwork.robots.facing import forward_axis
from tailwork.simulation.run import Run
from tailwork.typing import Floats

TURNS = ("pitch", "roll", "yaw")


def torso_rotations(layout: Layout, q: Floats) -> Floats:
    """Rotation matrices from the torso frame to the inertial frame, (states, 3, 3)."""
    if not layout.torso_free:
        return np.tile(np.eye(3), (len(q), 1, 1))
    angles = q[:, 3 : 3 + attitude_size(layout.attitude)]
    return np.array([rotation_matrix(layout.attitude, list(row)) for row in angles.tolist()], dtype=float)


def torso_angles(run: Run) -> dict[str, Floats]:
    """Pitch, roll and yaw of the torso over the times of a run's data [rad].

    The angles are those of R = Rz Ry Rx: with y forward, pitch is phi_x and roll phi_y; with x forward, the other way.
    """
    layout = _free(run)
    q = run.data["q"].to_numpy()
    if attitude_size(layout.attitude) == 3:
        angles = q[:, 3:6]
    else:
        turned = torso_rotations(layout, q)
        angles = np.stack([
            np.arctan2(turned[:, 2, 1], turned[:, 2, 2]),
            np.arcsin(np.clip(-turned[:, 2, 0], -1.0, 1.0)),
            np.unwrap(np.arctan2(turned[:, 1, 0], turned[:, 0, 0])),
        ], axis=1)  # fmt: skip
    return _named(run, angles)


def torso_rates(run: Run) -> dict[str, Floats]:
    """Rates of the angles of `torso_angles` over the times of a run's data [rad/s]."""
    layout = _free(run)
    kind = "rpy-small-angle" if layout.attitude == "rpy-small-angle" else "rpy"
    angles = _columns(run, torso_angles(run))
    omega = run.data["v"].to_numpy()[:, 3:6]
    rows = zip(angles.tolist(), omega.tolist(), strict=True)
    return _named(run, np.array([attitude_rates(kind, a, np.array(w, dtype=object)) for a, w in rows], dtype=float))


def _free(run: Run) -> Layout:
    if not run.model.layout.torso_free:
        raise RobotError("torso", "fixed", "a run whose torso is free to move")
    return run.model.layout


def _order(run: Run) -> tuple[int, int, int]:
    """Where pitch, roll and yaw stand among the angles about x, y and z."""
    return (0, 1, 2) if forward_axis(run.model.robot) == "y" else (1, 0, 2)


def _named(run: Run, columns: Floats) -> dict[str, Floats]:
    return {name: columns[:, k] for name, k in zip(TURNS, _order(run), strict=True)}


def _columns(run: Run, named: dict[str, Floats]) -> Floats:
    pitch_roll_yaw = np.stack([named[name] for name in TURNS], axis=1)
    return pitch_roll_yaw[:, _order(run)]  # the order is its own inverse
