"""What is recorded of a run on compliant ground, and how well its energy and momentum close."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tailwork.errors import StateError
from tailwork.model import Model
from tailwork.simulation.contact.ground import CONTACT_NAMES, CompliantGround, surface_at
from tailwork.simulation.integrate.tableaus import IMPLICIT_EULER
from tailwork.simulation.record import Arrays, force_arrays, force_names, named_arrays
from tailwork.simulation.run import Run, Stopped
from tailwork.simulation.system import System
from tailwork.typing import Floats

UNDER_GROUND = 1e-9
"""How deep a point may be in the ground without being in it: rounding [m]."""
DIVERGED = "the motion diverges: a controller that is too stiff for its rate, or a step that is too long"


class ContactRecord:
    """What happens in a run, and the run that its samples make, a row each."""

    def __init__(self, system: System, ground: CompliantGround, step: float) -> None:
        self.system, self.ground, self.step = system, ground, step
        self.changes: list[tuple[float, int, int]] = []
        self.happened: list[tuple[float, str]] = []

    def run(self, rows: Floats, stopped: Stopped | None, why: str) -> Run:
        """Everything put together; up to where the motion diverges, if its last states cannot be evaluated."""
        try:
            data = self._arrays(rows)
        except StateError as error:
            first = min(error.rows, default=0)
            if first == 0:
                raise
            stopped = Stopped(float(rows[first, 0]), DIVERGED)
            rows = rows[:first]
            data = self._arrays(rows)
        names, end = list(self.system.model.layout.contact_points), rows[-1, 0]
        changes = [(t, names[foot], CONTACT_NAMES[mode]) for t, foot, mode in self.changes if t <= end]
        happened = [*(event for event in self.happened if event[0] <= end), *self._under_ground(rows, data)]
        return Run(
            self.system.model, data, stopped, tuple(sorted(happened)), IMPLICIT_EULER, why, ground=self.ground,
            changes=tuple(changes),
        )  # fmt: skip

    def _outside_impulse(self, times: Floats) -> Floats:
        """Impulse of outside forces since the start, as the steps take it: each force as it is where a step begins."""
        if not self.system.forces:
            return np.zeros((len(times), 3))
        count = round((times[-1] - times[0]) / self.step)
        starts = times[0] + self.step * np.arange(count)
        sums = np.cumsum(self.system.force_values(starts).sum(axis=1), axis=0) * self.step
        every = np.concatenate([np.zeros((1, 3)), sums])
        return every[np.round((times - times[0]) / self.step).astype(int)]

    def _under_ground(self, rows: Floats, data: Arrays) -> list[tuple[float, str]]:
        """When the torso or a joint is first seen deeper in the ground than any contact point, and which."""
        system, field = self.system, self.ground.field()
        times, x, efforts, _, _ = recorded(system, rows)
        kernel, constants = system.kernel("feet")
        inputs = np.concatenate([times[:, None], x, efforts, servo_targets(system, times)], axis=1)
        count = len(system.model.layout.contact_points)
        seen = kernel(inputs, constants)
        touching, radii = seen[:, : 3 * count].reshape(len(times), count, 3), seen[:, 9 * count : 10 * count]
        deepest = np.max(surface_at(field, touching[..., :2])[..., 0] - touching[..., 2] + radii, axis=1, initial=0.0)
        names, places = [str(name) for name in data["point"]], data["points"]
        depths = surface_at(field, places[..., :2])[..., 0] - places[..., 2]
        for t, under in zip(data["time"], depths > deepest[:, None] + UNDER_GROUND, strict=True):
            if under.any():
                name = names[int(under.argmax())]
                only = "which only feet and contact points touch"
                return [(float(t), f"{name} is under the ground, {only}: the robot has fallen")]
        return []

    def _arrays(self, rows: Floats) -> Arrays:
        model, system = self.system.model, self.system
        times, x, efforts, rates, contacts = recorded(system, rows)
        held = np.concatenate([efforts, servo_targets(system, times)], axis=1)
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
        }
        more |= force_arrays(system, times, q)
        outside = _integrated(times, path.outside_power[:, None])[:, 0]
        air = np.zeros((len(times), 3))
        if model.robot.has_drag():
            air = _integrated(times, model.air_forces(q, v).sum(axis=1))
        flags = {"contact": ", ".join(f"{k} {name}" for k, name in enumerate(CONTACT_NAMES))}
        points = tuple(model.layout.contact_points)
        data = named_arrays(model, times, q, v, tau, points, more, flags, force_names(system))
        balances = {
            "energy_balance_error": _energy_balance(data, outside),
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


def servo_targets(system: System, times: Floats) -> Floats:
    """Targets of all servos at times [s]: angles [rad], then rates [rad/s], (times, …)."""
    found = [servo.table.at(times) for servo in system.servos]
    if not found:
        return np.zeros((len(times), 0))
    return np.concatenate([*(values for values, _ in found), *(rates for _, rates in found)], axis=1)


def record_columns(system: System) -> list[int]:
    """Where the parts of a recorded row begin (see `contact.stepping.record_sample`): state, efforts, impulses, work of
    the feet, work of the joints, forces, anchors, modes, acceleration of the state; the time comes before."""
    count, n = len(system.model.layout.contact_points), system.size
    return list(np.cumsum([1, n, system.efforts, 3 * count, count, 1, 3 * count, 3 * count, count]))


def recorded(system: System, rows: Floats) -> tuple[Floats, Floats, Floats, Floats, dict[str, Floats]]:
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
"""What is recorded of feet on compliant ground: dimensions and unit."""


def _energy_balance(data: Arrays, outside: Floats) -> float:
    """Largest difference between energy gained and work done by joints, ground and outside forces, as a share of what
    moved."""
    kinetic, height = data["kinetic_energy"], data["gravitational_energy"]
    work = data["joint_work"] + data["foot_work"].sum(axis=1) + outside
    gained = kinetic + height - kinetic[0] - height[0]
    moved = max(np.ptp(part) for part in (kinetic, height, work))
    return float(np.abs(gained - work).max() / max(moved, 1e-6 * max(kinetic.max(), np.abs(height).max()), 1e-300))


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
