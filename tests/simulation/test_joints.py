"""Joints of real robots in motion: sliders, dry friction, ranges with and without stops, limits of speed, gears."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tailwork
from tailwork.control import Constant
from tailwork.errors import RobotError
from tailwork.mechanics.forward import Inputs, forward_dynamics
from tailwork.mechanics.springs_and_cables import FRICTION_RATE
from tailwork.robots import (
    Body,
    Cable,
    FreeLimb,
    Hole,
    Joint,
    JointSpring,
    Limb,
    Motor,
    PointSpring,
    Robot,
    Stops,
    StopSpring,
    Torso,
    liu2020,
)
from tailwork.simulation import JointRange, JointSpeed, simulate_batch
from tailwork.simulation.run import Run

TORSO = Torso(mass=5.0, inertia=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0))
BODY = Body(mass=0.7, com=(0.02, 0.1, -0.03), inertia=(2e-3, 1e-3, 2e-3, 1e-4, 0.0, 2e-4))


def on_torso(*joints: Joint, gravity: float = 0.0, **more: object) -> Robot:
    """A robot with one limb, "arm"."""
    return Robot(name="arm", torso=TORSO, parts={"arm": FreeLimb(limb=Limb(joints=joints, **more))}, gravity=gravity)  # type: ignore[arg-type]


def one_joint(motion: str = "hinge", **more: object) -> Robot:
    """A robot with one joint: about y with inertia 0.02 kg m², or along it with a mass of 2 kg."""
    fields = {k: v for k, v in more.items() if k in ("friction", "range", "speed_limit")}
    body = Body(mass=2.0, inertia=(0.02, 0.02, 0.02, 0.0, 0.0, 0.0))
    joint = Joint(name="j", axis=(0.0, 1.0, 0.0), motion=motion, body=body, **fields)  # type: ignore[arg-type]
    rest = {k: v for k, v in more.items() if k not in fields}
    return on_torso(joint, **rest)


def run_of(robot: Robot, rate: float, duration: float, **options: object) -> Run:
    """A run of the one joint on a fixed torso, from zero at a rate."""
    model = tailwork.Model(robot, stance="none", torso="fixed")
    return tailwork.simulate(model, ([0.0], [rate]), duration, rtol=1e-10, **options)  # type: ignore[arg-type]


def sliding_arm() -> Robot:
    """A hinge, a slider that leans, a hinge on it; with rotors, springs, a cable and a spring between points."""
    lean = (0.6, 0.0, 0.8)
    return on_torso(
        Joint(name="turn", axis=(0.0, 0.0, 1.0), offset=(0.1, 0.0, 0.05), body=BODY, armature=0.01),
        Joint(name="reach", motion="slider", axis=lean, parent="turn", offset=(0.0, 0.2, 0.0), body=BODY, armature=0.3),
        Joint(name="lift", axis=(1.0, 0.0, 0.0), parent="reach", body=BODY, friction=0.1),
        gravity=9.81,
        actuators=(
            Motor(name="turn", coordinate="turn"),
            Motor(name="reach", coordinate="reach"),
            Cable(name="cable", route=(Hole(joint=None, point=(0.0, 0.0, 0.1)), Hole(joint="lift", point=(0, 0.1, 0)))),
        ),
        springs=(
            JointSpring(joint="reach", stiffness=200.0, rest=0.05, damping=3.0),
            PointSpring(
                first=None, first_point=(0.2, 0.0, 0.0), second="lift", second_point=(0.0, 0.1, 0.1),
                stiffness=100.0, rest_length=0.1,
            ),
        ),
    )  # fmt: skip


def test_a_slider_has_units_of_its_own() -> None:
    """m, m/s and N, in names of q, v and tau; a coordinate that moves sliders alone counts as one."""
    model = tailwork.Model(sliding_arm(), stance="none")
    assert model.layout.coordinate_units[-3:] == ("rad", "m", "rad")
    assert model.layout.velocity_units[-3:] == ("rad/s", "m/s", "rad/s")
    assert model.actuator_units == ("N m", "N", "N")
    geared = replace(
        sliding_arm().limbs()["arm"], coordinates=("a", "b"), gearing=((1.0, 0.0), (0.0, 2.0), (0.5, 0.0)),
        actuators=(Motor(name="m", coordinate="b"), Motor(name="n", coordinate="a")),
    )  # fmt: skip
    assert [geared.coordinate_unit(name) for name in geared.coordinates] == ["rad", "m"]
    assert [geared.effort_unit(actuator) for actuator in geared.actuators] == ["N", "N m"]


@pytest.mark.parametrize("torso", ["free", "fixed"])
def test_energy_balances_with_sliders_springs_cables_and_dry_friction(torso: str) -> None:
    """What motors and cables put in is gained or lost in dampers and friction."""
    model = tailwork.Model(sliding_arm(), stance="none", torso=torso)
    n = len(model.velocity_names)
    q = model.standing() if torso == "free" else np.zeros(n)
    v = np.linspace(-1.0, 1.5, n)
    law = Constant(values=(0.4, 30.0, 8.0))
    run = tailwork.simulate(model, (q, v), 0.3, control=law, rtol=1e-9)
    assert run.energy_balance_error() < 1e-8
    assert float(run.data["dissipation"].min()) > 0.0
    stiff = tailwork.simulate(model, (q, v), 0.3, control=law, rtol=1e-9, method="rodas5p")
    assert stiff.final_state[0] == pytest.approx(run.final_state[0], abs=1e-7), "with exact derivatives of all of it"


def test_a_prescribed_slider_needs_the_force_that_would_move_it() -> None:
    """Imposing the motion that a force gives needs that force, and moves the torso alike."""
    robot = one_joint("slider", actuators=(Motor(name="j", coordinate="j"),), friction=0.5)
    free, imposed = tailwork.Model(robot, stance="none"), tailwork.Model(robot, stance="none", prescribed=["arm"])
    q, v = free.standing(), np.array([0.1, -0.2, 0.3, 0.4, 0.1, -0.3, 0.2])
    a = free.forward_dynamics(q, v, [3.0])
    found = imposed.path(q, v, [], prescribed_acceleration=a[6:])
    assert found.prescribed_efforts == pytest.approx([3.0], abs=1e-14)
    assert found.acceleration == pytest.approx(a, abs=1e-14)


@pytest.mark.parametrize(("motion", "inertia"), [("hinge", 0.02), ("slider", 2.0)])
def test_dry_friction_slows_a_joint_as_coulomb_has_it(motion: str, inertia: float) -> None:
    """m (v − v0) + f t = what the smooth law leaves out: with u = v/s, d(u) m s/dt = −f u/sqrt(1 + u²) has the integral
    sqrt(1 + u²) − arsinh(1/u) = c − f t/(m s)."""
    friction, rate, time = 0.5, 2.0, 0.03 * inertia / 0.02
    run = run_of(one_joint(motion, friction=friction), rate, time)
    s = FRICTION_RATE[motion]

    def integral(u: float) -> float:
        return float(np.sqrt(1.0 + u * u) - np.arcsinh(1.0 / u))

    end = float(run.final_state[1][0]) / s
    assert integral(rate / s) - integral(end) == pytest.approx(friction * time / (inertia * s), rel=1e-8)
    assert end * s == pytest.approx(rate - friction * time / inertia, abs=2 * s)
    assert run.energy_balance_error() < 1e-9


def test_dry_friction_holds_what_is_too_weak_but_for_a_creep() -> None:
    """Under half of the friction a joint creeps at s · 0.5/sqrt(0.75)."""
    robot = one_joint(friction=0.4, actuators=(Motor(name="j", coordinate="j"),))
    run = run_of(robot, 0.0, 2.0, control=Constant(values=(0.2,)))
    assert run.final_state[1] == pytest.approx([FRICTION_RATE["hinge"] * 0.5 / np.sqrt(0.75)], rel=1e-6)


def test_a_run_notes_when_a_joint_leaves_its_range_and_can_stop_there() -> None:
    """At 2 rad/s a joint with a range of 0.3 rad leaves it after 0.15 s; it is no error unless a run shall stop."""
    robot = one_joint(range=(-0.1, 0.3), speed_limit=1.5)
    run = run_of(robot, 2.0, 0.3)
    assert [name for _, name in run.events] == ["arm.j is faster than its limit", "arm.j leaves its range"]
    assert run.events[1][0] == pytest.approx(0.15, abs=1e-9)
    stopped = run_of(robot, 2.0, 0.3, events=[JointRange(action="stop"), JointSpeed()])
    assert stopped.stopped is not None and stopped.stopped.time == pytest.approx(0.15, abs=1e-9)
    assert "arm.j leaves its range" in stopped.summary()


def test_stops_turn_a_joint_back() -> None:
    """Without damping it comes back as fast as it went, from where ½ I v² = ½ k d²; with damping slower, as Hunt &
    Crossley's law says: (1 + d v)·exp(−d v) is the same before and after."""
    bouncing = replace(one_joint(range=(-0.1, 0.3)), stops=Stops(stiffness=200.0))
    run = run_of(bouncing, 2.0, 0.35)
    swing = np.pi * np.sqrt(0.02 / 200.0)
    # Steps do not end where the torque has a kink, which costs some digits.
    assert run.final_state[1] == pytest.approx([-2.0], abs=1e-6)
    assert run.final_state[0] == pytest.approx([0.3 - 2.0 * (0.2 - swing)], abs=1e-6)
    deepest = float(run.data["q"].max())
    assert 0.3 + 1.9 * np.sqrt(0.02 / 200.0) < deepest < 0.3 + 2.0 * np.sqrt(0.02 / 200.0) + 1e-9
    damped = run_of(replace(bouncing, stops=Stops(stiffness=200.0, damping=0.4)), 2.0, 0.35)
    back = -float(damped.final_state[1][0]) * 0.4
    assert np.log1p(-back) + back == pytest.approx(np.log1p(0.8) - 0.8, abs=1e-6)
    assert damped.energy_balance_error() < 1e-7


