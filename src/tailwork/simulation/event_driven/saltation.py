"""How a run from event to event changes: its steps differentiated forwards, with the saltation matrix at events.

Steps are those that the run took, with their lengths. At an event that comes earlier by δt, the state before it has run
on for δt less and the one after it for δt more (Aizerman & Gantmakher 1958, Müller 1995):

    δx⁺ = R_x (δx⁻ + f⁻ δt) + R_p δp − f⁺ δt,   δt = −(g_x δx⁻ + g_p δp) / (g_x f⁻),

with g = 0 the event, R the impact and f the equations before and after it. Where a foot lifts or starts to slip, forces
are continuous and nothing jumps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tailwork.errors import ArgumentError
from tailwork.format import first_few
from tailwork.mechanics.rigid.problem import stopped_joints
from tailwork.robots.paths import robot_numbers
from tailwork.robots.robot import Robot
from tailwork.simulation.contact.record import servo_targets
from tailwork.simulation.event_driven.constrained import CREEP, FREE, SLIP, STICK
from tailwork.simulation.event_driven.equations import contact_jvp, planes_at
from tailwork.simulation.event_driven.force_changes import ForceChanges
from tailwork.simulation.event_driven.impacts import HALT, REBOUND, ROUNDING, TOUCH
from tailwork.simulation.event_driven.job import Sizes, logged
from tailwork.simulation.event_driven.state import HEAD, RunJob
from tailwork.simulation.integrate.tableaus import DORMAND_PRINCE
from tailwork.simulation.system import System
from tailwork.typing import Floats

DIFFERENTIATED = "the motion from event to event, whose times move"
"""What the derivatives of event-driven runs are those of, in words."""
GROUND_NUMBERS = FRICTION, RESTITUTION, *TILTS = (
    "ground.friction", "ground.restitution", "ground.slope_x", "ground.slope_y"
)  # fmt: skip
"""Names of the ground's numbers that runs can be differentiated by; the last two: of a surface, what it rises towards x
and y in addition [1], turned about the origin."""
NODES = np.array([(4.0 - 6.0**0.5) / 10.0, (4.0 + 6.0**0.5) / 10.0, 1.0])
"""Of Radau's method of order 5, as shares of a step."""
_POWERS = NODES[:, None] ** np.arange(3)
COLLOCATION = (NODES[:, None] ** np.arange(1, 4) / np.arange(1, 4)) @ np.linalg.inv(_POWERS)
"""Integrals of the polynomials through the nodes, up to each."""


class Step(NamedTuple):
    """A step that was kept."""

    t: float
    h: float
    x: Floats
    stages: Floats  # (stages, n)
    modes: np.ndarray
    directions: Floats  # (points, 2)
    forces: Floats  # (stages, rows)


class Happened(NamedTuple):
    """An event that was written down."""

    t: float
    which: int
    what: int
    hit: bool
    closed: int  # contacts that closed
    modes: np.ndarray
    impulses: Floats
    before: Floats  # the state
    after: Floats
    step: int  # how many steps were done


class Linear(NamedTuple):
    """The equations at a state, and how they change along directions while forces stay, and with forces."""

    x_dot: Floats
    acceleration: Floats  # of rows
    velocity: Floats  # of rows
    d_x_dot: Floats  # (directions, n)
    d_acceleration: Floats  # (directions, rows)
    d_velocity: Floats
    d_places: Floats  # (directions, points, 3)
    d_gaps: Floats  # (directions, contacts)
    response: Floats  # M⁻¹ Jᵀ: (rows, n)
    delassus: Floats  # (rows, rows)


