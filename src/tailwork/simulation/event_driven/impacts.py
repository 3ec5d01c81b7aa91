"""What happens at an event: impacts, the modes of the contacts after it, and stance that is closed again; a driver.

An impact is the contact problem over all points that touch: impulses within Coulomb's cones after which no point
approaches (or it leaves with the share e of the speed with which it came), and friction that is as large as it can be
against what slips. The modes after it are the same problem for forces and accelerations.
"""

from __future__ import annotations

import math

from tailwork.kernels.language import Ints, Reals, Struct
from tailwork.simulation.event_driven.constrained import (
    CREEP,
    FREE,
    SLIP,
    STICK,
    Contacts,
    accelerate,
    apply,
    contact_of,
    first_row,
    look,
    normal_row,
    slip_speed,
    solve_modes,
    tangential,
)

TOUCH, LIFT, SLIDE, HALT, SLOWER, FASTER = 0, 1, 2, 3, 4, 5
"""Events of a contact: it touches the ground, lets go, starts to slip, comes to rest, begins or ends to creep."""
TOUCHING, RESTING, REBOUND = 1e-9, 1e-9, 1e-8
"""Points closer than this [m] that do not leave faster than this [m/s] touch together with one that lands; where they
come more slowly than the last [m/s], they do not rebound."""
STILL = 1e-13
"""Normal velocities of closed contacts below this are rounding [m/s]."""
SWEEPS = 5000
"""Most sweeps of the contact problem."""
OPEN, COULOMB, SLIPPING = 0, 1, 2
"""What the contact problem knows of a contact."""


class Touching(Struct):
    """Contacts at an event."""

    contacts: Contacts
    near: Reals  # one: points closer than this touch together with one that lands [m]
    creep: float  # [m/s]: below it the velocity does not tell the direction of friction
    kinds: Ints
    closed: Ints  # which contacts took part in the last event
    passing: Ints  # which contacts pass through the ground for now
    wanted: Reals  # rows
    before: Reals  # rows: velocities before an impact
    after: Reals  # and after it
    impulses: Reals  # rows, in the contacts' frames: of the last impact [N s]
    slide: Reals  # friction of a contact that starts to slip
    around: Reals  # three: velocity of a contact with the forces of all others
    result: Reals  # whether there was an impact, what energy it took [J], how many contacts closed, sweeps


def kick(t: Touching, x: Reals, positions: bool) -> None:
    """Change the velocities of a state by the impulses in `forces`, or its coordinates likewise."""
    c = t.contacts
    apply(c, 0.0)
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
    look(c, time, x)
    for i in range(c.count):
        t.wanted[normal_row(c, i)] = c.gaps[i]
        off = max(off, abs(c.gaps[i])) if c.modes[i] != FREE else off
        if i < c.points:
            dx, dy, dz = (
                c.seen[3 * i] - c.anchors[3 * i],
                c.seen[3 * i + 1] - c.anchors[3 * i + 1],
                c.seen[3 * i + 2] - c.anchors[3 * i + 2],
            )
            a, b = tangential(c, i, dx, dy, dz)
            rolls = c.radii[i] > 0.0
            t.wanted[3 * i] = 0.0 if rolls else a
            t.wanted[3 * i + 1] = 0.0 if rolls else b
            if c.modes[i] == STICK:
                off = max(off, max(abs(t.wanted[3 * i]), abs(t.wanted[3 * i + 1])))
    solve_modes(c, t.wanted, False)
    kick(t, x, True)
    look(c, time, x)
    solve_modes(c, c.velocities, False)
    kick(t, x, False)
    return off


