"""Initial states that follow from the robot, and numbers that are zero: alone, in batches and in derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tailwork.control import Tracking, held, point_to_point
from tailwork.control.standing import HoldPosture, RestTorques, StandingAngles
from tailwork.mechanics.layout import Push
from tailwork.model import Model
from tailwork.robots import Robot, liu2020
from tailwork.simulation import Standing, Struck, gradient, sensitivities, simulate, simulate_batch

SWING = {"tail": {"ta": held(0.1), "tb": point_to_point(0.2, 0.6, 0.1)}}
LAWS = (RestTorques(), HoldPosture(at="joint", stiffness=200.0, damping=5.0))
IMPULSE, POINT = (0.6, -0.3, 0.2), (0.05, 0.2, -0.04)
TIGHT: dict[str, Any] = {"method": "dopri5", "rtol": 1e-12, "atol": 1e-14}
FIXED: dict[str, Any] = {"method": "rk4", "step": 1e-3}


def test_standing_is_where_the_model_stands() -> None:
    """Level, at rest, its legs as they stand; limbs with a motion where that begins."""
    for tail in ("pendulum", "r3", "usrt"):
        model = Model(liu2020(tail))
        run = simulate(model, Standing(), 0.001, control=RestTorques(), samples=2, events=())
        np.testing.assert_allclose(run.data["q"].to_numpy()[0], model.standing(), rtol=0, atol=1e-15)
        np.testing.assert_array_equal(run.data["v"].to_numpy()[0], 0.0)
    model = Model(liu2020("pendulum"), prescribed=["tail"])
    q = simulate(model, Standing(), 0.001, control=RestTorques(), motions=SWING, samples=2).data["q"].to_numpy()[0]
    np.testing.assert_allclose(q[-2:], [0.1, 0.2], rtol=0, atol=1e-15)
    legs = [name for name in liu2020("pendulum").limbs() if name.startswith("leg")]
    aloft = Model(liu2020("pendulum"), "none", prescribed=[*legs, "tail"])
    motions = {**SWING, **{leg: StandingAngles() for leg in legs}}
    q = simulate(aloft, Standing(), 0.001, motions=motions, samples=2).data["q"].to_numpy()[0]
    places = dict(zip(aloft.point_names, aloft.points(q), strict=True))
    feet = np.array([places[f"{leg}.foot"] for leg in legs])
    np.testing.assert_allclose(feet, liu2020("pendulum").part("legs").feet, rtol=0, atol=1e-12)


@pytest.mark.parametrize("prescribed", [(), ("tail",)], ids=["tail free", "tail prescribed"])
@pytest.mark.parametrize("stance", ["all", "none"])
def test_the_velocity_of_a_robot_that_is_struck(stance: str, prescribed: tuple[str, ...]) -> None:
    """M v = Jᵀ p: what a force of that size does to the acceleration of the free velocities, with the feet pinned."""
    robot = liu2020("pendulum")
    model = Model(robot, stance, prescribed=prescribed)
    pushed = Model(robot, stance, prescribed=prescribed, pushes=[Push("torso", point=POINT)])
    still = {"tail": {"ta": held(0.0), "tb": held(0.0)}} if prescribed else {}
    run = simulate(model, Struck(impulse=IMPULSE, point=POINT), 1e-4, motions=still, samples=2, events=())
    q, v = (run.data[name].to_numpy()[0] for name in ("q", "v"))
    zero = np.zeros_like(v)
    matrix = model.mass_matrix(q)
    work = pushed.generalised_force(q, zero, zero, forces=[[0.0] * 3])
    work = work - pushed.generalised_force(q, zero, zero, forces=[list(IMPULSE)])  # Jᵀ p
    free = [k for k, name in enumerate(model.velocity_names) if name.split(".")[0] not in prescribed]
    np.testing.assert_allclose((matrix @ v)[free], work[free], rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.delete(v, free), 0.0, atol=1e-15)
    assert np.abs(v).max() > 1e-2
    twist = [*IMPULSE, *np.cross(POINT, IMPULSE)]  # level at the start: torso and inertial frame are parallel
    np.testing.assert_allclose(work[:6], twist, rtol=0, atol=1e-12)


VARIED = {
    "stand.z": np.array([0.4, 0.39, 0.41]),
    "legs.hips.1.x": np.array([0.15, 0.16, 0.14]),
    "tail.length": np.array([0.48, 0.4, 0.5]),
}


@pytest.mark.parametrize("initial", [Standing(), Struck(impulse=IMPULSE, point=POINT)], ids=["standing", "struck"])
def test_every_design_of_a_batch_starts_as_its_own_robot_does(initial: Standing) -> None:
    """Heights and hips that vary: initial states, rest torques and rest angles are those of each design."""
    robot = liu2020("pendulum")
    model = Model(robot, prescribed=["tail"])
    arguments: dict[str, Any] = {"control": LAWS, "motions": SWING, **TIGHT}
    many = simulate_batch(model, initial, 0.1, parameters=VARIED, samples=3, **arguments)
    for k in range(3):
        own = robot.replace({path: float(values[k]) for path, values in VARIED.items()})
        one = simulate(Model(own, prescribed=["tail"]), initial, 0.1, samples=2, **arguments)
        np.testing.assert_allclose(many.q[k], one.data["q"].to_numpy()[-1], rtol=0, atol=1e-10)
        np.testing.assert_allclose(many.v[k], one.data["v"].to_numpy()[-1], rtol=0, atol=1e-9)


def test_impulses_that_vary() -> None:
    """In a batch and by their derivatives."""
    model = Model(liu2020("pendulum"), prescribed=["tail"])
    arguments: dict[str, Any] = {"control": LAWS, "motions": SWING, **FIXED}
    initial = Struck(impulse=IMPULSE, point=POINT)
    sizes = 0.6 + np.array([1e-2, -1e-2])
    many = simulate_batch(model, initial, 0.1, parameters={"initial.impulse.x": sizes}, **arguments)
    for k, size in enumerate(sizes):
        struck = Struck(impulse=(float(size), *IMPULSE[1:]), point=POINT)
        one = simulate(model, struck, 0.1, samples=2, **arguments)
        np.testing.assert_allclose(many.q[k], one.data["q"].to_numpy()[-1], rtol=0, atol=1e-12)
    found = gradient(
        model, initial, 0.1, lambda end: end.coordinate("phi_y"), by=["initial.impulse.x", "stand.z"], **arguments
    )
    roll = model.coordinate_names.index("phi_y")
    wanted = (many.q[0, roll] - many.q[1, roll]) / 2e-2
    assert found.by_parameter["initial.impulse.x"] == pytest.approx(wanted, rel=1e-5)
    lower, higher = simulate_batch(model, initial, 0.1, parameters={"stand.z": [0.3999, 0.4001]}, **arguments).q[
        :, roll
    ]
    assert found.by_parameter["stand.z"] == pytest.approx((higher - lower) / 2e-4, rel=1e-5)


ZEROS = {"tail.tip_mass": 0.3, "tail.mount.z": 0.05, "tail.armature": 0.01, "legs.hips.1.z": 0.02}


def changed(name: str, value: float) -> Robot:
    """The robot with a number that was zero."""
    return liu2020("pendulum").replace({name: value})


@pytest.mark.parametrize("name", ZEROS)
def test_a_number_that_is_zero_can_vary(name: str) -> None:
    """Equations are pruned where a number is zero, but not where it is varied: batch, gradient and sensitivities."""
    robot = liu2020("pendulum")
    legs, tail = robot.part("legs"), robot.part("tail")
    assert tail.tip_mass == tail.armature == tail.mount[2] == legs.hips[0][2] == 0.0
    laws = (*LAWS, Tracking(limb="tail", coordinate="tb", profile=point_to_point(0.0, 0.4, 0.1), kp=100.0, kd=2.0))
    model, value = Model(robot), ZEROS[name]
    many = simulate_batch(model, Standing(), 0.1, parameters={name: [0.0, value]}, control=laws, **TIGHT)
    ends = []
    for k, own in enumerate((robot, changed(name, value))):
        one = simulate(Model(own), Standing(), 0.1, control=laws, samples=2, **TIGHT)
        ends.append(one.data["q"].to_numpy()[-1])
        np.testing.assert_allclose(many.q[k], ends[-1], rtol=0, atol=1e-10)
    assert np.abs(ends[1] - ends[0]).max() > 1e-6
    found = gradient(model, Standing(), 0.1, lambda end: end.coordinate("phi_z"), by=[name], control=laws, **TIGHT)
    forwards = sensitivities(model, Standing(), 0.1, by=[name], control=laws, samples=2, **TIGHT)
    yaw = model.coordinate_names.index("phi_z")
    h = 1e-2 * value
    runs = []
    for x in (0.0, h, 2.0 * h, 3.0 * h, 4.0 * h):
        one = simulate(Model(changed(name, x)), Standing(), 0.1, control=laws, samples=2, **TIGHT)
        runs.append(one.data["q"].to_numpy()[-1, yaw])
    wanted = np.dot([-25.0, 48.0, -36.0, 16.0, -3.0], runs) / (12.0 * h)  # at the end of what a mass may be
    assert found.by_parameter[name] == pytest.approx(wanted, rel=1e-5, abs=1e-9)
    assert forwards.q[name][0, -1, yaw] == pytest.approx(found.by_parameter[name], rel=1e-7, abs=1e-11)


def test_what_a_measure_asks_is_of_each_design() -> None:
    """Totals and numbers that were zero count in what a chunk asks of the model, too: energies are those alone."""
    robot = liu2020("pendulum")
    model = Model(robot)
    varied = {"tail.total_length": [0.4, 0.5], "tail.tip_share": [0.25, 0.5], "tail.mount.z": [0.0, 0.04]}

    def energies(chunk: Any) -> np.ndarray:
        return chunk.ask("energy", q=chunk.q, v=chunk.v)["energies"][:, -1].sum(axis=-1)

    many = simulate_batch(
        model, Standing(), 0.05, parameters=varied, control=LAWS, samples=2, method="rk4", step=1e-3,
        measures={"energy": energies, "balance": lambda chunk: chunk.energy_balance()},
    )  # fmt: skip
    for k in range(2):
        own = robot.replace({name: values[k] for name, values in varied.items()})
        run = simulate(Model(own), Standing(), 0.05, control=LAWS, samples=2, method="rk4", step=1e-3)
        alone = sum(float(run.data[f"{kind}_energy"][-1]) for kind in ("kinetic", "gravitational", "elastic"))
        assert many.measures["energy"][k] == pytest.approx(alone, rel=1e-10)
        assert many.measures["balance"][k] == pytest.approx(run.energy_balance_error(), rel=1e-6, abs=1e-12)
