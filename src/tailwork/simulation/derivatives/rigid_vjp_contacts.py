"""The vector-Jacobian product of settled contacts, in a lane: from weights of impulses to those of velocities.

Which contacts bear load, and which of them slip, stays as it was. With their velocities u = A Λ + b,

    a point that sticks    u = 0
    a joint at its stop    u = 0
    a point that slips     u_n = 0,  e·Λ_t = μ Λ_n,  e⊥·(|Λ_t| u_t + |u_t| Λ_t) = 0   (e: the direction of friction)

are F(Λ, u, μ) = 0. By the implicit function theorem weights λ of impulses become −F_uᵀ y of u and −F_μᵀ y of μ, where
(F_Λ + F_u A)ᵀ y = λ.
"""

from __future__ import annotations

import math

from tailwork.kernels.language import Lanes, width
from tailwork.mechanics.rigid.coulomb import FAR, POINT_AT, STOP_AT
from tailwork.model.contact.gauss_seidel import OPEN, record_at
from tailwork.simulation.derivatives.rigid_vjp_job import BARELY, EDGE, KINDS, SHARED, TOGETHER, RoundsJob
from tailwork.simulation.event_driven.constrained import eliminate

POINT_Y, POINT_A, POINT_FREE = POINT_AT["scaled"], POINT_AT["mobility"], POINT_AT["free"]
POINT_MU, STOP_Y, STOP_A, STOP_FREE = POINT_AT["friction"], STOP_AT["scaled"], STOP_AT["mobility"], STOP_AT["free"]
TIE, ON_EDGE, JUST = 1e-6, 1e-6, 1e-8
"""Together: within this share of a step [1]; on the edge of the cone: within this share [1]; only just: with less than
this velocity [m/s], or so near [m]."""
NEARLY = 1e-9
"""Share of the largest mobility that every contact yields more where load is shared in no certain way [1]."""


def contacts_back(job: RoundsJob, row: Lanes, c: int, lane: int) -> None:
    """Weights of impulses become those of the velocities of contacts and of frictions: see above."""
    contacts, at, found = job.forward.contacts, job.at, job.outputs
    points, rows, place, across = contacts.points, 0, job.place, job.across
    for i in range(points + contacts.stops):
        bears = row[at.pushes + (3 * i + 2 if i < points else 2 * points + i), lane] > 0.0
        place[i] = rows if bears else -1
        size, start = 3 if i < points else 1, 3 * i if i < points else 2 * points + i
        for k in range(size if bears else 0):
            job.push[rows] = row[at.pushes + start + k, lane]
            rows += 1
    note_one_sided(job, row, c, lane)
    if rows == 0:
        return
    largest = mobilities(job, rows, lane)
    contact_equations(job, row, rows, lane)
    if not eliminate(job.matrix, job.y, rows):
        note(job, SHARED, lane)
        contact_equations(job, row, rows, lane)
        for k in range(rows):
            job.matrix[k * rows + k] += NEARLY * largest
        eliminate(job.matrix, job.y, rows)
    total = 3 * points + contacts.stops
    for i in range(points + contacts.stops):
        p = place[i]
        if p < 0:
            continue
        if i >= points:
            found[at.late + 2 * points + i, lane] = -job.y[p]
            continue
        found[at.late + 3 * i + 2, lane] = -job.y[p + 2]
        if row[at.slips + i, lane] < 0.5:
            found[at.late + 3 * i, lane] = -job.y[p]
            found[at.late + 3 * i + 1, lane] = -job.y[p + 1]
        else:
            share = across[6 * i + 2] * job.y[p]
            found[at.late + 3 * i, lane] = across[6 * i + 1] * share
            found[at.late + 3 * i + 1, lane] = -across[6 * i] * share
            found[at.late + total + i, lane] = across[6 * i + 5] * row[at.pushes + 3 * i + 2, lane] * job.y[p + 1]


