"""Runs on rigid ground from event to event, exact to the integrator's tolerance: driven, and put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tailwork.errors import ArgumentError, ControllerError, RobotError
from tailwork.mechanics.rigid.problem import Plane, check_contacts, stopped_joints
from tailwork.simulation.contact.ground import CONTACT_NAMES, RigidGround
from tailwork.simulation.contact.on_ground import simulate_on_ground
from tailwork.simulation.contact.record import robot_weight
from tailwork.simulation.contact.rigid import OnRigidGround
from tailwork.simulation.event_driven.constrained import FREE, STICK
from tailwork.simulation.event_driven.equations import planes_under, watched_names
from tailwork.simulation.event_driven.impacts import TOUCH
from tailwork.simulation.event_driven.job import (
    DEEPEST,
    FIRST,
    MOST_EVENTS,
    WINDOW,
    Sizes,
    drive_job,
    event_job,
    renew_job,
    start_job,
    written,
)
from tailwork.simulation.event_driven.state import CHATTER, HEAD, SAMPLED, STATUS, STEPS, STOPPED, H, Job, T
from tailwork.simulation.events import FootPulls, FootSlips
from tailwork.simulation.integrate.driver import AT_EVENT, FINISHED, TOO_LONG
from tailwork.simulation.integrate.tableaus import EVENT_DRIVEN
from tailwork.simulation.options import Options
from tailwork.simulation.record import Arrays, force_arrays, force_names, named_arrays
from tailwork.simulation.run import Run, Stopped, trusted_balance, unbalanced
from tailwork.simulation.system import System
from tailwork.typing import Floats

WHY = "rigid ground, from event to event"
SPELL = 5e-3
"""So long contacts that change too often are stepped through [s]."""
GAUSS_NODES, GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(5)
STATES = np.array([0, 1, 2, 2], dtype=np.int32)
"""By mode: number in CONTACT_NAMES; creeping is slow slipping."""

Controller = Callable[[float, Floats, Floats], Floats]
"""(t, q, v) → efforts, checked."""
End = tuple[float, float, bool]
"""Of a piece of a run: where it ends [s], where the next one starts, whether a controller is asked there."""


def check_event_driven(system: System, ground: RigidGround, options: Options) -> None:
    """Refuses what this method cannot do."""
    layout = system.model.layout
    check_contacts(layout)
    points = layout.contact_points
    for event in system.watched:
        if isinstance(event, (FootPulls, FootSlips)):
            required = "events of other things than pinned feet: what feet do is in the run's `changes`"
            raise ArgumentError("events", event, required)
    if not points:
        raise RobotError("ground", system.model.robot.name, "a robot with feet or contact points (ContactPoint)")
    if options.step is not None:
        raise ArgumentError("step", options.step, f"none with '{EVENT_DRIVEN}', which chooses its steps (rtol, atol)")
    if ground.surface is not None and not is_plane(ground):
        for name, (_, point) in points.items():
            if point.radius != 0.0:
                required = "points on ground that is curved: balls roll on planes only; 'time-stepping' takes them"
                raise RobotError("ground", name, required)


def is_plane(ground: RigidGround) -> bool:
    """Whether the ground is level or a tilted plane."""
    if ground.surface is None:
        return True
    heights = ground.surface.heights
    bent = [np.abs(np.diff(heights, 2, axis=axis)).max(initial=0.0) for axis in (0, 1)]
    twist = np.abs(np.diff(np.diff(heights, axis=0), axis=1)).max(initial=0.0)
    return max(*bent, twist) <= 1e-12 * max(1.0, float(np.abs(heights).max()))


def started_job(
    system: System, ground: RigidGround, x: Floats, start: float, times: Floats, options: Options, efforts: Floats,
    keep: bool = False,
) -> Job:  # fmt: skip
    """A run that is ready to go, its contacts decided; no point may be under the ground."""
    job = event_job(system, ground, x, start, times, options.rtol, options.atol, options.max_steps, keep)
    first = 1 + system.size
    job.contacts.inputs[first : first + system.efforts, 0] = efforts
    start_job(job)
    gaps, passing = job.contacts.gaps[: job.contacts.points], job.touching.passing[: job.contacts.points]
    low = np.where(passing, 0.0, gaps)
    if not np.isfinite(gaps).all():
        name = list(system.model.layout.contact_points)[int(np.flatnonzero(~np.isfinite(gaps))[0])]
        raise RobotError("state", name, "a point above the height field; it starts outside of it")
    if low.min(initial=0.0) < -DEEPEST:
        name = list(system.model.layout.contact_points)[int(low.argmin())]
        required = "points at or above the ground: start from posed(model) or walking_start(…), or higher up"
        raise RobotError("state", f"{name} {-low.min():.4g} m under the ground", required)
    return job


def simulate_events(
    system: System, ground: Any, x: Floats, start: float, last: float, pieces: Iterable[End],
    controller: Controller | None, options: Options,
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
    job = started_job(system, ground, x, start, np.linspace(start, last, options.samples), options, efforts)
    chatter: list[float] = []
    for end, following, asks in pieces:
        drive_job(job, end)
        while job.counts[STATUS] == CHATTER and job.clock[T] < end:
            chatter.append(float(job.clock[T]))
            spell(system, ground, job, end, held)
            drive_job(job, end)
        if job.counts[STATUS] != FINISHED or end == last:
            break
        job.clock[T] = following
        if asks:
            first = 1 + system.size
            try:
                job.contacts.inputs[first : first + system.efforts, 0] = ask(following, job.x)
            except ControllerError as error:
                stopped = Stopped(following, "the controller gave no efforts")
                error.run = finished_run(system, ground, job, stopped, options, chatter)
                raise
        renew_job(job)
    return finished_run(system, ground, job, why_stopped(system, job), options, chatter)


def spell(system: System, ground: RigidGround, job: Job, end: float, held: Floats) -> None:
    """Contacts that change too often: go on by time stepping for a while, then from event to event again."""
    until = min(float(job.clock[T]) + SPELL, end)
    efforts = held[: system.efforts].copy()
    while job.clock[T] < until:
        t, waiting = float(job.clock[T]), job.log.sample_times[job.counts[SAMPLED] : job.log.samples]
        stop = float(min([until, *waiting[waiting > t][:1]]))
        run = simulate_on_ground(
            OnRigidGround(system, ground, t), job.x.copy(), None, stop - t, (stop - t) / 20.0, 2, 1000,
            lambda *_: efforts, 1.0 / (stop - t),
        )  # fmt: skip
        q, v = run.final_state
        states, total, points = run.final_contact.states, job.quadrature.total, job.contacts.points
        for name, first, size in (("foot_impulse", 0, 3 * points), ("foot_work", job.contacts.rows, points)):
            total[first : first + size] += np.ravel(run.data[name][-1].to_numpy())
        total[job.contacts.rows + job.contacts.count] += float(run.data["joint_work"][-1])
        job.x[:], job.clock[T], job.counts[STATUS] = system.state(q, v), stop, FINISHED
        job.contacts.modes[:points] = [STICK if state != "air" else FREE for state in states]
        job.contacts.modes[points:] = FREE
        start_job(job)
    job.clock[H] = FIRST


def why_stopped(system: System, job: Job) -> Stopped | None:
    """Why a run ended before its time."""
    status, t = int(job.counts[STATUS]), float(job.clock[T])
    if status == FINISHED:
        return None
    if status == AT_EVENT:
        return Stopped(t, watched_names(system)[int(job.counts[STOPPED])])
    if status == CHATTER:
        return Stopped(t, f"contacts change more than {MOST_EVENTS} times within {WINDOW:g} s")
    if status == TOO_LONG:
        return Stopped(t, "more steps than allowed")
    return Stopped(t, "no step is small enough: a joint that is singular, or a point that leaves the height field")


class Rows(NamedTuple):
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


def sampled_rows(system: System, ground: RigidGround, rows: Floats) -> Rows:
    """Samples as the driver has written them, taken apart."""
    size = Sizes(system, ground.surface is None)
    n, held, points = system.size, system.control_inputs, size.points
    parts = [1, n, held, size.share - size.planes, size.rows, size.contacts, 1, 1, size.rows, size.contacts]
    t, x, held_rows, _, impulses, work, joint, outside, forces, modes, rates = np.split(rows, np.cumsum(parts), axis=1)
    by_point = [part[:, : 3 * points].reshape(len(rows), points, 3) for part in (impulses, forces)]
    return Rows(
        t[:, 0], x, held_rows, by_point[0], work, joint[:, 0], outside[:, 0], by_point[1],
        STATES[modes[:, :points].astype(int)], rates,
    )  # fmt: skip


def finished_run(
    system: System, ground: RigidGround, job: Job, stopped: Stopped | None, options: Options, chatter: list[float]
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
    events, happened, samples, _ = written(job)
    layout, names = system.model.layout, list(system.model.layout.contact_points)
    stops, points = list(stopped_joints(layout)), len(names)
    data = arrays_of_rows(system, ground, sampled_rows(system, ground, samples), impacts_of(system, ground, events))
    watched = watched_names(system)
    said = [(float(t), watched[int(k)]) for t, k in happened]
    said += [(t, "contacts change too often: a spell by time stepping") for t in chatter]
    changes: list[tuple[float, str, str]] = []
    now = list(data["contact"][0])
    closed = [False] * len(stops)
    for row in events:
        modes = row[HEAD : HEAD + points + len(stops)].astype(int)
        for k, state in enumerate(STATES[modes[:points]]):
            if state != now[k]:
                changes.append((float(row[0]), names[k], CONTACT_NAMES[state]))
                now[k] = state
        for k, mode in enumerate(modes[points:]):
            struck = int(row[1]) == points + k and int(row[2]) == TOUCH
            if struck or (mode and not closed[k]):
                said.append((float(row[0]), f"{stops[k]} comes to its stop"))
            closed[k] = bool(mode)
    why = f"{WHY}: {int(job.counts[STEPS])} steps, {len(events)} events"
    return Run(
        system.model, data, stopped, tuple(sorted(said)), EVENT_DRIVEN, why, ground=ground, changes=tuple(changes),
        trusted=trusted_balance(options.rtol, None),
    )  # fmt: skip


def impacts_of(system: System, ground: RigidGround, events: Floats) -> dict[str, tuple[tuple[str, ...], Floats, str]]:
    """Impacts among the events: when, impulses in the inertial frame, energy lost; nothing where there are none."""
    size, own = Sizes(system, ground.surface is None), events[events[:, 3] > 0.0]
    if not len(own) or not size.points:
        return {}
    first = HEAD + size.contacts
    local = own[:, first : first + 3 * size.points].reshape(len(own), size.points, 3)
    axes = np.broadcast_to(np.eye(3), (len(own), size.points, 3, 3))
    if not size.level:
        after = own[:, first + size.rows + system.size :]
        planes = [planes_under(system, ground, t, x) for t, x in zip(own[:, 0], after, strict=True)]
        axes = np.array([[Plane(0.0, tuple(normal)).axes().astype(float) for normal in plane.reshape(-1, 4)[:, 1:]]
                         for plane in planes])  # fmt: skip
    return {
        "impact_time": (("impact",), own[:, 0], "s"),
        "impact_loss": (("impact",), own[:, 4], "J"),
        "impact_impulse": (("impact", "foot", "axis"), np.einsum("epij,epi->epj", axes, local), "N s"),
    }


def arrays_of_rows(
    system: System, ground: RigidGround, rows: Rows, impacts: dict[str, tuple[tuple[str, ...], Floats, str]]
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
    jumps = [t for force in system.forces for t in force.jumps() if times[0] < t < times[-1]]
    ends = np.unique([*times, *jumps])
    nodes = ends[:-1, None] + np.diff(ends)[:, None] * (GAUSS_NODES + 1.0) / 2.0
    values = system.force_values(nodes.ravel()).sum(axis=1).reshape(*nodes.shape, 3)
    sums = np.cumsum(np.einsum("ngk,g->nk", values, GAUSS_WEIGHTS / 2.0) * np.diff(ends)[:, None], axis=0)
    return np.concatenate([np.zeros((1, 3)), sums])[np.searchsorted(ends, times)]
