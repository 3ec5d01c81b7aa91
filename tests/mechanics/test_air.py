"""Drag of the air: forces beside Pinocchio's kinematics, closed forms, balances, derivatives."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.layout import relative
from oracles.pinocchio_oracle import PinocchioOracle
from oracles.states import random_state
from tailwork import gradient, simulate, simulate_batch
from tailwork.control import Constant, posed
from tailwork.errors import RobotError
from tailwork.model import Model
from tailwork.robots import (
    R3,
    Air,
    Continuum,
    Drag,
    Pendulum,
    PlateTorso,
    ReactionWheel,
    Robot,
    TailDrag,
    ThreeHingeLegs,
    Torso,
    TwoLink,
    liu2020,
    load,
    slender_drag,
)
from tailwork.robots.limb import Limb
from tailwork.robots.tails.tail import Tail
from tailwork.simulation import CompliantGround

ALL = ("leg1", "leg2", "leg3", "leg4")
FUR = TailDrag(radius=0.05, coefficient=1.1, tip_area=0.02)
MOUNT = (0.0, -0.25, 0.02)
WIND = Air(wind=(4.0, -3.0, 1.0))
DENSITY = 1.184


@dataclasses.dataclass(frozen=True, kw_only=True)
class FurryLegs(ThreeHingeLegs):
    """Legs whose thighs and shanks are dragged on."""

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The legs."""
        drag = slender_drag((0.0, 0.0, -0.25), 0.04, 1.2)
        found = {}
        for key, limb in super().limbs(name, forward).items():
            joints = [
                dataclasses.replace(joint, body=dataclasses.replace(joint.body, drag=drag)) if joint.body else joint
                for joint in limb.joints
            ]
            found[key] = dataclasses.replace(limb, joints=tuple(joints))
        return found


def in_wind(tail: Tail) -> Robot:
    """The 2020 robot, all of it dragged on by the wind."""
    robot = liu2020(None).with_part("tail", tail)
    plain = robot.part("legs")
    legs = FurryLegs(**{f.name: getattr(plain, f.name) for f in dataclasses.fields(plain)})
    drag = (Drag(area=0.1, point=(0.05, 0.1, 0.02)), Drag(area=0.05, coefficient=1.3, point=(0.0, -0.2, 0.0)))
    torso = PlateTorso(mass=12.0, width=0.3, length=0.5, drag=drag)
    return dataclasses.replace(robot.with_part("legs", legs), torso=torso, air=WIND)


TAILS: dict[str, Tail] = {
    "pendulum": Pendulum(length=0.5, mass=0.4, drag=FUR, mount=MOUNT),
    "two links": TwoLink(first_length=0.38, second_length=0.38, first_mass=0.4, second_mass=0.2, drag=FUR, mount=MOUNT),
    "r3": R3(links_per_segment=2, drag=FUR, mount=MOUNT),
    "continuum": Continuum(length=0.5, mass=0.4, rigidity=1.0, links=3, drag=FUR, mount=MOUNT),
}


@pytest.mark.measured("tails")
@pytest.mark.parametrize(
    ("name", "stance"), list(zip(TAILS, (ALL[::2], ALL, ALL, ALL[::2]), strict=True)), ids=["2feet", "4feet"] * 2
)
def test_accelerations(measured: Callable[..., None], name: str, stance: tuple[str, ...]) -> None:
    """Torso, stance and swing legs and tails in a wind: accelerations, bias and foot forces are those of Pinocchio's
    matrices with the drag of its own velocities; a prescribed tail asks for the efforts that it has when free."""
    rng, robot = np.random.default_rng(1), in_wind(TAILS[name])
    model, oracle = Model(robot, stance), PinocchioOracle(robot, stance)
    q, v, tau = random_state(robot, stance, rng)
    v = 5.0 * v
    found, (expected, feet) = model.path(q, v, tau), oracle.accelerations(q, v, tau)
    apart = oracle.layout.difference(found.acceleration, expected)
    measured("accelerations in a wind beside Pinocchio's matrices", apart, at_most=1e-12)
    assert relative(found.foot_forces, feet) < 5e-13
    passive = oracle.generalised_forces(q, v, np.zeros(len(tau)))
    assert relative(model.bias(q, v), oracle.bias(q, v) - passive) < 1e-13
    assert np.abs(model.air_forces(q, v)).max() > 1.0  # N
    if name not in ("pendulum", "r3"):
        return
    prescribed, here = Model(robot, stance, prescribed=["tail"]), model.layout.rates["tail"]
    legs = tau[: len(prescribed.actuator_names)]
    again = prescribed.path(q, v, legs, prescribed_acceleration=found.acceleration[here])
    assert oracle.layout.difference(again.acceleration, found.acceleration) < 1e-12
    assert relative(again.prescribed_efforts, (model.actuation_matrix(q) @ tau)[here]) < 1e-11
    np.testing.assert_allclose(again.outside_power, found.outside_power, rtol=1e-12)