def test_stops_of_sliders_need_a_stiffness_and_one_joint_may_have_its_own() -> None:
    robot = one_joint("slider", range=(-0.1, 0.3))
    with pytest.raises(RobotError, match="slider j has a range"):
        replace(robot, stops=Stops(stiffness=10.0))
    both = replace(robot, stops=Stops(stiffness=10.0, slider_stiffness=1e4))
    own = one_joint("slider", springs=(StopSpring(joint="j", lower=-0.1, upper=0.3, stiffness=1e4),))
    one, other = (run_of(x, 2.0, 0.35).final_state for x in (both, own))
    assert one[1] == pytest.approx(other[1], abs=1e-12)
    with pytest.raises(RobotError, match="lower"):
        StopSpring(joint="j", lower=1.0, upper=0.0, stiffness=1.0)


def test_numbers_of_friction_and_stops_can_be_varied_in_a_batch() -> None:
    """Each run of the batch is the run of the robot with that number."""
    robot = replace(one_joint(range=(-0.1, 0.3), friction=0.1), stops=Stops(stiffness=200.0, damping=0.1))
    model = tailwork.Model(robot, stance="none", torso="fixed")
    varied = {"arm.limb.joints.j.friction": [0.05, 0.2], "stops.stiffness": [100.0, 400.0]}
    batch = simulate_batch(model, ([0.0], [2.0]), 0.3, parameters=varied, rtol=1e-10)
    for k, (friction, stiffness) in enumerate(zip(*varied.values(), strict=True)):
        alone = robot.replace({"arm.limb.joints.j.friction": friction, "stops.stiffness": stiffness})
        assert batch.q[k] == pytest.approx(run_of(alone, 2.0, 0.3).final_state[0], abs=1e-8)


