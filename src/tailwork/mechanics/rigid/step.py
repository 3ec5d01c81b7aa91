"""A round of time stepping with rigid contact: a substep looked at from its middle, or an impact.

    q_m = q + h/2 q-dot(v),   M̂ (v⁺ − v) = h (Q(q_m, v) − b(q_m, v_m)) + Jᵀ Λ,   q⁺ = q_m + h/2 q-dot(v⁺),

with v_m the velocity in the middle: in flight as the last substep lets expect it, else v. (Contacts are closed by
J(q_m), so that in stance v itself lags by half a step, and so must v_m.) M̂ = M + h/2 B + h²/4 K has the stiffness K and
damping B of each coordinate's own force (servos, springs), exactly derived. An impact is the same with h = 0. The state
that is kept from round to round is q_m of the next one, and v.

A nominal step is one substep; or one to where the first point touches, as it is predicted, the impact there, and the
rest. What is closed, what restitution and the gap add to the velocities, and the clock of the next round are written
without a branch, so that each lane has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tailwork.algebra.expression import Scalar, Tape, larger, smaller, sqrt
from tailwork.algebra.expression import step as above
from tailwork.algebra.vectors import Array, array, dot, times
from tailwork.mechanics.compliant.step import implicit_forces
from tailwork.mechanics.forward import Added, Inputs
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.observe import outside_power
from tailwork.mechanics.rigid.coulomb import FAR
from tailwork.mechanics.rigid.problem import ContactProblem, Plane, contact_problem
from tailwork.mechanics.springs_and_cables import spring_torques
from tailwork.mechanics.torso import limb_state, moved

NEAR = 2e-5
"""A point so near to the ground whose free substep would end below is there already [m]: shorter hops are none."""
STRUCK = 0.05
"""In an impact, points within this share of what they travel in a nominal step are struck, too [1]."""
AT_REST = 0.01
"""Slower impacts do not rebound [m/s]."""
PULL, FASTEST_PULL = 0.1, 0.5
"""Share of the gap that a closed contact makes up for in a step [1], and the greatest speed of that [m/s]."""
LOCATED, MOST_LOCATED = 1e-3, 3
"""Touchdowns slower than this are not located [m/s]; nor are more than so many in a nominal step."""
SHORTEST = 1e-9
"""What is left of a nominal step and is shorter than this share is nothing [1]."""
TURNED, MOST_SUBSTEPS = 0.1, 32
"""Substeps are so short that nothing turns further than this [rad], but for these shares of a nominal step."""
NEVER = 1e9


@dataclass(frozen=True)
class RoundStart:
    """What is known of a round besides the state and the efforts."""

    step: Scalar  # of this substep [s]; 0: an impact
    hit: Scalar  # 1: an impact
    located: Scalar  # 1: this substep ends where a point touches
    nominal: Scalar  # nominal step [s]
    friction: Sequence[Scalar]  # by point
    restitution: Sequence[Scalar]  # by point
    impulses: Sequence[Array]  # by contact: of the round before [N s]
    slip: Sequence[Scalar]  # by point: s of the round before


@dataclass(frozen=True)
class Approach:
    """Contacts as the sweeps take them at the start."""

    problem: ContactProblem
    forces: dict[str, list[Scalar]]  # by limb, on its coordinates at the middle of the substep
    added: dict[str, list[Added]]  # what being implicit adds
    free: list[list[Scalar]]  # by contact: b
    impulses: list[Array]
    slip: list[Scalar]
    w: list[Scalar]


def approach(
    tape: Tape, layout: Layout, inputs: Inputs, given: RoundStart, planes: dict[str, Plane] | None
) -> Approach:
    """The contacts of a round: which are closed, and what they do without impulses."""
    forces: dict[str, list[Scalar]] = {}
    added: dict[str, list[Added]] = {}
    half = given.step * 0.5
    for name in layout.moving:
        if name not in layout.prescribed:
            forces[name], slopes = implicit_forces(tape, layout, name, inputs)
            added[name] = [Added(larger(-(rate * half) - place * (half * half), 0.0), 0.0) for place, rate in slopes]
    problem = contact_problem(layout, replace(inputs, added=added), given.step, planes)
    free, impulses, slip = [], [], []
    moves, points = 1.0 - given.hit, len(given.friction)
    for i, (contact, last) in enumerate(zip(problem.contacts, given.impulses, strict=True)):
        speed, after, gap = contact.velocity[-1], contact.free[-1], contact.gap
        held = above(last[-1])  # it bore load: closed until it lets go
        near = above(NEAR - (gap - half * speed)) * (moves - given.located)
        falls = smaller(speed, 0.0)
        ends = gap + given.hit * (STRUCK * given.nominal) * falls + near * half * after
        closed = larger(held, above(-ends) * above(-after))
        drawn = smaller(larger(gap * (PULL / given.nominal), -FASTEST_PULL), FASTEST_PULL) * moves
        if i < points:
            drawn = drawn + given.hit * given.restitution[i] * falls * above(-AT_REST - speed)
            slip.append(given.slip[i] * held)
        free.append([*contact.free[:-1], after + closed * drawn + (1.0 - closed) * FAR])
        impulses.append(last * (closed * moves))
    return Approach(problem, forces, added, free, impulses, slip, problem.torso_response(impulses))


@dataclass(frozen=True)
class RoundEnd:
    """What is known at the end of a round besides."""

    impulses: Sequence[Array]  # by contact [N s]
    w: Sequence[Scalar]  # Σ Y Λ
    left: Scalar  # of the nominal step after this substep [s]
    tries: Scalar  # touchdowns located so far in the nominal step


@dataclass(frozen=True)
class Finished:
    """A round that is done."""

    middle: list[Scalar]  # q at the middle of the next substep
    ahead: list[Scalar]  # v there, as far as it can be told
    q: list[Scalar]  # now
    v: list[Scalar]  # now
    clock: list[Scalar]  # of the next round: step, left, hit, located, tries
    over: Scalar  # 1: the nominal step is over
    impulses: list[Array]  # by point, inertial frame [N s]
    ground_work: list[Scalar]  # by point [J]
    joint_work: Scalar  # of motors, springs, dampers, stops, outside forces and what moves prescribed limbs [J]
    prescribed: list[Scalar]  # mean efforts on prescribed coordinates [N m]; meaningless in an impact


def finish_round(layout: Layout, inputs: Inputs, given: RoundStart, found: Approach, end: RoundEnd) -> Finished:
    """The end of a round, and the clock of the next."""
    problem, h = found.problem, given.step
    change = problem.change(end.impulses, end.w)
    v = [x + dx for x, dx in zip(inputs.v, change.velocities, strict=True)]
    after = [problem.velocity(i, touch.free, end.impulses, end.w) for i, touch in enumerate(problem.contacts)]
    turning = [rate for rate, unit in zip(v, layout.velocity_units, strict=True) if unit == "rad/s"]
    clock, over = _clock(problem, given, end, after, turning)
    q = moved(layout, inputs.q, v, h * 0.5, at_end=True)
    ground_work, impulses, joint_work = [], [], _joint_work(layout, inputs, given, found, change.velocities)
    for contact, impulse, velocity in zip(problem.contacts, end.impulses, after, strict=True):
        work = dot(impulse, velocity + contact.velocity) * 0.5
        if contact.rows == 3:
            ground_work.append(work)
            impulses.append(times(contact.axes.T, impulse))
        else:
            joint_work = joint_work + work
    per_step = 1.0 / larger(h, 1e-12)
    efforts = [x * per_step for x in change.prescribed]
    for name, here in layout.prescribed_accelerations.items():
        state = limb_state(layout.limbs[name], inputs.q[layout.coordinates[name]], inputs.v[layout.rates[name]])
        springs = times(state.gearing.T, array(spring_torques(state.limb, state.values, state.angles, state.rates)))
        rates, gained = inputs.v[layout.rates[name]], change.velocities[layout.rates[name]]
        for held, spring, rate, more in zip(change.prescribed[here], springs, rates, gained, strict=True):
            joint_work = joint_work + (held + spring * h) * (rate + more * 0.5)
    mean = [(before + now) * 0.5 for before, now in zip(inputs.v, v, strict=True)]
    joint_work = joint_work + outside_power(layout, inputs, mean) * h
    middle = moved(layout, q, v, clock[0] * 0.5)
    bears: Scalar = 0.0
    for impulse in end.impulses:
        bears = larger(bears, above(impulse[-1]))
    share = clock[0] * 0.5 * per_step * (1.0 - given.hit) * (1.0 - bears)
    ahead = [x + dx * share for x, dx in zip(v, change.velocities, strict=True)]
    return Finished(middle, ahead, q, v, clock, over, impulses, ground_work, joint_work, efforts)


def _clock(
    problem: ContactProblem, given: RoundStart, end: RoundEnd, after: Sequence[Array], turning: Sequence[Scalar]
) -> tuple[list[Scalar], Scalar]:
    """The next substep: an impact after one that was located; else what is left, or to where a point touches, or as far
    as bodies may turn at these rates [rad/s]."""
    h, moves, soonest = given.step, 1.0 - given.hit, NEVER
    per_step = moves / larger(h, 1e-12)
    for contact, impulse, velocity in zip(problem.contacts, end.impulses, after, strict=True):
        u, a = velocity[-1], (contact.free[-1] - contact.velocity[-1]) * per_step
        gap = contact.gap + h * 0.5 * u
        inside = u * u - (a + a) * gap
        speed = sqrt(larger(inside, 1e-300))  # with which it touches; not 0, where a root has no derivative
        time = larger((gap + gap) / larger(speed - u, 1e-12), 0.0)
        touches = (1.0 - above(impulse[-1])) * above(inside) * above(speed - LOCATED)
        soonest = smaller(soonest, time * touches + NEVER * (1.0 - touches))
    struck = given.located * moves
    over = (1.0 - above(end.left - SHORTEST * given.nominal)) * (1.0 - struck)
    room = end.left + over * (given.nominal - end.left)
    tries = (1.0 - over) * (end.tries + struck)
    fastest: Scalar = TURNED / NEVER
    for rate in turning:
        fastest = larger(fastest, larger(rate, -rate))
    most = smaller(room, larger(TURNED / fastest, given.nominal * (1.0 / MOST_SUBSTEPS)))
    soon = above(most * (1.0 - SHORTEST) - soonest) * above(MOST_LOCATED - tries) * (1.0 - struck)
    now = soon * (1.0 - above(soonest))  # it is there already
    step = (1.0 - struck - now) * (soon * smaller(soonest, most) + (1.0 - soon) * most)
    return [step, room - step, struck + now, soon - now, tries + now], over


def _joint_work(layout: Layout, inputs: Inputs, given: RoundStart, found: Approach, change: Sequence[Scalar]) -> Scalar:
    """Of motors, springs and dampers over the substep, as it takes them [J]."""
    work: Scalar = 0.0
    for name, forces in found.forces.items():
        here = layout.rates[name]
        for force, more, rate, gained in zip(forces, found.added[name], inputs.v[here], change[here], strict=True):
            work = work + (force * given.step - more.inertia * gained) * (rate + gained * 0.5)
    return work
