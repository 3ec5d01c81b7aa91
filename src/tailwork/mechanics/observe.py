"""What can be observed of a state: energies, momenta, and what a path is judged by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import Array, array, cross, dot, skew, times, zeros
from tailwork.mechanics.air import air_of, drag_on
from tailwork.mechanics.forward import (
    ForwardSolution,
    Inputs,
    coordinate_forces,
    forward_dynamics,
    ground_force,
    joint_torques,
    leg_torques,
)
from tailwork.mechanics.kinematics import MovingBody, at_rest, bodies, frame_jacobians, limb_states
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.pinned import extension
from tailwork.mechanics.springs_and_cables import damping_power, pull_arms, spring_energy, spring_torques
from tailwork.mechanics.sweeps import Wrench
from tailwork.mechanics.torso import pinned_values, torso_state
from tailwork.robots.limb import Motor


def _all_bodies(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[MovingBody]:
    return [body for found in bodies(layout, q, v).values() for body in found]


def energy(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Kinetic, gravitational and elastic energy [J]; heights count from z = 0."""
    states = limb_states(layout, torso_state(layout, q, v), q, v)
    kinetic: Scalar = 0.0
    height: Scalar = 0.0  # mass times height [kg m]
    for body in _all_bodies(layout, q, v):
        kinetic = kinetic + body.moments.kinetic_energy(body.velocity, body.omega)
        height = height + body.moments.mass * body.place[2] + dot(body.rotation[2], body.moments.first)
    elastic: Scalar = 0.0
    for state in states.values():
        elastic = elastic + spring_energy(state.limb, state.values, state.angles)
        for joint, rate in zip(state.limb.joints, state.rates, strict=True):
            kinetic = kinetic + rate * rate * (joint.armature * 0.5)
    return [kinetic, height * layout.robot.gravity, elastic]


def _summed(bodies: Iterable[MovingBody], about: Array) -> tuple[Scalar, Array, Array, Array]:
    """Mass, first moment, linear momentum and angular momentum about a point of some bodies, inertial frame."""
    mass: Scalar = 0.0
    first, linear, angular = zeros(3), zeros(3), zeros(3)
    for body in bodies:
        p, h = (times(body.rotation, x) for x in body.moments.momentum(body.velocity, body.omega))
        mass = mass + body.moments.mass
        first = first + body.place * body.moments.mass + times(body.rotation, body.moments.first)
        linear, angular = linear + p, angular + h + cross(body.place - about, p)
    return mass, first, linear, angular


def center_of_mass(layout: Layout, q: Sequence[Scalar]) -> Array:
    """Centre of mass of the whole robot, inertial frame [m]; a fixed torso counts for nothing."""
    mass, first, _, _ = _summed(_all_bodies(layout, q, at_rest(layout)), zeros(3))
    return first * (1.0 / mass)