def contact_equations(job: RoundsJob, row: Lanes, rows: int, lane: int) -> None:
    """The equations for y: the matrix and its right side."""
    points, found, across = job.forward.contacts.points, job.outputs, job.across
    for k in range(rows * rows):
        job.matrix[k] = 0.0
    for i in range(points + job.forward.contacts.stops):
        p = job.place[i]
        if p < 0:
            continue
        if i >= points:
            add_transposed(job, p, p, 1.0, rows)
            job.y[p] = found[2 * points + i, lane]
            continue
        for k in range(3):
            job.y[p + k] = found[3 * i + k, lane]
        add_transposed(job, p + 2, p + 2, 1.0, rows)
        if row[job.at.slips + i, lane] < 0.5:
            add_transposed(job, p, p, 1.0, rows)
            add_transposed(job, p + 1, p + 1, 1.0, rows)
            continue
        slipping(job, row, i, rows, lane)
        own, e, f, share, rest = across[6 * i :], across[6 * i], across[6 * i + 1], across[6 * i + 2], across[6 * i + 3]
        add_transposed(job, p, p, -f * share, rows)
        add_transposed(job, p + 1, p, e * share, rows)
        job.matrix[p * rows + p] -= f * rest
        job.matrix[(p + 1) * rows + p] += e * rest
        job.matrix[p * rows + p + 1] += e * own[5]
        job.matrix[(p + 1) * rows + p + 1] += f * own[5]
        job.matrix[(p + 2) * rows + p + 1] -= own[4] * own[5]


def mobilities(job: RoundsJob, rows: int, lane: int) -> float:
    """A of the contacts that bear load; the largest entry of its diagonal."""
    contacts, found, a, largest = job.forward.contacts, job.outputs[job.at.records :], job.mobility, 0.0
    points, count, pairs = contacts.points, contacts.points + contacts.stops, contacts.pairs
    for i in range(count):
        if job.place[i] < 0:
            continue
        size, here = 3 if i < points else 1, record_at(contacts, i) + (POINT_Y if i < points else STOP_Y)
        for k in range(i, count):
            if job.place[k] < 0:
                continue
            across, there = 3 if k < points else 1, record_at(contacts, k) + (POINT_Y if k < points else STOP_Y)
            for p in range(size):
                for q in range(across):
                    through = 0.0
                    for j in range(6):
                        through += found[here + j * size + p, lane] * found[there + j * across + q, lane]
                    a[(job.place[i] + p) * rows + job.place[k] + q] = through
        own = record_at(contacts, i) + (POINT_A if i < points else STOP_A)
        p = job.place[i]
        for j in range(size):
            a[(p + j) * rows + p + j] = found[own + j, lane]
            largest = max(largest, found[own + j, lane])
        if i < points:
            a[p * rows + p + 1] = found[own + 3, lane]
            a[p * rows + p + 2] = found[own + 4, lane]
            a[(p + 1) * rows + p + 2] = found[own + 5, lane]
    for k in range(pairs.count):
        i, j = pairs.first[k], pairs.second[k]
        if job.place[i] >= 0 and job.place[j] >= 0:
            across = 3 if j < points else 1
            for p in range(3 if i < points else 1):
                for q in range(across):
                    block = found[pairs.at[k] + p * across + q, lane]
                    a[(job.place[i] + p) * rows + job.place[j] + q] += block
    for p in range(rows):
        for q in range(p):
            a[p * rows + q] = a[q * rows + p]
    return largest


def add_transposed(job: RoundsJob, row: int, column: int, factor: float, rows: int) -> None:
    """Add a row of A to a column of the matrix."""
    for k in range(rows):
        job.matrix[k * rows + column] += factor * job.mobility[row * rows + k]


def slipping(job: RoundsJob, row: Lanes, i: int, rows: int, lane: int) -> None:
    """Of a point that slips: e, shares of u and Λ across it, friction and a mobility, so that all rows are as large."""
    at, found, out, p = job.at, job.outputs, job.across[6 * i :], job.place[i]
    record = at.records + record_at(job.forward.contacts, i)
    scale, friction = found[record + POINT_A + 2, lane], found[record + POINT_MU, lane]
    push, aside = row[at.pushes + 3 * i, lane], row[at.pushes + 3 * i + 1, lane]
    u, v = found[record + POINT_FREE, lane], found[record + POINT_FREE + 1, lane]
    for k in range(rows):
        u += job.mobility[p * rows + k] * job.push[k]
        v += job.mobility[(p + 1) * rows + k] * job.push[k]
    size, speed = math.sqrt(push * push + aside * aside), math.sqrt(u * u + v * v)
    out[0] = push / size if size > 0.0 else -u / speed if speed > 0.0 else 1.0
    out[1] = aside / size if size > 0.0 else -v / speed if speed > 0.0 else 0.0
    whole = size * scale + speed
    out[2] = size * scale / whole if whole > 0.0 else 0.0
    out[3] = speed * scale / whole if whole > 0.0 else scale
    out[4] = friction
    out[5] = scale
    if friction > 0.0 and speed < JUST:
        note(job, EDGE, lane)


