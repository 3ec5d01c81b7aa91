"""A scenario on compliant ground beside the same one on pinned feet: when feet slip or lift, and how far off it is.

Pinned feet are the limit of ever stiffer ground, as long as every foot pushes and friction suffices. So the difference
between the two falls as 1/stiffness until the pinned model asks for more than the ground can give, and soon after that
time feet slip or lift on stiff ground.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path

import numpy as np

from tailwork.errors import ArgumentError, as_floats
from tailwork.robots.robot import Robot
from tailwork.simulation import Run
from tailwork.simulation.contact.ground import AIR, STATIC_FRICTION, CompliantGround, RigidGround
from tailwork.simulation.pose import torso_rotations
from tailwork.studies.compare.comparison import Progress
from tailwork.studies.compare.on_ground import check_standing, perform_on_ground, perform_on_rigid_ground
from tailwork.studies.perform import perform
from tailwork.studies.scenario import Scenario
from tailwork.typing import Floats

PINNED, RIGID = "pinned", "rigid"
TIMES_STIFFER = (0.1, 1.0, 10.0)
"""Grounds by default, beside that of `CompliantGround.for_robot` [1]."""
ROUNDING = 1e-9  # of times


def stiffness_text(ground: CompliantGround) -> str:
    """A ground's stiffness [N/m] as one writes it: 1e4, 2.5e5."""
    return f"{Decimal(repr(float(ground.stiffness))).normalize():e}".replace("e+", "e")


@dataclass(frozen=True)
class FirstTimes:
    """When a foot first slips and first lifts [s]; None: it does not."""

    slips: float | None
    lifts: float | None

    @property
    def known(self) -> list[float]:
        """Those that there are."""
        return [time for time in (self.slips, self.lifts) if time is not None]


def pinned_times(run: Run, friction: float) -> dict[str, FirstTimes]:
    """By pinned foot: when it first needs more friction than this, and when it would first have to pull.

    Between the samples of the run by straight lines.
    """
    times, found = run.data["time"].to_numpy(), {}
    for foot in run.model.foot_names:
        force = run.data["foot_force"].sel(foot=foot).to_numpy()
        left = friction * force[:, 2] - np.hypot(force[:, 0], force[:, 1])
        found[foot] = FirstTimes(_first_below(times, left), _first_below(times, force[:, 2]))
    return found


def ground_times(run: Run) -> dict[str, FirstTimes]:
    """By foot on compliant ground: when it first slipped, and when it first left the ground."""
    found = {}
    for foot in run.model.layout.legs:
        state = int(run.data["contact"].sel(foot=foot).to_numpy()[0])
        firsts = {what: time for time, name, what in reversed(run.changes) if name == foot}
        found[foot] = FirstTimes(firsts.get("slip"), 0.0 if state == AIR else firsts.get("air"))
    return found


def _first_below(times: Floats, values: Floats) -> float | None:
    """When a sampled quantity first falls below zero."""
    below = np.flatnonzero(values < 0.0)
    if not len(below):
        return None
    k = int(below[0])
    if k == 0:
        return float(times[0])
    return float(times[k - 1] + (times[k] - times[k - 1]) * values[k - 1] / (values[k - 1] - values[k]))