def falling(drag: tuple[Drag, ...], air: Air | None = None, gravity: float = 9.81) -> Model:
    """A ball in the air."""
    torso = Torso(mass=0.2, inertia=(1e-3, 1e-3, 1e-3, 0.0, 0.0, 0.0), drag=drag)
    return Model(Robot(name="ball", torso=torso, parts={}, gravity=gravity, air=air), "none")


def test_terminal_velocity() -> None:
    """A ball that falls from rest has the speed U tanh(g t/U), U² = 2 m g/(density C_d area), and drifts with wind."""
    element = Drag(area=0.05, coefficient=0.47)
    final = np.sqrt(2.0 * 0.2 * 9.81 / (DENSITY * 0.47 * 0.05))
    run = simulate(falling((element,)), (np.zeros(6), np.zeros(6)), 3.0, rtol=1e-11, atol=1e-13)
    times, v = run.data["time"].to_numpy(), run.data["v"].to_numpy()
    np.testing.assert_allclose(v[:, 2], -final * np.tanh(9.81 * times / final), rtol=1e-9, atol=1e-12)
    assert run.energy_balance_error() < 1e-10
    blown = simulate(falling((element,), Air(wind=(3.0, 0.0, 0.0))), (np.zeros(6), np.zeros(6)), 20.0)
    np.testing.assert_allclose(blown.data["v"].to_numpy()[-1, [0, 2]], [3.0, -final], rtol=1e-6)


@pytest.mark.parametrize("pieces", [1, 3])
def test_decay_of_a_free_spin(pieces: int) -> None:
    """A bar that turns about its end in still air slows by ω = ω₀/(1 + ω₀ t k/I), k = ½ density C_d 2r L⁴/4: exactly,
    in one piece and in several."""
    length, radius, mass, start = 0.5, 0.03, 0.3, 20.0
    k = 0.5 * DENSITY * 1.1 * 2.0 * radius * length**4 / 4.0
    tail = Pendulum(length=length, mass=mass, drag=TailDrag(radius=radius, coefficient=1.1))
    if pieces > 1:
        elements = slender_drag((0.0, -length, 0.0), radius, 1.1, pieces)
        assert sum(one.area for one in elements) == pytest.approx(2.0 * radius * length, rel=1e-14)
        assert sum(one.area * abs(one.point[1]) ** 3 for one in elements) == pytest.approx(
            2.0 * radius * length**4 / 4.0, rel=1e-14
        )
        return
    robot = dataclasses.replace(liu2020(None).without("legs"), gravity=0.0).with_part("tail", tail)
    model = Model(robot, "none", torso="fixed")
    run = simulate(model, ([0.0, 0.0], [0.0, start]), 1.0, rtol=1e-11, atol=1e-13)
    times, rates = run.data["time"].to_numpy(), run.data["v"].to_numpy()[:, 1]
    inertia = mass * length**2 / 3.0
    np.testing.assert_allclose(rates, start / (1.0 + start * times * k / inertia), rtol=1e-9)
    assert run.energy_balance_error() < 1e-10


@pytest.mark.parametrize("method", ["dopri5", "rodas5p"])
def test_energy_balance(method: str) -> None:
    """Energy changes by what motors and air give and dampers take, by explicit and stiff methods."""
    robot = in_wind(TAILS["continuum"]).without("legs")
    model = Model(robot, "none")
    q, v, _ = random_state(robot, (), np.random.default_rng(2))
    run = simulate(model, (q, v), 0.2, method=method, rtol=1e-9, atol=1e-11)
    assert run.energy_balance_error() < 1e-7
    assert np.abs(run.path(run.data["time"].to_numpy()).outside_power).max() > 0.1


