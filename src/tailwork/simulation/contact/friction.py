"""Feet on compliant ground over one step, in every lane: who sticks, who slips, who is in the air.

Each step first takes every foot that is in the ground to stick, with the ground linearised (see
tailwork.mechanics.compliant.impedance). A foot that would then pull is let go; one that would need more friction than
there is slips against kinetic friction instead; and the step is solved again. So the force that decides is the one at
the end of the step, and a foot that comes to rest does not chatter. Lanes that are settled go along unchanged while
others are solved again.
"""

from __future__ import annotations

import math

from tailwork.kernels.language import Ints, Lanes, Struct, width
from tailwork.simulation.contact.ground import AIR, SLIP, STICK, Field, surface
from tailwork.simulation.integrate.compiled import LaneKernel
from tailwork.simulation.stopping import FINISHED, OFF_THE_FIELD, STUCK

WAITING = -1
"""Status of a lane whose step is to be solved again."""
AGREED, MOST_TRIES = 1e-9, 40
"""Kinetic friction is that of the normal force to this share, or as near as so many solutions of a step bring it."""
NUMBERS = 8
"""Of a contact impedance, as the step takes it: force, normal, resistance along and across it."""
SEEN = 11
"""Of a foot, as it is seen: place, velocity, rolling velocity, radius, factor of friction."""
DIRECTION, SIZE, CHANGE, MISSED, MISSING, PRODUCT, ROW, FRICTION = 0, 3, 4, 5, 6, 7, 8, 9
"""Of the friction on a slipping foot: its direction (three), its size, the last change, what was missing before that
and is now, two places for scratch; and how many these are."""


class Feet(Struct):
    """Feet on the ground in all lanes: what is known of them from step to step, what is summed up, and scratch."""

    count: int
    n: int  # numbers of a state
    law: Lanes  # the ground's numbers; see CompliantGround.parameter_names
    field: Field
    see: LaneKernel  # → of all feet: places, velocities, rolling velocities, radii, factors of friction
    see_constants: Lanes
    solve: LaneKernel  # (…, step, contact impedances) → x, J a of the feet, power of the joints
    solve_constants: Lanes
    known: int  # inputs before the step: [t, x, held efforts, targets]
    inputs: Lanes
    seen: Lanes
    answers: Lanes
    modes: Ints  # (feet, lanes): AIR, STICK or SLIP
    modes_new: Ints
    anchors: Lanes  # (feet × 3) [m]
    ends: Lanes  # (feet × 3): where a foot was to touch at the end of the step before [m]; NaN: not known
    forces: Lanes  # (feet × 3): applied over the last step [N]
    impulses: Lanes  # (feet × 3): since the start [N s]
    work: Lanes  # (feet,): done by the ground since the start [J]
    joint_work: Lanes  # (1,): done by motors, springs, dampers and outside forces since the start [J]
    together: Ints  # (feet, lanes): modes of the feet for which `inverse` was found
    inverse: Lanes  # (feet × feet): of the frictions of slipping feet by what is missing to them; see `adjusted`
    friction: Lanes  # (feet × FRICTION)
    normals: Lanes  # (feet,) [N]
    status: Ints  # of each lane's step
    moded: Ints  # lanes in which a foot has changed its mode, so that nothing else has been tried


def impedance(feet: Feet, i: int) -> int:
    """The first input that is of foot i."""
    return feet.known + 1 + NUMBERS * i


