"""Runs on ground in lanes, whatever the ground: which run a lane has, gait tables, events, samples, the end of a run.

Every lane has its own run with its own design, step, contacts and clock; one whose run has ended takes the next.
"""

from __future__ import annotations

from tailwork.kernels.language import Ints, Lanes, Reals, Struct, width
from tailwork.simulation.integrate.compiled import LaneKernel, lane_constants
from tailwork.simulation.integrate.driver import DONE, LAST, MORE_ROOM, NEXT, PAUSED
from tailwork.simulation.stopping import AT_EVENT, FINISHED

LIMIT, CHANGED, HAPPENED = 2, 3, 4
"""Of the queue: the step before which a single run returns, and how many changes and events it has written down."""
GOING = -1
"""No reason to return."""


class Tables(Struct):
    """Tables of joint angles and rates, one after the other, a row for all runs or one for each."""

    count: int  # in a row
    targets: int  # coordinates of all tables of a row
    shapes: Ints  # by table of a row: samples, coordinates
    own: int  # 1: each run has its row; 0: one for all
    size: int  # numbers of a row
    periods: Reals  # [s]
    values: Reals  # of all tables, flat
    rates: Reals


class Parameters(Struct):
    """Parameters of a kernel, flat, a row a run."""

    values: Reals
    size: int


class GroundRuns(Struct):
    """What differs between runs, flat, a row each, and what becomes of them."""

    states: Reals
    control_inputs: Reals
    efforts: int  # how many control inputs
    lengths: Reals  # of steps [s]
    counts: Ints  # of steps
    modes: Ints  # (feet,) at the start, and after its end, there
    anchors: Reals  # (feet, 3) likewise [m]
    marks: Ints  # steps after which samples are taken
    samples: int  # how many marks
    status: Ints
    event: Ints
    steps: Ints  # done
    final: Reals  # states
    work: Reals  # done by joints, ground and outside forces [J]
    fastest: Reals  # (2 + n): time [s], work so far [J] and state at the end of the fastest step
    recorded: Ints  # rows of `record`
    record: Reals  # (samples + 1, size); see `record_sample`
    record_size: int
    unsettled: Ints  # on rigid ground: rounds whose contacts did not settle


class LaneRuns(Struct):
    """Where the run of each lane stands, and what is recorded of it."""

    runs: GroundRuns
    tables: Tables
    n: int  # numbers of a state
    still: int  # of them: no velocities
    points: int
    start: float  # [s]
    pause: int  # steps or rounds after which a driver returns
    queue: Ints
    run: Ints  # of each lane; −1: none
    step: Ints  # steps done by each lane
    sampled: Ints  # samples taken by each lane
    speeds: Reals  # of each lane: square of the greatest so far
    state: Lanes  # x after the last step
    efforts: Lanes  # held, as the kernels take them
    acceleration: Lanes  # of x over the last step
    forces: Lanes  # (points × 3): on the points over it [N]
    anchors: Lanes  # (points × 3) [m]; NaN: none
    impulses: Lanes  # (points × 3): since the start [N s]
    work: Lanes  # (points,): done by the ground since the start [J]
    joint_work: Lanes  # (1,): done by motors, springs, dampers and outside forces since the start [J]
    modes: Ints  # (contacts, lanes): what they do, points first
    watched: int
    watch: LaneKernel  # → values that are to stay positive
    watch_numbers: Parameters
    watch_constants: Lanes
    values: Lanes
    stops: Ints  # which of them end a run
    below: Ints  # (watched, lanes): which have happened and still hold
    own: Reals  # scratch: constants of one design
    logging: bool  # whether changes and events of a single run are written down
    room: int  # steps or rounds that there is room for in what follows
    changes: Reals  # rows: time [s], contact, its mode from there on
    happened: Reals  # rows: time [s], number of the event


def next_run(lanes: LaneRuns, lane: int) -> int:
    """Put the next run into a lane that has none; −1: it has one, or there is none."""
    if lanes.run[lane] >= 0 or lanes.queue[NEXT] >= lanes.queue[LAST]:
        return -1
    r, runs, n, count = lanes.queue[NEXT], lanes.runs, lanes.n, width(lanes.state)
    lanes.queue[NEXT] += 1
    lanes.run[lane] = r
    lanes.step[lane] = 0
    lanes.sampled[lane] = 0
    for k in range(n):
        lanes.state[k, lane] = runs.states[r * n + k]
        lanes.acceleration[k, lane] = 0.0
    for k in range(runs.efforts):
        lanes.efforts[k, lane] = runs.control_inputs[r * runs.efforts + k]
    for i in range(lanes.points):
        lanes.modes[i * count + lane] = runs.modes[r * lanes.points + i]
        lanes.work[i, lane] = 0.0
        for k in range(3):
            lanes.forces[3 * i + k, lane] = 0.0
            lanes.impulses[3 * i + k, lane] = 0.0
    lanes.joint_work[0, lane] = 0.0
    lanes.speeds[lane] = -1.0
    if lanes.watched > 0:
        own = lanes.watch_numbers.values[r * lanes.watch_numbers.size :]
        lane_constants(lanes.watch, own, lanes.own, lane, lanes.watch_constants)
        for k in range(lanes.watched):
            lanes.below[k * count + lane] = 0
    runs.status[r] = FINISHED
    runs.event[r] = -1
    runs.recorded[r] = 0
    runs.unsettled[r] = 0
    return r


