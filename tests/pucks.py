"""Small robots on compliant ground: a puck, whose foot is in its centre of mass; one with a tail; the quadruped."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from oracles.layout import Array
from tailwork.model import Model
from tailwork.robots import Body, Foot, FreeLimb, Joint, JointSpring, Limb, Motor, Robot, Torso, liu2020
from tailwork.simulation import Run, simulate
from tailwork.simulation.contact.ground import CompliantGround, HeightField
from tailwork.simulation.run import Contact

MASS, GRAVITY, STIFFNESS, ACROSS = 1.0, 10.0, 1e4, 2e4  # kg, m/s², N/m, N/m
STATIC, KINETIC = 0.8, 0.5
AIR, STICK, SLIP = range(3)
TURNING = 0.001, 0.01  # moments of inertia of the foot's body and of the torso about z [kg m²]
LIMIT, TAIL_LIMIT = 0.02, 0.1  # of the motors [N m]
EXACT = 2.0**-10  # a step that adds up without rounding [s]
EVERY = 10**6  # samples: every step is kept


def foot_limb(point: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Limb:
    """A foot on a hinge about z, with a motor."""
    inertia = (1e-3, 1e-3, TURNING[0], 0.0, 0.0, 0.0)
    return Limb(
        joints=(Joint(name="spin", axis=(0.0, 0.0, 1.0), body=Body(mass=0.1, inertia=inertia)),),
        foot=Foot(joint="spin", point=point, place=(0.0, 0.0, 0.0)),
        actuators=(Motor(name="motor", coordinate="spin", limit=LIMIT),),
    )


def puck(gravity: float = GRAVITY) -> Robot:
    """A robot of 1 kg that a foot in its centre of mass carries, so that it moves as a point does."""
    torso = Torso(mass=MASS - 0.1, inertia=(0.01, 0.01, TURNING[1], 0.0, 0.0, 0.0))
    return Robot(name="puck", gravity=gravity, torso=torso, parts={"foot": FreeLimb(limb=foot_limb())})


def tailed() -> Robot:
    """A foot below the torso, and a tail on a spring that swings sideways and a little upwards."""
    body = Body(mass=0.2, com=(0.0, -0.2, 0.0), inertia=(1e-3, 1e-4, 1e-3, 0.0, 0.0, 0.0))
    swing = Joint(name="swing", axis=(0.6, 0.0, 0.8), offset=(0.0, -0.1, 0.0), body=body)
    tail = Limb(
        joints=(swing,),
        springs=(JointSpring(joint="swing", stiffness=0.5, damping=0.02),),
        actuators=(Motor(name="motor", coordinate="swing", limit=TAIL_LIMIT),),
    )
    parts = {"foot": FreeLimb(limb=foot_limb((0.01, 0.02, -0.1))), "tail": FreeLimb(limb=tail)}
    torso = Torso(mass=0.9, inertia=(0.01, 0.01, 0.01, 0.0, 0.0, 0.0))
    return Robot(name="tailed", gravity=GRAVITY, torso=torso, parts=parts)


@cache
def model() -> Model:
    """The puck with its foot free to touch."""
    return Model(puck(), "none")


def ground(**changes: Any) -> CompliantGround:
    """Ground without dampers by default."""
    numbers: dict[str, Any] = {
        "stiffness": STIFFNESS, "tangential_stiffness": ACROSS, "static_friction": STATIC, "kinetic_friction": KINETIC
    }  # fmt: skip
    return CompliantGround(**(numbers | changes))


DAMPED = {"damping": 1.0, "tangential_damping": 40.0}


def thrown(
    place: Any = (0.0, 0.0, 0.0), velocity: Any = (0.0, 0.0, 0.0), duration: float = 0.5, *,
    on: CompliantGround | None = None, robot: Model | None = None, **more: Any,
) -> Run:  # fmt: skip
    """The puck from a place and a velocity."""
    q, v = np.zeros(7), np.zeros(7)
    q[:3], v[:3] = place, velocity
    return simulate(robot or model(), (q, v), duration, ground=on or ground(), **more)


def incline(angle: float) -> tuple[HeightField, Array, Array]:
    """A plane that falls towards x by an angle, its normal, and the way down."""
    slope, (s, c) = np.tan(angle), (np.sin(angle), np.cos(angle))
    field = HeightField.sampled(lambda x, y: -slope * x, (-1.0, 30.0), (-2.0, 2.0), 0.5)
    return field, np.array([s, 0.0, c]), np.array([c, 0.0, -s])


def resting(angle: float, state: str) -> tuple[Array, Contact]:
    """The puck's place on an incline with the springs as weight (stick) or kinetic friction (slip) stretches them."""
    _, normal, down = incline(angle)
    pressed = MASS * GRAVITY * np.cos(angle)
    place = -normal * pressed / STIFFNESS
    friction = MASS * GRAVITY * np.sin(angle) if state == "stick" else KINETIC * pressed
    return place, Contact((state,), (place - down * friction / ACROSS)[None])


