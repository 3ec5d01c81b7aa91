"""What is impossible about a run: one definition and one mark for all tables; torques by what they act on."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from few_links import few_links
from tailwork.format import rounded
from tailwork.robots import go2, liu2020
from tailwork.simulation import Run
from tailwork.studies import Scenario, measured, perform, yaw
from tailwork.studies.compare.comparison import Plan, compare
from tailwork.studies.measures import KINDS, by_kind, whole_measure
from tailwork.studies.motions import coupled, motion_text, pitch, roll
from tailwork.studies.possible import ALLOWED, MARK, footnote, impossible, mark, marked

POSSIBLE = {"least_normal_force": 5.0, "friction_needed": 0.3, "motor_load": 0.9, "joint_speed_load": math.nan,
            "tail_clearance": 0.1}  # fmt: skip


@cache
def measures_of(tail: str) -> dict[str, float]:
    """Of a yaw by 40°."""
    scenario = Scenario(few_links(tail), yaw(40), "paper")
    return measured(perform(scenario, samples=101), scenario)


@cache
def strong() -> tuple[Run, Scenario]:
    """A robot whose leg motors have limits, with a tail whose motors give 1 N m at most."""
    robot = go2().with_tail("pendulum")
    scenario = Scenario(robot.replace({"tail.torque_limit": 1.0}), yaw(40))
    return perform(scenario, samples=101), scenario


def test_torques_on_joints_and_on_segments_are_apart() -> None:
    """A pendulum has torques on joints alone, an R3 on its roll joint and on its segments, a USRT has tensions only;
    the largest of all is the larger of the two kinds."""
    pendulum, r3, usrt = (measures_of(tail) for tail in ("pendulum", "r3", "usrt"))
    assert math.isnan(pendulum["peak_segment_torque"]) and pendulum["peak_joint_torque"] == pendulum["peak_tail_torque"]
    for whole, parts in KINDS.items():
        assert r3[whole] == max(r3[part] for part in parts)
        assert [whole_measure(part) for part in parts] == [whole, whole] and whole_measure(whole) == whole
    assert r3["peak_segment_torque"] > 10.0 * r3["peak_joint_torque"]
    assert r3["peak_joint_speed"] == 0.0, "the roll joint rests in a yaw"
    assert math.isnan(usrt["peak_joint_torque"]) and math.isnan(usrt["peak_segment_torque"])
    names = ["yaw", "peak_tail_torque"]
    assert by_kind(names, [pendulum, usrt]) == names
    assert by_kind(names, [pendulum, r3]) == ["yaw", "peak_joint_torque", "peak_segment_torque"]


def test_loads_are_shares_of_limits() -> None:
    """The largest effort over its limit and the largest joint rate over its own, as the run's data have them."""
    run, scenario = strong()
    found = measured(run, scenario, ["motor_load", "joint_speed_load", "peak_tail_torque"])
    layout, tau = run.model.layout, np.abs(run.data["tau"].to_numpy())
    actuators = [actuator for name in layout.actuated for actuator in layout.limbs[name].actuators]
    legs = max(float(tau[:, k].max()) / float(one.limit) for k, one in enumerate(actuators) if float(one.limit))
    assert found["motor_load"] == pytest.approx(max(legs, found["peak_tail_torque"] / 1.0), rel=1e-12)
    assert found["motor_load"] > 1.0 > legs, "only the tail's motors are too weak"
    limits = {
        f"{leg}.{joint.name}": float(joint.speed_limit) for leg in layout.legs for joint in layout.limbs[leg].joints
    }
    rates = run.model.joint_rates(run.data["q"].to_numpy(), run.data["v"].to_numpy())
    share = max(np.abs(rates[name]).max() / limit for name, limit in limits.items() if limit)
    assert found["joint_speed_load"] == pytest.approx(share, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "value"),
    [("least_normal_force", -1e-6), ("friction_needed", 0.61), ("friction_needed", math.inf), ("motor_load", 1.01),
     ("joint_speed_load", 1.01)],
)  # fmt: skip
def test_what_is_impossible_is_marked_and_put_into_words(name: str, value: float) -> None:
    """Feet that pull, friction beyond the ground's, motors beyond their limits; nothing else."""
    assert impossible(POSSIBLE) == {} and not footnote([POSSIBLE]) and mark("1", name, POSSIBLE) == "1"
    wrong = POSSIBLE | {name: value}
    assert list(impossible(wrong)) == [name]
    assert mark("1", name, wrong) == f"1 {MARK}" == mark("1", "", wrong) and mark("1", "yaw", wrong) == "1"
    assert marked(["r3", "1", "2"], ["yaw", name], wrong) == ["r3", "1", f"2 {MARK}"]
    assert marked(["r3", "1"], ["yaw"], wrong) == [f"r3 {MARK}", "1"], "what has no column of its own marks the row"
    assert footnote([POSSIBLE, wrong]) == f"{MARK} not possible: {impossible(wrong)[name]}."


