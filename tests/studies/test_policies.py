"""Leg policies: each does what it says, and is refused where it cannot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from few_links import few_links
from real_robots import urdf
from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.model import Model
from tailwork.robots import liu2018, liu2020, load
from tailwork.robots.robot import Robot
from tailwork.robots.tails import Pendulum
from tailwork.robots.tails.tail import tail_name
from tailwork.simulation import Run
from tailwork.studies.leg_policies import EQUATION_85, POLICIES
from tailwork.studies.motions import TailMotion, coupled, pitch, roll, yaw
from tailwork.studies.perform import perform
from tailwork.studies.scenario import Scenario


def torso_angles(run: Run) -> np.ndarray:
    """Roll, pitch and yaw of the torso over time [deg]."""
    return np.degrees(run.data["q"].to_numpy()[:, 3:6])


def balancing_torques(robot: Robot, shape: dict[str, float]) -> np.ndarray:
    """The smallest torques of the legs that balance the robot, its tail in a shape [N m]."""
    model = Model(robot, prescribed=["tail"])
    q = model.standing()
    for name, angle in shape.items():
        q[model.coordinate_names.index(f"tail.{name}")] = angle
    return model.static_torques(q)


@pytest.mark.parametrize("motion", [yaw(40), roll(40), coupled()], ids=lambda motion: motion.name)
@pytest.mark.parametrize("tail", ["pendulum", "r3"])
@pytest.mark.parametrize("policy", ["constant", "joint", "foot"])
def test_the_start_is_balanced(policy: str, tail: str, motion: TailMotion) -> None:
    """With the tail held in its first shape, nothing accelerates; springs begin without a load."""
    scenario = Scenario(few_links(tail), motion, policy)
    shape, model = scenario.start_shape(), scenario.model
    run = perform(replace(scenario, motion=replace(motion, end=motion.start)), samples=2)
    q = run.data["q"].to_numpy()[0]
    torques = balancing_torques(scenario.robot, shape)
    still = np.zeros(len(model.velocity_names))
    given = np.zeros(len(shape))
    np.testing.assert_allclose(
        model.forward_dynamics(q, still, torques, prescribed_acceleration=given), 0.0, atol=1e-11
    )
    np.testing.assert_allclose(run.data["tau"].to_numpy()[0], torques, rtol=0, atol=1e-12)
    np.testing.assert_allclose(torso_angles(run), 0.0, atol=1e-8)


@pytest.mark.parametrize("motion", [yaw(40), roll(40), pitch(20)], ids=lambda motion: motion.name)
@pytest.mark.parametrize("policy", ["joint", "foot"])
def test_held_legs_keep_the_torso(policy: str, motion: TailMotion) -> None:
    """Within a degree, where the open loop lets it fall by ten."""
    run = perform(Scenario(liu2020("pendulum"), motion, policy), samples=61)
    assert np.abs(torso_angles(run)).max() < 1.0
    assert run.assumption_held(0.3)
    free = perform(Scenario(liu2020("pendulum"), motion, "constant"), samples=61)
    assert np.abs(torso_angles(free)).max() > 8.0 * np.abs(torso_angles(run)).max()


def test_wrong_choices() -> None:
    """Unknown policies, drives, maps and attitudes are refused by name, before anything is done with them."""
    usual = Scenario(liu2020("pendulum"), yaw(40))
    for policy in ("papers", "", "none", None):
        with pytest.raises(UnknownNameError, match=r"^policy: got"):
            replace(usual, policy=policy)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match=r"^drive: got 'prescribe'.*did you mean 'prescribed'"):
        replace(usual, drive="prescribe")
    with pytest.raises(UnknownNameError, match=r"^angle: got 'line'"):
        replace(usual, motion=replace(yaw(40), angle="line"))
    for attitude in ("quaternion", "rpz"):
        with pytest.raises(UnknownNameError, match=f"^attitude: got '{attitude}'"):
            replace(usual, attitude=attitude)
    assert list(POLICIES) == [
        "paper", "constant", "straight-down", "joint", "foot", "straight-down-joint", "straight-down-foot", "airborne",
    ]  # fmt: skip
    assert all(policy.name == name and policy.meaning for name, policy in POLICIES.items())


def test_drives_that_cannot_be() -> None:
    """Cables cannot be passed over, and an imposed motion begins from rest."""
    with pytest.raises(
        ArgumentError, match=r"^drive: got 'prescribed'; required: 'auto' or 'motors' for a tail that its cab"
    ):
        Scenario(liu2020("usrt"), yaw(40), drive="prescribed")
    for tail in ("pendulum", "r3"):
        with pytest.raises(ArgumentError, match=r"^drive: got 'prescribed'; .*does not start from rest"):
            Scenario(liu2020(tail), pitch(20, period=1.2), drive="prescribed")
        assert Scenario(liu2020(tail), pitch(20), drive="prescribed").imposed
        assert Scenario(liu2020(tail), pitch(20)).imposed
        assert not Scenario(liu2020(tail), pitch(20, period=1.2)).imposed
        assert not Scenario(liu2020(tail), pitch(20), drive="motors").imposed
    assert not Scenario(liu2020("usrt"), pitch(20)).imposed


def three_legged() -> Robot:
    """The 2020 robot without its fourth leg."""
    robot = liu2020("pendulum")
    legs = robot.part("legs")
    return robot.with_part("legs", replace(legs, hips=legs.hips[:3], feet=legs.feet[:3]))


def test_equation_85_is_for_its_own_legs() -> None:
    """Another count of motors is refused, and a robot that they are far from balancing; so is standing without legs."""
    with pytest.raises(ArgumentError, match="policy: got 'paper'; required: 'constant', 'joint' or 'foot'"):
        perform(Scenario(three_legged(), yaw(20), "paper"))
    for policy in ("paper", "constant", "joint", "foot"):
        with pytest.raises(ArgumentError, match=f"policy: got '{policy}'; required: 'airborne'"):
            perform(Scenario(liu2020("pendulum").without("legs"), yaw(20), policy))
    refused = "policy: got 'paper'; required: .*Eq. 85 do not balance this robot"
    with pytest.raises(ArgumentError, match=refused):
        perform(Scenario(liu2018(), yaw(20), "paper"))
    for mass, allowed in ((14.0, True), (30.0, False)):
        robot = liu2020("pendulum").replace({"torso.mass": mass})
        off = np.abs(balancing_torques(robot, {"ta": 0.0, "tb": 0.0}) - EQUATION_85).max()
        assert (off <= 2.0) == allowed
        if not allowed:
            with pytest.raises(ArgumentError, match=refused):
                perform(Scenario(robot, yaw(20), "paper"))
        else:
            (law,) = Scenario(robot, yaw(20), "paper").problem().control
            assert law.values == EQUATION_85  # type: ignore[attr-defined]


def test_robots_without_one_tail() -> None:
    """None and two are refused."""
    assert tail_name(liu2020("usrt")) == "tail"
    two = liu2020("pendulum").with_part("second", Pendulum(length=0.2, mass=0.1))
    for robot, count in ((liu2020(None), 0), (two, 2)):
        with pytest.raises(ArgumentError, match=rf"one tail \(this one has {count}\)"):
            Scenario(robot, yaw(20), drive="prescribed")
        with pytest.raises(ArgumentError, match=rf"this one has {count}"):
            perform(Scenario(robot, yaw(20)))


@pytest.mark.parametrize("policy", ["airborne", "joint"])
def test_arms_keep_their_shape(policy: str) -> None:
    """Limbs that are neither legs nor the tail are held, as the torques at rest take for granted: the arm of a B1, in
    the air and on feet that start with the torques that balance it."""
    scenario = Scenario(load(urdf("b1_arm")).with_tail("pendulum"), yaw(20.0), policy=policy)
    run = perform(scenario)
    arm = run.data["q"].to_numpy()[:, run.model.layout.coordinates["link01"]]
    assert arm.shape[1] > 5 and not arm.any()
    if policy == "joint":
        held = Model(scenario.robot, prescribed=["tail", "link01"])
        still = held.static_torques(held.standing())
        assert np.abs(run.data["tau"].to_numpy()[0] - still).max() < 1e-10 * np.abs(still).max()
