"""The contact problem by Newton's method, for what sweeps do not settle: a driver (see tailwork.kernels.language).

Contacts that share a limb, or stand where others bear the same load, settle slowly by sweeps or go in circles, because
a point that is solved alone may have several answers. Here the laws of all contacts are one equation, the natural map

    Λ_n = max(Λ_n − ρ u_n, 0),   Λ_t = what is left of Λ_t − ρ u_t within μ Λ_n,

whose steps are solved by the dense matrix, with a search along each. Where none helps, it begins again: elsewhere, from
where sweeps of projections lead, and from solutions of problems near by, whose velocities go over into the given ones.
"""

from __future__ import annotations

import math

import numpy as np

from tailwork.kernels.language import Ints, Reals, Struct
from tailwork.mechanics.rigid.coulomb import LARGEST_SLIP

REDUNDANT = 1e-11
"""Pivots below this share of the largest number: contacts that bear the same load."""
NEWTON, STARTS, PROJECTED = 50, 100, 200
"""Most steps of Newton's method, how often it may begin, and sweeps of projections in between."""
PLAIN, AWAY, NEARER, HOPS = 20, 0.3, 0.3, 6
"""After so many starts begin those from problems near by: velocities that are off by at most this share of the largest,
then by this share of that, so often, and then by nothing [1]."""
SHARED = 1e-10
"""Added to the diagonal, so that of redundant contacts all bear load [1]."""


class Cones(Struct):
    """A contact problem u = A Λ + b with its dense matrix: points of three rows, then joints of one."""

    points: int
    count: int  # of points and joints
    rows: int
    open: Ints  # by contact: 1 where it has no part
    along: Ints  # by point: 1 where friction has a given direction
    directions: Reals  # (points, 2): in which it slips then
    friction: Reals  # by point [1]
    delassus: Reals  # (rows, rows) [1/kg]
    free: Reals  # b [m/s]
    impulse: Reals  # Λ [N s]
    tried: Reals
    velocity: Reals  # u
    map: Reals  # what is zero at the solution, as impulses
    matrix: Reals  # (rows, rows): its derivative
    step: Reals
    nearest: Reals  # impulses that came nearest to the laws
    given: Reals  # b, while `free` is that of a problem near by


def cones_of(points: int, stops: int) -> Cones:
    """Room for so many contacts."""
    count, rows, whole = points + stops, 3 * points + stops, np.int64
    return Cones(
        points=points, count=count, rows=rows, open=np.zeros(count, whole), along=np.zeros(points, whole),
        directions=np.zeros(2 * points), friction=np.zeros(points), delassus=np.zeros(rows * rows),
        matrix=np.zeros(rows * rows), given=np.zeros(rows),
        **{name: np.zeros(rows) for name in ("free", "impulse", "tried", "velocity", "map", "step", "nearest")},
    )  # fmt: skip


def first_row(c: Cones, i: int) -> int:
    """The first row of a contact."""
    return 3 * i if i < c.points else 2 * c.points + i


def contact_residual(c: Cones, impulse: Reals, derive: bool) -> float:
    """How far impulses are from the laws of contact [m/s], the natural map in `map`, and its derivative in `matrix`."""
    n, squares = c.rows, 0.0
    for row in range(n):
        total = c.free[row]
        for k in range(n):
            total += c.delassus[row * n + k] * impulse[k]
        c.velocity[row] = total
    for i in range(c.count):
        first = first_row(c, i)
        last = first + 2 if i < c.points else first
        mobility = c.delassus[last * n + last]
        if derive:
            for k in range(first * n, (last + 1) * n):
                c.matrix[k] = 0.0
        pushed = impulse[last] - c.velocity[last] / mobility
        closed = c.open[i] == 0 and pushed > 0.0
        c.map[last] = c.velocity[last] / mobility if closed else impulse[last]
        if derive:
            for k in range(n):
                if closed:
                    c.matrix[last * n + k] = c.delassus[last * n + k] / mobility
            if not closed:
                c.matrix[last * n + last] = 1.0
        if i < c.points:
            friction_rows(c, i, impulse, pushed if closed else 0.0, derive)
        for row in range(first, last + 1):
            squares += (c.map[row] * mobility) ** 2
    return math.sqrt(squares)


