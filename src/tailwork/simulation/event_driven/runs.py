"""Runs on rigid ground from event to event, exact to the integrator's tolerance: driven, and put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tailwork.errors import ArgumentError, ControllerError
from tailwork.mechanics.rigid.problem import Plane, check_contacts, stopped_joints
from tailwork.simulation.contact.ground import CONTACT_NAMES, RigidGround
from tailwork.simulation.contact.on_ground import above_field, check_free_feet, touching_at_start, under_ground
from tailwork.simulation.contact.record import first_fall, robot_weight
from tailwork.simulation.contact.rigid import DEEPEST, LEFT, RAISED, OnRigidGround, beyond_range
from tailwork.simulation.event_driven.equations import planes_under, watched_names
from tailwork.simulation.event_driven.impacts import TOUCH
from tailwork.simulation.event_driven.job import (
    Sizes,
    drive_job,
    event_job,
    logged,
    renew_job,
    set_contact,
    start_job,
)
from tailwork.simulation.event_driven.spells import Spells
from tailwork.simulation.event_driven.state import HEAD, SAMPLED, STATUS, STEPS, STOPPED, RunJob, T
from tailwork.simulation.forces import breaks_of
from tailwork.simulation.integrate.balance import trusted_balance, unbalanced
from tailwork.simulation.integrate.tableaus import EVENT_DRIVEN
from tailwork.simulation.options import Options
from tailwork.simulation.record import Arrays, force_arrays, force_names, named_arrays
from tailwork.simulation.run import Contact, Run
from tailwork.simulation.stopping import FINISHED, STUCK_BETWEEN_EVENTS, Stopped, why_stopped
from tailwork.simulation.system import System
from tailwork.typing import Floats

WHY = "rigid ground, from event to event"
GAUSS_NODES, GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(5)
STATES = np.array([0, 1, 2, 2], dtype=np.int32)
"""By mode: number in CONTACT_NAMES; creeping is slow slipping."""

Feedback = Callable[[float, Floats, Floats], Floats]
"""(t, q, v) → efforts, checked."""
End = tuple[float, float, bool]
"""Of a piece of a run: where it ends [s], where the next one starts, whether a controller is asked there."""


def check_event_driven(system: System, ground: RigidGround, options: Options) -> None:
    """Refuses what this method cannot do."""
    layout = system.model.layout
    check_contacts(layout)
    check_free_feet(system)
    if options.step is not None:
        raise ArgumentError("step", options.step, f"none with '{EVENT_DRIVEN}', which chooses its steps (rtol, atol)")
    if ground.surface is not None and not is_plane(ground):
        for name, (_, point) in layout.contact_points.items():
            if point.radius != 0.0:
                required = "points on ground that is curved: balls roll on planes only; 'time-stepping' takes them"
                raise ArgumentError("ground", name, required)


def is_plane(ground: RigidGround) -> bool:
    """Whether the ground is level or a tilted plane."""
    return ground.surface is None or ground.surface.slopes() is not None


def started_job(
    system: System, ground: RigidGround, x: Floats, contact: Contact | None, start: float, times: Floats,
    options: Options, efforts: Floats, keep: bool = False,
) -> RunJob:  # fmt: skip
    """A run that is ready to go, its contacts decided; no point may be under the ground, but by what the run before has
    left, whose contact is given."""
    job = event_job(system, ground, x, start, times, options.rtol, options.atol, options.max_steps, keep)
    first = 1 + system.size
    job.contacts.inputs[first : first + system.efforts, 0] = efforts
    deepest = DEEPEST if contact is None else LEFT
    set_contact(job, touching_at_start(list(system.model.layout.contact_points), contact))
    start_job(job, deepest)
    names, gaps = list(system.model.layout.contact_points), job.contacts.gaps[: job.contacts.points]
    for name, gap in zip(names, gaps, strict=True):
        above_field(name, gap)
    passing = job.touching.passing[: job.contacts.points]
    under_ground(dict(zip(names, np.where(passing, 0.0, -gaps).tolist(), strict=True)), deepest, RAISED)
    return job


def simulate_events(
    system: System, ground: Any, x: Floats, contact: Contact | None, start: float, last: float, pieces: Iterable[End],
    controller: Feedback | None, options: Options,
) -> Run:  # fmt: skip
    """Simulate from the state x; see tailwork.simulate."""
    if not isinstance(ground, RigidGround):
        raise ArgumentError("method", EVENT_DRIVEN, "a RigidGround, or another method")
    check_event_driven(system, ground, options)
    held = np.zeros(system.control_inputs)

    def ask(t: float, state: Floats) -> Floats:
        assert controller is not None
        q, v, _, _ = system.full(np.array([t]), state[None], held[None])
        held[: system.efforts] = controller(t, q[0], v[0])
        return held[: system.efforts]

    efforts = held[: system.efforts] if controller is None else ask(start, x)
    times = np.linspace(start, last, options.samples)
    job = started_job(system, ground, x, contact, start, times, options, efforts)
    spells = Spells()
    for end, following, asks in pieces:
        drive_job(job, end)
        while spells.step_through(system, ground, job, end, held):
            drive_job(job, end)
        if spells.stopped is not None or job.counts[STATUS] != FINISHED or end == last:
            break
        job.clock[T] = following
        if asks:
            first = 1 + system.size
            try:
                job.contacts.inputs[first : first + system.efforts, 0] = ask(following, job.x)
            except ControllerError as error:
                stopped = Stopped(following, "the controller gave no efforts")
                error.run = finished_run(system, ground, job, stopped, options, spells)
                raise
        renew_job(job)
    return finished_run(system, ground, job, spells.stopped or stopped_at(system, job), options, spells)


def stopped_at(system: System, job: RunJob) -> Stopped | None:
    """Why and when a run ended before its time."""
    status, event = int(job.counts[STATUS]), int(job.counts[STOPPED])
    said = why_stopped(status, event, watched_names(system), STUCK_BETWEEN_EVENTS)
    return Stopped(float(job.clock[T]), said) if said else None


class EventRows(NamedTuple):
    """Samples, column by column."""

    times: Floats
    x: Floats
    held: Floats
    impulses: Floats  # (times, points, 3), inertial frame [N s]
    contact_work: Floats  # (times, contacts): joints after points [J]
    joint_work: Floats
    outside_work: Floats
    forces: Floats  # (times, points, 3), inertial frame [N]
    states: np.ndarray
    rates: Floats


def sampled_rows(system: System, ground: RigidGround, rows: Floats) -> EventRows:
    """Samples as the driver has written them, taken apart."""
    size = Sizes(system, ground.surface is None)
    n, held, points = system.size, system.control_inputs, size.points
    parts = [1, n, held, size.share - size.planes, size.rows, size.contacts, 1, 1, size.rows, size.contacts]
    t, x, held_rows, _, impulses, work, joint, outside, forces, modes, rates = np.split(rows, np.cumsum(parts), axis=1)
    by_point = [part[:, : 3 * points].reshape(len(rows), points, 3) for part in (impulses, forces)]
    return EventRows(
        t[:, 0], x, held_rows, by_point[0], work, joint[:, 0], outside[:, 0], by_point[1],
        STATES[modes[:, :points].astype(int)], rates,
    )  # fmt: skip


def finished_run(
    system: System, ground: RigidGround, job: RunJob, stopped: Stopped | None, options: Options, spells: Spells
) -> Run:
    """The run that a job has made."""
    if job.counts[SAMPLED] < job.log.samples:  # it ended before: the last sample is where it ended
        k, t = int(job.counts[SAMPLED]), float(job.clock[T])
        if k == 0 or job.log.sample_times[k - 1] < t:
            job.log.sample_times[k] = t
            job.log.samples = k + 1
            job.counts[STATUS], status = FINISHED, int(job.counts[STATUS])
            renew_job(job)
            job.counts[STATUS] = status
    events, happened, samples, _ = logged(job)
    layout, names = system.model.layout, list(system.model.layout.contact_points)
    stops, points = list(stopped_joints(layout)), len(names)
    impacts = impacts_of(system, ground, events, spells)
    data = arrays_of_rows(system, ground, sampled_rows(system, ground, samples), impacts)
    watched = watched_names(system)
    said = [(float(t), watched[int(k)]) for t, k in happened]
    said += [(float(data["time"][0]), what) for what in beyond_range(system, data["q"][0])]
    said += first_fall(system, ground, data, OnRigidGround.least_depth)
    said += spells.happened
    seen = list(spells.changes)  # what points do from then on, whether or not they did so before
    closed = [False] * len(stops)
    for row in events:
        modes = row[HEAD : HEAD + points + len(stops)].astype(int)
        seen += zip([float(row[0])] * points, names, [CONTACT_NAMES[k] for k in STATES[modes[:points]]], strict=True)
        for k, mode in enumerate(modes[points:]):
            struck = int(row[1]) == points + k and int(row[2]) == TOUCH
            if struck or (mode and not closed[k]):
                said.append((float(row[0]), f"{stops[k]} comes to its stop"))
            closed[k] = bool(mode)
    changes: list[tuple[float, str, str]] = []
    now = dict(zip(names, [CONTACT_NAMES[k] for k in data["contact"][0]], strict=True))
    for t, name, state in sorted(seen, key=lambda own: own[0]):
        if now[name] != state:
            changes.append((t, name, state))
            now[name] = state
    why = f"{WHY}: {int(job.counts[STEPS])} steps, {len(events)} events"
    return Run(
        system.model, data, stopped, tuple(sorted(said)), EVENT_DRIVEN, why, ground=ground, changes=tuple(changes),
        trusted=trusted_balance(options.rtol, None),
    )  # fmt: skip


def impacts_of(
    system: System, ground: RigidGround, events: Floats, spells: Spells
) -> dict[str, tuple[tuple[str, ...], Floats, str]]:
    """Impacts among the events and in spells: when, impulses in the inertial frame, energy lost; nothing where there
    are none."""
    size, own = Sizes(system, ground.surface is None), events[events[:, 3] > 0.0]
    if not (len(own) or spells.impacts) or not size.points:
        return {}
    first = HEAD + size.contacts
    local = own[:, first : first + 3 * size.points].reshape(len(own), size.points, 3)
    axes = np.broadcast_to(np.eye(3), (len(own), size.points, 3, 3))
    if not size.level:
        after = own[:, first + size.rows + system.size :]
        planes = [planes_under(system, ground, t, x) for t, x in zip(own[:, 0], after, strict=True)]
        axes = np.array([[Plane(0.0, tuple(normal)).axes().astype(float) for normal in plane[:, 1:4]]
                         for plane in planes])  # fmt: skip
    found = [*zip(own[:, 0], own[:, 4], np.einsum("epij,epi->epj", axes, local), strict=True), *spells.impacts]
    times, losses, impulses = map(np.array, zip(*sorted(found, key=lambda impact: impact[0]), strict=True))
    return {
        "impact_time": (("impact",), times, "s"),
        "impact_loss": (("impact",), losses, "J"),
        "impact_impulse": (("impact", "foot", "axis"), impulses, "N s"),
    }


def arrays_of_rows(
    system: System, ground: RigidGround, rows: EventRows, impacts: dict[str, tuple[tuple[str, ...], Floats, str]]
) -> Arrays:
    """All that a run holds, and how well its energy and momentum close."""
    model, layout = system.model, system.model.layout
    points = len(layout.contact_points)
    q, v, tau, given = system.full(rows.times, rows.x, rows.held)
    acceleration = np.zeros_like(v)
    acceleration[:, system.free_v] = rows.rates[:, len(system.free_q) :]
    prescribed = layout.prescribed_rates
    acceleration[:, prescribed] = given
    path = system.path(rows.times, q, v, tau, given)
    needed = model.generalised_force(q, v, acceleration)[:, prescribed]
    powers = path.powers.copy()
    powers[:, len(model.actuator_names) :] = needed * v[:, prescribed]
    energy = model.energy(q, v)
    more = {
        "acceleration": (("time", "velocity"), acceleration, "m/s^2, rad/s^2"),
        "prescribed_effort": (("time", "prescribed"), needed, "N m"),
        "power": (("time", "source"), powers, "W"),
        "dissipation": (("time",), path.dissipation, "W"),
        "foot_force": (("time", "foot", "axis"), rows.forces, "N"),
        "foot_impulse": (("time", "foot", "axis"), rows.impulses, "N s"),
        "foot_work": (("time", "foot"), rows.contact_work[:, :points], "J"),
        "joint_work": (("time",), rows.joint_work, "J"),
        "contact": (("time", "foot"), rows.states, "1"),
        "anchor": (("time", "foot", "axis"), np.full_like(rows.forces, np.nan), "m"),
        **impacts,
        **force_arrays(system, rows.times, q),
    }
    flags = {"contact": ", ".join(f"{k} {name}" for k, name in enumerate(CONTACT_NAMES))}
    data = named_arrays(model, rows.times, q, v, tau, list(layout.contact_points), more, flags, force_names(system))
    work = rows.joint_work + rows.outside_work + rows.contact_work.sum(axis=1)
    kinds = np.stack([energy.kinetic, energy.gravitational], axis=-1)
    weight, impulse = robot_weight(model), rows.impulses.sum(axis=1) + outside_impulse(system, rows.times)
    impulse[:, 2] -= weight * (rows.times - rows.times[0])
    momentum = data["linear_momentum"]
    scale = weight * float(rows.times[-1] - rows.times[0]) or float(np.abs(momentum).max()) or 1.0
    balances = {
        "energy_balance_error": float(unbalanced(kinds, work)),
        "momentum_balance_error": float(np.abs(momentum - momentum[0] - impulse).max() / scale)
        if layout.torso_free and not model.robot.has_drag()
        else np.nan,
    }
    return replace(data, attributes={**data.attributes, **balances})


def outside_impulse(system: System, times: Floats) -> Floats:
    """Impulse of outside forces since the first time, (times, 3) [N s]."""
    if not system.forces:
        return np.zeros((len(times), 3))
    ends = np.unique([*times, *breaks_of(system.forces, times[0], times[-1])[0, :, 1]])
    nodes = ends[:-1, None] + np.diff(ends)[:, None] * (GAUSS_NODES + 1.0) / 2.0
    values = system.force_values(nodes.ravel()).sum(axis=1).reshape(*nodes.shape, 3)
    sums = np.cumsum(np.einsum("ngk,g->nk", values, GAUSS_WEIGHTS / 2.0) * np.diff(ends)[:, None], axis=0)
    return np.concatenate([np.zeros((1, 3)), sums])[np.searchsorted(ends, times)]
