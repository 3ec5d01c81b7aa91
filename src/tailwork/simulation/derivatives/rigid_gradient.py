"""Gradients of runs on rigid ground: what the driver of their rounds takes, and what it says of them in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tailwork.errors import ArgumentError
from tailwork.kernels.language import Struct, lanes
from tailwork.kernels.translate import driver
from tailwork.model.contact.gauss_seidel import contact_sizes
from tailwork.simulation.batch.inputs import BatchInputs
from tailwork.simulation.batch.kernels import in_shares, run_driver
from tailwork.simulation.contact.on_ground import Pace, tables_of
from tailwork.simulation.contact.rigid import OnRigidGround
from tailwork.simulation.contact.rigid_stepping import RigidJob
from tailwork.simulation.derivatives.compiled import GradientRows
from tailwork.simulation.derivatives.products import Products
from tailwork.simulation.derivatives.rigid_vjp_job import (
    BARELY,
    BEGIN,
    EDGE,
    END,
    KEEP,
    KINDS,
    PULL,
    SHARED,
    TASK,
    TOGETHER,
    TURN,
    LaneProduct,
    RoundPlaces,
    RoundsJob,
)
from tailwork.simulation.derivatives.rigid_vjp_kernels import (
    BY,
    RoundProducts,
    first_rows,
    input_rows,
    places_vjp,
    round_vjp,
    starts,
    weight_rows,
)
from tailwork.simulation.derivatives.rigid_vjp_stepping import differentiate_rounds
from tailwork.simulation.event_driven.saltation import FRICTION, RESTITUTION
from tailwork.simulation.integrate.compiled import WIDTH, lane_kernel
from tailwork.simulation.integrate.driver import MORE_ROOM
from tailwork.simulation.stopping import AT_EVENT, STUCK_ON_GROUND, why_stopped
from tailwork.typing import Floats

TIME_STEPPED = "the rounds of time stepping, with what touches, sticks and slips as it was"
STEPPED = (FRICTION, RESTITUTION)
"""Names of the ground's numbers that rounds are differentiated by."""
SETTLED = 1e-12
"""Velocities to which contacts settle where rounds are differentiated [m/s]: their solution is taken to be exact."""
ROOM = 2**21
"""Numbers of rounds that are kept at a time; of a longer run, rounds are made once more, stretch by stretch."""
SIDED = {
    TOGETHER: "contacts close together",
    EDGE: "a contact between sticking and slipping",
    BARELY: "a contact only just touches",
}
"""Where derivatives are those in one direction only."""


def check_differentiated(integrator: Any) -> OnRigidGround:
    """Runs on ground whose rounds can be differentiated."""
    if not isinstance(integrator, OnRigidGround):
        required = "a RigidGround: runs on compliant ground are not differentiated"
        raise ArgumentError("ground", integrator.ground, required)
    return integrator