def friction_rows(c: Cones, i: int, impulse: Reals, pushed: float, derive: bool) -> None:
    """The two rows of friction of a point; `pushed` is Λ_n as the map has it."""
    n, first, mu = c.rows, 3 * i, c.friction[i]
    last = first + 2
    mobility = c.delassus[last * n + last]
    if c.along[i] != 0 or pushed == 0.0:
        for k in range(2):
            share = mu * c.directions[2 * i + k] if pushed > 0.0 else 0.0
            c.map[first + k] = impulse[first + k] + share * impulse[last]
            if derive:
                c.matrix[(first + k) * n + first + k] = 1.0
                c.matrix[(first + k) * n + last] = share
        return
    x, y = impulse[first] - c.velocity[first] / mobility, impulse[first + 1] - c.velocity[first + 1] / mobility
    size = math.sqrt(x * x + y * y)
    if size <= mu * pushed:
        for row in range(first, last):
            c.map[row] = c.velocity[row] / mobility
            if derive:
                for k in range(n):
                    c.matrix[row * n + k] = c.delassus[row * n + k] / mobility
        return
    x, y, left = x / size, y / size, mu * pushed / size
    c.map[first] = impulse[first] - mu * pushed * x
    c.map[first + 1] = impulse[first + 1] - mu * pushed * y
    if derive:
        for k in range(n):
            a = (1.0 if k == first else 0.0) - c.delassus[first * n + k] / mobility
            b = (1.0 if k == first + 1 else 0.0) - c.delassus[(first + 1) * n + k] / mobility
            normal = (1.0 if k == last else 0.0) - c.delassus[last * n + k] / mobility
            across = left * (x * b - y * a)
            c.matrix[first * n + k] = -mu * x * normal + y * across
            c.matrix[(first + 1) * n + k] = -mu * y * normal - x * across
        c.matrix[first * n + first] += 1.0
        c.matrix[(first + 1) * n + first + 1] += 1.0


def slip_of(c: Cones, i: int) -> float:
    """s of a point in u_t = −s Λ_t by the impulses and velocities that are there [1/kg]; 0: it sticks, or is open."""
    first, last = 3 * i, 3 * i + 2
    x, y, vx, vy = c.impulse[first], c.impulse[first + 1], c.velocity[first], c.velocity[first + 1]
    mobility, most = c.delassus[last * c.rows + last], c.friction[i] * c.impulse[last]
    if c.impulse[last] <= 0.0 or (x - vx / mobility) ** 2 + (y - vy / mobility) ** 2 <= most * most:
        return 0.0
    return min(math.sqrt((vx * vx + vy * vy) / max(x * x + y * y, 1e-300)), LARGEST_SLIP)


def project(c: Cones) -> None:
    """A sweep of projections on the cones (De Saxcé's), each contact by its own mobility."""
    n = c.rows
    for i in range(c.count):
        first = first_row(c, i)
        last = first + 2 if i < c.points else first
        if c.open[i] != 0:
            continue
        mobility = 0.0
        for row in range(first, last + 1):
            total = c.free[row]
            for k in range(n):
                total += c.delassus[row * n + k] * c.impulse[k]
            c.velocity[row] = total
            mobility = max(mobility, c.delassus[row * n + row])
        if i >= c.points:
            c.impulse[first] = max(c.impulse[first] - c.velocity[first] / mobility, 0.0)
            continue
        mu = c.friction[i]
        vx, vy = c.velocity[first], c.velocity[first + 1]
        z = c.impulse[last] - (c.velocity[last] + mu * math.sqrt(vx * vx + vy * vy)) / mobility
        x, y = c.impulse[first] - vx / mobility, c.impulse[first + 1] - vy / mobility
        if c.along[i] != 0:
            z = max(c.impulse[last] - c.velocity[last] / mobility, 0.0)
            x, y = -mu * z * c.directions[2 * i], -mu * z * c.directions[2 * i + 1]
        size = math.sqrt(x * x + y * y)
        if c.along[i] == 0 and size > mu * z:
            share = max(mu * size + z, 0.0) / (mu * mu + 1.0)
            x, y, z = x * mu * share / max(size, 1e-300), y * mu * share / max(size, 1e-300), share
        c.impulse[first], c.impulse[first + 1], c.impulse[last] = x, y, z


