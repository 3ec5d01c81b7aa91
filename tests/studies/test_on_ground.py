"""Scenarios on compliant ground: as on pinned feet where it is stiff, until a foot needs more than ground can give."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tailwork.control.context import Context
from tailwork.control.standing import HoldPosture, RestTorques
from tailwork.errors import ArgumentError
from tailwork.mechanics.torso import pinned_values, stance_leg, torso_state
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation.contact.ground import CompliantGround, HeightField, RigidGround
from tailwork.studies.compare.ground_comparison import (
    FirstTimes,
    GroundComparison,
    compare_grounds,
    ground_times,
    grounds_for,
    pinned_times,
    stiffness_text,
)
from tailwork.studies.compare.on_ground import ground_start, perform_on_ground
from tailwork.studies.motions import roll, yaw
from tailwork.studies.perform import perform
from tailwork.studies.scenario import Scenario
from tailwork.typing import Floats

FEET = ("leg1", "leg2", "leg3", "leg4")


def pendulum_yaw(angle: float, policy: str = "paper") -> Scenario:
    """The tail of the 2020 quadruped swings to the right [deg]."""
    return Scenario(liu2020("pendulum"), yaw(angle), policy)


@pytest.fixture(scope="module")
def gentle() -> GroundComparison:
    """A swing of 40°, of which every foot needs little friction."""
    return compare_grounds(pendulum_yaw(40), grounds_for(liu2020("pendulum")))


@pytest.fixture(scope="module")
def hard() -> GroundComparison:
    """A swing of 80°, which needs much friction at its end."""
    return compare_grounds(pendulum_yaw(80), grounds_for(liu2020("pendulum"), (1e6, 1e5)))


def test_stiff_ground_is_as_pinned_feet(gentle: GroundComparison) -> None:
    """While all feet stick, the torso's place and attitude differ from those on pinned feet as 1/stiffness."""
    assert gentle.sticking == pytest.approx(0.3)
    for until in (0.05, 0.3):
        found = gentle.convergence(until)
        for differences, slope in ((found.place, found.place_slope), (found.attitude, found.attitude_slope)):
            ratios = differences[:-1] / differences[1:]  # by decade of stiffness
            np.testing.assert_allclose(ratios, 10.0, rtol=0.05)
            assert slope == pytest.approx(-1.0, abs=0.02)
    assert found.place[-1] < 3e-6 and math.degrees(found.attitude[-1]) < 3e-3
    sinking = [ground.sinking for ground in gentle.grounds]
    np.testing.assert_allclose(sinking, liu2020("pendulum").mass() * 9.8 / 4.0 / np.array([1e4, 1e5, 1e6]), rtol=1e-3)


def test_extrapolation_takes_the_error_of_the_method_off(gentle: GroundComparison) -> None:
    """On stiff ground the step makes nearly all of the difference; it halves with the step, and both runs know it."""
    stiff, k = gentle.grounds[-1], 50
    assert gentle.pinned.trajectory is not None
    pinned = gentle.pinned.trajectory.full(stiff.times[k : k + 1])[0][0, 3:6]
    coarse, fine = (np.linalg.norm(run.data["q"].to_numpy()[k, 3:6] - pinned) for run in (stiff.coarse, stiff.run))
    assert coarse == pytest.approx(2.0 * fine, rel=0.1)
    assert stiff.attitude_difference[k] < 0.2 * fine


def test_feet_slip_when_the_pinned_model_needs_more_friction(hard: GroundComparison) -> None:
    """A swing of 80° needs a friction of 0.2 until 0.25 s and 1.9 at its end: of 0.6, one foot slips in between."""
    friction = hard.pinned.data["foot_force"].to_numpy()
    needed = np.hypot(friction[..., 0], friction[..., 1]) / friction[..., 2]
    times = hard.pinned.data["time"].to_numpy()
    assert needed[times < 0.25].max() < 0.21 and needed.max() > 1.9
    assert [stiffness_text(ground.ground) for ground in hard.grounds] == ["1e5", "1e6"]
    late = []
    for ground in hard.grounds:
        slips = {foot: first.slips for foot, first in ground.first_times.items()}
        assert [foot for foot in FEET if slips[foot] is not None] == ["leg3"]
        assert all(first.lifts is None for first in ground.first_times.values())
        (expected,) = hard.pinned_times["leg3"].known
        late.append((slips["leg3"] or math.nan) - expected)
        assert not ground.run.assumption_held()
    assert 0.0 < late[1] < 5e-4 < late[0] < 4e-3  # softer ground gives way first
    assert hard.sticking == pytest.approx(expected)


