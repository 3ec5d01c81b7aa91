"""Laws by inverse dynamics: tracking errors obey their own linear equation, and the open loop of 2018, Sect. 4.2."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from oracles.layout import Array
from tailwork.control import ComputedTorque, Constant, FeedForward, Polynomial, Sine, held
from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.model import Model
from tailwork.model.model import LIU2018_REDUNDANT
from tailwork.papers.liu2018.experiments import desired
from tailwork.robots import liu2018, liu2020
from tailwork.simulation import Run, simulate
from tailwork.simulation.system import System

KP, KD = 400.0, 40.0
MOTION = desired()
NONE = (0.0,) * len(LIU2018_REDUNDANT)
SOME = (2.0, -1.0, 0.5, 3.0, -2.5, 1.5)
ALLOCATIONS: dict[str, dict[str, Any]] = {
    "minimum norm": {},
    "redundant none": {"redundant": LIU2018_REDUNDANT, "redundant_efforts": NONE},
    "redundant some": {"redundant": LIU2018_REDUNDANT, "redundant_efforts": SOME},
}
allocations = pytest.mark.parametrize("given", ALLOCATIONS.values(), ids=ALLOCATIONS.keys())


@cache
def model() -> Model:
    """The 2018 quadruped."""
    return Model(liu2018())


def law(kind: type[ComputedTorque] | type[FeedForward], **more: Any) -> ComputedTorque | FeedForward:
    """A law for the pitch motion of Sect. 4.2."""
    return kind(**({"coordinates": tuple(MOTION), "profiles": tuple(MOTION.values())} | more))


def wanted(times: Array) -> tuple[Array, Array, Array]:
    """q, v and a of the motion; phi_x alone turns, so omega is phi-dot."""
    found = [MOTION[name] for name in model().coordinate_names]
    q, v, a = (
        np.array([[getattr(p, what)(float(t)) for p in found] for t in times])
        for what in ("value", "rate", "acceleration")
    )
    return q, v, a


def off_by(run: Run) -> tuple[Array, Array]:
    """Times, and how far each angle is from where it should be [deg]."""
    times = run.data["time"].to_numpy()
    return times, np.degrees(run.data["q"].to_numpy() - wanted(times)[0])[:, 3:]


def efforts(m: Model, what: Any, t: float, q: Array, v: Array) -> Array:
    """What a law gives at a time in a state."""
    system = System(m, [what])
    return system.full(np.array([t]), system.state(q, v)[None], np.zeros((1, system.efforts)))[2][0]


# Computed torque


@allocations
def test_errors_obey_their_equation(given: dict[str, Any]) -> None:
    """e-ddot + kd e-dot + kp e = 0: from rest and aside, errors are (e0 + (e0-dot + 20 e0) t) exp(−20 t) exactly."""
    q = model().standing()
    aside = np.array([0.01, -0.008, 0.006, 0.03, -0.04, 0.05, 0.1, -0.2])
    control = law(ComputedTorque, kp=KP, kd=KD, **given)
    run = simulate(model(), q + aside, 0.3, control=control, rtol=1e-11, atol=1e-12, samples=61, events=())
    assert run.stopped is None
    times = run.data["time"].to_numpy()[:, None]
    first, rates = wanted(np.zeros(1))[:2]
    e0, pace = q + aside - first[0], -rates[0]
    expected = (e0 + (pace + 20.0 * e0) * times) * np.exp(-20.0 * times)
    found = run.data["q"].to_numpy() - wanted(times[:, 0])[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    assert np.abs(expected[0]).max() > 0.1 and np.abs(expected[-1]).max() < 0.02
    assert run.energy_balance_error() < 1e-9


@allocations
def test_computed_torque_is_inverse_dynamics(given: dict[str, Any]) -> None:
    """Where omega is phi-dot, its efforts are the model's inverse dynamics of the corrected acceleration."""
    m, t = model(), 0.07
    control = law(ComputedTorque, kp=KP, kd=KD, **given)
    q, v, a = (x[0] for x in wanted(np.array([t])))
    q, v = q.copy(), v.copy()
    q[[0, 2, 3, 6, 7]] += 0.01, -0.02, 0.05, 0.1, -0.1
    v[[1, 3, 7]] += 0.1, 0.5, -0.3
    corrected = a + KP * (wanted(np.array([t]))[0][0] - q) + KD * (wanted(np.array([t]))[1][0] - v)
    redundant = dict(zip(given["redundant"], given["redundant_efforts"], strict=True)) if given else None
    expected = m.inverse_dynamics(q, v, corrected, redundant=redundant)
    found = efforts(m, control, t, q, v)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    for name, effort in (redundant or {}).items():
        assert found[m.actuator_names.index(name)] == effort


