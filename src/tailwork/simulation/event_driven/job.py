"""A run from event to event: the driver's job, and what it has written down."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tailwork.kernels.language import lanes
from tailwork.kernels.translate import driver
from tailwork.mechanics.attitude import attitude_size
from tailwork.mechanics.rigid.problem import stopped_joints
from tailwork.model.contact.newton import cones_of
from tailwork.simulation.batch.kernels import run_driver
from tailwork.simulation.contact.on_ground import tables_of
from tailwork.simulation.contact.rigid import DEEPEST
from tailwork.simulation.event_driven.constrained import FREE, STICK, ContactState
from tailwork.simulation.event_driven.equations import contact_kernel, contact_row_count, plane_inputs, watched_events
from tailwork.simulation.event_driven.impacts import TOUCHING, Touching
from tailwork.simulation.event_driven.state import (
    EVENTS,
    GUARDS,
    HAPPENED,
    HEAD,
    SAMPLED,
    STEPS,
    Log,
    Quadrature,
    RunJob,
)
from tailwork.simulation.event_driven.stepping import advance_events, begin_events, is_full, refresh
from tailwork.simulation.events import Lands, PassesThrough
from tailwork.simulation.integrate.compiled import lane_kernel, method_arrays
from tailwork.simulation.integrate.driver import MORE_ROOM
from tailwork.simulation.integrate.tableaus import DORMAND_PRINCE
from tailwork.simulation.run import Contact
from tailwork.simulation.stopping import MOST_EVENTS, WINDOW
from tailwork.simulation.system import System
from tailwork.typing import Floats

LONGEST = 0.02
"""Of a step [s]: events within longer ones may be overlooked."""
LONGEST_VARIED = 5e-3
"""Of a step along which changes are integrated, too [s]."""
FIRST = 1e-4
"""First step [s]."""
PAUSE = 200
"""Steps between two checks for Ctrl-C."""
ROOM = 256
"""Events and steps that there is room for at first."""


def creep_speed(atol: float) -> float:
    """Speed below which the direction of friction is not taken from the velocity [m/s]."""
    return min(1e-4, max(1e-6, 0.3 * atol**0.5))


@dataclass(frozen=True)
class Sizes:
    """How many numbers there are of what."""

    system: System
    level: bool

    @cached_property
    def points(self) -> int:
        """Contact points."""
        return len(self.system.model.layout.contact_points)

    @cached_property
    def contacts(self) -> int:
        """Points, and joints with a range."""
        return self.points + len(stopped_joints(self.system.model.layout))

    @cached_property
    def rows(self) -> int:
        """Of all contacts."""
        return contact_row_count(self.system.model.layout)

    @property
    def planes(self) -> int:
        """The first input that is a plane's."""
        return 1 + self.system.size + self.system.control_inputs

    @cached_property
    def share(self) -> int:
        """The input before the forces."""
        return self.planes + plane_inputs(self.system.model.layout, self.level)

    @property
    def quadrature(self) -> int:
        """Impulses, work on contacts, of joints and of outside forces."""
        return self.rows + self.contacts + 2

    @property
    def event(self) -> int:
        """Of a row of an event."""
        return HEAD + self.contacts + self.rows + 2 * self.system.size

    @property
    def sample(self) -> int:
        """Of a row of a sample."""
        return self.share + self.quadrature + self.rows + self.contacts + self.system.size

    def step(self, stages: int) -> int:
        """Of a row of a step."""
        n = self.system.size
        return 2 + n + stages * n + self.contacts + 2 * self.points + stages * self.rows


def watched_contacts(system: System, kind: type[PassesThrough | Lands]) -> np.ndarray:
    """By contact: the number of the watched quantity that is an event of this kind of it; −1: none."""
    layout = system.model.layout
    names = [*layout.contact_points, *stopped_joints(layout)]
    found, k = np.full(len(names), -1, np.int64), 0
    for event in watched_events(system):
        if isinstance(event, kind):
            found[names.index(event.point)] = k
        k += len(event.names(layout))
    return found