def touch(feet: Feet, i: int, lane: int, h: float) -> int:
    """What a foot finds at the start of a step h [s]: its mode, and among the inputs the ground under it, linearised as
    if the foot stuck: force, normal, resistances."""
    law, given, seen, start, lanes = feet.law, feet.inputs, feet.seen, impedance(feet, i), width(feet.seen)
    place, speed = 3 * i, 3 * (feet.count + i)
    x, y = seen[place, lane], seen[place + 1, lane]
    height, by_x, by_y = surface(feet.field, x, y)
    if not math.isfinite(height):
        return OFF_THE_FIELD if math.isfinite(x + y) else STUCK
    up, radius = 1.0 / math.sqrt(1.0 + by_x * by_x + by_y * by_y), seen[9 * feet.count + i, lane]
    given[start + 3, lane] = -by_x * up
    given[start + 4, lane] = -by_y * up
    given[start + 5, lane] = up
    depth = (height - seen[place + 2, lane]) * up + radius
    if radius > 0.0:
        roll_ball(feet, i, lane, radius)
    feet.modes_new[i * lanes + lane] = STICK if depth > 0.0 else AIR
    if not depth > 0.0:
        let_go(feet, i, lane)
        return FINISHED
    rising, beyond = 0.0, 0.0
    for k in range(3):
        if feet.modes[i * lanes + lane] == AIR:
            feet.anchors[place + k, lane] = seen[place + k, lane]
        rising += given[start + 3 + k, lane] * seen[speed + k, lane]
        beyond += given[start + 3 + k, lane] * (seen[place + k, lane] - feet.anchors[place + k, lane])
    share = max(0.0, 1.0 - law[1, lane] * rising)
    stiffness, damping = law[0, lane] * share, law[0, lane] * depth * law[1, lane] if share > 0.0 else 0.0
    normal = stiffness * (depth - h * rising)
    for k in range(3):
        n = given[start + 3 + k, lane]
        stretch = seen[place + k, lane] - feet.anchors[place + k, lane] - beyond * n
        across = seen[speed + k, lane] - rising * n
        given[start + k, lane] = normal * n - law[2, lane] * stretch - (law[3, lane] + h * law[2, lane]) * across
    given[start + 6, lane] = h * damping + h * h * stiffness
    given[start + 7, lane] = h * law[3, lane] + h * h * law[2, lane]
    return FINISHED


def roll_ball(feet: Feet, i: int, lane: int, radius: float) -> None:
    """Make place and velocity of a ball those of its lowest point, and let its anchor go along as it rolls."""
    seen, given, start, place, speed = feet.seen, feet.inputs, impedance(feet, i), 3 * i, 3 * (feet.count + i)
    for k in range(3):
        seen[place + k, lane] -= radius * given[start + 3 + k, lane]
        seen[speed + k, lane] -= rolling(feet, i, k, lane)
        if math.isfinite(feet.ends[place + k, lane]):
            feet.anchors[place + k, lane] += seen[place + k, lane] - feet.ends[place + k, lane]


def rolling(feet: Feet, i: int, k: int, lane: int) -> float:
    """How fast the point of a ball that touches moves along the ground beyond the ball's own surface there [m/s]."""
    turning, start, a, b = 3 * (2 * feet.count + i), impedance(feet, i) + 3, (k + 1) % 3, (k + 2) % 3
    return (
        feet.seen[turning + a, lane] * feet.inputs[start + b, lane]
        - feet.seen[turning + b, lane] * feet.inputs[start + a, lane]
    )


def let_go(feet: Feet, i: int, lane: int) -> None:
    """Make a contact impedance that of a foot in the air."""
    start = impedance(feet, i)
    for k in range(3):
        feet.inputs[start + k, lane] = 0.0
    feet.inputs[start + 6, lane] = 0.0
    feet.inputs[start + 7, lane] = 0.0


def force_on_foot(feet: Feet, i: int, lane: int) -> float:
    """The force on a foot over a step, from its impedance and J a; its normal part is returned [N]."""
    given, answers, start, at = feet.inputs, feet.answers, impedance(feet, i), feet.n + 3 * i
    along, normal = 0.0, 0.0
    for k in range(3):
        along += given[start + 3 + k, lane] * answers[at + k, lane]
    for k in range(3):
        n = given[start + 3 + k, lane]
        force = (
            given[start + k, lane]
            - given[start + 6, lane] * along * n
            - given[start + 7, lane] * (answers[at + k, lane] - along * n)
        )
        feet.forces[3 * i + k, lane] = force
        normal += force * n
    return normal


def slips(feet: Feet, i: int, lane: int, normal: float, most: float, kinetic: float) -> bool:
    """Whether sticking would take more friction than `most` [N]; if so the impedance becomes that of a foot that slips
    against kinetic friction [N], in the direction of the force that sticking would take."""
    given, start, own = feet.inputs, impedance(feet, i), FRICTION * i
    needed, inward = 0.0, 0.0
    for k in range(3):
        needed += (feet.forces[3 * i + k, lane] - normal * given[start + 3 + k, lane]) ** 2
        inward += given[start + k, lane] * given[start + 3 + k, lane]
    needed = math.sqrt(needed)
    if needed <= most:
        return False
    for k in range(3):
        n = given[start + 3 + k, lane]
        feet.friction[own + k, lane] = (feet.forces[3 * i + k, lane] - normal * n) / needed
        given[start + k, lane] = inward * n + kinetic * feet.friction[own + k, lane]
    given[start + 7, lane] = 0.0
    feet.friction[own + SIZE, lane] = kinetic
    return True


