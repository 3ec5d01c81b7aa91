"""What measures look at: quantities over time, of one run or of many designs at once.

All arrays are (…, times, …): a single run has no dimension before the times, a batch has one, its runs.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tailwork.algebra.columns import columns, plain
from tailwork.mechanics.attitude import attitude_rates, rotation_matrix
from tailwork.model import Model
from tailwork.robots.robot import Robot
from tailwork.robots.tails import R3, Usrt
from tailwork.simulation import Run, Tile
from tailwork.simulation.run import GAUSS_NODES, GAUSS_WEIGHTS, unbalanced
from tailwork.studies.manoeuvre import Manoeuvre
from tailwork.studies.tail_coordinates import shapes
from tailwork.typing import Floats

PATH = {"prescribed_effort": "prescribed_efforts", "power": "powers", "foot_force": "foot_forces"}
MOMENTA = {
    "part_mass": "masses",
    "part_center": "centers",
    "part_linear_momentum": "linear",
    "part_angular_momentum": "angular",
}
"""Names of quantities, as `Run.data` has them, and of the model's answers."""
MOST_ROWS = 2**13
"""States of several runs that are looked at together: enough to be quick, few enough for the memory near by."""
LEAST_RUNS = 16
"""Runs that are integrated together, however many their steps, so that no lane waits."""


@dataclass(frozen=True)
class Design:
    """Numbers of a robot that measures use: of one, or of many, which then is the first dimension."""

    gravity: Floats  # [m/s²]
    mount: Floats  # of the tail, in the torso frame [m]
    ratios: Floats  # of the tail's actuators; 1 for those that have none
    link_length: Floats  # of an R3 or USRT tail [m]; not a number for others
    link_com: Floats  # likewise

    @classmethod
    def of(cls, robot: Robot, tail: str, count: int | None = None) -> Design:
        """From a robot, or from a robot whose numbers are columns of `count` each."""
        part, shape = robot.part(tail), () if count is None else (count,)
        lengths = [getattr(part, name, np.nan) for name in ("link_length", "link_com")]
        ratios = [getattr(actuator, "ratio", 1.0) for actuator in robot.limbs()[tail].actuators]
        return cls(*(plain(values, shape) for values in (robot.gravity, part.mount, ratios, *lengths)))

    def only(self, rows: Any) -> Design:
        """Some of many."""
        return Design(*(getattr(self, f.name)[rows] for f in dataclasses.fields(self)))


@dataclass(frozen=True, eq=False)
class Samples(ABC):
    """Quantities over time of the runs of a manoeuvre."""

    manoeuvre: Manoeuvre  # of a batch: of one of its designs
    design: Design

    @property
    @abstractmethod
    def model(self) -> Model:
        """With the names of everything; of a batch: of one of its designs."""

    @property
    @abstractmethod
    def times(self) -> Floats:
        """[s], (…, times)."""

    @property
    @abstractmethod
    def attitude(self) -> Floats:
        """phi_x, phi_y, phi_z of the torso [rad]."""

    @abstractmethod
    def quantity(self, name: str) -> Floats:
        """A quantity as `Run.data` names it, or "part_mass" [kg], (…, times, …)."""

    @abstractmethod
    def energy_balance(self) -> Floats:
        """As `Run.energy_balance_error`, (…)."""

    @cached_property
    def _found(self) -> dict[Callable[[Any], Floats], Floats]:
        return {}

    def once(self, measure: Callable[[Any], Floats]) -> Floats:
        """What a function says of these samples, computed but once."""
        if measure not in self._found:
            self._found[measure] = measure(self)
        return self._found[measure]

    def of_limb(self, name: str, names: Sequence[str], limb: str) -> Floats:
        """The columns of a quantity that belong to a limb."""
        kept = [k for k, column in enumerate(names) if column.split(".")[0] == limb]
        return self.quantity(name)[..., kept] if kept else np.zeros((*self.times.shape, 0))

    @cached_property
    def rates(self) -> Floats:
        """Rates of the attitude [rad/s]."""
        omega = np.array(columns(self.quantity("v")[..., 3:6]), dtype=object)
        found = attitude_rates(self.model.layout.attitude, columns(self.attitude), omega)
        return plain(found, self.times.shape)

    @cached_property
    def rotations(self) -> Floats:
        """Of the torso, from its frame to the inertial frame, (…, times, 3, 3)."""
        return plain(rotation_matrix(self.model.layout.attitude, columns(self.attitude)), self.times.shape)

    @cached_property
    def shares(self) -> Floats:
        """How much of the motion should be done, (…, times)."""
        asked, where = np.unique(self.times, return_inverse=True)
        share = self.manoeuvre.motion.share
        return np.array([share.value(float(t)) for t in asked])[where].reshape(self.times.shape)

    @cached_property
    def directions(self) -> Floats:
        """Where the tail's centre of mass is seen from its mount: unit vectors in the torso frame."""
        center = self.quantity("part_center")[..., self.model.part_names.index(self.manoeuvre.tail), :]
        away = np.einsum("...ji,...j->...i", self.rotations, center - self.quantity("q")[..., :3])
        local = away - self.design.mount[..., None, :]
        return local / np.linalg.norm(local, axis=-1, keepdims=True)

    @cached_property
    def wanted_directions(self) -> Floats:
        """Where the motion would have it: unit vectors in the torso frame."""
        alpha, theta = self.manoeuvre.motion.directions(self.shares)
        return np.stack([-np.sin(theta) * np.sin(alpha), -np.cos(theta), -np.sin(theta) * np.cos(alpha)], axis=-1)

    @cached_property
    def wanted_shapes(self) -> dict[str, Floats]:
        """Coordinates that an R3 or USRT tail should have [rad]; each tail and each row of times is looked at once."""
        part = self.manoeuvre.tail_part
        assert isinstance(part, (R3, Usrt))
        lead = self.times.shape[:-1]
        shares = self.shares.reshape(-1, self.times.shape[-1])
        lengths = np.stack([self.design.link_length, self.design.link_com], axis=-1).reshape(-1, 2)
        by_tail = self.manoeuvre.com_map == "chain"
        rows = np.hstack([shares, lengths]) if by_tail else shares
        _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        found = []
        for k in first:
            length, com = map(float, lengths[k])
            own = dataclasses.replace(part, link_length=length, link_com=com) if by_tail else part
            found.append(shapes(own, self.manoeuvre.motion, self.manoeuvre.com_map, shares[k]))
        return {name: np.array([shape[name] for shape in found])[which.ravel()].reshape(*lead, -1) for name in found[0]}