def test_feet_stick_where_the_pinned_model_needs_little_friction(gentle: GroundComparison) -> None:
    """A swing of 40° needs 0.15 at most: no foot slips or lifts, on any ground."""
    assert gentle.pinned.friction_needed() < 0.15
    nothing = dict.fromkeys(FEET, FirstTimes(None, None))
    assert gentle.pinned_times == nothing
    assert all(ground.first_times == nothing and ground.run.assumption_held() for ground in gentle.grounds)
    softer = pinned_times(gentle.pinned, 0.1)  # of less friction, some would
    assert softer["leg1"] == FirstTimes(None, None) and softer["leg4"].slips is not None


def test_when_pinned_feet_would_pull() -> None:
    """Between samples as the simulation itself finds it."""
    run = perform(Scenario(liu2020("pendulum"), roll(80), "paper"))
    ((time, _),) = [event for event in run.events if event[1] == "leg4 would pull"]
    found = pinned_times(run, 0.6)
    assert found["leg4"].lifts == pytest.approx(time, abs=1e-5)
    assert found["leg4"].slips is not None and found["leg4"].slips < time
    assert found["leg1"] == FirstTimes(None, None)


def test_the_ground_bears_what_pinned_feet_bear_at_first() -> None:
    """Springs of the ground under the posture at the start give the forces of the pinned model."""
    scenario = pendulum_yaw(80)
    forces = perform(scenario, samples=2).data["foot_force"].to_numpy()[0]
    ground = CompliantGround.for_robot(scenario.robot, 3e4)
    start = ground_start(scenario, ground, forces)
    places = dict(zip(start.model.point_names, start.model.points(start.q), strict=True))
    feet = np.array([places[f"{foot}.foot"] for foot in FEET])
    springs = 3e4 * (start.contact.anchors - feet)
    np.testing.assert_allclose(springs, forces, atol=1e-9)
    np.testing.assert_allclose(start.contact.anchors[:, 2], 0.0, atol=1e-15)
    assert start.contact.states == ("stick",) * 4
    np.testing.assert_allclose(start.q[:6], [0.0, 0.0, 0.4 - forces[:, 2].mean() / 3e4, 0.0, 0.0, 0.0], atol=1e-12)
    pulling = forces.copy()
    pulling[2, 2] = -5.0
    start = ground_start(scenario, ground, pulling)
    assert start.contact.states == ("stick", "stick", "air", "stick")
    assert np.isnan(start.contact.anchors[2]).all()


@pytest.mark.parametrize("policy", ["joint", "foot"])
def test_laws_of_free_legs_are_those_of_pinned_ones(policy: str) -> None:
    """In a state in which the feet stand, joint torques are the same, in whatever way the torso moves."""
    scenario = Scenario(liu2020("pendulum"), yaw(40), policy, drive="motors")
    pinned, free = scenario.model.layout, Model(scenario.robot, "none").layout
    chance = np.random.default_rng(3)
    standing = scenario.model.standing()
    q, v = standing + chance.uniform(-0.1, 0.1, 8), chance.uniform(-1.0, 1.0, 8)

    def with_legs(q: Floats, v: Floats) -> tuple[list[float], list[float]]:
        """The same state in coordinates of the robot whose legs are free."""
        torso = torso_state(pinned, q.tolist(), v.tolist())
        places, rates = [*q[:6], *([0.0] * 14)], [*v[:6], *([0.0] * 14)]
        places[free.coordinates["tail"]], rates[free.rates["tail"]] = q[6:].tolist(), v[6:].tolist()
        for foot in FEET:
            leg = stance_leg(pinned, torso, foot)
            places[free.coordinates[foot]], rates[free.rates[foot]] = pinned_values(leg), leg.rates
        return [float(x) for x in places], [float(x) for x in rates]

    postures = {"pinned": tuple(standing.tolist()), "free": tuple(with_legs(standing, 0.0 * v)[0])}
    there = Context(pinned, 0.0, q.tolist(), v.tolist())
    here = Context(free, 0.0, *with_legs(q, v))
    laws = [law for law in scenario.laws if isinstance(law, (RestTorques, HoldPosture))]
    assert len(laws) == 2
    for law in laws:
        wanted = replace(law, posture=postures["pinned"]).efforts(there)
        found = replace(law, posture=postures["free"]).efforts(here)
        assert set(wanted) == set(found) and len(wanted) == 12
        np.testing.assert_allclose([found[name] for name in wanted], list(wanted.values()), rtol=1e-11, atol=1e-11)


def test_legs_held_by_springs_converge_too() -> None:
    """Feet held under the torso and a tail that its motors drive: laws of free legs and tails in a whole run."""
    scenario = Scenario(liu2020("pendulum"), yaw(40), "foot", drive="motors")
    comparison = compare_grounds(scenario, grounds_for(scenario.robot, (1e5, 1e6)))
    found = comparison.convergence()
    np.testing.assert_allclose([found.place[0] / found.place[1], found.attitude[0] / found.attitude[1]], 10.0, rtol=0.1)
    assert comparison.sticking == pytest.approx(0.3)
    assert all(ground.run.energy_balance_error() < 1e-3 for ground in comparison.grounds)


