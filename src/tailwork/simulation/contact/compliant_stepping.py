"""Steps of runs on compliant ground, in lanes."""

from __future__ import annotations

import math

from tailwork.kernels.language import Lanes, Struct, width
from tailwork.simulation.contact.friction import Feet, contact_step, impedance, let_go
from tailwork.simulation.contact.stepping import (
    GOING,
    LaneRuns,
    Parameters,
    after_step,
    aim,
    change,
    halted,
    next_run,
    take_samples,
)
from tailwork.simulation.integrate.compiled import lane_constants
from tailwork.simulation.stopping import FINISHED

T, H = 0, 1
"""Rows of the clock: time and step [s]."""


class GroundJob(Struct):
    """Runs on compliant ground, and where each lane stands."""

    lanes: LaneRuns
    feet: Feet
    see_numbers: Parameters
    solve_numbers: Parameters
    laws: Parameters  # of the ground; see CompliantGround.parameter_names
    clock: Lanes


def advance(job: GroundJob) -> int:
    """Steps of all runs. A call goes on where the last one returned."""
    feet, lanes, run, rounds = job.feet, job.lanes, job.lanes.run, 0
    while True:
        for lane in range(width(job.clock)):
            r = next_run(lanes, lane)
            if r >= 0:
                begin(job, lane, r)
        found = halted(lanes, rounds)
        if found != GOING:
            return found
        rounds += 1
        for lane in range(width(job.clock)):
            if run[lane] >= 0:
                job.clock[T, lane] = lanes.start + lanes.step[lane] * job.clock[H, lane]
                now = job.clock[T, lane] + job.clock[H, lane]
                aim(lanes.tables, run[lane], now, lane, feet.inputs[1 + feet.n + lanes.runs.efforts :])
        contact_step(feet, job.clock, run)
        for lane in range(width(job.clock)):
            if run[lane] >= 0 and feet.status[lane] == FINISHED:
                take_step(job, lane)
        if lanes.watched > 0:
            watch(job)
        for lane in range(width(job.clock)):
            if run[lane] >= 0:
                after_step(lanes, lane, run[lane], feet.status[lane])


def begin(job: GroundJob, lane: int, r: int) -> None:
    """The start of a run in a lane."""
    lanes, feet, see, solve = job.lanes, job.feet, job.see_numbers, job.solve_numbers
    job.clock[H, lane] = lanes.runs.lengths[r]
    job.clock[T, lane] = lanes.start
    lane_constants(feet.see, see.values[r * see.size :], lanes.own, lane, feet.see_constants)
    lane_constants(feet.solve, solve.values[r * solve.size :], lanes.own, lane, feet.solve_constants)
    for k in range(job.laws.size):
        feet.law[k, lane] = job.laws.values[r * job.laws.size + k]
    for i in range(feet.count):
        feet.together[i * width(job.clock) + lane] = -1
        for k in range(3):
            feet.anchors[3 * i + k, lane] = lanes.runs.anchors[(r * feet.count + i) * 3 + k]
            feet.ends[3 * i + k, lane] = math.nan
    take_samples(lanes, lane, r)


def take_step(job: GroundJob, lane: int) -> None:
    """The state and the modes of the feet become those at the end of the step."""
    feet, lanes, per_step = job.feet, job.lanes, 1.0 / job.clock[H, lane]
    for i in range(feet.count):
        change(lanes, i, lane, job.clock[T, lane], feet.modes_new[i * width(job.clock) + lane])
    for k in range(feet.n):
        lanes.acceleration[k, lane] = (feet.answers[k, lane] - lanes.state[k, lane]) * per_step
        lanes.state[k, lane] = feet.answers[k, lane]
    lanes.step[lane] += 1


def watch(job: GroundJob) -> None:
    """Watched quantities where steps end, with the forces that the feet got."""
    feet, lanes = job.feet, job.lanes
    feet.inputs[0] = job.clock[T] + job.clock[H]
    for lane in range(width(job.clock)):
        for i in range(feet.count):
            let_go(feet, i, lane)
            for k in range(3):
                feet.inputs[impedance(feet, i) + k, lane] = feet.forces[3 * i + k, lane]
    lanes.watch.lanes(feet.inputs, lanes.watch_constants, lanes.values)
