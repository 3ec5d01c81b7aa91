"""Trees on compliant ground by the linearly implicit Euler method: steps of runs, and what their driver takes."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from tailwork.errors import ArgumentError
from tailwork.kernels.language import lanes
from tailwork.simulation.batch.kernels import ask_designs, evaluated, finite, parameter_rows
from tailwork.simulation.contact.compliant_stepping import GroundJob, advance
from tailwork.simulation.contact.friction import FRICTION, NUMBERS, SEEN, Feet
from tailwork.simulation.contact.ground import CompliantGround, surface_at
from tailwork.simulation.contact.on_ground import (
    OnGround,
    Pace,
    ground_parameters,
    height_under,
    pace_or_error,
    step_count,
    touching_at_start,
    under_ground,
    within_period,
)
from tailwork.simulation.contact.record import UNDER_GROUND
from tailwork.simulation.contact.stepping import GroundRuns, Parameters, Tables
from tailwork.simulation.integrate.compiled import lane_kernel
from tailwork.simulation.integrate.integrator import Start
from tailwork.simulation.integrate.tableaus import IMPLICIT_EULER
from tailwork.simulation.run import Contact
from tailwork.simulation.system import System
from tailwork.typing import Floats

CHOSEN, ALLOWED = 0.1, 2.0
"""Step times the fastest frequency of robot and ground: what is chosen, and the most that is allowed. Beyond it a touch
is over within a step or two, and what the method gives is not the motion any more."""

MOST_CHOSEN = 1000
"""Steps of a run whose feet nothing moves."""


def contact_frequencies(system: System, ground: CompliantGround, start: Start, pool: Executor | None = None) -> Floats:
    """Fastest frequency of each robot on its ground with all points touching, at its state [rad/s], (runs,).

    The root of the largest eigenvalue of K_c J M⁻¹ Jᵀ, K_c the ground's stiffness and J of all contact points.
    """
    model = system.model
    kernel, names = system.compiled("feet")
    runs, count, n_q, n_v = len(start.states), len(model.layout.contact_points), len(system.free_q), len(system.free_v)
    parameters = parameter_rows(names, system.numbers, start.columns, runs)
    rows = np.zeros((runs, 1 + n_v, 1 + system.size + system.control_inputs))
    rows[:, :, 1 : 1 + n_q] = start.states[:, None, :n_q]
    rows[:, 1:, 1 + n_q : 1 + system.size] = np.eye(n_v)  # the first row is still: prescribed limbs may move
    seen = evaluated(kernel, parameters, rows, pool)
    velocities, rolling = (seen[:, :, k * count : (k + 3) * count].reshape(runs, 1 + n_v, count, 3) for k in (3, 6))
    slopes = surface_at(ground.field(), seen[:, :1, : 3 * count].reshape(runs, 1, count, 3)[..., :2])[..., 1:]
    normals = np.concatenate([-slopes, np.ones((runs, 1, count, 1))], axis=-1)
    normals = np.nan_to_num(normals / np.linalg.norm(normals, axis=-1, keepdims=True))
    rolled = np.asarray(np.cross(rolling, normals), dtype=np.float64)
    of_points = (velocities - rolled).reshape(runs, 1 + n_v, 3 * count)
    jacobian = of_points[:, 1:] - of_points[:, :1]
    expand, own = system.compiled("expand")
    still = evaluated(expand, parameter_rows(own, system.numbers, start.columns, runs), rows[:, :1], pool)
    q, size = still[..., : len(model.coordinate_names)], len(model.velocity_names)
    unit = np.concatenate([np.zeros((1, size)), np.eye(size)])[None]
    given = {"q": q, "v": np.zeros((1, 1, size)), "a": unit}
    force = ask_designs(model, "generalised_force", start.columns, given, pool)["force"]
    mass = (force[:, 1:] - force[:, :1])[:, system.free_v][:, :, system.free_v]
    order = [
        ground.parameter_names.index(name) for name in ("tangential_stiffness", "tangential_stiffness", "stiffness")
    ]
    root, found = np.sqrt(ground_parameters(ground, start)[:, order * count]), np.full(runs, np.inf)
    rows_at = np.flatnonzero(finite(mass) & finite(jacobian))
    with np.errstate(over="ignore"):
        mobility = np.swapaxes(jacobian[rows_at], 1, 2) @ np.linalg.solve(mass[rows_at], jacobian[rows_at])
        matrices = root[rows_at, :, None] * mobility * root[rows_at, None]
    fine = finite(matrices)
    found[rows_at[fine]] = np.sqrt(np.linalg.eigvalsh(matrices[fine]).max(axis=1))
    return found


def contact_frequency(system: System, ground: CompliantGround, x: Floats) -> float:
    """That of one robot at a state x [rad/s]."""
    return float(contact_frequencies(system, ground, Start(x[None], np.zeros((1, system.control_inputs)), {}))[0])


def paced(frequency: float, duration: float, step: float | None, samples: int = 2, rate: float | None = None) -> Pace:
    """Steps that divide the duration: as asked if they are short enough, or chosen for the frequency of robot and
    ground [rad/s]; then so that they divide the period of a controller that is asked at a rate [Hz], or else the spaces
    between samples."""
    if not isfinite(frequency):
        required = "a start that can be evaluated, on ground that is less stiff: its frequency is beyond all numbers"
        raise ArgumentError("ground", "robot and ground", required)
    good = CHOSEN / frequency if frequency > 0.0 else duration / MOST_CHOSEN
    good = within_period(good, step, rate)
    if step is not None and step * frequency > ALLOWED:
        required = (
            f"at most {ALLOWED / frequency:.3g} s: feet and ground swing at {frequency:.4g} rad/s. Leave the step out "
            f"({good:.3g} s would be taken) or make the ground softer"
        )
        raise ArgumentError("step", step, required)
    count = step_count(duration, good if step is None else step)
    if step is None and rate is None:
        count = int(np.ceil(count / (samples - 1))) * (samples - 1)
    why = f"steps of {duration / count:.3g} s; step times the ground's frequency {duration / count * frequency:.2g}"
    if step is not None and step > good:
        why += f", coarser than the {CHOSEN:g} that is taken of itself"
    return Pace(duration / count, count, why)


@dataclass(frozen=True)
class OnCompliantGround(OnGround):
    """Runs of a system on compliant ground."""

    ground: CompliantGround
    advance = advance
    method = IMPLICIT_EULER

    def kernels(self) -> dict[str, tuple[str, ...]]:
        """Parameters by kernel."""
        names = {"see": "feet", "solve": "step", "watch": "ground_events"}
        wanted = {name: own for name, own in names.items() if name != "watch" or len(self.stops)}
        return {"watch": ()} | {name: self.system.compiled(own)[1] for name, own in wanted.items()}

    def paces(
        self, start: Start, duration: float, step: float | None, samples: int, rate: float | None
    ) -> list[Pace | ArgumentError]:
        """For the frequency of robot and ground."""
        return [pace_or_error(paced, float(frequency), duration, step, samples, rate)
                for frequency in contact_frequencies(self.system, self.ground, start)]  # fmt: skip

    def checked_contact(self, contact: Contact | None, places: Floats) -> Contact:
        """Feet at or above the ground, or anchors of those that touch."""
        found, depths = touching_at_start(self.names, contact), {}
        for name, place, state, anchor in zip(self.names, places, found.states, found.anchors, strict=True):
            height = height_under(self.ground, name, place)[0]
            if state == "air":
                depths[name] = float(height - place[2] + place[3])
            elif not np.isfinite(anchor).all():
                raise ArgumentError("contact", name, "an anchor for a foot that touches")
        required = (
            "feet at or above the ground: start from posed(model) or walking_start(…), which stand on z = 0, higher up "
            "where the ground is (`torso_place`); or give `contact`, such as run.final_contact, for feet that stand in "
            "the ground already"
        )
        if contact is None:
            under_ground(depths, UNDER_GROUND, required)
        return found

    def job(self, width: int, runs: GroundRuns, numbers: dict[str, Parameters], tables: Tables, logging: bool) -> Any:
        """A driver's job."""
        system, whole, n, count = self.system, np.int64, self.system.size, len(self.names)
        see, solve = (lane_kernel(system.compiled(name)[0], width) for name in ("feet", "step"))
        known = 1 + n + system.control_inputs
        room = lanes(
            width, see_constants=max(see.kept, 1), solve_constants=max(solve.kept, 1),
            inputs=known + 1 + NUMBERS * count, seen=SEEN * count, answers=n + 3 * count + 1, anchors=3 * count,
            ends=3 * count, forces=3 * count, impulses=3 * count, work=count, joint_work=1, inverse=count * count,
            friction=FRICTION * count, normals=count, law=len(self.ground.parameter_names),
        )  # fmt: skip
        per_foot = {name: np.zeros(count * width, whole) for name in ("modes", "modes_new", "together")}
        feet = Feet(
            count=count, n=n, field=self.ground.field(), see=see, solve=solve, known=known,
            **room, **per_foot, status=np.zeros(width, whole), moded=np.zeros(width, whole),
        )  # fmt: skip
        kept = ("anchors", "forces", "impulses", "work", "joint_work")
        own = self.lanes(
            width, runs, tables, system.compiled("ground_events")[0] if len(self.stops) else None, numbers["watch"],
            logging, count, room["inputs"][1 : 1 + n], room["inputs"][1 + n : 1 + n + system.efforts],
            max(see.kept, solve.kept), modes=per_foot["modes"], **{name: room[name] for name in kept},
        )  # fmt: skip
        return GroundJob(
            lanes=own,
            feet=feet,
            see_numbers=numbers["see"],
            solve_numbers=numbers["solve"],
            laws=numbers["ground"],
            **lanes(width, clock=2),
        )
