"""Small machines on rigid ground whose motion is known in other ways: a puck, a rod, a rimless wheel, Goswami's
walker."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

from benchmarks.quadruped import model_of
from tailwork import Model
from tailwork.robots import Body, ContactPoint, Foot, FreeLimb, Joint, Limb, Motor, Robot, Torso
from tailwork.simulation.contact.ground import HeightField
from tailwork.simulation.events import PassesThrough
from tailwork.typing import Floats


def lone_body(*points: tuple[float, float, float], inertia: float = 1.0, gravity: float = 10.0) -> Model:
    """A body of 1 kg with contact points."""
    contacts = tuple(ContactPoint(name=f"p{k}", point=point) for k, point in enumerate(points))
    torso = Torso(mass=1.0, inertia=(inertia, inertia, inertia, 0.0, 0.0, 0.0))
    return model_of(Robot(name="body", torso=torso, parts={}, gravity=gravity, contacts=contacts))


def slope(angle: float, axis: str) -> HeightField:
    """A plane that falls along an axis by an angle [rad]."""
    fall = np.tan(angle)
    return HeightField.sampled(lambda x, y: -fall * (x if axis == "x" else y), (-30.0, 30.0), (-30.0, 30.0), 10.0)


GOSWAMI = {"m": 5.0, "m_hip": 10.0, "a": 0.5, "b": 0.5, "slope": np.radians(3.0), "g": 9.81}
"""Goswami, Thuilot & Espiau 1998: the compass walker's masses [kg], lengths [m] and slope."""


def compass_robot() -> Robot:
    """The walker as a robot in space: both hips at P, each leg on one hinge across; it walks along y."""
    leg = Limb(
        joints=(Joint(name="h", axis=(1.0, 0.0, 0.0), body=Body(mass=5.0, com=(0.0, 0.0, -0.5))),),
        foot=Foot(joint="h", point=(0.0, 0.0, -1.0), place=(0.0, 0.0, 0.0)),
    )
    torso = Torso(mass=10.0, inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0))
    return Robot(name="compass", torso=torso, parts={"left": FreeLimb(limb=leg), "right": FreeLimb(limb=leg)})


def compass_speed(cycle: Floats, period: float) -> float:
    """Of a walker with legs of 1 m [m/s]."""
    return 2.0 * np.sin(0.5 * (cycle[0] - cycle[1])) / period


def hopper() -> Model:
    """A robot on one leg, which a motor shortens and stretches."""
    foot = Body(mass=0.2, com=(0.0, 0.0, -0.3), inertia=(1e-3, 1e-3, 1e-4, 0.0, 0.0, 0.0))
    leg = Limb(
        joints=(Joint(name="s", motion="slider", axis=(0.0, 0.0, 1.0), body=foot),),
        foot=Foot(joint="s", point=(0.0, 0.0, -0.4), place=(0.0, 0.0, 0.0)),
        actuators=(Motor(name="m", coordinate="s"),),
    )
    torso = Torso(mass=2.0, inertia=(0.02, 0.02, 0.02, 0.0, 0.0, 0.0))
    return model_of(Robot(name="hopper", torso=torso, parts={"leg": FreeLimb(limb=leg)}, stand=(0.0, 0.0, 0.4)))


def compass_events() -> list[PassesThrough]:
    """A foot touches only when it is well ahead of the other: scuffing in the middle of a swing is left out."""

    def ahead(leg: str, other: str) -> PassesThrough:
        return PassesThrough(
            point=leg,
            quantity=lambda c: c.q[c.layout.coordinates[leg]][0] - c.q[c.layout.coordinates[other]][0] - 0.05,
        )

    return [ahead("left", "right"), ahead("right", "left")]


def compass_state(stance: float, swing: float, stance_rate: float, swing_rate: float) -> tuple[Floats, Floats]:
    """(q, v) of the robot with its left foot at the origin; angles of the legs from the vertical [rad], [rad/s]."""
    hip = (0.0, -np.sin(stance), np.cos(stance))
    rate = (0.0, -np.cos(stance) * stance_rate, -np.sin(stance) * stance_rate)
    q = np.array([*hip, 1.0, 0.0, 0.0, 0.0, stance, swing])
    return q, np.array([*rate, 0.0, 0.0, 0.0, stance_rate, swing_rate])


