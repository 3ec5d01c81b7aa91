"""Where contacts change too often, or jam, runs from event to event go on by time stepping for a while."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tailwork.simulation.contact.on_ground import simulate_on_ground
from tailwork.simulation.contact.rigid import OnRigidGround
from tailwork.simulation.event_driven.constrained import FREE, SLIP
from tailwork.simulation.event_driven.equations import watched_events, watched_names
from tailwork.simulation.event_driven.job import FIRST, set_contact, start_job
from tailwork.simulation.event_driven.state import SAMPLED, STATUS, H, RunJob, T
from tailwork.simulation.events import Lands, PassesThrough
from tailwork.simulation.run import Contact, Run
from tailwork.simulation.stopping import CHATTER, FINISHED, STUCK, Stopped
from tailwork.simulation.system import System
from tailwork.typing import Floats

SHORTEST, LONGEST, STEP = 5e-3, 0.1, 2.5e-4
"""So long a spell lasts [s], twice as long if contacts do so again at once, at most so long; and the longest step in
it."""
JAMMED = 0.02
"""Of the share by which a force lifts a point, what its friction may leave before the point jams [1]."""


@dataclass
class Spells:
    """The spells of a run, and what happened in them."""

    happened: list[tuple[float, str]] = field(default_factory=list)
    changes: list[tuple[float, str, str]] = field(default_factory=list)  # time [s], point, what it starts to do
    impacts: list[tuple[float, float, Floats]] = field(default_factory=list)  # time [s], loss [J], impulses [N s]
    stopped: Stopped | None = None
    length: float = SHORTEST
    resumed: float = -math.inf  # when the last one ended [s]

    def step_through(self, system: System, ground: Any, job: RunJob, end: float, held: Floats) -> bool:
        """Where a run cannot go on from event to event, step through for a while; whether the run then goes on so.
        `held` are control inputs."""
        why = needs_spell(job, end)
        if not why or any(isinstance(event, PassesThrough) for event in watched_events(system)):
            return False  # what passes through the ground, time stepping does not know
        begin = float(job.clock[T])
        again = begin - self.resumed < SHORTEST
        self.length = min(2.0 * self.length, LONGEST) if again else SHORTEST
        self.happened.append((begin, f"{why}: a spell by time stepping"))
        until = min(begin + self.length, end)
        while job.clock[T] < until and self.stopped is None:
            t, waiting = float(job.clock[T]), job.log.sample_times[job.counts[SAMPLED] : job.log.samples]
            self._advance(system, ground, job, float(min([until, *waiting[waiting > t][:1]])), held)
        self.resumed = float(job.clock[T])
        job.clock[H] = FIRST
        return self.stopped is None

    def _advance(self, system: System, ground: Any, job: RunJob, stop: float, held: Floats) -> None:
        t, points, efforts = float(job.clock[T]), job.contacts.points, held[: system.efforts].copy()

        states = ["air" if mode == FREE else "stick" for mode in job.contacts.modes[:points]]
        touching = Contact(tuple(states), np.full((points, 3), np.nan))

        def stepped(until: float) -> Run:
            return simulate_on_ground(
                OnRigidGround(system, ground, t), job.x.copy(), touching, until - t, min(STEP, (until - t) / 20.0), 2,
                1000, lambda *_: efforts, 1.0 / (until - t),
            )  # fmt: skip

        run = stepped(stop)
        landing = self._landing(system, job, run)
        if landing is not None and landing.time < stop:
            stop = landing.time
            run = stepped(stop)
        data, names = run.data, watched_names(system)
        below = {name for name, own in zip(names, job.below, strict=False) if own}
        self.happened += [(at, what) for at, what in run.events if what not in below]
        for name in {what for _, what in run.events}.intersection(names):
            job.below[names.index(name)] = 1
        self.changes += run.changes
        if "impact_time" in data:
            columns = (data[f"impact_{name}"].to_numpy() for name in ("time", "loss", "impulse"))
            self.impacts += zip(*columns, strict=True)
        total = job.quadrature.total
        for name, first, size in (("foot_impulse", 0, 3 * points), ("foot_work", job.contacts.rows, points)):
            total[first : first + size] += np.ravel(data[name][-1].to_numpy())
        total[job.contacts.rows + job.contacts.count] += float(data["joint_work"][-1])
        job.x[:], job.clock[T], job.counts[STATUS] = system.state(*run.final_state), t + run.duration, FINISHED
        self.stopped = run.stopped or landing
        set_contact(job, run.final_contact)
        start_job(job)

    def _landing(self, system: System, job: RunJob, run: Run) -> Stopped | None:
        """The first landing in a run that is to stop it; what lands and does not is written down."""
        landings = {event.point: event for event in watched_events(system) if isinstance(event, Lands)}
        points = list(system.model.layout.contact_points)
        aloft = {name for name, mode in zip(points, job.contacts.modes, strict=False) if mode == FREE}
        for at, name, state in run.changes:
            if state == "air":
                aloft.add(name)
            elif name in aloft:
                aloft.remove(name)
                if name in landings and landings[name].action == "stop":
                    return Stopped(at, f"{name} lands")
                if name in landings:
                    self.happened.append((at, f"{name} lands"))
        return None


def needs_spell(job: RunJob, end: float) -> str:
    """Why a run cannot go on from event to event before a piece of it ends [s]; empty: it can, or cannot at all."""
    if job.clock[T] >= end:
        return ""
    if job.counts[STATUS] == CHATTER:
        return "contacts change too often"
    return "friction jams a point that slips" if job.counts[STATUS] == STUCK and jams(job) else ""


def jams(job: RunJob) -> bool:
    """Whether the friction of a point that slips presses it to the ground as much as the ground's force lifts it: the
    force grows without bound (Painlevé's paradox)."""
    c = job.contacts
    delassus = c.delassus.reshape(c.rows, c.rows)
    for i in range(c.points):
        n, along = 3 * i + 2, c.along[2 * i : 2 * i + 2]
        lifted = delassus[n, n] - c.friction[i] * float(along @ delassus[n, 3 * i : 3 * i + 2])
        if c.modes[i] >= SLIP and lifted < JAMMED * delassus[n, n]:
            return True
    return False
