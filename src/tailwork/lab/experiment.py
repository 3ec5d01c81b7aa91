"""From a choice to runs, measures and scenes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from tailwork.lab.choice import Choice
from tailwork.robots.paths import structure
from tailwork.simulation import Run
from tailwork.studies.perform import measured, perform
from tailwork.studies.scenario import Scenario
from tailwork.view.scene import Scene, scene_of, scenes_of

_compiled: set[Hashable] = set()  # kinds of scenarios that this process has simulated: they start at once


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of one tail."""

    label: str
    scenario: Scenario
    run: Run
    measures: dict[str, float]
    scene: Scene


@dataclass(frozen=True, eq=False)
class Experiment:
    """What came of a choice: an outcome a tail."""

    choice: Choice
    outcomes: tuple[Outcome, ...]


def performed(choice: Choice, before: Experiment | None = None) -> Experiment:
    """Simulate what was chosen.

    Args:
        choice: what.
        before: what was simulated last; what is the same in both is not done again.

    Raises:
        TailworkError: it is not possible.
    """
    scenarios = choice.scenarios
    same = {} if before is None else {outcome.label: outcome for outcome in before.outcomes}
    same = {label: one for label, one in same.items() if scenarios.get(label) == one.scenario}
    runs: dict[str, Run] = {}
    for label, scenario in scenarios.items():
        runs[label] = same[label].run if label in same else perform(scenario)
        _compiled.add(_kind(scenario))
    scenes = _scenes(runs, scenarios, before)
    return Experiment(
        choice,
        tuple(
            same.get(label) or Outcome(label, scenario, run, measured(run, scenario), scene)
            for (label, run), scenario, scene in zip(runs.items(), scenarios.values(), scenes, strict=True)
        ),
    )


def _scenes(runs: dict[str, Run], scenarios: dict[str, Scenario], before: Experiment | None) -> tuple[Scene, ...]:
    """The scenes of runs; those of tails that are as before keep their colours, and those of the same runs stay."""
    last = () if before is None else before.outcomes
    alike = [(one.label, type(one.scenario.tail_part)) for one in last]
    if alike != [(label, type(scenario.tail_part)) for label, scenario in scenarios.items()]:
        return scenes_of(runs)
    return tuple(
        one.scene if run is one.run else scene_of(run, one.label, color=one.scene.color)
        for one, run in zip(last, runs.values(), strict=True)
    )


def to_compile(choice: Choice) -> tuple[str, ...]:
    """The tails whose equations have to be compiled first, or read from the disk: none for changed numbers.

    Raises:
        TailworkError: the choice is not possible.
    """
    return tuple(label for label, scenario in choice.scenarios.items() if _kind(scenario) not in _compiled)


def _kind(scenario: Scenario) -> Hashable:
    """What the machine code of a scenario depends on."""
    robot = scenario.robot
    return (
        structure((robot.torso, robot.parts, robot.stops, robot.contacts, robot.air)),
        robot.forward,
        robot.gravity != 0.0,
        scenario.policy,
        scenario.imposed,
    )