def inclined(angle: float, state: str, duration: float = 0.5) -> tuple[Run, Array, Array]:
    """A run from there, its start and the way down."""
    field, _, down = incline(angle)
    place, contact = resting(angle, state)
    return thrown(place, duration=duration, on=ground(surface=field, **DAMPED), contact=contact), place, down


def bumpy() -> HeightField:
    """Hills of a centimetre."""
    return HeightField.sampled(
        lambda x, y: 0.01 * np.sin(12.0 * x) * np.cos(9.0 * y), (-0.5, 1.5), (-0.5, 1.0), 0.02
    )  # fmt: skip


def in_cone(run: Run, slack: float = 1e-12) -> Array:
    """Checks the forces of every step of a run that keeps all of them; returns the share of friction in use."""
    assert run.ground is not None
    names = [f"{foot}.foot" for foot in run.data["foot"].to_numpy()]
    places = run.data["points"].sel(point=names).to_numpy()[:-1]
    force, mode = run.data["foot_force"].to_numpy()[1:], run.data["contact"].to_numpy()[1:]
    field = run.ground.surface
    normal = np.broadcast_to([0.0, 0.0, 1.0], places.shape)
    if field is not None:
        normal = np.array([[field.normal(p[0], p[1]) for p in feet] for feet in places])
    pressed = (force * normal).sum(axis=-1)
    across = np.linalg.norm(force - pressed[..., None] * normal, axis=-1)
    static, kinetic = run.ground.static_friction, run.ground.kinetic_friction
    assert (pressed >= 0.0).all(), "no foot pulls"
    assert (pressed[mode != AIR] > 0.0).all()
    assert (force[mode == AIR] == 0.0).all()
    assert (across <= static * pressed * (1.0 + slack)).all(), "no foot leaves the friction cone"
    np.testing.assert_allclose(across[mode == SLIP], kinetic * pressed[mode == SLIP], rtol=slack)
    return across[mode == STICK] / (static * pressed[mode == STICK])


@cache
def with_tail(attitude: str = "rpy") -> Model:
    """The tail's motion is given."""
    return Model(tailed(), "none", prescribed=("tail",), attitude=attitude)


@cache
def quadrupeds() -> tuple[Model, Model]:
    """The 2020 quadruped with the pendulum tail, feet pinned and free."""
    return Model(liu2020("pendulum")), Model(liu2020("pendulum"), "none")


def differing(one: Run, other: Run) -> list[str]:
    """Names of data that do not have the same bits in two runs."""
    names = sorted({*map(str, one.data.data_vars), *map(str, other.data.data_vars)})
    return [
        name for name in names
        if name not in one.data or name not in other.data
        or not np.array_equal(one.data[name], other.data[name], equal_nan=True)
    ]  # fmt: skip
