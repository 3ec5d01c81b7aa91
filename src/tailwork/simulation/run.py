"""What a simulation leaves: named quantities over time, why it ended, and how far it can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray

from tailwork.errors import FileError
from tailwork.kernels.kernel import Floats
from tailwork.model import Model
from tailwork.model.results import PathValues
from tailwork.simulation.dense import Trajectory

GAUSS_NODES, GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(5)


def path_values(model: Model, q: Floats, v: Floats, tau: Floats, given: Floats) -> PathValues:
    """As Model.path; also at the end of a run that stopped because a cable would have to push."""
    return PathValues(**model.ask("path", q=q, v=v, tau=tau, given=given, forces=None))


@dataclass(frozen=True)
class Stopped:
    """Why and when a run ended before its time."""

    time: float  # [s]
    reason: str


@dataclass(frozen=True, repr=False)
class Run:
    """A finished simulation.

    `data` holds, over `time`: q, v, tau, acceleration, foot_force, extension, power, energies, momenta and points, each
    with its names and units.
    """

    model: Model
    trajectory: Trajectory
    data: xarray.Dataset
    stopped: Stopped | None  # None: it went to its end
    events: tuple[tuple[float, str], ...]  # (time [s], what happened)
    method: str
    why_method: str

    def __repr__(self) -> str:
        return self.summary()

    @cached_property
    def duration(self) -> float:
        """Time simulated [s]."""
        return float(self.trajectory.times[-1] - self.trajectory.times[0])

    def energy_balance_error(self) -> float:
        """Largest difference between the energy gained and the work done, less dissipation, as a share of the energy
        that moved."""
        t0, h = self.trajectory.times[:-1], np.diff(self.trajectory.times)
        if not len(h):
            return 0.0
        nodes = (t0[:, None] + h[:, None] * (GAUSS_NODES + 1.0) / 2.0).ravel()
        path = self.path(nodes)
        rate = (path.powers.sum(axis=-1) - path.dissipation).reshape(len(h), -1)
        work = np.concatenate([[0.0], np.cumsum((rate @ GAUSS_WEIGHTS) * h / 2.0)])
        q, v, _, _ = self.trajectory.full(self.trajectory.times)
        energy = self.model.energy(q, v)
        parts = (energy.kinetic, energy.gravitational, energy.elastic, work)
        # Where next to nothing moves, rounding is judged against a millionth of the energy that is there.
        moved = max(*(np.ptp(part) for part in parts), 1e-6 * max(np.abs(part).max() for part in parts), 1e-300)
        return float(np.abs(energy.total - energy.total[0] - work).max() / moved)

    def foot_closure_error(self) -> float:
        """Farthest that a pinned foot is from its place [m]."""
        worst = 0.0
        for name in self.model.foot_names:
            foot = self.model.layout.limbs[name].foot
            assert foot is not None
            found = self.data["points"].sel(point=f"{name}.foot").to_numpy()
            worst = max(worst, float(np.abs(found - np.array(foot.place, dtype=float)).max()))
        return worst

    def min_normal_force(self) -> float:
        """Smallest normal force on a pinned foot [N]; negative: a foot would have had to pull."""
        return float(self.data["foot_force"].sel(axis="z").min()) if self.model.foot_names else np.inf

    def friction_needed(self) -> float:
        """Largest ratio of tangential to normal force on a pinned foot; infinite where a foot would pull."""
        if not self.model.foot_names:
            return 0.0
        force = self.data["foot_force"].to_numpy()
        across, normal = np.hypot(force[..., 0], force[..., 1]), force[..., 2]
        return float(np.where(normal > 0, across / np.where(normal > 0, normal, 1.0), np.inf).max())

    def assumption_held(self, friction: float = 1.0) -> bool:
        """Whether the feet would have stayed where they are: none pulls, none needs more friction than this."""
        return self.min_normal_force() > 0.0 and self.friction_needed() <= friction

    def path(self, times: Floats) -> PathValues:
        """Accelerations, foot forces, powers and so on at any times within the run [s]."""
        return path_values(self.model, *self.trajectory.full(times))

    def save(self, file: str) -> None:
        """Write `data` as NetCDF."""
        try:
            self.data.to_netcdf(file, engine="scipy")
        except OSError as error:
            raise FileError(file, error.strerror or str(error)) from None

    def summary(self) -> str:
        """The run in a few lines."""
        lines = [f"{self.model.robot.name}: {self.duration:.4g} s by {self.method} ({self.why_method})"]
        if self.stopped is not None:
            lines.append(f"stopped at {self.stopped.time:.4f} s: {self.stopped.reason}")
        ended = None if self.stopped is None else (self.stopped.time, self.stopped.reason)
        lines += [f"at {time:.4f} s: {what}" for time, what in self.events if (time, what) != ended]
        lines.append(f"energy balance to {self.energy_balance_error():.1e}")
        if self.model.foot_names:
            normal, friction = self.min_normal_force(), self.friction_needed()
            stay = f"the feet would stay where friction is at least {friction:.3g}"
            lines.append(f"smallest normal force {normal:.4g} N: {stay if normal > 0 else 'a foot would have to pull'}")
        return "\n".join(lines)
