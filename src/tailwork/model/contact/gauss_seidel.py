"""The contact problem of a robot solved by block Gauss–Seidel sweeps, in lanes; see `mechanics.rigid.coulomb`.

Contacts that are open in all lanes are not visited. A lane whose contacts have settled stays as it is while others go
on, so that what it comes to does not depend on its neighbours. What sweeps do not settle, `newton`
does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from tailwork.algebra.expression import Scalar, Tape
from tailwork.algebra.vectors import Array
from tailwork.kernels.graph import finished
from tailwork.kernels.kernel import Kernel
from tailwork.kernels.language import Function, Ints, Lanes, Reals, Struct, lanes, spread, where, width
from tailwork.kernels.native import machine
from tailwork.kernels.translate import driver
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.rigid.coulomb import (
    FAR,
    POINT_ANSWERS,
    POINT_AT,
    POINT_SIZE,
    STOP_ANSWERS,
    STOP_AT,
    STOP_SIZE,
    point_record,
    stop_record,
    visit_point,
    visit_stop,
)
from tailwork.mechanics.rigid.problem import ContactProblem, stopped_joints
from tailwork.model.contact.newton import STARTS, Cones, cones_of, first_row, newton, slip_of
from tailwork.typing import Floats

POINT_FREE, POINT_IMPULSE, POINT_SCALED, POINT_MOBILITY, POINT_FRICTION = (
    POINT_AT[name] for name in ("free", "impulse", "scaled", "mobility", "friction")
)
STOP_FREE, STOP_IMPULSE, STOP_SCALED, STOP_MOBILITY = (
    STOP_AT[name] for name in ("free", "impulse", "scaled", "mobility")
)
"""Where b, the impulse and so on are in the record of a contact."""
FULL = 100
"""Sweeps after which contacts are taken only a part of the way to where they should be: some would go in circles."""
ROUNDING = 1e-13
"""Newton's method gets no nearer to the laws of contact than this [m/s]."""
OPEN = 0.5 * FAR
"""Normal velocities beyond this are those of open contacts [m/s]."""


class Pairs(Struct):
    """Which contacts share a limb: they meet in it, and not only through the torso."""

    count: int
    first: Ints  # by pair
    second: Ints
    at: Ints  # where the block L of the first by the second begins among the rows of the contacts


class ContactLanes(Struct):
    """Contacts in all lanes: points first, then joints."""

    points: int
    stops: int
    pairs: Pairs
    visit_point: Function
    visit_stop: Function
    rows: Lanes  # records of all contacts, then the blocks of pairs
    w: Lanes  # (6,): Σ Y Λ
    slips: Lanes  # (points,): 1 where it slips
    given: Lanes  # scratch (contacts × 3): b of contacts that share a limb
    answers: Lanes  # scratch: of a visit
    busy: Lanes  # (1,): 1 where contacts are to be settled, and after that have not
    change: Lanes  # (1,): largest change of velocity in a sweep, squared [m²/s²]
    sweeps: Lanes  # (1,): how many a lane took
    closed: Ints  # scratch (contacts,): which are closed in some lane
    shares: Ints  # (contacts,): which are in a pair


def record_at(contacts: ContactLanes, i: int) -> int:
    """Where the record of a contact begins."""
    points = contacts.points
    return POINT_SIZE * i if i < points else POINT_SIZE * points + STOP_SIZE * (i - points)


def sweep_contacts(contacts: ContactLanes, tolerance: float, most: int) -> int:
    """Sweep over all contacts until none changes a velocity by more than the tolerance [m/s], or so many times.

    Impulses, s and w are where they start, and are changed in place; lanes that are not busy stay as they are. The
    result is the number of sweeps."""
    count, lanes, sweeps, waiting = contacts.points + contacts.stops, width(contacts.w), 0, False
    contacts.sweeps[0] = spread(0.0, contacts.w)
    for i in range(count):
        free = record_at(contacts, i) + (POINT_FREE if i < contacts.points else STOP_FREE)
        normal = free + 2 if i < contacts.points else free
        contacts.closed[i] = 0
        for lane in range(lanes):
            if contacts.busy[0, lane] > 0.0 and not contacts.rows[normal, lane] > OPEN:
                contacts.closed[i] = 1
                waiting = True
        if i < contacts.points:
            contacts.slips[i] = spread(0.0, contacts.w)
        if contacts.shares[i] != 0:
            for k in range(normal - free + 1):
                contacts.given[3 * i + k] = contacts.rows[free + k]
    if not waiting:
        contacts.busy[0] = spread(0.0, contacts.w)
    while waiting and sweeps < most:
        sweeps += 1
        share = 1.0 if sweeps <= FULL else 0.5 if sweeps <= 4 * FULL else 0.2
        contacts.change[0] = spread(0.0, contacts.w)
        for i in range(count):
            if contacts.closed[i] != 0:
                if contacts.shares[i] != 0:
                    meet(contacts, i)
                if i < contacts.points:
                    visit(contacts, i, share)
                else:
                    visit_joint(contacts, i, share)
        contacts.sweeps[0] = contacts.sweeps[0] + contacts.busy[0]
        waiting = False
        for lane in range(lanes):
            if not contacts.change[0, lane] > tolerance * tolerance:
                contacts.busy[0, lane] = 0.0
            waiting = waiting or contacts.busy[0, lane] > 0.0
    return sweeps


