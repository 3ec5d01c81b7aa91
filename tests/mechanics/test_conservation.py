"""What mechanics keeps: energy, momentum, the places of pinned feet; and what the equations must be for it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from oracles.layout import Array, Layout, relative
from oracles.pinocchio_oracle import PinocchioOracle
from oracles.states import random_state, random_tree
from tailwork.errors import UnreachableError
from tailwork.model import Model
from tailwork.model.model import LIU2018_REDUNDANT
from tailwork.robots import biswal, blaberus, liu2018, liu2020, spirit40

ALL = ("leg1", "leg2", "leg3", "leg4")
ROBOTS = {
    "liu2018": liu2018(),
    "pendulum": liu2020("pendulum"),
    "r3": liu2020("r3"),
    "usrt": liu2020("usrt"),
    "r3 alone": liu2020("r3").without("legs"),
    "usrt alone": liu2020("usrt").without("legs"),
    "no tail": liu2020(None),
    "biswal": biswal(),
    "blaberus": blaberus(),
    "tree": random_tree(np.random.default_rng(1), 2),
    "spirit40": spirit40(),
}
CASES = [
    ("liu2018", ALL),
    ("r3", ALL),
    ("usrt", ALL),
    ("biswal", ("leg1", "leg4")),
    ("spirit40", ("FL", "FR", "RL", "RR")),
    ("r3 alone", ()),
    ("tree", ()),
]
RIGID = ("liu2018", "pendulum", "r3", "biswal")  # tails and legs without springs
DURATION, STEP = 0.05, 1e-4


def shown(value: object) -> str:
    """The name of a case."""
    return value if isinstance(value, str) else f"{len(value)}feet"


every_case = pytest.mark.parametrize(("name", "stance"), CASES, ids=shown)


def batch(name: str, stance: tuple[str, ...], count: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Random states (roll-pitch-yaw) and efforts, one a row; slow enough to stand for 50 ms."""
    rng = np.random.default_rng(seed)
    rows = [random_state(ROBOTS[name], stance, rng) for _ in range(count)]
    q, v, tau = (np.array(column) for column in zip(*rows, strict=True))
    return q, 0.3 * v, tau


def with_quaternion(q: Array) -> Array:
    """The same states with the attitude as a quaternion."""
    x, y, z, w = Rotation.from_euler("xyz", q[:, 3:6]).as_quat().T
    return np.column_stack([q[:, :3], w, x, y, z, q[:, 6:]])


def run(
    model: Model, q: Array, v: Array, rate: Callable[[Array, Array], Array], extra: Array | None = None
) -> list[Array]:
    """A path by the Runge–Kutta method of order 4: (q, v, extra) at every step.

    Args:
        model: the model.
        q: coordinates, a state a row.
        v: velocities.
        rate: the rates of v and of what else is integrated, side by side, from q and v.
        extra: what else is integrated.
    """
    n, m = q.shape[1], v.shape[1]
    y = np.column_stack([q, v] if extra is None else [q, v, extra])

    def slope(y: Array) -> Array:
        q, v = y[:, :n], y[:, n : n + m]
        return np.column_stack([model.coordinate_rates(q, v), rate(q, v)])

    path = [y]
    for _ in range(round(DURATION / STEP)):
        a = slope(y)
        b = slope(y + STEP / 2 * a)
        c = slope(y + STEP / 2 * b)
        y = y + STEP / 6 * (a + 2 * b + 2 * c + slope(y + STEP * c))
        path.append(y)
    return path


