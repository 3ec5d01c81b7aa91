"""What can be observed of a state: energies, momenta, places, and what a path is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import Array, array, cross, dot, times, zeros
from tailwork.mechanics.elements import cable_arms, damping_power, spring_energy
from tailwork.mechanics.forward import ForwardSolution, Inputs, forward_dynamics, ground_force
from tailwork.mechanics.frames import own_frames
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.moments import Moments
from tailwork.mechanics.torso import (
    LimbState,
    TorsoState,
    gearing_of,
    limb_state,
    pinned_values,
    stance_leg,
    torso_state,
)
from tailwork.robots.limb import Motor


@dataclass
class Seen:
    """A body or a point of the robot: place and velocity of its joint in the inertial frame."""

    place: Array  # [m]
    rotation: Array  # from the body's frame to the inertial
    velocity: Array  # [m/s], in the body's frame
    omega: Array  # [rad/s], in the body's frame
    moments: Moments | None


def limb_states(layout: Layout, torso: TorsoState, q: Sequence[Scalar], v: Sequence[Scalar]) -> dict[str, LimbState]:
    """Joint angles and rates of every limb, pinned ones included."""
    states: dict[str, LimbState] = {}
    for name, limb in layout.limbs.items():
        if name in layout.stance:
            leg = stance_leg(layout, torso, name)
            states[name] = LimbState(limb, gearing_of(limb), pinned_values(leg), list(leg.angles), leg.rates)
        else:
            states[name] = limb_state(limb, q[layout.coordinates[name]], v[layout.rates[name]])
    return states


def bodies(torso: TorsoState, states: dict[str, LimbState]) -> dict[str, list[Seen]]:
    """By limb: place and velocity of every joint. The torso stands under "torso"."""
    base = Seen(torso.position, torso.rotation, torso.velocity, torso.omega, torso.moments)
    seen: dict[str, list[Seen]] = {"torso": [base]}
    for name, state in states.items():
        found: list[Seen] = []
        for link, rate in zip(own_frames(state.limb, state.angles), state.rates, strict=True):
            before = base if link.parent < 0 else found[link.parent]
            assert link.turn is not None
            velocity = link.turn.outward(before.velocity + cross(before.omega, link.offset))
            omega = link.turn.outward(before.omega) + link.axis * rate
            place = before.place + times(before.rotation, link.offset)
            found.append(Seen(place, times(before.rotation, link.turn.matrix()), velocity, omega, link.moments))
        seen[name] = found
    return seen


def _everything(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[dict[str, LimbState], list[Seen]]:
    torso = torso_state(layout, q, v)
    states = limb_states(layout, torso, q, v)
    return states, [body for found in bodies(torso, states).values() for body in found]


def energy(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Kinetic, gravitational and elastic energy [J]; heights count from z = 0."""
    states, seen = _everything(layout, q, v)
    kinetic: Scalar = 0.0
    height: Scalar = 0.0  # mass times height [kg m]
    for body in seen:
        if body.moments is not None:
            kinetic = kinetic + body.moments.kinetic_energy(body.velocity, body.omega)
            height = height + body.moments.mass * body.place[2] + dot(body.rotation[2], body.moments.first)
    elastic: Scalar = 0.0
    for state in states.values():
        elastic = elastic + spring_energy(state.limb, state.values, state.angles)
        for joint, rate in zip(state.limb.joints, state.rates, strict=True):
            kinetic = kinetic + rate * rate * (joint.armature * 0.5)
    return [kinetic, height * layout.robot.gravity, elastic]


def center_of_mass(layout: Layout, q: Sequence[Scalar]) -> Array:
    """Centre of mass of the whole robot, inertial frame [m]; a fixed torso counts for nothing."""
    _, seen = _everything(layout, q, [0.0] * len(layout.velocity_names))
    mass: Scalar = 0.0
    first = zeros(3)
    for body in seen:
        if body.moments is not None:
            mass = mass + body.moments.mass
            first = first + body.place * body.moments.mass + times(body.rotation, body.moments.first)
    return first * (1.0 / mass)


