"""Contacts at a state, and the motion for given modes of theirs; a driver (see tailwork.kernels.language).

In a contact's frame the third axis is the ground's normal. A contact is free; sticks (its velocity stays zero); slips
(its normal velocity stays zero, and friction is mu times the normal force against the slip); or creeps: it slips so
slowly that its velocity does not tell the direction of friction any more. The equations are stiff there, because the
direction turns within a time in proportion to the speed. One that speeds up goes along its acceleration, the direction
to which it turns at once; one that slows down keeps the direction it came with.
"""

from __future__ import annotations

import math

from tailwork.kernels.language import Ints, Lanes, Reals, Struct
from tailwork.model.contact.newton import eliminate
from tailwork.simulation.contact.ground import Field, bends, surface
from tailwork.simulation.contact.stepping import Tables, aim
from tailwork.simulation.integrate.compiled import LaneKernel

FREE, STICK, SLIP, CREEP = 0, 1, 2, 3
"""Modes of a contact."""
PLANE = 7
"""Numbers of the ground under a point: height [m], normal, curvature of the height [1/m]."""
SHARED = 1e-8
"""What is added to the diagonal then, as a share of the largest number; it is iterated away again."""
TURNS = 40
"""Iterations for the directions of contacts that creep."""


class ContactState(Struct):
    """What is known of contacts at a state: points with three rows each, then joints at their stops with one."""

    points: int
    count: int  # of points and joints
    rows: int
    n: int  # numbers of a state
    places_size: int  # of its coordinates
    targets: int  # the first input that is a servo's target
    planes: int  # the first input that is a plane's
    share: int  # the input before the forces
    quaternion: bool  # whether the torso's attitude is one
    tables: Tables
    field: Field
    bends: Reals  # scratch: of the ground at a point
    locate: LaneKernel  # "contact places"; none where the ground is level
    locate_constants: Reals
    see: LaneKernel  # "contact data"
    see_constants: Reals
    move: LaneKernel  # "contact motion"
    move_constants: Reals
    friction: Reals  # coefficient of each contact [1]
    restitution: Reals  # likewise [1]
    radii: Reals  # of balls [m]
    inputs: Lanes
    seen: Reals  # outputs of `see`
    moved: Reals  # outputs of `move`
    gaps: Reals  # [m or rad]
    velocities: Reals  # in the contacts' frames [m/s or rad/s]
    biases: Reals  # accelerations without forces, likewise
    delassus: Reals  # (rows, rows)
    modes: Ints
    directions: Reals  # (points, 2): of the slip, in which it started or was last seen
    along: Reals  # (points, 2): of the slip now
    anchors: Reals  # (points, 3): where they stick, inertial frame [m]
    forces: Reals  # in the contacts' frames [N or N m]
    accelerations: Reals  # of the rows, with forces
    unknowns: Ints  # scratch: rows of the forces that are solved for
    matrix: Reals
    right: Reals
    shares: Reals


def normal_row(c: ContactState, i: int) -> int:
    """The row of its normal, its last."""
    return 3 * i + 2 if i < c.points else 2 * c.points + i


def contact_of(c: ContactState, row: int) -> int:
    """Whose row it is."""
    return row // 3 if row < 3 * c.points else row - 2 * c.points


def evaluate_contacts(c: ContactState, t: float, x: Reals) -> None:
    """Places, velocities, accelerations without forces and the Delassus matrix at a state."""
    rows = c.rows
    c.inputs[0, 0] = t
    for k in range(c.n):
        c.inputs[1 + k, 0] = x[k]
    aim(c.tables, 0, t, 0, c.inputs[c.targets :])
    if c.field.count_x > 0:
        c.locate.scalar(c.inputs, c.locate_constants, c.seen)
        for i in range(c.points):
            tangent_plane(c, c.seen[3 * i], c.seen[3 * i + 1], c.inputs[c.planes + PLANE * i :])
    c.see.scalar(c.inputs, c.see_constants, c.seen)
    place = 3 * c.points
    for i in range(c.count):
        c.gaps[i] = c.seen[place + i]
    place += c.count
    for i in range(rows):
        c.velocities[i] = c.seen[place + i]
        c.biases[i] = c.seen[place + rows + i]
    place += 2 * rows
    for i in range(rows):
        for j in range(i + 1):
            c.delassus[i * rows + j] = c.seen[place]
            c.delassus[j * rows + i] = c.seen[place]
            place += 1


def tangent_plane(c: ContactState, x: float, y: float, plane: Lanes) -> None:
    """Height, normal and curvature of the ground below a point."""
    height, by_x, by_y = surface(c.field, x, y)
    steep = math.sqrt(1.0 + by_x * by_x + by_y * by_y)
    plane[0, 0] = height
    plane[1, 0] = -by_x / steep
    plane[2, 0] = -by_y / steep
    plane[3, 0] = 1.0 / steep
    bends(c.field, x, y, c.bends)
    for k in range(3):
        plane[4 + k, 0] = c.bends[k]


def inertially(c: ContactState, i: int, a: float, b: float, n: float) -> tuple[float, float, float]:
    """A vector of a point's frame in the inertial frame; the axes are those of `mechanics.rigid.Plane`."""
    if c.field.count_x == 0:
        return a, b, n
    at = c.planes + PLANE * i
    x, y, z = c.inputs[at + 1, 0], c.inputs[at + 2, 0], c.inputs[at + 3, 0]
    share = 1.0 / (z + 1.0)
    return (
        (1.0 - x * x * share) * a - x * y * share * b + x * n,
        -x * y * share * a + (1.0 - y * y * share) * b + y * n,
        -x * a - y * b + z * n,
    )


