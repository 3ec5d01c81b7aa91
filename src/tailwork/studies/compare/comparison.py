"""The comparative study: tails × motions on one robot, kept in a folder, continued where it was."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tailwork.control.tail_motion import TailMotion
from tailwork.errors import ArgumentError, FileError
from tailwork.files import ready_folder, write_whole
from tailwork.robots import liu2020
from tailwork.robots.robot import Robot
from tailwork.robots.tails.fit import PUBLISHED
from tailwork.simulation import Run, load_run
from tailwork.simulation.contact.ground import STATIC_FRICTION, RigidGround
from tailwork.simulation.pose import run_torso_angles
from tailwork.studies.compare.airborne import planar_rotation
from tailwork.studies.compare.on_ground import check_standing, perform_on_rigid_ground
from tailwork.studies.data import digest, source_digest
from tailwork.studies.leg_policies import POLICIES
from tailwork.studies.measures import AXES, shown_measures, unit_of
from tailwork.studies.motions import coupled, pitch, roll, yaw
from tailwork.studies.perform import SAMPLES, measured, perform
from tailwork.studies.possible import depth_text, impossible
from tailwork.studies.scenario import Scenario, scenario_data
from tailwork.typing import Floats

TAIL_NAMES = tuple(PUBLISHED)
SWEPT = tuple(range(10, 90, 10))  # [deg], as in Figs. 10 and 12
SWEEP_SAMPLES = 61
JERKED = "the tail starts at rest, its motion does not: the largest torques are those of this jerk"

Progress = Callable[[int, int, str], None]
"""Told (done, all, what comes next)."""


@dataclass(frozen=True)
class Plan:
    """What is compared."""

    robots: Mapping[str, Robot]  # by the label of their tail
    motions: tuple[TailMotion, ...]  # that every tail makes
    sweeps: Mapping[str, tuple[TailMotion, ...]]  # by the axis of the torso's answer
    policy: str = "constant"  # what the legs do, as of a `Scenario`
    ground: RigidGround | None = None  # on which every motion is made, too, with feet that lift, slip and land

    @property
    def friction(self) -> float:
        """Of the ground, by which runs are judged [1]."""
        return STATIC_FRICTION if self.ground is None else float(self.ground.friction)

    @property
    def policy_text(self) -> str:
        """What the legs do, in words: the same with every tail."""
        return POLICIES[self.policy].text(next(iter(self.robots.values())))


@dataclass(frozen=True)
class Case:
    """One scenario of a plan and where its run is kept."""

    tail: str
    scenario: Scenario
    samples: int = SAMPLES
    ground: RigidGround | None = None  # None: pinned feet, or none

    @property
    def name(self) -> str:
        """Of the file; cases that differ have names that differ."""
        how = self.scenario.policy if self.ground is None else f"{self.scenario.policy}-rigid"
        return f"{self.scenario.motion.name}-{self.tail}-{how}-{self.digest[:8]}"

    @property
    def digest(self) -> str:
        """Says whether a kept run is of this very case."""
        ground = {} if self.ground is None else {"ground": self.ground.as_text()}
        scenario = scenario_data(self.scenario)
        return digest({"code": source_digest(), "scenario": scenario, "samples": self.samples, **ground})


@dataclass(frozen=True)
class Result:
    """A case with its run, its measures and what the same tail motion does in the air."""

    case: Case
    run: Run
    measures: dict[str, float]
    airborne: Floats  # net pitch, roll and yaw of the airborne robot [deg]
    closed_form: float  # of planar motion of a pendulum [deg]; NaN for others
    rigid: Run | None = None  # the same on rigid ground; None: not asked for

    @property
    def note(self) -> str:
        """Why the run ended early, that feet would have pulled, that the tail went below the ground or was jerked into
        its motion."""
        ended, wrong, scenario = self.run.stopped, impossible(self.measures), self.case.scenario
        said = [] if ended is None else [f"ends at {ended.time:.3f} s: {ended.reason}"]
        said += ["a foot would pull"] if ended is None and "least_normal_force" in wrong else []
        jerked = not scenario.motion.from_rest and scenario.starts == "rest"
        said += [depth_text([self.measures]), JERKED if jerked else ""]
        return "; ".join(filter(None, said))


@dataclass(frozen=True)
class Comparison:
    """All results of a plan."""

    plan: Plan
    results: tuple[Result, ...]  # of the motions
    swept: tuple[Result, ...]  # of the sweeps

    def of(self, motion: TailMotion) -> dict[str, Result]:
        """Results of a motion by tail."""
        return {r.case.tail: r for r in (*self.results, *self.swept) if r.case.scenario.motion == motion}


def paper_plan() -> Plan:
    """The study of Liu & Ben-Tzvi 2020, Sect. 5, with all three tails in every motion."""
    sweeps = {"yaw": tuple(yaw(a) for a in SWEPT), "roll": tuple(roll(a) for a in SWEPT)}
    motions = (yaw(40), yaw(80), roll(40), roll(80), coupled(), pitch(20, period=1.2))
    ground = RigidGround(friction=STATIC_FRICTION)
    return Plan({tail: liu2020(tail) for tail in TAIL_NAMES}, motions, sweeps, "paper", ground)


def comparison_cases(plan: Plan) -> tuple[list[Case], list[Case]]:
    """Cases of the motions and of the sweeps that are not among them. Each motion is first asked of each tail."""
    if not plan.robots or not (plan.motions or plan.sweeps):
        raise ArgumentError("compare", "nothing", "at least one tail and one motion")
    swept = [motion for motions in plan.sweeps.values() for motion in motions if motion not in plan.motions]
    names = [motion.name for motion in (*plan.motions, *swept)]
    if len(set(names)) != len(names):
        raise ArgumentError("motions", names, "motions that differ, with names that differ")
    for tail in plan.robots:
        if not tail or not set(tail).isdisjoint("/\\[]"):
            raise ArgumentError("tails", tail, "a label that can be part of a file's name")
    if plan.ground is not None and plan.policy == "airborne":
        raise ArgumentError("ground", "rigid", "none with the policy airborne: such a robot does not feel the ground")
    found: list[list[Case]] = [[], []]
    for which, (motions, samples) in enumerate(((plan.motions, SAMPLES), (swept, SWEEP_SAMPLES))):
        for motion in motions:
            for tail, robot in plan.robots.items():
                scenario = Scenario(robot, motion, plan.policy)
                try:
                    scenario.problem()
                    if plan.ground is not None:
                        check_standing(scenario)
                except ArgumentError as error:
                    raise ArgumentError(f"{motion.name} of the {tail} tail", error.value, error.required) from None
                found[which].append(Case(tail, scenario, samples))
    return found[0], found[1]


def compare(plan: Plan, folder: str | Path, progress: Progress = lambda done, total, what: None) -> Comparison:
    """Run all cases of a plan; what is already in the folder is taken from there. `progress` is told before each."""
    folder = Path(folder)
    chosen, swept = comparison_cases(plan)
    ready_folder(folder)
    ready_folder(folder / "runs")
    results: list[Result] = []
    every = [*chosen, *swept]
    for done, case in enumerate(every):
        progress(done, len(every), f"{case.scenario.motion.name}, {case.tail}")
        run = kept_run(case, folder / "runs")
        aloft = case
        if plan.policy != "airborne":
            flight = replace(case.scenario, policy="airborne", start=case.scenario.starts)
            aloft = replace(case, scenario=flight, samples=SWEEP_SAMPLES)
        flown = run if aloft is case else kept_run(aloft, folder / "runs")
        turned = angles_at(flown, run.duration) - torso_degrees(flown)[0]  # where a run ended early, then
        planar = planar_rotation(case.scenario.robot, case.scenario.tail, case.scenario.motion)
        closed = math.nan if planar is None or run.stopped is not None else math.degrees(planar)
        rigid = None
        if plan.ground is not None and done < len(chosen):
            progress(done, len(every), f"{case.scenario.motion.name}, {case.tail}, on rigid ground")
            rigid = kept_run(replace(case, ground=plan.ground), folder / "runs")
        results.append(Result(case, run, measured(run, case.scenario), turned, closed, rigid))
    progress(len(every), len(every), "")
    write_whole(folder / "measures.csv", as_csv(results))
    return Comparison(plan, tuple(results[: len(chosen)]), tuple(results[len(chosen) :]))


def kept_run(case: Case, folder: Path) -> Run:
    """The run of a case, from the folder if it is there."""
    if not folder.is_dir():
        ready_folder(folder)
    file = folder / f"{case.name}.nc"
    if file.exists():
        try:
            run = load_run(file)
        except FileError:
            run = None  # damaged, or of an older version: made again
        if run is not None and run.data.attrs.get("case") == case.digest:
            return run
    if case.ground is None:
        run = perform(case.scenario, samples=case.samples)
    else:
        run = perform_on_rigid_ground(case.scenario, case.ground, samples=case.samples)
    run.save(file, {"case": case.digest})
    return run


def as_csv(results: Sequence[Result]) -> str:
    """All measures, a line a case."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    airborne = [f"airborne {axis} [deg]" for axis in AXES]
    header = ["motion", "tail", "policy", *(f"{name} [{unit_of(name)}]" for name in shown_measures()), *airborne]
    writer.writerow([*header, "airborne closed form [deg]", "note"])
    for result in results:
        case = result.case
        values = [*(result.measures[name] for name in shown_measures()), *result.airborne, result.closed_form]
        shown = ["" if math.isnan(x) else f"{x:.9g}" for x in values]
        writer.writerow([case.scenario.motion.name, case.tail, case.scenario.policy, *shown, result.note])
    return text.getvalue()


