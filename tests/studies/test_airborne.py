"""Robots in the air: the closed form of planar motion, and simulations that keep their angular momentum at zero."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from oracles.layout import Array
from tailwork.robots import liu2018, liu2020
from tailwork.robots.robot import Robot
from tailwork.simulation import Run
from tailwork.studies.compare.airborne import PlanarBody, planar_rotation
from tailwork.studies.measures import AXES
from tailwork.studies.motions import TailMotion, coupled, pitch, roll, yaw
from tailwork.studies.perform import perform
from tailwork.studies.scenario import Scenario

BODIES = {
    "hinge behind": PlanarBody(12.0, 0.34, 1.0, 0.0192, 0.24, 0.25),
    "hinge at the centre": PlanarBody(12.0, 0.34, 1.0, 0.0192, 0.24),
    "hinge before": PlanarBody(3.0, 0.02, 1.5, 0.03, 0.3, -0.2),
    "point mass": PlanarBody(2.0, 0.01, 0.5, 0.0, 0.4, 0.1),
    "heavy tail": PlanarBody(0.5, 1e-3, 4.0, 0.05, 0.2, 0.15),
}


def points_rotation(body: PlanarBody, start: float, end: float) -> float:
    """The body's turn from the momentum of its parts: the turn rate at which the whole has none, integrated."""

    def rate(theta: float) -> float:
        """d(turn)/d(theta), the body's frame turning with it."""
        arm = body.tail_center * np.array([math.cos(theta), math.sin(theta)])
        places = np.array([[0.0, 0.0], [body.hinge + arm[0], arm[1]]])
        masses = np.array([body.body_mass, body.tail_mass])
        places -= masses @ places / masses.sum()

        def momentum(turn: float, swing: float) -> float:
            velocities = turn * np.stack([-places[:, 1], places[:, 0]], axis=-1)
            velocities[1] += swing * np.array([-arm[1], arm[0]])
            velocities -= masses @ velocities / masses.sum()
            orbital = masses @ (places[:, 0] * velocities[:, 1] - places[:, 1] * velocities[:, 0])
            return float(orbital) + body.body_inertia * turn + body.tail_inertia * (turn + swing)

        return -momentum(0.0, 1.0) / momentum(1.0, 0.0)

    nodes, weights = np.polynomial.legendre.leggauss(20)
    total, pieces = 0.0, np.linspace(start, end, 17)
    for a, b in pairwise(pieces):
        total += (b - a) / 2 * sum(w * rate((a + b) / 2 + (b - a) / 2 * x) for x, w in zip(nodes, weights, strict=True))
    return float(total)


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize(("start", "end"), [(0.0, 0.7), (0.0, -1.4), (0.3, 2.0), (-3.0, 3.0), (1.0, 1.0)])
def test_the_closed_form(name: str, start: float, end: float) -> None:
    """It is the integral of the momentum equation."""
    body = BODIES[name]
    assert body.rotation(start, end) == pytest.approx(points_rotation(body, start, end), abs=1e-12)
    assert body.rotation(end, start) == -body.rotation(start, end)


def test_a_hinge_at_the_centre_of_mass() -> None:
    """The turn is then in proportion: (It + mr lc²)/(Ib + It + mr lc²)."""
    body = BODIES["hinge at the centre"]
    own = 0.0192 + 12.0 / 13.0 * 0.24**2
    for angle in (-3.0, 0.4, 2.5):
        assert body.rotation(0.0, angle) == pytest.approx(-angle * own / (0.34 + own), rel=1e-14)


def test_the_limits() -> None:
    """A body without inertia at the hinge takes all of the turn; one of very much takes none."""
    assert PlanarBody(1e-12, 1e-15, 1.0, 0.1, 0.3).rotation(0.0, 1.0) == pytest.approx(-1.0, abs=1e-10)
    assert PlanarBody(1.0, 1e9, 1.0, 0.1, 0.3, 0.2).rotation(0.0, 1.0) == pytest.approx(0.0, abs=1e-9)


# Against simulation


@cache
def planar(changes: tuple[tuple[str, float], ...] = ()) -> Robot:
    """A torso with a pendulum, nothing else."""
    return liu2020("pendulum").without("legs").replace(dict(changes))