def settle_contacts(contacts: ContactLanes, cones: Cones, tolerance: float, most: int, starts: int) -> None:
    """Settle all busy lanes: by so many sweeps at most, and what these leave, by Newton's method, begun so often."""
    sweep_contacts(contacts, tolerance, most)
    for lane in range(width(contacts.w)):
        if contacts.busy[0, lane] > 0.0:
            densely(contacts, cones, lane, tolerance, starts)


def meet(contacts: ContactLanes, i: int) -> None:
    """b of a contact with what the impulses of others on the same limb add."""
    pairs, rows, points = contacts.pairs, contacts.rows, contacts.points
    size = 3 if i < points else 1
    free = record_at(contacts, i) + (POINT_FREE if i < points else STOP_FREE)
    for k in range(size):
        rows[free + k] = contacts.given[3 * i + k]
    for p in range(pairs.count):
        a, b = pairs.first[p], pairs.second[p]
        other = b if a == i else a
        if (a != i and b != i) or contacts.closed[other] == 0:
            continue
        across = 3 if other < points else 1
        impulse = record_at(contacts, other) + (POINT_IMPULSE if other < points else STOP_IMPULSE)
        for k in range(size):
            for j in range(across):
                entry = pairs.at[p] + (k * across + j if a == i else j * size + k)
                rows[free + k] = rows[free + k] + rows[entry] * rows[impulse + j]


def visit(contacts: ContactLanes, i: int, share: float) -> None:
    """Solve a point, the others as they are, and go a share of the way there."""
    record, answers, busy = contacts.rows[record_at(contacts, i) :], contacts.answers, contacts.busy[0] > 0.0
    for k in range(6):
        record[k] = contacts.w[k]
    contacts.visit_point(record, contacts.w, answers)
    if share < 1.0:
        for k in range(3):
            answers[k] = record[POINT_IMPULSE + k] + share * (answers[k] - record[POINT_IMPULSE + k])
        for k in range(6):
            answers[5 + k] = record[k] + share * (answers[5 + k] - record[k])
    for k in range(4):
        record[POINT_IMPULSE + k] = where(busy, answers[k], record[POINT_IMPULSE + k])
    contacts.slips[i] = where(busy, answers[4], contacts.slips[i])
    for k in range(6):
        contacts.w[k] = where(busy, answers[5 + k], contacts.w[k])
    contacts.change[0] = where(answers[11] > contacts.change[0], answers[11], contacts.change[0])


def visit_joint(contacts: ContactLanes, i: int, share: float) -> None:
    """Solve a joint, the others as they are, and go a share of the way there."""
    record, answers, busy = contacts.rows[record_at(contacts, i) :], contacts.answers, contacts.busy[0] > 0.0
    for k in range(6):
        record[k] = contacts.w[k]
    contacts.visit_stop(record, contacts.w, answers)
    if share < 1.0:
        answers[0] = record[STOP_IMPULSE] + share * (answers[0] - record[STOP_IMPULSE])
        for k in range(6):
            answers[1 + k] = record[k] + share * (answers[1 + k] - record[k])
    record[STOP_IMPULSE] = where(busy, answers[0], record[STOP_IMPULSE])
    for k in range(6):
        contacts.w[k] = where(busy, answers[1 + k], contacts.w[k])
    contacts.change[0] = where(answers[7] > contacts.change[0], answers[7], contacts.change[0])


@lru_cache(maxsize=2)
def visit_kernel(visit: Callable[[Tape], list[Scalar]]) -> Kernel:
    """`visit_point` or `visit_stop` of `mechanics.rigid.coulomb`, compiled."""
    tape = Tape()
    return Kernel(finished(tape, visit(tape), POINT_SIZE if visit is visit_point else STOP_SIZE, 0))


