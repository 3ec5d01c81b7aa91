"""Tails that have a name in every study: scenarios, comparisons, sweeps, designs, the lab and pictures."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import tailwork
from tailwork.errors import RobotError, UnknownNameError
from tailwork.lab.choice import tail_choices
from tailwork.lab.tails import redesigned, tail_sliders
from tailwork.robots import Robot, TwoLink, gecko, go2, liu2020
from tailwork.robots.tails.fit import NAMED, named_tail, with_named_tail
from tailwork.studies import Scenario, measured, perform, roll, yaw
from tailwork.studies.compare.comparison import Plan, compare
from tailwork.studies.design import Evaluator, Goal, Limit, Study, Variable, best_design
from tailwork.studies.design.verify import verified
from tailwork.studies.motions import sweep
from tailwork.studies.perform import perform_many
from tailwork.view.report.comparison import sizes_text
from tailwork.view.scene.build import scene_of

OTHERS = [name for name in NAMED if name not in ("pendulum", "r3", "usrt")]


def airborne(name: str) -> Robot:
    """The 2020 robot without legs, with a tail by name, of few links."""
    robot = liu2020().with_tail(name).without("legs")
    links = {"articulated": 1, "continuum": 2}
    return robot.with_part("tail", robot.part("tail").with_links(links[name])) if name in links else robot


@pytest.mark.parametrize("name", OTHERS)
def test_scenarios(name: str) -> None:
    """Each makes a motion in the air, in a run that balances; sliders of the lab change it; it is drawn."""
    scenario = Scenario(airborne(name), roll(30), "airborne")
    run = perform(scenario)
    found = measured(run, scenario, ["roll", "tail_deviation", "tail_rotation", "tail_mass", "energy_balance"])
    assert found["energy_balance"] < 1e-6 and abs(found["roll"]) > 0.05
    assert found["tail_mass"] == pytest.approx(1.0, rel=1e-12)
    if name == "reaction_wheel":
        assert math.isnan(found["tail_deviation"]) and math.isnan(found["tail_rotation"])
    elif name in ("two_link", "cheetah", "spirit", "gecko"):
        assert found["tail_deviation"] < 1e-6
        assert found["tail_rotation"] == pytest.approx(45.0 * math.sin(math.radians(30.0)), rel=1e-4)
    scene = scene_of(run, most=5)
    assert any(solid.role == "tail" for solid in scene.solids)
    sliders = tail_sliders(scenario.robot)
    moved = {one.name: one.high for one in sliders if one.name != "links"}
    assert not moved or redesigned(scenario.robot, moved) != scenario.robot


def test_a_passive_joint_is_not_imposed() -> None:
    """Motors swing a tail with a passive second joint, which then lags behind; its shape is not prescribed."""
    tail = TwoLink(second="passive", stiffness=1.0, damping=0.02, mount=(0.0, -0.25, 0.0))
    robot = liu2020(None).without("legs").with_part("tail", tail)
    scenario = Scenario(robot, yaw(20), "airborne")
    assert tail.passive == ("tc", "td") and not scenario.imposed
    assert Scenario(robot, yaw(20), "airborne", drive="prescribed").imposed
    run = perform(scenario)
    assert np.abs(run.data["q"].sel(coordinate="tail.td").to_numpy()).max() > 0.05
    assert run.energy_balance_error() < 1e-6


def test_a_comparison(tmp_path: Path) -> None:
    """Side by side in one study, by name."""
    robots = {name: airborne(name) for name in ("articulated", "reaction_wheel")}
    found = compare(Plan(robots, (yaw(20),), {}, "airborne"), tmp_path)
    assert [result.case.tail for result in found.results] == [*robots]
    assert all(result.run.stopped is None for result in found.results)
    assert (tmp_path / "measures.csv").read_text(encoding="utf-8").count("\n") == 3


@pytest.mark.parametrize("name", ["articulated", "continuum"])
def test_a_sweep(name: str) -> None:
    """Designs of different mass, side by side, turn the torso as each does alone."""
    scenario = Scenario(airborne(name), yaw(20), "airborne")
    masses = np.array([0.5, 1.0, 1.5])
    found = perform_many(scenario, {"tail.total_mass": masses}, measures=["yaw"]).measures["yaw"]
    assert np.all(np.diff(np.abs(found)) > 0.0)
    alone = scenario.with_robot(scenario.robot.replace({"tail.total_mass": 1.5}))
    assert found[2] == pytest.approx(measured(perform(alone), alone, ["yaw"])["yaw"], rel=1e-7)


@pytest.mark.parametrize("name", ["articulated", "reaction_wheel"])
def test_a_design(name: str) -> None:
    """Searched by its mass and how far it moves, with exact derivatives; single runs agree with what was found."""
    variables = (Variable("tail.total_mass", 0.3, 0.9), Variable("motion.sweep", 10.0, 30.0))
    scenario = Scenario(airborne(name), sweep("yaw", 20.0), "airborne")
    limit = {"articulated": 0.5, "reaction_wheel": 0.01}[name]  # N m
    study = Study(
        name, scenario, variables, (Goal("turn", "most"),), (Limit("peak_tail_torque", most=limit),), steps=20
    )
    own = Evaluator(study, threads=1)
    best = best_design(own, starts=1).best
    assert best.converged and best.violation < 1e-6
    found = verified(own, best.design)
    assert found.disagreements() == {}
    assert found.alone["peak_tail_torque"] == pytest.approx(limit, rel=1e-2)


def test_names() -> None:
    """All are offered by the lab, and a tail of no length says so where a length is asked for."""
    assert set(NAMED) <= set(tail_choices(liu2020()))
    with pytest.raises(UnknownNameError, match="continuum"):
        named_tail("continum")
    with pytest.raises(RobotError, match="no length"):
        with_named_tail(liu2020(), "reaction_wheel", length=0.3)


def test_presets() -> None:
    """Masses and lengths are those of their sources, and the upright tail of Spirit 40 stands on the back."""
    masses = {name: float(NAMED[name].total_mass()) for name in ("cheetah", "spirit", "gecko")}
    assert masses == pytest.approx({"cheetah": 0.6, "spirit": 0.2784, "gecko": 0.348e-3}, rel=1e-14)
    lengths = {name: float(NAMED[name].total_length()) for name in masses}
    assert lengths == pytest.approx({"cheetah": 0.76, "spirit": 0.8816, "gecko": 0.054}, rel=1e-14)
    model = tailwork.Model(liu2020(None).with_tail(NAMED["spirit"], (0.0, 0.0, 0.052)), "none", torso="fixed")
    q = np.zeros(len(model.coordinate_names))
    tip = model.points(q)[model.point_names.index("tail.tip")]
    np.testing.assert_allclose(tip, [0.0, 0.0, 0.052 + 0.8816], atol=1e-15)
    animal = gecko()
    assert animal.mass() == pytest.approx(2.9e-3 + 0.348e-3, rel=1e-14)
    assert perform(Scenario(animal, roll(60), "airborne")).energy_balance_error() < 1e-6


def test_a_wheel_has_no_length_to_compare() -> None:
    """Tails of one mass, one of them a wheel: only those that have a length are said to have the same one."""
    robots = {name: go2().with_tail(name) for name in ("pendulum", "r3", "reaction_wheel")}
    assert "those that have a length, the same one, 0.371 m" in sizes_text(Plan(robots, (yaw(20),), {}))
    del robots["reaction_wheel"]
    assert "kg, and length, 0.371 m" in sizes_text(Plan(robots, (yaw(20),), {}))