def test_friction_is_that_of_the_ground() -> None:
    """The same run is possible on rougher ground."""
    assert impossible(POSSIBLE, friction=0.2) and not impossible(POSSIBLE, friction=0.3)


def test_at_a_limit_to_rounding_is_within_it() -> None:
    """As a search leaves designs that use all that there is: not marked."""
    most = 1.0 + 0.5 * ALLOWED
    at = {"least_normal_force": -1e-13, "friction_needed": 0.6 * most, "motor_load": most, "joint_speed_load": most,
          "tail_clearance": -1e-12}  # fmt: skip
    assert impossible(at) == {}


def test_how_deep_a_tail_goes_is_said() -> None:
    """Of the rows of a table the deepest; a tail above the ground, and one in the air, is not marked."""
    low, deep = POSSIBLE | {"tail_clearance": -0.02}, POSSIBLE | {"tail_clearance": -0.2705}
    assert list(impossible(low)) == ["tail_clearance"] and not impossible(POSSIBLE | {"tail_clearance": math.nan})
    assert footnote([POSSIBLE, low, deep]) == f"{MARK} not possible: the tail goes 0.27 m below the ground."
    assert marked(["r3", "1"], ["yaw"], low) == [f"r3 {MARK}", "1"]


@pytest.mark.parametrize("tail", ["pendulum", "r3"])
def test_clearance_is_that_of_the_lowest_point(tail: str) -> None:
    """Of joints and tip, at every sample, above the ground on which ball feet stand."""
    robot = go2().with_tail(tail)
    scenario = Scenario(robot, pitch(80), "joint")
    run = perform(scenario, samples=31)
    names = [k for k, name in enumerate(run.model.point_names) if name.startswith("tail.")]
    lowest = run.model.points(run.data["q"].to_numpy())[:, names, 2].min()
    found = measured(run, scenario, ["tail_clearance"])["tail_clearance"]
    assert found == pytest.approx(lowest, abs=1e-12) and (found < -0.02) == (tail == "pendulum")


def test_a_robot_in_the_air_has_no_clearance() -> None:
    """Whatever its tail does."""
    aloft = Scenario(liu2020("pendulum"), pitch(20), "airborne")
    assert math.isnan(measured(perform(aloft, samples=2), aloft, ["tail_clearance"])["tail_clearance"])


def test_a_tail_below_the_ground_is_told(tmp_path: Path) -> None:
    """By the note of a comparison's result, beside what else is wrong; a sine from rest says what its torques are."""
    plan = Plan({"pendulum": go2().with_tail("pendulum")}, (pitch(80),), {}, "joint")
    (result,) = compare(plan, tmp_path / "go2").results
    depth = -result.measures["tail_clearance"]
    assert result.note == f"the tail goes {rounded(depth, 2)} m below the ground"
    plan = Plan({"pendulum": liu2020("pendulum")}, (pitch(20, period=1.2),), {}, "paper")
    (result,) = compare(plan, tmp_path / "paper").results
    assert result.note.endswith("the largest torques are those of this jerk")


def test_motions_in_words() -> None:
    """Every motion goes on from "the tail"."""
    said = {motion.name: motion_text(motion) for motion in (yaw(-40), pitch(20), roll(40), coupled(),
            pitch(20, period=1.2), pitch(20, 2.4, 1.2))}  # fmt: skip
    assert said == {
        "yaw-40": "bends to the left by 40° in 0.3 s", "pitch20": "bends down by 20° in 0.3 s",
        "roll40": "rolls from 0° to 45°, bent down by 40°, in 0.3 s",
        "coupled": "pitches from 20° to 0° and yaws from 0° to −50° in 0.3 s",
        "pitch20sine": "follows the first 0.3 s of a sine of 1.2 s that swings it 20° down and up",
        "pitch20sinein2.4s": "follows 2.4 s of a sine of 1.2 s that swings it 20° down and up",
    }  # fmt: skip
