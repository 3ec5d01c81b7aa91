"""Forward dynamics: every limb reduced to the torso, one 6×6 solve, and back into the limbs.

Whatever drives a limb, it hands the torso a 6×6 inertia and a wrench: wrench on the limb = inertia · A + wrench, with A
the acceleration of P and of the torso's attitude, in the torso frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import Array, array, cross, dot, times, zeros
from tailwork.mechanics.compliant.impedance import ContactImpedance, OnCoordinates, touching
from tailwork.mechanics.frames import Link, one_frame, own_frames
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.pinned import PinnedLeg, foot_force, leg_inertia, leg_needs, rate_bias
from tailwork.mechanics.solve import Factored
from tailwork.mechanics.springs_and_cables import pull_arms, spring_torques
from tailwork.mechanics.sweeps import (
    NO_WRENCH,
    Inertia6,
    Motion,
    Wrench,
    articulated,
    collected,
    composite,
    loads,
    motions,
    rigid,
)
from tailwork.mechanics.torso import (
    LimbState,
    TorsoState,
    leg_pushes,
    limb_state,
    out_of_link,
    outside_wrenches,
    pinned_values,
    stance_leg,
    torso_push,
    torso_state,
)
from tailwork.robots.limb import Limb, Motor

Reply = Callable[[Array, Array], list[Scalar]]
"""From the torso's acceleration (linear, angular): a limb's coordinate accelerations."""


@dataclass(frozen=True)
class Added:
    """What a coordinate feels besides its efforts, springs and dampers: force − inertia · acceleration."""

    inertia: Scalar  # [kg m²]
    force: Scalar  # [N m]


@dataclass
class Inputs:
    """Arguments of the dynamics, as scalars."""

    q: Sequence[Scalar]
    v: Sequence[Scalar]
    tau: Sequence[Scalar]
    prescribed_acceleration: Sequence[Scalar] = ()  # of the prescribed coordinates [rad/s²]
    forces: Sequence[Array] = ()  # of the pushes, inertial frame [N]
    contacts: Mapping[str, ContactImpedance] = field(default_factory=dict)  # by contact point: what the ground does
    added: Mapping[str, Sequence[Added]] = field(default_factory=dict)  # by limb: one for each coordinate
    turning: Sequence[Scalar] | None = None  # velocities for what is quadratic in them; None: v


@dataclass
class Eliminated:
    """How a limb passes on what pushes it, its coordinates eliminated one after the other.

    A push becomes an effort on each step of the elimination and a wrench on the torso; in terms of these the limb alone
    yields by efforts · efforts / pivots, and its coordinates follow from efforts and the motion of the torso.
    """

    links: Sequence[Link]  # in whose frames pushes are given
    per_pivot: Sequence[Scalar]  # by step
    efforts: Sequence[Scalar]  # by step, of all that acts but contacts
    passed: Callable[[int, Wrench, Scalar], tuple[list[Scalar], Wrench]]  # (link, wrench on it, torque of its joint)
    solve: Callable[[Array, Array, Sequence[Scalar]], list[Scalar]]  # (linear, angular, efforts) → coordinates


@dataclass
class Reduced:
    """A limb as the torso feels it."""

    inertia: Inertia6
    wrench: Wrench
    reply: Reply = lambda linear, angular: []  # a pinned leg has none: its joints follow the torso
    points: Callable[[Array, Array], dict[str, Array]] = lambda linear, angular: {}  # by contact: J a, torso frame
    eliminated: Eliminated | None = None  # None: a pinned leg


@dataclass
class ReducedRobot:
    """A robot whose limbs are reduced to the torso."""

    layout: Layout
    inputs: Inputs
    torso: TorsoState
    legs: dict[str, PinnedLeg]
    states: dict[str, LimbState]  # of the moving limbs
    parts: dict[str, Reduced]
    factored: Factored | None  # inertia of all at the torso, in its frame; None: the torso is fixed
    linear: Array  # acceleration of P, torso frame [m/s²]
    angular: Array  # of the torso, torso frame [rad/s²]


@dataclass
class ForwardSolution:
    """Accelerations and what the path is judged by."""

    acceleration: list[Scalar]  # as v: inertial frame, then limb coordinates
    torso: TorsoState
    linear: Array  # acceleration of P, torso frame [m/s²]
    angular: Array  # of the torso, torso frame [rad/s²]
    legs: dict[str, PinnedLeg] = field(default_factory=dict)
    states: dict[str, LimbState] = field(default_factory=dict)
    prescribed_efforts: list[Scalar] = field(default_factory=list)  # by prescribed coordinate
    points: dict[str, Array] = field(default_factory=dict)  # by contact: J a of the point, inertial frame [m/s²]


def reduced_robot(layout: Layout, inputs: Inputs) -> ReducedRobot:
    """Every limb reduced to the torso, and the torso's six equations of virtual work solved for its acceleration."""
    torso = torso_state(layout, inputs.q, inputs.v)
    motion = (torso if inputs.turning is None else torso_state(layout, inputs.q, inputs.turning)).bias_motion()
    legs = {name: stance_leg(layout, torso, name) for name in layout.stance}
    states = {name: limb_state(layout.limbs[name], inputs.q[layout.coordinates[name]], inputs.v[layout.rates[name]])
              for name in layout.moving}  # fmt: skip
    parts = {name: _pinned(layout, torso, name, leg, inputs) for name, leg in legs.items()}
    for name, state in states.items():
        reduce = _prescribed if name in layout.prescribed else _geared if state.limb.gearing is not None else _free
        parts[name] = reduce(layout, torso, motion, name, state, inputs)
    factored, linear, angular = None, zeros(3), zeros(3)
    if torso.moments is not None:
        load = Wrench(*torso.moments.wrench(motion.acceleration, motion.spin()))
        load, total = load - torso_push(layout, torso, inputs.forces), rigid(torso.moments)
        for contact in touching(layout, torso, "torso", (), inputs.contacts):
            load, total = load - contact.wrench(), total + contact.inertia()
        for part in parts.values():
            total, load = total + part.inertia, load + part.wrench
        factored = Factored(total.matrix())
        solved = factored.solve([-x for x in (*load.force, *load.moment)])
        linear, angular = array(solved[:3]), array(solved[3:])
    return ReducedRobot(layout, inputs, torso, legs, states, parts, factored, linear, angular)