def contact_sizes(layout: Layout) -> list[int]:
    """Rows of each contact."""
    return [3] * len(layout.contact_points) + [1] * len(stopped_joints(layout))


def paired(layout: Layout) -> list[tuple[int, int]]:
    """Pairs of contacts that share a limb with coordinates."""
    limbs = [limb for limb, _ in (*layout.contact_points.values(), *stopped_joints(layout).values())]
    fixed = ("torso", *layout.prescribed)
    return [(i, k) for i in range(len(limbs)) for k in range(i + 1, len(limbs)) if limbs[i] == limbs[k] not in fixed]


def solver_rows(layout: Layout) -> int:
    """How many rows `contact_rows` gives."""
    sizes = contact_sizes(layout)
    own = sum(POINT_SIZE if size == 3 else STOP_SIZE for size in sizes)
    return own + sum(sizes[i] * sizes[k] for i, k in paired(layout))


def contact_rows(
    problem: ContactProblem, free: Sequence[Sequence[Scalar] | Array], friction: Sequence[Scalar],
    impulses: Sequence[Sequence[Scalar] | Array], slip: Sequence[Scalar],
) -> list[Scalar]:  # fmt: skip
    """What `ContactLanes.rows` holds at the start of the sweeps, recorded."""
    rows: list[Scalar] = []
    for i, contact in enumerate(problem.contacts):
        if contact.rows == 3:
            rows += point_record(problem, i, free[i], friction[i], impulses[i], slip[i])
        else:
            rows += stop_record(problem, i, free[i][0], impulses[i][0])
    for i, k in paired(problem.robot.layout):
        block = problem.own(i, k)
        assert block is not None
        rows += list(block.ravel())
    return rows


def contacts_of(
    sizes: Sequence[int], pairs: Sequence[tuple[int, int]], lane_count: int, rows: Floats, w: Floats
) -> ContactLanes:
    """Contacts with so many rows each, and room to work in; `rows` and `w` are kept by the caller."""
    points, stops, whole = sizes.count(3), sizes.count(1), np.int64

    def function(visit: Callable[[Tape], list[Scalar]]) -> Function:
        kernel = visit_kernel(visit)
        return Function(kernel.lane_address() if lane_count > 1 else kernel.code.address("scalar"))

    starts = np.cumsum([POINT_SIZE * points + STOP_SIZE * stops, *(sizes[i] * sizes[k] for i, k in pairs)])
    first, second = (np.array([pair[side] for pair in pairs], whole) for side in (0, 1))
    shares = np.array([any(i in pair for pair in pairs) for i in range(len(sizes))], whole)
    return ContactLanes(
        points=points, stops=stops, visit_point=function(visit_point), visit_stop=function(visit_stop), rows=rows, w=w,
        pairs=Pairs(count=len(pairs), first=first, second=second, at=starts[:-1].astype(whole)), shares=shares,
        closed=np.zeros(len(sizes), whole),
        **lanes(lane_count, slips=max(points, 1), given=3 * len(sizes), answers=max(POINT_ANSWERS, STOP_ANSWERS),
                busy=1, change=1, sweeps=1),
    )  # fmt: skip


def densely(contacts: ContactLanes, cones: Cones, lane: int, tolerance: float, starts: int) -> None:
    """Solve what sweeps have left of a lane by its dense matrix; it is busy no more if that is done."""
    c, rows, points = cones, contacts.rows, contacts.points
    for i in range(c.count):
        at, first = record_at(contacts, i), first_row(c, i)
        size, point = (3, i < points) if i < points else (1, False)
        free = at + (POINT_FREE if point else STOP_FREE)
        c.open[i] = 1 if rows[free + size - 1, lane] > OPEN else 0
        if point:
            c.friction[i] = rows[at + POINT_FRICTION, lane]
        for k in range(size):
            known = contacts.shares[i] != 0
            c.free[first + k] = contacts.given[3 * i + k, lane] if known else rows[free + k, lane]
            c.impulse[first + k] = rows[at + (POINT_IMPULSE if point else STOP_IMPULSE) + k, lane]
            for j in range(c.count):
                other, across = first_row(c, j), 3 if j < points else 1
                for m in range(across):
                    c.delassus[(first + k) * c.rows + other + m] = through_torso(contacts, i, k, j, m, lane)
        for k in range(size):  # the whole block: A_11, A_22, A_33, A_12, A_13, A_23
            for m in range(size):
                entry = k if k == m else k + m + 2
                value = rows[at + (POINT_MOBILITY + entry if point else STOP_MOBILITY), lane]
                c.delassus[(first + k) * c.rows + first + m] = value
    for p in range(contacts.pairs.count):
        i, j = contacts.pairs.first[p], contacts.pairs.second[p]
        first, other, across = first_row(c, i), first_row(c, j), 3 if j < points else 1
        for k in range(3 if i < points else 1):
            for m in range(across):
                value = rows[contacts.pairs.at[p] + k * across + m, lane]
                c.delassus[(first + k) * c.rows + other + m] += value
                c.delassus[(other + m) * c.rows + first + k] += value
    if newton(cones, max(tolerance, ROUNDING), starts) <= max(tolerance, ROUNDING):
        contacts.busy[0, lane] = 0.0
    for row in range(6):
        contacts.w[row, lane] = 0.0
    for i in range(c.count):
        at, first, size = record_at(contacts, i), first_row(c, i), 3 if i < points else 1
        for k in range(size):
            rows[at + (POINT_IMPULSE if i < points else STOP_IMPULSE) + k, lane] = c.impulse[first + k]
            for row in range(6):
                scaled = at + (POINT_SCALED + 3 * row + k if i < points else STOP_SCALED + row)
                contacts.w[row, lane] += rows[scaled, lane] * c.impulse[first + k]
        if i < points:
            s = slip_of(cones, i)
            contacts.slips[i, lane] = 1.0 if s > 0.0 else 0.0
            rows[at + POINT_IMPULSE + 3, lane] = s


