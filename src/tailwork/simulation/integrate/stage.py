"""The linear equations of one stage of a Rosenbrock method, (sigma 1 − J) u = F, reduced to the velocities.

With r(q, v, a) = M a + h − B tau: S = sigma M + Rv + Rq W E, W = (sigma − A)⁻¹, A and E the derivatives of q-dot by q
and v. A stage then is S u_v = M F_v − Rq W F_q − h d_i Rt; u_q = W (F_q + E u_v). All of W is 1/sigma but for the
attitude of the torso. Rows and columns of S that belong to the torso are in the torso frame.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tailwork.algebra.derivatives import jacobian
from tailwork.algebra.expression import INPUT, Expression, Scalar, Tape, is_zero
from tailwork.algebra.vectors import Array, array, times, zeros
from tailwork.mechanics.derivatives.linearised import LinearisedDynamics, linearised, turn_by_attitude
from tailwork.mechanics.forward import Inputs
from tailwork.mechanics.inverse import outside_force, torso_frame_actuation
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.solve import FactoredLU
from tailwork.mechanics.torso import coordinate_rates

ABREAST = 9
"""Sums that are formed side by side: enough that none waits for another, few enough for the registers."""


@dataclass(frozen=True)
class StagePoint:
    """Where a system is linearised: symbols of the state x = [free q, free v], and all that depends on it."""

    tape: Tape
    layout: Layout
    t: Expression
    x: Sequence[Expression]
    inputs: Inputs
    acceleration: Sequence[Scalar]  # of all velocities
    sigma: Scalar
    free_q: Sequence[int]
    free_v: Sequence[int]


@dataclass(frozen=True)
class StageEquations:
    """What a stage is solved with; what concerns the torso is empty where that is fixed."""

    packed: Array  # S factored
    mass: Array
    by_place: Array  # Rq but for the attitude, the position of the torso in its own frame
    by_time: Array  # Rt, one column
    per_sigma: Array  # one number
    rotation: Array  # of the torso (3 × 3, or nothing)
    drift: Array  # Rq W for the attitude
    inverse: Array  # W for the attitude
    spread: Array  # E for the attitude


def factored_stage(point: StagePoint) -> StageEquations:
    """Linearise and factor."""
    tape, sigma, inputs = point.tape, point.sigma, point.inputs
    n_q, n_v = len(point.free_q), len(point.free_v)
    found = linearised(tape, point.layout, inputs.q, inputs.v, inputs.tau, point.acceleration)
    here = np.ix_(point.free_v, point.free_v)
    mass, by_rate, by_place = found.mass[here], found.by_rate[here], found.by_place[here]
    by_efforts = _by_efforts(point, found) - _by_forces(point, found)
    by_time = _by_time(point, found) + by_efforts[:, -1:]
    per_sigma = 1.0 / sigma
    rotation, drift, inverse, spread = zeros(0, 0), zeros(n_v, 0), zeros(0, 0), zeros(0, 0)
    efforts_q, efforts_v = by_efforts[:, :n_q], by_efforts[:, n_q:-1]
    if point.layout.torso_free:
        last = n_q - n_v + 6  # of the torso's coordinates
        rotation = found.torso.rotation
        rates = coordinate_rates(point.layout, inputs.q, inputs.v)[3:last]
        turning = array(jacobian(tape, rates, [*point.x[3:last], *point.x[n_q + 3 : n_q + 6]]))
        inverse = FactoredLU(_minus(sigma, turning[:, : last - 3])).inverse()
        spread = turning[:, last - 3 :]
        turn = times(turn_by_attitude(tape, rotation, point.x[3:last]), inverse)
        drift = times(by_place[:, 3:6], turn) + times(efforts_q[:, 3:last], inverse)
        by_rate[:, 3:6] = by_rate[:, 3:6] + times(drift, times(spread, rotation))
        by_place = np.concatenate([by_place[:, :3], zeros(n_v, 3), by_place[:, 6:]], axis=1)
        moved = [times(efforts_v[:, :3], rotation), times(efforts_v[:, 3:6], rotation)]
        efforts_v = np.concatenate([*moved, efforts_v[:, 6:]], axis=1)
        efforts_q = np.concatenate([times(efforts_q[:, :3], rotation), zeros(n_v, 3), efforts_q[:, last:]], axis=1)
    by_place = by_place + efforts_q
    by_rate = by_rate + efforts_v
    packed = FactoredLU(m * sigma + v + p * per_sigma for m, v, p in zip(mass, by_rate, by_place, strict=True)).packed
    return StageEquations(packed, mass, by_place, by_time, array([per_sigma]), rotation, drift, inverse, spread)


def _by_efforts(point: StagePoint, found: LinearisedDynamics) -> Array:
    """−B d tau/d(x, t), for laws that look at the state or the time."""
    tau = point.inputs.tau
    variables = [*point.x, point.t]
    by_state = array(jacobian(point.tape, tau, variables)).reshape(len(tau), len(variables))
    if all(is_zero(value) for value in by_state.ravel()):
        return zeros(len(point.free_v), len(variables))
    actuation = torso_frame_actuation(point.layout, found.torso, point.inputs.q)
    return -times(actuation[point.free_v], by_state)


def _by_forces(point: StagePoint, found: LinearisedDynamics) -> Array:
    """d/d(x, t) of what outside forces and the air do to the free velocities, torso rows in the torso frame."""
    variables = [*point.x, point.t]
    if not point.layout.pushes and not point.layout.robot.has_drag():
        return zeros(len(point.free_v), len(variables))
    acted = outside_force(point.layout, found.torso, point.inputs)
    force = [acted[k] for k in point.free_v]
    return array(jacobian(point.tape, force, variables)).reshape(len(force), len(variables))


def _by_time(point: StagePoint, found: LinearisedDynamics) -> Array:
    """Rt of prescribed limbs, which move with the time alone; one column."""
    layout, inputs = point.layout, point.inputs
    total = zeros(len(point.free_v), 1)
    for name in layout.prescribed_accelerations:
        here = layout.rates[name]
        moving = ((found.by_place, inputs.q[layout.coordinates[name]]), (found.by_rate, inputs.v[here]),
                  (found.mass, inputs.prescribed_acceleration[layout.prescribed_accelerations[name]]))  # fmt: skip
        for matrix, values in moving:
            rates = array(jacobian(point.tape, values, [point.t]))
            total = total + times(matrix[point.free_v, here], rates)
    return total


def stage_solution(
    stage: StageEquations, pushed: bool = False, scale: Scalar | None = None
) -> tuple[list[Scalar], Tape, list[Scalar]]:
    """(numbers to keep of a stage, a tape whose inputs are those and F and h d_i, u): one stage's solution.

    Where it is `pushed`, a load comes last: what S u_v is asked for besides F, in the torso frame as S is. Where the
    time is scaled by a duration, F and h d_i are those of the scaled equations.
    """
    kept: list[Scalar] = []  # equal ones, such as in a symmetric matrix, but once
    tape = Tape()
    places: dict[int, int] = {}

    def symbol(value: Scalar) -> Scalar:
        if not isinstance(value, Expression):
            return value
        if value.index not in places:
            places[value.index] = len(kept)
            kept.append(value)
        return tape.record(INPUT, places[value.index])

    own = StageEquations(**{name: _mapped(symbol, matrix) for name, matrix in vars(stage).items()})
    duration, inverse_scale = (0.0, 0.0) if scale is None else (symbol(scale), symbol(1.0 / scale))
    n_v = len(own.mass)
    last = len(own.inverse) + 3 if len(own.inverse) else 0
    n_q = n_v - 6 + last if last else n_v
    right = tape.inputs(n_q + n_v + 1, len(kept))
    f_q, f_v, now = array(right[:n_q]), array(right[n_q : n_q + n_v]), right[-1]
    if scale is not None:
        f_q, f_v, now = f_q * inverse_scale, f_v * inverse_scale, now * duration
    per_sigma = own.per_sigma[0]
    load_v, load_q = f_v.copy(), f_q * per_sigma
    if last:
        back = own.rotation.T
        load_v[:3], load_v[3:6] = times(back, f_v[:3]), times(back, f_v[3:6])
        load_q = np.concatenate([times(back, load_q[:3]), zeros(3), load_q[last:]])
    load = -(own.by_time[:, 0] * now)
    if pushed:
        load = load + array(tape.inputs(n_v, len(kept) + len(right)))
    columns = [*zip(own.mass.T, load_v, strict=True), *zip(-own.by_place.T, load_q, strict=True),
               *zip(-own.drift.T, f_q[3:last], strict=True)]  # fmt: skip
    for start in range(0, n_v, ABREAST):
        here = slice(start, start + ABREAST)
        for column, value in columns:
            load[here] = load[here] + column[here] * value
    u_v = array(FactoredLU.from_packed(own.packed).solve(list(load)))
    if not last:
        return kept, tape, [*((f_q + u_v) * per_sigma), *u_v]
    u_v[:3], u_v[3:6] = times(own.rotation, u_v[:3]), times(own.rotation, u_v[3:6])
    attitude = times(own.inverse, f_q[3:last] + times(own.spread, u_v[3:6]))
    u_q = [*((f_q[:3] + u_v[:3]) * per_sigma), *attitude, *((f_q[last:] + u_v[6:]) * per_sigma)]
    return kept, tape, [*u_q, *u_v]


def _mapped(function: Callable[[Scalar], Scalar], matrix: Array) -> Array:
    return array([function(value) for value in matrix.ravel()]).reshape(matrix.shape)


def _minus(sigma: Scalar, matrix: Array) -> Array:
    result = -matrix
    for k in range(len(matrix)):
        result[k, k] = sigma + result[k, k]
    return result
