"""Sensitivities of a run on rigid ground: its changes along directions at evenly spaced times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tailwork.errors import ArgumentError
from tailwork.kernels.jvp import jvp as jvp_graph
from tailwork.kernels.kernel import Kernel
from tailwork.simulation.event_driven.job import LONGEST_VARIED, drive_job, logged, renew_job
from tailwork.simulation.event_driven.runs import check_event_driven, started_job, stopped_at
from tailwork.simulation.event_driven.saltation import Variation, varied
from tailwork.simulation.event_driven.state import STATUS, RunJob, T
from tailwork.simulation.forces import breaks_of
from tailwork.simulation.options import Options
from tailwork.simulation.problem import Problem
from tailwork.simulation.stopping import FINISHED
from tailwork.simulation.system import System
from tailwork.typing import Floats


class Changes(NamedTuple):
    """Of a run."""

    values: Floats  # of all coordinates and velocities, (directions, times, both); NaN after its end
    end: float  # [s]
    note: str  # why it ended before its time, and where derivatives are those in one direction only


def event_changes(
    problem: Problem, system: System, x: Floats, names: Sequence[str], rates: Floats, start_rates: Floats,
    times: Floats, options: Options,
) -> Changes:  # fmt: skip
    """How a run changes with numbers of some names, at given rates (directions, names), and with its state at the
    start, (directions, n)."""
    ground = problem.rigid_ground
    if problem.controller is not None:
        raise ArgumentError("control", problem.controller, "laws: a controller in Python has no derivatives")
    check_event_driven(system, ground, options)
    begin = problem.start_time
    job = started_job(
        system, ground, x, problem.one_contact, begin, times.copy(), options, np.zeros(system.efforts), keep=True
    )
    job.longest = LONGEST_VARIED
    last = begin + problem.duration
    for end in (*breaks_of(problem.forces, begin, last)[0, :, 1], last):
        drive_job(job, float(end))
        if job.counts[STATUS] != FINISHED:
            break
        renew_job(job)
    stopped = stopped_at(system, job)
    variation = Variation(system, ground, job, names, rates)
    found = varied(variation, variation.at_start(x, start_rates), times)
    said = [] if stopped is None else [f"ended at {stopped.time:.4g} s ({stopped.reason})"]
    return Changes(
        _expanded(system, job, found.samples, names, rates), float(job.clock[T]), "; ".join([*said, *found.notes])
    )


def _expanded(system: System, job: RunJob, changes: Floats, names: Sequence[str], rates: Floats) -> Floats:
    """Changes of all coordinates and velocities from those of the state, those of prescribed limbs among them."""

    def make() -> tuple[Kernel, tuple[str, ...]]:
        graph, own = system.graphs("expand")["expand"]
        return Kernel(jvp_graph(graph, system.state_inputs), system.model.robot.name), own

    kernel, own = system.once("expansion along a state", make)
    constants = kernel.constants(np.array([system.numbers[name] for name in own]))
    samples = logged(job)[2]
    known, n = 1 + system.size + system.control_inputs, system.size
    layout = system.model.layout
    both = len(layout.coordinate_names) + len(layout.velocity_names)
    found = np.full((*changes.shape[:2], both), np.nan)
    for d, change in enumerate(changes):
        rows = np.zeros((len(samples), kernel.inputs))
        rows[:, :known], rows[:, known : known + n] = samples[:, :known], change[: len(samples)]
        for k, name in enumerate(own):
            if name in names:
                rows[:, known + n + k] = rates[d, list(names).index(name)]
        found[d, : len(samples)] = kernel(rows, constants)[:, :both]
    return found