def centroidal_momentum(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Linear momentum [N s] and angular momentum about the centre of mass [N m s], inertial frame."""
    _, _, linear, angular = _summed(_all_bodies(layout, q, v), center_of_mass(layout, q))
    return [*linear, *angular]


def centroidal_momentum_matrix(layout: Layout, q: Sequence[Scalar]) -> Array:
    """A(q), 6 × velocities: A v is the linear momentum [N s] and the angular one about the centre of mass [N m s]."""
    com = center_of_mass(layout, q)
    result = zeros(6, len(layout.velocity_names))
    for frame in frame_jacobians(layout, q):
        moments = frame.moments.turned(frame.rotation)
        first = skew(moments.first)
        linear = frame.linear * moments.mass - times(first, frame.angular)
        own = times(first, frame.linear) + times(moments.inertia(), frame.angular)
        result[:3] = result[:3] + linear
        result[3:] = result[3:] + own + times(skew(frame.place - com), linear)
    return result


def part_names(layout: Layout) -> list[str]:
    """Names of the parts that `part_momenta` tells apart: the torso, unless it is fixed, and every limb."""
    return [*(["torso"] if layout.torso_free else []), *layout.limbs]


def part_momenta(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """By part: mass [kg], centre of mass [m], linear momentum [N s] and angular momentum about the whole robot's centre
    of mass as seen from there [N m s]: all masses, then all centres and so on, inertial frame."""
    seen, middle = bodies(layout, q, v), center_of_mass(layout, q)
    parts = {name: _summed(seen[name], middle) for name in part_names(layout)}
    total = sum((mass for mass, _, _, _ in parts.values()), 0.0)
    velocity = sum((linear for _, _, linear, _ in parts.values()), zeros(3)) * (1.0 / total)  # of the centre of mass
    masses, centers, momenta, turning = [], [], [], []
    for mass, first, linear, angular in parts.values():
        masses.append(mass)
        centers += list(first * (1.0 / mass))
        momenta += list(linear)
        turning += list(angular - cross(first - middle * mass, velocity))
    return [*masses, *centers, *momenta, *turning]


@dataclass
class Path:
    """What a path is judged by, with the acceleration it is made from."""

    acceleration: list[Scalar]  # as v
    foot_forces: list[Scalar]  # by pinned foot: force of the ground, inertial frame [N]
    extensions: list[Scalar]  # by pinned foot: 1 is a straight leg
    prescribed_efforts: list[Scalar]  # by prescribed coordinate [N m]
    powers: list[Scalar]  # by actuator, then by prescribed coordinate: power given to the robot [W]
    dissipation: Scalar  # power that dampers, stops and dry friction take [W]
    outside_power: Scalar = 0.0  # power that outside forces and the air give [W]


def path(layout: Layout, inputs: Inputs) -> Path:
    """Accelerations and everything else that is asked along a path, from one solve."""
    solution = forward_dynamics(layout, inputs)
    forces: list[Scalar] = []
    extensions: list[Scalar] = []
    for name, leg in solution.legs.items():
        own = solution.acceleration[layout.rates[name]] if name in layout.dependent else []
        torso, linear, angular = solution.torso, solution.linear, solution.angular
        forces += list(ground_force(layout, torso, name, leg, linear, angular, inputs, own))
        extensions.append(extension(leg.limb, leg.foot))
    powers = _powers(layout, solution, inputs)
    efforts = zip(solution.prescribed_efforts, layout.prescribed_rates, strict=True)
    powers += [effort * inputs.v[k] for effort, k in efforts]
    dissipation: Scalar = 0.0
    for leg in solution.legs.values():
        dissipation = dissipation + damping_power(leg.limb, pinned_values(leg), leg.angles, leg.rates)
    for state in solution.states.values():
        dissipation = dissipation + damping_power(state.limb, state.values, state.angles, state.rates)
    outside = outside_power(layout, inputs)
    return Path(solution.acceleration, forces, extensions, solution.prescribed_efforts, powers, dissipation, outside)


def _drags(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[tuple[MovingBody, Wrench]]:
    """By frame, the torso's first: how it moves, and the wrench of the air about its origin, in its own axes."""
    air, found = air_of(layout.robot), []
    for name, moving in bodies(layout, q, v).items():
        held = [layout.robot.torso_body()] if name == "torso" else [joint.body for joint in layout.limbs[name].joints]
        for body, at in zip(held, moving, strict=True):
            against = at.velocity - times(at.rotation.T, array(air.wind))
            elements = () if body is None else body.drag
            found.append((at, drag_on(elements, against, at.omega, air.density)))
    return found


def air_forces(layout: Layout, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Array]:
    """By frame, the torso's first: force of the air on its body, inertial frame [N]."""
    return [times(at.rotation, drag.force) for at, drag in _drags(layout, q, v)]


def net_power(layout: Layout, solution: ForwardSolution, inputs: Inputs) -> Scalar:
    """Power of all forces but weights and those of pinned feet, which do no work [W]: kinetic and gravitational energy
    together change by it. Motors, cables, springs, dampers, what moves prescribed limbs, outside forces and air."""
    power: Scalar = 0.0
    for name, leg in solution.legs.items():
        for torque, rate in zip(leg_torques(layout, name, leg, inputs.tau), leg.rates, strict=True):
            power = power + torque * rate
    for name, state in solution.states.items():
        rates = inputs.v[layout.rates[name]]
        if name in layout.prescribed:
            springs = spring_torques(state.limb, state.values, state.angles, state.rates)
            forces = list(times(state.gearing.T, array(springs)))
            needed = solution.prescribed_efforts[layout.prescribed_accelerations[name]]
            forces = [force + effort for force, effort in zip(forces, needed, strict=True)]
        else:
            efforts = inputs.tau[layout.efforts[name]]
            forces = coordinate_forces(state, joint_torques(state.limb, state, efforts), efforts)
        for force, rate in zip(forces, rates, strict=True):
            power = power + force * rate
    return power + outside_power(layout, inputs)


def outside_power(layout: Layout, inputs: Inputs, rates: Sequence[Scalar] | None = None) -> Scalar:
    """Power of outside forces and of the air on bodies that move with their velocities, or with other `rates`."""
    power: Scalar = 0.0
    if not (layout.pushes or layout.robot.has_drag()):
        return power
    moving = bodies(layout, inputs.q, inputs.v if rates is None else rates)
    for push, force in zip(layout.pushes, inputs.forces, strict=True):
        joint = 0 if push.limb == "torso" else layout.limbs[push.limb].index(push.joint)
        body = moving[push.limb][joint]
        power = power + dot(force, times(body.rotation, body.velocity + cross(body.omega, array(push.point))))
    if layout.robot.has_drag():
        every = [body for found in moving.values() for body in found]
        for body, (_, drag) in zip(every, _drags(layout, inputs.q, inputs.v), strict=True):
            power = power + dot(drag.force, body.velocity) + dot(drag.moment, body.omega)
    return power


def _powers(layout: Layout, solution: ForwardSolution, inputs: Inputs) -> list[Scalar]:
    """Power of each actuator: effort times the rate it works on."""
    powers: list[Scalar] = []
    for name in layout.actuated:
        limb, leg = layout.limbs[name], solution.legs.get(name)
        found = solution.states[name] if leg is None else leg
        for actuator, effort in zip(limb.actuators, inputs.tau[layout.efforts[name]], strict=True):
            if isinstance(actuator, Motor):
                if leg is not None:
                    rate = leg.rates[limb.index(actuator.coordinate)]
                else:
                    rate = inputs.v[layout.rates[name]][limb.coordinates.index(actuator.coordinate)]
                powers.append(effort * rate * actuator.ratio)
            else:
                values = solution.states[name].values if leg is None else pinned_values(leg)
                arms = pull_arms(limb, values, found.angles, actuator)
                powers.append(-effort * sum((arm * found.rates[k] for k, arm in arms.items()), 0.0))
    return powers
