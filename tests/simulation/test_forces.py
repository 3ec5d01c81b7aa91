"""Outside forces in time: momentum and energy balance, statics, stiff methods, batches and gradients."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from oracles.layout import Array
from pucks import tailed
from tailwork.control import Tracking, held, point_to_point
from tailwork.control.standing import HoldPosture, RestTorques
from tailwork.errors import ArgumentError
from tailwork.mechanics.layout import Push
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import (
    CompliantGround,
    Force,
    RigidGround,
    Run,
    Standing,
    gradient,
    load_run,
    pulse,
    sensitivities,
    simulate,
    simulate_batch,
)

TIGHT: dict[str, Any] = {"method": "dopri5", "rtol": 1e-12, "atol": 1e-14}
AT = (0.05, 0.2, 0.03)
KICK = Force(limb="torso", point=AT, x=pulse(30.0, 0.05, 0.02), z=pulse(-20.0, 0.03, 0.04))
"""A pulse to the side and one down, which overlap."""
WIND = Force(limb="tail", joint="tb", point=(0.0, -0.4, 0.0), x=point_to_point(0.0, 4.0, 0.1), y=1.5)
"""On the tip of the tail, a profile in time and a constant."""
FORCES = (KICK, WIND)
SHIFTS, SHIFTS_WEIGHTS = np.array([1.0, -1.0, 0.5, -0.5]), np.array([-1.0, 1.0, 8.0, -8.0]) / 6.0
"""Differences of order four."""
IMPULSE = np.array([30.0 * 0.05 + 4.0 * 0.05, 1.5 * 0.1, -20.0 * 0.03])  # [N s], within 0.1 s
LAWS = (
    RestTorques(),
    HoldPosture(at="joint", stiffness=200.0, damping=5.0),
    Tracking(limb="tail", coordinate="tb", profile=held(0.0), kp=100.0, kd=2.0),
)


@cache
def run_of(stance: str, method: str = "dopri5") -> Run:
    """0.1 s on pinned feet, or in the air."""
    model = Model(liu2020("pendulum"), stance)
    laws = LAWS if stance == "all" else LAWS[2:]
    how = TIGHT if method == "dopri5" else {"method": method, "rtol": 1e-11, "atol": 1e-13}
    return simulate(model, Standing(), 0.1, control=laws, forces=FORCES, samples=41, **how)


def integral(run: Run, rate: Any) -> Array:
    """Of a function of times, by Gauss quadrature within each step: forces jump between steps alone."""
    assert run.trajectory is not None
    nodes, weights = np.polynomial.legendre.leggauss(8)
    t0, h = run.trajectory.times[:-1], np.diff(run.trajectory.times)
    found = rate((t0[:, None] + h[:, None] * (nodes + 1.0) / 2.0).ravel())
    return np.einsum("s,n,sn...->...", h / 2, weights, found.reshape(len(h), len(nodes), *found.shape[1:]))


def values(run: Run, times: Array) -> Array:
    """The outside forces at times, from what was asked for, (times, forces, 3) [N]."""
    kick = np.zeros((len(times), 3))
    kick[:, 0] = np.where((times >= 0.02) & (times < 0.02 + 0.05), 30.0, 0.0)
    kick[:, 2] = np.where((times >= 0.04) & (times < 0.04 + 0.03), -20.0, 0.0)
    tau = times / 0.1
    wind = np.stack([4.0 * tau * tau * (3.0 - 2.0 * tau), np.full_like(tau, 1.5), 0.0 * tau], axis=-1)
    return np.stack([kick, wind], axis=1)


def test_the_impulse_of_what_was_asked_for() -> None:
    """Pulses and profiles have the impulses that their numbers say."""
    for stance in ("all", "none"):
        run = run_of(stance)
        found = integral(run, lambda t, run=run: values(run, t).sum(axis=1))
        np.testing.assert_allclose(found, IMPULSE, rtol=0, atol=1e-12)


@pytest.mark.parametrize("stance", ["all", "none"])
def test_linear_momentum(stance: str) -> None:
    """It changes by the impulses of the forces, of the ground and of the weight, to 1e-9 of the impulse."""
    run = run_of(stance)
    assert run.stopped is None
    mass = float(run.model.robot.mass())

    def rate(times: Array) -> Array:
        feet = run.path(times).foot_forces.sum(axis=-2) if stance == "all" else np.zeros((len(times), 3))
        return values(run, times).sum(axis=1) + feet + np.array([0.0, 0.0, -9.8 * mass])

    momentum = run.data["linear_momentum"].to_numpy()
    size = float(np.linalg.norm(IMPULSE))
    np.testing.assert_allclose(momentum[-1] - momentum[0], integral(run, rate), rtol=0, atol=1e-9 * size)


def test_a_pushed_robot() -> None:
    """30 N for 0.1 s on a standing robot, own controller for the tail, laws for the legs: 3 N s, to 1e-9 of it."""

    def tail(t: float, q: Array, v: Array) -> dict[str, float]:
        return {"tail.ta": -200.0 * q[6] - 10.0 * v[6], "tail.tb": -200.0 * q[7] - 10.0 * v[7]}

    model = Model(liu2020("pendulum"))
    push = Force(limb="torso", x=pulse(30.0, 0.1, 0.05))
    run = simulate(model, Standing(), 0.3, control=[*LAWS[:2], tail], forces=push, rtol=1e-11, atol=1e-13)
    assert run.stopped is None
    weight = np.array([0.0, 0.0, -9.8 * float(model.robot.mass())])
    ground = integral(run, lambda t: run.path(t).foot_forces.sum(axis=-2) + weight)
    momentum = run.data["linear_momentum"].to_numpy()
    found = momentum[-1] - momentum[0] - ground
    np.testing.assert_allclose(found, [3.0, 0.0, 0.0], rtol=0, atol=1e-9 * 3.0)


def test_angular_momentum_in_the_air() -> None:
    """About the centre of mass, it changes by the moments of the forces about it."""
    run = run_of("none")

    def rate(times: Array) -> Array:
        assert run.trajectory is not None
        q, v, _, _ = run.trajectory.full(times)
        parts = run.model.part_momenta(q, v)
        center = np.einsum("tp,tpx->tx", parts.masses, parts.centers) / parts.masses.sum(axis=1)[:, None]
        arms = places(run.model, q) - center[:, None]
        return np.cross(arms, values(run, times)).sum(axis=1)

    momentum = run.data["angular_momentum"].to_numpy()
    np.testing.assert_allclose(momentum[-1] - momentum[0], integral(run, rate), rtol=0, atol=1e-9)
    assert np.abs(momentum[-1] - momentum[0]).max() > 0.05


def places(model: Model, q: Array) -> Array:
    """Where the forces act, (times, forces, 3) [m]: in the torso, and 0.4 m along the tail of 0.48 m."""
    found, names = model.points(q), model.point_names
    (cx, cy, cz), (sx, sy, sz) = np.cos(q[:, 3:6]).T, np.sin(q[:, 3:6]).T
    rows = [
        [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
        [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
        [-sy, cy * sx, cy * cx],
    ]
    torso = q[:, :3] + np.moveaxis(np.array(rows), -1, 0) @ np.array(AT)
    base, tip = (found[:, names.index(name)] for name in ("tail.tb", "tail.tip"))
    return np.stack([torso, base + (tip - base) * (0.4 / 0.48)], axis=1)


@pytest.mark.parametrize("stance", ["all", "none"])
def test_energy(stance: str) -> None:
    """The work of motors and of outside forces, less what dampers take, is what the energies gain."""
    run = run_of(stance)
    assert run.energy_balance_error() < 1e-9
    acted = run.data["outside_point"].to_numpy()
    forces = run.data["outside_force"].to_numpy()
    np.testing.assert_allclose(forces, values(run, run.data["time"].to_numpy()), rtol=0, atol=1e-12)
    np.testing.assert_allclose(acted, places(run.model, run.data["q"].to_numpy()), rtol=0, atol=1e-12)


@pytest.mark.parametrize("stance", ["all", "none"])
def test_a_constant_force_is_that_of_the_model(stance: str) -> None:
    """Accelerations and foot forces at the start are those of a model with the same push."""
    robot = liu2020("pendulum")
    model = Model(robot, stance)
    force = Force(limb="leg2", joint="k", point=(0.0, 0.0, -0.1), x=3.0, y=-2.0, z=5.0) if stance == "none" else Force(
        limb="torso", point=AT, x=3.0, y=-2.0, z=5.0
    )  # fmt: skip
    tau = np.linspace(-1.0, 1.0, len(model.actuator_names))
    run = simulate(model, Standing(), 0.01, control=lambda t, q, v: tau, forces=force, samples=3)
    pushed = Model(robot, stance, pushes=[Push(force.limb, force.joint, force.point)])
    q, v = (run.data[name].to_numpy()[0] for name in ("q", "v"))
    wanted = pushed.path(q, v, tau, forces=[[3.0, -2.0, 5.0]])
    np.testing.assert_allclose(run.data["acceleration"].to_numpy()[0], wanted.acceleration, rtol=1e-12, atol=1e-12)
    if stance == "all":
        np.testing.assert_allclose(run.data["foot_force"].to_numpy()[0], wanted.foot_forces, rtol=1e-12, atol=1e-11)
    still = pushed.path(q, v, tau, forces=None)
    assert np.abs(still.acceleration - wanted.acceleration).max() > 0.1


def test_a_robot_at_rest_under_a_constant_force() -> None:
    """Torques that balance the robot with the push hold it still, and the feet bear the force."""
    robot = liu2020("pendulum")
    model = Model(robot, prescribed=["tail"])
    pushed = Model(robot, prescribed=["tail"], pushes=[Push("torso", point=AT)])
    given = np.array([4.0, -3.0, 10.0])
    q, still = model.standing(), np.zeros(len(model.velocity_names))
    tau = pushed.inverse_dynamics(q, still, still, forces=[given])
    motions = {"tail": {"ta": held(0.0), "tb": held(0.0)}}
    force = Force(limb="torso", point=AT, x=4.0, y=-3.0, z=10.0)
    run = simulate(model, q, 0.02, control=lambda t, q, v: tau, motions=motions, forces=force, samples=3)
    np.testing.assert_allclose(run.data["q"].to_numpy(), np.tile(q, (3, 1)), rtol=0, atol=1e-11)
    borne = run.data["foot_force"].to_numpy()[0].sum(axis=0)
    np.testing.assert_allclose(borne, [-4.0, 3.0, 9.8 * float(robot.mass()) - 10.0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("stance", ["all", "none"])
def test_the_stiff_method_agrees(stance: str) -> None:
    """States to 1e-8 of those of the explicit method, both by tight tolerances."""
    one, other = run_of(stance), run_of(stance, "rodas5p")
    for name in ("q", "v"):
        np.testing.assert_allclose(other.data[name].to_numpy(), one.data[name].to_numpy(), rtol=0, atol=1e-8)


def test_many_sizes_are_as_alone() -> None:
    """Runs side by side with pulses of other sizes and profiles of other ends, one pulse beginning later."""
    model = Model(liu2020("pendulum"))
    sizes, ends = np.array([0.0, 30.0, -45.0]), np.array([4.0, 0.0, 2.0])
    names = {"force.1.x.size": sizes, "force.2.x.end": ends, "force.1.z.start": np.array([0.04, 0.05, 0.06])}
    many = simulate_batch(model, Standing(), 0.1, control=LAWS, forces=FORCES, parameters=names, **TIGHT)
    for k in range(3):
        kick = Force(limb="torso", point=AT, x=pulse(sizes[k], 0.05, 0.02), z=pulse(-20.0, 0.03, 0.04 + 0.01 * k))
        wind = Force(limb="tail", joint="tb", point=(0.0, -0.4, 0.0), x=point_to_point(0.0, ends[k], 0.1), y=1.5)
        one = simulate(model, Standing(), 0.1, control=LAWS, forces=(kick, wind), samples=2, **TIGHT)
        np.testing.assert_array_equal((many.q[k], many.v[k]), one.final_state)


@pytest.mark.parametrize("method", ["dopri5", "rk4", "rodas5p"])
def test_no_step_looks_across_a_jump(method: str) -> None:
    """A robot in the air, kicked for less than a step: each run of a batch, with a pulse of its own, has the bits
    that it has alone, and its momentum is that of the pulse. Derivatives are those of differences at usual
    tolerances; by times of a pulse there are none."""
    model = Model(liu2020("pendulum").without("legs"), "none")
    how: dict[str, Any] = {"method": method, "step": 2e-3} if method == "rk4" else {"method": method}
    starts, lengths = np.array([0.05, 0.013, 0.0, 0.07, 0.09]), np.array([2e-3, 1e-4, 1e-3, 3e-4, 0.1])
    kick, q = Force(x=pulse(1000.0, 0.002, 0.05), point=AT), model.standing()
    names = {"force.1.x.start": starts, "force.1.x.duration": lengths}
    sampled = {"measures": {"v": lambda runs: runs.v}, "samples": 11}
    many = simulate_batch(model, q, 0.1, forces=kick, parameters=names, **sampled, **how)
    for k, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        own = Force(x=pulse(1000.0, length, start), point=AT)
        one = simulate(model, q, 0.1, forces=own, samples=11, **how)
        np.testing.assert_array_equal((many.q[k], many.v[k]), one.final_state)
        np.testing.assert_allclose(many["v"][k], one.data["v"].to_numpy(), rtol=0, atol=1e-11)
        gained = model.centroidal_momentum(*one.final_state).linear[0]
        assert gained == pytest.approx(1000.0 * min(length, 0.1 - start), rel=1e-7)
    by = ["force.1.x.size", "force.1.point.y"]
    found = gradient(model, q, 0.1, lambda end: end.v[0] + end.v[5], by=by, forces=kick, **how)
    forwards = sensitivities(model, q, 0.1, by=by, forces=kick, samples=2, **how)
    for name, usual in zip(by, (1000.0, AT[1]), strict=True):
        h = 1e-2 * usual
        values = simulate_batch(model, q, 0.1, forces=kick, parameters={name: usual + h * SHIFTS}, **how).v[:, [0, 5]]
        wanted = float(SHIFTS_WEIGHTS @ values.sum(axis=1)) / h
        assert found.by_parameter[name] == pytest.approx(wanted, rel=1e-7)
        assert forwards.v[name][0, -1, [0, 5]].sum() == pytest.approx(wanted, rel=1e-7)
    for name in names:
        with pytest.raises(ArgumentError, match=f"^by: got '{name}'; required: numbers that do not say when a force"):
            gradient(model, q, 0.1, lambda end: end.v[0], by=[name], forces=kick, **how)


NAMES = ("force.1.x.size", "force.1.point.y", "force.2.x.end", "force.2.point.y")


@pytest.mark.parametrize("method", ["rk4", "rodas5p"])
def test_derivatives_by_forces(method: str) -> None:
    """By sizes, ends of profiles and points, beside differences of the same steps; forwards and backwards agree."""
    model, how = Model(liu2020("pendulum")), {"method": method, "step": 1e-3}
    start: dict[str, Any] = {"control": LAWS, "forces": FORCES, **how}
    found = gradient(
        model, Standing(), 0.1, lambda end: end.coordinate("phi_z") + end.rate("tail.tb"), by=NAMES, **start
    )
    forwards = sensitivities(model, Standing(), 0.1, by=NAMES, samples=2, **start)
    usual = {"force.1.x.size": 30.0, "force.1.point.y": 0.2, "force.2.x.end": 4.0, "force.2.point.y": -0.4}
    yaw, side = model.coordinate_names.index("phi_z"), model.velocity_names.index("tail.tb rate")
    for name in NAMES:
        h = 1e-2 * abs(usual[name])
        many = simulate_batch(model, Standing(), 0.1, parameters={name: usual[name] + SHIFTS * h}, **start)
        wanted = float(SHIFTS_WEIGHTS @ (many.q[:, yaw] + many.v[:, side])) / h
        assert found.by_parameter[name] == pytest.approx(wanted, rel=1e-6, abs=1e-12)
        both = forwards.q[name][0, -1, yaw] + forwards.v[name][0, -1, side]
        assert both == pytest.approx(found.by_parameter[name], rel=1e-8, abs=1e-13)


def test_forces_in_a_file(tmp_path: Any) -> None:
    """A saved run still has its forces and where they acted."""
    run_of("none").save(tmp_path / "run.nc")
    loaded = load_run(tmp_path / "run.nc")
    for name in ("outside_force", "outside_point"):
        np.testing.assert_array_equal(loaded.data[name].to_numpy(), run_of("none").data[name].to_numpy())


def test_what_is_no_force() -> None:
    """Unknown limbs and joints, and things that are no forces, are named."""
    model = Model(liu2020("pendulum"))
    for wrong, said in (
        (Force(limb="tale", joint="tb"), r"^forces\.limb: got 'tale'.*did you mean 'tail'"),
        (Force(limb="tail", joint="tc"), r"^forces\.joint: got 'tc'.*did you mean 't"),
        (Force(limb="tail"), r"^forces\.joint: got 'None'; required: a known joint of tail"),
        (Force(joint="tb"), r"^forces\.joint: got 'tb'; required: no joint"),
    ):
        with pytest.raises(ArgumentError, match=said):
            simulate(model, Standing(), 0.01, forces=wrong)
    fixed = Model(liu2020("pendulum").without("legs"), "none", torso="fixed")
    with pytest.raises(ArgumentError, match=r"^forces\.limb: got 'torso'; required: a limb"):
        simulate(fixed, np.zeros(2), 0.01, forces=KICK)
    with pytest.raises(ArgumentError, match=r"^forces: got .*Force\(limb='torso'"):
        simulate(model, Standing(), 0.01, forces=[(1.0, 0.0, 0.0)])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match=r"duration: got 0\.0"):
        pulse(3.0, 0.0)


def test_pulses_on_ground() -> None:
    """By fixed steps a pulse acts for whole ones: the momentum is that of so many steps. One that is shorter, which
    might not be felt at all, is refused, in a batch for its run alone."""
    model, grounds = Model(tailed(), "none"), (RigidGround(friction=0.6), CompliantGround.for_robot(tailed()))
    q = np.eye(8)[2]  # a metre above the ground
    for ground in grounds:
        how: dict[str, Any] = {"ground": ground, "step": 1e-3, "forces": Force(x=pulse(100.0, 0.004, 0.01))}
        names = {"force.1.x.duration": [0.004, 0.0004]}
        many = simulate_batch(model, q, 0.03, parameters=names, **how)
        gained = model.centroidal_momentum(many.q[0], many.v[0]).linear[0]
        assert gained == pytest.approx(0.4, rel=1e-4) and not many.reasons[0]
        said = "force.1.x.duration: got 0.0004; required: at least the step, 0.001 s"
        assert said in many.reasons[1] and np.isnan(many.q[1]).all()
        with pytest.raises(ArgumentError, match=said):
            simulate(model, q, 0.03, **how | {"forces": Force(x=pulse(100.0, 0.0004, 0.01))})