def halted(lanes: LaneRuns, rounds: int) -> int:
    """Why a driver returns after so many rounds, or GOING. A single run returns at its limit, too, and when there is no
    room for what happens."""
    active = False
    for lane in range(width(lanes.state)):
        active = active or lanes.run[lane] >= 0
    if not active:
        return DONE
    if (lanes.run[0] >= 0 and lanes.step[0] == lanes.queue[LIMIT]) or (lanes.logging and rounds == lanes.room):
        return MORE_ROOM
    return PAUSED if rounds == lanes.pause else GOING


def aim(tables: Tables, r: int, t: float, lane: int, targets: Lanes) -> None:
    """Angles, then rates, of all tables of run r at a time, by cubic Hermite interpolation."""
    row = r * tables.own
    start, place = row * tables.size, 0
    for k in range(tables.count):
        size = tables.shapes[2 * k + 1]
        i, after, s, spacing = table_place(tables, row, k, t)
        for c in range(size):
            here = start + i * size + c
            u, third, fourth = hermite(tables, here, start + after * size + c, spacing)
            targets[place + c, lane] = tables.values[here] + s * (u + s * (third + s * fourth))
            targets[tables.targets + place + c, lane] = (u + s * (2.0 * third + 3.0 * s * fourth)) / spacing
        start += tables.shapes[2 * k] * size
        place += size


def aim_rate(tables: Tables, r: int, t: float, lane: int, weights: Lanes) -> float:
    """How a weighted sum of what `aim` gives changes with the time [1/s]."""
    row, total = r * tables.own, 0.0
    start, place = row * tables.size, 0
    for k in range(tables.count):
        size = tables.shapes[2 * k + 1]
        i, after, s, spacing = table_place(tables, row, k, t)
        for c in range(size):
            u, third, fourth = hermite(tables, start + i * size + c, start + after * size + c, spacing)
            total += weights[place + c, lane] * (u + s * (2.0 * third + 3.0 * s * fourth)) / spacing
            bend = (2.0 * third + 6.0 * s * fourth) / (spacing * spacing)
            total += weights[tables.targets + place + c, lane] * bend
        start += tables.shapes[2 * k] * size
        place += size
    return total


def table_place(tables: Tables, row: int, k: int, t: float) -> tuple[int, int, float, float]:
    """Between which samples of a table a time lies, by what share of their distance, and that distance [s]."""
    samples, period = tables.shapes[2 * k], tables.periods[row * tables.count + k]
    phase = (t / period) % 1.0 * samples
    i = min(int(phase), samples - 1)
    return i, (i + 1) % samples, phase - i, period / samples


def hermite(tables: Tables, here: int, there: int, spacing: float) -> tuple[float, float, float]:
    """Coefficients of a table's cubic between two samples: of s, s² and s³."""
    u, v = tables.rates[here] * spacing, tables.rates[there] * spacing
    rise = tables.values[there] - tables.values[here]
    return u, 3.0 * rise - 2.0 * u - v, u + v - 2.0 * rise


def change(lanes: LaneRuns, i: int, lane: int, t: float, mode: int) -> None:
    """What a contact does from a time on; written down where it begins to do something else."""
    here = i * width(lanes.state) + lane
    if mode != lanes.modes[here] and lanes.logging:
        row = 3 * lanes.queue[CHANGED]
        lanes.changes[row] = t
        lanes.changes[row + 1] = float(i)
        lanes.changes[row + 2] = float(mode)
        lanes.queue[CHANGED] += 1
    lanes.modes[here] = mode


