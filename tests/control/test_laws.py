"""Control laws: the forces that they stand for, the stability that they give, and the energy that they account for."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from oracles.layout import Array, rotation
from tailwork.algebra.derivatives import jacobian
from tailwork.algebra.expression import Tape
from tailwork.algebra.vectors import array
from tailwork.control import (
    Constant,
    CurvatureTracking,
    Driven,
    FootImpedance,
    JointImpedance,
    Polynomial,
    Sine,
    Tracking,
    held,
    point_to_point,
)
from tailwork.control.context import Law
from tailwork.control.curvature_tracking import LOOSE, two_of_three
from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.kernels.graph import finished
from tailwork.kernels.kernel import Kernel
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import Run, simulate
from tailwork.simulation.system import System

LEGS = ("leg1", "leg2", "leg3", "leg4")
JOINTS = ("ha", "hb", "k")
STILL = {"tail": {"ta": held(0.0), "tb": held(0.0)}}
WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # of central differences of order 8


@cache
def model(attitude: str = "rpy") -> Model:
    """The 2020 quadruped, its pendulum held straight."""
    return Model(liu2020("pendulum"), prescribed=("tail",), attitude=attitude)


@cache
def usrt() -> Model:
    """The 2020 quadruped with the USRT."""
    return Model(liu2020("usrt"))


def efforts(m: Model, laws: list[Law], q: Array, v: Array, t: float = 0.0, tail: Any = None) -> dict[str, float]:
    """Efforts that laws give in a state, by actuator."""
    system = System(m, laws, tail if tail is not None else (STILL if m.prescribed_names else None))
    found = system.full(np.array([t]), system.state(q, v)[None], np.zeros((1, system.efforts)))[2][0]
    return dict(zip(m.actuator_names, found.tolist(), strict=True))


def states(seed: int) -> tuple[Array, Array]:
    """A state near the stand, the tail still and straight."""
    rng = np.random.default_rng(seed)
    q, v = model().standing(), np.zeros(8)
    q[:3] += rng.uniform(-0.03, 0.03, size=3)
    q[3:6] = rng.uniform(-0.2, 0.2, size=3)
    v[:6] = rng.normal(size=6)
    return q, v


def slope(function: Any, h: float = 1e-3) -> Array:
    """Derivative at 0 of a function of one number, by differences of order 8."""
    return np.asarray(sum(w * (function(k * h) - function(-k * h)) for k, w in WEIGHTS.items()) / h)


def moved(q: Array, v: Array, s: float) -> Array:
    """q, moved along its rates."""
    return q + s * model().coordinate_rates(q, v)


def joints_of(q: Array, leg: str) -> Array:
    """Joint angles of a leg by the model."""
    angles = model().joint_angles(q)
    return np.array([float(angles[f"{leg}.{joint}"]) for joint in JOINTS])


def foot_of(q: Array, leg: str) -> Array:
    """The foot from P in the torso frame."""
    return rotation(q[3:6]).T @ (np.array(model().robot.limbs()[leg].foot.place) - q[:3])


def springs(kind: str, stiffness: float, damping: float) -> list[Law]:
    """A law a leg, at rest in the stand."""
    q = model().standing()
    if kind == "joint":
        return [
            JointImpedance(leg=leg, rest=tuple(joints_of(q, leg)), stiffness=stiffness, damping=damping) for leg in LEGS
        ]
    return [FootImpedance(leg=leg, rest=tuple(foot_of(q, leg)), stiffness=stiffness, damping=damping) for leg in LEGS]


def balancing() -> Constant:
    """Torques that hold the stand."""
    return Constant(values=tuple(map(float, model().static_torques(model().standing()))))


# Impedances of legs


@pytest.mark.parametrize("seed", range(3))
def test_joint_impedance(seed: int) -> None:
    """Torque = stiffness (rest − angle) − damping · rate, by the model's joint angles and their slopes."""
    q, v = states(seed)
    rest = (0.1, 0.5, -1.2)
    for leg in LEGS:
        law = JointImpedance(leg=leg, rest=rest, stiffness=170.0, damping=4.0)
        rates = slope(lambda s, leg=leg: joints_of(moved(q, v, s), leg))
        expected = 170.0 * (np.array(rest) - joints_of(q, leg)) - 4.0 * rates
        found = efforts(model(), [law], q, v)
        np.testing.assert_allclose([found.pop(f"{leg}.{joint}") for joint in JOINTS], expected, rtol=1e-9, atol=1e-8)
        assert set(found.values()) == {0.0}


