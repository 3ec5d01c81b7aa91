"""A robot written x forward is the same robot: every measure of it is the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from few_links import few_links
from tailwork.robots import Robot, liu2020
from tailwork.studies.motions import TailMotion, coupled, pitch, roll, yaw
from tailwork.studies.perform import measured, perform
from tailwork.studies.scenario import Scenario

IMPULSE, POINT = np.array([0.4, 0.1, 0.2]), np.array([0.02, 0.1, 0.03])
CASES = [
    (tail, motion, policy)
    for tail in ("pendulum", "r3", "usrt")
    for policy, motion in (("constant", yaw(30)), ("joint", roll(30)))
] + [("pendulum", coupled(), "joint"), ("r3", pitch(20), "constant"), ("pendulum", yaw(30), "airborne")]


def turned(x: Any) -> Any:
    """A vector of a frame that faces y, in one that faces x."""
    x = np.asarray(x, dtype=float)
    return np.stack([x[..., 1], -x[..., 0], x[..., 2]], axis=-1)


def as_tuples(x: Any) -> Any:
    """An array as nested tuples of floats."""
    return tuple(map(as_tuples, x)) if np.ndim(x) else float(x)


def facing_x(robot: Robot) -> Robot:
    """The same robot in a frame that faces x: all places are turned."""
    legs, tail = robot.part("legs"), robot.part("tail")
    parts = {
        "legs": replace(legs, hips=as_tuples(turned(legs.hips)), feet=as_tuples(turned(legs.feet))),
        "tail": replace(tail, mount=as_tuples(turned(tail.mount))),
    }
    return replace(robot, forward="x", parts=parts, stand=as_tuples(turned(robot.stand)))


@pytest.mark.parametrize(("tail", "motion", "policy"), CASES, ids=[f"{t}-{m.name}-{p}" for t, m, p in CASES])
def test_the_same_table_of_measures(tail: str, motion: TailMotion, policy: str) -> None:
    """With an impulse, by tight tolerances; roll, pitch and yaw have the same names, whichever axis is forward."""
    robot = few_links(tail)
    method = {"method": "rodas5p" if tail == "usrt" else "dopri5", "rtol": 1e-11, "atol": 1e-13, "samples": 61}
    struck = {} if policy == "airborne" else {"impulse": as_tuples(IMPULSE), "impulse_point": as_tuples(POINT)}
    x_struck = {name: as_tuples(turned(value)) for name, value in struck.items()}
    one = Scenario(robot, motion, policy, **struck)
    other = Scenario(facing_x(robot), motion, policy, **x_struck)
    found = [measured(perform(own, **method), own) for own in (one, other)]  # type: ignore[arg-type]
    energy = [one.pop("energy_balance") for one in found]
    assert max(energy) < 1e-3
    for name, value in found[0].items():
        assert found[1][name] == pytest.approx(value, rel=1e-8, abs=1e-8, nan_ok=True), name
    assert abs(found[0]["yaw" if motion.axis == "yaw" else "tail_rotation"]) > 0.5


def test_which_way_robots_turn_in_both_frames() -> None:
    """A tail to the right turns the torso to the right, by yaw alone counted; a tail down turns the nose down."""
    for motion, axis in ((yaw(40), "yaw"), (pitch(30), "pitch")):
        for robot in (liu2020("pendulum"), facing_x(liu2020("pendulum"))):
            scenario = Scenario(robot, motion, "airborne")
            found = measured(perform(scenario, samples=11), scenario, ["turn", "roll", "pitch", "yaw"])
            assert found["turn"] > 1.0 and found["turn"] == pytest.approx(abs(found[axis]), rel=1e-12)
