"""Trees on rigid ground by time stepping with located touchdowns: steps of runs, and what their driver takes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from tailwork.errors import ArgumentError
from tailwork.kernels.graph import finished
from tailwork.kernels.kernel import Kernel
from tailwork.kernels.language import lanes
from tailwork.mechanics.compliant.step import implicit_forces
from tailwork.mechanics.forward import reduced_robot
from tailwork.mechanics.rigid.problem import check_contacts, stopped_joints
from tailwork.model.contact.gauss_seidel import contact_sizes, contacts_of, paired, solver_rows
from tailwork.model.contact.newton import cones_of
from tailwork.robots.robot import first_few
from tailwork.simulation.batch.kernels import evaluated, parameter_rows
from tailwork.simulation.contact.friction import SEEN
from tailwork.simulation.contact.ground import RigidGround
from tailwork.simulation.contact.on_ground import (
    OnGround,
    Pace,
    height_under,
    pace_or_error,
    step_count,
    touching_at_start,
    under_ground,
    within_period,
)
from tailwork.simulation.contact.record import ContactRecord
from tailwork.simulation.contact.rigid_kernels import (
    end_rows,
    known_rows,
    rigid_event_kernel,
    rigid_kernels,
)
from tailwork.simulation.contact.rigid_stepping import STRUCK, TOLERANCE, Places, RigidJob, advance
from tailwork.simulation.contact.stepping import CHANGED, GroundRuns, Parameters, Tables
from tailwork.simulation.events import Event, watched_with_stops
from tailwork.simulation.integrate.compiled import lane_kernel
from tailwork.simulation.integrate.integrator import Start
from tailwork.simulation.integrate.tableaus import TIME_STEPPING
from tailwork.simulation.run import Contact
from tailwork.simulation.system import System
from tailwork.typing import Floats

USUAL, PER_FALL, MOST_USUAL = 1e-3, 1.0 / 150.0, 20.0
"""Step that is taken of itself, if servos and springs allow it: so much [s], but no more than this share of the time
scale sqrt(size/gravity) of a robot whose points are so far from P. A step that is given may be so many times as long:
touchdowns are predicted from the substep before, and a longer one could lead through the ground."""
MOST_DAMPED, MOST_SWUNG = 4.0, 2.0
"""Of a coordinate with the damping B and the stiffness K of its servos and springs on the inertia d: the most that
step · B/d and step · sqrt(K/d) may be. The method stays stable beyond, but what it gives is not the motion any more."""
MOST_STEPS = 10**9
DEEPEST, LEFT = 1e-6, 5e-3
"""How deep a point may start in the ground, and one of a run that goes on from another, which left it there [m]."""
RAISED = (
    "points at or above the ground: start from posed(model) or walking_start(…), which stand on z = 0, higher up where "
    "the ground is or feet are balls (`torso_place`); a run that goes on from another is given its "
    "`contact=run.final_contact`"
)
"""What is required of a point under the ground."""
BEYOND = 0.01
"""How far a joint may start beyond its range before a run says so [rad, m]."""


@dataclass(frozen=True)
class OnRigidGround(OnGround):
    """Runs of a system on rigid ground."""

    ground: RigidGround
    advance = advance
    method = TIME_STEPPING
    trusted = 0.05  # of the first order in the step
    least_depth = 1e-3  # points sink by some hundredths of a millimetre
    forces_at = 0.5

    def check(self) -> None:
        """Points that can move."""
        check_contacts(self.system.model.layout)

    @property
    def watched(self) -> tuple[Event, ...]:
        """Free joints do not leave their ranges here: they come to a stop."""
        return watched_with_stops(self.system.watched, self.system.model.layout)

    @property
    def field(self) -> bool:
        """Whether the ground is more than the plane z = 0."""
        return self.ground.surface is not None

    def kernels(self) -> dict[str, tuple[str, ...]]:
        """Parameters by kernel."""
        return {
            "rounds": rigid_kernels(self.system, self.field).parameters,
            "see": self.system.compiled("feet")[1] if self.field else (),
            "watch": rigid_event_kernel(self.system, self.watched)[1] if len(self.stops) else (),
        }

    def paces(
        self, start: Start, duration: float, step: float | None, samples: int, rate: float | None
    ) -> list[Pace | ArgumentError]:
        """As long as servos and springs allow, and so that samples or a controller fall on their ends."""
        kernel, names, coordinates = stiffness_kernel(self.system)
        runs = len(start.states)
        inputs = np.concatenate([np.full((runs, 1), self.begin), start.states, start.control_inputs], axis=1)[:, None]
        found = evaluated(kernel, parameter_rows(names, self.system.numbers, start.columns, runs), inputs)[:, 0]
        torso = start.states[:, None, :3] if self.system.model.layout.torso_free else 0.0
        sizes = np.linalg.norm(self.places(start)[..., :3] - torso, axis=-1).max(axis=-1)
        gravity = float(self.system.model.robot.gravity)
        usual = [min(USUAL, PER_FALL * np.sqrt(size / gravity)) if gravity * size > 0.0 else USUAL for size in sizes]
        return [pace_or_error(self._pace, own, coordinates, duration, step, samples, rate, longest)
                for own, longest in zip(found.reshape(runs, 3, found.shape[-1] // 3), usual, strict=True)]  # fmt: skip

    def _pace(
        self, numbers: Floats, coordinates: list[str], duration: float, step: float | None, samples: int,
        rate: float | None, usual: float,
    ) -> Pace:  # fmt: skip
        stiffness, damping, mobility = numbers
        with np.errstate(divide="ignore"):
            swung, damped = (np.maximum(gain * mobility, 0.0) for gain in (stiffness, damping))
            limits = np.array([MOST_SWUNG / np.sqrt(swung), MOST_DAMPED / damped])
        longest = float(limits.min(initial=np.inf))
        good = min(usual, 0.5 * longest)
        if not duration / max(good, 5e-324) < MOST_STEPS:
            if good == usual:
                raise ArgumentError(
                    "duration", duration, f"less than {MOST_STEPS * good:.3g} s: steps are {good:.3g} s"
                )
            kind, k = np.unravel_index(int(limits.argmin()), limits.shape)
            gain = ("stiffness (kp)", "damping (kd)")[kind]
            required = f"gains that fewer than {MOST_STEPS:,} steps can follow: {coordinates[k]} has a {gain} too large"
            raise ArgumentError("control", f"steps of {good:.3g} s", required)
        good = within_period(good, step, rate)
        if step is not None and step > longest * (1.0 + 1e-9):
            kind, k = np.unravel_index(int(limits.argmin()), limits.shape)
            gain = f"stiffness (kp) of {stiffness[k]:.4g}" if kind == 0 else f"damping (kd) of {damping[k]:.4g}"
            required = (
                f"at most {longest:.3g} s: {coordinates[k]} has a {gain} on an inertia of {1.0 / mobility[k]:.3g} "
                f"(SI). Leave the step out ({good:.3g} s would be taken), or make the gain smaller"
            )
            raise ArgumentError("step", step, required)
        if step is not None and step > MOST_USUAL * usual:
            most = f"at most {MOST_USUAL * usual:.3g} s, so that points are not led through the ground"
            required = f"{most}. Leave the step out ({good:.3g} s would be taken)"
            raise ArgumentError("step", step, required)
        count = step_count(duration, good if step is None else step)
        if step is None and rate is None:
            count = int(np.ceil(count / (samples - 1))) * (samples - 1) if count > samples else count
        return Pace(duration / count, count, f"steps of {duration / count:.3g} s; touchdowns located within them")

    def checked_contact(self, contact: Contact | None, places: Floats) -> Contact:
        """No point starts inside the ground, but by what the run before has left, whose `contact` is given."""
        found, depths = touching_at_start(self.names, contact), {}
        for name, place in zip(self.names, places, strict=True):
            height, by_x, by_y = height_under(self.ground, name, place)
            depths[name] = float(place[3] - (place[2] - height) / np.sqrt(1.0 + by_x * by_x + by_y * by_y))
        under_ground(depths, DEEPEST if contact is None else LEFT, RAISED)
        return found

    def said_at_start(self, x: Floats) -> list[str]:
        """Joints that start beyond their ranges, and are thrown back to their stops."""
        held = np.zeros((1, self.system.control_inputs))
        return beyond_range(self.system, self.system.full(np.array([self.begin]), x[None], held)[0][0])

    def log(self, job: RigidJob, record: ContactRecord) -> None:
        """Stops of joints are events; impacts are kept."""
        points, stops, own = len(self.names), list(stopped_joints(self.system.model.layout)), job.lanes
        rows = own.changes.reshape(-1, 3)[: own.queue[CHANGED]]
        joints = rows[rows[:, 1] >= points]
        record.happened += [
            (float(t), f"{stops[int(k) - points]} comes to its stop") for t, k, mode in joints if mode > 0
        ]
        others = rows[rows[:, 1] < points]
        own.changes[: 3 * len(others)] = others.ravel()
        own.queue[CHANGED] = len(others)
        super().log(job, record)
        record.impacts += list(job.struck.reshape(-1, 2 + 3 * points)[: own.queue[STRUCK]].copy())
        own.queue[STRUCK] = 0

    def job(self, width: int, runs: GroundRuns, numbers: dict[str, Parameters], tables: Tables, logging: bool) -> Any:
        """A driver's job."""
        system, whole, n, layout = self.system, np.int64, self.system.size, self.system.model.layout
        made, sizes, prescribed = rigid_kernels(system, self.field), contact_sizes(layout), len(layout.prescribed_names)
        points, rows, solver = len(self.names), sum(sizes), solver_rows(layout)
        touch, move = lane_kernel(made.touch, width), lane_kernel(made.move, width)
        see = lane_kernel(system.compiled("feet")[0] if self.field else None, width)
        known = 1 + n + system.control_inputs
        given, ends = known_rows(system, self.field), end_rows(system)
        first = dict(zip(given, accumulate(given.values(), initial=known), strict=False))
        last = dict(zip(ends, accumulate(ends.values(), initial=0), strict=False))
        late = solver + 6 + made.handed
        room = lanes(
            width, inputs=known + sum(given.values()), work=late + rows + 6 + 2, answers=sum(ends.values()),
            touch_constants=max(touch.kept, 1), move_constants=max(move.kept, 1), see_constants=max(see.kept, 1),
            seen=SEEN * points, watch_inputs=known + max(prescribed, 1), gathered=3 * points,
        )  # fmt: skip
        contacts = contacts_of(sizes, paired(layout), width, room["work"][:solver], room["work"][solver : solver + 6])
        at = Places(
            known=known, impulses=first["impulses"], slip=first["slip"], ahead=first["ahead"],
            planes=first["planes"], w=solver, handed=solver + 6, late=late, late_ahead=last["ahead"],
            clock=last["clock"], over=last["over"], q=last["q"], pushed=last["impulses"], work=last["work"],
            joint_work=last["joint_work"], efforts=last["efforts"],
        )  # fmt: skip
        own = self.lanes(
            width, runs, tables, rigid_event_kernel(system, self.watched)[0] if len(self.stops) else None,
            numbers["watch"], logging, len(sizes), np.zeros((n, width)),
            room["inputs"][1 + n : 1 + n + system.efforts], max(touch.kept, move.kept, see.kept),
            anchors=np.full((3 * points, width), np.nan),
        )  # fmt: skip
        return RigidJob(
            lanes=own, contacts=contacts, cones=cones_of(points, len(sizes) - points), at=at,
            field=self.ground.field(), n=n, n_q=len(system.free_q), rows=rows, prescribed=prescribed,
            laws=numbers["ground"], tolerance=TOLERANCE, see=see, see_numbers=numbers["see"], touch=touch,
            numbers=numbers["rounds"], move=move, **room,
            status=np.zeros(width, whole), over=np.zeros(width, whole),
            struck=np.empty((2 + 3 * points) * own.room),
        )  # fmt: skip