def coulomb(t: Touching) -> int:
    """Forces of the contact problem A · forces + wanted, by Gauss and Seidel over contacts; how many sweeps it took."""
    c = t.contacts
    rows, size = c.rows, 0.0
    for k in range(rows):
        c.forces[k] = 0.0
        size = max(size, abs(t.wanted[k])) if t.kinds[contact_of(c, k)] != OPEN else size
    for swept in range(1, SWEEPS):
        change = 0.0
        for i in range(c.count):
            if t.kinds[i] == OPEN:
                continue
            first, last = first_row(c, i), normal_row(c, i)
            for row in range(first, last + 1):
                t.around[row - first] = t.wanted[row]
                for k in range(rows):
                    if k < first or k > last:
                        t.around[row - first] += c.delassus[row * rows + k] * c.forces[k]
            if i < c.points:
                change = max(change, one_contact(t, i, t.around[0], t.around[1], t.around[2]))
            else:
                stiffness, old = c.delassus[first * rows + first], c.forces[first]
                c.forces[first] = max(-t.around[0], 0.0) / stiffness
                change = max(change, abs(c.forces[first] - old) * stiffness)
        if change <= 1e-15 * size:
            return swept
    return SWEEPS


def one_contact(t: Touching, i: int, x: float, y: float, z: float) -> float:
    """The force of a contact whose velocity without it is (x, y, z), exactly; how much it changed, as a velocity.

    Where it slips, (A + s diag(1, 1, 0)) force = −velocity with s ≥ 0 such that |tangential| = mu · normal.
    """
    c, mu = t.contacts, t.contacts.friction[i]
    rows, first = c.rows, 3 * i * c.rows + 3 * i
    a11, a12, a13 = c.delassus[first], c.delassus[first + 1], c.delassus[first + 2]
    a22, a23, a33 = c.delassus[first + rows + 1], c.delassus[first + rows + 2], c.delassus[first + 2 * rows + 2]
    fx, fy, fz = 0.0, 0.0, 0.0
    if t.kinds[i] == SLIPPING:
        dx, dy = c.directions[2 * i], c.directions[2 * i + 1]
        stiffness = a33 - mu * (a13 * dx + a23 * dy)
        if z < 0.0 and stiffness > 0.0:
            fz = -z / stiffness
            fx, fy = -mu * dx * fz, -mu * dy * fz
    elif z < 0.0:
        m11, m12, m13 = a22 * a33 - a23 * a23, a13 * a23 - a12 * a33, a12 * a23 - a22 * a13
        m22, m23, m33 = a11 * a33 - a13 * a13, a12 * a13 - a11 * a23, a11 * a22 - a12 * a12
        n1, n2, n3 = -(m11 * x + m12 * y + m13 * z), -(m12 * x + m22 * y + m23 * z), -(m13 * x + m23 * y + m33 * z)
        if n3 > 0.0 and n1 * n1 + n2 * n2 <= mu * mu * n3 * n3:
            det = a11 * m11 + a12 * m12 + a13 * m13
            fx, fy, fz = n1 / det, n2 / det, n3 / det
        else:
            p1, p2 = a13 * z - a33 * x, a23 * z - a33 * y
            p3 = a13 * x + a23 * y - (a11 + a22) * z
            s = slipping(mu, n1, n2, n3, p1, p2, p3, z, 0.5 * (a11 + a22))
            e1, e2 = n1 + s * p1, n2 + s * p2
            length = math.sqrt(e1 * e1 + e2 * e2)
            if length > 0.0:
                e1, e2 = e1 / length, e2 / length
            fz = -z / max(a33 + mu * (a13 * e1 + a23 * e2), 1e-3 * a33)
            fx, fy = mu * e1 * fz, mu * e2 * fz
    change = max(abs(fx - c.forces[3 * i]), max(abs(fy - c.forces[3 * i + 1]), abs(fz - c.forces[3 * i + 2]))) * a33
    c.forces[3 * i] = fx
    c.forces[3 * i + 1] = fy
    c.forces[3 * i + 2] = fz
    return change


def slipping(
    mu: float, n1: float, n2: float, n3: float, p1: float, p2: float, p3: float, z: float, scale: float
) -> float:
    """s > 0 with |n + s p| = mu (n3 + s p3 − s² z), by halving between powers of two."""
    low, high = 0.0, scale
    for _ in range(400):
        if mu * (n3 + high * (p3 - high * z)) >= math.sqrt((n1 + high * p1) ** 2 + (n2 + high * p2) ** 2):
            break
        low = high
        high = 2.0 * high
        if not high < 1e12 * scale:
            return high
    for _ in range(200):
        s = 0.5 * (low + high)
        if s <= low or s >= high:
            break
        if mu * (n3 + s * (p3 - s * z)) >= math.sqrt((n1 + s * p1) ** 2 + (n2 + s * p2) ** 2):
            high = s
        else:
            low = s
    return high


