"""A manoeuvre of the Go2 with a tail: pinned, in the air, on compliant ground; alone, side by side and in searches."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from real_robots import urdf
from tailwork.robots import Robot, load
from tailwork.simulation import CompliantGround
from tailwork.studies import Scenario, measured, perform, perform_many, yaw
from tailwork.studies.compare.airborne import planar_rotation
from tailwork.studies.compare.on_ground import perform_on_ground
from tailwork.studies.design import Evaluator, Goal, Study, Variable
from tailwork.studies.design.verify import verified
from tailwork.studies.motions import sweep


@cache
def go2() -> Robot:
    """From its maker's file, with a pendulum made for it."""
    return load(urdf("go2")).with_tail("pendulum")


def test_in_the_air_angular_momentum_stays() -> None:
    """The torso yaws as the closed form of two bodies says, but for what tail and body lie apart in height; against the
    tail."""
    scenario = Scenario(go2(), yaw(40), "airborne")
    found = measured(perform(scenario, samples=2), scenario, ["yaw"])["yaw"]
    closed = math.degrees(planar_rotation(go2(), "tail", scenario.motion) or 0.0)
    assert found == pytest.approx(closed, rel=0.05) and found < -2.0


def test_pinned_legs_hold_it_and_designs_agree_side_by_side() -> None:
    """Tail, torso and a thigh of a leg with a sideways offset and full inertias are varied: in lanes as alone."""
    scenario = Scenario(go2(), yaw(40), "joint")
    thigh = go2().limbs()["FL"].joints[2].offset[2]
    changes = {
        "tail.length": [0.3, 0.45, 0.371], "torso.mass": [7.0, 8.0, 7.277],
        "FL.limb.joints.calf.offset.z": [thigh, 1.02 * thigh, 0.98 * thigh],
    }  # fmt: skip
    names = ["yaw", "roll", "least_normal_force", "peak_leg_torque"]
    many = perform_many(scenario, changes, measures=names)
    assert many.reasons == ("",) * 3
    for k in range(3):
        own = scenario.with_robot(scenario.robot.replace({path: x[k] for path, x in changes.items()}))
        alone = measured(perform(own), own, names)
        for name in names:
            assert many.measures[name][k] == pytest.approx(alone[name], rel=1e-5, abs=1e-7), name
        assert abs(alone["yaw"]) < 1.0 and alone["least_normal_force"] > 10.0


def test_on_compliant_ground_it_does_nearly_what_it_does_on_pinned_feet() -> None:
    """On ground that suits it the torso turns as on pinned feet, to a tenth of a degree."""
    scenario = Scenario(go2(), yaw(40), "joint")
    pinned = perform(scenario, samples=31)
    soft = perform_on_ground(scenario, CompliantGround.for_robot(go2()), pinned=pinned, samples=31)
    apart = soft.data["q"].to_numpy()[:, 3:6] - pinned.data["q"].to_numpy()[:, 3:6]
    assert soft.stopped is None and np.degrees(np.abs(apart)).max() < 0.1


def test_searches_judge_its_designs_as_single_runs_do() -> None:
    """Fixed steps in lanes, finer ones, and one adaptive run of the design's own robot agree in every measure."""
    variables = (Variable("tail.total_length", 0.2, 0.6), Variable("tail.mount.x", -0.25, -0.15))
    scenario = Scenario(go2(), sweep("yaw", 40.0), "straight-down")
    study = Study("go2", scenario, variables, (Goal("turn", "most"),))
    found = verified(Evaluator(study, threads=1), np.array([0.45, -0.2]))
    assert found.disagreements() == {}
    assert found.fine["turn"] == pytest.approx(found.alone["turn"], abs=1e-5)
    assert found.alone["tail_length"] == pytest.approx(0.45)
