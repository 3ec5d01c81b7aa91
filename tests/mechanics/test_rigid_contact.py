"""Contacts seen through the torso beside dense matrices, and impacts beside another solver.

By hand, with as many impacts as wanted: python -m tests.mechanics.test_rigid_contact 10000
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

from oracles.contact_problem import residual, solved
from oracles.layout import Array, relative
from oracles.states import random_state, with_contacts
from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.model import Model
from tailwork.model.points import frame_and_offset
from tailwork.robots import ContactPoint, Robot, Torso, blaberus, liu2020
from tailwork.robots.limb import Limb
from tailwork.robots.robot import FreeLimb

TILTED = np.array([0.36, -0.48, 0.8])
ROBOTS: dict[str, Callable[[], Model]] = {
    "four feet": lambda: Model(liu2020("pendulum"), "none"),
    "points everywhere": lambda: Model(with_contacts(liu2020("pendulum")), "none", attitude="quaternion"),
    "a geared tail that touches": lambda: Model(tip_touches(liu2020("r3")), "none"),
    "a prescribed tail that touches": lambda: Model(tip_touches(liu2020("pendulum")), "none", prescribed=["tail"]),
    "six feet": lambda: Model(blaberus(), "none"),
    "feet and the tip of a geared tail": lambda: Model(tip_touches(liu2020("r3"), root=False), "none"),
    "a fixed torso": lambda: Model(liu2020("pendulum"), "none", torso="fixed"),
}


def tip_touches(robot: Robot, root: bool = True) -> Robot:
    """The robot with a contact point at the tip of its tail, maybe one near its root, and with feet as they are."""
    limb = robot.limbs()["tail"]
    assert limb.tip is not None
    points = (
        ContactPoint(name="tip", joint=limb.tip.joint, point=limb.tip.point, radius=0.01),
        ContactPoint(name="root", joint=limb.joints[0].name, point=(0.02, -0.1, 0.03)),
    )
    fields = {name: getattr(limb, name) for name in limb.__dataclass_fields__ if name != "contacts"}
    return robot.with_part("tail", FreeLimb(limb=Limb(**fields, contacts=points if root else points[:1])))


@cache
def model_of(name: str) -> Model:
    """One of the models."""
    return ROBOTS[name]()


def state_of(model: Model, seed: int) -> tuple[Array, Array, Array]:
    """A random state and efforts."""
    rng = np.random.default_rng(seed)
    q, v, tau = random_state(model.robot, (), rng, model.layout.torso)
    if model.layout.attitude == "quaternion":
        turned = rng.normal(size=4)
        q = np.concatenate([q[:3], turned / np.linalg.norm(turned), q[6:]])
    return q, v, tau[: len(model.actuator_names)]


def rows(model: Model, q: Array, normal: Array) -> tuple[Array, list[tuple[str, str | None, Array]]]:
    """J of all contacts by the Jacobians of the points that touch, and those points."""
    frames = model.ask("frame_jacobians", q=q)["rotations"]
    x, y, z = normal
    axes = np.array([[1 - x * x / (1 + z), -x * y / (1 + z), -x], [-x * y / (1 + z), 1 - y * y / (1 + z), -y], normal])
    found, points = [], []
    for limb, point in model.robot.contact_points().values():
        rotation = frames[frame_and_offset(model.layout, model._named_points, (limb, point.joint, (0.0, 0.0, 0.0)))[0]]
        arm = np.array(point.point) - float(point.radius) * rotation.T @ normal
        points.append((limb, point.joint, arm))
        found.append(axes @ model.point_jacobian((limb, point.joint, tuple(arm)), q))
    for name in model.stop_names:
        k = model.velocity_names.index(f"{name} rate")
        angle = q[model.coordinate_names.index(name)]
        limb, joint = name.split(".")
        lower, upper = model.layout.limbs[limb].joint(joint).range or (0.0, 0.0)
        found.append(np.eye(len(model.velocity_names))[[k]] * (1.0 if angle - lower < upper - angle else -1.0))
    return np.concatenate(found), points


@pytest.mark.measured("contact")
@pytest.mark.parametrize("name", ROBOTS)
def test_through_the_torso(measured: Callable[..., None], name: str) -> None:
    """The Delassus matrix and what impulses do to the velocities are those of dense matrices, J M⁻¹ Jᵀ and M⁻¹ Jᵀ Λ, on
    any limb: free, geared or prescribed."""
    model = model_of(name)
    for seed, normal in ((1, np.array([0.0, 0.0, 1.0])), (2, TILTED)):
        q, v, _ = state_of(model, seed)
        j, _ = rows(model, q, normal)
        kept = [k for k in range(len(v)) if k not in model.layout.prescribed_rates]
        moved = np.linalg.solve(model.mass_matrix(q)[np.ix_(kept, kept)], j[:, kept].T)
        found, expected = model.delassus(q, normals=normal), j[:, kept] @ moved
        measured("Delassus matrix beside dense matrices", relative(found, expected), at_most=1e-13)
        impulses = np.random.default_rng(seed).normal(size=len(j))
        normals = np.tile(normal, len(model.contact_names))
        change = model.ask("contact_change", q=q, normals=normals, impulses=impulses)["change"]
        measured("change by impulses beside dense matrices", relative(change[kept], moved @ impulses), at_most=1e-13)


@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "a fixed torso"])
def test_accelerations_of_contacts(name: str) -> None:
    """Velocities of contacts are J v; their accelerations without contact forces J a + J-dot v, those of a ball without
    the centripetal part of its lowest point, which is another one at every instant."""
    model = model_of(name)
    q, v, tau = state_of(model, 3)
    given = np.linspace(1.0, 2.0, len(model.prescribed_names))
    j, points = rows(model, q, TILTED)
    acceleration = model.forward_dynamics(q, v, tau, prescribed_acceleration=given)
    found = model.ask(
        "contact_state", q=q, v=v, tau=tau, prescribed_acceleration=given, forces=None,
        heights=np.full(len(points), 0.1), normals=np.tile(TILTED, len(points)),
    )  # fmt: skip
    assert relative(found["velocities"], j @ v) < 1e-13
    expected = j @ acceleration
    x, y, z = TILTED
    axes = np.array([[1 - x * x / (1 + z), -x * y / (1 + z), -x], [-x * y / (1 + z), 1 - y * y / (1 + z), -y], TILTED])
    for i, ((limb, joint, arm), (_, point)) in enumerate(
        zip(points, model.robot.contact_points().values(), strict=True)
    ):
        center = (limb, joint, tuple(point.point))
        drift = model.point_drift(center, q, v)
        if point.radius:  # J-dot v of the arm that does not turn: alpha × arm
            frame = frame_and_offset(model.layout, model._named_points, center)[0]
            alpha, turned = (model.ask("frame_drifts", q=q, v=v)["alpha"][frame],
                             model.ask("frame_jacobians", q=q)["rotations"][frame])  # fmt: skip
            drift = drift + turned @ np.cross(alpha, arm - np.array(point.point))
        expected[3 * i : 3 * i + 3] += axes @ drift
        rotation, offset = frame_and_offset(model.layout, model._named_points, center)
        place = model.points(q)[0 if limb == "torso" else model.point_names.index(f"{limb}.{joint}")]
        place = place + model.ask("frame_jacobians", q=q)["rotations"][rotation] @ offset
        assert np.abs(found["places"][i] - place).max() < 1e-14
        assert found["gaps"][i] == pytest.approx((place[2] - 0.1) * TILTED[2] - point.radius, abs=1e-14)
    assert relative(found["drifts"], expected) < 1e-12


def random_impacts(name: str, count: int) -> tuple[Model, Array, Array]:
    """States in which all feet come down."""
    model = model_of(name)
    states = [state_of(model, 100 + k) for k in range(count)]
    q, v = np.array([state[0] for state in states]), np.array([state[1] for state in states])
    v[:, 2] -= np.abs(v[:, :3]).max()
    return model, q, v


IMPACTS = ("four feet", "six feet", "feet and the tip of a geared tail", "a geared tail that touches")


def solve_impacts(name: str, count: int, friction: float, oracle: int) -> tuple[float, float, float, float]:
    """Largest violation of the laws of contact [m/s], largest difference to another solver as a share of the largest
    impulse, least loss [J] and worst balance of momentum, over random impacts."""
    model, q, v = random_impacts(name, count)
    found = model.impact(q, v, friction=friction, points=model.contact_names)
    jacobian = np.stack([rows(model, x, np.array([0.0, 0.0, 1.0]))[0] for x in q])
    matrix = jacobian @ np.linalg.solve(model.mass_matrix(q), np.swapaxes(jacobian, 1, 2))
    velocity = np.einsum("nij,nj->ni", jacobian, v)
    worst = max(residual(a, b, x, friction) for a, b, x in zip(matrix, velocity, found.impulses, strict=True))
    other = solved(matrix[:oracle], velocity[:oracle], friction)
    # Where the other solver is not exact itself, it says nothing.
    exact = np.array([residual(a, b, x, friction) < 1e-12 for a, b, x in zip(matrix, velocity, other, strict=False)])
    assert exact.mean() >= 0.9
    apart = np.abs(found.impulses[:oracle] - other).max(axis=(1, 2)) / np.abs(other).max(axis=(1, 2))
    gained = model.centroidal_momentum(q, found.v).linear - model.centroidal_momentum(q, v).linear
    total = found.impulses.sum(axis=1)
    balance = np.abs(gained - total).max(axis=1) / np.abs(found.impulses).max(axis=(1, 2))
    assert found.residual.max() < 1e-10
    return worst, float(apart[exact].max()), float(found.loss.min()), float(balance.max())


@pytest.mark.measured("contact")
@pytest.mark.parametrize("name", IMPACTS)
@pytest.mark.parametrize("friction", [0.0, 0.3, 1.0])
def test_impacts(measured: Callable[..., None], name: str, friction: float) -> None:
    """Random impacts keep the laws of contact to 1e-10 m/s and are those that another solver finds from dense matrices;
    without restitution they never gain energy; momentum changes by the impulses."""
    worst, apart, loss, balance = solve_impacts(name, 60, friction, 20)
    measured("laws of contact in random impacts", worst, at_most=1e-12, unit="m/s")
    measured("impulses beside another solver", apart, at_most=1e-10)
    measured("momentum by the impulses", balance, at_most=1e-12)
    assert loss >= 0.0


def redundant_impacts(count: int, friction: float) -> tuple[Array, float, float]:
    """How far random impacts of feet, knees, torso and tail at once are from the laws of contact [m/s], least loss [J]
    and worst balance of momentum: how the points share the load is not unique."""
    model, q, v = random_impacts("points everywhere", count)
    found = model.impact(q, v, friction=friction, points=model.contact_names)
    gained = model.centroidal_momentum(q, found.v).linear - model.centroidal_momentum(q, v).linear
    apart = np.abs(gained - found.impulses.sum(axis=1)).max() / np.abs(found.impulses).max()
    return found.residual, float(found.loss.min()), float(apart)


@pytest.mark.measured("contact")
@pytest.mark.parametrize("friction", [0.0, 0.3, 1.0])
def test_impacts_of_points_that_share_a_load(measured: Callable[..., None], friction: float) -> None:
    """Eleven points that strike at once, two on each leg: sweeps alone leave a fifth of these impacts unsettled."""
    off, loss, apart = redundant_impacts(2000, friction)
    measured("laws of contact in impacts of eleven points", off.max(), at_most=1e-10, unit="m/s")
    assert loss >= 0.0 and apart < 1e-12


def test_restitution() -> None:
    """A single point leaves with its speed times the restitution; with full restitution and no friction no energy is
    lost, whatever the robot."""
    model = model_of("four feet")
    q, v, _ = state_of(model, 5)
    v[2] -= 3.0
    found = model.impact(q, v, friction=0.0, restitution=1.0, points=["leg2"])
    assert abs(found.loss) < 1e-13 * model.energy(q, v).kinetic
    foot = model.point_jacobian("leg2.foot", q)
    found = model.impact(q, v, friction=0.7, restitution=0.5, points=["leg2"])
    assert (foot @ found.v)[2] == pytest.approx(-0.5 * (foot @ v)[2], rel=1e-13)
    assert (np.delete(found.impulses, 1, axis=0) == 0.0).all()


def rod() -> Model:
    """A rod of 1 kg and 1 m with its ends as points; about its own axis it has next to no inertia."""
    ends = tuple(ContactPoint(name=name, point=(x, 0.0, 0.0)) for name, x in (("low", -0.5), ("high", 0.5)))
    torso = Torso(mass=1.0, inertia=(1e-6, 1 / 12, 1 / 12, 0.0, 0.0, 0.0))
    return Model(Robot(name="rod", torso=torso, parts={}, contacts=ends, gravity=0.0), "none")


@pytest.mark.parametrize(("friction", "expected"), [(0.0, 0.3622568544), (10.0, 0.5598819334)])
def test_a_rod_that_falls_on_its_end(friction: float, expected: float) -> None:
    """At 40° and 1 m/s, by the closed form: Λ_z = m v/(1 + 3 cos²) without friction, and where the end sticks."""
    model, angle = rod(), np.radians(40.0)
    q, v = np.array([0.0, 0.0, 0.5 * np.sin(angle), 0.0, -angle, 0.0]), np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    found = model.impact(q, v, friction=friction)
    assert found.impulses[0, 2] == pytest.approx(expected, abs=6e-11)
    assert (found.impulses[1] == 0.0).all()  # the other end is in the air


def test_stops() -> None:
    """A knee that swings against its stop is stopped by an impulse there, and that alone."""
    model = model_of("points everywhere")
    q, v = model.standing(), np.zeros(len(model.velocity_names))
    q[2] = 2.0  # in the air
    q[model.coordinate_names.index("leg3.k")] = -1.0
    v[model.velocity_names.index("leg3.k rate")] = -2.0
    found = model.impact(q, v, friction=1.0)
    assert found.v[model.velocity_names.index("leg3.k rate")] == pytest.approx(0.0, abs=1e-14)
    assert found.stops[model.stop_names.index("leg3.k")] > 0.0
    assert np.count_nonzero(found.stops) == 1 and not found.impulses.any()
    v[model.velocity_names.index("leg3.k rate")] = 2.0  # away from it
    assert not model.impact(q, v, friction=1.0).stops.any()


def test_feet_that_stick_are_pinned() -> None:
    """Contacts that stick give the accelerations and foot forces of pinned feet, which have equations of their own."""
    pinned, free = Model(liu2020("pendulum")), model_of("four feet")
    rng = np.random.default_rng(8)
    q, v, tau = random_state(pinned.robot, pinned.layout.stance, rng)
    angles, rates = pinned.joint_angles(q), pinned.joint_rates(q, v)
    legs = free.coordinate_names[len(q) :]
    whole_q = np.concatenate([q, [angles[name] for name in legs]])
    whole_v = np.concatenate([v, [rates[name] for name in legs]])
    found = free.contact_forces(whole_q, whole_v, tau, ["stick"] * 4, friction=1.0)
    path = pinned.path(q, v, tau)
    assert relative(found.acceleration[: len(v)], path.acceleration) < 1e-12
    assert relative(found.forces, path.foot_forces) < 1e-12


def test_feet_that_slip() -> None:
    """A foot that slips does not accelerate along the normal; friction is μ times the normal force, against its way."""
    model = model_of("four feet")
    q, v, tau = state_of(model, 9)
    found = model.contact_forces(q, v, tau, ["slip", "free", "stick", "free"], friction=0.4)
    force, velocity = found.forces[0], model.point_jacobian("leg1.foot", q) @ v
    assert (found.forces[[1, 3]] == 0.0).all()
    against = -0.4 * force[2] * velocity[:2] / np.hypot(*velocity[:2])
    assert relative(force[:2], against) < 1e-13
    for name, kept in (("leg1", [2]), ("leg3", [0, 1, 2])):
        jacobian, drift = model.point_jacobian(f"{name}.foot", q), model.point_drift(f"{name}.foot", q, v)
        assert np.abs((jacobian @ found.acceleration + drift)[kept]).max() < 1e-11


def test_a_batch_is_its_states() -> None:
    """Impacts of a batch have the bits of each alone."""
    model, q, v = random_impacts("six feet", 9)
    together = model.impact(q, v, friction=0.5, points=model.contact_names)
    for k in range(9):
        alone = model.impact(q[k], v[k], friction=0.5, points=model.contact_names)
        assert np.array_equal(alone.v, together.v[k]) and alone.sweeps == together.sweeps[k]


def test_what_is_refused() -> None:
    """Pinned feet, friction below zero, restitution above one, unknown points, normals that are none, modes."""
    model = model_of("four feet")
    q, v, tau = state_of(model, 1)
    with pytest.raises(ArgumentError, match="stance='none'"):
        Model(liu2020("pendulum")).delassus(np.zeros(8))
    with pytest.raises(ArgumentError, match="0 or more"):
        model.impact(q, v, friction=-0.1)
    with pytest.raises(ArgumentError, match="from 0 to 1"):
        model.impact(q, v, friction=0.1, restitution=1.1)
    with pytest.raises(UnknownNameError, match="did you mean"):
        model.impact(q, v, friction=0.1, points=["leg7"])
    with pytest.raises(ArgumentError, match="unit vector"):
        model.delassus(q, normals=(0.0, 0.0, 2.0))
    with pytest.raises(ArgumentError, match="free, stick, slip"):
        model.contact_forces(q, v, tau, ["glue"] * 4, friction=1.0)


if __name__ == "__main__":
    for robot in IMPACTS:
        for mu in (0.0, 0.3, 1.0):
            numbers = solve_impacts(robot, int(sys.argv[1]), mu, min(int(sys.argv[1]), 1000))
            print(f"{robot}, friction {mu}: laws {numbers[0]:.1e} m/s, other solver {numbers[1]:.1e}, "
                  f"least loss {numbers[2]:.2e} J, momentum {numbers[3]:.1e}")  # fmt: skip
    for mu in (0.0, 0.3, 1.0):
        off, least, momentum = redundant_impacts(int(sys.argv[1]), mu)
        print(f"eleven points, friction {mu}: {np.count_nonzero(off > 1e-10)} of {len(off)} over 1e-10 m/s off, "
              f"{off.max():.1e} at most, loss {least:.1e} J, momentum {momentum:.1e}")  # fmt: skip
