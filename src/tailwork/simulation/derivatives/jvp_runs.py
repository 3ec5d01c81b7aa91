"""Runs with their changes along directions: each is simulated, then its steps are differentiated forwards."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor

import numpy as np

from tailwork.kernels.language import NO_FUNCTION, Function, lanes
from tailwork.kernels.translate import driver
from tailwork.simulation.batch.kernels import in_shares, parameter_rows
from tailwork.simulation.derivatives.compiled import linearised_run, product
from tailwork.simulation.derivatives.jvp_steps import TangentJob, tangents
from tailwork.simulation.derivatives.products import Products, curvature_jvp, derivative_jvp, stage_jvp
from tailwork.simulation.integrate.compiled import WIDTH
from tailwork.simulation.integrate.integrator import Integrator, SingleRuns, Start
from tailwork.simulation.integrate.tableaus import Rosenbrock
from tailwork.simulation.stopping import STUCK
from tailwork.typing import Floats

SHARE = 16
"""Runs that a thread takes at a time."""


def runs_jvp(
    integrator: Integrator, start: Start, shown: Products, names: Sequence[str], directions: Floats,
    start_rates: Floats, times: Floats, pool: Executor | None,
) -> tuple[np.ndarray, np.ndarray, Floats, Floats]:  # fmt: skip
    """How what is shown of runs changes.

    Args:
        way: how they are integrated.
        start: the runs.
        shown: the jvp of what is shown, along x.
        names: of numbers of the design.
        directions: rates of these numbers, (directions, names).
        start_rates: of the states at the start, (directions, size).
        times: of samples [s].
        pool: threads.

    Returns:
        (status, event, end [s]) of each run, and the changes, (runs, directions, times, shown); NaN after the end.
    """
    system, method, whole = integrator.system, integrator.arrays, np.int64
    jvps: dict[str, Products | None] = {"derivative": derivative_jvp(system), "expansion": shown}
    jvps["curvature"] = curvature_jvp(system) if isinstance(integrator.method, Rosenbrock) else None
    count, n, n_v = len(start.states), system.size, len(system.free_v)
    rates = {f"{name}_rates": named_rates(own.names if own else (), directions, names) for name, own in jvps.items()}
    status, event, ends = np.full(count, STUCK, whole), np.full(count, -1, whole), np.zeros(count)
    out = np.full((count, len(directions), len(times), shown.outputs), np.nan)
    call = driver(tangents, WIDTH)
    for jvp in jvps.values():  # compiled here, not on the threads of a pool
        product(jvp, np.zeros((1, 1)))

    def share(here: slice) -> None:
        own = start.only(here)
        single = SingleRuns(integrator, own)
        at = linearised_run(single)
        products = {
            name: product(jvp, parameter_rows(jvp.names if jvp else (), system.numbers, own.columns, len(own.states)))
            for name, jvp in jvps.items()
        }
        handed = {name: max(own.handed, 0) for name, own in products.items()}
        job = TangentJob(
            now=np.zeros(2, np.int64), method=method, steps=single.job.kept, at=at,
            **products, stage=Function(stage_jvp(system).lane_address()) if method.stiff else NO_FUNCTION,
            directions=len(directions), **rates, start_rates=np.ascontiguousarray(start_rates).reshape(-1), times=times,
            samples=len(times), shown=shown.outputs, out=out[here].reshape(-1), weights=np.zeros(method.stages),
            point=np.zeros(n), one=np.zeros(max(1, *handed.values())),
            **lanes(
                WIDTH, inputs=at.known + n + handed["derivative"], moved=2 * n,
                seen_inputs=at.known + n + handed["expansion"], seen=2 * shown.outputs,
                bent_inputs=at.known + 3 * n_v + 1 + 2 * n + handed["curvature"], bent=2 * n,
                solve_inputs=at.size + n + 1 + n_v, x=n, sample=n, du=method.stages * n,
            ),
        )  # fmt: skip
        for k, r in enumerate(range(here.start, here.stop)):
            steps, kept = single.drive(k), single.job.kept
            status[r], event[r], ends[r] = (
                part[k] for part in (single.ends.status, single.ends.event, single.ends.times)
            )
            at.inputs[1 + n :] = own.control_inputs[k]
            job.now[:] = k, steps
            if job.steps is not kept:
                job.steps = kept
            call(job)

    in_shares(pool, count, share, SHARE)
    return status, event, ends, out


def named_rates(own: Sequence[str], directions: Floats, names: Sequence[str]) -> Floats:
    """Rates of a graph's numbers along directions, flat."""
    rates = np.zeros((len(directions), max(len(own), 1)))
    for k, name in enumerate(own):
        if name in names:
            rates[:, k] = directions[:, list(names).index(name)]
    return rates.reshape(-1)
