"""One contact solved exactly: Coulomb's cone for a point, a one-sided stop for a joint.

With b the velocity of a contact without its own impulse Λ, u = A Λ + b. A point separates (b_n ≥ 0, Λ = 0), sticks
(u = 0, Λ inside the cone |Λ_t| ≤ μ Λ_n), or slips: u_n = 0, |Λ_t| = μ Λ_n and u_t = −s Λ_t with s ≥ 0, which is
(A + s diag(1, 1, 0)) Λ = −b. All three are written without a branch. s is refined by one step of Newton's method on
μ Λ_n = |Λ_t| at each visit and kept for the next: contacts are visited again and again until none of them changes
(block Gauss–Seidel), and s is found on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from tailwork.algebra.expression import Scalar, Tape, larger, smaller, sqrt
from tailwork.algebra.expression import step as above
from tailwork.algebra.vectors import Array, array, dot, symmetric_matrix
from tailwork.mechanics.rigid.problem import ContactProblem

ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Of a symmetric matrix, in the order of `algebra.vectors.symmetric_matrix`."""
FAR = 1e6
"""A normal velocity that stands for a contact which is open [m/s]."""
LARGEST_SLIP = 1e9
"""Of s [1/kg]: more is never needed where friction is not zero."""

POINT = {"w": 6, "scaled": 18, "mobility": 6, "through": 6, "adjugate": 6, "per_determinant": 1, "free": 3,
         "friction": 1, "impulse": 3, "slip": 1}  # fmt: skip
"""What is known of a point when it is visited, in this order: w = Σ Y Λ of all contacts; its Y; A_ii; its part through
the torso Yᵀ Y; the adjugate of A_ii and one over its determinant; b; μ; its impulse and s so far."""
STOP = {"w": 6, "scaled": 6, "mobility": 1, "through": 1, "free": 1, "impulse": 1}
"""The same of a joint that has a stop."""
POINT_SIZE, STOP_SIZE = sum(POINT.values()), sum(STOP.values())
POINT_AT, STOP_AT = (dict(zip(x, accumulate(x.values(), initial=0), strict=False)) for x in (POINT, STOP))
"""Where each of these begins."""
POINT_ANSWERS, STOP_ANSWERS = 12, 8
"""Of a visit: impulse, s and whether it slips (of a point), w, and the largest change of velocity squared [m²/s²]."""


@dataclass(frozen=True)
class ContactSolution:
    """One contact, solved."""

    impulse: list[Scalar]  # [N s]
    slip: Scalar  # s, to go on with
    slips: Scalar  # 1 where it slips, else 0