def adjusted(feet: Feet, lane: int, fresh: bool) -> bool:
    """Whether the friction on slipping feet had to be changed to be that of their normal forces [N].

    Both depend on each other, linearly as long as the same feet slip: solved by Broyden's method, which takes a few
    solutions of the step, and fewer where the same feet slipped in the step before. `fresh` says that no change has
    been tried yet.
    """
    count, friction, modes, lanes = feet.count, feet.friction, feet.modes_new, width(feet.seen)
    if feet.law[5, lane] == 0.0:
        return False
    short = 0.0
    for i in range(count):
        friction[FRICTION * i + MISSING, lane] = 0.0
        kinetic = feet.law[5, lane] * feet.seen[10 * count + i, lane]
        if modes[i * lanes + lane] == SLIP and kinetic > 0.0:
            missing = kinetic * feet.normals[i, lane] - friction[FRICTION * i + SIZE, lane]
            friction[FRICTION * i + MISSING, lane] = missing
            short = max(short, abs(missing) / (kinetic * feet.normals[i, lane]))
    if short <= AGREED:
        return False
    if not fresh:
        broyden(feet, lane)
    else:
        known = True
        for i in range(count):
            known = known and feet.together[i * lanes + lane] == modes[i * lanes + lane]
            feet.together[i * lanes + lane] = modes[i * lanes + lane]
        for k in range(count * count):
            if not known:
                feet.inverse[k, lane] = -1.0 if k // count == k % count else 0.0
    for i in range(count):
        own, change = FRICTION * i, 0.0
        if modes[i * lanes + lane] != SLIP:
            friction[own + CHANGE, lane] = 0.0
            friction[own + MISSED, lane] = 0.0
            continue
        for k in range(count):
            change -= feet.inverse[i * count + k, lane] * friction[FRICTION * k + MISSING, lane]
        change = max(change, -friction[own + SIZE, lane])  # friction does not push
        friction[own + SIZE, lane] += change
        friction[own + CHANGE, lane] = change
        friction[own + MISSED, lane] = friction[own + MISSING, lane]
        start = impedance(feet, i)
        for k in range(3):
            feet.inputs[start + k, lane] += change * friction[own + k, lane]
    return True


def broyden(feet: Feet, lane: int) -> None:
    """Update the inverse Jacobian by the last change of the frictions and what it did to what is missing."""
    count, friction, inverse = feet.count, feet.friction, feet.inverse
    below = 0.0
    for i in range(count):  # inverse · (change of what is missing), and the product with the change of friction
        own, product = FRICTION * i, 0.0
        for k in range(count):
            gained = friction[FRICTION * k + MISSING, lane] - friction[FRICTION * k + MISSED, lane]
            product += inverse[i * count + k, lane] * gained
        friction[own + PRODUCT, lane] = product
        below += friction[own + CHANGE, lane] * product
    if below == 0.0:
        return
    for k in range(count):
        row = 0.0
        for i in range(count):
            row += friction[FRICTION * i + CHANGE, lane] * inverse[i * count + k, lane]
        friction[FRICTION * k + ROW, lane] = row / below
    for i in range(count):
        for k in range(count):
            left = friction[FRICTION * i + CHANGE, lane] - friction[FRICTION * i + PRODUCT, lane]
            inverse[i * count + k, lane] += left * friction[FRICTION * k + ROW, lane]


def decide_friction(feet: Feet, lane: int, tries: int) -> int:
    """Whether a lane's step is solved, or WAITING: its feet and their frictions have changed."""
    law, modes, lanes, fresh = feet.law, feet.modes_new, width(feet.seen), feet.moded[lane] != 0
    feet.moded[lane] = 0
    for i in range(feet.count):
        here = i * lanes + lane
        before = feet.normals[i, lane]
        normal = force_on_foot(feet, i, lane)
        feet.normals[i, lane] = normal
        if modes[here] == AIR:
            continue
        if not normal > 0.0:
            modes[here] = AIR
            feet.moded[lane] = 1
            feet.friction[FRICTION * i + SIZE, lane] = 0.0
            let_go(feet, i, lane)
        elif modes[here] == STICK:
            slipped, share = feet.modes[here] == SLIP, feet.seen[10 * feet.count + i, lane]
            most = (law[5, lane] if slipped else law[4, lane]) * share * normal
            likely = before if slipped and tries == 1 else normal
            if slips(feet, i, lane, normal, most, law[5, lane] * share * likely):
                modes[here] = SLIP
                feet.moded[lane] = 1
    if feet.moded[lane] != 0:
        return WAITING
    if tries < MOST_TRIES and adjusted(feet, lane, fresh):
        return WAITING
    for k in range(feet.n):
        if not math.isfinite(feet.answers[k, lane]):
            return STUCK
    return FINISHED


