"""Trajectories: those of independent engines and integrators, energy accounted for, the same bits every time."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from oracles.layout import Array
from oracles.mujoco_oracle import MujocoOracle
from oracles.pinocchio_oracle import PinocchioOracle
from tailwork.control import Constant, PiecewiseCubic, Polynomial, Sine, Tracking, held, point_to_point
from tailwork.control.profiles import Profiles
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import Run, simulate
from tailwork.simulation.integrate.choose import chosen_method
from tailwork.simulation.problem import problem_of
from tailwork.simulation.simulate import initial_state

ALL = ("leg1", "leg2", "leg3", "leg4")
TIGHT = {"rtol": 1e-11, "atol": 1e-12}


@cache
def model_of(tail: str) -> Model:
    """The 2020 quadruped with a tail."""
    return Model(liu2020(tail))


def start(tail: str) -> tuple[Array, Array, Array]:
    """q, v and constant efforts: the stand, the tail bent and moving, the torso drifting, torques near rest."""
    model = model_of(tail)
    q = model.standing()
    v = np.zeros_like(q)
    held = np.asarray(model.allocation(q, v, v).efforts).copy()
    v[:6] = 0.02, -0.03, -0.03, 0.08, -0.05, 0.06
    count = len(q) - 6
    q[6:] = 0.05 * np.cos(np.arange(count))
    v[6:] = {"pendulum": 2.0, "r3": 0.5, "usrt": 0.6}[tail] * np.sin(1.0 + np.arange(count))
    held[12:] += {"pendulum": 0.3, "r3": 0.05, "usrt": 8.0}[tail] * (1.0 + np.cos(np.arange(len(held) - 12)))
    held[:12] *= 1.01
    return q, v, held


@cache
def run_of(tail: str, duration: float = 0.3, method: str = "auto", tight: bool = True, samples: int = 201) -> Run:
    """A run from `start`, at tight or at default tolerances."""
    q, v, held = start(tail)
    tolerances = ({"rtol": 1e-9, "atol": 1e-10} if tail == "usrt" else TIGHT) if tight else {}
    law = Constant(values=tuple(held))
    return simulate(model_of(tail), (q, v), duration, control=law, method=method, samples=samples, **tolerances)


def integrated(oracle: PinocchioOracle, tail: str, duration: float, **options: object) -> Array:
    """[q, v] at the end by SciPy with another engine's accelerations, in roll, pitch and yaw."""
    q, v, held = start(tail)
    n = len(q)

    def slope(t: float, y: Array) -> Array:
        return np.concatenate([oracle.layout.rates(y[:n], y[n:]), oracle.accelerations(y[:n], y[n:], held)[0]])

    solution = solve_ivp(slope, (0.0, duration), np.concatenate([q, v]), **options)
    assert solution.success
    return solution.y[:, -1]


def end_of(run: Run) -> Array:
    """[q, v] at the end."""
    q, v, _, _ = run.trajectory.full(np.array([run.duration]))
    return np.concatenate([q[0], v[0]])


# Other engines


@pytest.mark.measured("methods")
@pytest.mark.parametrize("tail", ["pendulum", "r3"])
def test_pinocchio(measured: Callable[..., None], tail: str) -> None:
    """0.3 s are those of Pinocchio's accelerations in DOP853 to 1e-9."""
    run = run_of(tail)
    assert run.stopped is None
    expected = integrated(PinocchioOracle(liu2020(tail), ALL), tail, 0.3, method="DOP853", rtol=1e-11, atol=1e-12)
    apart = np.abs(end_of(run) - expected).max()
    measured(f"0.3 s, {tail}, beside Pinocchio's accelerations and DOP853", apart, at_most=1e-9)


