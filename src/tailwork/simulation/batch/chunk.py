"""Some runs of a batch: how they are integrated, and what a measure sees of them."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tailwork.algebra.columns import Column, stacked
from tailwork.errors import StateError
from tailwork.model import Model
from tailwork.robots.paths import rebuild, robot_numbers
from tailwork.simulation.batch.kernels import ask_designs, evaluated, parameter_rows
from tailwork.simulation.contact.on_ground import OnGround
from tailwork.simulation.contact.record import fallen, record_parts, servo_targets
from tailwork.simulation.integrate.balance import POOR_ON_GROUND, poor_balance, unbalanced
from tailwork.simulation.integrate.integrator import Ends, Integrator, Start
from tailwork.simulation.stopping import FINISHED, REFUSED
from tailwork.simulation.system import System
from tailwork.typing import Floats

MOST_ROWS = 2**13
"""States of several runs that are looked at together: enough to be quick, few enough for the memory near by."""


@dataclass(frozen=True)
class Chunk:
    """Some runs of a batch with their samples, as a measure sees them: (runs, times, …)."""

    first: int  # number of the first run in the batch
    times: Floats  # [s]; (runs, times) where samples go to the end of each run
    ends: Ends  # what becomes of the runs
    possible: np.ndarray  # which designs are: the others were refused
    integrator: Integrator | OnGround  # how the runs were integrated
    start: Start  # where they began, with their designs
    pool: Executor | None = None  # threads that answer; None: this one

    @property
    def states(self) -> Floats:
        """Samples of what is integrated, (runs, times, numbers) [SI]; NaN after a run's end."""
        return self.ends.samples

    @property
    def ended(self) -> Floats:
        """When each run ended [s]."""
        return self.ends.times

    @property
    def system(self) -> System:
        """What was integrated."""
        return self.integrator.system

    def part(self, here: slice) -> Chunk:
        """Some of its runs, for a thread of its own."""
        times = self.times[here] if self.times.ndim > 1 else self.times
        return replace(
            self, first=self.first + here.start, times=times, ends=self.ends.only(here), possible=self.possible[here],
            start=self.start.only(here), pool=None,
        )  # fmt: skip

    def again(self, times: Floats) -> Chunk:
        """The same runs, sampled at other times [s], (runs, times), not decreasing."""
        return replace(self, times=times, ends=self.integrator.ends(self.start, times, self.pool, whole=self.possible))

    def ask(self, question: str, **arguments: Floats) -> dict[str, Floats]:
        """One of the model's functions, each run with its own design; arguments and answers are (runs, times, …),
        in SI units.
        """
        model, columns = self._designs()
        return ask_designs(model, question, columns, arguments, self.pool)

    def _designs(self) -> tuple[Model, Mapping[str, Floats]]:
        """A model whose equations hold for all designs, and the numbers in which they differ.

        Where totals or numbers that are zero vary, it is not that of the system: totals become the numbers that follow
        from them, and its equations are not pruned where some design has a number.
        """
        system, columns = self.system, self.start.columns
        robot, layout = system.model.robot, system.model.layout
        if not columns.keys() & {*system.totals, *system.opened}:
            return system.model, columns
        known = {*robot_numbers(robot), *system.totals}
        varied = robot.replace({path: Column(values) for path, values in columns.items() if path in known})
        found: dict[str, Floats] = {}

        def visit(path: str, value: Any, kind: Any) -> Any:
            if not isinstance(value, Column):
                return value
            found[path] = stacked(value, (len(self.states),))
            fine = found[path][self.possible] if self.possible.any() else found[path]
            return float(fine[np.abs(fine).argmax()])

        own = rebuild(varied, visit)
        more: dict[str, Any] = {name: getattr(layout, name) for name in ("prescribed", "torso", "attitude")}
        return Model(own, layout.stance, **more), found

    def energy_balance(self) -> Floats:
        """As `Run.energy_balance_error`, by run [1]; NaN where a run was refused or has not begun."""
        at = self.ends.moments(self.start.states, self.integrator.begin)
        seen = replace(self, times=np.nan_to_num(at[..., 0]), ends=self.ends._replace(samples=at[..., 2:]))
        energies = self.ask("energy", q=seen.q, v=seen.v)["energies"]
        found = unbalanced(energies[..., :2], at[..., 1])
        begun = self.possible & np.isfinite(self.ends.states).all(axis=1)
        return np.where(begun, np.nan_to_num(found, nan=np.inf, posinf=np.inf), np.nan)

    def warnings(self, errors: Floats, trusted: float) -> list[str]:
        """By run: what speaks against trusting it, in words; empty: nothing. Energy balances worse than `trusted` [1]
        do, and on ground a robot that is under it in the end."""
        if not isinstance(self.integrator, OnGround):
            return [poor_balance(float(error), trusted) for error in errors]
        last = replace(self, times=self.ended[:, None], ends=self.ends._replace(samples=self.ends.states[:, None]))
        places = self.ask("points", q=last.q)["points"][:, 0]
        touching = self.integrator.places(replace(self.start, states=self.ends.states), self.ended)
        integrator = self.integrator
        down = fallen(integrator.ground, self.system.model.point_names, places, touching, integrator.least_depth)
        poor = [POOR_ON_GROUND if error > trusted else "" for error in errors]
        return ["; ".join(filter(None, own)) for own in zip(down, poor, strict=True)]

    @cached_property
    def _full(self) -> tuple[Floats, ...]:
        kernel, names = self.system.compiled("expand")
        runs, rows, _ = self.states.shape
        times = np.broadcast_to(self.times[..., None], (runs, rows, 1))
        held = np.repeat(self.start.control_inputs[:, None], rows, axis=1)
        if isinstance(self.integrator, OnGround) and self.system.servos:
            tables = self.integrator.tables_by_run(self.start)
            for k, own in enumerate(times):
                held[k, :, self.system.efforts :] = servo_targets(tables[k % len(tables)], own[:, 0])
        inputs = np.concatenate([times, self.states, held], axis=2)
        parameters = parameter_rows(names, self.system.numbers, self.start.columns, runs)
        found = evaluated(kernel, parameters, inputs, self.pool)
        layout = self.system.model.layout
        sizes = [len(layout.coordinate_names), len(layout.velocity_names), len(layout.actuator_names)]
        return tuple(np.split(found, np.cumsum(sizes), axis=2))

    @cached_property
    def feet(self) -> dict[str, Floats]:
        """On ground, by name as in `Run.data`: foot_force [N], foot_impulse [N s], foot_work [J], joint_work
        [J], contact (−1 after a run's end), anchor [m]; (runs, times, …)."""
        if not isinstance(self.integrator, OnGround):
            raise StateError("feet", "required: a batch on ground")
        return record_parts(self.system, self.ends.contacts)[-1]

    @property
    def q(self) -> Floats:
        """Coordinates [m, rad]."""
        return self._full[0]

    @property
    def v(self) -> Floats:
        """Velocities [m/s, rad/s]."""
        return self._full[1]

    @property
    def tau(self) -> Floats:
        """Efforts [N m or N]."""
        return self._full[2]

    @property
    def prescribed_acceleration(self) -> Floats:
        """Accelerations of the prescribed coordinates [rad/s²]."""
        return self._full[3]


def to_ends(chunk: Chunk, status: np.ndarray) -> Chunk:
    """The chunk with as many samples of runs that ended early, up to their ends: those runs are done once more."""
    times = np.repeat(chunk.times[None], len(chunk.states), axis=0)
    early = np.flatnonzero((status != FINISHED) & (status != REFUSED))
    if len(early):
        times[early] = [np.linspace(0.0, end, chunk.times.size) for end in chunk.ended[early]]
        chunk.ends.samples[early] = chunk.integrator.ends(chunk.start.only(early), times[early], chunk.pool).samples
    return replace(chunk, times=times)