def rounds_differentiated(
    inputs: BatchInputs, vjps: Mapping[str, Products], threads: int, progress: Callable[[int, int], None]
) -> tuple[GradientRows, list[tuple[tuple[str, ...], Floats]]]:
    """Simulate and differentiate those runs that are possible; names of numbers, and derivatives by them."""
    integrator, fine = check_differentiated(inputs.integrator), inputs.possible
    system, start, count = integrator.system, inputs.start.only(fine), len(fine)
    rounds, width = round_vjp(system, integrator.field), 1 if count == 1 else WIDTH
    paces = [Pace(*own, "") for own in zip(start.more["lengths"], start.more["counts"], strict=True)]
    runs = integrator.runs(start, paces, integrator.contacts(start), np.zeros((count, 0)))
    numbers, tables = integrator.numbers(start), tables_of(integrator.tables_by_run(start))
    products = {"rounds": rounds.products, **vjps} | ({"places": places_vjp(system)} if integrator.field else {})
    given = {name: inputs.rows(own.names) for name, own in products.items()}
    by = {name: np.full_like(rows, np.nan) for name, rows in given.items()}
    values, by_start = np.full(count, np.nan), np.full((count, system.size), np.nan)
    by_ground, sided = np.full((count, 2), np.nan), np.zeros((count, KINDS, 2))
    call = driver(differentiate_rounds, width)

    def made() -> RoundsJob:
        forward = integrator.job(width, runs, numbers, tables, logging=False)
        forward.tolerance = SETTLED
        own = {name: _product(products.get(name), width, given.get(name), by.get(name), rounds, system)
               for name in ("rounds", "places", "objective", "integrand")}  # fmt: skip
        out = {"values": values, "by_start": by_start, "by_friction": by_ground, "sided": sided}
        return _job(integrator, forward, rounds, own, width, {name: rows.reshape(-1) for name, rows in out.items()})

    spare, done = [made()], 0  # compiled here, not on the threads of a pool

    def share(here: slice) -> None:
        nonlocal done
        try:
            job = spare.pop()
        except IndexError:
            job = made()
        for first in range(here.start, here.stop, width):
            _differentiate(call, job, first, min(first + width, here.stop))
        spare.append(job)
        done += here.stop - here.start
        progress(done, count)

    with ThreadPoolExecutor(threads) as pool:
        in_shares(pool if threads > 1 else None, count, share, 4 * width)
    lost = runs.status > AT_EVENT
    for rows in (values, by_start, by_ground, *by.values()):
        rows[lost] = np.nan
    found = GradientRows(
        runs.status, runs.event, integrator.begin + runs.steps * runs.lengths, runs.steps, values, by_start,
        unsettled=runs.unsettled, sided=sided,
    )  # fmt: skip
    return found, [(STEPPED, by_ground), *((products[name].names, by[name]) for name in by)]


def _differentiate(call: Callable[[Struct], int], job: RoundsJob, first: int, last: int) -> None:
    """Some runs, at most as many as there are lanes. What a stretch of rounds begins with is kept, so that those before
    the last can be made again."""
    forward = job.forward
    own, runs = forward.lanes, forward.lanes.runs
    state = (forward.inputs, forward.work, forward.status, own.run, own.step, runs.unsettled[first:last])

    def do(task: int) -> int:
        job.now[TASK] = task
        return run_driver(call, job)

    own.queue[:2] = first, last
    do(BEGIN)
    stretches = [tuple(rows.copy() for rows in state)]
    while do(KEEP) == MORE_ROOM:
        stretches.append(tuple(rows.copy() for rows in state))
    do(TURN)
    do(PULL)
    for before in reversed(stretches[:-1]):
        for rows, kept in zip(state, before, strict=True):
            rows[...] = kept
        do(KEEP)
        do(PULL)
    do(END)


def _product(
    products: Products | None, width: int, numbers: Floats | None, by: Floats | None, rounds: RoundProducts, system: Any
) -> LaneProduct:
    """Products as the driver takes them; None: there is no graph."""
    own = (None, None, None) if products is None else (products.handing, products.main, products.design)
    handing, main, design = (lane_kernel(kernel, lane) for kernel, lane in zip(own, (1, width, 1), strict=True))
    handed, inner = (-1 if products is None else products.handed), lane_kernel(rounds.first, width)
    none = np.zeros((1, 1))
    numbers, by = none if numbers is None else numbers, none if by is None else by
    kept = max(handing.kept, main.kept, design.kept, inner.kept, 1)
    return LaneProduct(
        handing=handing, main=main, design=design, handed=handed, numbers=numbers.reshape(-1),
        numbers_size=numbers.shape[1], by_numbers=by.reshape(-1), own=np.zeros(kept), passed=np.zeros(max(handed, 1)),
        **lanes(
            width, constants=max(main.kept, 1), by_handed=max(handed, 1),
            inputs=products.main.inputs if products else 1, outputs=products.main.outputs if products else 1,
        ),
    )  # fmt: skip