def note_one_sided(job: RoundsJob, row: Lanes, c: int, lane: int) -> None:
    """Note where derivatives are those of one side only."""
    contacts, at, found, place = job.forward.contacts, job.at, job.outputs, job.place
    points, soonest, second = contacts.points, math.inf, math.inf
    hit = row[at.hit, lane] > 0.5 and not (job.steps[c * width(row) + lane] == 0 and row[at.tries, lane] == 0.0)
    for i in range(points + contacts.stops):
        normal = 3 * i + 2 if i < points else 2 * points + i
        record = at.records + record_at(contacts, i)
        push = row[at.pushes + normal, lane]
        mobility = found[record + POINT_A + 2, lane] if i < points else found[record + STOP_A, lane]
        free = found[record + POINT_FREE + 2, lane] if i < points else found[record + STOP_FREE, lane]
        if place[i] < 0:
            beyond = free - FAR if free > OPEN else free  # of a contact that is open: whether it might not be
            if (free < OPEN or abs(found[at.gap + i, lane]) < JUST) and abs(meeting(job, i, lane) + beyond) < JUST:
                note(job, BARELY, lane)
            continue
        if push * mobility < JUST:
            note(job, BARELY, lane)
        if i < points and row[at.slips + i, lane] < 0.5:
            limit = found[record + POINT_MU, lane] * push
            across, aside = row[at.pushes + 3 * i, lane], row[at.pushes + 3 * i + 1, lane]
            if math.sqrt(across * across + aside * aside) > (1.0 - ON_EDGE) * limit:
                note(job, EDGE, lane)
        if hit and row[at.last + normal, lane] == 0.0:
            time = found[at.gap + i, lane] / min(found[at.speed + i, lane], -JUST)
            second = min(second, max(time, soonest))
            soonest = min(soonest, time)
    if second - soonest < TIE * row[at.nominal, lane]:
        note(job, TOGETHER, lane)


def meeting(job: RoundsJob, i: int, lane: int) -> float:
    """What all impulses add to the normal velocity of a contact that bears no load."""
    contacts, found, points = job.forward.contacts, job.outputs[job.at.records :], job.forward.contacts.points
    size, here = 3 if i < points else 1, record_at(contacts, i) + (POINT_Y if i < points else STOP_Y)
    total, pairs = 0.0, contacts.pairs
    for k in range(points + contacts.stops):
        across, there = 3 if k < points else 1, record_at(contacts, k) + (POINT_Y if k < points else STOP_Y)
        for q in range(across if job.place[k] >= 0 else 0):
            for j in range(6):
                y = found[here + j * size + size - 1, lane] * found[there + j * across + q, lane]
                total += y * job.push[job.place[k] + q]
    for p in range(pairs.count):
        first, second = pairs.first[p], pairs.second[p]
        other = second if first == i else first
        if (first == i or second == i) and job.place[other] >= 0:
            across = 3 if other < points else 1
            for q in range(across):
                entry = (size - 1) * across + q if first == i else q * size + size - 1
                total += found[pairs.at[p] + entry, lane] * job.push[job.place[other] + q]
    return total


def note(job: RoundsJob, kind: int, lane: int) -> None:
    """Count a round where derivatives are not those of both sides; the first of them is seen last."""
    row = (job.run[lane] * KINDS + kind) * 2
    job.sided[row] += 1.0
    job.sided[row + 1] = job.inputs[0, lane] + 0.5 * job.inputs[job.at.step, lane]
