"""What happens at an event: impacts, the modes of the contacts after it, and stance that is closed again; a driver.

An impact is the contact problem over all points that touch: impulses within Coulomb's cones after which no point
approaches (or it leaves with the share e of the speed with which it came), and friction that is as large as it can be
against what slips. The modes after it are the same problem for forces and accelerations.
"""

from __future__ import annotations

import math

from tailwork.kernels.language import Ints, Reals, Struct
from tailwork.model.contact.newton import PLAIN, Cones, newton, project
from tailwork.simulation.event_driven.constrained import (
    CREEP,
    FREE,
    SLIP,
    STICK,
    ContactState,
    accelerate,
    contact_of,
    evaluate_contacts,
    normal_row,
    slip_speed,
    solve_modes,
    state_derivative,
    tangential_part,
)

TOUCH, LIFT, SLIDE, HALT, SLOWER, FASTER = 0, 1, 2, 3, 4, 5
"""Events of a contact: it touches the ground, lets go, starts to slip, comes to rest, begins or ends to creep."""
TOUCHING, RESTING, REBOUND = 1e-9, 1e-9, 1e-8
"""Points closer than this [m] that do not leave faster than this [m/s] touch together with one that lands; where they
come more slowly than the last [m/s], they do not rebound."""
STILL = 1e-13
"""Normal velocities of closed contacts below this are rounding [m/s]."""
ROUNDING = 2.2e-16
"""Of a number, relative: velocities after an impact are as uncertain as this share of what the impulses change [1]."""
PROJECTED, EXACT = 20, 1e-14
"""Sweeps of projections before Newton's method on the contact problem, and how well it is solved [1]."""
OPEN, COULOMB, SLIPPING = 0, 1, 2
"""What the contact problem knows of a contact."""


class Touching(Struct):
    """Contacts at an event."""

    contacts: ContactState
    cones: Cones  # with the matrix, the friction and the directions of these contacts
    near: Reals  # two: what is closer than this touches together with one that lands, points not deeper than that [m]
    creep: float  # [m/s]: below it the velocity does not tell the direction of friction
    kinds: Ints
    closed: Ints  # which contacts took part in the last event
    passing: Ints  # which contacts pass through the ground for now
    wanted: Reals  # rows
    before: Reals  # rows: velocities before an impact
    after: Reals  # and after it
    impulses: Reals  # rows, in the contacts' frames: of the last impact [N s]
    slide: Reals  # friction of a contact that starts to slip
    result: Reals  # whether there was an impact, what energy it took [J], how many contacts closed, how far it is from
    # the laws of contact [m/s]


def kick(t: Touching, x: Reals, positions: bool) -> None:
    """Change the velocities of a state by the impulses in `forces`, or its coordinates likewise."""
    c = t.contacts
    state_derivative(c, 0.0)
    if not positions:
        for k in range(c.places_size, c.n):
            x[k] += c.moved[k]
        return
    for k in range(c.places_size, c.n):
        c.inputs[1 + k, 0] = c.moved[k]
    c.move.scalar(c.inputs, c.move_constants, c.moved)
    for k in range(c.places_size):
        x[k] += c.moved[k]


def close(t: Touching, time: float, x: Reals) -> float:
    """Closed contacts back to their places and to rest, in the metric of the mass matrix; how far they were off [m].

    A ball that sticks rolls: where it touches moves on, so that only its height is closed.
    """
    c, off, closed = t.contacts, 0.0, False
    if c.quaternion:
        length = math.sqrt(x[3] * x[3] + x[4] * x[4] + x[5] * x[5] + x[6] * x[6])
        for k in range(3, 7):
            x[k] /= length
    for i in range(c.count):
        closed = closed or c.modes[i] != FREE
    if not closed:
        return 0.0
    evaluate_contacts(c, time, x)
    for i in range(c.count):
        t.wanted[normal_row(c, i)] = c.gaps[i]
        off = max(off, abs(c.gaps[i])) if c.modes[i] != FREE else off
        if i < c.points:
            dx, dy, dz = (
                c.seen[3 * i] - c.anchors[3 * i],
                c.seen[3 * i + 1] - c.anchors[3 * i + 1],
                c.seen[3 * i + 2] - c.anchors[3 * i + 2],
            )
            a, b = tangential_part(c, i, dx, dy, dz)
            rolls = c.radii[i] > 0.0
            t.wanted[3 * i] = 0.0 if rolls else a
            t.wanted[3 * i + 1] = 0.0 if rolls else b
            if c.modes[i] == STICK:
                off = max(off, max(abs(t.wanted[3 * i]), abs(t.wanted[3 * i + 1])))
    solve_modes(c, t.wanted, False)
    kick(t, x, True)
    evaluate_contacts(c, time, x)
    solve_modes(c, c.velocities, False)
    kick(t, x, False)
    return off


def solve_contacts(t: Touching) -> float:
    """Forces of the contact problem A · forces + wanted; how far they are from the laws of contact [as wanted]."""
    c, cones, size = t.contacts, t.cones, 0.0
    for i in range(c.count):
        cones.open[i] = 1 if t.kinds[i] == OPEN else 0
        if i < c.points:
            cones.along[i] = 1 if t.kinds[i] == SLIPPING else 0
    for k in range(c.rows):
        cones.free[k] = t.wanted[k]
        cones.impulse[k] = 0.0
        size = max(size, abs(t.wanted[k])) if t.kinds[contact_of(c, k)] != OPEN else size
    for _ in range(PROJECTED):
        project(cones)
    off = newton(cones, EXACT * size, PLAIN)
    for k in range(c.rows):
        c.forces[k] = cones.impulse[k]
    return off


