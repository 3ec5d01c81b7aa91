"""The equations of motion with the forces of contacts as inputs, for contact modes that are data.

All kernels have the inputs [t, x, held, planes, share, forces]: height, normal and curvature of the ground under each
point (nothing where it is level), the share of the accelerations that do not come from contacts (1, or 0 where forces
are impulses), and the forces of all rows in the frames of the contacts.

    contact places   → places of the points, inertial frame
    contact data     → places, gaps, velocities and accelerations of all rows without forces, lower triangle of the
                       Delassus matrix
    contact motion   → x-dot, power of the joints, power of outside forces
    contact rates    → x-dot, accelerations and velocities of all rows, gaps, places: what derivatives are made of
    contact events   → what is watched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tailwork.algebra.expression import Scalar, is_zero
from tailwork.algebra.vectors import Array, array, times
from tailwork.kernels.graph import Graph, finished
from tailwork.kernels.jvp import jvp as jvp_graph
from tailwork.kernels.kernel import Constants, Kernel
from tailwork.mechanics.forward import Added, ForwardSolution, Inputs, forward_dynamics
from tailwork.mechanics.kinematics import bodies
from tailwork.mechanics.layout import Layout, Push
from tailwork.mechanics.observe import Path, net_power, outside_power, path
from tailwork.mechanics.rigid.problem import (
    ContactProblem,
    Plane,
    contact_problem,
    stop_side,
    stopped_joints,
)
from tailwork.mechanics.torso import LimbState
from tailwork.simulation.contact.ground import surface_at
from tailwork.simulation.equations import Symbols
from tailwork.simulation.event_driven.constrained import PLANE
from tailwork.simulation.events import Event, watched_with_stops
from tailwork.simulation.system import System
from tailwork.typing import Floats


def plane_inputs(layout: Layout, level: bool) -> int:
    """How many inputs are planes."""
    return 0 if level else PLANE * len(layout.contact_points)


def watched_events(system: System) -> tuple[Event, ...]:
    """What is watched; free joints come to their stops and do not leave their ranges."""
    return watched_with_stops(system.watched, system.model.layout)


def watched_names(system: System) -> list[str]:
    """A name for each watched quantity."""
    return [name for event in watched_events(system) for name in event.names(system.model.layout)]


def contact_row_count(layout: Layout) -> int:
    """Rows of all contacts: three a point, one a joint."""
    return 3 * len(layout.contact_points) + len(stopped_joints(layout))


@dataclass(frozen=True)
class _Recorded:
    """A system with its contacts on a tape."""

    system: System
    symbols: Symbols
    parameters: dict[str, Scalar]
    count: int
    planes: dict[str, Plane] | None
    share: Scalar
    forces: list[Array]  # by contact, in its frame

    def graph(self, outputs: Sequence[Scalar]) -> tuple[Graph, tuple[str, ...]]:
        """The graph of some outputs, and the names of its parameters."""
        found = finished(self.symbols.tape, outputs, self.count, len(self.parameters))
        return found, tuple(self.parameters)

    @cached_property
    def problem(self) -> ContactProblem:
        """The contacts."""
        return contact_problem(self.symbols.layout, self.symbols.inputs, 0.0, self.planes)

    @cached_property
    def x_dot(self) -> list[Scalar]:
        """Rates of the state with the forces."""
        response = self.problem.torso_response(self.forces)
        change = self.problem.change(self.forces, response, self.share)
        return self.system.change(self.symbols, change.velocities)

    def accelerations(self) -> list[Scalar]:
        """Of all rows, with the forces and the share of what does not come from them."""
        found: list[Scalar] = []
        w = array(self.problem.torso_response(self.forces))
        for i, contact in enumerate(self.problem.contacts):
            rows = contact.drift * self.share + times(contact.scaled.T, w)
            for k, force in enumerate(self.forces):
                own = self.problem.own(i, k)
                rows = rows if own is None else rows + times(own, force)
            found += list(rows)
        return found

    def path(self) -> Path:
        """What the path is judged by, the contacts as outside forces."""
        r = self.symbols
        inputs, layout = with_contact_forces(r.layout, r.inputs, self.planes, self.forces, self.problem.robot.states)
        return path(layout, inputs)

    def powers(self) -> list[Scalar]:
        """Power of motors, springs, dampers and what moves prescribed limbs, and of outside forces [W]."""
        r, layout, inputs = self.symbols, self.symbols.layout, self.symbols.inputs
        if r.layout.prescribed:  # whose efforts depend on the contacts
            inputs, layout = with_contact_forces(layout, inputs, self.planes, self.forces, self.problem.robot.states)
            solution = forward_dynamics(layout, inputs)
        else:
            robot = self.problem.robot
            solution = ForwardSolution([], robot.torso, robot.linear, robot.angular, robot.legs, robot.states)
        joints = net_power(layout, solution, inputs) - outside_power(layout, inputs)
        return [joints, outside_power(r.layout, r.inputs)]


def with_contact_forces(
    layout: Layout, inputs: Inputs, planes: dict[str, Plane] | None, forces: Sequence[Array],
    states: Mapping[str, LimbState],
) -> tuple[Inputs, Layout]:  # fmt: skip
    """Arguments of the dynamics with contact forces, in the frames of the contacts, among the outside ones; `states` of
    the limbs."""
    seen = bodies(layout, inputs.q, inputs.v)
    pushes: list[Push] = []
    given: list[Array] = []
    points = layout.contact_points
    for (name, (limb, point)), force in zip(points.items(), forces, strict=False):
        axes = (Plane() if planes is None else planes[name]).axes()
        body = seen[limb][0 if limb == "torso" else layout.limbs[limb].index(point.joint)]
        arm = array(point.point) - times(axes, body.rotation)[2] * point.radius
        pushes.append(Push(limb=limb, joint=point.joint, point=(arm[0], arm[1], arm[2])))
        given.append(times(axes.T, force))
    added = {name: [Added(0.0, 0.0)] * len(layout.limbs[name].coordinates) for name in layout.moving}
    for (limb, k), force in zip(stopped_joints(layout).values(), forces[len(points) :], strict=True):
        push = force[0] * stop_side(states[limb], k)
        for c, share in enumerate(states[limb].gearing[k]):
            if not is_zero(share):
                added[limb][c] = Added(0.0, added[limb][c].force + share * push)
    inputs = replace(inputs, forces=[*inputs.forces, *given], added=added if stopped_joints(layout) else inputs.added)
    return inputs, replace(layout, pushes=(*layout.pushes, *pushes))


def _recorded(system: System, level: bool) -> _Recorded:
    layout = system.model.layout
    planes = plane_inputs(layout, level)
    r, parameters, count = system.record(planes + 1 + contact_row_count(layout))
    under = None
    if planes:
        numbers = [r.more[k : k + PLANE] for k in range(0, planes, PLANE)]
        under = {name: Plane(own[0], (own[1], own[2], own[3]), (own[4], own[5], own[6]))
                 for name, own in zip(layout.contact_points, numbers, strict=True)}  # fmt: skip
    rows = r.more[planes + 1 :]
    points = 3 * len(layout.contact_points)
    forces = [array(rows[k : k + 3]) for k in range(0, points, 3)] + [array([row]) for row in rows[points:]]
    return _Recorded(system, r, parameters, count, under, r.more[planes], forces)


def _graph(system: System, name: str, level: bool) -> tuple[Graph, tuple[str, ...]]:
    on = _recorded(system, level)
    contacts = on.problem.contacts
    places = [x for contact in contacts if contact.place is not None for x in contact.place]
    gaps, velocities = [contact.gap for contact in contacts], [x for contact in contacts for x in contact.velocity]
    if name == "contact places":
        return on.graph(places)
    if name == "contact motion":
        return on.graph([*on.x_dot, *on.powers()])
    if name == "contact events":
        found, context = on.path(), on.symbols.context
        return on.graph([value for event in watched_events(system) for value in event.values(context, found)])
    if name == "contact rates":
        return on.graph([*on.x_dot, *on.accelerations(), *velocities, *gaps, *places])
    drifts = [x for contact in contacts for x in contact.drift]
    lower: list[Scalar] = []
    for i, contact in enumerate(contacts):
        blocks = np.concatenate([on.problem.block(i, k) for k in range(i + 1)], axis=1)
        before = blocks.shape[1] - contact.rows
        lower += [x for k, row in enumerate(blocks) for x in row[: before + k + 1]]
    return on.graph([*places, *gaps, *velocities, *drifts, *lower])


def contact_kernel(system: System, name: str, level: bool) -> tuple[Kernel, Constants]:
    """One of the kernels above and its constants; `level`: the ground is the plane z = 0."""

    def make() -> tuple[Kernel, tuple[str, ...]]:
        graph, names = _graph(system, name, level)
        return Kernel(graph, system.model.robot.name), names

    kernel, names = system.once((name, level, system.watched if name == "contact events" else ()), make)
    return kernel, kernel.constants(np.array([system.numbers[path] for path in names]))


def contact_jvp(system: System, name: str, level: bool) -> tuple[Kernel, Constants, tuple[str, ...]]:
    """The Jacobian-vector products of one of the kernels above along all inputs and numbers, the values after them; its
    constants, and the names of the numbers."""

    def make() -> tuple[Kernel, tuple[str, ...]]:
        graph, names = _graph(system, name, level)
        kernel = Kernel(jvp_graph(graph, range(graph.inputs), values=True), system.model.robot.name)
        return kernel, names

    kernel, names = system.once((f"jvp of {name}", level), make)
    return kernel, kernel.constants(np.array([system.numbers[path] for path in names])), names


def planes_under(system: System, ground: Any, t: float, x: Floats) -> Floats:
    """The ground under each point at a state, (points, PLANE)."""
    kernel, constants = contact_kernel(system, "contact places", False)
    row = np.zeros((1, kernel.inputs))
    row[0, 0], row[0, 1 : 1 + system.size] = t, x
    places = kernel(row, constants)[0].reshape(-1, 3)
    return planes_at(ground, places, np.zeros((0, *places.shape)), np.zeros((0, 2)))[0]


def planes_at(ground: Any, places: Floats, d_places: Floats, tilts: Floats) -> tuple[Floats, Floats]:
    """The ground under places, (points, PLANE), and its changes, (directions, points, PLANE), as the places move,
    (directions, points, 3), and all of it tilts about the origin, (directions, 2) by x and y."""
    height, by_x, by_y, *more = surface_at(ground.field(), places[:, :2], curved=True).T
    by_xx, by_xy, by_yy, by_xxx, by_xxy, by_xyy, by_yyy = more
    normal = np.stack([-by_x, -by_y, np.ones_like(by_x)], axis=1) / np.sqrt(1.0 + by_x**2 + by_y**2)[:, None]
    planes = np.concatenate([height[:, None], normal, np.array(more[:3]).T], axis=1)
    dx, dy, (a, b) = d_places[..., 0], d_places[..., 1], tilts.T[..., None]
    d_by_x, d_by_y = by_xx * dx + by_xy * dy + a, by_xy * dx + by_yy * dy + b
    d_height = by_x * dx + by_y * dy + a * places[:, 0] + b * places[:, 1]
    turn = np.stack([-d_by_x, -d_by_y, 0.0 * dx], axis=-1) * normal[:, 2:]
    turn -= normal * (turn * normal).sum(axis=-1, keepdims=True)
    bent = [by_xxx * dx + by_xxy * dy, by_xxy * dx + by_xyy * dy, by_xyy * dx + by_yyy * dy]
    return planes, np.concatenate([d_height[..., None], turn, np.stack(bent, axis=-1)], axis=-1)