@dataclass
class Variation:
    """Changes of a run along directions.

    Args:
        system: what was simulated.
        ground: on which.
        job: the run, whose steps were kept.
        names: numbers of the system or the ground that change.
        rates: of these numbers, (directions, names).
    """

    system: System
    ground: Any
    job: RunJob
    names: Sequence[str]
    rates: Floats
    noted: dict[str, list[float]] = field(default_factory=dict)  # where it is one in a direction only, and when [s]

    def __post_init__(self) -> None:
        self.sizes = Sizes(self.system, self.ground.surface is None)
        self.kernel, self.constants, self.parameters = contact_jvp(self.system, "contact rates", self.sizes.level)
        self.places = contact_jvp(self.system, "contact places", self.sizes.level)
        self.parameter_rates = np.zeros((len(self.rates), len(self.parameters)))
        for k, name in enumerate(self.names):
            if name in self.parameters:
                self.parameter_rates[:, self.parameters.index(name)] = self.rates[:, k]
        layout = self.system.model.layout
        factors = _factors(layout.robot)
        self.factors = np.vstack([factors, np.zeros((len(stopped_joints(layout)), 2))])
        self.radii = [float(p.radius) for _, p in layout.contact_points.values()]
        of_ground = np.array([self.ground.friction, self.ground.restitution])
        self.friction, self.restitution = self.factors.T * of_ground[:, None]
        changes = np.stack([self._ground_rates(name) for name in (FRICTION, RESTITUTION)])[..., None]
        d_factors = changes * self.factors.T[:, None]  # (2, directions, contacts)
        given = robot_numbers(layout.robot)
        for k, name in enumerate(self.names):  # factors of points are numbers themselves, so a whole step is exact
            if name in given and name.endswith((".friction", ".restitution")):
                step = _factors(layout.robot.replace({name: given[name] + 1.0})) - factors
                d_factors[..., : len(step)] += self.rates[:, k, None] * (step * of_ground).T[:, None]
        self.d_friction, self.d_restitution = d_factors
        self.tilts = np.stack([self._ground_rates(name) for name in TILTS], axis=1)
        if self.sizes.level and any(name in TILTS for name in self.names):
            raise ArgumentError("by", list(self.names), "a ground with a `surface`, such as a plane, to tilt it")
        self.held = self.job.contacts.inputs[1 + self.system.size : self.sizes.planes, 0].copy()
        self.events, _, _, self.steps = logged(self.job)
        points, rows = self.sizes.points, self.sizes.rows
        self.firsts = [*range(0, 3 * points, 3), *range(3 * points, rows), rows]
        self.normals = np.array([k - 1 for k in self.firsts[1:]])

    def _note(self, what: str, t: float) -> None:
        self.noted.setdefault(what, []).append(t)

    @property
    def notes(self) -> tuple[str, ...]:
        """Where derivatives are those in one direction only."""
        said = {what: first_few([f"{t:.6g}" for t in when], 2) for what, when in self.noted.items()}
        return tuple(f"at {when} s {what}: a derivative in one direction" for what, when in said.items())

    def _ground_rates(self, name: str) -> Floats:
        return self.rates[:, list(self.names).index(name)] if name in self.names else np.zeros(len(self.rates))

    def step(self, k: int) -> Step:
        """A kept step."""
        n, stages, size = self.system.size, self.job.method.stages, self.sizes
        ends = np.cumsum([1, 1, n, stages * n, size.contacts, 2 * size.points])
        t, h, x, u, modes, directions, forces = np.split(self.steps[k], ends)
        stage, along, pushed = u.reshape(stages, n), directions.reshape(-1, 2), forces.reshape(stages, -1)
        return Step(t[0], h[0], x, stage, modes.astype(int), along, pushed)

    def event(self, k: int) -> Happened:
        """A written event."""
        n, size = self.system.size, self.sizes
        head, modes, impulses, before, after = np.split(self.events[k], np.cumsum([HEAD, size.contacts, size.rows, n]))
        t, which, what, hit, _, closed, _, step = head
        return Happened(
            t, int(which), int(what), hit > 0, int(closed), modes.astype(int), impulses, before, after, int(step)
        )

    def linear(self, t: float, x: Floats, share: float, forces: Floats, dx: Floats) -> Linear:
        """The equations linearised at a state, along directions of the state; along the last of them numbers change,
        too."""
        size, n = self.sizes, self.system.size
        count = self.kernel.inputs - len(self.parameters)
        inputs = count // 2
        rows = np.zeros((len(dx) + size.rows, self.kernel.inputs))
        row = rows[:, :inputs]
        row[:, 0], row[:, 1 : 1 + n], row[:, 1 + n : size.planes] = t, x, self.held
        targets = servo_targets([servo.table for servo in self.system.servos], np.array([t]))[0]
        row[:, size.planes - len(targets) : size.planes] = targets
        row[:, size.share], row[:, size.share + 1 :] = share, forces
        rates = rows[: len(dx), inputs:count]
        rates[:, 1 : 1 + n] = dx
        first, tilts = max(len(dx) - len(self.rates), 0), np.zeros((len(dx), 2))
        if len(dx):
            rows[first : len(dx), count:], tilts[first:] = self.parameter_rates, self.tilts
        if not size.level:
            kernel, constants, _ = self.places
            seen = kernel(rows, constants).reshape(len(rows), 2, size.points, 3)
            planes, d_planes = planes_at(self.ground, seen[0, 1], seen[: len(dx), 0], tilts)
            row[:, size.planes : size.share] = planes.ravel()
            rates[:, size.planes : size.share] = d_planes.reshape(len(dx), planes.size)
        units = rows[len(dx) :, inputs + size.share + 1 : count]
        units[range(size.rows), range(size.rows)] = 1.0
        found = self.kernel(rows, self.constants)
        outputs = found.shape[1] // 2
        ends = np.cumsum([n, size.rows, size.rows, size.contacts])
        by = np.split(found[:, :outputs], ends, axis=1)
        values = np.split(found[0, outputs:], ends)
        d = len(dx)
        places = by[4][:d].reshape(d, size.points, 3)
        return Linear(
            values[0], values[1], values[2], by[0][:d], by[1][:d], by[2][:d], places, by[3][:d], by[0][d:], by[1][d:]
        )

    def held_forces(self, at: Linear, step: Step, forces: Floats) -> Floats:
        """Forces that hold what the modes do, from an estimate with its accelerations."""
        law = ForceChanges((at.acceleration - forces @ at.delassus)[None], at.delassus)
        for i, mode in enumerate(step.modes):
            first, last = self.firsts[i], self.normals[i]
            if mode == STICK:
                law.hold(range(first, last + 1))
            elif mode != FREE:
                here = slice(first, last)
                law.hold([last])
                law.columns[-1] = law.unit[last].copy()
                law.columns[-1][here] = -self.friction[i] * self.along(at, i, mode, step.directions, forces)
        return law.solved()[0]

    def along(self, at: Linear, i: int, mode: int, directions: Floats, forces: Floats) -> Floats:
        """Direction in which a point slips; one that creeps and speeds up turns to its acceleration."""
        here = slice(self.firsts[i], self.normals[i])
        if mode == SLIP:
            return at.velocity[here] / np.linalg.norm(at.velocity[here])
        size = np.linalg.norm(forces[here])
        along = -forces[here] / size if size > 0.0 else directions[i]
        forward = at.acceleration[here]
        if forward @ along > 0.0:
            aside = np.array([-along[1], along[0]])
            block = at.delassus[here, here]
            stiff = self.friction[i] * forces[self.normals[i]] * (aside @ block @ aside)
            along = along + aside * (forward @ aside) / max(stiff + forward @ along, 1e-12)
        return along / np.linalg.norm(along)

    def force_changes(self, at: Linear, modes: np.ndarray, directions: Floats, forces: Floats) -> Floats:
        """Changes of the forces, (directions, rows), from what the modes hold."""
        law = ForceChanges(at.d_acceleration, at.delassus)
        for i, mode in enumerate(modes):
            here, last = slice(self.firsts[i], self.normals[i]), self.normals[i]
            if mode == FREE:
                continue
            if mode == STICK:
                law.hold(range(self.firsts[i], last + 1))
                continue
            load, d_friction = forces[last], np.zeros(len(at.d_x_dot))
            d_friction[len(d_friction) - len(self.rates) :] = self.d_friction[:, i]
            speed = float(np.linalg.norm(at.velocity[here]))
            if mode == SLIP:
                along = at.velocity[here] / speed
                law.slip(here, last, along, self.friction[i], load, d_friction)
                law.turn(here, along, self.friction[i] * load, at.d_velocity[:, here] / speed)
                continue
            size = float(np.linalg.norm(forces[here]))
            along = -forces[here] / size if size > 0.0 else directions[i]
            law.slip(here, last, along, self.friction[i], load, d_friction)
            if (forward := float(at.acceleration[here] @ along)) > 0.0:
                law.follow(here, along, self.friction[i] * load, forward)
        return law.solved()

    def over_step(self, step: Step, dx: Floats) -> tuple[Floats, Floats]:
        """Changes at the end of a step, (directions, n), and their rates at its nodes, (nodes, directions, n).

        They are collocated at Radau's nodes (order 5, stable however stiff), along the dense output of the step.
        """
        d, n, nodes = len(dx), self.system.size, len(NODES)
        if step.h == 0.0:
            return dx, np.zeros((nodes, d, n))
        p = DORMAND_PRINCE.arrays[4]
        by_state, by_number = np.empty((nodes, n, n)), np.empty((nodes, d, n))
        for k, node in enumerate(NODES):
            x = step.x + (p @ node ** np.arange(1, p.shape[1] + 1)) @ step.stages
            t = step.t + node * step.h
            forces = self.forces(t, x, step)
            at = self.linear(t, x, 1.0, forces, np.concatenate([np.eye(n), np.zeros((d, n))]))
            rates = at.d_x_dot + self.force_changes(at, step.modes, step.directions, forces) @ at.response
            by_state[k], by_number[k] = rates[:n], rates[n:]
        matrix = np.eye(nodes * n).reshape(nodes, n, nodes, n)
        matrix = matrix - step.h * np.einsum("ij,ikl->iljk", COLLOCATION, by_state)
        right = np.einsum("dk,ikl->ild", dx, by_state) + np.swapaxes(by_number, 1, 2)
        solved = np.linalg.solve(matrix.reshape(nodes * n, -1), right.reshape(nodes * n, -1)).reshape(nodes, n, d)
        rates = np.swapaxes(solved, 1, 2)
        return dx + step.h * np.tensordot(COLLOCATION[-1], rates, axes=1), rates

    def forces(self, t: float, x: Floats, step: Step) -> Floats:
        """Forces at a state within a step, from those at its start by Newton's method on what the modes hold."""
        forces = step.forces[0]
        for _ in range(1 + 5 * bool((step.modes == CREEP).any())):
            at = self.linear(t, x, 1.0, forces, np.zeros((0, self.system.size)))
            forces = self.held_forces(at, step, forces)
        return forces

    def rate(self, t: float, x: Floats, forces: Floats) -> Floats:
        """x-dot with forces."""
        return self.linear(t, x, 1.0, forces, np.zeros((0, self.system.size))).x_dot

    def through_event(
        self, event: Happened, before: Step, after: Floats, dx: Floats
    ) -> tuple[Floats, Floats | None, Floats | None]:
        """Changes just after an event, at its time; of where it leads to, whenever that is; and of its time [s].
        `after` are the forces after it."""
        if event.what not in (TOUCH, HALT):
            return dx, None, None
        n_q, delay = len(self.system.free_q), np.zeros(len(dx))
        at = self.linear(event.t, event.before, 1.0, before.forces[-1], dx)
        if event.what == TOUCH and event.which >= 0:
            falling = at.velocity[self.normals[event.which]]
            if event.hit and falling < -REBOUND:
                delay = -at.d_gaps[:, event.which] / falling
            else:
                self._note("a contact closes without an impact", event.t)
        elif event.what == HALT:
            here = slice(self.firsts[event.which], self.normals[event.which])
            size = np.linalg.norm(before.forces[-1][here])
            along = -before.forces[-1][here] / size if size > 0 else before.directions[event.which]
            delay = -(at.d_velocity[:, here] @ along) / (at.acceleration[here] @ along)
        moved = dx + np.outer(delay, at.x_dot)
        if not delay.any():
            moved = self.closed_places(event, moved)
        if event.closed > 1:
            self._note(f"{event.closed} contacts close together", event.t)
        if event.hit:
            moved[:, n_q:] += self.impact_changes(event, moved)
        moved = self.closed_velocities(event, moved)
        return moved - np.outer(delay, self.rate(event.t, event.after, after)), moved, delay

    def impact_changes(self, event: Happened, dx: Floats) -> Floats:
        """Changes of the velocities that an impact adds, (directions, velocities)."""
        at = self.linear(event.t, event.before, 0.0, event.impulses, dx)
        after = at.velocity + at.acceleration
        still = max(REBOUND, ROUNDING * float((np.abs(at.delassus) @ np.abs(event.impulses)).max()))
        law = ForceChanges(at.d_velocity + at.d_acceleration, at.delassus)
        for i, last in enumerate(self.normals):
            here, load = slice(self.firsts[i], last), event.impulses[last]
            if load <= 0.0:
                continue
            back = np.zeros(len(dx))
            if at.velocity[last] < -REBOUND:
                back = self.restitution[i] * at.d_velocity[:, last] + self.d_restitution[:, i] * at.velocity[last]
            law.hold([last], back)
            if last == self.firsts[i]:
                continue
            if (speed := float(np.linalg.norm(after[here]))) <= still:
                law.hold(range(self.firsts[i], last))
                continue
            along = after[here] / speed
            law.slip(here, last, along, self.friction[i], load, self.d_friction[:, i], held=True)
            law.follow(here, along, self.friction[i] * load, speed)
        return (at.d_x_dot + law.solved() @ at.response)[:, len(self.system.free_q) :]

    def closed_places(self, event: Happened, dx: Floats) -> Floats:
        """Changes that leave closed contacts on the ground, in the metric of the mass matrix, as in the run."""
        n_q = len(self.system.free_q)
        at = self.linear(event.t, event.before, 0.0, np.zeros(self.sizes.rows), dx)
        rows = [row for row, mode in zip(self.normals, event.modes, strict=True) if mode != FREE]
        if not rows:
            return dx
        gaps = at.d_gaps[:, [k for k, mode in enumerate(event.modes) if mode != FREE]]
        pushed = -np.linalg.lstsq(at.delassus[np.ix_(rows, rows)], gaps.T, rcond=1e-12)[0].T @ at.response[rows]
        moves = np.concatenate([pushed, np.zeros((len(self.rates), self.system.size))])
        found = dx.copy()
        moved = self.linear(event.t, event.before, 0.0, np.zeros(self.sizes.rows), moves)
        found[:, :n_q] += moved.d_x_dot[: len(dx), :n_q]
        return found

    def at_start(self, x: Floats, dx: Floats) -> Floats:
        """Changes of the state that a run starts from, by those of the state that is given: quaternions become unit
        ones, and contacts that are closed without an impact stay closed."""
        if not len(self.steps):
            return dx
        first, found = self.step(0), dx.copy()
        if self.job.contacts.quaternion:
            length = np.linalg.norm(x[3:7])
            unit = x[3:7] / length
            found[:, 3:7] = (found[:, 3:7] - np.outer(found[:, 3:7] @ unit, unit)) / length
        struck = len(self.events) > 0 and self.event(0).which < 0
        if first.modes.any() and not struck:
            start = Happened(first.t, -1, TOUCH, False, 0, first.modes, np.zeros(self.sizes.rows), first.x, first.x, 0)
            found = self.closed_velocities(start, self.closed_places(start, found))
            self._note("contacts that are closed stay so", first.t)
        return found

    def closed_velocities(self, event: Happened, dx: Floats) -> Floats:
        """Changes whose velocities keep closed contacts closed: of one that comes to rest, what is left across is
        caught as it is in the run."""
        at = self.linear(event.t, event.after, 0.0, np.zeros(self.sizes.rows), dx)
        law = ForceChanges(at.d_velocity, at.delassus)
        for i, mode in enumerate(event.modes):
            if mode != FREE:
                law.hold(range(self.firsts[i] if mode == STICK else self.normals[i], self.normals[i] + 1))
        found = dx.copy()
        found[:, len(self.system.free_q) :] += (law.solved() @ at.response)[:, len(self.system.free_q) :]
        return found


