"""The vector-Jacobian product of runs on rigid ground, in lanes: from weights of the last state to those of the first.

Rounds are kept as they are made, and pulled back one by one. All that is decided in a round stays as it was: what
touches, sticks and slips, and which touchdown its clock goes to. Impulses follow the state (`rigid_vjp_contacts`), and
the time of a touchdown follows it by what predicts that.
"""

from __future__ import annotations

from tailwork.kernels.language import Lanes, spread, where, width
from tailwork.simulation.contact.ground import bends, surface
from tailwork.simulation.contact.rigid_stepping import begin, whole_round
from tailwork.simulation.contact.stepping import aim, aim_rate, halted, next_run
from tailwork.simulation.derivatives.rigid_vjp_contacts import contacts_back
from tailwork.simulation.derivatives.rigid_vjp_job import (
    BEGIN,
    KEEP,
    KEPT,
    KINDS,
    PULL,
    RUN_OVER,
    STEP_OVER,
    TASK,
    TURN,
    LaneProduct,
    RoundsJob,
)
from tailwork.simulation.integrate.compiled import lane_constants
from tailwork.simulation.integrate.driver import DONE, MORE_ROOM


def differentiate_rounds(job: RoundsJob) -> int:
    """Begin runs; keep rounds; turn; pull them back, those kept last first; end."""
    task = job.now[TASK]
    if task == BEGIN:
        for lane in range(width(job.inputs)):
            job.forward.lanes.run[lane] = -1  # of those before, the first rounds were made last
            r = next_run(job.forward.lanes, lane)
            if r >= 0:
                begin(job.forward, lane, r)
                begin_lane(job, lane, r)
    elif task == KEEP:
        return keep_rounds(job)
    elif task == TURN:
        begin_backward(job)
    elif task == PULL:
        pull_back(job)
    else:
        end_back(job)
    return DONE


def keep_rounds(job: RoundsJob) -> int:
    """Rounds of all lanes, kept, until their runs have ended or there is no more room."""
    forward, lanes, at, count = job.forward, job.forward.lanes, job.at, 0
    left, run = forward.at.late + forward.rows + 6, lanes.run
    while halted(lanes, -1) != DONE and count < job.room:
        row = job.kept[count * at.size :]
        for k in range(at.pushes):
            row[k] = forward.inputs[k]
        row[at.left] = forward.work[left]
        row[at.tries] = forward.work[left + 1]
        here = count * width(job.inputs)
        for lane in range(width(job.inputs)):
            job.steps[here + lane] = lanes.step[lane] if run[lane] >= 0 else -1
            job.ends[here + lane] = 0
        whole_round(forward)
        row[0] = forward.inputs[0]
        for k in range(at.target_count):
            row[at.targets + k] = forward.inputs[at.targets + k]
        for k in range(at.plane_count):
            row[at.planes + k] = forward.inputs[at.planes + k]
        for k in range(forward.rows):
            row[at.pushes + k] = forward.work[forward.at.late + k]
        for i in range(forward.contacts.points):
            row[at.slips + i] = forward.contacts.slips[i]
        for lane in range(width(job.inputs)):
            if job.steps[here + lane] >= 0 and lanes.step[lane] != job.steps[here + lane]:
                job.ends[here + lane] = STEP_OVER if run[lane] >= 0 else RUN_OVER
        if job.integrand.handed >= 0:
            for k in range(at.n):
                row[at.state + k] = lanes.state[k]
        count += 1
    job.now[KEPT] = count
    return DONE if halted(lanes, -1) == DONE else MORE_ROOM


def begin_lane(job: RoundsJob, lane: int, r: int) -> None:
    """The constants of a lane for the design of its run, and nothing added up."""
    job.run[lane] = r
    prepare_lane(job.rounds, r, lane)
    lane_constants(job.first, job.rounds.passed, job.rounds.own, lane, job.first_constants)
    prepare_lane(job.places, r, lane)
    prepare_lane(job.objective, r, lane)
    prepare_lane(job.integrand, r, lane)
    for k in range(2):
        job.by_ground[k, lane] = 0.0
    for k in range(2 * KINDS):
        job.sided[r * 2 * KINDS + k] = 0.0
    job.values[r] = 0.0


def prepare_lane(product: LaneProduct, r: int, lane: int) -> None:
    """The constants of a product for the design of run r."""
    if product.handed < 0:
        return
    product.handing.prelude(product.own, product.numbers[r * product.numbers_size :], product.own)
    product.handing.scalar(product.passed, product.own, product.passed)
    lane_constants(product.main, product.passed, product.own, lane, product.constants)
    for k in range(product.handed):
        product.by_handed[k, lane] = 0.0


