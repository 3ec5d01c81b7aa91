"""Feet on compliant ground, step by step, in compiled code: who sticks, who slips, who is in the air.

Each step first takes every foot that is in the ground to stick, with the ground linearised (see
tailwork.mechanics.contact). A foot that would then pull is let go; one that would need more friction than
there is slips against kinetic friction instead; and the step is solved again. So the force that decides is the one at
the end of the step, and a foot that comes to rest does not chatter.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from tailwork.simulation.contact.ground import AIR, SLIP, STICK, surface
from tailwork.simulation.integrate.compiled import call_kernel
from tailwork.simulation.integrate.driver import AT_EVENT, FINISHED, STUCK
from tailwork.typing import Floats

OFF_THE_FIELD = 4
"""A run ends, besides as in tailwork.simulation.integrate.driver, where a foot leaves the height field."""
AGREED, MOST_TRIES = 1e-9, 40
"""Kinetic friction is that of the normal force to this share, or as near as so many solutions of a step bring it."""
NUMBERS = 8
"""Of a contact impedance, as the step takes it: force, normal, resistance along and across it."""


class ContactKernels(NamedTuple):
    """Addresses of compiled kernels and their constants. Inputs of all start with [t, x, held]."""

    feet: int  # → places and velocities of all feet
    feet_constants: Floats
    step: int  # (…, step, contact impedances) → x, J a of the feet, power of the joints
    step_constants: Floats
    events: int  # (…, step, contact impedances) → values that are to stay positive
    events_constants: Floats


class GroundArrays(NamedTuple):
    """The ground as arrays; see tailwork.simulation.contact.ground."""

    law: Floats
    grid: Floats
    heights: Floats


class Tables(NamedTuple):
    """Tables of joint angles and rates, one after the other."""

    shapes: np.ndarray  # by table: samples, coordinates
    periods: Floats  # [s]
    values: Floats  # of all tables, flat
    rates: Floats


class Feet(NamedTuple):
    """What is known of the feet from step to step, and summed up; changed in place."""

    modes: np.ndarray  # AIR, STICK or SLIP
    anchors: Floats  # (feet, 3) [m]
    forces: Floats  # (feet, 3): applied over the last step [N]
    impulses: Floats  # (feet, 3): since the start [N s]
    work: Floats  # (feet,): done by the ground since the start [J]
    joint_work: Floats  # (1,): done by motors, springs and dampers since the start [J]
    acceleration: Floats  # of x over the last step
    together: np.ndarray  # modes of the feet for which `inverse` was found
    inverse: Floats  # (feet, feet): of the frictions of slipping feet by what is missing to them; see `adjusted`


class Log(NamedTuple):
    """Room for what happens on the way, for as many steps as one call makes."""

    changes: Floats  # rows: time [s], foot, its mode from there on
    events: Floats  # rows: time [s], number of the event
    stops: np.ndarray  # by event: whether it ends the run
    below: np.ndarray  # by event: whether it has happened and still holds


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
            u, v = tables.rates[start + i * size + c] * spacing, tables.rates[start + after * size + c] * spacing
            rise = b - a
            third, fourth = 3.0 * rise - 2.0 * u - v, u + v - 2.0 * rise
            targets[place + c] = a + s * (u + s * (third + s * fourth))
            targets[count + place + c] = (u + s * (2.0 * third + 3.0 * s * fourth)) / spacing
        start += samples * size
        place += size


@njit(cache=True)
def touched(
    ground: GroundArrays, feet: Feet, seen: Floats, given: Floats, modes: np.ndarray, i: int, start: int, h: float
) -> int:
    """What a foot finds at the start of a step h [s]: its mode, and in `given` from `start` on the ground under it,
    linearised as if the foot stuck: force, normal, resistances."""
    count, law = len(modes), ground.law
    place, speed = 3 * i, 3 * (count + i)
    height, by_x, by_y = surface(ground.grid, ground.heights, seen[place], seen[place + 1])
    if not math.isfinite(height):
        return OFF_THE_FIELD if math.isfinite(seen[place] + seen[place + 1]) else STUCK
    up = 1.0 / math.sqrt(1.0 + by_x * by_x + by_y * by_y)
    given[start + 3], given[start + 4], given[start + 5] = -by_x * up, -by_y * up, up
    depth = (height - seen[place + 2]) * up
    modes[i] = STICK if depth > 0.0 else AIR
    if modes[i] == AIR:
        let_go(given, start)
        return FINISHED
    rising, beyond = 0.0, 0.0
    for k in range(3):
        if feet.modes[i] == AIR:
            feet.anchors[i, k] = seen[place + k]
        rising += given[start + 3 + k] * seen[speed + k]
        beyond += given[start + 3 + k] * (seen[place + k] - feet.anchors[i, k])
    share = max(0.0, 1.0 - law[1] * rising)
    stiffness, damping = law[0] * share, law[0] * depth * law[1] if share > 0.0 else 0.0
    normal = stiffness * (depth - h * rising)
    for k in range(3):
        n = given[start + 3 + k]
        stretch, across = seen[place + k] - feet.anchors[i, k] - beyond * n, seen[speed + k] - rising * n
        given[start + k] = normal * n - law[2] * stretch - (law[3] + h * law[2]) * across
    given[start + 6] = h * damping + h * h * stiffness
    given[start + 7] = h * law[3] + h * h * law[2]
    return FINISHED


@njit(cache=True)
def let_go(given: Floats, start: int) -> None:
    """Make a contact impedance that of a foot in the air."""
    for k in range(3):
        given[start + k] = 0.0
    given[start + 6] = given[start + 7] = 0.0


@njit(cache=True)
def applied(given: Floats, start: int, answers: Floats, at: int, forces: Floats, i: int) -> float:
    """The force on a foot over a step, from its impedance and J a; its normal part is returned [N]."""
    along = 0.0
    for k in range(3):
        along += given[start + 3 + k] * answers[at + k]
    normal = 0.0
    for k in range(3):
        n = given[start + 3 + k]
        forces[i, k] = (
            given[start + k] - given[start + 6] * along * n - given[start + 7] * (answers[at + k] - along * n)
        )
        normal += forces[i, k] * n
    return normal


@njit(cache=True)
def slips(
    given: Floats, start: int, forces: Floats, slipping: Floats, i: int, normal: float, most: float, kinetic: float
) -> bool:
    """Whether sticking would take more friction than `most` [N]; if so the impedance becomes that of a foot that slips
    against kinetic friction [N], in the direction of the force that sticking would take."""
    needed, inward = 0.0, 0.0
    for k in range(3):
        needed += (forces[i, k] - normal * given[start + 3 + k]) ** 2
        inward += given[start + k] * given[start + 3 + k]
    needed = math.sqrt(needed)
    if needed <= most:
        return False
    for k in range(3):
        n = given[start + 3 + k]
        slipping[i, k] = (forces[i, k] - normal * n) / needed
        given[start + k] = inward * n + kinetic * slipping[i, k]
    given[start + 7] = 0.0
    slipping[i, 3] = kinetic
    return True


@njit(cache=True)
def adjusted(
    given: Floats, first: int, slipping: Floats, feet: Feet, modes: np.ndarray, normals: Floats, kinetic: float,
    fresh: bool,
) -> bool:  # fmt: skip
    """Whether the friction on slipping feet had to be changed to be that of their normal forces [N].

    Both depend on each other, linearly as long as the same feet slip: solved by Broyden's method, which takes a few
    solutions of the step, and fewer where the same feet slipped in the step before. `fresh` says that no change has
    been tried yet.
    """
    count, inverse, known = len(modes), feet.inverse, True
    if kinetic == 0.0:
        return False
    short = 0.0
    for i in range(count):
        slipping[i, 6] = kinetic * normals[i] - slipping[i, 3] if modes[i] == SLIP else 0.0
        short = max(short, abs(slipping[i, 6]) / (kinetic * normals[i]) if modes[i] == SLIP else 0.0)
    if short <= AGREED:
        return False
    if not fresh:
        _broyden(slipping, inverse)
    else:
        for i in range(count):
            known = known and feet.together[i] == modes[i]
            feet.together[i] = modes[i]
        for i in range(count):
            for k in range(count):
                if not known:
                    inverse[i, k] = -1.0 if i == k else 0.0
    for i in range(count):
        if modes[i] != SLIP:
            continue
        change = 0.0
        for k in range(count):
            change -= inverse[i, k] * slipping[k, 6]
        change = max(change, -slipping[i, 3])  # friction does not push
        slipping[i, 3] += change
        slipping[i, 4], slipping[i, 5] = change, slipping[i, 6]
        for k in range(3):
            given[first + NUMBERS * i + k] += change * slipping[i, k]
    return True


@njit(cache=True)
def _broyden(slipping: Floats, inverse: Floats) -> None:
    """Update the inverse Jacobian by the last change of the frictions and what it did to what is missing."""
    count = len(slipping)
    below = 0.0
    for i in range(count):  # inverse · (change of what is missing), and the product with the change of friction
        slipping[i, 7] = 0.0
        for k in range(count):
            slipping[i, 7] += inverse[i, k] * (slipping[k, 6] - slipping[k, 5])
        below += slipping[i, 4] * slipping[i, 7]
    if below == 0.0:
        return
    for k in range(count):
        row = 0.0
        for i in range(count):
            row += slipping[i, 4] * inverse[i, k]
        slipping[k, 8] = row / below
    for i in range(count):
        for k in range(count):
            inverse[i, k] += (slipping[i, 4] - slipping[i, 7]) * slipping[k, 8]


@njit(cache=True)
def settle(
    feet: Feet, law: Floats, seen: Floats, answers: Floats, given: Floats, modes: np.ndarray, i: int, start: int,
    at: int, h: float,
) -> None:  # fmt: skip
    """Sum up what a foot got over a step, and let its anchor follow where it slips."""
    place, speed, forces = 3 * i, 3 * (len(modes) + i), feet.forces
    for k in range(3):
        feet.impulses[i, k] += h * forces[i, k]
        feet.work[i] += h * forces[i, k] * (seen[speed + k] + 0.5 * h * answers[at + k])
        if modes[i] == AIR:
            feet.anchors[i, k] = math.nan
    if modes[i] != SLIP:
        return
    # The spring is let out to what friction holds, never stretched further: the ground stores no work that it did not
    # get, also where the damper makes the foot slip.
    beyond, inward, friction, stretch = 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        n = given[start + 3 + k]
        inward += forces[i, k] * n
        beyond += (_end(seen, answers, place + k, speed + k, at + k, h) - feet.anchors[i, k]) * n
    for k in range(3):
        n = given[start + 3 + k]
        friction += (forces[i, k] - inward * n) ** 2
        stretch += (_end(seen, answers, place + k, speed + k, at + k, h) - feet.anchors[i, k] - beyond * n) ** 2
    longest, stretch = math.sqrt(friction) / law[2], math.sqrt(stretch)
    share = longest / stretch if stretch > longest else 1.0
    for k in range(3):
        now = _end(seen, answers, place + k, speed + k, at + k, h)
        across = now - feet.anchors[i, k] - beyond * given[start + 3 + k]
        feet.anchors[i, k] = now - share * across


@njit(cache=True)
def _end(seen: Floats, answers: Floats, place: int, speed: int, at: int, h: float) -> float:
    """A coordinate of a foot at the end of a step [m]."""
    return seen[place] + h * (seen[speed] + h * answers[at])


@njit(cache=True)
def contact_step(
    kernels: ContactKernels, ground: GroundArrays, feet: Feet, t: float, h: float, x: Floats, inputs: Floats,
    seen: Floats, answers: Floats, modes: np.ndarray, slipping: Floats, normals: Floats,
) -> int:  # fmt: skip
    """One step of h [s]; the new state is in `answers`. `inputs` holds what is held; the rest is scratch."""
    n, count, law = len(x), len(modes), ground.law
    first = len(inputs) - NUMBERS * count
    inputs[0], inputs[first - 1] = t, h
    for k in range(n):
        inputs[1 + k] = x[k]
    call_kernel(kernels.feet, inputs, kernels.feet_constants, seen)
    for i in range(count):
        start = first + NUMBERS * i
        status = touched(ground, feet, seen, inputs, modes, i, start, h)
        if status != FINISHED:
            return status
        normals[i] = 0.0  # over the step before: a foot that goes on slipping has nearly the same
        for k in range(3):
            normals[i] += feet.forces[i, k] * inputs[start + 3 + k]
    moded, tries = True, 0
    while True:
        tries += 1
        call_kernel(kernels.step, inputs, kernels.step_constants, answers)
        fresh, moded = moded, False
        for i in range(count):
            start = first + NUMBERS * i
            before = normals[i]
            normals[i] = applied(inputs, start, answers, n + 3 * i, feet.forces, i)
            if modes[i] == AIR:
                continue
            if not normals[i] > 0.0:
                modes[i], moded, slipping[i, 3] = AIR, True, 0.0
                let_go(inputs, start)
            elif modes[i] == STICK:
                most = (law[5] if feet.modes[i] == SLIP else law[4]) * normals[i]
                likely = before if feet.modes[i] == SLIP and tries == 1 else normals[i]
                if slips(inputs, start, feet.forces, slipping, i, normals[i], most, law[5] * likely):
                    modes[i], moded = SLIP, True
        if moded:
            continue
        if tries >= MOST_TRIES or not adjusted(inputs, first, slipping, feet, modes, normals, law[5], fresh):
            break
    for k in range(n):
        if not math.isfinite(answers[k]):
            return STUCK
    for i in range(count):
        settle(feet, law, seen, answers, inputs, modes, i, first + NUMBERS * i, n + 3 * i, h)
    feet.joint_work[0] += h * answers[n + 3 * count]
    return FINISHED


@njit(cache=True)
def advance(
    kernels: ContactKernels, ground: GroundArrays, tables: Tables, feet: Feet, log: Log, x: Floats, held: Floats,
    aims: int, first: int, last: int, h: float, start: float,
) -> tuple[int, int, int, int, int]:  # fmt: skip
    """Steps number `first` to `last` of h [s] after the time `start`, from x, which becomes the state at the end.

    Of what is held, the entries from number `aims` on are targets of servos. Returns how it ended (see
    tailwork.simulation.integrate.driver), the steps done, the event that stopped it, and how many changes and events
    are in the log.
    """
    n, count, known, watched = len(x), len(feet.modes), 1 + len(x) + len(held), len(log.stops)
    inputs = np.zeros(known + 1 + NUMBERS * count)
    for k in range(len(held)):
        inputs[1 + n + k] = held[k]
    targets = inputs[1 + n + aims : known]
    seen, answers, modes = np.empty(6 * count), np.empty(n + 3 * count + 1), np.zeros(count, np.int64)
    slipping = np.zeros((count, 9))  # by foot: direction and size of friction, its change, what is missing, scratch
    normals = np.zeros(count)
    values = np.ones(max(watched, 1))
    changed, happened, per_step = 0, 0, 1.0 / h
    for step in range(first, last):
        t = start + step * h
        aim(tables, t + h, targets)
        status = contact_step(kernels, ground, feet, t, h, x, inputs, seen, answers, modes, slipping, normals)
        if status != FINISHED:
            return status, step, -1, changed, happened
        for i in range(count):
            if modes[i] != feet.modes[i]:
                log.changes[changed, 0], log.changes[changed, 1], log.changes[changed, 2] = t, i, modes[i]
                feet.modes[i] = modes[i]
                changed += 1
        for k in range(n):
            feet.acceleration[k] = (answers[k] - x[k]) * per_step
            x[k] = answers[k]
        if watched:
            inputs[0] = t + h
            for k in range(n):
                inputs[1 + k] = x[k]
            for i in range(count):
                let_go(inputs, known + 1 + NUMBERS * i)
                for k in range(3):
                    inputs[known + 1 + NUMBERS * i + k] = feet.forces[i, k]
            call_kernel(kernels.events, inputs, kernels.events_constants, values)
            for k in range(watched):
                under = not values[k] >= 0.0
                if under and not log.below[k]:
                    log.events[happened, 0], log.events[happened, 1] = start + (step + 1) * h, k
                    happened += 1
                log.below[k] = under
                if under and log.stops[k]:
                    return AT_EVENT, step + 1, k, changed, happened
    for k in range(len(held)):
        held[k] = inputs[1 + n + k]
    return FINISHED, last, -1, changed, happened