def through_torso(contacts: ContactLanes, i: int, k: int, j: int, m: int, lane: int) -> float:
    """Yᵀ Y of a row of one contact and a row of another."""
    rows, points, total = contacts.rows, contacts.points, 0.0
    a, b = record_at(contacts, i), record_at(contacts, j)
    for row in range(6):
        x = rows[a + (POINT_SCALED + 3 * row + k if i < points else STOP_SCALED + row), lane]
        y = rows[b + (POINT_SCALED + 3 * row + m if j < points else STOP_SCALED + row), lane]
        total += x * y
    return total


class ManyContacts(Struct):
    """Contact problems one after the other, flat."""

    contacts: ContactLanes
    cones: Cones
    count: int
    size: int  # of the rows of one
    tolerance: float
    most: int
    rows: Reals
    slips: Reals  # (count, points)
    sweeps: Reals


def settle_many(job: ManyContacts) -> int:
    """Solve all of them, as many side by side as there are lanes; lanes beyond the last repeat it."""
    contacts = job.contacts
    for start in range(0, job.count, width(contacts.w)):
        for lane in range(width(contacts.w)):
            row = min(start + lane, job.count - 1)
            for k in range(job.size):
                contacts.rows[k, lane] = job.rows[row * job.size + k]
        for k in range(6):
            contacts.w[k] = spread(0.0, contacts.w)
        contacts.busy[0] = spread(1.0, contacts.w)
        settle_contacts(contacts, job.cones, job.tolerance, job.most, STARTS)
        for lane in range(min(width(contacts.w), job.count - start)):
            row = start + lane
            for k in range(job.size):
                job.rows[row * job.size + k] = contacts.rows[k, lane]
            for i in range(contacts.points):
                job.slips[row * contacts.points + i] = contacts.slips[i, lane]
            job.sweeps[row] = contacts.sweeps[0, lane]
    return 0


def settled(
    sizes: Sequence[int], pairs: Sequence[tuple[int, int]], rows: Floats, tolerance: float, most: int
) -> tuple[Floats, Floats, Floats]:
    """Impulses (count, rows of all contacts) [N s], which points slip, and sweeps, of many problems (count, size) whose
    impulses start at zero."""
    rows = np.array(rows, dtype=np.float64, order="C")
    lane_count = machine().width if len(rows) > 1 else 1
    room = lanes(lane_count, rows=rows.shape[1], w=6)
    contacts = contacts_of(sizes, pairs, lane_count, room["rows"], room["w"])
    slips, sweeps = np.zeros((len(rows), contacts.points)), np.zeros(len(rows))
    job = ManyContacts(
        contacts=contacts, cones=cones_of(contacts.points, contacts.stops), count=len(rows), size=rows.shape[1],
        tolerance=tolerance, most=most, rows=rows.reshape(-1), slips=slips.reshape(-1), sweeps=sweeps,
    )  # fmt: skip
    driver(settle_many, lane_count)(job)
    places = [POINT_SIZE * i + POINT_IMPULSE + k for i in range(contacts.points) for k in range(3)]
    places += [POINT_SIZE * contacts.points + STOP_SIZE * i + STOP_IMPULSE for i in range(contacts.stops)]
    return rows[:, places], slips, sweeps
