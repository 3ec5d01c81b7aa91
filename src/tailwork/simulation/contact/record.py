"""What is recorded of a run on ground, and how well its energy and momentum close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tailwork.control.gait.gait import forward_direction
from tailwork.control.gait.joint_table import JointTable
from tailwork.errors import StateError
from tailwork.model import Model
from tailwork.simulation.contact.ground import CONTACT_NAMES, CompliantGround, RigidGround, surface_at
from tailwork.simulation.contact.rigid_stepping import TOLERANCE
from tailwork.simulation.integrate.balance import balance_error
from tailwork.simulation.record import Arrays, force_arrays, force_names, named_arrays
from tailwork.simulation.run import Run
from tailwork.simulation.stopping import DIVERGED, Stopped
from tailwork.simulation.system import System
from tailwork.typing import Floats

if TYPE_CHECKING:
    from tailwork.simulation.contact.on_ground import OnGround

UNDER_GROUND = 1e-9
"""How deep a point may be in the ground without being in it: rounding [m]."""
MISSED = 0.5
"""Share of the speed that a gait asks for; a robot that is further from it is told of."""


class ContactRecord:
    """What happens in a run, and the run that its samples make, a row each."""

    def __init__(self, integrator: OnGround, step: float) -> None:
        self.integrator, self.system, self.ground = integrator, integrator.system, integrator.ground
        self.names, self.step = integrator.names, step
        self.changes: list[tuple[float, int, int]] = []
        self.happened: list[tuple[float, str]] = []
        self.impacts: list[Floats] = []  # rows: time [s], energy lost [J], impulses of all points [N s]
        self.unsettled = 0  # rounds on rigid ground whose contacts did not settle

    def run(self, rows: Floats, moments: Floats, stopped: Stopped | None, why: str) -> Run:
        """Everything put together; up to where the motion diverges, if its last states cannot be evaluated.

        Args:
            rows: samples; see `contact.stepping.record_sample`.
            moments: where energy is balanced: time [s], work so far [J] and state, a row each.
            stopped: why it ended early.
            why: why such steps.
        """
        try:
            data = self._arrays(rows, moments)
        except StateError as error:
            first = min(error.rows, default=0)
            if first == 0:
                raise
            stopped = Stopped(float(rows[first, 0]), DIVERGED)
            rows = rows[:first]
            data = self._arrays(rows, moments)
        end = rows[-1, 0]
        changes = [(t, self.names[foot], CONTACT_NAMES[mode]) for t, foot, mode in self.changes if t <= end]
        happened = [event for event in self.happened if event[0] <= end]
        happened += first_fall(self.system, self.ground, data, self.integrator.least_depth)
        happened += self._missed(data)
        if self.unsettled:
            rounds = "1 round" if self.unsettled == 1 else f"{self.unsettled} rounds"
            why += f"; in {rounds} contacts that share a load did not settle to {TOLERANCE:g} m/s"
        return Run(
            self.system.model, data, stopped, tuple(sorted(happened)), self.integrator.method, why, ground=self.ground,
            changes=tuple(changes), trusted=self.integrator.trusted,
        )  # fmt: skip

    def _impacts(self) -> dict[str, tuple[tuple[str, ...], Floats, str]]:
        """Impacts on rigid ground; nothing where there are none."""
        if not self.impacts:
            return {}
        rows = np.array(self.impacts)
        return {
            "impact_time": (("impact",), rows[:, 0], "s"),
            "impact_loss": (("impact",), rows[:, 1], "J"),
            "impact_impulse": (("impact", "foot", "axis"), rows[:, 2:].reshape(len(rows), -1, 3), "N s"),
        }

    def _outside_impulse(self, times: Floats) -> Floats:
        """Impulse of outside forces since the start, as the steps take it: each force as at one place in a step."""
        if not self.system.forces:
            return np.zeros((len(times), 3))
        count = round((times[-1] - times[0]) / self.step)
        starts = times[0] + self.step * (np.arange(count) + self.integrator.forces_at)
        sums = np.cumsum(self.system.force_values(starts).sum(axis=1), axis=0) * self.step
        every = np.concatenate([np.zeros((1, 3)), sums])
        return every[np.round((times - times[0]) / self.step).astype(int)]

    def _missed(self, data: Arrays) -> list[tuple[float, str]]:
        """At the end: what gaits asked for, if the robot has walked or turned otherwise by half of that or more."""
        model, times = self.system.model, data["time"]
        for servo in self.system.servos:
            table = servo.table
            lasted = times >= times[-1] - table.period * max(1, int((times[-1] - times[0]) / table.period))
            if table.torso_velocity is None or times[-1] - times[0] < table.period or not model.layout.torso_free:
                continue
            q, v = data["q"][lasted], data["v"][lasted]
            ahead = model.ask("frame_jacobians", q=q)["rotations"][:, 0] @ forward_direction(model.robot)
            walked = float(np.einsum("tx,tx->t", v[:, :2], ahead[:, :2]).mean()), float(v[:, 5].mean())
            for wanted, found, unit, verb in zip(
                table.torso_velocity, walked, ("m/s", "rad/s"), ("walk", "turn"), strict=True
            ):
                if abs(found - wanted) > MISSED * abs(wanted) > 0.0:
                    said = f"asked to {verb} at {wanted:.3g} {unit}, did so at {found:.3g} {unit}"
                    return [(float(times[-1]), f"{said}: take stiffer servos, or another speed")]
        return []

    def _arrays(self, rows: Floats, moments: Floats) -> Arrays:
        model, system = self.system.model, self.system
        times, x, efforts, rates, contacts = record_parts(system, rows)
        held = np.concatenate([efforts, servo_targets([servo.table for servo in system.servos], times)], axis=1)
        q, v, tau, given = system.full(times, x, held)
        acceleration = np.zeros_like(v)
        acceleration[:, system.free_v] = rates[:, len(system.free_q) :]
        prescribed = model.layout.prescribed_rates
        acceleration[:, prescribed] = given
        needed = model.generalised_force(q, v, acceleration)[:, prescribed]
        path = system.path(times, q, v, tau, given)
        powers = path.powers.copy()
        powers[:, len(model.actuator_names) :] = needed * v[:, prescribed]
        more = {
            "acceleration": (("time", "velocity"), acceleration, "m/s^2, rad/s^2"),
            "prescribed_effort": (("time", "prescribed"), needed, "N m"),
            "power": (("time", "source"), powers, "W"),
            "dissipation": (("time",), path.dissipation, "W"),
            **{name: (axes, contacts[name], unit) for name, (axes, unit) in CONTACTS.items()},
            **self._impacts(),
        }
        more |= force_arrays(system, times, q)
        air = np.zeros((len(times), 3))
        if model.robot.has_drag():
            air = _integrated(times, model.air_forces(q, v).sum(axis=1))
        flags = {"contact": ", ".join(f"{k} {name}" for k, name in enumerate(CONTACT_NAMES))}
        data = named_arrays(model, times, q, v, tau, self.names, more, flags, force_names(system))
        balances = {
            "energy_balance_error": balance_error(system, moments),
            # What holds a fixed torso is not known, so its momentum tells nothing.
            "momentum_balance_error": _momentum_balance(model, data, self._outside_impulse(times) + air)
            if model.layout.torso_free
            else np.nan,
        }
        return replace(data, attributes={**data.attributes, **balances})


def _integrated(times: Floats, rates: Floats) -> Floats:
    """Integrals from the first time [s] of rates (times, …), by trapezoids."""
    steps = np.diff(times)[:, None] * (rates[1:] + rates[:-1]) / 2.0
    return np.concatenate([np.zeros((1, rates.shape[1])), np.cumsum(steps, axis=0)])


def first_fall(
    system: System, ground: CompliantGround | RigidGround, data: Arrays, least: float
) -> list[tuple[float, str]]:
    """When a robot has first fallen in a run, and how that is seen; empty: never. See `fallen`."""
    kernel, constants = system.kernel("feet")
    times, state = data["time"], system.state(data["q"], data["v"])
    seen = kernel(
        np.concatenate([times[:, None], state, np.zeros((len(times), system.control_inputs))], axis=1), constants
    )
    count = len(system.model.layout.contact_points)
    places, radii = seen[:, : 3 * count].reshape(len(times), count, 3), seen[:, 9 * count : 10 * count, None]
    touching = np.concatenate([places, radii], axis=-1)
    said = fallen(ground, [str(name) for name in data["point"]], data["points"], touching, least)
    return [(float(t), what) for t, what in zip(times, said, strict=True) if what][:1]


def fallen(
    ground: CompliantGround | RigidGround, names: Sequence[str], places: Floats, touching: Floats, least: float
) -> list[str]:
    """Of each robot: the torso or a joint that is deeper in the ground than all that can touch it; empty: none.

    Args:
        ground: the ground.
        names: of points of the torso and of joints.
        places: where these are, (robots, points, 3) [m].
        touching: where feet and other contact points are, and their radii, (robots, contact points, 4) [m].
        least: how much deeper [m].
    """
    field = ground.field()
    with np.errstate(invalid="ignore"):
        below = surface_at(field, touching[..., :2])[..., 0] - touching[..., 2] + touching[..., 3]
        depths = surface_at(field, places[..., :2])[..., 0] - places[..., 2]
        under = depths > np.max(below, axis=1, initial=0.0)[:, None] + least
    said = (
        "is under the ground, which only feet and contact points touch: the robot has fallen, or nothing holds that "
        "limb, or its motion leads there; a ContactPoint would touch"
    )
    return [f"{names[int(own.argmax())]} {said}" if own.any() else "" for own in under]


def servo_targets(tables: Sequence[JointTable], times: Floats) -> Floats:
    """What servos follow at times [s]: angles [rad], then rates [rad/s], (times, …)."""
    found = [table.at(times) for table in tables]
    if not found:
        return np.zeros((len(times), 0))
    return np.concatenate([*(values for values, _ in found), *(rates for _, rates in found)], axis=1)


def record_columns(system: System) -> list[int]:
    """Where the parts of a recorded row begin (see `contact.stepping.record_sample`): state, efforts, impulses, work of
    the feet, work of the joints, forces, anchors, modes, acceleration of the state; the time comes before."""
    count, n = len(system.model.layout.contact_points), system.size
    return list(np.cumsum([1, n, system.efforts, 3 * count, count, 1, 3 * count, 3 * count, count]))


def record_parts(system: System, rows: Floats) -> tuple[Floats, Floats, Floats, Floats, dict[str, Floats]]:
    """Recorded rows, (…, columns): times [s], states, efforts, accelerations of the state, and by name CONTACTS."""
    parts = np.split(rows, record_columns(system), axis=-1)
    times, x, efforts, impulses, work, joint_work, forces, anchors, modes, rates = parts
    by_axis = {name: part.reshape(*rows.shape[:-1], -1, 3)
               for name, part in (("foot_force", forces), ("foot_impulse", impulses), ("anchor", anchors))}  # fmt: skip
    contact = np.nan_to_num(modes, nan=-1.0).astype(np.int32)
    contacts = {**by_axis, "foot_work": work, "joint_work": joint_work[..., 0], "contact": contact}
    return times[..., 0], x, efforts, rates, contacts


CONTACTS = {
    "foot_force": (("time", "foot", "axis"), "N"),
    "foot_impulse": (("time", "foot", "axis"), "N s"),
    "foot_work": (("time", "foot"), "J"),
    "joint_work": (("time",), "J"),
    "contact": (("time", "foot"), "1"),
    "anchor": (("time", "foot", "axis"), "m"),
}
"""What is recorded of points on ground: dimensions and unit."""


def robot_weight(model: Model) -> float:
    """Weight of the robot [N]."""
    return float(model.robot.mass()) * float(model.robot.gravity)


def _momentum_balance(model: Model, data: Arrays, outside: Floats) -> float:
    """Largest difference between linear momentum and impulses, as a share of the weight's impulse over the run."""
    times, momentum, impulse = data["time"], data["linear_momentum"], data["foot_impulse"].sum(axis=1) + outside
    if len(times) < 2:
        return 0.0
    weight = robot_weight(model)
    impulse[:, 2] -= weight * (times - times[0])
    scale = weight * (times[-1] - times[0]) or float(np.abs(momentum).max()) or 1.0
    return float(np.abs(momentum - momentum[0] - impulse).max() / scale)
