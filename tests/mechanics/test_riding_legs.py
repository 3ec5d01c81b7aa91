"""Pinned legs without a closed form: their angles ride in the configuration and are closed to rounding."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from oracles.layout import Array, relative
from oracles.pinocchio_oracle import PinocchioOracle
from tailwork.control import Constant, HoldPosture
from tailwork.errors import ArgumentError, StateError
from tailwork.model import Model
from tailwork.robots import Body, Foot, FreeLimb, Joint, JointSpring, Limb, Motor, Robot, blaberus, liu2020
from tailwork.simulation import Standing, gradient, sensitivities, simulate, simulate_batch
from tailwork.view.scene import scene_of

HIPS = [(0.15, 0.25), (-0.15, 0.25), (-0.15, -0.25), (0.15, -0.25)]


def leg(hip: tuple[float, float], hinges: int, turned: float) -> Limb:
    """A leg of hinges in a row that cross at odd angles, with rotors, a spring and full inertias."""
    rng = np.random.default_rng(round(100 * turned))
    lengths = {3: (0.03, 0.22, 0.24), 4: (0.03, 0.18, 0.16, 0.12), 5: (0.02, 0.16, 0.14, 0.1, 0.08)}[hinges]
    joints: list[Joint] = []
    for k, length in enumerate(lengths):
        base = np.array([0.0, 1.0, 0.0] if k == 0 else [1.0, 0.0, 0.0])
        axis = base + 0.2 * rng.normal(size=3)
        spread = 0.02 * rng.normal(size=(3, 3))
        moments = spread @ spread.T
        tensor = np.trace(moments) * np.eye(3) - moments
        joints.append(
            Joint(
                name=f"h{k + 1}",
                axis=tuple(axis / np.linalg.norm(axis)),  # type: ignore[arg-type]
                parent=None if k == 0 else f"h{k}",
                offset=(*hip, 0.0) if k == 0 else (0.01, 0.0, -lengths[k - 1]),
                body=Body(
                    mass=0.5,
                    com=(0.01, 0.0, -0.5 * length),
                    inertia=(tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2]),
                ),
                armature=0.003 * k,
                friction=0.05 * (k == 1),
            )
        )
    return Limb(
        joints=tuple(joints),
        actuators=tuple(Motor(name=joint.name, coordinate=joint.name) for joint in joints),
        springs=(JointSpring(joint="h2", stiffness=4.0, rest=0.3, damping=0.1),),
        foot=Foot(joint=joints[-1].name, point=(0.0, 0.01, -lengths[-1]), place=(*hip, 0.0)),
    )


def quadruped(hinges: int, tail: str | None = "r3") -> Robot:
    """The quadruped of 2020 on such legs."""
    robot = liu2020(tail).without("legs")
    for k, hip in enumerate(HIPS):
        robot = robot.with_part(f"leg{k + 1}", FreeLimb(limb=leg(hip, hinges, 0.3 * k)))
    return replace(robot, stand=(0.0, 0.0, 0.4))


def random_state(model: Model, seed: int) -> tuple[Array, Array, Array]:
    """A state near standing, its legs closed, and efforts."""
    rng = np.random.default_rng(seed)
    q = model.standing()
    q[: len(q)] += rng.uniform(-0.02, 0.02, len(q))
    q = model.closed(q)
    return q, rng.normal(size=len(model.velocity_names)), 3.0 * rng.normal(size=len(model.actuator_names))


def by_multipliers(model: Model, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
    """Accelerations and foot forces of the free tree whose feet are held by multipliers, M and h by Pinocchio."""
    free, robot = Model(model.robot, "none"), model.robot
    angles, rates = model.joint_angles(q), model.joint_rates(q, v)
    full_q, full_v = free.standing(), np.zeros(len(free.velocity_names))
    full_q[:6], full_v[:6] = q[:6], v[:6]
    for name, here in free.layout.coordinates.items():
        limb = robot.limbs()[name]
        if name in model.layout.dependent:
            full_q[here] = [float(angles[f"{name}.{c}"]) for c in limb.coordinates]
            full_v[free.layout.rates[name]] = [float(rates[f"{name}.{c}"]) for c in limb.coordinates]
        else:
            full_q[here], full_v[free.layout.rates[name]] = (
                q[model.layout.coordinates[name]],
                v[model.layout.rates[name]],
            )
    oracle = PinocchioOracle(robot)
    mass, bias = oracle.mass_matrix(full_q), oracle.bias(full_q, full_v)
    full_tau = np.array([tau[model.actuator_names.index(name)] for name in free.actuator_names])
    force = oracle.generalised_forces(full_q, full_v, full_tau)
    for name, limb in robot.limbs().items():  # dry friction, which the oracle does not have
        for joint in limb.joints:
            if joint.friction:
                k = free.velocity_names.index(f"{name}.{joint.name} rate")
                force[k] -= joint.friction * full_v[k] / np.hypot(full_v[k], 0.01)
    feet = [f"{name}.foot" for name in model.layout.stance]
    jacobian = np.vstack([free.point_jacobian(foot, full_q) for foot in feet])
    drift = np.concatenate([free.point_drift(foot, full_q, full_v) for foot in feet])
    assert np.abs(jacobian @ full_v).max() < 1e-13, "the feet rest"
    count = len(drift)
    matrix = np.block([[mass, -jacobian.T], [jacobian, np.zeros((count, count))]])
    answer = np.linalg.solve(matrix, np.concatenate([force - bias, -drift]))
    wanted = [free.velocity_names.index(name) for name in model.velocity_names]
    return answer[: len(full_v)][wanted], answer[len(full_v) :].reshape(-1, 3)


@pytest.mark.measured("equations")
@pytest.mark.parametrize("hinges", [3, 4, 5])
def test_pinned_legs_of_any_hinges_are_those_of_multipliers(measured: Callable[..., None], hinges: int) -> None:
    """Accelerations, foot forces, mass matrix and generalised force, of skew hinges, three to five of them."""
    model = Model(quadruped(hinges, "r3" if hinges == 4 else None))
    assert len(model.velocity_names) == 6 + 3 * (hinges == 4) + 4 * (hinges - 3)
    for seed in range(3):
        q, v, tau = random_state(model, seed)
        expected, forces = by_multipliers(model, q, v, tau)
        found = model.path(q, v, tau)
        what = "pinned legs without a closed form beside multipliers"
        measured(f"{what}, accelerations", relative(found.acceleration, expected), at_most=1e-11)
        measured(f"{what}, foot forces", relative(found.foot_forces, forces), at_most=1e-11)
        if hinges != 4:
            continue  # the rest compiles as long again
        needed = model.generalised_force(q, v, found.acceleration)
        assert relative(needed, model.actuation_matrix(q) @ tau) < 1e-11
        columns = model.generalised_force(q, v, np.eye(len(v))).T - model.bias(q, v)[:, None]
        assert relative(model.mass_matrix(q), columns) < 1e-11


@pytest.mark.measured("conservation")
@pytest.mark.parametrize("hinges", [3, 4])
def test_runs_stay_closed_and_energy_balances(measured: Callable[..., None], hinges: int) -> None:
    """At every sample the feet are where they stand, to rounding, and energy goes only where it should."""
    model = Model(quadruped(hinges, None))
    q, v, _ = random_state(model, 1)
    hold = HoldPosture(at="joint", stiffness=200.0, damping=2.0, posture=tuple(model.standing()))
    run = simulate(model, (q, 0.3 * v), 0.3, control=hold, rtol=1e-9)
    assert run.stopped is None, run.stopped
    measured(
        "feet of legs without a closed form, beside their places", run.foot_closure_error(), at_most=1e-14, unit="m"
    )
    assert run.energy_balance_error() < 2e-7  # dry friction turns within a step, where work is summed at five places
    rode = run.data["q"].to_numpy()[:, 6:]
    closed = np.array([model.closed(state)[6:] for state in run.data["q"].to_numpy()[::20]])
    assert np.abs(rode[::20] - closed).max() < 1e-5, "the angles that ride do not drift away"
    coarse = simulate(model, (q, 0.3 * v), 0.3, control=hold, method="rk4", step=1e-3)
    assert coarse.foot_closure_error() < 1e-14
    assert pickle.loads(pickle.dumps(run)).foot_closure_error() < 1e-14
    assert pickle.loads(pickle.dumps(model)).layout == model.layout
    assert len(scene_of(run).solids) > 8
    assert coarse.final_state[0][:6] == pytest.approx(run.final_state[0][:6], abs=1e-6)


def test_three_hinges_ride_as_a_closed_form_computes() -> None:
    """The leg of 2020 with its closed form taken away moves as with it; a batch of runs does as each alone."""
    robot = liu2020("pendulum")
    bare = robot.without("legs")
    for name, limb in robot.limbs().items():
        if limb.foot is not None:
            bare = bare.with_part(name, FreeLimb(limb=replace(limb, closed_form=None)))
    known, riding = Model(robot), Model(bare)
    assert riding.layout.dependent == {f"leg{k}": (0, 1, 2) for k in range(1, 5)}
    q, v = known.standing(), np.linspace(-0.3, 0.3, len(known.velocity_names))
    tau = known.static_torques(q)
    near = np.concatenate([q, [float(known.joint_angles(q)[name]) for name in riding.coordinate_names[8:]]])
    assert riding.forward_dynamics(near, v, tau) == pytest.approx(known.forward_dynamics(q, v, tau), rel=1e-9, abs=1e-9)
    one = simulate(known, (q, 0.3 * v), 0.2, control=Constant(values=tuple(tau)), rtol=1e-10)
    other = simulate(riding, (near, 0.3 * v), 0.2, control=Constant(values=tuple(tau)), rtol=1e-10)
    assert other.final_state[0][:8] == pytest.approx(one.final_state[0], abs=1e-8)
    batch = simulate_batch(
        riding, (near, 0.3 * v), 0.2, control=Constant(values=tuple(tau)), rtol=1e-10,
        parameters={"torso.mass": [12.0, 13.0]},
    )  # fmt: skip
    assert batch.q[0] == pytest.approx(other.final_state[0], abs=1e-8)


def test_gradients_go_through_such_legs() -> None:
    """By a mass and by the initial velocity, forwards and backwards, beside differences."""
    model = Model(quadruped(4, None))
    q, v, _ = random_state(model, 2)
    v, exact = 0.1 * v, {"rtol": 1e-11, "atol": 1e-12}
    name = next(name for name in model.velocity_names if name.startswith("leg2"))
    forwards = sensitivities(model, (q, v), 0.05, by=["torso.mass"], start=[name], **exact)  # type: ignore[arg-type]
    backwards = gradient(model, (q, v), 0.05, lambda x: x.v[2], by=["torso.mass"], **exact)  # type: ignore[arg-type]
    free = model.velocity_names.index(name)

    def end(mass: float, rate: float) -> Array:
        robot, start = model.robot.replace({"torso.mass": 12.0 + mass}), v.copy()
        start[free] += rate
        return simulate(Model(robot), (q, start), 0.05, **exact).final_state[1]  # type: ignore[arg-type]

    by_mass, by_rate = (end(1e-4, 0.0) - end(-1e-4, 0.0)) / 2e-4, (end(0.0, 1e-4) - end(0.0, -1e-4)) / 2e-4
    assert forwards.v["torso.mass"][0, -1] == pytest.approx(by_mass, abs=1e-6)
    assert forwards.v[name][0, -1] == pytest.approx(by_rate, abs=1e-6)
    assert backwards.by_parameter["torso.mass"] == pytest.approx(by_mass[2], abs=1e-6)
    assert backwards.by_v[free] == pytest.approx(by_rate[2], abs=1e-6)


def test_the_cockroach_stands_on_legs_of_five_hinges() -> None:
    """Three hinges of each leg depend on the others; its feet are where they stand."""
    model = Model(blaberus(), ["hind_left", "hind_right"])
    assert [len(joints) for joints in model.layout.dependent.values()] == [3, 3]
    q = model.standing()
    for foot, place in ((f"{leg}.foot", blaberus().feet()[leg].place) for leg in model.foot_names):
        found = model.points(q)[model.point_names.index(foot)]
        assert found == pytest.approx(np.array(place, dtype=float), abs=1e-15)


def test_angles_that_do_not_close_and_legs_that_cannot_are_refused() -> None:
    model = Model(quadruped(4))
    q = model.standing()
    wrong = q.copy()
    wrong[-1] += 0.1
    with pytest.raises(StateError, match=r"Model\.closed"):
        model.forward_dynamics(wrong, np.zeros(len(model.velocity_names)), np.zeros(len(model.actuator_names)))
    assert np.abs(model.closed(wrong)[-4:] - q[-4:]).max() < 0.3
    far = q.copy()
    far[2] = 3.0
    with pytest.raises(ArgumentError, match="out of it"):
        model.closed(far)
    with pytest.raises(ArgumentError, match=r"model\.standing"):
        simulate(model, Standing(), 0.01)
    with pytest.raises(ArgumentError, match="explicit"):
        simulate(model, q, 0.01, method="rodas5p")
    cockroach = Model(blaberus(), "none").layout
    assert not any(Standing().configuration(cockroach, {})[6:]), "legs of five hinges that do not say how they stand"
    two = leg((0.1, 0.1), 3, 0.1)
    assert two.foot is not None
    with pytest.raises(ArgumentError, match=r"foot\.angles.*one of each of h1, h2, h3"):
        replace(two, foot=replace(two.foot, angles=(0.1, 0.2)))
    short = replace(
        two, joints=two.joints[:2], coordinates=(), actuators=(), springs=(),
        foot=Foot(joint="h2", point=(0.0, 0.0, -0.2), place=(0.1, 0.1, 0.0)),
    )  # fmt: skip
    with pytest.raises(ArgumentError, match="at least three hinges"):
        Model(liu2020(None).without("legs").with_part("leg", FreeLimb(limb=short)))