def compass_cycle(**changes: float) -> tuple[Floats, float, np.ndarray]:
    """The walker's cycle by its own two equations, written out: (stance, swing and their rates after a step, its
    period [s], multipliers of the step), the derivatives by central differences; `changes` are of GOSWAMI."""
    m, m_hip, a, b, tilt, g = ((GOSWAMI | changes)[key] for key in ("m", "m_hip", "a", "b", "slope", "g"))
    length = a + b

    def masses(s: float, n: float) -> Floats:
        c = -m * length * b * np.cos(s - n)
        return np.array([[m_hip * length**2 + m * (length**2 + a**2), c], [c, m * b**2]])

    def rates(_: float, x: Floats) -> Floats:
        s, n, ds, dn = x
        cross = -m * length * b * np.sin(s - n)
        bias = np.array([cross * dn**2, -cross * ds**2])
        weight = g * np.array([-(m_hip * length + m * (a + length)) * np.sin(s), m * b * np.sin(n)])
        return np.array([ds, dn, *np.linalg.solve(masses(s, n), -bias - weight)])

    def landing(_: float, x: Floats) -> float:
        return x[0] + x[1] + 2.0 * tilt  # with angles from the vertical, both feet on the slope

    landing.terminal, landing.direction = True, -1.0  # pyright: ignore[reportFunctionMemberAccess]

    def step(x: Floats) -> tuple[Floats, float]:
        first = solve_ivp(rates, (0.0, 0.3), x, rtol=1e-12, atol=1e-13)
        rest = solve_ivp(rates, (0.3, 3.0), first.y[:, -1], rtol=1e-12, atol=1e-13, events=landing)
        s, n, ds, dn = rest.y[:, -1]
        # Angular momentum of all about the foot that lands, and of the leg that lets go about the hip, do not change.
        before = momenta(s, n, ds, dn, about_swing_foot=True)
        after = np.array([momenta(n, s, *unit, about_swing_foot=False) for unit in np.eye(2)]).T
        return np.array([n, s, *np.linalg.solve(after, before)]), float(rest.t[-1])

    def momenta(s: float, n: float, ds: float, dn: float, about_swing_foot: bool) -> Floats:
        """Of all about one of the feet; of the leg that lets go (in stance before, swinging after) about the hip."""

        def across(r: Floats, v: Floats) -> float:
            return r[0] * v[1] - r[1] * v[0]

        def leg(angle: float, size: float) -> Floats:
            return size * np.array([np.sin(angle), -np.cos(angle)])

        def turning(angle: float, rate: float, size: float) -> Floats:
            return size * rate * np.array([np.cos(angle), np.sin(angle)])

        hip_speed = -turning(s, ds, length)  # the stance foot rests
        foot = leg(n if about_swing_foot else s, length)
        parts = [(m_hip, np.zeros(2), hip_speed)]
        parts += [(m, leg(s, b), hip_speed + turning(s, ds, b)), (m, leg(n, b), hip_speed + turning(n, dn, b))]
        whole = sum(mass * across(place - foot, speed) for mass, place, speed in parts)
        mass, place, speed = parts[1 if about_swing_foot else 2]
        return np.array([whole, mass * across(place, speed)])

    guess = np.array([0.2187, -0.2187 - 2.0 * tilt, -1.0924, -0.3774])

    def section(y: Floats) -> Floats:
        """On the section both feet are on the slope: three numbers tell the state."""
        return np.array([y[0], -y[0] - 2.0 * tilt, y[1], y[2]])

    def wrong(y: Floats) -> Floats:
        return (step(section(y))[0] - section(y))[[0, 2, 3]]

    own: Any = fsolve(wrong, guess[[0, 2, 3]], xtol=1e-13)
    columns = []
    for k in range(3):
        h = 1e-6 * np.eye(3)[k]
        columns.append((wrong(own + h) - wrong(own - h)) / 2e-6)
    multipliers = np.linalg.eigvals(np.array(columns).T + np.eye(3))
    return section(own), step(section(own))[1], multipliers