@dataclass(frozen=True, eq=False)
class RunSamples(Samples):
    """Of a single run."""

    run: Run

    @property
    def model(self) -> Model:
        """Of the run."""
        return self.run.model

    @cached_property
    def times(self) -> Floats:
        """Of the run's data."""
        return self.run.data["time"].to_numpy()

    @property
    def attitude(self) -> Floats:
        """From q."""
        return self.quantity("q")[:, 3:6]

    def quantity(self, name: str) -> Floats:
        """From the run's data; nothing where it has none."""
        if name == "part_mass":
            start = (self.quantity("q")[0], self.quantity("v")[0])
            return np.tile(self.model.part_momenta(*start).masses, (len(self.times), 1))
        return self.run.data[name].to_numpy() if name in self.run.data else np.zeros((len(self.times), 0))

    def energy_balance(self) -> Floats:
        """The run's own."""
        return np.array(self.run.energy_balance_error())


def run_samples(run: Run, manoeuvre: Manoeuvre) -> RunSamples:
    """What measures look at in a run."""
    return RunSamples(manoeuvre, Design.of(manoeuvre.robot, manoeuvre.tail), run)


@dataclass(frozen=True, eq=False)
class TileSamples(Samples):
    """Of some runs of a batch. What no measure asks for is not computed."""

    tile: Tile

    @property
    def model(self) -> Model:
        """Of one of the designs."""
        return self.tile.system.model

    @property
    def times(self) -> Floats:
        """Of each run its own."""
        return self.tile.times

    @property
    def attitude(self) -> Floats:
        """From the states: the torso's coordinates come first."""
        return self.tile.states[..., 3:6]

    def quantity(self, name: str) -> Floats:
        """From the states."""
        if name in PATH:
            return self._path[PATH[name]]
        return self._momenta[MOMENTA[name]] if name in MOMENTA else getattr(self.tile, name)

    @cached_property
    def _path(self) -> dict[str, Floats]:
        return _path(self.tile)

    @cached_property
    def _momenta(self) -> dict[str, Floats]:
        return self.tile.ask("part_momenta", q=self.tile.q, v=self.tile.v)

    def energy_balance(self) -> Floats:
        """From states within the steps of each run."""
        tile, ends = self.tile, self.tile.step_ends()
        rows = max(LEAST_RUNS, MOST_ROWS // max(1, ends.shape[1] * len(GAUSS_NODES)))
        parts = [slice(k, min(k + rows, len(ends))) for k in range(0, len(ends), rows)]
        return np.concatenate([_energy_balance(tile.part(here), ends[here]) for here in parts])


def _path(tile: Tile) -> dict[str, Floats]:
    return tile.ask("path", q=tile.q, v=tile.v, tau=tile.tau, prescribed_acceleration=tile.given)


def _energy_balance(tile: Tile, ends: Floats) -> Floats:
    """Largest difference between the energy gained and the work done, as a share of the energy that moved, by run."""
    start = np.zeros((len(ends), 1))
    length = np.diff(ends, axis=1, prepend=start)
    if not length.size:
        return np.zeros(len(ends))
    nodes = (ends - length)[..., None] + length[..., None] * (GAUSS_NODES + 1.0) / 2.0
    within = np.concatenate([nodes, ends[..., None]], axis=2)
    seen = tile.again(np.concatenate([start, within.reshape(len(ends), -1)], axis=1))
    path = _path(seen)
    rates = (path["powers"].sum(axis=-1) - path["dissipation"])[:, 1:].reshape(within.shape)[..., :-1]
    work = np.concatenate([start, np.cumsum((rates @ GAUSS_WEIGHTS) * length / 2.0, axis=1)], axis=1)
    at_ends = slice(None, None, within.shape[2])
    energies = tile.ask("energy", q=seen.q[:, at_ends], v=seen.v[:, at_ends])["energies"]
    return unbalanced(energies, work)