def test_pinocchio_stiff() -> None:
    """0.02 s of the USRT by the stiff method are those of Pinocchio's accelerations in SciPy's Radau to 1e-7.

    Radau's iteration is given our Jacobian, which costs nothing; the equations that it solves are Pinocchio's alone.
    """
    model, held, n = model_of("usrt"), start("usrt")[2], 18

    def slopes(y: Array) -> Array:
        q, v = y[:, :n], y[:, n:]
        return np.concatenate([model.coordinate_rates(q, v), model.forward_dynamics(q, v, held)], axis=1)

    def jac(t: float, y: Array) -> Array:
        aside = 1e-6 * np.eye(2 * n)
        return (slopes(y + aside) - slopes(y - aside)).T / 2e-6

    run = run_of("usrt", method="rodas5p")
    assert run.stopped is None and run.trajectory is not None
    oracle = PinocchioOracle(liu2020("usrt"), ALL)
    expected = integrated(oracle, "usrt", 0.02, method="Radau", jac=jac, rtol=1e-6, atol=1e-8)
    assert np.abs(run.trajectory.states(np.array([0.02]))[0][0] - expected).max() < 1e-7


@pytest.mark.measured("methods")
@pytest.mark.parametrize("tail", ["pendulum", "r3", "usrt"])
def test_mujoco(measured: Callable[..., None], tail: str) -> None:
    """0.3 s, of the USRT 0.1 s, are those of MuJoCo's own RK4 with soft feet and gears, all joints integrated, to 1e-6.

    Steps of 0.1 ms leave 2e-7 to its integrator and constraints.
    """
    duration, method = (0.1, "rodas5p") if tail == "usrt" else (0.3, "auto")
    run = run_of(tail, method=method)
    assert run.stopped is None and run.trajectory is not None
    expected = MujocoOracle(liu2020(tail), ALL).motion(*start(tail), duration, 1e-4)
    found = np.concatenate(run.trajectory.full(np.array([duration]))[:2], axis=1)[0]
    apart = np.abs(found - np.concatenate(expected)).max()
    measured(f"{duration} s, {tail}, beside MuJoCo's own RK4 in steps of 0.1 ms", apart, at_most=1e-6)


def test_explicit_and_stiff_agree_on_the_usrt() -> None:
    """0.02 s of the USRT by both families of methods agree to 1e-9."""
    both = [end_of(run_of("usrt", 0.02, method)) for method in ("dopri5", "rodas5p")]
    assert np.abs(both[0] - both[1]).max() < 1e-9


@pytest.mark.measured("methods")
@pytest.mark.parametrize("tail", ["pendulum", "r3", "usrt"])
def test_default_tolerance(measured: Callable[..., None], tail: str) -> None:
    """At the default tolerance the state after 0.3 s is right to 1e-4."""
    apart = np.abs(end_of(run_of(tail, tight=False)) - end_of(run_of(tail))).max()
    measured(f"0.3 s, {tail}, at the default tolerance beside a tight one", apart, at_most=1e-4)


# The choice of a method


def test_auto_takes_the_stiff_method_for_the_usrt() -> None:
    """The USRT is stiff: auto takes rodas5p and says by how much."""
    run = run_of("usrt", tight=False)
    assert run.method == "rodas5p"
    assert re.fullmatch(r"stiffness \S+, stiff above 80", run.why_method)
    assert f"by rodas5p ({run.why_method})" in run.summary()


def test_auto_takes_the_explicit_method_for_a_prescribed_pendulum() -> None:
    """The prescribed pendulum is not stiff: auto takes dopri5."""
    run = swinging(None)
    assert run.method == "dopri5"
    assert re.fullmatch(r"spectral radius times duration at most \S+, below 300", run.why_method)


@pytest.mark.parametrize("duration", [0.3, 1000.0])
def test_an_undamped_swing_is_not_stiff_however_long(duration: float) -> None:
    """What a run is judged by is the same for every duration but very short ones: a swing is explicit, a pendulum on
    hard dampers is stiff."""
    model = Model(liu2020("pendulum").without("legs"), "none", torso="fixed")
    swing = problem_of(model, np.array([0.5, 0.3]), duration)
    law = Tracking(limb="tail", coordinate="tb", profile=Polynomial(coefficients=(0.0,)), kp=1000.0, kd=200.0)
    damped = problem_of(model, np.array([0.5, 0.3]), duration, control=law)
    found = []
    for problem in (swing, damped):
        system = problem.system()
        x = initial_state(problem, system)
        found.append(chosen_method(system, "auto", None, x, np.zeros(system.control_inputs), duration)[0].name)
    assert found == ["dopri5", "rodas5p"]
    system, x = damped.system(), initial_state(damped, damped.system())
    method, why = chosen_method(system, "auto", None, x, np.zeros(system.control_inputs), 0.01)
    assert method.name == "dopri5" and re.fullmatch(r"spectral radius times duration at most \S+, below 300", why)