def test_smallest_efforts() -> None:
    """Without given ones, no efforts that do the same are smaller: they lie in the range of the transposed map."""
    m, t = model(), 0.07
    q, v, _ = (x[0] for x in wanted(np.array([t])))
    found = efforts(m, law(ComputedTorque, kp=KP, kd=KD), t, q, v)
    _, _, rows = np.linalg.svd(m.actuation_matrix(q))
    np.testing.assert_allclose(rows[8:] @ found, 0.0, atol=1e-10)


# Feed-forward, 2018, Sect. 4.2


@cache
def open_loop(matched: bool) -> Run:
    """0.2 s of the inverse model's torques, from the desired velocity or from rest, by RK4 with steps of 0.1 ms."""
    q, v, _ = (x[0] for x in wanted(np.zeros(1)))
    control = law(FeedForward, **ALLOCATIONS["redundant none"])
    return simulate(model(), (q, v if matched else 0.0 * v), 0.2, control=control, method="rk4", step=1e-4)


def test_inverse_then_forward() -> None:
    """From the desired velocity the open loop tracks the pitch motion to 3e-7 degrees at 0.2 s."""
    times, off = off_by(open_loop(matched=True))
    assert times[-1] == 0.2
    assert np.abs(off[-1]).max() < 3e-7


def test_feed_forward_is_inverse_dynamics_of_the_motion() -> None:
    """Without gains the torques are those of the desired motion, wherever the robot is."""
    run = open_loop(matched=False)
    times = run.data["time"].to_numpy()[::40]
    expected = model().inverse_dynamics(*wanted(times), redundant=dict.fromkeys(LIU2018_REDUNDANT, 0.0))
    np.testing.assert_allclose(run.data["tau"].to_numpy()[::40], expected, rtol=1e-9, atol=1e-9)


def test_open_loop_from_rest() -> None:
    """From rest, 1.83 rad/s short of the desired motion, it is 10.3° off at 50 ms and fails before 150 ms."""
    assert wanted(np.zeros(1))[1][0, 3] == pytest.approx(1.83, abs=5e-3)
    run = open_loop(matched=False)
    assert run.trajectory is not None and run.stopped is not None
    q = run.trajectory.full(np.array([0.05]))[0][0]
    off = np.degrees(np.abs(q - wanted(np.array([0.05]))[0][0])[3:].max())
    assert off == pytest.approx(10.3, abs=0.05)
    assert run.stopped.time < 0.15
    assert "nearly straight" in run.stopped.reason


def test_feedback_brings_compensation_down() -> None:
    """With feedback (400, 40) what it adds to the inverse model falls: above 200 N m at 0.05 s, below 3 at 0.6 s."""
    q = wanted(np.zeros(1))[0][0]
    control = law(FeedForward, kp=KP, kd=KD, **ALLOCATIONS["redundant none"])
    run = simulate(model(), q, 0.7, control=control, samples=701)
    assert run.stopped is None
    times = run.data["time"].to_numpy()
    required = model().inverse_dynamics(*wanted(times), redundant=dict.fromkeys(LIU2018_REDUNDANT, 0.0))
    added = np.abs(run.data["tau"].to_numpy() - required).max(axis=1)
    assert added[50] > 200.0
    assert added[300:].max() < 20.0
    assert added[600] < 3.0


# Where they cannot