def adjugate(a: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
    """Of a symmetric 3×3 matrix, and its determinant."""
    a11, a22, a33, a12, a13, a23 = a
    found = [a22 * a33 - a23 * a23, a11 * a33 - a13 * a13, a11 * a22 - a12 * a12, a13 * a23 - a12 * a33,
             a12 * a23 - a22 * a13, a12 * a13 - a11 * a23]  # fmt: skip
    return found, a11 * found[0] + a12 * found[3] + a13 * found[4]


def coulomb(
    a: Sequence[Scalar], adj: Sequence[Scalar], per_determinant: Scalar, b: Sequence[Scalar], mu: Scalar, s: Scalar
) -> ContactSolution:
    """The impulse of a point from A (six entries), b and friction, with s from the visit before."""
    a11, a22, a33, _, a13, a23 = a
    b1, b2, b3 = b
    # −adj(A + s diag(1, 1, 0)) b = (n1 + s p1, n2 + s p2, n3 + s (p3 − s b3))
    n1, n2, n3 = (-dot(row, array(list(b))) for row in symmetric_matrix(adj))
    p1, p2 = a13 * b3 - a33 * b1, a23 * b3 - a33 * b2
    p3 = a13 * b1 + a23 * b2 - (a11 + a22) * b3
    cone, closing = mu * n3, above(-b3)
    sticks = closing * above(cone) * above(cone * cone - (n1 * n1 + n2 * n2))
    slips = closing - sticks
    t1, t2 = n1 + s * p1, n2 + s * p2
    normal, rise = n3 + s * (p3 - s * b3), p3 - s * (b3 + b3)
    across = t1 * t1 + t2 * t2
    slope = mu * (rise * across - normal * (t1 * p1 + t2 * p2))
    s = s + (sqrt(across) - mu * normal) * across / larger(slope, 1e-30)
    s = smaller(larger(s, 0.0), LARGEST_SLIP)
    t1, t2 = n1 + s * p1, n2 + s * p2
    per_length = 1.0 / sqrt(t1 * t1 + t2 * t2 + 1e-60)
    e1, e2 = t1 * per_length, t2 * per_length  # direction of friction
    pushed = -b3 / larger(a33 + mu * (a13 * e1 + a23 * e2), 1e-3 * a33)
    stuck, slipped = sticks * per_determinant, slips * pushed
    friction = mu * slipped
    return ContactSolution([n1 * stuck + e1 * friction, n2 * stuck + e2 * friction, n3 * stuck + slipped], s, slips)


def visit_point(tape: Tape) -> list[Scalar]:
    """One visit of a point in a sweep, from POINT to POINT_ANSWERS, recorded."""
    values = _parts(tape, POINT)
    w, scaled = array(values["w"]), array(values["scaled"]).reshape(6, 3)
    through, old = symmetric_matrix(values["through"]), array(values["impulse"])
    b = [values["free"][k] + dot(scaled[:, k], w) - dot(through[k], old) for k in range(3)]
    found = coulomb(values["mobility"], values["adjugate"], values["per_determinant"][0], b, values["friction"][0],
                    values["slip"][0])  # fmt: skip
    change = array([x - y for x, y in zip(found.impulse, old, strict=True)])
    largest = values["mobility"][2]
    moved = dot(change, change) * (largest * largest)
    return [
        *found.impulse,
        found.slip,
        found.slips,
        *(x + dot(row, change) for x, row in zip(w, scaled, strict=True)),
        moved,
    ]


def visit_stop(tape: Tape) -> list[Scalar]:
    """One visit of a joint, from STOP to STOP_ANSWERS, recorded."""
    values = _parts(tape, STOP)
    w, scaled, old = array(values["w"]), array(values["scaled"]), values["impulse"][0]
    b = values["free"][0] + dot(scaled, w) - values["through"][0] * old
    impulse = larger(-b, 0.0) / values["mobility"][0]
    change = impulse - old
    moved = change * values["mobility"][0]
    return [impulse, *(x + y * change for x, y in zip(w, scaled, strict=True)), moved * moved]


def point_record(
    problem: ContactProblem, i: int, free: Sequence[Scalar] | Array, friction: Scalar,
    impulse: Sequence[Scalar] | Array, slip: Scalar,
) -> list[Scalar]:  # fmt: skip
    """A point as POINT lists it; `free` is b, with what restitution and the gap add."""
    contact, mobility = problem.contacts[i], problem.block(i, i)
    through = [dot(contact.scaled[:, j], contact.scaled[:, k]) for j, k in ENTRIES]
    entries = [mobility[j, k] for j, k in ENTRIES]
    adj, determinant = adjugate(entries)
    return [0.0] * 6 + [
        *contact.scaled.ravel(),
        *entries,
        *through,
        *adj,
        1.0 / determinant,
        *free,
        friction,
        *impulse,
        slip,
    ]


def stop_record(problem: ContactProblem, i: int, free: Scalar, impulse: Scalar) -> list[Scalar]:
    """A joint as STOP lists it."""
    scaled = problem.contacts[i].scaled[:, 0]
    return [0.0] * 6 + [*scaled, problem.block(i, i)[0, 0], dot(scaled, scaled), free, impulse]


def _parts(tape: Tape, sizes: dict[str, int]) -> dict[str, list[Scalar]]:
    found: dict[str, list[Scalar]] = {}
    start = 0
    for name, size in sizes.items():
        found[name] = list(tape.inputs(size, start))
        start += size
    return found