def after_step(lanes: LaneRuns, lane: int, r: int, status: int) -> None:
    """Events, samples and the end of a run, where a step ends; what is watched has been evaluated."""
    runs, count = lanes.runs, width(lanes.state)
    for k in range(lanes.watched):
        below = not lanes.values[k, lane] >= 0.0
        if status != FINISHED:
            continue
        if below and lanes.below[k * count + lane] == 0 and lanes.logging:
            row = 2 * lanes.queue[HAPPENED]
            lanes.happened[row] = lanes.start + lanes.step[lane] * runs.lengths[r]
            lanes.happened[row + 1] = float(k)
            lanes.queue[HAPPENED] += 1
        lanes.below[k * count + lane] = 1 if below else 0
        if below and lanes.stops[k] != 0:
            status = AT_EVENT
            runs.event[r] = k
    keep_fastest_state(lanes, lane, r)
    if status == FINISHED:
        if lanes.step[lane] == 1 and runs.recorded[r] > 0:
            record_contacts(lanes, lane, r, 0)  # at the start they are those of the first step
        take_samples(lanes, lane, r)
    if status != FINISHED or lanes.step[lane] == runs.counts[r]:
        end_run(lanes, lane, r, status)


def end_run(lanes: LaneRuns, lane: int, r: int, status: int) -> None:
    """Take a run out of its lane."""
    runs, n = lanes.runs, lanes.n
    marked = lanes.sampled[lane] > 0 and runs.marks[r * runs.samples + lanes.sampled[lane] - 1] == lanes.step[lane]
    if status != FINISHED and not marked:
        record_sample(lanes, lane, r)
    runs.status[r] = status
    runs.steps[r] = lanes.step[lane]
    runs.work[r] = work_so_far(lanes, lane)
    for k in range(n):
        runs.final[r * n + k] = lanes.state[k, lane]
    for i in range(lanes.points):
        runs.modes[r * lanes.points + i] = lanes.modes[i * width(lanes.state) + lane]
        for k in range(3):
            runs.anchors[3 * (r * lanes.points + i) + k] = lanes.anchors[3 * i + k, lane]
    lanes.run[lane] = -1


def work_so_far(lanes: LaneRuns, lane: int) -> float:
    """Done by joints, outside forces and ground since the start [J]."""
    found = lanes.joint_work[0, lane]
    for i in range(lanes.points):
        found += lanes.work[i, lane]
    return found


def keep_fastest_state(lanes: LaneRuns, lane: int, r: int) -> None:
    """Keep the state if it is the fastest so far: there energy is balanced, and at the end."""
    runs, n, speed = lanes.runs, lanes.n, 0.0
    for k in range(lanes.still, n):
        speed += lanes.state[k, lane] * lanes.state[k, lane]
    if speed > lanes.speeds[lane]:
        row = r * (n + 2)
        lanes.speeds[lane] = speed
        runs.fastest[row] = lanes.start + lanes.step[lane] * runs.lengths[r]
        runs.fastest[row + 1] = work_so_far(lanes, lane)
        for k in range(n):
            runs.fastest[row + 2 + k] = lanes.state[k, lane]


def take_samples(lanes: LaneRuns, lane: int, r: int) -> None:
    """Samples that are wanted after so many steps; several may be, where samples are closer than steps."""
    runs = lanes.runs
    while lanes.sampled[lane] < runs.samples and runs.marks[r * runs.samples + lanes.sampled[lane]] <= lanes.step[lane]:
        record_sample(lanes, lane, r)
        lanes.sampled[lane] += 1


def record_sample(lanes: LaneRuns, lane: int, r: int) -> None:
    """Write a row: time, state, efforts, impulses, work of the ground, work of the joints; then `record_contacts`."""
    runs, points, n = lanes.runs, lanes.points, lanes.n
    s = runs.recorded[r]
    row = runs.record[(r * (runs.samples + 1) + s) * runs.record_size :]
    row[0] = lanes.start + lanes.step[lane] * runs.lengths[r]
    for k in range(n):
        row[1 + k] = lanes.state[k, lane]
    for k in range(runs.efforts):
        row[1 + n + k] = lanes.efforts[k, lane]
    at = 1 + n + runs.efforts
    for k in range(3 * points):
        row[at + k] = lanes.impulses[k, lane]
    for i in range(points):
        row[at + 3 * points + i] = lanes.work[i, lane]
    row[at + 4 * points] = lanes.joint_work[0, lane]
    record_contacts(lanes, lane, r, s)
    runs.recorded[r] = s + 1


def record_contacts(lanes: LaneRuns, lane: int, r: int, s: int) -> None:
    """Write the end of a row: forces, anchors and modes of the points, acceleration of the state."""
    runs, points = lanes.runs, lanes.points
    row = runs.record[(r * (runs.samples + 1) + s) * runs.record_size + 2 + lanes.n + runs.efforts + 4 * points :]
    for k in range(3 * points):
        row[k] = lanes.forces[k, lane]
        row[3 * points + k] = lanes.anchors[k, lane]
    for i in range(points):
        row[6 * points + i] = float(lanes.modes[i * width(lanes.state) + lane])
    for k in range(lanes.n):
        row[7 * points + k] = lanes.acceleration[k, lane]