def test_whole_turns_do_not_matter() -> None:
    """A rest angle and the same a turn further are the same spring."""
    q, v = states(0)
    near, far = (
        JointImpedance(leg="leg2", rest=(0.1 + turn, 0.5, -1.2 - turn), stiffness=170.0, damping=4.0)
        for turn in (0.0, 2 * np.pi)
    )
    assert efforts(model(), [near], q, v) == pytest.approx(efforts(model(), [far], q, v), abs=1e-11)


@pytest.mark.parametrize("damping", [0.0, 60.0])
@pytest.mark.parametrize("seed", range(3))
def test_foot_impedance_does_the_work_of_its_force(seed: int, damping: float) -> None:
    """The joints' power is that of the force on the foot, which moves as the torso sees it; for every motion."""
    q, v = states(seed)
    rest = np.array([0.12, 0.22, -0.38])
    for leg in LEGS:
        law = FootImpedance(leg=leg, rest=tuple(rest), stiffness=3000.0, damping=damping)
        torques = [efforts(model(), [law], q, v)[f"{leg}.{joint}"] for joint in JOINTS]
        velocity = slope(lambda s, leg=leg: foot_of(moved(q, v, s), leg))
        force = 3000.0 * (rest - foot_of(q, leg)) - damping * velocity
        for seen in (v, *np.eye(8)[:6]):  # virtual motions: the torques stay those of v
            rates = slope(lambda s, leg=leg, u=seen: joints_of(moved(q, u, s), leg))
            virtual = slope(lambda s, leg=leg, u=seen: foot_of(moved(q, u, s), leg))
            assert np.dot(torques, rates) == pytest.approx(float(force @ virtual), rel=1e-9, abs=1e-8)


@pytest.mark.parametrize("kind", ["joint", "foot"])
def test_impedance_by_quaternions(kind: str) -> None:
    """The laws see the same legs whatever the attitude is written in."""
    q, v = states(1)
    w = np.array([np.cos(q[5] / 2), 0.0, 0.0, np.sin(q[5] / 2)])
    q[3:5] = 0.0
    turned = np.concatenate([q[:3], w, q[6:]])
    laws = springs(kind, 2000.0, 50.0)
    expected = efforts(model(), laws, q, v)
    assert efforts(model("quaternion"), laws, turned, v) == pytest.approx(expected, rel=1e-12, abs=1e-10)


def poles(laws: list[Law]) -> Array:
    """Poles of the torso about the stand under laws [1/s]."""
    system = System(model(), laws, STILL)
    kernel, constants = system.kernel("derivative")
    start = system.state(model().standing(), np.zeros(8))

    def rates(x: Array) -> Array:
        rows = np.concatenate([np.zeros((len(x), 1)), x, np.zeros((len(x), system.efforts))], axis=1)
        return kernel(rows, constants)

    np.testing.assert_allclose(rates(start[None]), 0.0, atol=1e-12)
    return np.linalg.eigvals(slope(lambda s: rates(start + s * np.eye(system.size))).T)


def test_constant_torques_let_the_stand_fall() -> None:
    """Constant torques hold the stand, but it rolls over at 9.545 1/s (9.55 with g = 9.81), and pitches, and yaws."""
    found = poles([balancing()])
    assert found.real.max() == pytest.approx(9.5447, abs=1e-4)
    assert found.real.max() == pytest.approx(9.55 * (9.8 / 9.81) ** 0.5, abs=5e-3)
    assert (found.real > 1.0).sum() == 6