def test_prescribed_limbs_need_no_effort() -> None:
    """With the tail prescribed, the legs do the rest: errors of the torso still obey their equation, whatever the tail
    does."""
    m = Model(liu2018(), prescribed=("tail",))
    own = {name: profile for name, profile in MOTION.items() if not name.startswith("tail.")}
    control = ComputedTorque(coordinates=tuple(own), profiles=tuple(own.values()), kp=KP, kd=KD)
    pitch, q, efforts_of = MOTION["phi_x"], m.standing(), []
    for amplitude in (-0.2, 0.5):
        swing = {"ta": held(0.0), "tb": Sine(amplitude=amplitude, period=0.3)}
        run = simulate(
            m, q, 0.2, control=control, motions={"tail": swing}, rtol=1e-11, atol=1e-12, samples=21, events=()
        )
        times = run.data["time"].to_numpy()
        expected = -pitch.rate(0.0) * times * np.exp(-20.0 * times)
        found = run.data["q"].sel(coordinate="phi_x") - [pitch.value(float(t)) for t in times]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
        np.testing.assert_allclose(run.data["q"].to_numpy()[:, [0, 1, 2, 4, 5]] - q[[0, 1, 2, 4, 5]], 0.0, atol=1e-10)
        efforts_of.append(run.data["tau"].to_numpy())
    assert np.abs(efforts_of[1] - efforts_of[0]).max() > 1.0  # the legs answer the tail


@pytest.mark.parametrize("kind", [ComputedTorque, FeedForward])
def test_prescribed_coordinates_are_not_desired(kind: type[ComputedTorque] | type[FeedForward]) -> None:
    """What they do is imposed: a profile for one of them is refused."""
    m = Model(liu2018(), prescribed=("tail",))
    swing = {"tail": {"ta": held(0.0), "tb": held(0.0)}}
    required = r"coordinates: got 'tail\.ta'; required: a known coordinate that is not prescribed"
    with pytest.raises(UnknownNameError, match=required):
        simulate(m, m.standing(), 0.01, control=law(kind), motions=swing)


def test_feed_forward_with_a_prescribed_tail() -> None:
    """From the desired velocity, the open loop tracks the own coordinates, the tail moving as imposed."""
    m = Model(liu2018(), prescribed=("tail",))
    own = {name: MOTION[name] for name in m.coordinate_names[:6]}
    control = FeedForward(coordinates=tuple(own), profiles=tuple(own.values()))
    swing = {"ta": held(0.0), "tb": Sine(amplitude=-0.2, period=0.3)}
    q, v = m.standing(), np.zeros(8)
    for k, name in enumerate(own):
        q[k], v[k] = own[name].value(0.0), own[name].rate(0.0)
    v[7] = swing["tb"].rate(0.0)
    run = simulate(m, (q, v), 0.1, control=control, motions={"tail": swing}, rtol=1e-11, atol=1e-12, events=())
    times = run.data["time"].to_numpy()
    wanted_q = np.array([[own[name].value(float(t)) for name in own] for t in times])
    np.testing.assert_allclose(run.data["q"].to_numpy()[:, :6], wanted_q, rtol=0, atol=1e-8)


@pytest.mark.parametrize("kind", [ComputedTorque, FeedForward])
def test_wrong_use(kind: type[ComputedTorque] | type[FeedForward]) -> None:
    """Quaternions, cables, and coordinates or actuators that are missing or unknown are named."""

    def tried(m: Model, **more: Any) -> None:
        simulate(m, m.standing(), 0.01, control=law(kind, **more))

    still = held(0.0)
    names = tuple(MOTION)
    with pytest.raises(ArgumentError, match=r"control: got 'quaternion'; required: an attitude of angles \('rpy'\)"):
        tried(Model(liu2018(), attitude="quaternion"))
    with pytest.raises(ArgumentError, match=r"coordinates: got .*every coordinate of the model; y is missing"):
        tried(model(), coordinates=tuple(n for n in names if n != "y"), profiles=(still,) * 7)
    with pytest.raises(UnknownNameError, match=r"coordinates: got 'tail\.tc'.*did you mean 'tail\.tb'"):
        tried(model(), coordinates=(*names, "tail.tc"), profiles=(still,) * 9)
    with pytest.raises(ArgumentError, match="profiles: got 2; required: as many as coordinates, 8"):
        law(kind, profiles=(still, still))
    cables = Model(liu2020("usrt"))
    with pytest.raises(ArgumentError, match=r"control: got .*a robot without cables: they can only pull"):
        tried(cables, coordinates=cables.coordinate_names, profiles=(still,) * 18)
    with pytest.raises(ArgumentError, match=r"redundant: got .*6 of the 14 actuators, so that 8 are left"):
        tried(model(), redundant=("leg3.ha",), redundant_efforts=(0.0,))
    with pytest.raises(UnknownNameError, match=r"redundant: got 'leg3\.hc'.*did you mean"):
        tried(model(), redundant=("leg3.hc", *LIU2018_REDUNDANT[1:]), redundant_efforts=NONE)
    with pytest.raises(ArgumentError, match=r"redundant_efforts: got \(0\.0,\); required: 6 efforts"):
        law(kind, redundant=LIU2018_REDUNDANT, redundant_efforts=(0.0,))
    with pytest.raises(ArgumentError, match=r"kd: got -1\.0; required: .*not negative"):
        law(kind, kd=-1.0)


