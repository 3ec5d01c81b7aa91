"""Simulate a tree on compliant ground by the linearly implicit Euler method, with fixed steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tailwork.errors import ControllerError, RobotError
from tailwork.model import Model
from tailwork.simulation.contact.friction import OFF_THE_FIELD, ContactKernels, Feet, GroundArrays, Log, Tables, advance
from tailwork.simulation.contact.ground import CONTACT_NAMES, CompliantGround, surface
from tailwork.simulation.contact.record import UNDER_GROUND, ContactRecorder
from tailwork.simulation.integrate.driver import AT_EVENT, FINISHED, STUCK
from tailwork.simulation.run import Contact, Run, Stopped
from tailwork.simulation.system import System
from tailwork.typing import Floats

STEPS_A_CALL = 2_000
"""Steps between two checks for Ctrl-C: compiled code cannot be interrupted."""
CHOSEN, ALLOWED = 0.1, 2.0
"""Step times the fastest frequency of robot and ground: what is chosen, and the most that is allowed. Beyond it a touch
is over within a step or two, and what the method gives is not the motion any more."""

MOST_CHOSEN = 1000
"""Steps of a run whose feet nothing moves."""

CheckedController = Callable[[float, Floats, Floats], Floats]
"""A controller in Python, (t, q, v) → efforts, whose answers are checked."""


@dataclass(frozen=True)
class Pace:
    """The steps of a run."""

    step: float  # [s]
    count: int
    why: str


def contact_frequency(system: System, ground: CompliantGround, x: Floats) -> float:
    """Fastest frequency of the robot on its ground with all feet touching, at a state [rad/s].

    The largest eigenvalue of K_c J M⁻¹ Jᵀ, K_c the ground's stiffness and J of all feet.
    """
    model = system.model
    kernel, constants = system.kernel("feet")
    count, n_q, n_v = len(model.layout.legs), len(system.free_q), len(system.free_v)
    rows = np.zeros((n_v, 1 + system.size + system.control_inputs))
    rows[:, 1 : 1 + n_q] = x[:n_q]
    rows[:, 1 + n_q : 1 + system.size] = np.eye(n_v)
    still = rows[:1].copy()
    still[:, 1 + n_q : 1 + system.size] = 0.0  # prescribed limbs may move of themselves
    jacobian = (kernel(rows, constants) - kernel(still, constants))[:, 3 * count :]
    q, _, _, _ = system.full(np.zeros(1), x[None], np.zeros((1, system.control_inputs)))
    unit = np.eye(len(model.velocity_names))
    still_force = model.generalised_force(q[0], 0.0 * unit[0], 0.0 * unit[0])
    mass = (model.generalised_force(q[0], 0.0 * unit[0], unit) - still_force)[np.ix_(system.free_v, system.free_v)]
    mobility = jacobian.T @ np.linalg.solve(mass, jacobian)
    stiffness = np.array([ground.tangential_stiffness, ground.tangential_stiffness, ground.stiffness] * count)
    root = np.sqrt(stiffness.astype(float))
    return float(np.sqrt(np.linalg.eigvalsh(root[:, None] * mobility * root).max()))


def paced(
    system: System, ground: CompliantGround, x: Floats, duration: float, step: float | None, samples: int = 2,
    rate: float | None = None,
) -> Pace:  # fmt: skip
    """Steps that divide the duration: as asked if they are short enough, or chosen for the ground's stiffness; then so
    that they divide the period of a controller that is asked at a rate [Hz], or else the spaces between samples."""
    frequency = contact_frequency(system, ground, x)
    good = CHOSEN / frequency if frequency > 0.0 else duration / MOST_CHOSEN
    if rate is not None:
        good = 1.0 / (rate * np.ceil(1.0 / (rate * good)))
    if step is not None and rate is not None and step * rate > 1.0 + 1e-9:
        raise RobotError("step", step, f"at most {1.0 / rate:.3g} s, the period of the controller")
    if step is not None and step * frequency > ALLOWED:
        required = (
            f"at most {ALLOWED / frequency:.3g} s: feet and ground swing at {frequency:.4g} rad/s. Leave the step out "
            f"({good:.3g} s would be taken) or make the ground softer"
        )
        raise RobotError("step", step, required)
    count = max(1, int(np.ceil(duration / (good if step is None else step) - 1e-9)))
    if step is None and rate is None:
        count = int(np.ceil(count / (samples - 1))) * (samples - 1)
    why = f"steps of {duration / count:.3g} s; step times the ground's frequency {duration / count * frequency:.2g}"
    if step is not None and step > good:
        why += f", coarser than the {CHOSEN:g} that is taken of itself"
    return Pace(duration / count, count, why)


def _checked_contact(model: Model, ground: CompliantGround, contact: Contact | None, places: Floats) -> Contact:
    """How the feet touch at the start."""
    names, given = model.layout.legs, contact is not None
    if contact is None:
        contact = Contact(("air",) * len(names), np.full((len(names), 3), np.nan))
    if not isinstance(contact, Contact):
        raise RobotError("contact", contact, "a Contact, such as final_contact of another run")
    if len(contact.states) != len(names) or not all(state in CONTACT_NAMES for state in contact.states):
        raise RobotError("contact", contact.states, f"one of {CONTACT_NAMES} for each of {', '.join(names)}")
    try:
        shape = np.asarray(contact.anchors, dtype=np.float64).shape
    except (TypeError, ValueError):
        shape = None
    if shape != (len(names), 3):
        raise RobotError("contact", contact.anchors, f"an anchor for each foot: numbers, ({len(names)}, 3)")
    depths: dict[str, float] = {}
    for name, place, state, anchor in zip(names, places, contact.states, contact.anchors, strict=True):
        height, _, _ = surface(*ground.field(), place[0], place[1])
        if not np.isfinite(height):
            raise RobotError("state", name, "a foot above the height field; it starts outside of it")
        if state == "air":
            depths[name] = float(height - place[2])
        elif not np.isfinite(anchor).all():
            raise RobotError("contact", name, "an anchor for a foot that touches")
    deepest = max(depths, key=lambda name: depths[name], default="")
    if deepest and depths[deepest] > UNDER_GROUND and not given:
        required = (
            "feet at or above the ground: start from posed(model) or walking_start(…), which stand on z = 0, higher up "
            "where the ground is (`torso_place`); or give `contact`, such as run.final_contact, for feet that stand in "
            "the ground already"
        )
        raise RobotError("state", f"{deepest} {depths[deepest]:.4g} m under the ground", required)
    return contact


def _tables(system: System) -> Tables:
    tables = [servo.table for servo in system.servos]
    return Tables(
        np.array([table.values.shape for table in tables], dtype=np.int64).reshape(-1, 2),
        np.array([table.period for table in tables], dtype=np.float64),
        np.concatenate([np.zeros(0), *(np.ravel(table.values) for table in tables)]),
        np.concatenate([np.zeros(0), *(np.ravel(table.slopes) for table in tables)]),
    )


def simulate_on_ground(
    system: System, ground: CompliantGround, x: Floats, contact: Contact | None, duration: float, step: float | None,
    samples: int, max_steps: int, controller: CheckedController | None, control_rate: float, begin: float,
) -> Run:  # fmt: skip
    """Step through the duration [s] from the time `begin` [s]; see tailwork.simulate."""
    model = system.model
    names = model.layout.legs
    if model.layout.stance:
        raise RobotError("ground", "pinned feet", "a model with stance='none': on compliant ground no foot is pinned")
    if not names:
        raise RobotError("ground", model.robot.name, "a robot with feet")
    for name in names:
        if model.layout.limbs[name].gearing is not None or name in model.layout.prescribed:
            raise RobotError("ground", name, "feet on limbs that are neither geared nor prescribed")
    pace = paced(system, ground, x, duration, step, samples, None if controller is None else control_rate)
    if pace.count > max_steps:
        required = f"at least {pace.count}, what {duration:g} s take in steps of {pace.step:.3g} s"
        raise RobotError("max_steps", max_steps, required)
    feet_kernel, feet_constants = system.kernel("feet")
    step_kernel, step_constants = system.kernel("step")
    watch, watch_constants = system.kernel("ground_events") if system.watched else (feet_kernel, feet_constants)
    kernels = ContactKernels(feet_kernel.code.address("scalar"), feet_constants.values,
                          step_kernel.code.address("scalar"), step_constants.values,
                          watch.code.address("scalar"), watch_constants.values)  # fmt: skip
    x, held = x.copy(), np.zeros(system.control_inputs)
    count = len(names)
    places = feet_kernel(np.concatenate([[begin], x, held])[None], feet_constants)[0, : 3 * count].reshape(count, 3)
    contact = _checked_contact(model, ground, contact, places)
    feet = Feet(
        np.array([CONTACT_NAMES.index(state) for state in contact.states]), np.array(contact.anchors, dtype=float),
        np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count), np.zeros(1), np.zeros(len(x)),
        np.full(count, -1), np.zeros((count, count)),
    )  # fmt: skip
    log = ContactRecorder(system, ground, feet, pace.step)
    surface_laws, tables = GroundArrays(ground.laws(), *ground.field()), _tables(system)
    watched = len(system.stops)
    room = Log(np.empty((STEPS_A_CALL * count, 3)), np.empty((STEPS_A_CALL * watched, 2)), system.stops,
               np.zeros(watched, dtype=np.bool_))  # fmt: skip
    wanted = np.unique(np.round(np.linspace(0, pace.count, samples)).astype(int))
    ticks = np.zeros(0, dtype=int)
    if controller is not None:
        ticks = np.unique(np.round(np.arange(0.0, duration, 1.0 / control_rate) / pace.step).astype(int))
    calls = np.arange(0, pace.count, STEPS_A_CALL)
    marks = np.unique(np.concatenate([wanted, ticks, calls, [min(1, pace.count)]]))
    stopped: Stopped | None = None
    sampled_at, control_steps = set(wanted.tolist()), set(ticks.tolist())
    for start, end in zip(marks, [*marks[1:], pace.count], strict=True):
        now = float(begin + start * pace.step)
        if start in control_steps and controller is not None:
            q, v, _, _ = system.full(np.array([now]), x[None], held[None])
            try:
                held[: system.efforts] = controller(now, q[0], v[0])
            except ControllerError as error:
                log.record(now, x, held)
                error.run = log.run(Stopped(now, "the controller gave no efforts"), pace.why)
                raise
        if start == 0:
            log.record(now, x, held)
        if end == start:
            break
        status, done, event, changed, happened = advance(
            kernels, surface_laws, tables, feet, room, x, held, system.efforts, start, end, pace.step, begin
        )
        log.changes += [(float(t), int(foot), int(mode)) for t, foot, mode in room.changes[:changed]]
        log.happened += [(float(t), system.event_names[int(k)]) for t, k in room.events[:happened]]
        if start == 0 and status == FINISHED:
            log.first_step()
        now = float(begin + done * pace.step)
        if status != FINISHED or end in sampled_at:
            log.record(now, x, held)
        if status != FINISHED:
            stopped = Stopped(now, _reason(status, event, system.event_names))
            break
    return log.run(stopped, pace.why)


def _reason(status: int, event: int, names: list[str]) -> str:
    if status == AT_EVENT:
        return names[event]
    if status == OFF_THE_FIELD:
        return "a foot leaves the height field"
    assert status == STUCK
    return "numbers are not finite any more: take a shorter step, or look for a joint that is singular"