@pytest.mark.parametrize(("kind", "gains"), [("joint", (200.0, 5.0)), ("foot", (5000.0, 100.0))])
def test_impedance_makes_the_stand_stable(kind: str, gains: tuple[float, float]) -> None:
    """With springs and dampers on joints or feet all poles are on the left; with springs alone none is damped."""
    assert poles([balancing(), *springs(kind, *gains)]).real.max() < -1.0
    undamped = poles([balancing(), *springs(kind, gains[0], 0.0)])
    assert np.abs(undamped.real).max() < 1e-6 * np.abs(undamped).max()


@cache
def swaying(kind: str, damping: float) -> Run:
    """0.15 s on springs alone, from a push."""
    v = np.zeros(8)
    v[:6] = 0.2, -0.1, 0.1, 0.3, -0.4, 0.5
    laws = springs(kind, 400.0 if kind == "joint" else 8000.0, damping)
    return simulate(
        model(), (model().standing(), v), 0.15, control=laws, motions=STILL, samples=31, rtol=1e-11, atol=1e-12
    )


@pytest.mark.parametrize("kind", ["joint", "foot"])
def test_springs_keep_energy(kind: str) -> None:
    """Without damping, the energy of the robot and of ½ stiffness · stretch² of all springs stays."""
    run = swaying(kind, 0.0)
    assert run.stopped is None
    q = run.data["q"].to_numpy()
    rest = model().standing()
    stored = np.zeros(len(q))
    for leg in LEGS:
        place, stiffness = (joints_of, 400.0) if kind == "joint" else (foot_of, 8000.0)
        stretch = np.array([place(row, leg) for row in q]) - place(rest, leg)
        stored += 0.5 * stiffness * (stretch**2).sum(axis=1)
    total = run.data["kinetic_energy"] + run.data["gravitational_energy"] + stored
    assert np.ptp(stored) > 1.0
    np.testing.assert_allclose(total, total[0], rtol=0, atol=1e-8)
    assert run.energy_balance_error() < 1e-9


@pytest.mark.parametrize(("kind", "damping"), [("joint", 5.0), ("foot", 100.0)])
def test_energy_balance_with_dampers(kind: str, damping: float) -> None:
    """The work of the legs' motors is counted: the balance closes to 1e-9."""
    assert swaying(kind, damping).energy_balance_error() < 1e-9


# Cables


@pytest.mark.parametrize("seed", range(4))
def test_cables_give_the_moment_that_is_asked(seed: int) -> None:
    """On the straight tail every joint gets the moment that its segment asks for, and every cable pulls or is slack."""
    m, rng = usrt(), np.random.default_rng(seed)
    moves = [point_to_point(0.0, float(size), 0.06) for size in rng.uniform(-1.0, 1.0, size=4)]
    law = CurvatureTracking(limb="tail", pitch=tuple(moves[:2]), yaw=tuple(moves[2:]), kp=20.0, kd=0.4, stiffness=8.0)
    v = np.zeros(18)
    v[6:] = rng.normal(size=12)
    t = 0.03
    found = efforts(m, [law], m.standing(), v, t)
    tensions = np.array(list(found.values()))
    assert (tensions >= 0.0).all()
    given = dict(zip(m.velocity_names, m.actuation_matrix(m.standing()) @ tensions, strict=True))
    rate = dict(zip(m.velocity_names, v, strict=True))
    for angle, profiles in (("phi", law.pitch), ("theta", law.yaw)):
        for first, profile in zip((1, 4), profiles, strict=True):
            names = [f"tail.{angle}_{i} rate" for i in range(first, first + 3)]
            slow = profile.rate(t) - sum(rate[name] for name in names)
            asked = 20.0 * profile.value(t) + 0.4 * slow + 8.0 / 3 * profile.value(t)
            for name in names:
                assert given[name] == pytest.approx(asked, rel=1e-11, abs=1e-11)