def aloft(robot: Robot, motion: TailMotion) -> Run:
    """A run in the air, very accurate."""
    return perform(Scenario(robot, motion, "airborne"), samples=31, rtol=1e-12, atol=1e-14)


def net_turn(run: Run) -> Array:
    """Net pitch, roll and yaw of the torso [rad]."""
    angles = run.data["q"].to_numpy()[:, 3:6]
    return angles[-1] - angles[0]


CHANGES = [
    {},
    {"tail.mount.y": -0.4},
    {"tail.mount.y": 0.0},
    {"tail.mount.y": 0.2},
    {"tail.tip_mass": 0.3},
    {"tail.actuator_mass": 0.8, "tail.mount.y": -0.3},
    {"tail.tip_mass": 2.0, "tail.mount.y": 0.1, "torso.mass": 3.0},
]


@pytest.mark.parametrize("changes", CHANGES, ids=[", ".join(c) or "none" for c in CHANGES])
@pytest.mark.parametrize(
    "motion", [yaw(40), yaw(-80), yaw(130), pitch(60), pitch(-150)], ids=lambda motion: motion.name
)
def test_a_planar_robot_turns_by_the_closed_form(changes: dict[str, float], motion: TailMotion) -> None:
    """Wherever along the torso its tail is mounted, with a mass at the tip and without, and about no other axis."""
    robot = planar(tuple(changes.items()))
    run, closed = aloft(robot, motion), planar_rotation(robot, "tail", motion)
    wanted = np.zeros(3)
    wanted[AXES.index(motion.axis)] = closed
    np.testing.assert_allclose(net_turn(run), wanted, rtol=0, atol=1e-9)
    assert abs(wanted).max() > 0.01
    assert np.abs(run.data["angular_momentum"].to_numpy()).max() < 1e-10


def test_the_body_turns_the_other_way() -> None:
    """A tail to the right turns the torso to the right (its nose to the right is negative yaw); a tail down, nose
    down. In air it does not matter how fast, nor how heavy things are."""
    robot = planar()
    right, down = planar_rotation(robot, "tail", yaw(40)), planar_rotation(robot, "tail", pitch(40))
    assert right is not None and down is not None
    assert right < 0 and down < 0
    assert planar_rotation(robot, "tail", yaw(-40)) == pytest.approx(-right, rel=1e-14)
    assert net_turn(aloft(robot, yaw(40, duration=1.0)))[2] == pytest.approx(right, abs=1e-9)
    assert net_turn(aloft(robot.replace({"gravity": 1.6}), pitch(40)))[0] == pytest.approx(down, abs=1e-9)


def test_a_swing_counts_as_far_as_it_has_come() -> None:
    """A sine has turned the body by all of it at a quarter period, by nothing at a half, the other way after that."""
    whole = planar_rotation(planar(), "tail", pitch(20))
    for duration, angle in ((0.3, 20.0), (0.1, 10.0), (0.9, -20.0)):
        found = planar_rotation(planar(), "tail", pitch(20, duration, 1.2))
        assert found == pytest.approx(planar_rotation(planar(), "tail", pitch(angle)), rel=1e-12)
    assert whole is not None and abs(whole) > 0.05
    assert planar_rotation(planar(), "tail", pitch(20, 0.6, 1.2)) == pytest.approx(0.0, abs=1e-15)


def test_only_planar_motions_of_a_pendulum_have_a_closed_form() -> None:
    """None for others."""
    assert planar_rotation(planar(), "tail", roll(40)) is None
    assert planar_rotation(planar(), "tail", coupled()) is None
    assert planar_rotation(liu2020("r3").without("legs"), "tail", yaw(40)) is None