def tangential_part(c: ContactState, i: int, x: float, y: float, z: float) -> tuple[float, float]:
    """The tangential part of a vector of the inertial frame, in a point's frame."""
    if c.field.count_x == 0:
        return x, y
    a, b, _ = inertially(c, i, x, y, -z)  # the axes as rows are the same turn the other way
    return a, b


def solve_modes(c: ContactState, wanted: Reals, friction: bool) -> None:
    """Forces such that A · forces + wanted is zero in the rows that the modes hold: all of a contact that sticks, the
    normal of one that slips, with its friction or, for projections, without."""
    m = 0
    for row in range(c.rows):
        i = contact_of(c, row)
        c.forces[row] = 0.0
        if c.modes[i] == STICK or (row == normal_row(c, i) and c.modes[i] != FREE):
            c.unknowns[m] = row
            m += 1
    if m == 0:
        return
    mode_equations(c, m, wanted, friction)
    if not eliminate(c.matrix, c.right, m):
        spread_load(c, m, wanted, friction)
    for a in range(m):
        row = c.unknowns[a]
        i = contact_of(c, row)
        c.forces[row] = c.right[a]
        if friction and c.modes[i] >= SLIP:
            for k in range(2):
                c.forces[3 * i + k] = -c.friction[i] * c.along[2 * i + k] * c.right[a]


def mode_equations(c: ContactState, m: int, wanted: Reals, friction: bool) -> None:
    """The equations of `solve_modes`."""
    for a in range(m):
        row = c.unknowns[a]
        c.right[a] = -wanted[row]
        for b in range(m):
            column = c.unknowns[b]
            i = contact_of(c, column)
            value = c.delassus[row * c.rows + column]
            if friction and c.modes[i] >= SLIP:
                for k in range(2):
                    value -= c.friction[i] * c.along[2 * i + k] * c.delassus[row * c.rows + 3 * i + k]
            c.matrix[a * m + b] = value


def spread_load(c: ContactState, m: int, wanted: Reals, friction: bool) -> None:
    """Redundant contacts: the solution that is nearest to zero, by the proximal point method."""
    for k in range(m):
        c.shares[k] = 0.0
    for _ in range(4):
        mode_equations(c, m, wanted, friction)
        largest = 0.0
        for a in range(m):
            largest = max(largest, abs(c.matrix[a * m + a]))
            for b in range(m):
                c.right[a] -= c.matrix[a * m + b] * c.shares[b]
        for a in range(m):
            c.matrix[a * m + a] += SHARED * largest
        eliminate(c.matrix, c.right, m)
        for a in range(m):
            c.shares[a] += c.right[a]
    for a in range(m):
        c.right[a] = c.shares[a]


def accelerate(c: ContactState) -> None:
    """Accelerations of all rows with the forces."""
    for i in range(c.rows):
        total = c.biases[i]
        for j in range(c.rows):
            total += c.delassus[i * c.rows + j] * c.forces[j]
        c.accelerations[i] = total


def turn_creeping(c: ContactState) -> None:
    """Contacts that creep and speed up go along their accelerations."""
    rows = c.rows
    for turn in range(TURNS):
        accelerate(c)
        largest = 0.0
        for i in range(c.points):
            if c.modes[i] != CREEP:
                continue
            dx, dy = c.along[2 * i], c.along[2 * i + 1]
            forward = c.accelerations[3 * i] * dx + c.accelerations[3 * i + 1] * dy
            if turn == 0:
                c.shares[i] = forward
            if c.shares[i] <= 0.0:
                continue
            aside = c.accelerations[3 * i + 1] * dx - c.accelerations[3 * i] * dy
            xx, xy = c.delassus[3 * i * rows + 3 * i], c.delassus[3 * i * rows + 3 * i + 1]
            yy = c.delassus[(3 * i + 1) * rows + 3 * i + 1]
            stiff = c.friction[i] * c.forces[3 * i + 2] * (dy * dy * xx - 2.0 * dx * dy * xy + dx * dx * yy)
            angle = max(-0.3, min(0.3, aside / max(stiff + max(forward, 0.0), 1e-12)))
            length = math.sqrt(1.0 + angle * angle)
            c.along[2 * i] = (dx - angle * dy) / length
            c.along[2 * i + 1] = (dy + angle * dx) / length
            largest = max(largest, abs(angle))
        if largest == 0.0:
            return
        solve_modes(c, c.biases, True)
        if largest < 1e-14:
            return


def derivative(c: ContactState, t: float, x: Reals) -> None:
    """x-dot into `moved`, and the forces, with the modes as they are."""
    evaluate_contacts(c, t, x)
    creeping = False
    for i in range(c.points):
        speed = slip_speed(c, i)
        for k in range(2):
            moving = c.modes[i] == SLIP and speed > 0.0
            c.along[2 * i + k] = c.velocities[3 * i + k] / speed if moving else c.directions[2 * i + k]
        creeping = creeping or c.modes[i] == CREEP
    solve_modes(c, c.biases, True)
    if creeping:
        turn_creeping(c)
    state_derivative(c, 1.0)


def slip_speed(c: ContactState, i: int) -> float:
    """Tangential speed of a point [m/s]."""
    return math.sqrt(c.velocities[3 * i] ** 2 + c.velocities[3 * i + 1] ** 2)


def state_derivative(c: ContactState, share: float) -> None:
    """x-dot into `moved`, with the forces and a share of all that is not a contact's."""
    c.inputs[c.share, 0] = share
    for k in range(c.rows):
        c.inputs[c.share + 1 + k, 0] = c.forces[k]
    c.move.scalar(c.inputs, c.move_constants, c.moved)