def test_no_cable_ever_pushes_and_one_of_three_is_slack() -> None:
    """In a run tensions are ≥ 0 exactly, and of each segment's three one is exactly 0, each in its turn."""
    m = Model(liu2020("usrt").without("legs"), torso="fixed")
    round_about = [Sine(amplitude=0.5, period=0.08, phase=phase) for phase in (0.0, 1.0, np.pi / 2, 1.0 + np.pi / 2)]
    law = CurvatureTracking(
        limb="tail", pitch=tuple(round_about[:2]), yaw=tuple(round_about[2:]), kp=40.0, kd=1.0, stiffness=20.0
    )
    run = simulate(m, m.standing(), 0.12, control=law, method="dopri5", samples=2001)
    assert run.stopped is None
    pulls = run.data["tau"].to_numpy().reshape(-1, 2, 3)
    assert (pulls >= 0.0).all()
    assert (pulls.min(axis=2) == 0.0).all()
    assert (pulls.max(axis=0) > 10.0).all()
    for segment in (0, 1):
        assert set(pulls[:, segment].argmin(axis=1)) == {0, 1, 2}
    assert run.energy_balance_error() < 1e-5


def test_wrong_bends() -> None:
    """A limb that is not there, or has no such cables, and profiles that are too many or too few, are named."""
    m = usrt()
    q, v = m.standing(), np.zeros(18)
    one = (held(0.1),)
    with pytest.raises(UnknownNameError, match=r"limb: got 'tial'.*did you mean 'tail'"):
        efforts(m, [CurvatureTracking(limb="tial", pitch=one * 2, yaw=one * 2, kp=1.0, kd=1.0)], q, v)
    with pytest.raises(ArgumentError, match="limb: got 'leg1'; required: a limb of segments with three cables"):
        efforts(m, [CurvatureTracking(limb="leg1", pitch=one, yaw=one, kp=1.0, kd=1.0)], q, v)
    with pytest.raises(ArgumentError, match="pitch: got 3; required: a profile for each of the 2 segments"):
        efforts(m, [CurvatureTracking(limb="tail", pitch=one * 3, yaw=one * 3, kp=1.0, kd=1.0)], q, v)
    with pytest.raises(ArgumentError, match="yaw: got 1; required: as many profiles as for pitch, 2"):
        CurvatureTracking(limb="tail", pitch=one * 2, yaw=one, kp=1.0, kd=1.0)
    with pytest.raises(ArgumentError, match=r"kp: got -1\.0; required: .*not negative"):
        CurvatureTracking(limb="tail", pitch=one, yaw=one, kp=-1.0, kd=1.0)


# Constant and driven efforts


def test_named_constants() -> None:
    """Named actuators get their efforts, all others none."""
    q, v = states(0)
    law = Constant(values=(3.0, -2.0), actuators=("leg3.k", "leg1.ha"))
    found = efforts(model(), [law], q, v)
    assert (found.pop("leg3.k"), found.pop("leg1.ha")) == (3.0, -2.0)
    assert set(found.values()) == {0.0}


@pytest.mark.parametrize(
    ("law", "said"),
    [
        (Constant(values=(1.0,), actuators=("leg1.ha", "leg1.k")), "values: got 1; required: 2 efforts, for leg1.ha"),
        (Constant(values=(1.0,), actuators=("leg1.kk",)), "actuator: got 'leg1.kk'.*did you mean 'leg1.k'"),
        (Driven(actuator="leg5.k", profile=Sine(amplitude=1.0, period=1.0)), "actuator: got 'leg5.k'.*did you mean"),
        (Driven(actuator="tail.ta", profile=held(1.0)), "actuator: got 'tail.ta'"),  # prescribed: no actuator
        (JointImpedance(leg="leg5", rest=(0.0,) * 3, stiffness=1.0, damping=1.0), "'leg5'.*a known leg"),
        (JointImpedance(leg="leg1", rest=(0.0,) * 2, stiffness=1.0, damping=1.0), "rest: got .*3 angles, one a joint"),
        (FootImpedance(leg="tail", rest=(0.0,) * 3, stiffness=1.0, damping=1.0), "'tail'.*a known leg"),
    ],
    ids=["count", "actuator", "driven", "prescribed", "leg", "rest", "tail"],
)
def test_wrong_laws(law: Law, said: str) -> None:
    """What the robot does not have is named, with the nearest that it has."""
    with pytest.raises(ArgumentError, match=said):
        efforts(model(), [law], *states(0))