def test_damping_of_the_ground() -> None:
    """The robot's share of mass on a foot, bouncing on it, is damped as told; along as across."""
    robot = liu2020("pendulum")
    ground = CompliantGround.for_robot(robot, 1e5, damping=0.2)
    mass = robot.mass() / 4.0
    assert ground.tangential_damping == pytest.approx(0.2 * 2.0 * math.sqrt(1e5 * mass))
    assert ground.damping * mass * 9.8 == pytest.approx(ground.tangential_damping)
    assert (ground.static_friction, ground.kinetic_friction) == (0.6, pytest.approx(0.5))
    assert CompliantGround.for_robot(robot, 1e5, 0.9, 0.2).kinetic_friction == 0.2
    assert [stiffness_text(CompliantGround.for_robot(robot, k)) for k in (1e4, 250000.0, 12345.678)] == [
        "1e4",
        "2.5e5",
        "1.2345678e4",
    ]


def test_what_is_refused() -> None:
    """Feet in the air, hills, feet above the ground, ground too stiff, grounds that cannot be compared."""
    robot = liu2020("pendulum")
    ground, scenario = CompliantGround.for_robot(robot, 1e5), pendulum_yaw(20)
    for run in (lambda m: perform_on_ground(m, ground), lambda m: compare_grounds(m, [ground])):
        with pytest.raises(ArgumentError, match="policy: got 'airborne'; required: one of paper, constant, "):
            run(pendulum_yaw(20, "airborne"))
    hill = CompliantGround(
        stiffness=1e5, tangential_stiffness=1e5, static_friction=0.6, kinetic_friction=0.5,
        surface=HeightField(x=(-1.0, 1.0), y=(-1.0, 1.0), heights=np.zeros((3, 3))),
    )  # fmt: skip
    with pytest.raises(ArgumentError, match=r"ground: .*required: a CompliantGround without a surface"):
        perform_on_ground(scenario, hill)
    with pytest.raises(ArgumentError, match="at least 2 samples"):
        perform_on_ground(scenario, ground, samples=1)
    with pytest.raises(ArgumentError, match=r"stiffness: got .*softer ground"):
        perform_on_ground(scenario, CompliantGround.for_robot(robot, 1e14))
    raised = tuple((x, y, 0.01) for x, y, _ in robot.part("legs").feet)
    above = Scenario(robot.replace({"legs.feet": raised}), yaw(20), "constant")
    with pytest.raises(ArgumentError, match=r"leg1\.foot: .*at height 0"):
        perform_on_ground(above, ground)
    with pytest.raises(ArgumentError, match="robot with feet, and gravity"):
        CompliantGround.for_robot(robot.replace({"gravity": 0.0}), 1e5)
    for grounds, said in (([], "at least one"), ([ground, ground], "only once"),
                          ([ground, CompliantGround.for_robot(robot, 1e6, 0.7)], "the same of all")):  # fmt: skip
        with pytest.raises(ArgumentError, match=said):
            compare_grounds(scenario, grounds)


def test_a_foot_that_starts_in_the_air_has_lifted() -> None:
    """Where the pinned model pulls from the first instant on."""
    scenario = pendulum_yaw(20)
    pinned = perform(scenario, samples=2)
    pinned.data["foot_force"][0, 2, 2] = -5.0
    found = ground_times(
        perform_on_ground(scenario, CompliantGround.for_robot(scenario.robot, 1e5), pinned=pinned, samples=11)
    )
    assert found["leg3"].lifts == 0.0 and found["leg1"].lifts != 0.0


def test_rigid_ground_is_as_pinned_feet_until_one_slips() -> None:
    """On rigid ground all feet stick as long as the pinned model needs less friction than there is, and the torso goes
    the same way, by other equations; the foot that then needs more slips within two steps."""
    scenario = pendulum_yaw(80)
    found = compare_grounds(scenario, grounds_for(scenario.robot, (1e5,)), rigid=RigidGround(friction=0.6))
    assert found.rigid is not None and list(found.runs)[-1] == "rigid"
    for foot, first in found.pinned_times.items():
        slips = found.rigid_times[foot].slips
        assert (first.slips is None) == (slips is None)
        assert first.slips is None or slips == pytest.approx(first.slips, abs=2e-3)
    times = found.rigid.data["time"].to_numpy()
    kept = times <= found.sticking
    assert found.pinned.trajectory is not None
    pinned = found.pinned.trajectory.full(times[kept])[0][:, :6]
    assert np.abs(found.rigid.data["q"].to_numpy()[kept, :6] - pinned).max() < 2e-4