@pytest.mark.parametrize("tail", ["pendulum", "r3"])
@pytest.mark.parametrize(
    "motion", [yaw(40), roll(40), coupled(), pitch(20, period=1.2)], ids=lambda motion: motion.name
)
def test_angular_momentum_stays_zero(tail: str, motion: TailMotion) -> None:
    """With legs or without, in motions about all axes, imposed or by motors; and the centre of mass falls freely."""
    run = aloft(liu2020(tail) if tail == "pendulum" else liu2020(tail).without("legs"), motion)
    assert np.abs(run.data["angular_momentum"].to_numpy()).max() < 1e-10
    assert np.abs(run.data["part_angular_momentum"].sel(part="tail").to_numpy()).max() > 0.05
    time, momentum = run.data["time"].to_numpy(), run.data["linear_momentum"].to_numpy()
    mass = float(run.model.part_momenta(run.data["q"].to_numpy()[0], run.data["v"].to_numpy()[0]).masses.sum())
    np.testing.assert_allclose(momentum - momentum[0], np.outer(time, [0.0, 0.0, -9.8 * mass]), rtol=0, atol=1e-9)
    assert run.min_normal_force() == np.inf and run.friction_needed() == 0.0


def test_legs_keep_their_shape_in_the_air() -> None:
    """As they stood, to the last digit."""
    run = aloft(liu2020("pendulum"), yaw(40))
    q = run.data["q"].to_numpy()
    legs = [name.startswith("leg") for name in run.model.coordinate_names]
    assert sum(legs) == 12
    np.testing.assert_array_equal(q[:, legs], np.tile(q[0, legs], (len(q), 1)))
    knee = math.acos((0.4**2 - 2 * 0.25**2) / (2 * 0.25**2))
    start = dict(zip(run.model.coordinate_names, q[0], strict=True))
    assert start["leg1.k"] == pytest.approx(-knee, rel=1e-12)


@pytest.mark.parametrize("motion", [pitch(40), pitch(-60), pitch(20, 0.2)], ids=lambda motion: motion.name)
@pytest.mark.parametrize("height", [0.0, 0.2, -0.1])
def test_pitch_with_legs_is_exact(height: float, motion: TailMotion) -> None:
    """Whatever the hinge's height over the centre of mass of torso and legs, which hang below."""
    robot = liu2020("pendulum").replace({"tail.mount.z": height})
    closed = planar_rotation(robot, "tail", motion)
    assert closed is not None and abs(closed) > 0.01
    np.testing.assert_allclose(net_turn(aloft(robot, motion)), [closed, 0.0, 0.0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("motion", [pitch(20), pitch(-60)], ids=lambda motion: motion.name)
def test_legs_that_stand_askew(motion: TailMotion) -> None:
    """Those of 2018 are not mirror images: the robot also rolls and yaws a little, and pitches as it would."""
    found = net_turn(aloft(liu2018(), motion))
    assert planar_rotation(liu2018(), "tail", motion) == pytest.approx(found[0], rel=1e-6)
    assert 1e-6 < np.abs(found[1:]).max() < 2e-4


def test_yaw_with_legs_is_nearly_exact() -> None:
    """It leaves out that the hinge lies above the centre of mass of torso and legs, about which the robot rolls."""
    for robot, motion, off in (
        (liu2018(), yaw(20), 2e-4), (liu2018(), yaw(40), 2e-4),
        (liu2020(), yaw(20), 1.2e-2), (liu2020(), yaw(40), 1.2e-2),
    ):  # fmt: skip
        found, closed = net_turn(aloft(robot, motion)), planar_rotation(robot, "tail", motion)
        assert closed == pytest.approx(found[2], rel=off)
        assert closed != pytest.approx(found[2], rel=1e-7)
        assert abs(found[1]) > 1e-5


@pytest.mark.parametrize("alpha", [-math.pi / 2, math.pi / 2])
@pytest.mark.parametrize("theta", [0.6, -0.4])
def test_bends_to_both_sides(alpha: float, theta: float) -> None:
    """Motions put together by hand: to the right by alpha = −90°, to the left by +90°, from a bent tail."""
    motion = TailMotion(name="own", axis="yaw", start=(alpha, 0.1), end=(alpha, theta))
    closed = planar_rotation(planar(), "tail", motion)
    np.testing.assert_allclose(net_turn(aloft(planar(), motion)), [0.0, 0.0, closed], rtol=0, atol=1e-9)
    assert closed is not None and closed * (theta - 0.1) * alpha > 0