def test_the_same_actuator_twice() -> None:
    """An actuator named twice is refused."""
    with pytest.raises(ArgumentError, match="names that differ"):
        Constant(values=(3.0, -2.0), actuators=("leg3.k", "leg3.k"))


@pytest.mark.parametrize(("tail", "coordinate"), [("pendulum", "tb"), ("r3", "alpha"), ("r3", "beta_2")])
def test_tracking_gives_the_torque_that_is_asked(tail: str, coordinate: str) -> None:
    """The coordinate gets kp (desired − q) + kd (desired rate − rate), through a pulley too, and no other gets any."""
    m = Model(liu2020(tail))
    profile = Sine(amplitude=0.3, period=0.2, phase=0.5)
    q, v, t = m.standing(), np.zeros(len(m.velocity_names)), 0.04
    k = m.coordinate_names.index(f"tail.{coordinate}")
    q[k], v[k] = 0.1, -0.7
    law = Tracking(limb="tail", coordinate=coordinate, profile=profile, kp=30.0, kd=2.0)
    force = m.actuation_matrix(q) @ np.array(list(efforts(m, [law], q, v, t).values()))
    expected = np.zeros_like(v)
    expected[k] = 30.0 * (profile.value(t) - 0.1) + 2.0 * (profile.rate(t) + 0.7)
    np.testing.assert_allclose(force, expected, rtol=0, atol=1e-12)


def test_driven() -> None:
    """A driven actuator follows its profile, on top of others."""
    q, v = states(0)
    law = Driven(actuator="leg2.k", profile=Polynomial(coefficients=(1.0, 2.0)))
    held_up = Constant(values=(0.5,), actuators=("leg2.k",))
    assert efforts(model(), [law, held_up], q, v, t=0.3)["leg2.k"] == pytest.approx(2.1, abs=1e-15)


def test_rounding_does_not_choose_the_loose_cable() -> None:
    """Where two cables are loose, tensions and their derivatives are the same whichever is so by rounding; elsewhere
    one pulls with nothing, and all give the moment."""
    angles = np.radians([30.0, 150.0, 270.0])
    arms = 0.03 * np.array([np.sin(angles), np.cos(angles)])
    tape = Tape()
    moment = tape.inputs(2, 0)
    pulls = two_of_three(array(arms.tolist()), array(list(moment)))
    slopes = [x for row in jacobian(tape, pulls, moment) for x in row]
    kernel = Kernel(finished(tape, [*pulls, *slopes], 2, 0))
    moments = np.array([[-0.5, -1e-16], [-0.5, 0.0], [-0.5, 1e-16], [0.4, 0.3], [-0.2, -0.6], [0.1, 0.5]])
    found = kernel(moments, kernel.constants(np.zeros(0)))
    tensions, by_moment = found[:, :3], found[:, 3:]  # a slope jumps by 38 N/(N m) where the loose cable changes
    np.testing.assert_allclose(tensions[[0, 2]], tensions[[1, 1]], rtol=0, atol=1e-13)
    np.testing.assert_allclose(by_moment[[0, 2]], by_moment[[1, 1]], rtol=0, atol=1e-3)
    np.testing.assert_allclose(tensions @ arms.T, moments, rtol=0, atol=1e-13)
    assert (tensions >= 0.0).all() and (tensions.min(axis=1) <= LOOSE).all()