def event_job(
    system: System, ground: Any, x: Floats, start: float, sample_times: Floats, rtol: float, atol: float, most: int,
    keep: bool,
) -> RunJob:  # fmt: skip
    """The job of a run from a state; `keep`: steps are kept, for derivatives."""
    layout, whole = system.model.layout, np.int64
    level = ground.surface is None
    sizes, n = Sizes(system, level), system.size
    count, rows, points = sizes.contacts, sizes.rows, sizes.points
    stops = [event.action == "stop" for event in watched_events(system) for _ in event.names(layout)]
    watched = len(stops)
    method = system.once(("method", DORMAND_PRINCE.name), lambda: method_arrays(DORMAND_PRINCE), "")
    kernels: dict[str, Any] = {}
    named = {"see": "contact data", "move": "contact motion", "locate": "contact places", "watch": "contact events"}
    for name, kind in named.items():
        wanted = not (name == "locate" and level) and not (name == "watch" and not watched)
        kernel, constants = contact_kernel(system, kind, level) if wanted else (None, None)
        kernels[name] = lane_kernel(kernel, 1)
        kernels[f"{name}_constants"] = np.zeros(1) if constants is None else constants.values
    on = {name: part for name, part in kernels.items() if not name.startswith("watch")}
    factors = [(float(point.friction), float(point.restitution), float(point.radius))
               for _, point in layout.contact_points.values()] + [(0.0, 0.0, 0.0)] * (count - points)  # fmt: skip
    friction, restitution, radii = np.array(factors).reshape(-1, 3).T
    inputs = lanes(1, inputs=sizes.share + 1 + rows)["inputs"]
    outputs = 3 * points + count + 2 * rows + rows * (rows + 1) // 2
    contacts = ContactState(
        points=points, count=count, rows=rows, n=n, places_size=len(system.free_q), targets=1 + n + system.efforts,
        planes=sizes.planes, share=sizes.share,
        quaternion=layout.torso_free and attitude_size(layout.attitude) == 4,
        tables=tables_of([[servo.table for servo in system.servos]]), field=ground.field(),
        bends=np.zeros(7), **on,
        friction=friction * float(ground.friction), restitution=restitution * float(ground.restitution),
        radii=radii.copy(), inputs=inputs, seen=np.zeros(outputs), moved=np.zeros(n + 2), modes=np.zeros(count, whole),
        directions=np.zeros(2 * points), along=np.zeros(2 * points), anchors=np.zeros(3 * points),
        unknowns=np.zeros(rows, whole), matrix=np.zeros(rows * rows), delassus=np.zeros(rows * rows),
        gaps=np.zeros(count), shares=np.zeros(max(rows, count)),
        **{name: np.zeros(rows) for name in ("velocities", "biases", "forces", "accelerations", "right")},
    )  # fmt: skip
    cones = cones_of(points, count - points)
    cones.delassus, cones.friction, cones.directions = contacts.delassus, contacts.friction, contacts.directions
    touching = Touching(
        contacts=contacts, cones=cones, creep=creep_speed(atol), slide=np.zeros(2), result=np.zeros(4),
        near=np.array([TOUCHING, math.inf]),
        **{name: np.zeros(count, whole) for name in ("kinds", "closed", "passing")},
        **{name: np.zeros(rows) for name in ("wanted", "before", "after", "impulses")},
    )  # fmt: skip
    log = Log(
        events=ROOM, event_size=sizes.event, rows=np.zeros(ROOM * sizes.event), happenings=ROOM + 3 * watched,
        happened=np.zeros(2 * (ROOM + 3 * watched)), sample_times=sample_times, samples=len(sample_times),
        sample_size=sizes.sample, sampled=np.full(len(sample_times) * sizes.sample, np.nan),
        steps=ROOM if keep else 0, step_size=sizes.step(method.stages),
        kept=np.zeros((ROOM if keep else 1) * sizes.step(method.stages)),
    )  # fmt: skip
    quadrature = Quadrature(
        size=sizes.quadrature, total=np.zeros(sizes.quadrature), rates=np.zeros(method.stages * sizes.quadrature),
        first=np.zeros(sizes.quadrature),
    )  # fmt: skip
    return RunJob(
        touching=touching, contacts=contacts, method=method, rtol=rtol, atol=atol, longest=LONGEST,
        most_events=MOST_EVENTS, window=WINDOW, pause=PAUSE, watched=watched, watch=kernels["watch"],
        watch_constants=kernels["watch_constants"], stops=np.array(stops or [False], whole),
        through=watched_contacts(system, PassesThrough), lands=watched_contacts(system, Lands),
        was_free=np.zeros(count, whole), pushed=np.zeros(method.stages * rows), pushed_first=np.zeros(rows),
        impulse=np.zeros(rows + count), clock=np.array([start, FIRST, start, 0.0]),
        counts=np.array([0, 0, 0, 0, 0, most, 0, -1], whole),
        x=np.array(x, dtype=np.float64), u=np.zeros(method.stages * n), quadrature=quadrature, log=log,
        **{name: np.zeros(n) for name in ("first", "new", "error", "point")},
        least=np.zeros(count), below=np.zeros(max(watched, 1), whole),
        **{name: np.zeros(GUARDS * count + watched) for name in ("values", "values_new", "probe")},
        **{name: np.zeros(count) for name in ("falling", "falling_new", "scratch")},
    )  # fmt: skip


def set_contact(job: RunJob, contact: Contact) -> None:
    """Points that touch, as they did in the run before; joints are free until they come to their stops."""
    points = job.contacts.points
    job.contacts.modes[:points] = [FREE if state == "air" else STICK for state in contact.states]
    job.contacts.modes[points:] = FREE


def start_job(job: RunJob, deepest: float = math.inf) -> None:
    """Modes at the start; points deeper in the ground than this stay where they are [m]."""
    make_room(job)
    job.touching.near[:] = DEEPEST, deepest
    driver(begin_events, 1)(job)
    job.touching.near[:] = TOUCHING, math.inf


def renew_job(job: RunJob) -> None:
    """Go on with other control inputs, or where a force has jumped."""
    make_room(job)
    driver(refresh, 1)(job)


def drive_job(job: RunJob, end: float) -> None:
    """On to a time [s], or to where the run ends before."""
    job.clock[2] = end
    while run_driver(driver(advance_events, 1), job) == MORE_ROOM:
        make_room(job)


def make_room(job: RunJob) -> None:
    """Room for what another round, or a start, writes down."""
    while is_full(job):
        for name, count in {"rows": "events", "happened": "happenings", "kept": "steps"}.items():
            old = getattr(job.log, name)
            setattr(job.log, name, np.concatenate([old, np.zeros_like(old)]))
            setattr(job.log, count, 2 * getattr(job.log, count))


def logged(job: RunJob) -> tuple[Floats, Floats, Floats, Floats]:
    """Rows of events, of what was watched, of samples and of steps so far."""
    log, counts = job.log, job.counts
    return (
        log.rows.reshape(-1, log.event_size)[: counts[EVENTS]],
        log.happened.reshape(-1, 2)[: counts[HAPPENED]],
        log.sampled.reshape(-1, log.sample_size)[: counts[SAMPLED]],
        log.kept.reshape(-1, log.step_size)[: counts[STEPS] if log.steps else 0],
    )