def forward_dynamics(layout: Layout, inputs: Inputs) -> ForwardSolution:
    """Accelerations of the torso and of the limbs' coordinates for given efforts."""
    robot = reduced_robot(layout, inputs)
    torso, linear, angular = robot.torso, robot.linear, robot.angular
    acceleration = [*torso.to_inertial(linear), *torso.to_inertial(angular)] if layout.torso_free else []
    efforts: list[Scalar] = []
    for name in robot.states:
        answer = robot.parts[name].reply(linear, angular)
        if name in layout.prescribed:
            efforts += answer
            answer = list(inputs.prescribed_acceleration[layout.prescribed_accelerations[name]])
        acceleration += answer
    for name in layout.dependent:
        acceleration += robot.parts[name].reply(linear, angular)
    points = {x.name: x.acceleration(linear, angular) for x in touching(layout, torso, "torso", (), inputs.contacts)}
    for part in robot.parts.values():
        points |= part.points(linear, angular)
    points = {name: torso.to_inertial(a) for name, a in points.items()}
    return ForwardSolution(acceleration, torso, linear, angular, robot.legs, robot.states, efforts, points)


def joint_torques(limb: Limb, state: LimbState, efforts: Sequence[Scalar]) -> list[Scalar]:
    """Torque on each joint from springs, dampers and cables, and from motors where coordinates are joints [N m]."""
    torques = spring_torques(limb, state.values, state.angles, state.rates)
    for actuator, effort in zip(limb.actuators, efforts, strict=True):
        if isinstance(actuator, Motor):
            if limb.gearing is None:
                k = limb.index(actuator.coordinate)
                torques[k] = torques[k] + effort * actuator.ratio
        else:
            for k, arm in pull_arms(limb, state.values, state.angles, actuator).items():
                torques[k] = torques[k] - arm * effort
    return torques


def coordinate_forces(state: LimbState, torques: Sequence[Scalar], efforts: Sequence[Scalar]) -> list[Scalar]:
    """Generalised force on each coordinate of a limb, from joint torques and the motors of geared coordinates."""
    limb = state.limb
    if limb.gearing is None:
        return [torques[limb.index(coordinate)] for coordinate in limb.coordinates]
    forces = list(times(state.gearing.T, array(list(torques))))
    for actuator, effort in zip(limb.actuators, efforts, strict=True):
        if isinstance(actuator, Motor):
            k = limb.coordinates.index(actuator.coordinate)
            forces[k] = forces[k] + effort * actuator.ratio
    return forces