def lane_design_vjp(product: LaneProduct, r: int, lane: int) -> None:
    """From what was added up by what is handed over: derivatives by the numbers of the design."""
    if product.handed < 0:
        return
    product.design.prelude(product.own, product.numbers[r * product.numbers_size :], product.own)
    for k in range(product.handed):
        product.passed[k] = product.by_handed[k, lane]
    product.design.scalar(product.passed, product.own, product.by_numbers[r * product.numbers_size :])


def begin_backward(job: RoundsJob) -> None:
    """The objective of the last states and its derivatives; with an integrand, its share of the end."""
    at = job.at
    for k in range(at.w_q - at.weights):
        job.weight[k] = spread(0.0, job.weight)
    for k in range(at.n):
        job.by_end[k] = spread(0.0, job.weight)
    if job.objective.handed >= 0:
        for lane in range(width(job.inputs)):
            job.counted[0, lane] = 1.0 if job.run[lane] >= 0 else 0.0
            job.count[lane] = job.forward.lanes.step[lane]
            job.objective.inputs[at.known, lane] = 1.0
        add_quantity(job, job.objective, job.forward.lanes.state, job.by_end)


def add_quantity(job: RoundsJob, product: LaneProduct, state: Lanes, by: Lanes) -> None:
    """A number of states after so many steps, with a weight in each lane: add it to the values of the runs it is asked
    for, and its derivatives to `by`."""
    lanes, at, given, found = job.forward.lanes, job.at, product.inputs, product.outputs
    n, handed = at.n, product.handed
    for lane in range(width(given)):
        if job.counted[0, lane] > 0.0:
            given[0, lane] = lanes.start + job.count[lane] * lanes.runs.lengths[job.run[lane]]
            aim(lanes.tables, job.run[lane], given[0, lane], lane, given[at.targets :])
    for k in range(n):
        given[1 + k] = state[k]
    product.main.lanes(given, product.constants, found)
    counted = job.counted[0] > 0.0
    for k in range(n):
        by[k] = by[k] + where(counted, found[1 + k], 0.0)
    for k in range(handed):
        product.by_handed[k] = product.by_handed[k] + where(counted, found[1 + n + k], 0.0)
    for lane in range(width(given)):
        if job.counted[0, lane] > 0.0:
            job.values[job.run[lane]] += given[at.known, lane] * found[1 + n + handed, lane]


def pull_back(job: RoundsJob) -> None:
    """Weights through all rounds that are kept, from the last to the first."""
    at, lanes, given, found = job.at, width(job.inputs), job.inputs, job.outputs
    for c in range(job.now[KEPT] - 1, -1, -1):
        row, busy = job.kept[c * at.size :], False
        for k in range(at.inputs):
            given[k] = row[k]
        for k in range(at.w_q - at.weights):
            given[at.weights + k] = job.weight[k]
        for k in range(at.n_q):
            given[at.w_q + k] = spread(0.0, given)
        for lane in range(lanes):
            job.busy[0, lane] = 1.0 if job.steps[c * lanes + lane] >= 0 else 0.0
            busy = busy or job.busy[0, lane] > 0.0
        if not busy:
            continue
        add_ends(job, row, c)
        job.first.lanes(given, job.first_constants, found)
        for k in range(job.forward.rows + job.forward.contacts.points):
            found[at.late + k] = spread(0.0, given)
        for lane in range(lanes):
            if job.busy[0, lane] > 0.0:
                contacts_back(job, row, c, lane)
        job.rounds.main.lanes(found[at.handed :], job.rounds.constants, job.pulled)
        if at.plane_count > 0:
            ground_back(job, row)
        take_weights(job, row)


def add_ends(job: RoundsJob, row: Lanes, c: int) -> None:
    """Weights of states where a nominal step is over: of the integrand, and where the run is, of the objective."""
    at, lanes, given = job.at, width(job.inputs), job.inputs
    if job.integrand.handed >= 0:
        for k in range(at.n):
            job.by_state[k] = spread(0.0, given)
        for lane in range(lanes):
            ends, nominal = job.ends[c * lanes + lane], given[at.nominal, lane]
            job.counted[0, lane] = 1.0 if ends > 0 else 0.0
            job.count[lane] = job.steps[c * lanes + lane] + 1
            job.integrand.inputs[at.known, lane] = 0.5 * nominal if ends == RUN_OVER else nominal
        add_quantity(job, job.integrand, row[at.state :], job.by_state)
        for k in range(at.n_q):
            given[at.w_q + k] = given[at.w_q + k] + job.by_state[k]
        for k in range(at.n_q, at.n):
            given[at.weights + k] = given[at.weights + k] + job.by_state[k]
    for lane in range(lanes):
        if job.ends[c * lanes + lane] == RUN_OVER:
            for k in range(at.n_q):
                given[at.w_q + k, lane] += job.by_end[k, lane]
            for k in range(at.n_q, at.n):
                given[at.weights + k, lane] += job.by_end[k, lane]