def test_stops_and_friction_work_in_pinned_legs() -> None:
    """A stop gives the torque that a motor could give; angles of a pinned leg count from the middle of their range."""
    robot = liu2020("pendulum")
    model = tailwork.Model(robot)
    layout, limb, q = model.layout, robot.limbs()["leg1"], model.standing()
    v = np.linspace(-0.2, 0.3, len(model.velocity_names))
    knee = float(model.joint_angles(q)["leg1.k"])

    def acceleration(lower: float, upper: float, friction: float, torque: float) -> list[float]:
        joint = replace(limb.joints[2], range=(lower, upper), friction=friction)
        stop = StopSpring(joint="k", lower=lower, upper=upper, stiffness=1000.0)
        own = replace(limb, joints=(*limb.joints[:2], joint), springs=(stop,))
        layout.__dict__["limbs"] = robot.limbs() | {"leg1": own}
        tau = [0.0, 0.0, torque] + [0.0] * (len(model.actuator_names) - 3)
        return forward_dynamics(layout, Inputs(q.tolist(), v.tolist(), tau)).acceleration

    free = acceleration(knee - 1.0, knee + 1.0, 0.0, 0.0)
    assert acceleration(knee + 6.1, knee + 6.4, 0.0, 0.0) == pytest.approx(free, abs=1e-10), "a turn further"
    assert acceleration(knee + 0.05, knee + 1.0, 0.0, -50.0) == pytest.approx(free, abs=1e-10)
    rate = float(model.joint_rates(q, v)["leg1.k"])
    friction = 0.2 * rate / np.hypot(rate, FRICTION_RATE["hinge"])
    assert acceleration(knee - 1.0, knee + 1.0, 0.2, friction) == pytest.approx(free, abs=1e-10)


def test_a_joint_that_follows_another_is_a_row_of_the_gearing() -> None:
    """Two fingers that mimic each other on one motor: they move as one coordinate, and the motor drives both."""
    fingers = [
        Joint(name=f"f{k}", motion="slider", axis=(0.0, 1.0, 0.0), body=Body(mass=m, com=(0.1, 0.0, 0.0)))
        for k, m in ((1, 0.2), (2, 0.3))
    ]
    robot = on_torso(
        *fingers, coordinates=("grip",), gearing=((1.0,), (-1.5,)), actuators=(Motor(name="m", coordinate="grip"),)
    )
    model = tailwork.Model(robot, stance="none", torso="fixed")
    assert model.forward_dynamics([0.0], [0.0], [1.0]) == pytest.approx([1.0 / (0.2 + 0.3 * 1.5**2)], rel=1e-14)
    assert model.actuator_units == ("N",)