def _free(layout: Layout, torso: TorsoState, motion: Motion, name: str, state: LimbState, inputs: Inputs) -> Reduced:
    """A limb whose joints are its coordinates, reduced joint by joint."""
    links = own_frames(state.limb, state.angles)
    pushes = outside_wrenches(layout, torso, name, links, state.rates, inputs.forces)
    torques = joint_torques(state.limb, state, inputs.tau[layout.efforts[name]])
    for coordinate, more in zip(state.limb.coordinates, inputs.added.get(name, ()), strict=False):
        k = state.limb.index(coordinate)
        links[k] = replace(links[k], armature=links[k].armature + more.inertia)
        torques[k] = torques[k] + more.force
    contacts, added = touching(layout, torso, name, links, inputs.contacts), dict[int, Inertia6]()
    for contact in contacts:
        pushes[contact.at] = pushes[contact.at] + contact.wrench()
        more = contact.inertia()
        added[contact.at] = added[contact.at] + more if contact.at in added else more
    bias = loads(links, motions(links, _turning(layout, name, state, inputs), [0.0] * len(links), motion), pushes)
    reduced = articulated(links, bias, torques, added)

    def solve(linear: Array, angular: Array, efforts: Sequence[Scalar]) -> list[Scalar]:
        by_joint, _ = reduced.solve(linear, angular, efforts)
        return [by_joint[state.limb.index(coordinate)] for coordinate in state.limb.coordinates]

    def points(linear: Array, angular: Array) -> dict[str, Array]:
        moved = reduced.solve(linear, angular)[1] if contacts else []
        return {x.name: out_of_link(links, x.at, x.acceleration(*moved[x.at])) for x in contacts}

    efforts = [u for _, _, _, u in reduced.steps]
    passing = Eliminated(links, [per_d for _, _, per_d, _ in reduced.steps], efforts, reduced.passed, solve)
    return Reduced(
        reduced.inertia, reduced.wrench, lambda linear, angular: solve(linear, angular, efforts), points, passing
    )  # fmt: skip


def _geared(layout: Layout, torso: TorsoState, motion: Motion, name: str, state: LimbState, inputs: Inputs) -> Reduced:
    """A limb with few coordinates for many joints: its mass matrix in those, then eliminated."""
    links = one_frame(state.limb, state.angles)
    pushes = outside_wrenches(layout, torso, name, links, state.rates, inputs.forces)
    bias = loads(links, motions(links, _turning(layout, name, state, inputs), [0.0] * len(links), motion), pushes)
    needs, wrench = collected(links, bias)
    efforts = inputs.tau[layout.efforts[name]]
    forces = coordinate_forces(state, joint_torques(state.limb, state, efforts), efforts)
    net = [f - n for f, n in zip(forces, times(state.gearing.T, array(needs)), strict=True)]
    whole = composite(links, state.gearing)
    for k, more in enumerate(inputs.added.get(name, ())):
        whole.mass[k, k] = whole.mass[k, k] + more.inertia
        net[k] = net[k] + more.force
    columns = array([[*c.force, *c.moment] for c in whole.coupling])  # coordinates × 6
    inertia, mass = rigid(whole.moments), whole.mass
    contacts = touching(layout, torso, name, links, inputs.contacts)
    on = OnCoordinates.of(contacts, links, state.gearing)
    if contacts:
        mass, columns = mass + on.product(on.own, on.own), columns + on.product(on.own, on.torso)
        net = [n + p for n, p in zip(net, on.push(on.own), strict=True)]
        inertia, wrench = _with_contacts(inertia, wrench, on, on.push(on.torso))
    factored = Factored(mass)
    count = len(net)
    half = array([factored.forward(list(columns[:, k])) for k in range(6)]).T  # L⁻¹ M_lb
    half_net = factored.forward(net)
    for i in range(count):
        scaled = half[i] * factored.per_pivot[i]
        inertia.a = inertia.a - _outer(scaled[:3], half[i][:3])
        inertia.b = inertia.b - _outer(scaled[:3], half[i][3:])
        inertia.d = inertia.d - _outer(scaled[3:], half[i][3:])
        wrench = wrench + Wrench(scaled[:3] * half_net[i], scaled[3:] * half_net[i])

    def solve(linear: Array, angular: Array, own: Sequence[Scalar]) -> list[Scalar]:
        torso_part = [dot(half[i], array([*linear, *angular])) for i in range(count)]
        return factored.backward([(own[i] - torso_part[i]) * factored.per_pivot[i] for i in range(count)])

    def passed(k: int, push: Wrench, torque: Scalar = 0.0) -> tuple[list[Scalar], Wrench]:
        by_joint, left = collected(links, [push if i == k else NO_WRENCH for i in range(len(links))])
        by_joint[k] = by_joint[k] + torque
        own = factored.forward(list(times(state.gearing.T, array(by_joint))))
        for i in range(count):
            scaled = half[i] * (factored.per_pivot[i] * own[i])
            left = left - Wrench(scaled[:3], scaled[3:])
        return own, left

    def points(linear: Array, angular: Array) -> dict[str, Array]:
        own = array(solve(linear, angular, half_net)) if contacts else zeros(0)
        return on.accelerations(links, [x.at for x in contacts], array([*linear, *angular]), own)

    passing = Eliminated(links, factored.per_pivot, half_net, passed, solve)
    reply: Reply = lambda linear, angular: solve(linear, angular, half_net)  # noqa: E731
    return Reduced(inertia, wrench, reply, points, passing)