def torso_degrees(run: Run) -> Floats:
    """Pitch, roll and yaw of the torso over time [deg]."""
    return np.degrees(np.stack(list(run_torso_angles(run).values()), axis=-1))


def last_common(first: Run, second: Run) -> tuple[float, Floats, Floats]:
    """The last time that both runs reached [s], and the torso's pitch, roll and yaw of each then [deg]."""
    time = min(first.duration, second.duration)
    return time, angles_at(first, time), angles_at(second, time)


def angles_at(run: Run, time: float) -> Floats:
    """Pitch, roll and yaw of the torso at a time of a run [deg], between its samples by cubics."""
    from scipy.interpolate import CubicSpline

    times, angles = run.record.states()[0], torso_degrees(run)
    return CubicSpline(times, angles)(min(time, times[-1])) if len(times) > 2 else angles[-1]


def sweep_rotations(comparison: Comparison, axis: str) -> Iterator[tuple[str, list[float], list[float], list[bool]]]:
    """By tail: (label, net rotation, airborne rotation [deg], whether the run ended early) over a sweep."""
    motions: Sequence[Any] = comparison.plan.sweeps[axis]
    for tail in comparison.plan.robots:
        found = [comparison.of(motion)[tail] for motion in motions]
        net = [r.measures[axis] for r in found]
        aloft = [float(r.airborne[AXES.index(axis)]) for r in found]
        yield tail, net, aloft, [r.run.stopped is not None for r in found]
