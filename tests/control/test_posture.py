"""Postures that cannot be: each is told, with what would mend it, and the remedy works."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from real_robots import urdf
from tailwork.cli import main
from tailwork.control import posed
from tailwork.control.posture import posture_warnings
from tailwork.model import Model
from tailwork.model.summary import standing
from tailwork.robots import Robot, biswal, blaberus, liu2018, liu2020, load


@pytest.mark.parametrize(
    "robot", [liu2018(), liu2020("r3"), liu2020("usrt"), biswal(), blaberus()], ids=lambda r: r.name
)
def test_robots_of_the_papers_can_stand(robot: Robot) -> None:
    """Nothing is said of them."""
    assert posture_warnings(robot) == []


def test_motors_are_compared_with_what_the_model_needs() -> None:
    """A limit just below the torque that `Model.allocation` finds is told, one just above is not; of tails, too."""
    robot = liu2020()
    model = Model(robot)
    still = np.zeros(len(model.velocity_names))
    needed = dict(zip(model.actuator_names, model.allocation(model.standing(), still, still).efforts, strict=True))
    knees = max(abs(effort) for name, effort in needed.items() if name.endswith(".k"))
    held = abs(needed["tail.ta"])
    for path, torque, said in (("legs", knees, "leg1.k needs 7.69 N m"), ("tail", held, "tail.ta needs 2.35 N m")):
        for share, told in ((0.9999, 1), (1.0001, 0)):
            found = posture_warnings(robot.replace({f"{path}.torque_limit": float(torque) * share}))
            assert len(found) == told and all(text.startswith(said) for text in found)
    (text,) = posture_warnings(robot.replace({"legs.torque_limit": 5.0}))
    assert "(and leg2.k, leg3.k, leg4.k); stand with straighter legs" in text
    assert posture_warnings(robot.replace({"legs.torque_limit": 5.0, "stand.z": 0.47})) == [], "the remedy"


def test_feet_that_cannot_be_reached() -> None:
    """Too far, too near, below the ground; nothing else is said then."""
    robot = liu2020()
    assert posture_warnings(robot.replace({"stand.z": 0.4999})) == []
    (text,) = posture_warnings(robot.replace({"stand.z": 0.5001}))
    assert text.startswith("the foot of leg1, at (0.15, 0.25, 0) m, is out of reach (and leg2, leg3, leg4); lower")
    short = robot.replace({"legs.shank_length": 0.1, "stand.z": 0.1})
    (text,) = posture_warnings(short)
    assert "is nearer to its hip than the leg can be (and" in text and "raise `stand`" in text
    (text,) = posture_warnings(robot.replace({"stand": (0.0, 0.0, 0.0)}))
    assert "say where the torso stands: `stand` is at the origin, and could be [0, 0, 0.38] (m)" in text
    assert posture_warnings(robot.replace({"stand": (0.0, 0.0, 0.38)})) == [], "the remedy"
    (text,) = posture_warnings(robot.replace({"legs.feet.2.z": -0.01}))
    assert text.startswith("the foot of leg2 is 10 mm below the ground")


def test_a_torso_in_grams() -> None:
    """Denser than gold, as a cube of its length: a hint; the robots that are there have none."""
    robot = liu2020()
    (text,) = posture_warnings(robot.replace({"torso.mass": 13000.0}))
    assert text.startswith("the torso weighs 13,000 kg and is 0.5 m long; masses are in kg: 13,000 g are 13")


def test_a_robot_that_falls() -> None:
    """A centre of mass beyond the feet by just so much; within them, but a foot pulls under the smallest torques."""
    robot = liu2020(None)
    far = robot.replace({"stand.y": 0.29, "torso.mass": 100.0})
    model = Model(far)
    beyond = float(model.center_of_mass(model.standing())[1]) - 0.25
    (text,) = posture_warnings(far)
    assert text.startswith(f"the centre of mass is {beyond * 1e3:.3g} mm outside the feet") and "shift `stand`" in text
    for side in (0.02, -0.02):  # on two feet: before or behind their line
        biped = load(urdf("talos")).replace({"stand.x": side})
        model = Model(biped, "none")
        com = float(model.center_of_mass(posed(model))[0]) - float(biped.feet()["leg_left"].place[0])
        (text,) = posture_warnings(biped)
        assert text.startswith(f"the centre of mass is {abs(com) * 1e3:.3g} mm outside the feet")
    (text,) = posture_warnings(load(urdf("talos")).replace({"stand.z": 1.3}))
    assert "the foot of leg_left" in text and "is out of reach" in text
    for shift in np.linspace(0.0, 0.2, 5):
        near = robot.replace({"stand.y": float(shift), "stand.x": 0.5 * float(shift)})
        forces = standing(Model(near)).foot_forces[:, 2]
        pulling = [name for name, force in zip(near.feet(), forces, strict=True) if force < 0.0]
        told = [text for text in posture_warnings(near) if "would have to pull" in text]
        assert len(told) == bool(pulling)
        if pulling:
            assert told[0].startswith(f"the foot of {pulling[0]} would have to pull by {-forces.min():.3g} N")
    assert pulling


def test_joints_beyond_their_ranges() -> None:
    """By the posture in which the robot stands; whole turns do not count."""
    robot = load(urdf("go2"))
    legs = robot.part("FL")
    model = Model(robot)
    knee = float(model.joint_angles(model.standing())["FL.calf"])

    def ranged(low: float, high: float) -> list[str]:
        joints = (*legs.limb.joints[:2], replace(legs.limb.joints[2], range=(low, high)))
        return posture_warnings(robot.with_part("FL", replace(legs, limb=replace(legs.limb, joints=joints))))

    assert posture_warnings(robot) == []
    assert ranged(knee - 0.1, knee + 0.1) == ranged(knee + 2 * np.pi - 0.1, knee + 2 * np.pi + 0.1) == []
    (text,) = ranged(knee + 0.1, 0.0)
    own, low = (f"{np.degrees(x):.1f}°" for x in (knee, knee + 0.1))
    assert text.startswith(f"FL.calf stands at {own}, beyond its range of {low} to 0.0°; raise or lower `stand`")


def test_commands_say_it(capsys: pytest.CaptureFixture[str]) -> None:
    """`show` prints what it can, and why there is no more."""
    assert main(["show", "liu2020", "--set", "stand.z=0.51"]) == 0
    said = capsys.readouterr().out
    assert "warning: the foot of leg1" in said and "Joint angles" not in said
    assert main(["show", "liu2020", "--set", "legs.torque_limit=5"]) == 0
    said = capsys.readouterr().out
    assert "warning: leg1.k needs" in said and "Joint angles" in said and "pendulum of 1 kg and 0.48 m" in said
    assert main(["show", "go2", "--tail", "pendulum", "--set", "tail.mass=6000"]) == 0  # however large, whole
    said = capsys.readouterr().out
    assert "warning: the tail weighs 6000 kg" in said and "…" not in said.partition("Joint angles")[2]