def beyond_range(system: System, q: Floats) -> list[str]:
    """Joints that are beyond their ranges in a configuration, which runs throw back to their stops, in words."""
    layout = system.model.layout
    own = dict(zip(layout.coordinate_names, q, strict=True))
    ranges = {name: layout.limbs[limb].joints[k].range for name, (limb, k) in stopped_joints(layout).items()}
    known = [(name, *ends, own[name]) for name, ends in ranges.items() if ends and name in own]
    beyond = [name for name, low, high, now in known if not float(low) - BEYOND <= now <= float(high) + BEYOND]
    said = "beyond a range at the start; a state in which the robot stands is Standing() or posed(model)"
    return [f"{first_few(beyond)} {said}"] if beyond else []


def stiffness_kernel(system: System) -> tuple[Kernel, tuple[str, ...], list[str]]:
    """[t, x, controls] → stiffness and damping of every free coordinate's own force, and one over the inertia that it
    moves, in SI units; and the names of these coordinates."""
    layout = system.model.layout
    free = [name for name in layout.moving if name not in layout.prescribed]

    def made() -> tuple[Kernel, tuple[str, ...]]:
        r, parameters, count = system.record()
        robot = reduced_robot(r.layout, r.inputs)
        slopes, mobility = [], []
        for name in free:
            limb, part = r.layout.limbs[name], robot.parts[name].eliminated
            assert part is not None
            slopes += implicit_forces(r.tape, r.layout, name, r.inputs)[1]
            own = list(part.per_pivot)
            mobility += own if limb.gearing is not None else [own[limb.index(c)] for c in limb.coordinates]
        outputs = [*(-place for place, _ in slopes), *(-rate for _, rate in slopes), *mobility]
        return Kernel(finished(r.tape, outputs, count, len(parameters)), system.model.robot.name), tuple(parameters)

    kernel, parameters = system.once("stiffness", made)
    return kernel, parameters, [f"{name}.{c}" for name in free for c in layout.limbs[name].coordinates]