@pytest.mark.parametrize("stance", ["none", ("leg1",)], ids=["aloft", "one leg"])
def test_too_few_actuators(stance: Any) -> None:
    """A robot with fewer actuators than velocities cannot do every motion, which is said."""
    m = Model(liu2018(), stance)
    still = tuple(held(float(x)) for x in m.standing())
    control = ComputedTorque(coordinates=m.coordinate_names, profiles=still, kp=KP, kd=KD)
    with pytest.raises(ArgumentError):
        System(m, [control]).kernel("expand")


def test_actuators_that_cannot_be_solved_for() -> None:
    """In the 2020 stance the eight actuators of the 2018 paper are singular: the run does not begin."""
    m = Model(liu2020("pendulum"))
    still = tuple(held(float(x)) for x in m.standing())
    eight = {"redundant": LIU2018_REDUNDANT, "redundant_efforts": (0.0,) * len(LIU2018_REDUNDANT)}
    control = ComputedTorque(coordinates=m.coordinate_names, profiles=still, kp=KP, kd=KD, **eight)
    with pytest.raises(ArgumentError, match="singular"):
        simulate(m, m.standing(), 0.01, control=control)


def test_names_given_twice() -> None:
    """A coordinate named twice is refused."""
    with pytest.raises(ArgumentError, match="names that differ"):
        ComputedTorque(coordinates=("x", "x"), profiles=(held(0.0), held(1.0)))


def test_on_top_of_others() -> None:
    """Efforts of other laws are added; computed torque does not know of them."""
    q, v, _ = (x[0] for x in wanted(np.zeros(1)))
    control = law(ComputedTorque, kp=KP, kd=KD)
    more = Constant(values=(5.0,), actuators=("tail.ta",))
    system = System(model(), [control, more])
    both = system.full(np.zeros(1), system.state(q, v)[None], np.zeros((1, system.efforts)))[2][0]
    expected = efforts(model(), control, 0.0, q, v)
    expected[model().actuator_names.index("tail.ta")] += 5.0
    np.testing.assert_allclose(both, expected, rtol=1e-13, atol=1e-13)


def test_a_motion_that_turns_everywhere() -> None:
    """With roll, pitch and yaw all moving the errors of the angles, not of omega, obey the equation."""
    m = Model(liu2020("pendulum"))
    swings = [Sine(amplitude=0.1 + 0.02 * k, period=0.4 + 0.1 * k, phase=float(k)) for k in range(5)]
    motion = {"x": held(0.0), "y": held(0.0), "z": Polynomial(coefficients=(0.4, 0.05))}
    motion |= dict(zip(("phi_x", "phi_y", "phi_z", "tail.ta", "tail.tb"), swings, strict=True))
    control = ComputedTorque(coordinates=tuple(motion), profiles=tuple(motion.values()), kp=KP, kd=KD)
    q = np.array([motion[name].value(0.0) for name in m.coordinate_names])
    run = simulate(m, q, 0.15, control=control, rtol=1e-11, atol=1e-12, samples=16, events=())
    assert run.stopped is None
    times = run.data["time"].to_numpy()
    rates = np.array([motion[name].rate(0.0) for name in m.coordinate_names])
    expected = -rates * (times * np.exp(-20.0 * times))[:, None]
    found = run.data["q"].to_numpy() - [[motion[n].value(float(t)) for n in m.coordinate_names] for t in times]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
