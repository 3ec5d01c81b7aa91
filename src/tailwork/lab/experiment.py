"""From a choice to runs, measures and scenes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from tailwork.lab.choice import Choice
from tailwork.robots.paths import structure
from tailwork.simulation import Run
from tailwork.studies.manoeuvre import Manoeuvre, perform
from tailwork.studies.measures import Measures, measured
from tailwork.view.scene import Scene, scene_of, scenes_of

_compiled: set[Hashable] = set()
"""Kinds of manoeuvres that this process has simulated: they start at once."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of one tail."""

    label: str
    manoeuvre: Manoeuvre
    run: Run
    measures: Measures
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
    manoeuvres = choice.manoeuvres
    same = {} if before is None else {outcome.label: outcome for outcome in before.outcomes}
    same = {label: one for label, one in same.items() if manoeuvres.get(label) == one.manoeuvre}
    runs: dict[str, Run] = {}
    for label, manoeuvre in manoeuvres.items():
        runs[label] = same[label].run if label in same else perform(manoeuvre)
        _compiled.add(_kind(manoeuvre))
    scenes = _scenes(runs, manoeuvres, before)
    return Experiment(
        choice,
        tuple(
            same.get(label) or Outcome(label, manoeuvre, run, measured(run, manoeuvre), scene)
            for (label, run), manoeuvre, scene in zip(runs.items(), manoeuvres.values(), scenes, strict=True)
        ),
    )


def _scenes(runs: dict[str, Run], manoeuvres: dict[str, Manoeuvre], before: Experiment | None) -> tuple[Scene, ...]:
    """The scenes of runs; those of tails that are as before keep their colours, and those of the same runs stay."""
    last = () if before is None else before.outcomes
    alike = [(one.label, type(one.manoeuvre.tail_part)) for one in last]
    if alike != [(label, type(manoeuvre.tail_part)) for label, manoeuvre in manoeuvres.items()]:
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
    return tuple(label for label, manoeuvre in choice.manoeuvres.items() if _kind(manoeuvre) not in _compiled)


def _kind(manoeuvre: Manoeuvre) -> Hashable:
    """What the machine code of a manoeuvre depends on."""
    robot = manoeuvre.robot
    return (
        structure((robot.torso, robot.parts)),
        robot.forward,
        robot.gravity != 0.0,
        manoeuvre.policy,
        manoeuvre.imposed,
    )