def newton(c: Cones, tolerance: float, starts: int) -> float:
    """Impulses that keep the laws of contact to a tolerance [m/s], from those that are there, or the nearest in so many
    starts; how far they are off."""
    least = math.inf
    for turn in range(starts):
        if turn % 2 == 1 or turn >= PLAIN:  # from elsewhere
            for k in range(c.rows):
                c.impulse[k] = 0.0
        for _ in range(PROJECTED * (turn - 1) if turn < PLAIN else 0):
            project(c)
        if turn >= PLAIN:
            from_near_by(c, tolerance, turn)
        best = descended(c, tolerance)
        if best <= tolerance:
            release(c)
            return best
        if best < least:
            least = best
            for k in range(c.rows):
                c.nearest[k] = c.impulse[k]
    for k in range(c.rows):
        c.impulse[k] = c.nearest[k]
    least = contact_residual(c, c.impulse, False)
    release(c)
    return least


def from_near_by(c: Cones, tolerance: float, turn: int) -> None:
    """Impulses of problems whose velocities come nearer and nearer to the given ones, from others at each turn."""
    largest, share = 0.0, AWAY
    for i in range(c.count):
        first = first_row(c, i)
        for row in range(first, first + (3 if i < c.points else 1)):
            c.given[row] = c.free[row]
            largest = max(largest, abs(c.free[row]) if c.open[i] == 0 else 0.0)
    for _ in range(HOPS):
        chance = turn
        for row in range(c.rows):
            chance = (chance * 1103515245 + 12345) % 2147483648
            c.free[row] = c.given[row] + share * largest * (chance / 1073741824.0 - 1.0)
        descended(c, tolerance)
        share = NEARER * share
    for row in range(c.rows):
        c.free[row] = c.given[row]


def descended(c: Cones, tolerance: float) -> float:
    """Newton's method from the impulses that are there, as far as it comes: how far these are from the laws [m/s]."""
    more, best = SHARED, contact_residual(c, c.impulse, False)
    for _ in range(NEWTON):
        if best <= tolerance:
            return best
        now = stepped(c, best, more)
        if now < best:
            best, more = now, max(SHARED, 0.01 * more)
        elif more < 1.0:
            more = 100.0 * more
        else:
            return best
    return best


def release(c: Cones) -> None:
    """Contacts that open have no impulse: what is left of theirs is rounding."""
    for i in range(c.count):
        first = first_row(c, i)
        last = first + 2 if i < c.points else first
        if c.impulse[last] * c.delassus[last * c.rows + last] <= c.velocity[last]:
            for k in range(first, last + 1):
                c.impulse[k] = 0.0


def stepped(c: Cones, best: float, more: float) -> float:
    """A step of Newton's method, `more` on the diagonal, if it helps: how far it leads from the laws [m/s]."""
    contact_residual(c, c.impulse, True)
    for k in range(c.rows):
        c.step[k] = -c.map[k]
        c.matrix[k * c.rows + k] += more
    if not eliminate(c.matrix, c.step, c.rows):
        return best
    share, now = 1.0, best
    while share > 1e-3:
        for k in range(c.rows):
            c.tried[k] = c.impulse[k] + share * c.step[k]
        now = contact_residual(c, c.tried, False)
        if now < (1.0 - 0.1 * share) * best:
            for k in range(c.rows):
                c.impulse[k] = c.tried[k]
            return now
        share = 0.5 * share
    return best


def eliminate(matrix: Reals, right: Reals, m: int) -> bool:
    """Solve in place, with pivots from the columns; false where the matrix is singular."""
    largest = 0.0
    for k in range(m * m):
        largest = max(largest, abs(matrix[k]))
    for k in range(m):
        best = k
        for i in range(k + 1, m):
            if abs(matrix[i * m + k]) > abs(matrix[best * m + k]):
                best = i
        if not abs(matrix[best * m + k]) > REDUNDANT * largest:
            return False
        if best != k:
            for j in range(k, m):
                held = matrix[k * m + j]
                matrix[k * m + j] = matrix[best * m + j]
                matrix[best * m + j] = held
            held = right[k]
            right[k] = right[best]
            right[best] = held
        for i in range(k + 1, m):
            factor = matrix[i * m + k] / matrix[k * m + k]
            if factor != 0.0:
                for j in range(k + 1, m):
                    matrix[i * m + j] -= factor * matrix[k * m + j]
                right[i] -= factor * right[k]
    for k in range(m - 1, -1, -1):
        total = right[k]
        for j in range(k + 1, m):
            total -= matrix[k * m + j] * right[j]
        right[k] = total / matrix[k * m + k]
    return True
