"""Feet on compliant ground, step by step, in compiled code: who sticks, who slips, who is in the air.

Each step first takes every foot that is in the ground to stick, with the ground linearised (see
tailwork.mechanics.footing). A foot that would then pull is let go; one that would need more friction than there is
slips against kinetic friction instead; and the step is solved again. So the force that decides is the one at the end of
the step, and a foot that comes to rest does not chatter.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from tailwork.kernels.kernel import Floats
from tailwork.simulation.driver import AT_EVENT, FINISHED, STUCK
from tailwork.simulation.ground import AIR, SLIP, STICK, surface
from tailwork.simulation.native_call import call_kernel

OFF_THE_FIELD = 4
"""A run ends, besides as in tailwork.simulation.driver, where a foot leaves the height field."""
NUMBERS = 8
"""Of a footing, as the step takes it: force, normal, resistance along and across it."""


class SoftKernels(NamedTuple):
    """Addresses of compiled kernels and their constants. Inputs of all start with [t, x, held]."""

    feet: int  # → places and velocities of all feet
    feet_constants: Floats
    step: int  # (…, step, footings) → x, J a of the feet, power of the joints
    step_constants: Floats
    events: int
    events_constants: Floats


class SoftGround(NamedTuple):
    """The ground; see tailwork.simulation.ground."""

    law: Floats
    grid: Floats
    heights: Floats


class Tables(NamedTuple):
    """Tables of joint angles and rates, one after the other."""

    shapes: np.ndarray  # by table: samples, coordinates
    periods: Floats  # [s]
    values: Floats  # of all tables, flat
    slopes: Floats


class Feet(NamedTuple):
    """What is known of the feet from step to step, and summed up; changed in place."""

    modes: np.ndarray  # AIR, STICK or SLIP
    anchors: Floats  # (feet, 3) [m]
    forces: Floats  # (feet, 3): applied over the last step [N]
    impulses: Floats  # (feet, 3): since the start [N s]
    work: Floats  # (feet,): done by the ground since the start [J]
    joint_work: Floats  # (1,): done by motors, springs and dampers since the start [J]
    acceleration: Floats  # of x over the last step


@njit(cache=True)
def aim(tables: Tables, t: float, targets: Floats) -> None:
    """Angles, then rates, of all tables at a time, by cubic Hermite interpolation."""
    count, start, place = len(targets) // 2, 0, 0
    for k in range(len(tables.periods)):
        samples, size = tables.shapes[k]
        spacing = tables.periods[k] / samples
        phase = (t / tables.periods[k]) % 1.0 * samples
        i = min(int(phase), samples - 1)
        s, after = phase - i, (i + 1) % samples
        for c in range(size):
            a, b = tables.values[start + i * size + c], tables.values[start + after * size + c]
            u, v = tables.slopes[start + i * size + c] * spacing, tables.slopes[start + after * size + c] * spacing
            rise = b - a
            third, fourth = 3.0 * rise - 2.0 * u - v, u + v - 2.0 * rise
            targets[place + c] = a + s * (u + s * (third + s * fourth))
            targets[count + place + c] = (u + s * (2.0 * third + 3.0 * s * fourth)) / spacing
        start += samples * size
        place += size


@njit(cache=True)
def footing(law: Floats, h: float, depth: float, p: Floats, v: Floats, n: Floats, anchor: Floats, out: Floats) -> None:
    """The ground under a foot that sticks, linearised over a step h [s]: force, normal, resistances."""
    rising, beyond = 0.0, 0.0
    for k in range(3):
        rising += n[k] * v[k]
        beyond += n[k] * (p[k] - anchor[k])
    share = max(0.0, 1.0 - law[1] * rising)
    stiffness, damping = law[0] * share, law[0] * depth * law[1] if share > 0.0 else 0.0
    normal = law[0] * depth * share - h * stiffness * rising
    for k in range(3):
        stretch, across = p[k] - anchor[k] - beyond * n[k], v[k] - rising * n[k]
        out[k] = normal * n[k] - law[2] * stretch - (law[3] + h * law[2]) * across
        out[3 + k] = n[k]
    out[6] = h * damping + h * h * stiffness
    out[7] = h * law[3] + h * h * law[2]


@njit(cache=True)
def applied(given: Floats, answer: Floats, force: Floats) -> float:
    """The force on a foot over a step, from its footing and J a; its normal part is returned [N]."""
    along = 0.0
    for k in range(3):
        along += given[3 + k] * answer[k]
    normal = 0.0
    for k in range(3):
        inward = along * given[3 + k]
        force[k] = given[k] - given[6] * inward - given[7] * (answer[k] - inward)
        normal += force[k] * given[3 + k]
    return normal


@njit(cache=True)
def slip(law: Floats, given: Floats, force: Floats, normal: float, friction: float) -> None:
    """Make a footing one that slips: kinetic friction against the force that sticking would take."""
    rising = 0.0
    for k in range(3):
        rising += given[k] * given[3 + k]
    for k in range(3):
        across = force[k] - normal * given[3 + k]
        given[k] = rising * given[3 + k] + (law[5] * normal * across / friction if friction > 0.0 else 0.0)
    given[7] = 0.0


@njit(cache=True)
def soft_step(
    kernels: SoftKernels, ground: SoftGround, feet: Feet, t: float, h: float, x: Floats, inputs: Floats, seen: Floats,
    answers: Floats, modes: np.ndarray,
) -> int:  # fmt: skip
    """One step of h [s]; the new state is in `answers`. `inputs` holds what is held; `seen`, `modes` are scratch."""
    n, count = len(x), len(modes)
    law, known = ground.law, len(inputs) - 1 - NUMBERS * count
    inputs[0] = t
    for k in range(n):
        inputs[1 + k] = x[k]
    call_kernel(kernels.feet, inputs[:known], kernels.feet_constants, seen)
    inputs[known] = h
    given = inputs[known + 1 :].reshape(count, NUMBERS)
    for i in range(count):
        p, v = seen[3 * i : 3 * i + 3], seen[3 * (count + i) : 3 * (count + i) + 3]
        height, by_x, by_y = surface(ground.grid, ground.heights, p[0], p[1])
        if not math.isfinite(height):
            return OFF_THE_FIELD if math.isfinite(p[0] + p[1]) else STUCK
        up = 1.0 / math.sqrt(1.0 + by_x * by_x + by_y * by_y)
        depth = (height - p[2]) * up
        normal = np.array([-by_x * up, -by_y * up, up])
        given[i] = 0.0
        given[i, 3:6] = normal
        modes[i] = AIR
        if depth > 0.0:
            modes[i] = STICK
            if feet.modes[i] == AIR:
                feet.anchors[i] = p
            footing(law, h, depth, p, v, normal, feet.anchors[i], given[i])
    while True:
        call_kernel(kernels.step, inputs, kernels.step_constants, answers)
        changed = False
        for i in range(count):
            if modes[i] == AIR:
                feet.forces[i] = 0.0
                continue
            force = feet.forces[i]
            normal_force = applied(given[i], answers[n + 3 * i : n + 3 * i + 3], force)
            if not normal_force > 0.0:
                modes[i], changed = AIR, True
                given[i, 0:3], given[i, 6:8] = 0.0, 0.0
            elif modes[i] == STICK:
                friction = math.sqrt(max(0.0, force[0] ** 2 + force[1] ** 2 + force[2] ** 2 - normal_force**2))
                if friction > (law[5] if feet.modes[i] == SLIP else law[4]) * normal_force:
                    modes[i], changed = SLIP, True
                    slip(law, given[i], force, normal_force, friction)
        if not changed:
            break
    for k in range(n):
        if not math.isfinite(answers[k]):
            return STUCK
    for i in range(count):
        p, v = seen[3 * i : 3 * i + 3], seen[3 * (count + i) : 3 * (count + i) + 3]
        a, force, normal = answers[n + 3 * i : n + 3 * i + 3], feet.forces[i], given[i, 3:6]
        if modes[i] == AIR:
            feet.anchors[i] = np.nan
            continue
        inward = force[0] * normal[0] + force[1] * normal[1] + force[2] * normal[2]
        for k in range(3):
            feet.impulses[i, k] += h * force[k]
            feet.work[i] += h * force[k] * (v[k] + 0.5 * h * a[k])
            if modes[i] == SLIP:  # the spring is left as stretched as friction holds it
                feet.anchors[i, k] = p[k] + h * (v[k] + h * a[k]) + (force[k] - inward * normal[k]) / law[2]
    feet.joint_work[0] += h * answers[n + 3 * count]
    return FINISHED


@njit(cache=True)
def advance(
    kernels: SoftKernels, ground: SoftGround, tables: Tables, feet: Feet, stops: np.ndarray, below: np.ndarray,
    x: Floats, held: Floats, first: int, last: int, h: float,
) -> tuple[int, int, int, list[tuple[float, int, int]], list[tuple[float, int]]]:  # fmt: skip
    """Steps number `first` to `last` of h [s], from x, which becomes the state at the end.

    Returns how it ended (see tailwork.simulation.driver), the steps done, the event that stopped it, the changes of
    feet (time, foot, mode) and the events (time, number) on the way.
    """
    n, count, aims = len(x), len(feet.modes), len(held) - 2 * int(tables.shapes[:, 1].sum())
    inputs = np.zeros(1 + n + len(held) + 1 + NUMBERS * count)
    inputs[1 + n : 1 + n + len(held)] = held
    targets = inputs[1 + n + aims : 1 + n + len(held)]
    seen, answers, modes = np.empty(6 * count), np.empty(n + 3 * count + 1), np.zeros(count, np.int64)
    values = np.ones(len(stops))
    changes = [(0.0, 0, 0) for _ in range(0)]
    happened = [(0.0, 0) for _ in range(0)]
    for step in range(first, last):
        t = step * h
        aim(tables, t + h, targets)
        status = soft_step(kernels, ground, feet, t, h, x, inputs, seen, answers, modes)
        if status != FINISHED:
            return status, step, -1, changes, happened
        for i in range(count):
            if modes[i] != feet.modes[i]:
                changes.append((t, i, modes[i]))
                feet.modes[i] = modes[i]
        for k in range(n):
            feet.acceleration[k] = (answers[k] - x[k]) / h
            x[k] = answers[k]
        if len(stops):
            inputs[0] = t + h
            inputs[1 : 1 + n] = x
            call_kernel(kernels.events, inputs[: 1 + n + len(held)], kernels.events_constants, values)
            for k in range(len(stops)):
                under = not values[k] >= 0.0
                if under and not below[k]:
                    happened.append((t + h, k))
                below[k] = under
                if under and stops[k]:
                    return AT_EVENT, step + 1, k, changes, happened
    held[:] = inputs[1 + n : 1 + n + len(held)]
    return FINISHED, last, -1, changes, happened
