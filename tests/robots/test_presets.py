"""Real robots that come with the library are what their public models say."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import tailwork
from real_robots import mjcf, urdf
from tailwork import Model, robots
from tailwork.robots import Shape
from tailwork.robots.presets import quadrupeds

HOME = {f"{leg}_{joint}": value for leg in ("fl", "fr", "hl", "hr") for joint, value in (("hy", 1.04), ("kn", -1.8))}
FILES: dict[str, tuple[Any, dict[str, Any]]] = {
    "go2": (urdf, {"foot_radius": 0.022}), "a1": (urdf, {}), "anymal_c": (urdf, {}), "solo12": (urdf, {}),
    "spot": (mjcf, {"posture": HOME}),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_preset_is_what_its_file_says(name: str) -> None:
    """Read anew from the public model, it is the same robot; the trunk of Go2, a mesh there, is drawn as a box."""
    where, options = FILES[name]
    robot = dataclasses.replace(tailwork.load(where(name), **options), name=name)
    if name == "go2":
        box = Shape(kind="box", size=(0.3762, 0.0935, 0.114))
        robot = dataclasses.replace(robot, torso=dataclasses.replace(robot.torso, shapes=(box,)))
    assert getattr(quadrupeds, name)() == robots.presets()[name]() == robot


@pytest.mark.parametrize("name", [*FILES, "spirit40"])
def test_it_stands_level_on_its_feet(name: str) -> None:
    """Its weight is carried, every foot pushes, and no motor is asked for more than it has."""
    robot = robots.presets()[name]()
    model = Model(robot)
    q = model.standing()
    torques = model.static_torques(q)
    forces = model.foot_forces(q, np.zeros(len(model.velocity_names)), torques).reshape(-1, 3)
    assert forces[:, 2].sum() == pytest.approx(robot.mass() * robot.gravity, rel=1e-12) and forces[:, 2].min() > 0
    limits = [motor.limit for limb in robot.limbs().values() for motor in limb.actuators]
    assert all(abs(torque) < limit for torque, limit in zip(torques, limits, strict=True) if limit)


def test_the_tail_of_spirit() -> None:
    """0.2764 kg at 0.8816 m above its mount on the trunk; a positive roll takes it to the right, a pitch forward."""
    robot = robots.spirit40()
    model = Model(robot, "none")
    q = np.zeros(len(model.coordinate_names))
    roll, pitch = (model.coordinate_names.index(f"tail.{name}") for name in ("roll", "pitch"))

    def tip(**angles: float) -> np.ndarray:
        state = q.copy()
        state[roll], state[pitch] = angles.get("roll", 0.0), angles.get("pitch", 0.0)
        return model.points(state)[model.point_names.index("tail.tip")]

    length, angle = 0.8816, 0.3
    np.testing.assert_allclose(tip(), [0.0, 0.0, 0.052 + length], atol=1e-15)
    np.testing.assert_allclose(
        tip(roll=angle), [0.0, -length * math.sin(angle), 0.052 + length * math.cos(angle)], atol=1e-15
    )
    np.testing.assert_allclose(
        tip(pitch=angle), [length * math.sin(angle), 0.0, 0.052 + length * math.cos(angle)], atol=1e-15
    )
    assert robot.masses()["tail"] == pytest.approx(0.2764 + 0.002)
    assert robot.mass() == pytest.approx(7.388 + 4 * (0.575 + 0.792 + 0.096 + 0.015) + 0.2784)