def _with_contacts(inertia: Inertia6, wrench: Wrench, on: OnCoordinates, push: Array) -> tuple[Inertia6, Wrench]:
    """Inertia and wrench of a limb at the torso with contacts of resistance and of a push on the torso (6)."""
    more = on.product(on.torso, on.torso)
    return inertia + Inertia6(more[:3, :3], more[:3, 3:], more[3:, 3:]), wrench - Wrench(push[:3], push[3:])


def _turning(layout: Layout, name: str, state: LimbState, inputs: Inputs) -> list[Scalar]:
    """Joint rates for what is quadratic in them."""
    if inputs.turning is None:
        return state.rates
    return list(times(state.gearing, array(list(inputs.turning[layout.rates[name]]))))


def _outer(a: Array, b: Array) -> Array:
    return array([[x * y for y in b] for x in a])


def limb_needs(
    layout: Layout, torso: TorsoState, motion: Motion, name: str, state: LimbState, links: Sequence[Link],
    own: Sequence[Scalar], inputs: Inputs,
) -> tuple[list[Scalar], Wrench]:  # fmt: skip
    """Generalised force on each coordinate of a limb that accelerates so, springs and dampers taken off, and its wrench
    on the torso."""
    accelerations = list(times(state.gearing, array(list(own))))
    pushes = outside_wrenches(layout, torso, name, links, state.rates, inputs.forces)
    torques, wrench = collected(links, loads(links, motions(links, state.rates, accelerations, motion), pushes))
    springs = spring_torques(state.limb, state.values, state.angles, state.rates)
    net = [t + x.armature * a - s for t, x, a, s in zip(torques, links, accelerations, springs, strict=True)]
    return list(times(state.gearing.T, array(net))), wrench


def _prescribed(
    layout: Layout, torso: TorsoState, motion: Motion, name: str, state: LimbState, inputs: Inputs
) -> Reduced:
    """A limb whose motion is prescribed: it loads the torso as a moving mass; its reply is the efforts it needs."""
    links = one_frame(state.limb, state.angles)
    own = inputs.prescribed_acceleration[layout.prescribed_accelerations[name]]
    efforts, wrench = limb_needs(layout, torso, motion, name, state, links, own, inputs)
    whole = composite(links, state.gearing)
    columns = [array([*c.force, *c.moment]) for c in whole.coupling]
    inertia, given = rigid(whole.moments), array(list(own))
    contacts = touching(layout, torso, name, links, inputs.contacts)
    on = OnCoordinates.of(contacts, links, state.gearing)
    if contacts:
        left = [f - times(r, times(j, given)) for f, r, j in zip(on.force, on.resistance, on.own, strict=True)]
        pushed = replace(on, force=left)
        efforts = [e - p for e, p in zip(efforts, pushed.push(on.own), strict=True)]
        columns = [c + more for c, more in zip(columns, on.product(on.own, on.torso), strict=True)]
        inertia, wrench = _with_contacts(inertia, wrench, on, pushed.push(on.torso))

    def reply(linear: Array, angular: Array) -> list[Scalar]:
        return [e + dot(c[:3], linear) + dot(c[3:], angular) for e, c in zip(efforts, columns, strict=True)]

    def points(linear: Array, angular: Array) -> dict[str, Array]:
        return on.accelerations(links, [x.at for x in contacts], array([*linear, *angular]), given)

    def passed(k: int, push: Wrench, torque: Scalar = 0.0) -> tuple[list[Scalar], Wrench]:
        by_joint, left = collected(links, [push if i == k else NO_WRENCH for i in range(len(links))])
        return list(times(state.gearing.T, array(by_joint))), left

    none = [0.0] * len(efforts)  # a coordinate that is prescribed does not yield
    passing = Eliminated(links, none, none, passed, lambda linear, angular, own: [])
    return Reduced(inertia, wrench, reply, points, passing)