def test_method_as_asked() -> None:
    """A method that was asked for is taken, and the run says so."""
    run = run_of("pendulum", 0.05, "rodas5p")
    assert (run.method, run.why_method) == ("rodas5p", "as requested")


# Energy


@pytest.mark.parametrize(("method", "step", "order"), [("rk4", 0.005, 4), ("dopri5", 0.01, 5), ("rodas5p", 0.01, 5)])
def test_energy_balance_falls_at_the_order(method: str, step: float, order: int) -> None:
    """Work in less dissipation is the energy gained, up to an error that falls at the method's order or faster."""
    q, v, held = start("pendulum")
    law = Constant(values=tuple(held))
    errors = [
        simulate(model_of("pendulum"), (q, v), 0.2, control=law, method=method, step=h).energy_balance_error()
        for h in (step, step / 2)
    ]
    assert np.log2(errors[0] / errors[1]) > order - 0.3, errors


@pytest.mark.parametrize("tail", ["pendulum", "r3", "usrt"])
def test_energy_balance_closes(tail: str) -> None:
    """At tight tolerances the energy balance closes to 1e-9, dissipation in the USRT's disks included."""
    assert run_of(tail).energy_balance_error() < 1e-9


def test_energy_balance_of_a_prescribed_tail() -> None:
    """The work of the efforts that move a prescribed tail is counted."""
    run = swinging(None)
    assert float(run.data["power"].sel(source=["tail.ta", "tail.tb"]).max()) > 10.0
    assert run.energy_balance_error() < 1e-9


def test_free_fall() -> None:
    """Off the ground the centre of mass falls on a parabola and angular momentum stays, to 1e-10."""
    model = Model(liu2020("pendulum"), "none")
    q = model.standing()
    v = 0.5 * np.sin(np.arange(len(model.velocity_names)))
    run = simulate(model, (q, v), 0.3, rtol=1e-12, atol=1e-13)
    angular = run.data["angular_momentum"].to_numpy()
    assert np.abs(angular - angular[0]).max() < 1e-10
    t = run.data["time"].to_numpy()
    com = model.center_of_mass(run.data["q"].to_numpy())
    mass = 12.0 + 8 * 1.2 + 1.0
    speed = run.data["linear_momentum"].to_numpy()[0] / mass
    fall = com[0] + speed * t[:, None] + np.array([0.0, 0.0, -0.5 * 9.8]) * t[:, None] ** 2
    assert np.abs(com - fall).max() < 1e-10
    assert run.energy_balance_error() < 1e-10


def test_attitudes_agree() -> None:
    """A run with a quaternion is the same motion as one with roll, pitch and yaw, to 1e-9; its norm stays."""
    q, v, held = start("pendulum")
    model = Model(liu2020("pendulum"), attitude="quaternion")
    turned = np.concatenate([q[:3], [1.0, 0.0, 0.0, 0.0], q[6:]])
    law = Constant(values=tuple(held))
    run = simulate(model, (turned, v), 0.3, control=law, **TIGHT)
    other = run_of("pendulum")
    np.testing.assert_allclose(run.data["points"], other.data["points"], atol=1e-9)
    np.testing.assert_allclose(run.data["v"], other.data["v"], atol=1e-8)
    assert np.abs(np.linalg.norm(run.data["q"].to_numpy()[:, 3:7], axis=1) - 1.0).max() < 1e-10


# The same every time


@pytest.mark.parametrize("tail", ["pendulum", "usrt"])
def test_same_bits(tail: str) -> None:
    """The same call gives the same bits."""
    first = run_of(tail, tight=False)
    again = run_of.__wrapped__(tail, tight=False)
    for name in first.data.data_vars:
        np.testing.assert_array_equal(first.data[name], again.data[name])


def test_samples_do_not_matter() -> None:
    """How many samples are kept changes neither steps nor states."""
    few, many = run_of("pendulum", tight=False, samples=11), run_of("pendulum", tight=False, samples=101)
    np.testing.assert_array_equal(few.trajectory.times, many.trajectory.times)
    np.testing.assert_allclose(few.data["time"], many.data["time"][::10], rtol=1e-15)
    np.testing.assert_allclose(few.data["q"], many.data["q"][::10], rtol=1e-13, atol=1e-15)


