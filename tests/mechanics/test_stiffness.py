"""Stiffness as an actuator: what it does, the work that changing it takes, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.layout import Array, relative
from tailwork import gradient, simulate, simulate_batch
from tailwork.control import Polynomial, Sine, Stiffness, point_to_point
from tailwork.errors import ControllerError, RobotError
from tailwork.model import Model
from tailwork.robots import (
    BendingSpring,
    Body,
    Continuum,
    FreeLimb,
    Joint,
    JointSpring,
    Limb,
    PointSpring,
    Robot,
    Tip,
    Torso,
    Usrt,
    VariableStiffness,
    liu2020,
    load,
)

MOUNT = (0.0, -0.25, 0.0)


def arm(stiffness: tuple[float, float, float] = (3.0, 2.0, 40.0), rate: float = 0.0) -> Robot:
    """Two links on a fixed torso, with a spring of each kind; one actuator changes two of them, a second the third."""
    link = Body(mass=0.4, com=(0.0, -0.1, 0.0), inertia=(2e-3, 1e-4, 2e-3, 0.0, 0.0, 0.0))
    joints = (
        Joint(name="a", axis=(1.0, 0.0, 0.0), body=link),
        Joint(name="b", axis=(1.0, 0.0, 0.0), parent="a", offset=(0.0, -0.2, 0.0)),
        Joint(name="c", axis=(0.0, 0.0, 1.0), parent="b", body=link),
    )
    first, second, third = stiffness
    limb = Limb(
        joints=joints,
        springs=(
            JointSpring(joint="a", stiffness=first, rest=0.2, damping=0.01),
            BendingSpring(first="b", second="c", stiffness=second, damping=0.02),
            PointSpring(first=None, first_point=(0.1, 0.0, 0.1), second="c", second_point=(0.0, -0.1, 0.0),
                        stiffness=third, rest_length=0.2),
        ),
        actuators=(
            VariableStiffness(name="both", springs=(1, 2), nominal=3.0, factors=(1.0, 0.5), range=(1.0, 9.0),
                              rate_limit=rate),
            VariableStiffness(name="line", springs=(3,), nominal=40.0, unit="N/m"),
        ),
        tip=Tip(joint="c", point=(0.0, -0.2, 0.0)),
    )  # fmt: skip
    torso = Torso(mass=5.0, inertia=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0))
    return Robot(name="arm", torso=torso, parts={"arm": FreeLimb(limb=limb)})


def fixed(robot: Robot) -> Model:
    """On a torso that does not move."""
    return Model(robot, "none", torso="fixed")


def test_an_effort_is_a_stiffer_spring() -> None:
    """Springs of joints, universal joints and between points: accelerations are those of springs described so, and
    M a + h = B tau with the actuation matrix."""
    rng = np.random.default_rng(1)
    model, stiffer = fixed(arm()), fixed(arm((3.0 + 1.5, 2.0 + 0.75, 40.0 + 7.0)))
    for _ in range(5):
        q, v, tau = rng.uniform(-1.0, 1.0, 3), rng.normal(size=3), np.array([1.5, 7.0])
        found = model.forward_dynamics(q, v, tau)
        assert relative(found, stiffer.forward_dynamics(q, v, np.zeros(2))) < 1e-13
        assert relative(model.generalised_force(q, v, found), model.actuation_matrix(q) @ tau) < 1e-12


@pytest.mark.parametrize(
    ("tail", "changed", "path"),
    [
        (Usrt(links=3, segments=1, mount=MOUNT, stiffness_range=(5.0, 80.0)), 33.0, "tail.bending_stiffness"),
        (
            Continuum(links=3, rigidity=1.0, damping_rigidity=0.0, taper=0.4, mount=MOUNT, stiffness_range=(0.5, 4.0)),
            2.6,
            "tail.rigidity",
        ),
    ],
    ids=["usrt", "continuum"],
)
def test_tails(tail: Any, changed: float, path: str) -> None:
    """A USRT and a tapered rod by their actuator are those described stiffer, on a robot that stands."""
    robot = liu2020(None).with_part("tail", tail)
    model, stiffer = Model(robot), Model(robot.replace({path: changed}))
    rng = np.random.default_rng(2)
    nominal = 20.0 if path == "tail.bending_stiffness" else 1.0
    q = model.standing()
    q[6:] = rng.uniform(-0.3, 0.3, len(q) - 6)
    v, tau = rng.normal(size=len(model.velocity_names)), rng.uniform(0.0, 5.0, len(model.actuator_names))
    tau[-1] = 0.0
    expected = stiffer.forward_dynamics(q, v, tau)
    tau[-1] = changed - nominal
    assert relative(model.forward_dynamics(q, v, tau), expected) < 1e-12


def worked(run: Any, number: int) -> tuple[Array, Array]:
    """Times and powers of an actuator, at many samples."""
    times = np.linspace(0.0, run.duration, 4001)
    return times, run.path(times).powers[:, number]


def test_the_work_of_changing_a_stiffness() -> None:
    """Along a run its power adds up to ∫ ½ x² dk less what the added stiffness then stores, ½ (k − k₀) x²; energy
    balances, by explicit and stiff methods."""
    law = Stiffness(actuator="arm.line", profile=point_to_point(40.0, 90.0, 0.4))
    model = fixed(arm())
    start = (np.array([0.3, -0.2, 0.4]), np.array([1.0, 0.5, -0.3]))
    for method in ("dopri5", "rodas5p"):
        run = simulate(model, start, 0.5, control=law, method=method, rtol=1e-10, atol=1e-12)
        assert run.stopped is None
        assert run.energy_balance_error() < 1e-8
    times, power = worked(run, 1)
    states, _, efforts, _ = run.trajectory.full(times)  # type: ignore[union-attr]
    stretch, added = _stretch(model, states), efforts[:, 1]
    changing = np.sum(0.25 * (stretch[1:] ** 2 + stretch[:-1] ** 2) * np.diff(added))
    stored = 0.5 * added * stretch**2
    given = np.sum(0.5 * (power[1:] + power[:-1]) * np.diff(times))
    assert changing > 0.01  # J
    assert given == pytest.approx(changing - (stored[-1] - stored[0]), rel=1e-5)


def _stretch(model: Model, q: Array) -> Array:
    """How far the spring between points is stretched [m], from the places of its ends."""
    joint, tip = (model.points(q)[:, model.point_names.index(name)] for name in ("arm.c", "arm.tip"))
    return np.linalg.norm((joint + tip) / 2.0 - np.array([0.1, 0.0, 0.1]), axis=1) - 0.2


def test_batches_and_gradients() -> None:
    """The gradient of a run by the stiffness to which it is switched is what differences of a batch find."""
    model = fixed(arm())
    start = (np.array([0.3, -0.2, 0.4]), np.zeros(3))
    law = Stiffness(actuator="arm.both", profile=point_to_point(3.0, 6.0, 0.3))
    how: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-13}
    name = "control.1.profile.end"
    found = gradient(model, start, 0.4, lambda context: context.coordinate("arm.a"), by=(name,), control=law, **how)
    ends = simulate_batch(model, start, 0.4, control=law, parameters={name: np.array([6.001, 5.999])}, **how).q[:, 0]
    assert found.by_parameter[name] == pytest.approx((ends[0] - ends[1]) / 0.002, rel=1e-6)


def controlled(value: float) -> Any:
    """A controller in Python that jumps to a stiffness in its second answer."""
    return lambda t, q, v: {"arm.both": value - 3.0 if t > 0.0 else 0.0}


def test_outside_its_range() -> None:
    """A law that leaves the range, or is too fast, ends the run and says so; a controller in Python is refused."""
    start = (np.array([0.3, -0.2, 0.4]), np.zeros(3))
    beyond = Stiffness(actuator="arm.both", profile=point_to_point(3.0, 12.0, 0.4))
    run = simulate(fixed(arm()), start, 0.4, control=beyond)
    assert run.stopped is not None and run.stopped.reason == "stiffness of arm.both above its range (9 N m/rad)"
    below = Stiffness(actuator="arm.both", profile=Sine(amplitude=3.5, period=1.0))
    run = simulate(fixed(arm()), start, 0.4, control=below)
    assert run.stopped is not None and "below its range (1 N m/rad)" in run.stopped.reason
    fast = Stiffness(actuator="arm.both", profile=Polynomial(coefficients=(3.0, 4.0)))
    assert simulate(fixed(arm(rate=4.0)), start, 0.4, control=fast).stopped is None
    run = simulate(fixed(arm(rate=3.0)), start, 0.4, control=fast)
    assert run.stopped is not None and run.stopped.reason == "stiffness of arm.both changes faster than it can"
    with pytest.raises(ControllerError, match=r"arm\.both to 12 N m/rad .* within its range, 1 to 9"):
        simulate(fixed(arm()), start, 0.1, control=controlled(12.0))
    with pytest.raises(ControllerError, match=r"changed the stiffness arm\.both by .* required: at most 3"):
        simulate(fixed(arm(rate=3.0)), start, 0.1, control=controlled(8.0))
    assert simulate(fixed(arm()), start, 0.1, control=controlled(8.0)).stopped is None


def test_a_stiffness_is_no_effort_that_balances() -> None:
    """Where efforts are looked for, those of a bent USRT's cables, it is left as it is described."""
    robot = liu2020("usrt")
    plain, model = Model(robot), Model(robot.replace({"tail.stiffness_range": (5.0, 80.0)}))
    q, still = model.standing(), np.zeros(18)
    q[6:] = 0.05
    found = model.allocation(q, still, still).efforts
    assert found[-1] == 0.0
    np.testing.assert_allclose(found[:-1], plain.allocation(q, still, still).efforts, rtol=0.0, atol=1e-9)