@dataclass(frozen=True)
class Varied:
    """Changes of a run along directions."""

    final: Floats  # at its end, (directions, n)
    samples: Floats  # at given times, (directions, times, n)
    section: Floats | None  # where its last event leads to, whenever that is
    delay: Floats | None  # of its last event [s]
    notes: tuple[str, ...]


def varied(variation: Variation, dx: Floats, times: Floats) -> Varied:
    """Changes along directions that start with those of the state, (directions, n), and samples at times [s].

    A sample at the instant of an event is of the state before it.
    """
    v = variation
    samples = np.full((len(dx), len(times), v.system.size), np.nan)
    events = [v.event(k) for k in range(len(v.events))]
    section = delay = None
    sampled = 0
    for k in range(len(v.steps) + 1):
        for event in (own for own in events if own.step == k):
            before = v.step(max(k - 1, 0))
            after = v.step(k).forces[0] if k < len(v.steps) else v.job.contacts.forces
            dx, section, delay = v.through_event(event, before, after, dx)
        if k == len(v.steps):
            break
        step = v.step(k)
        end, rates = v.over_step(step, dx)
        while sampled < len(times) and times[sampled] <= step.t + step.h:
            theta = (times[sampled] - step.t) / step.h if step.h > 0.0 else 0.0
            weights = (theta ** np.arange(1, 4) / np.arange(1, 4)) @ np.linalg.inv(_POWERS)
            samples[:, sampled] = dx + step.h * np.tensordot(weights, rates, axes=1)
            sampled += 1
        dx = end
    return Varied(dx, samples, section, delay, v.notes)


def _factors(robot: Robot) -> Floats:
    """Factors of friction and restitution of a robot's contact points, (points, 2)."""
    found = [(float(p.friction), float(p.restitution)) for _, p in robot.contact_points().values()]
    return np.array(found).reshape(-1, 2)