def unforced(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """Coordinates and velocities along the paths without efforts, (times, states, …)."""
    tau = np.zeros(len(model.actuator_names))
    path = np.array(run(model, q, v, lambda q, v: model.forward_dynamics(q, v, tau)))
    return path[..., : q.shape[1]], path[..., q.shape[1] :]


def precise(model: Model, q: Array, v: Array, tau: Array) -> tuple[Array, Array, Array]:
    """Times, coordinates and velocities along the path from one state, by DOP853 as closely as it goes."""
    n = len(q)

    def slope(t: float, y: Array) -> Array:
        q, v = y[:n], y[n:]
        return np.concatenate([model.coordinate_rates(q, v), model.forward_dynamics(q, v, tau)])

    found = solve_ivp(slope, (0.0, DURATION), np.concatenate([q, v]), "DOP853", rtol=2.3e-14, atol=1e-14)
    return found.t, found.y[:n].T, found.y[n:].T


def drift(model: Model, q: Array, v: Array) -> float:
    """Largest change of the energy along a path, relative to the energy at its start."""
    energy = model.energy(q, v).total
    return float((np.abs(energy - energy[0]) / np.abs(energy[0])).max())


@pytest.mark.parametrize(
    ("name", "stance"),
    [*((name, ALL) for name in RIGID), *((name, ()) for name in RIGID), ("blaberus", ())],
    ids=shown,
)
@pytest.mark.measured("conservation")
def test_energy(measured: Callable[..., None], name: str, stance: tuple[str, ...]) -> None:
    """Without efforts, energy is kept to rounding over 50 ms of Runge–Kutta steps."""
    q, v, _ = batch(name, stance, 3)
    model = Model(ROBOTS[name], stance)
    lost = drift(model, *unforced(model, q, v))
    measured("energy without efforts, standing and in the air, 50 ms", lost, at_most=2e-14)


@pytest.mark.measured("conservation")
@pytest.mark.parametrize(("name", "stance"), [("usrt", ALL), ("usrt alone", ())], ids=shown)
def test_energy_of_sprung_tail(measured: Callable[..., None], name: str, stance: tuple[str, ...]) -> None:
    """So it is with the USRT, its dampers taken off; its springs need a better method than Runge–Kutta's."""
    q, v, _ = batch(name, stance, 1)
    model = Model(ROBOTS[name].replace({"tail.bending_damping": 0.0}), stance)
    _, qs, vs = precise(model, q[0], v[0], np.zeros(len(model.actuator_names)))
    measured("energy with the USRT's springs and no dampers, 50 ms", drift(model, qs, vs), at_most=2e-14)
    assert np.ptp(model.energy(qs, vs).elastic) > 1.0  # J


@pytest.mark.parametrize(("name", "stance"), [("pendulum", ALL), ("r3", ())], ids=shown)
def test_small_angle_attitude_loses_energy(name: str, stance: tuple[str, ...]) -> None:
    """omega = phi-dot, as both papers set it, does not keep energy (2018, Eqs. 2, 3; 2020, Eqs. 5, 6)."""
    q, v, _ = batch(name, stance, 3)
    model = Model(ROBOTS[name], stance, attitude="rpy-small-angle")
    assert drift(model, *unforced(model, q, v)) > 1e-6


@pytest.mark.parametrize(("name", "stance"), [("pendulum", ALL), ("r3", ())], ids=shown)
def test_attitudes_agree(name: str, stance: tuple[str, ...]) -> None:
    """Roll-pitch-yaw and quaternion lead to the same place by the same path, and keep the same energy."""
    q, v, _ = batch(name, stance, 3)
    angles, rates = unforced(Model(ROBOTS[name], stance), q, v)
    other = Model(ROBOTS[name], stance, attitude="quaternion")
    quaternions, same_rates = unforced(other, with_quaternion(q), v)
    assert relative(same_rates[-1], rates[-1]) < 2e-14
    assert relative(other.points(quaternions[-1]), Model(ROBOTS[name], stance).points(angles[-1])) < 1e-14
    assert drift(other, quaternions, same_rates) < 2e-14


@pytest.mark.measured("conservation")
@pytest.mark.parametrize("name", ["r3", "usrt", "blaberus", "tree"])
def test_momentum_in_flight(measured: Callable[..., None], name: str) -> None:
    """In flight, whatever the actuators, springs and dampers do: momentum falls by m g t, angular momentum about the
    centre of mass stays, and the centre of mass runs along a parabola."""
    q, v, tau = batch(name, (), 1)
    robot = ROBOTS["usrt"].replace({"tail.bending_damping": 0.05}) if name == "usrt" else ROBOTS[name]
    model = Model(robot, "none")
    times, qs, vs = precise(model, q[0], v[0], tau[0])
    mass, fall = PinocchioOracle(robot).mass(), np.array([0.0, 0.0, -robot.gravity])
    linear, angular = model.centroidal_momentum(qs, vs)
    assert relative(linear, linear[0] + mass * fall * times[:, None]) < 1e-13
    turned = relative(angular, np.tile(angular[0], (len(times), 1)))
    measured("angular momentum in flight, actuators and springs at work", turned, at_most=5e-13)
    center = model.center_of_mass(qs)
    parabola = center[0] + linear[0] / mass * times[:, None] + fall * times[:, None] ** 2 / 2
    off = relative(center, parabola)
    measured("centre of mass in flight beside its parabola", off, at_most=5e-14)


@pytest.mark.measured("conservation")
@pytest.mark.parametrize(("name", "stance"), [("pendulum", ALL), ("r3", ("leg1", "leg3")), ("biswal", ())], ids=shown)
def test_power_balance(measured: Callable[..., None], name: str, stance: tuple[str, ...]) -> None:
    """Along a path, energy grows by the work of the actuators."""
    q, v, tau = batch(name, stance, 3)
    model = Model(ROBOTS[name], stance)

    def rate(q: Array, v: Array) -> Array:
        path = model.path(q, v, 0.1 * tau)
        return np.column_stack([path.acceleration, path.powers.sum(axis=-1) - path.dissipation])

    path = np.array(run(model, q, v, rate, np.zeros(3)))
    energy = model.energy(path[..., : q.shape[1]], path[..., q.shape[1] : -1]).total
    assert np.abs(path[-1, :, -1]).min() > 1e-3
    left = relative(energy - path[..., -1], np.tile(energy[0], (len(path), 1)))
    measured("energy gained less work of the actuators, 50 ms", left, at_most=2e-14)


def test_power_balance_with_dampers_and_a_prescribed_tail() -> None:
    """So it does by the work that moves a prescribed tail, less what its dampers take."""
    q, v, tau = batch("usrt", ALL, 1)
    model = Model(ROBOTS["usrt"].replace({"tail.bending_damping": 0.05}), prescribed=["tail"])
    start = np.sin(np.arange(12.0))

    def rate(q: Array, v: Array) -> Array:
        path = model.path(
            q, v, 0.1 * tau[:, :12], prescribed_acceleration=30.0 * (start - q[:, 6:])
        )  # each joint swings about its own
        return np.column_stack([path.acceleration, path.powers.sum(axis=-1) - path.dissipation, path.dissipation])

    path = np.array(run(model, q, v, rate, np.zeros((1, 2))))
    energy = model.energy(path[..., :18], path[..., 18:36]).total
    assert path[-1, 0, 37] > 1e-3  # J, taken by the dampers
    assert relative(energy - path[..., 36], np.tile(energy[0], (len(path), 1))) < 2e-14


def normal(mass: Array) -> tuple[Array, Array]:
    """Mass matrices with ones on the diagonal, and the scales of the velocities that make them so."""
    scale = np.sqrt(np.diagonal(mass, axis1=1, axis2=2))
    return mass / (scale[:, :, None] * scale[:, None, :]), scale


@every_case
def test_equations(name: str, stance: tuple[str, ...]) -> None:
    """Kinetic energy is ½ vᵀ M v, efforts work by B, and M a + h = B tau."""
    q, v, tau = batch(name, stance, 20)
    model, layout = Model(ROBOTS[name], stance), Layout(ROBOTS[name], stance)
    mass, bias, accelerations = model.mass_matrix(q), model.bias(q, v), model.path(q, v, tau).acceleration
    assert relative(model.energy(q, v).kinetic, np.einsum("ni,nij,nj->n", v, mass, v) / 2) < 1e-14
    force = np.einsum("nij,nj->ni", model.actuation_matrix(q), tau)
    assert relative(model.path(q, v, tau).powers.sum(axis=-1), np.einsum("ni,ni->n", v, force)) < 1e-14
    # Each row by the largest of what it adds up.
    size = np.abs(force) + np.abs(bias) + np.einsum("nij,nj->ni", np.abs(mass), np.abs(accelerations))
    assert (np.abs(model.generalised_force(q, v, accelerations) - force) / size).max() < 2e-14
    ones, scale = normal(mass)
    solved = np.linalg.solve(ones, ((force - bias) / scale)[..., None])[..., 0] / scale
    assert max(layout.difference(x, y) for x, y in zip(accelerations, solved, strict=True)) < 2e-12


@every_case
def test_mass_matrix(name: str, stance: tuple[str, ...]) -> None:
    """M is symmetric to the last bit, and positive definite."""
    mass = Model(ROBOTS[name], stance).mass_matrix(batch(name, stance, 20)[0])
    np.testing.assert_array_equal(mass, np.swapaxes(mass, 1, 2))
    assert np.linalg.eigvalsh(normal(mass)[0]).min() > 1e-6


@pytest.mark.measured("conservation")
@every_case
def test_observations(measured: Callable[..., None], name: str, stance: tuple[str, ...]) -> None:
    """Energies, momenta and the centre of mass are Pinocchio's; feet stand where they are pinned."""
    q, v, _ = batch(name, stance, 3)
    model, oracle = Model(ROBOTS[name], stance), PinocchioOracle(ROBOTS[name], stance)
    energies, momenta, centers = model.energy(q, v), model.centroidal_momentum(q, v), model.center_of_mass(q)
    for row in range(len(q)):
        expected = [*oracle.energy(q[row], v[row]), oracle.spring_energy(q[row])]
        np.testing.assert_allclose([part[row] for part in energies], expected, rtol=2e-14)
        for part, momentum in zip(momenta, oracle.momentum(q[row], v[row]), strict=True):
            assert relative(part[row], momentum) < 5e-14
        assert relative(centers[row], oracle.center_of_mass(q[row])) < 1e-14
    feet = model.points(q)[:, [model.point_names.index(f"{leg}.foot") for leg in model.foot_names]]
    places = np.array([ROBOTS[name].limbs()[leg].foot.place for leg in stance]).reshape(-1, 3)
    away = np.abs(feet - places).max(initial=0.0)
    measured("pinned feet beside the places where they stand", away, at_most=2e-15, unit="m")


@pytest.mark.measured("equations")
@pytest.mark.parametrize("name", ["liu2018", "pendulum", "r3", "no tail", "biswal"])
def test_forward_of_inverse(measured: Callable[..., None], name: str) -> None:
    """Any acceleration of a robot that stands on four feet can be had: forward of inverse is the identity."""
    q, v, _ = batch(name, ALL, 20)
    a = 5.0 * np.random.default_rng(1).normal(size=v.shape)
    model, layout = Model(ROBOTS[name]), Layout(ROBOTS[name], ALL)
    efforts = [model.inverse_dynamics(q, v, a)]
    if name == "liu2018":
        efforts.append(model.inverse_dynamics(q, v, a, redundant=dict.fromkeys(LIU2018_REDUNDANT, 1.0)))
    for tau in efforts:
        found = model.forward_dynamics(q, v, tau)
        apart = max(layout.difference(x, y) for x, y in zip(found, a, strict=True))
        measured("forward of inverse dynamics beside the acceleration asked for", apart, at_most=1e-11)
    sizes = np.linalg.norm(efforts, axis=-1)
    assert (sizes[0] <= sizes).all()  # those of the Moore–Penrose inverse are the smallest


def test_forward_of_inverse_with_cables() -> None:
    """What cables can do is done by the same cables again; what they cannot is said."""
    q, v, tau = batch("usrt", ALL, 5)
    model, layout = Model(ROBOTS["usrt"]), Layout(ROBOTS["usrt"], ALL)
    a = model.forward_dynamics(q, v, tau)
    found = model.inverse_dynamics(q, v, a)
    assert relative(found[:, 12:], tau[:, 12:]) < 1e-7  # a trace of weight on the tensions makes them the smallest
    again = model.forward_dynamics(q, v, found)
    assert max(layout.difference(x, y) for x, y in zip(again, a, strict=True)) < 1e-10
    with pytest.raises(UnreachableError):
        model.inverse_dynamics(q, v, a + 1.0)


@pytest.mark.parametrize(("name", "stance"), [("pendulum", ALL), ("r3", ("leg1", "leg3")), ("usrt", ALL)], ids=shown)
def test_prescribed_tail(name: str, stance: tuple[str, ...]) -> None:
    """A tail given the acceleration that it has under some efforts moves the torso alike and asks for those efforts."""
    q, v, tau = batch(name, stance, 20)
    free, prescribed = Model(ROBOTS[name], stance), Model(ROBOTS[name], stance, prescribed=["tail"])
    layout, here = Layout(ROBOTS[name], stance), free.layout.rates["tail"]
    expected = free.path(q, v, tau)
    legs = tau[:, : len(prescribed.actuator_names)]
    found = prescribed.path(q, v, legs, prescribed_acceleration=expected.acceleration[:, here])
    efforts = np.einsum("nij,nj->ni", free.actuation_matrix(q), tau)[:, here]
    for row in range(len(q)):
        assert layout.difference(found.acceleration[row], expected.acceleration[row]) < 5e-13
        assert relative(found.prescribed_efforts[row], efforts[row]) < 1e-11
    assert relative(found.foot_forces, expected.foot_forces) < 5e-14
    assert relative(found.powers.sum(axis=-1), expected.powers.sum(axis=-1)) < 1e-13
    np.testing.assert_allclose(found.dissipation, expected.dissipation, rtol=1e-14)