def contact_step(feet: Feet, clock: Lanes, run: Ints) -> None:
    """A step of all lanes that have a run: clock[0] is the time, clock[1] the step [s]. States are among the inputs and
    the new ones in `answers`; feet.status says how it went."""
    lanes, tries, waiting = width(feet.seen), 0, False
    feet.inputs[0] = clock[0]
    feet.inputs[feet.known] = clock[1]
    feet.see.lanes(feet.inputs, feet.see_constants, feet.seen)
    for lane in range(lanes):
        feet.status[lane] = FINISHED
        if run[lane] < 0:
            continue
        status = FINISHED
        for i in range(feet.count):
            if status == FINISHED:
                status = touch(feet, i, lane, clock[1, lane])
                normal = 0.0  # over the step before: a foot that goes on slipping has nearly the same
                for k in range(3):
                    normal += feet.forces[3 * i + k, lane] * feet.inputs[impedance(feet, i) + 3 + k, lane]
                feet.normals[i, lane] = normal
        feet.status[lane] = WAITING if status == FINISHED else status
        feet.moded[lane] = 1
        waiting = waiting or status == FINISHED
    while waiting:
        tries += 1
        waiting = False
        feet.solve.lanes(feet.inputs, feet.solve_constants, feet.answers)
        for lane in range(lanes):
            if feet.status[lane] == WAITING:
                feet.status[lane] = decide_friction(feet, lane, tries)
                waiting = waiting or feet.status[lane] == WAITING
    for lane in range(lanes):
        if run[lane] >= 0 and feet.status[lane] == FINISHED:
            for i in range(feet.count):
                foot_summary(feet, i, lane, clock[1, lane])
            feet.joint_work[0, lane] += clock[1, lane] * feet.answers[feet.n + 3 * feet.count, lane]


def foot_summary(feet: Feet, i: int, lane: int, h: float) -> None:
    """Sum up what a foot got over a step, and let its anchor follow where it slips."""
    place, speed, at = 3 * i, 3 * (feet.count + i), feet.n + 3 * i
    mode, anchors = feet.modes_new[i * width(feet.seen) + lane], feet.anchors
    for k in range(3):
        force = feet.forces[place + k, lane]
        feet.impulses[place + k, lane] += h * force
        feet.work[i, lane] += h * force * (feet.seen[speed + k, lane] + 0.5 * h * feet.answers[at + k, lane])
        if mode == AIR:
            anchors[place + k, lane] = math.nan
    if mode == SLIP:
        follow(feet, i, lane, h)
    for k in range(3):
        rolled = h * rolling(feet, i, k, lane)
        feet.ends[place + k, lane] = at_end(feet, i, k, lane, h) + rolled
        anchors[place + k, lane] += rolled


def follow(feet: Feet, i: int, lane: int, h: float) -> None:
    """Let the anchor of a slipping foot follow."""
    place, start, law, anchors = 3 * i, impedance(feet, i), feet.law, feet.anchors
    # The spring is let out to what friction holds, never stretched further: the ground stores no work that it did not
    # get, also where the damper makes the foot slip.
    beyond, inward, friction, stretch = 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        n = feet.inputs[start + 3 + k, lane]
        inward += feet.forces[place + k, lane] * n
        beyond += (at_end(feet, i, k, lane, h) - anchors[place + k, lane]) * n
    for k in range(3):
        n = feet.inputs[start + 3 + k, lane]
        friction += (feet.forces[place + k, lane] - inward * n) ** 2
        stretch += (at_end(feet, i, k, lane, h) - anchors[place + k, lane] - beyond * n) ** 2
    longest, stretch = math.sqrt(friction) / law[2, lane], math.sqrt(stretch)
    share = longest / stretch if stretch > longest else 1.0
    for k in range(3):
        now = at_end(feet, i, k, lane, h)
        across = now - anchors[place + k, lane] - beyond * feet.inputs[start + 3 + k, lane]
        anchors[place + k, lane] = now - share * across


def at_end(feet: Feet, i: int, k: int, lane: int, h: float) -> float:
    """A coordinate of a foot at the end of a step [m]."""
    speed = feet.seen[3 * (feet.count + i) + k, lane]
    return feet.seen[3 * i + k, lane] + h * (speed + h * feet.answers[feet.n + 3 * i + k, lane])