def _job(
    integrator: OnRigidGround, forward: RigidJob, rounds: RoundProducts, products: dict[str, LaneProduct], width: int,
    out: dict[str, Floats],
) -> RoundsJob:  # fmt: skip
    """Room for the gradients of as many runs as there are lanes."""
    system, whole, n = integrator.system, np.int64, integrator.system.size
    sizes = contact_sizes(system.model.layout)
    points, rows, contacts = len(integrator.names), sum(sizes), len(sizes)
    given, weights, seen = input_rows(system, integrator.field), weight_rows(system), first_rows(system)
    inputs, count = starts(given), sum(given.values())
    w, shown = starts(weights, count), starts(seen)
    by = starts({name: given[name] for name in BY})
    handed = sum(seen.values())
    size = count + points + (n if products["integrand"].handed >= 0 else 0)
    first, late = lane_kernel(rounds.first, width), rounds.first.outputs
    at = RoundPlaces(
        n=n, n_q=len(system.free_q), known=1 + n + system.control_inputs, targets=inputs["targets"],
        target_count=given["targets"], step=inputs["step"], hit=inputs["hit"], nominal=inputs["nominal"],
        last=inputs["impulses"], planes=inputs["planes"], plane_count=given["planes"],
        pushes=inputs["pushes"], left=inputs["left"], tries=inputs["tries"], inputs=count,
        size=size, slips=count, state=count + points, weights=count, w_step=w["step"],
        w_left=w["left"], w_q=w["q"], records=shown["records"], gap=shown["gap"], speed=shown["speed"], handed=handed,
        late=late, by_x=by["x"], by_targets=by["targets"], by_step=by["step"], by_friction=by["friction"],
        by_ahead=by["ahead"], by_planes=by["planes"], by_left=by["left"], by_handed=sum(given[name] for name in BY),
    )  # fmt: skip
    room = max(ROOM // (size * width), 16)
    return RoundsJob(
        forward=forward, at=at, first=first, **products, room=room, now=np.zeros(2, whole),
        kept=np.empty((room * size, width)), steps=np.zeros(room * width, whole), ends=np.zeros(room * width, whole),
        run=np.full(width, -1, whole), count=np.zeros(width, whole), matrix=np.zeros(rows * rows),
        bends=np.zeros(7), mobility=np.zeros(rows * rows), y=np.zeros(rows), push=np.zeros(rows),
        place=np.zeros(contacts, whole), across=np.zeros(6 * max(points, 1)), **out,
        **lanes(
            width, first_constants=max(first.kept, 1), inputs=count + sum(weights.values()),
            outputs=late + rows + points, pulled=rounds.products.main.outputs, weight=sum(weights.values()),
            by_end=n, by_ground=2, by_state=n, busy=1, counted=1,
        ),
    )  # fmt: skip


def round_notes(names: Sequence[str], found: GradientRows) -> list[str]:
    """What is special about each run, in words; names are those of events."""
    notes = []
    for k, (status, event, time) in enumerate(zip(found.status, found.event, found.times, strict=True)):
        said, sided = [], {kind: (often, first) for kind, (often, first) in enumerate(found.sided[k]) if often}
        if status == AT_EVENT:
            said.append(f"ended at {time:.4g} s ({names[event]}), with a step, whose time does not move")
        for kind, word in SIDED.items():
            if kind in sided:
                often, first = sided[kind]
                more = f" and {often - 1:.0f} times more" if often > 1 else ""
                said.append(f"one-sided at {first:.4g} s ({word}){more}")
        if SHARED in sided:
            said.append(f"contacts share a load in no certain way, first at {sided[SHARED][1]:.4g} s")
        if found.unsettled[k]:
            said.append(f"contacts did not settle to {SETTLED:g} m/s in {found.unsettled[k]} rounds")
        if status > AT_EVENT:
            said = [f"at {time:.4g} s: {why_stopped(int(status), int(event), names, STUCK_ON_GROUND)}"]
        elif not np.isfinite(found.values[k]):
            said = ["the objective is not a finite number"]
        notes.append("; ".join(said))
    return notes
