"""Which way a robot faces."""

from __future__ import annotations

from tailwork.robots.legs.legs import InsectLeg
from tailwork.robots.robot import Robot


def forward_axis(robot: Robot) -> str:
    """The axis of the torso frame that points forward: what the robot says, or its legs; else "y"."""
    if robot.forward:
        return robot.forward
    for part in robot.parts.values():
        if isinstance(part, InsectLeg) or getattr(part, "forward", "y") == "x":
            return "x"
    return "y"