def leg_torques(layout: Layout, name: str, leg: PinnedLeg, tau: Sequence[Scalar]) -> list[Scalar]:
    """Joint torques of a stance leg from its actuators and springs."""
    state = LimbState(leg.limb, zeros(0, 0), pinned_values(leg), list(leg.angles), leg.rates)
    return joint_torques(leg.limb, state, tau[layout.efforts[name]])


def stance_needs(
    layout: Layout, torso: TorsoState, name: str, leg: PinnedLeg, inputs: Inputs, linear: Array, angular: Array,
    own: Sequence[Scalar] = (),
) -> tuple[list[Wrench], list[Scalar], Wrench]:  # fmt: skip
    """A stance leg under a torso that accelerates so, torso frame, its free joints by `own`: its bodies' wrenches about
    the foot, the virtual work of each joint that its actuators and springs leave over, and the wrench that it needs
    about P."""
    at_foot = leg.turn.outward(linear + cross(angular, leg.foot))
    bias = rate_bias(leg, torso.velocity, torso.omega)
    accelerations = [g + x for g, x in zip(bias, times(leg.rates_map, at_foot), strict=True)]
    if len(own):
        accelerations = [a + x for a, x in zip(accelerations, times(leg.own, array(list(own))), strict=True)]
    pushes = leg_pushes(layout, torso, name, leg, inputs.forces)
    omega, alpha, gravity = (leg.turn.outward(x) for x in (torso.omega, angular, torso.gravity))
    torques = leg_torques(layout, name, leg, inputs.tau)
    bodies, net, about_foot = leg_needs(leg, omega, alpha, gravity, accelerations, torques, pushes)
    return bodies, net, leg.to_torso(Wrench(times(leg.rates_map.T, array(net)), about_foot))


def _pinned(layout: Layout, torso: TorsoState, name: str, leg: PinnedLeg, inputs: Inputs) -> Reduced:
    """A stance leg: its joints follow the torso; its torques push the torso from the ground. Joints that are free are
    eliminated."""
    _, net, wrench = stance_needs(layout, torso, name, leg, inputs, zeros(3), zeros(3))
    whole = leg_inertia(leg)
    if not len(whole.mass):
        return Reduced(leg.inertia_to_torso(whole.torso), wrench)
    factored, columns = Factored(whole.mass), whole.coupling
    left = array(factored.solve([-x for x in times(leg.own.T, array(net))]))
    follow = array([factored.solve(list(columns[:, k])) for k in range(6)]).T  # M⁻¹ C
    less, push = times(columns.T, follow), times(columns.T, left)
    inertia = whole.torso + Inertia6(-less[:3, :3], -less[:3, 3:], -less[3:, 3:])

    def reply(linear: Array, angular: Array) -> list[Scalar]:
        at_foot = leg.turn.outward(linear + cross(angular, leg.foot))
        return list(left - times(follow, array([*at_foot, *leg.turn.outward(angular)])))

    return Reduced(leg.inertia_to_torso(inertia), wrench + leg.to_torso(Wrench(push[:3], push[3:])), reply)


def ground_force(
    layout: Layout, torso: TorsoState, name: str, leg: PinnedLeg, linear: Array, angular: Array, inputs: Inputs,
    own: Sequence[Scalar] = (),
) -> Array:  # fmt: skip
    """Force of the ground on a pinned foot, inertial frame [N], for known accelerations of the torso and of the leg's
    free joints."""
    bodies, net, _ = stance_needs(layout, torso, name, leg, inputs, zeros(3), zeros(3))
    at_foot = leg.turn.outward(linear + cross(angular, leg.foot))
    force = foot_force(leg, bodies, net, at_foot, leg.turn.outward(angular), own)
    return torso.to_inertial(leg.turn.inward(force))