def ground_back(job: RoundsJob, row: Lanes) -> None:
    """Weights of the planes under the points become those of their places, and these of time, state and design."""
    forward, at, product, pulled, bends_here = job.forward, job.at, job.places, job.pulled, job.bends
    given, found, n = product.inputs, product.outputs, job.at.n
    forward.see.lanes(row, forward.see_constants, forward.seen)
    for k in range(at.known):
        given[k] = row[k]
    for lane in range(width(given)):
        for i in range(at.plane_count // 4 if job.busy[0, lane] > 0.0 else 0):
            x, y, planes = forward.seen[3 * i, lane], forward.seen[3 * i + 1, lane], pulled[at.by_planes + 4 * i :]
            _, by_x, by_y = surface(forward.field, x, y)
            bends(forward.field, x, y, bends_here)
            up = row[at.planes + 4 * i + 3, lane]
            tilt = (planes[3, lane] - planes[1, lane] * by_x - planes[2, lane] * by_y) * up * up * up
            along, across = -up * planes[1, lane] - tilt * by_x, -up * planes[2, lane] - tilt * by_y
            given[at.known + 3 * i, lane] = planes[0, lane] * by_x + along * bends_here[0] + across * bends_here[1]
            given[at.known + 3 * i + 1, lane] = planes[0, lane] * by_y + along * bends_here[1] + across * bends_here[2]
    product.main.lanes(given, product.constants, found)
    busy = job.busy[0] > 0.0
    pulled[0] = pulled[0] + found[0]
    for k in range(n):
        pulled[at.by_x + k] = pulled[at.by_x + k] + found[1 + k]
    for k in range(product.handed):
        product.by_handed[k] = product.by_handed[k] + where(busy, found[1 + n + k], 0.0)


def take_weights(job: RoundsJob, row: Lanes) -> None:
    """Weights of a round's inputs become those of what the round before left; those of parameters are added up.

    The time of a round follows from what is left of the nominal step, and what servos aim at follows from the time."""
    at, pulled, weight, product = job.at, job.pulled, job.weight, job.rounds
    busy = job.busy[0] > 0.0
    for lane in range(width(weight)):
        if job.busy[0, lane] > 0.0:
            tables, by_targets = job.forward.lanes.tables, pulled[at.by_targets :]
            by_time = pulled[0, lane] + aim_rate(tables, job.run[lane], row[0, lane], lane, by_targets)
            pulled[at.by_step, lane] -= 0.5 * by_time
            pulled[at.by_left, lane] -= by_time
    for k in range(at.n):
        weight[k] = where(busy, pulled[at.by_x + k], weight[k])
    for k in range(at.n - at.n_q):
        weight[at.n + k] = where(busy, pulled[at.by_ahead + k], weight[at.n + k])
    weight[at.w_step - at.weights] = where(busy, pulled[at.by_step], weight[at.w_step - at.weights])
    weight[at.w_left - at.weights] = where(busy, pulled[at.by_left], weight[at.w_left - at.weights])
    for k in range(2):
        job.by_ground[k] = job.by_ground[k] + where(busy, pulled[at.by_friction + k], 0.0)
    for k in range(product.handed):
        product.by_handed[k] = product.by_handed[k] + where(busy, pulled[at.by_handed + k], 0.0)


def end_back(job: RoundsJob) -> None:
    """What all of it comes to, by run."""
    at, n, lanes = job.at, job.at.n, width(job.inputs)
    runs = job.forward.lanes.runs
    for k in range(n - at.n_q):
        job.weight[at.n_q + k] = job.weight[at.n_q + k] + job.weight[n + k]
    if job.integrand.handed >= 0:
        for lane in range(lanes):
            job.counted[0, lane] = 1.0 if job.run[lane] >= 0 else 0.0
            r = max(job.run[lane], 0)
            job.count[lane] = 0
            job.integrand.inputs[at.known, lane] = 0.5 * runs.lengths[r]
            for k in range(n):
                job.inputs[1 + k, lane] = runs.states[r * n + k]
        add_quantity(job, job.integrand, job.inputs[1:], job.weight)
    for lane in range(lanes):
        r = job.run[lane]
        if r >= 0:
            for k in range(n):
                job.by_start[r * n + k] = job.weight[k, lane]
            for k in range(2):
                job.by_friction[2 * r + k] = job.by_ground[k, lane]
            lane_design_vjp(job.rounds, r, lane)
            lane_design_vjp(job.places, r, lane)
            lane_design_vjp(job.objective, r, lane)
            lane_design_vjp(job.integrand, r, lane)
            job.run[lane] = -1