@dataclass(frozen=True, eq=False)
class GroundRun:
    """A scenario on compliant ground, beside the same one on pinned feet.

    The method errs in proportion to its step, which would hide how near stiff ground comes to pinned feet. So the
    torso's way is extrapolated to steps of zero, from two runs with steps of which one is half the other.
    """

    ground: CompliantGround
    pinned: Run
    run: Run
    coarse: Run  # with steps twice as long

    @cached_property
    def first_times(self) -> dict[str, FirstTimes]:
        """By foot: when it slipped and left the ground."""
        return ground_times(self.run)

    @cached_property
    def times(self) -> Floats:
        """Samples at which all runs were still going [s]."""
        ends = [run.data["time"].to_numpy()[-1] for run in (self.pinned, self.run, self.coarse)]
        times = self.run.data["time"].to_numpy()
        return np.minimum(times[times <= min(ends) * (1.0 + ROUNDING)], min(ends))

    @cached_property
    def _torsos(self) -> tuple[Floats, Floats]:
        """Place and angles of the torso over `times`: on the ground, and pinned."""
        fine, coarse = (run.data["q"].to_numpy()[: len(self.times), :6] for run in (self.run, self.coarse))
        if self.pinned.trajectory is None:
            raise ArgumentError(
                "pinned", self.pinned.model.robot.name, "a run that was just performed, not one of a file"
            )
        return 2.0 * fine - coarse, self.pinned.trajectory.full(self.times)[0][:, :6]

    @property
    def sinking(self) -> float:
        """How much lower the torso starts than on pinned feet [m]."""
        soft, pinned = self._torsos
        return float(pinned[0, 2] - soft[0, 2])

    @cached_property
    def place_difference(self) -> Floats:
        """How far the torso's point P is from where it is on pinned feet, the sinking taken off, over `times` [m]."""
        soft, pinned = self._torsos
        apart = (soft - pinned)[:, :3]
        return np.linalg.norm(apart - apart[0], axis=-1)

    @cached_property
    def attitude_difference(self) -> Floats:
        """By which angle the torso is turned against the one on pinned feet, over `times` [rad]."""
        soft, pinned = (torso_rotations(self.run.model.layout, q) for q in self._torsos)
        return 2.0 * np.arcsin(np.linalg.norm(soft - pinned, axis=(1, 2)) / math.sqrt(8.0))


@dataclass(frozen=True)
class Convergence:
    """How far the torso is from the one on pinned feet, by ground, and how that falls with the stiffness.

    The slope p is that of difference ~ stiffness^p, the best over all grounds: −1 for what falls as 1/stiffness.
    """

    place: Floats  # [m]
    attitude: Floats  # [rad]
    place_slope: float
    attitude_slope: float


@dataclass(frozen=True, eq=False)
class GroundComparison:
    """One scenario on pinned feet and on ground of several stiffnesses, softest first, of the same friction."""

    scenario: Scenario
    pinned: Run
    grounds: tuple[GroundRun, ...]
    rigid: Run | None = None  # on rigid ground of the same friction, if that was asked for

    @property
    def runs(self) -> dict[str, Run]:
        """All runs by name: "pinned" first, then grounds by their stiffness, "1e4 N/m"; "rigid" last."""
        soft = {f"{stiffness_text(g.ground)} N/m": g.run for g in self.grounds}
        return {PINNED: self.pinned, **soft, **({} if self.rigid is None else {RIGID: self.rigid})}

    @cached_property
    def rigid_times(self) -> dict[str, FirstTimes]:
        """By foot on rigid ground: when it slipped and left it."""
        return {} if self.rigid is None else ground_times(self.rigid)

    def save(self, folder: Path) -> None:
        """Write pinned.nc, a ground-1e4.nc for each ground and ground-rigid.nc into a folder, in place of those of
        another study."""
        for old in folder.glob("ground-*.nc"):
            old.unlink()
        self.pinned.save(folder / f"{PINNED}.nc")
        for ground in self.grounds:
            ground.run.save(folder / f"ground-{stiffness_text(ground.ground)}.nc")
        if self.rigid is not None:
            self.rigid.save(folder / f"ground-{RIGID}.nc")

    @property
    def friction(self) -> float:
        """Static friction of every ground."""
        return float(self.grounds[0].ground.static_friction)

    @cached_property
    def pinned_times(self) -> dict[str, FirstTimes]:
        """By foot: when the pinned model asks for more than the ground can give."""
        return pinned_times(self.pinned, self.friction)

    @cached_property
    def sticking(self) -> float:
        """Until when all feet stick on every ground, and can by the pinned model [s]."""
        every = [*self.pinned_times.values(), *(first for g in self.grounds for first in g.first_times.values())]
        ends = [float(ground.times[-1]) for ground in self.grounds]
        return min([*ends, *(time for first in every for time in first.known)])

    def convergence(self, until: float | None = None) -> Convergence:
        """Largest differences up to a time [s]; by default as long as all feet stick."""
        until = self.sticking if until is None else until
        kept = [ground.times <= until for ground in self.grounds]
        place, attitude = (
            np.array([float(values[keep].max()) for values, keep in zip(found, kept, strict=True)])
            for found in ([g.place_difference for g in self.grounds], [g.attitude_difference for g in self.grounds])
        )
        return Convergence(place, attitude, self._slope(place), self._slope(attitude))

    def _slope(self, differences: Floats) -> float:
        if len(differences) < 2 or not (differences > 0.0).all():
            return math.nan
        stiffness = [float(ground.ground.stiffness) for ground in self.grounds]
        return float(np.polyfit(np.log(stiffness), np.log(differences), 1)[0])