def settle_modes(t: Touching, time: float, x: Reals, which: int, what: int) -> None:
    """The impact at an event, if a closed contact approaches, and all modes after it.

    Args:
        t: the contacts, with the modes before.
        time: of the event [s].
        x: the state, changed by an impact.
        which: contact whose event it is; −1: none.
        what: the event, which is not decided again.
    """
    c = t.contacts
    evaluate_contacts(c, time, x)
    hit, newly = False, 0
    for i in range(c.count):
        falling = c.velocities[normal_row(c, i)]
        deepest = t.near[1] if i < c.points else math.inf  # a joint beyond its range is thrown back
        near = -deepest < c.gaps[i] < t.near[0] and falling < RESTING and t.passing[i] == 0
        t.kinds[i] = OPEN
        if c.modes[i] != FREE or (what == TOUCH and (i == which or near)):
            t.kinds[i] = COULOMB
            newly += 1 if c.modes[i] == FREE else 0
            hit = hit or (what == TOUCH and falling < -STILL)
    for i in range(c.count):
        t.closed[i] = t.kinds[i]
    t.result[0] = 1.0 if hit else 0.0
    t.result[1] = 0.0
    t.result[2] = float(newly)
    t.result[3] = 0.0
    for k in range(c.rows):
        t.impulses[k] = 0.0
    if hit:
        strike(t, time, x)
    choose_modes(t, which, what, hit)


def strike(t: Touching, time: float, x: Reals) -> None:
    """The impact of all contacts that are closed."""
    c = t.contacts
    for k in range(c.rows):
        i = contact_of(c, k)
        t.before[k] = c.velocities[k]
        t.wanted[k] = c.velocities[k]
        if k == normal_row(c, i) and c.velocities[k] < -REBOUND:
            t.wanted[k] += c.restitution[i] * c.velocities[k]
    t.result[3] = solve_contacts(t)
    for k in range(c.rows):
        t.impulses[k] = c.forces[k]
    kick(t, x, False)
    evaluate_contacts(c, time, x)
    for k in range(c.rows):
        t.after[k] = c.velocities[k]
        t.result[1] -= 0.5 * t.impulses[k] * (t.before[k] + t.after[k])


def zero_speed(t: Touching) -> float:
    """Velocities after an impact below this are zero to rounding [m/s]: light bodies change theirs by much."""
    c, largest = t.contacts, 0.0
    for row in range(c.rows):
        total = 0.0
        for k in range(c.rows):
            total += abs(c.delassus[row * c.rows + k] * t.impulses[k])
        largest = max(largest, total)
    return max(REBOUND, ROUNDING * largest)


def choose_modes(t: Touching, which: int, what: int, hit: bool) -> None:
    """Modes from the accelerations, and where contacts stick from now on."""
    c, still = t.contacts, zero_speed(t) if hit else t.creep
    for i in range(c.count):
        leaves = (i == which and what == LIFT) or (hit and c.velocities[normal_row(c, i)] > still)
        if t.kinds[i] == OPEN or leaves:
            t.kinds[i] = OPEN
        elif i < c.points and not (i == which and what == HALT):
            slips_on(t, i, i == which and what == SLIDE, hit, still)
    for k in range(c.rows):
        t.wanted[k] = c.biases[k]
    solve_contacts(t)
    accelerate(c)
    for i in range(c.count):
        before, normal = c.modes[i], c.forces[normal_row(c, i)]
        if t.kinds[i] == OPEN or normal <= 0.0:
            c.modes[i] = FREE
        elif t.kinds[i] == SLIPPING:
            c.modes[i] = SLIP if slip_speed(c, i) > 1.000001 * t.creep else CREEP
        else:
            c.modes[i] = STICK
            if i < c.points:
                starts_to_slip(c, i)
        if c.modes[i] == STICK and before != STICK and i < c.points:
            anchor(c, i)


def slips_on(t: Touching, i: int, slides: bool, hit: bool, still: float) -> None:
    """Whether a closed point slips, and along what; `slides`: it has just started to; `still`: below this speed it
    rests [m/s]."""
    c, speed = t.contacts, slip_speed(t.contacts, i)
    if slides:
        size = math.sqrt(t.slide[0] * t.slide[0] + t.slide[1] * t.slide[1])
        for k in range(2):
            c.directions[2 * i + k] = -t.slide[k] / size if size > 0.0 else 1.0 - k
        t.kinds[i] = SLIPPING
    elif c.modes[i] == CREEP and speed <= 2.0 * t.creep and not hit:
        t.kinds[i] = SLIPPING
    elif speed > still or (c.modes[i] == SLIP and not hit):
        for k in range(2):
            c.directions[2 * i + k] = c.velocities[3 * i + k] / speed
        t.kinds[i] = SLIPPING


def starts_to_slip(c: ContactState, i: int) -> None:
    """A point at rest that friction cannot hold creeps along its acceleration."""
    fx, fy, ax, ay = c.forces[3 * i], c.forces[3 * i + 1], c.accelerations[3 * i], c.accelerations[3 * i + 1]
    size = math.sqrt(ax * ax + ay * ay)
    held = c.friction[i] * c.forces[3 * i + 2] * (1.0 - 1e-10)
    if math.sqrt(fx * fx + fy * fy) >= held and size > 1e-9:
        c.modes[i] = CREEP
        c.directions[2 * i] = ax / size
        c.directions[2 * i + 1] = ay / size


def anchor(c: ContactState, i: int) -> None:
    """A point sticks where it is; its height is that of the ground."""
    for k in range(3):
        c.anchors[3 * i + k] = c.seen[3 * i + k]