def settle(t: Touching, time: float, x: Reals, which: int, what: int) -> None:
    """The impact at an event, if a closed contact approaches, and all modes after it.

    Args:
        t: the contacts, with the modes before.
        time: of the event [s].
        x: the state, changed by an impact.
        which: contact whose event it is; −1: none.
        what: the event, which is not decided again.
    """
    c = t.contacts
    look(c, time, x)
    hit, newly = False, 0
    for i in range(c.count):
        falling = c.velocities[normal_row(c, i)]
        near = abs(c.gaps[i]) < t.near[0] and falling < RESTING and t.passing[i] == 0
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
    decide(t, which, what, hit)


def strike(t: Touching, time: float, x: Reals) -> None:
    """The impact of all contacts that are closed."""
    c = t.contacts
    for k in range(c.rows):
        i = contact_of(c, k)
        t.before[k] = c.velocities[k]
        t.wanted[k] = c.velocities[k]
        if k == normal_row(c, i) and c.velocities[k] < -REBOUND:
            t.wanted[k] += c.restitution[i] * c.velocities[k]
    t.result[3] = float(coulomb(t))
    for k in range(c.rows):
        t.impulses[k] = c.forces[k]
    kick(t, x, False)
    look(c, time, x)
    for k in range(c.rows):
        t.after[k] = c.velocities[k]
        t.result[1] -= 0.5 * t.impulses[k] * (t.before[k] + t.after[k])


def decide(t: Touching, which: int, what: int, hit: bool) -> None:
    """Modes from the accelerations, and where contacts stick from now on."""
    c = t.contacts
    for i in range(c.count):
        leaves = (i == which and what == LIFT) or (hit and c.velocities[normal_row(c, i)] > REBOUND)
        if t.kinds[i] == OPEN or leaves:
            t.kinds[i] = OPEN
        elif i < c.points and not (i == which and what == HALT):
            slips_on(t, i, i == which and what == SLIDE, hit)
    for k in range(c.rows):
        t.wanted[k] = c.biases[k]
    coulomb(t)
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


def slips_on(t: Touching, i: int, slides: bool, hit: bool) -> None:
    """Whether a closed point slips, and along what; `slides`: it has just started to."""
    c, speed = t.contacts, slip_speed(t.contacts, i)
    if slides:
        size = math.sqrt(t.slide[0] * t.slide[0] + t.slide[1] * t.slide[1])
        for k in range(2):
            c.directions[2 * i + k] = -t.slide[k] / size if size > 0.0 else 1.0 - k
        t.kinds[i] = SLIPPING
    elif c.modes[i] == CREEP and speed <= 2.0 * t.creep and not hit:
        t.kinds[i] = SLIPPING
    elif speed > (REBOUND if hit else t.creep) or (c.modes[i] == SLIP and not hit):
        for k in range(2):
            c.directions[2 * i + k] = c.velocities[3 * i + k] / speed
        t.kinds[i] = SLIPPING


def starts_to_slip(c: Contacts, i: int) -> None:
    """A point at rest that friction cannot hold creeps along its acceleration."""
    fx, fy, ax, ay = c.forces[3 * i], c.forces[3 * i + 1], c.accelerations[3 * i], c.accelerations[3 * i + 1]
    size = math.sqrt(ax * ax + ay * ay)
    held = c.friction[i] * c.forces[3 * i + 2] * (1.0 - 1e-10)
    if math.sqrt(fx * fx + fy * fy) >= held and size > 1e-9:
        c.modes[i] = CREEP
        c.directions[2 * i] = ax / size
        c.directions[2 * i + 1] = ay / size


def anchor(c: Contacts, i: int) -> None:
    """A point sticks where it is; its height is that of the ground."""
    for k in range(3):
        c.anchors[3 * i + k] = c.seen[3 * i + k]