def test_batches_and_gradients() -> None:
    """A batch does what single runs do, and derivatives by density, wind and radius are what differences find."""
    robot = in_wind(TAILS["pendulum"]).without("legs")
    model = Model(robot, "none")
    q, v, _ = random_state(robot, (), np.random.default_rng(3))
    control = Constant(values=(0.2, -0.1))
    how: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-13}
    numbers = {"air.density": DENSITY, "air.wind.x": 4.0, "tail.drag.radius": 0.05}
    step = 1e-4
    rows = {name: np.full(7, value) for name, value in numbers.items()}
    for k, name in enumerate(numbers):
        rows[name][1 + 2 * k : 3 + 2 * k] *= [1.0 + step, 1.0 - step]
    batch = simulate_batch(model, (q, v), 0.2, control=control, parameters=rows, **how)
    changed = Model(robot.replace({"air.density": rows["air.density"][1]}), "none")
    for k, one in enumerate((model, changed)):
        alone = simulate(one, (q, v), 0.2, control=control, **how)
        np.testing.assert_allclose(batch.v[k], alone.data["v"].to_numpy()[-1], rtol=0.0, atol=1e-12)
    assert np.max(batch.energy_balance_error()) < 1e-8
    place = model.coordinate_names.index("phi_y")
    found = gradient(
        model, (q, v), 0.2, lambda context: context.coordinate("phi_y"), by=tuple(numbers), control=control, **how
    )
    ends = batch.q[:, place]
    for k, (name, value) in enumerate(numbers.items()):
        slope = (ends[1 + 2 * k] - ends[2 + 2 * k]) / (2.0 * step * value)
        assert found.by_parameter[name] == pytest.approx(slope, rel=1e-5)


def test_on_compliant_ground() -> None:
    """A robot that stands in a wind: energy and momentum close with the air's share, to the order of the step."""
    robot = in_wind(TAILS["pendulum"])
    model = Model(robot, "none")
    ground = CompliantGround(
        stiffness=2e4, tangential_stiffness=1e4, damping=100.0, tangential_damping=100.0, static_friction=0.8,
        kinetic_friction=0.6,
    )  # fmt: skip
    errors = []
    for step in (4e-4, 1e-4):
        run = simulate(model, posed(model), 0.1, ground=ground, step=step)
        errors.append((run.energy_balance_error(), run.momentum_balance_error()))
    coarse, fine = np.array(errors)
    assert (fine < 0.4 * coarse).all() and fine.max() < 0.01
    q, v = (run.data[name].to_numpy() for name in ("q", "v"))
    assert np.abs(model.air_forces(q, v).sum(axis=1)).max() > 0.5  # N


def test_files(tmp_path: Path) -> None:
    """Air and drag are written to files and read back exactly."""
    robot = dataclasses.replace(
        liu2020(None).with_part("tail", TAILS["two links"]),
        torso=Torso(mass=3.0, inertia=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0), drag=(Drag(area=0.1),)), air=WIND,
    )  # fmt: skip
    robot.save(tmp_path / "robot.toml")
    assert load(tmp_path / "robot.toml") == robot


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Drag(area=0.0), "greater than 0"),
        (lambda: Drag(area=0.1, axis=(0.0, 2.0, 0.0)), "a unit vector"),
        (lambda: slender_drag((0.0, 0.0, 0.0), 0.02, 1.1), "a length greater than 0"),
        (lambda: slender_drag((0.1, 0.1, 0.0), 0.02, 1.1), "along an axis"),
        (lambda: TailDrag(), "a radius or a tip_area"),
        (lambda: Air(density=0.0), "greater than 0"),
        (lambda: in_wind(ReactionWheel(mass=1.0, radius=0.1, drag=FUR)), "no links to drag on"),
    ],
)
def test_impossible_drag(make: Callable[[], object], said: str) -> None:
    """Each says what is required."""
    with pytest.raises(RobotError, match=said):
        make()
