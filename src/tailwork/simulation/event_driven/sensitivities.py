"""Sensitivities of a run on rigid ground: its changes along directions at evenly spaced times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tailwork.errors import ArgumentError
from tailwork.kernels.jvp import jvp as jvp_graph
from tailwork.kernels.kernel import Kernel
from tailwork.simulation.contact.ground import RigidGround
from tailwork.simulation.event_driven.job import LONGEST_VARIED, drive_job, renew_job, written
from tailwork.simulation.event_driven.runs import check_event_driven, is_plane, started_job, why_stopped
from tailwork.simulation.event_driven.state import STATUS, Job, T
from tailwork.simulation.event_driven.variations import Variation, varied
from tailwork.simulation.integrate.driver import FINISHED
from tailwork.simulation.options import Options
from tailwork.simulation.problem import Problem
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
    ground = problem.ground
    if not isinstance(ground, RigidGround):
        raise ArgumentError("ground", ground, "a RigidGround: runs on compliant ground are not differentiated")
    if problem.controller is not None:
        raise ArgumentError("control", problem.controller, "laws: a controller in Python has no derivatives")
    if not is_plane(ground):
        raise ArgumentError("ground", ground.surface, "level ground or a tilted plane, where runs are differentiated")
    check_event_driven(system, ground, options)
    begin = problem.start_time
    job = started_job(system, ground, x, begin, times.copy(), options, np.zeros(system.efforts), keep=True)
    job.longest = LONGEST_VARIED
    jumps = {t for force in problem.forces for t in force.jumps() if begin < t < begin + problem.duration}
    for end in (*sorted(jumps), begin + problem.duration):
        drive_job(job, float(end))
        if job.counts[STATUS] != FINISHED:
            break
        renew_job(job)
    stopped = why_stopped(system, job)
    found = varied(Variation(system, ground, job, names, rates), start_rates, times)
    said = [] if stopped is None else [f"ended at {stopped.time:.4g} s ({stopped.reason})"]
    return Changes(
        _expanded(system, job, found.samples, names, rates), float(job.clock[T]), "; ".join([*said, *found.notes])
    )


def _expanded(system: System, job: Job, changes: Floats, names: Sequence[str], rates: Floats) -> Floats:
    """Changes of all coordinates and velocities from those of the state, those of prescribed limbs among them."""

    def make() -> tuple[Kernel, tuple[str, ...]]:
        graph, own = system.graphs("expand")["expand"]
        return Kernel(jvp_graph(graph, system.state_inputs), system.model.robot.name), own

    kernel, own = system.once("expansion along a state", make)
    constants = kernel.constants(np.array([system.numbers[name] for name in own]))
    samples = written(job)[2]
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
