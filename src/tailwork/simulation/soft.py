"""Simulate a tree on compliant ground by the linearly implicit Euler method, with fixed steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray

from tailwork.errors import ControllerError, RobotError
from tailwork.kernels.kernel import Floats
from tailwork.model import Model
from tailwork.model.summary import total_mass
from tailwork.simulation.contact import OFF_THE_FIELD, Feet, Log, SoftGround, SoftKernels, Tables, advance
from tailwork.simulation.driver import AT_EVENT, FINISHED, STUCK
from tailwork.simulation.ground import CONTACT_NAMES, Ground, surface
from tailwork.simulation.recorded import Recorded, dataset
from tailwork.simulation.run import Contact, Run, Stopped
from tailwork.simulation.system import System

METHOD = "implicit-euler"
STEPS_A_CALL = 2_000
"""Steps between two looks at the keyboard: compiled code cannot be interrupted."""
UNDER_GROUND = 1e-9
"""How deep a foot may start in the ground that it is not yet said to touch: rounding [m]."""
CHOSEN, ALLOWED = 0.1, 2.0
"""Step times the fastest frequency of robot and ground: what is chosen, and the most that is allowed. Beyond it a touch
is over within a step or two, and what the method gives is not the motion any more."""

Asked = Callable[[float, Floats, Floats], Floats]
"""A controller in Python whose answers are checked."""


@dataclass(frozen=True)
class Pace:
    """The steps of a run."""

    step: float  # [s]
    count: int
    why: str


def contact_frequency(system: System, ground: Ground, x: Floats) -> float:
    """Fastest frequency of the robot on its ground with all feet touching, at a state [rad/s].

    The largest eigenvalue of K_c J M⁻¹ Jᵀ, K_c the ground's stiffness and J of all feet.
    """
    model = system.model
    kernel, constants = system.kernel("feet")
    count, n_q, n_v = len(model.layout.legs), len(system.free_q), len(system.free_v)
    rows = np.zeros((n_v, 1 + system.size + system.held))
    rows[:, 1 : 1 + n_q] = x[:n_q]
    rows[:, 1 + n_q : 1 + system.size] = np.eye(n_v)
    still = rows[:1].copy()
    still[:, 1 + n_q : 1 + system.size] = 0.0  # prescribed limbs may move of themselves
    jacobian = (kernel(rows, constants) - kernel(still, constants))[:, 3 * count :]
    q, _, _, _ = system.full(np.zeros(1), x[None], np.zeros((1, system.held)))
    unit = np.eye(len(model.velocity_names))
    still_force = model.generalised_force(q[0], 0.0 * unit[0], 0.0 * unit[0])
    mass = (model.generalised_force(q[0], 0.0 * unit[0], unit) - still_force)[np.ix_(system.free_v, system.free_v)]
    mobility = jacobian.T @ np.linalg.solve(mass, jacobian)
    stiffness = np.array([ground.tangential_stiffness, ground.tangential_stiffness, ground.stiffness] * count)
    root = np.sqrt(stiffness.astype(float))
    return float(np.sqrt(np.linalg.eigvalsh(root[:, None] * mobility * root).max()))


def paced(
    system: System, ground: Ground, x: Floats, duration: float, step: float | None, samples: int = 2
) -> Pace:  # fmt: skip
    """Steps that divide the duration: as asked if they are short enough, or chosen for the ground's stiffness, and then
    so that as many samples as are wanted are evenly spaced."""
    frequency = contact_frequency(system, ground, x)
    good = CHOSEN / frequency
    if step is not None and step * frequency > ALLOWED:
        required = (
            f"at most {ALLOWED / frequency:.3g} s: feet and ground swing at {frequency:.4g} rad/s. Leave the step out "
            f"({good:.3g} s would be taken) or make the ground softer"
        )
        raise RobotError("step", step, required)
    count = max(1, int(np.ceil(duration / (good if step is None else step) - 1e-9)))
    if step is None:
        count = int(np.ceil(count / (samples - 1))) * (samples - 1)
    why = f"step times the ground's frequency {duration / count * frequency:.2g}"
    if step is not None and step > good:
        why += f", coarser than the {CHOSEN:g} that is taken of itself"
    return Pace(duration / count, count, why)


def _checked_contact(model: Model, ground: Ground, contact: Contact | None, places: Floats) -> Contact:
    """How the feet touch at the start."""
    names = model.layout.legs
    if contact is None:
        contact = Contact(("air",) * len(names), np.full((len(names), 3), np.nan))
    if not isinstance(contact, Contact):
        raise RobotError("contact", contact, "a Contact, such as final_contact of another run")
    if len(contact.states) != len(names) or not all(state in CONTACT_NAMES for state in contact.states):
        raise RobotError("contact", contact.states, f"one of {CONTACT_NAMES} for each of {', '.join(names)}")
    if np.shape(contact.anchors) != (len(names), 3):
        raise RobotError("contact", np.shape(contact.anchors), f"an anchor for each foot, ({len(names)}, 3)")
    for name, place, state, anchor in zip(names, places, contact.states, contact.anchors, strict=True):
        height, _, _ = surface(*ground.field(), place[0], place[1])
        if not np.isfinite(height):
            raise RobotError("state", name, "a foot above the height field; it starts outside of it")
        if state == "air" and height - place[2] > UNDER_GROUND:
            required = (
                f"a foot at or above the ground, which is {height - place[2]:.4g} m higher there; lift the robot, or "
                "give `contact` (such as run.final_contact) if the foot stands in the ground already"
            )
            raise RobotError("state", f"{name} at height {place[2]:.6g} m", required)
        if state != "air" and not np.isfinite(anchor).all():
            raise RobotError("contact", name, "an anchor for a foot that touches")
    return contact


def _tables(system: System) -> Tables:
    tables = [servo.table for servo in system.servos]
    return Tables(
        np.array([table.values.shape for table in tables], dtype=np.int64).reshape(-1, 2),
        np.array([table.period for table in tables], dtype=np.float64),
        np.concatenate([np.zeros(0), *(np.ravel(table.values) for table in tables)]),
        np.concatenate([np.zeros(0), *(np.ravel(table.slopes) for table in tables)]),
    )


def simulate_soft(
    system: System, ground: Ground, x: Floats, contact: Contact | None, duration: float, step: float | None,
    samples: int, most_steps: int, asked: Asked | None, control_rate: float,
) -> Run:  # fmt: skip
    """Step through the duration [s]; see tailwork.simulate."""
    model = system.model
    names = model.layout.legs
    if model.layout.stance:
        raise RobotError("ground", "pinned feet", "a model with stance='none': on soft ground no foot is pinned")
    if not names:
        raise RobotError("ground", model.robot.name, "a robot with feet")
    for name in names:
        if model.layout.limbs[name].gearing is not None or name in model.layout.prescribed:
            raise RobotError("ground", name, "feet on limbs that are neither geared nor prescribed")
    pace = paced(system, ground, x, duration, step, samples)
    if pace.count > most_steps:
        required = f"at least {pace.count}, what {duration:g} s take in steps of {pace.step:.3g} s"
        raise RobotError("most_steps", most_steps, required)
    feet_kernel, feet_constants = system.kernel("feet")
    step_kernel, step_constants = system.kernel("step")
    watch, watch_constants = system.kernel("soft_events") if system.watched else (feet_kernel, feet_constants)
    kernels = SoftKernels(feet_kernel.code.address("scalar"), feet_constants.values,
                          step_kernel.code.address("scalar"), step_constants.values,
                          watch.code.address("scalar"), watch_constants.values)  # fmt: skip
    x, held = x.copy(), np.zeros(system.held)
    count = len(names)
    places = feet_kernel(np.concatenate([[0.0], x, held])[None], feet_constants)[0, : 3 * count].reshape(count, 3)
    contact = _checked_contact(model, ground, contact, places)
    feet = Feet(
        np.array([CONTACT_NAMES.index(state) for state in contact.states]), np.array(contact.anchors, dtype=float),
        np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count), np.zeros(1), np.zeros(len(x)),
        np.full(count, -1), np.zeros((count, count)),
    )  # fmt: skip
    log = _Kept(system, ground, feet)
    soft, tables = SoftGround(ground.laws(), *ground.field()), _tables(system)
    watched = len(system.stops)
    room = Log(np.empty((STEPS_A_CALL * count, 3)), np.empty((STEPS_A_CALL * watched, 2)), system.stops,
               np.zeros(watched, dtype=np.bool_))  # fmt: skip
    wanted = np.unique(np.round(np.linspace(0, pace.count, samples)).astype(int))
    ticks = np.zeros(0, dtype=int)
    if asked is not None:
        ticks = np.unique(np.round(np.arange(0.0, duration, 1.0 / control_rate) / pace.step).astype(int))
    calls = np.arange(0, pace.count, STEPS_A_CALL)
    marks = np.unique(np.concatenate([wanted, ticks, calls, [min(1, pace.count)]]))
    stopped: Stopped | None = None
    sampled_at, asked_at = set(wanted.tolist()), set(ticks.tolist())
    for start, end in zip(marks, [*marks[1:], pace.count], strict=True):
        if start in asked_at and asked is not None:
            q, v, _, _ = system.full(np.array([start * pace.step]), x[None], held[None])
            try:
                held[: system.efforts] = asked(float(start * pace.step), q[0], v[0])
            except ControllerError as error:
                log.keep(start * pace.step, x, held)
                error.run = log.run(Stopped(float(start * pace.step), "the controller gave no efforts"), pace)
                raise
        if start == 0:
            log.keep(0.0, x, held)
        if end == start:
            break
        status, done, event, changed, happened = advance(
            kernels, soft, tables, feet, room, x, held, system.efforts, start, end, pace.step
        )
        log.changes += [(float(t), int(foot), int(mode)) for t, foot, mode in room.changes[:changed]]
        log.happened += [(float(t), system.event_names[int(k)]) for t, k in room.events[:happened]]
        if start == 0 and status == FINISHED:
            log.first_step()
        if status != FINISHED or end in sampled_at:
            log.keep(done * pace.step, x, held)
        if status != FINISHED:
            stopped = Stopped(float(done * pace.step), _reason(status, event, system.event_names))
            break
    return log.run(stopped, pace)


def _reason(status: int, event: int, names: list[str]) -> str:
    if status == AT_EVENT:
        return names[event]
    if status == OFF_THE_FIELD:
        return "a foot leaves the height field"
    assert status == STUCK
    return "numbers are not finite any more: take a shorter step, or look for a joint that is singular"


class _Kept:
    """What is kept of a run while it goes on."""

    def __init__(self, system: System, ground: Ground, feet: Feet) -> None:
        self.system, self.ground, self.feet = system, ground, feet
        self.changes: list[tuple[float, int, int]] = []
        self.happened: list[tuple[float, str]] = []
        self._kept: list[tuple[float, Floats, Floats, Feet]] = []

    def keep(self, t: float, x: Floats, held: Floats) -> None:
        """Remember the state now."""
        if self._kept and self._kept[-1][0] == t:
            return
        self._kept.append((t, x.copy(), held.copy(), Feet(*(part.copy() for part in self.feet))))

    def first_step(self) -> None:
        """What is said of the start of how feet touch and what acts is what held over the first step."""
        start = self._kept[0][3]
        for name in ("acceleration", "forces", "modes", "anchors"):
            getattr(start, name)[:] = getattr(self.feet, name)

    def run(self, stopped: Stopped | None, pace: Pace) -> Run:
        """Everything put together."""
        model, system = self.system.model, self.system
        times = np.array([t for t, _, _, _ in self._kept])
        x, held = (np.array([kept[k] for kept in self._kept]) for k in (1, 2))
        feet = Feet(*(np.array(parts) for parts in zip(*(kept[3] for kept in self._kept), strict=True)))
        held[:, system.efforts :] = _aims(system, times)
        q, v, tau, given = system.full(times, x, held)
        acceleration = np.zeros_like(v)
        acceleration[:, system.free_v] = feet.acceleration[:, len(system.free_q) :]
        prescribed = [k for name in model.layout.given for k in range(*model.layout.rates[name].indices(v.shape[1]))]
        acceleration[:, prescribed] = given
        needed = model.generalised_force(q, v, acceleration)[:, prescribed]
        path = model.ask("path", q=q, v=v, tau=tau, given=given, forces=None)
        powers = path["powers"].copy()
        powers[:, len(model.actuator_names) :] = needed * v[:, prescribed]
        more: Recorded = {
            "acceleration": (("time", "velocity"), acceleration, "m/s^2, rad/s^2"),
            "prescribed_effort": (("time", "prescribed"), needed, "N m"),
            "power": (("time", "source"), powers, "W"),
            "dissipation": (("time",), path["dissipation"], "W"),
            "foot_force": (("time", "foot", "axis"), feet.forces, "N"),
            "foot_impulse": (("time", "foot", "axis"), feet.impulses, "N s"),
            "foot_work": (("time", "foot"), feet.work, "J"),
            "joint_work": (("time",), feet.joint_work[:, 0], "J"),
            "contact": (("time", "foot"), feet.modes.astype(np.int32), "1"),
            "anchor": (("time", "foot", "axis"), feet.anchors, "m"),
        }
        names = model.layout.legs
        data = dataset(model, times, q, v, tau, names, more)
        data["contact"].attrs["flags"] = ", ".join(f"{k} {name}" for k, name in enumerate(CONTACT_NAMES))
        data.attrs["energy_balance_error"] = _energy_balance(data)
        data.attrs["momentum_balance_error"] = _momentum_balance(model, data)
        changes = tuple((float(t), names[foot], CONTACT_NAMES[mode]) for t, foot, mode in self.changes)
        return Run(
            model, data, stopped, tuple(self.happened), METHOD, f"steps of {pace.step:.3g} s; {pace.why}",
            ground=self.ground, changes=changes,
        )  # fmt: skip


def _aims(system: System, times: Floats) -> Floats:
    """Targets of all servos over time: angles, then rates."""
    found = [servo.table.at(times) for servo in system.servos]
    if not found:
        return np.zeros((len(times), 0))
    return np.concatenate([*(values for values, _ in found), *(rates for _, rates in found)], axis=1)


def _energy_balance(data: xarray.Dataset) -> float:
    """Largest difference between energy gained and work done by joints and ground, as a share of what moved."""
    kinetic, height = data["kinetic_energy"].to_numpy(), data["gravitational_energy"].to_numpy()
    work = data["joint_work"].to_numpy() + data["foot_work"].sum("foot").to_numpy()
    gained = kinetic + height - kinetic[0] - height[0]
    moved = max(np.ptp(part) for part in (kinetic, height, work))
    return float(np.abs(gained - work).max() / max(moved, 1e-6 * max(kinetic.max(), np.abs(height).max()), 1e-300))


def robot_weight(model: Model) -> float:
    """Weight of the robot [N]."""
    return total_mass(model.robot) * float(model.robot.gravity)


def _momentum_balance(model: Model, data: xarray.Dataset) -> float:
    """Largest difference between linear momentum and impulses, as a share of the weight's impulse over the run."""
    times, momentum = data["time"].to_numpy(), data["linear_momentum"].to_numpy()
    impulse = data["foot_impulse"].sum("foot").to_numpy()
    if len(times) < 2:
        return 0.0
    weight = robot_weight(model)
    impulse[:, 2] -= weight * (times - times[0])
    scale = weight * (times[-1] - times[0]) or float(np.abs(momentum).max()) or 1.0
    return float(np.abs(momentum - momentum[0] - impulse).max() / scale)