def momentum(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Linear momentum [N s] and angular momentum about the centre of mass [N m s], inertial frame."""
    _, seen = _everything(layout, q, v)
    com = center_of_mass(layout, q)
    linear, angular = zeros(3), zeros(3)
    for body in seen:
        if body.moments is not None:
            p, h = body.moments.momentum(body.velocity, body.omega)
            p, h = times(body.rotation, p), times(body.rotation, h)
            linear, angular = linear + p, angular + h + cross(body.place - com, p)
    return [*linear, *angular]


def part_names(layout: Layout) -> list[str]:
    """Names of the parts that `part_momenta` tells apart: the torso, unless it is fixed, and every limb."""
    return [*(["torso"] if layout.torso_free else []), *layout.limbs]


def part_momenta(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """By part: mass [kg], centre of mass [m], linear momentum [N s] and angular momentum about the whole robot's centre
    of mass as seen from there [N m s]: all masses, then all centres and so on, inertial frame."""
    torso = torso_state(layout, q, v)
    seen = bodies(torso, limb_states(layout, torso, q, v))
    middle = center_of_mass(layout, q)
    total = sum((b.moments.mass for found in seen.values() for b in found if b.moments is not None), 0.0)
    whole = array(momentum(layout, q, v)[:3]) * (1.0 / total)  # velocity of the centre of mass
    masses: list[Scalar] = []
    centers: list[Scalar] = []
    linear: list[Scalar] = []
    angular: list[Scalar] = []
    for name in part_names(layout):
        mass: Scalar = 0.0
        first, carried, turning = zeros(3), zeros(3), zeros(3)
        for body in seen[name]:
            if body.moments is not None:
                p, h = body.moments.momentum(body.velocity, body.omega)
                p, h = times(body.rotation, p), times(body.rotation, h)
                mass = mass + body.moments.mass
                first = first + body.place * body.moments.mass + times(body.rotation, body.moments.first)
                carried, turning = carried + p, turning + h + cross(body.place - middle, p)
        masses.append(mass)
        centers += list(first * (1.0 / mass))
        linear += list(carried)
        angular += list(turning - cross(first - middle * mass, whole))
    return [*masses, *centers, *linear, *angular]


def point_names(layout: Layout) -> list[str]:
    """Names of the points that `points` gives: every joint, foot and tip, with the torso first."""
    names = ["torso"]
    for name, limb in layout.limbs.items():
        names += [f"{name}.{joint.name}" for joint in limb.joints]
        names += [f"{name}.foot"] if limb.foot is not None else []
        names += [f"{name}.tip"] if limb.tip is not None else []
    return names


def points(layout: Layout, q: Sequence[Scalar]) -> list[Scalar]:
    """Places of all named points in the inertial frame, one after the other [m]."""
    torso = torso_state(layout, q, [0.0] * len(layout.velocity_names))
    states = limb_states(layout, torso, q, [0.0] * len(layout.velocity_names))
    seen = bodies(torso, states)
    places = list(torso.position)
    for name, limb in layout.limbs.items():
        for body in seen[name]:
            places += list(body.place)
        for end in (limb.foot, limb.tip):
            if end is not None:
                body = seen[name][limb.index(end.joint)]
                places += list(body.place + times(body.rotation, array(end.point)))
    return places


def feet(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> dict[str, tuple[Array, Array]]:
    """By limb with a foot: place [m] and velocity [m/s] of the foot, inertial frame."""
    torso = torso_state(layout, q, v)
    seen = bodies(torso, limb_states(layout, torso, q, v))
    found: dict[str, tuple[Array, Array]] = {}
    for name in layout.legs:
        foot = layout.limbs[name].foot
        assert foot is not None
        body, point = seen[name][layout.limbs[name].index(foot.joint)], array(foot.point)
        found[name] = (
            body.place + times(body.rotation, point),
            times(body.rotation, body.velocity + cross(body.omega, point)),
        )
    return found


def joint_angles(layout: Layout, q: Sequence[Scalar]) -> list[Scalar]:
    """Angles of all joints of all limbs, pinned legs included [rad]."""
    torso = torso_state(layout, q, [0.0] * len(layout.velocity_names))
    states = limb_states(layout, torso, q, [0.0] * len(layout.velocity_names))
    return [value for state in states.values() for value in state.values]


@dataclass
class Path:
    """What a path is judged by, with the acceleration it is made from."""

    acceleration: list[Scalar]  # as v
    foot_forces: list[Scalar]  # by pinned foot: force of the ground, inertial frame [N]
    extensions: list[Scalar]  # by pinned foot: 1 is a straight leg
    prescribed_efforts: list[Scalar]  # by prescribed coordinate [N m]
    powers: list[Scalar]  # by actuator, then by prescribed coordinate: power given to the robot [W]
    dissipation: Scalar  # power that the dampers take [W]


def path(layout: Layout, inputs: Inputs) -> Path:
    """Accelerations and everything else that is asked along a path, from one solve."""
    solution = forward_dynamics(layout, inputs)
    forces: list[Scalar] = []
    extensions: list[Scalar] = []
    for name, leg in solution.legs.items():
        forces += list(ground_force(layout, solution.torso, name, leg, solution.linear, solution.angular, inputs))
        assert leg.limb.closed_form is not None
        extensions.append(leg.limb.closed_form.extension((leg.foot[0], leg.foot[1], leg.foot[2])))
    given = [inputs.v[k] for name, here in layout.rates.items() if name in layout.prescribed
             for k in range(here.start, here.stop)]  # fmt: skip
    powers = _powers(layout, solution, inputs)
    powers += [effort * rate for effort, rate in zip(solution.prescribed_efforts, given, strict=True)]
    dissipation: Scalar = 0.0
    for leg in solution.legs.values():
        dissipation = dissipation + damping_power(leg.limb, leg.angles, leg.rates)
    for state in solution.states.values():
        dissipation = dissipation + damping_power(state.limb, state.angles, state.rates)
    return Path(solution.acceleration, forces, extensions, solution.prescribed_efforts, powers, dissipation)


def _powers(layout: Layout, solution: ForwardSolution, inputs: Inputs) -> list[Scalar]:
    """Power of each actuator: effort times the rate it works on."""
    powers: list[Scalar] = []
    for name in layout.actuated:
        limb = layout.limbs[name]
        leg = solution.legs.get(name)
        angles, rates = (
            (leg.angles, leg.rates) if leg is not None else (solution.states[name].angles, solution.states[name].rates)
        )
        efforts = inputs.tau[layout.efforts[name]]
        for actuator, effort in zip(limb.actuators, efforts, strict=True):
            if isinstance(actuator, Motor):
                if leg is not None:
                    rate = rates[limb.index(actuator.coordinate)]
                else:
                    rate = inputs.v[layout.rates[name]][limb.coordinates.index(actuator.coordinate)]
                powers.append(effort * rate * actuator.ratio)
            else:
                arms = cable_arms(limb, angles, actuator)
                powers.append(-effort * sum((arm * rates[k] for k, arm in arms.items()), 0.0))
    return powers