def test_files(tmp_path: Path) -> None:
    """Written and read back exactly."""
    robot = arm(rate=3.0)
    robot.save(tmp_path / "arm.toml")
    assert load(tmp_path / "arm.toml") == robot


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"nominal": 0.5, "range": (1.0, 2.0)}, "a stiffness within its range, 1 to 2"),
        ({"springs": ()}, "numbers of springs"),
        ({"springs": (1, 1)}, "each once"),
        ({"factors": (1.0, 2.0)}, "a factor for each"),
    ],
)
def test_impossible(changes: dict[str, Any], said: str) -> None:
    """Each says what is required."""
    with pytest.raises(RobotError, match=said):
        VariableStiffness(**{"name": "k", "springs": (1,), "nominal": 1.0} | changes)


def test_a_spring_that_is_not_there() -> None:
    """A number beyond the springs of the limb, and a tail whose stiffness starts outside its range."""
    with pytest.raises(RobotError, match="springs of this limb"):
        Limb(
            joints=(Joint(name="a", axis=(1.0, 0.0, 0.0), body=Body(mass=1.0, com=(0.0, 0.1, 0.0))),),
            springs=(JointSpring(joint="a", stiffness=1.0),),
            actuators=(VariableStiffness(name="k", springs=(2,), nominal=1.0),),
        )
    with pytest.raises(RobotError, match="a stiffness within its range"):
        liu2020("usrt").replace({"tail.stiffness_range": (30.0, 80.0)})