def grounds_for(
    robot: Robot,
    stiffnesses: Sequence[float] | None = None,
    static_friction: float = STATIC_FRICTION,
    kinetic_friction: float | None = None,
) -> list[CompliantGround]:
    """Grounds of several stiffnesses [N/m] for a robot, softest first; see `CompliantGround.for_robot`. By default a
    tenth of what is usual for it, that, and ten times as much: 1e4, 1e5 and 1e6 N/m for the robot of 2020."""
    wanted = as_floats("stiffnesses", [] if stiffnesses is None else stiffnesses, "a list of stiffnesses [N/m]")
    if wanted.ndim != 1:
        raise ArgumentError("stiffnesses", stiffnesses, "a list of stiffnesses [N/m]")
    if not len(wanted):
        usual = float(CompliantGround.for_robot(robot).stiffness)
        wanted = [float(f"{times * usual:.0e}") for times in TIMES_STIFFER]
    return [CompliantGround.for_robot(robot, k, static_friction, kinetic_friction) for k in sorted(map(float, wanted))]


def check_possible(scenario: Scenario) -> None:
    """Refuses what the tail cannot do, and a robot that does not stand."""
    check_standing(scenario)
    scenario.problem()


def compare_grounds(
    scenario: Scenario, grounds: Sequence[CompliantGround], progress: Progress = lambda done, total, what: None,
    rigid: RigidGround | None = None,
) -> GroundComparison:  # fmt: skip
    """Perform a scenario on pinned feet and on several grounds.

    Args:
        scenario: what is done; not "airborne".
        grounds: flat, of stiffnesses that differ and the same static friction, such as `grounds_for(robot)`.
        progress: told before each run.
        rigid: rigid ground to look at, too.
    """
    check_possible(scenario)
    grounds = sorted(grounds, key=lambda ground: float(ground.stiffness))
    if not grounds or len({ground.stiffness for ground in grounds}) != len(grounds):
        given = tuple(float(ground.stiffness) for ground in grounds)
        raise ArgumentError("stiffness", given, "at least one, and each only once [N/m]")
    if len({ground.static_friction for ground in grounds}) != 1:
        given = tuple(float(ground.static_friction) for ground in grounds)
        raise ArgumentError("static_friction", given, "the same of all grounds")
    total = 1 + len(grounds) + (rigid is not None)
    progress(0, total, "pinned feet")
    pinned = perform(scenario)
    found = []
    for done, ground in enumerate(grounds):
        progress(1 + done, total, f"ground of {stiffness_text(ground)} N/m")
        coarse, fine = (perform_on_ground(scenario, ground, pinned=pinned, finer=finer) for finer in (1, 2))
        found.append(GroundRun(ground, pinned, fine, coarse))
    last = None
    if rigid is not None:
        progress(total - 1, total, "rigid ground")
        last = perform_on_rigid_ground(scenario, rigid)
    progress(total, total, "")
    return GroundComparison(scenario, pinned, tuple(found), last)