# Prescribed tails


SWING = {"ta": Sine(amplitude=0.4, period=0.5), "tb": Sine(amplitude=0.3, period=0.4, phase=1.0)}


@cache
def swinging(kp: float | None) -> Run:
    """0.2 s with the tail prescribed (None), or driven to the same motion by PD of this stiffness."""
    legs = start("pendulum")[2][:12]
    if kp is None:
        model = Model(liu2020("pendulum"), prescribed=("tail",))
        return simulate(
            model, model.standing(), 0.2, control=Constant(values=tuple(legs)), motions={"tail": SWING}, **TIGHT
        )
    model = model_of("pendulum")
    q = model.standing()
    v = np.zeros_like(q)
    for k, profile in enumerate(SWING.values()):
        q[6 + k], v[6 + k] = profile.value(0.0), profile.rate(0.0)
    laws = [Tracking(limb="tail", coordinate=name, profile=p, kp=kp, kd=0.6 * kp**0.5) for name, p in SWING.items()]
    held = Constant(values=(*legs, 0.0, 0.0))
    return simulate(model, (q, v), 0.2, control=(held, *laws), rtol=1e-10, atol=1e-12)


def test_prescribed_motion_is_followed() -> None:
    """A prescribed tail is where its profile says, at its rate and with its acceleration, exactly."""
    run = swinging(None)
    for t, row in zip(run.data["time"].to_numpy()[::50], range(0, 201, 50), strict=True):
        for name, profile in SWING.items():
            at = run.data.isel(time=row)
            assert float(at["q"].sel(coordinate=f"tail.{name}")) == pytest.approx(profile.value(t), abs=1e-15)
            assert float(at["v"].sel(velocity=f"tail.{name} rate")) == pytest.approx(profile.rate(t), abs=1e-14)
            acceleration = float(at["acceleration"].sel(velocity=f"tail.{name} rate"))
            assert acceleration == pytest.approx(profile.acceleration(t), abs=1e-12)


def test_prescribed_is_the_limit_of_stiff_control() -> None:
    """PD control comes to the prescribed motion as 1/kp: ten times stiffer, ten times nearer."""
    exact = swinging(None).data["q"].to_numpy()[:, :6]
    off = [float(np.abs(swinging(kp).data["q"].to_numpy()[:, :6] - exact).max()) for kp in (1e4, 1e5)]
    assert off[1] < 3e-5
    assert 7.0 < off[0] / off[1] < 14.0


def test_prescribed_efforts_reproduce_the_motion() -> None:
    """The efforts that a prescribed tail is found to need, given to a free tail, accelerate it as prescribed."""
    run = swinging(None)
    at = run.data.isel(time=100)
    tau = np.concatenate([at["tau"].to_numpy(), at["prescribed_effort"].to_numpy()])
    found = model_of("pendulum").forward_dynamics(at["q"].to_numpy(), at["v"].to_numpy(), tau)
    np.testing.assert_allclose(found, at["acceleration"].to_numpy(), rtol=1e-11, atol=1e-11)


CUBIC = Polynomial(coefficients=(0.0, 0.0, 0.7 * 3 / 0.2**2, -0.7 * 2 / 0.2**3))


@pytest.mark.parametrize(
    "profile",
    [point_to_point(0.0, 0.7, 0.2), PiecewiseCubic(times=(0.0, 0.2), values=(0.0, 0.7))],
    ids=["point to point", "curve"],
)
def test_motions_as_long_as_the_run(profile: Profiles) -> None:
    """A motion that starts or ends with the run is integrated as the cubic that it is, at the order of the method."""
    model = Model(liu2020("pendulum"), prescribed=("tail",))
    legs = Constant(values=tuple(start("pendulum")[2][:12]))
    ends = []
    for motion in (profile, CUBIC):
        tail = {"tail": {"ta": held(0.0), "tb": motion}}
        ends.append(end_of(simulate(model, model.standing(), 0.2, control=legs, motions=tail, method="rk4", step=1e-3)))
    assert np.abs(ends[0] - ends[1]).max() < 1e-11
