"""A problem answered: the best design of every choice, verified, with what limits it and how sure it is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tailwork.errors import ArgumentError
from tailwork.robots.paths import paths
from tailwork.robots.robot import Robot
from tailwork.robots.tails.fit import with_named_tail
from tailwork.studies.compare.airborne import planar_rotation
from tailwork.studies.design.evaluate import Evaluator
from tailwork.studies.design.multistart import STARTS, ImpossibleError, SearchResult, Tell, best_design
from tailwork.studies.design.optimizer import Program, Solution, sides_of
from tailwork.studies.design.pareto import Front, Partial, front
from tailwork.studies.design.problem import Study
from tailwork.studies.design.uncertainty import (
    SPREAD,
    Indices,
    Robust,
    Swing,
    Tolerance,
    checked_spread,
    indices,
    safe_optimum,
    swings,
    tolerance,
)
from tailwork.studies.design.verify import FINER, Alone, Verified, as_given, verified
from tailwork.studies.possible import ALLOWED


@dataclass(frozen=True)
class DesignOptions:
    """How a problem is solved."""

    threads: int | None = None  # how many; None: as many as there are processors
    starts: int = STARTS  # of the gradient method
    spread: float = SPREAD  # standard deviation of what is made, as a share of each value [1]
    robust: Robust | None = None  # margins to the limits; None: none

    def __post_init__(self) -> None:
        for name, value in {"threads": self.threads, "starts": self.starts}.items():
            unset = name == "threads" and value is None
            if not unset and (not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 10**6):
                raise ArgumentError(name, value, "an integer, at least 1, at most a million")
        checked_spread("spread", self.spread)


@dataclass(frozen=True)
class Answer:
    """The best design of a problem for one choice, and why."""

    study: Study  # with the choice made
    choice: dict[str, Any]  # by path: the values of the choice
    search: SearchResult  # at the steps of the search
    best: Solution  # at finer steps
    verified: Verified  # its measures at finer steps, and a single adaptive run
    given: Alone | None  # the robot as the problem has it; None: its run ends early
    swings: tuple[Swing, ...]  # what each variable does alone
    indices: Indices  # the share of each variable in all that the measure can do
    tolerance: Tolerance  # what becomes of it where what is made scatters
    airborne: float | None  # what the same sweep does in the air, in closed form [deg]; None: not known
    robust: Robust | None = None  # how sure its limits shall be kept; None: not asked
    unguarded: Solution | None = None  # the best design without margins, where they are asked for
    margins: dict[str, float] | None = None  # by side of a limit, in words: how far inwards it was moved, in its unit
    front: Front | None = None  # of several goals

    @property
    def values(self) -> dict[str, float]:
        """The best design, by variable, each in its unit."""
        return self.study.named(self.best.design)

    @property
    def robot(self) -> Robot:
        """The best design as a robot."""
        return self.verified.design.robot

    @property
    def active(self) -> dict[str, float]:
        """Limits that hold the goal back: gain of the goal, in its unit, for each unit that they are loosened."""
        return {words: price for words, price in self.best.multipliers.items() if price > 1e-9}


def choices(study: Study) -> Iterator[tuple[dict[str, Any], Study]]:
    """Every combination of a problem's choices, and the problem with it made."""
    for values in itertools.product(*study.choices.values()):
        choice = dict(zip(study.choices, values, strict=True))
        robot = study.robot
        if study.tail_name in choice:
            robot = with_named_tail(robot, str(choice[study.tail_name]))
        rest = {path: value for path, value in choice.items() if path != study.tail_name}
        for path in rest:
            if path not in paths(robot):
                raise ArgumentError(f"choices.{path}", path, "a path in the robot, or the name of its tail")
        yield choice, replace(study.with_robot(robot.replace(rest) if rest else robot), choices={})


def solve(study: Study, settings: DesignOptions | None = None, tell: Tell = lambda what: None) -> list[Answer]:
    """A problem answered for all its choices, the best first; those that no design meets are left out. `tell` is told
    what is done next.

    Raises:
        ImpossibleError: no design of any choice meets the limits.
        ArgumentError: a variable does nothing, or no design can be simulated.
    """
    if not isinstance(study, Study):
        raise ArgumentError("study", study, "a Study; `load_study` reads one from a file")
    found: list[Answer] = []
    failed: list[ImpossibleError] = []
    for choice, own in list(choices(study)):
        try:
            found.append(answer_of(own, choice, tell, settings, given=study))
        except ImpossibleError as error:
            failed.append(error)
    if not found:
        raise failed[0]
    return sorted_answers(found)


def sorted_answers(answers: list[Answer]) -> list[Answer]:
    """Answers of all choices, the best first."""
    return sorted(answers, key=lambda answer: answer.study.goals[0].sign * answer.best.goal)


def answer_of(
    study: Study, choice: dict[str, Any], tell: Tell = lambda what: None, settings: DesignOptions | None = None,
    before: Partial | None = None, keep: Callable[[Partial], None] = lambda partial: None, given: Study | None = None,
) -> Answer:  # fmt: skip
    """The best design of a problem whose choices have been made; for several goals, the trade-off between them, too.

    `before` and `keep` are those of `front`; `given` is the problem before its choices were made, whose robot is looked
    at as it is. Errors are those of `solve`.
    """
    how = settings or DesignOptions()
    evaluator = Evaluator(study, how.threads).with_enough_steps()
    study = evaluator.study
    found = best_design(evaluator, tell, how.starts)
    tell("polishing at finer steps")
    finer = evaluator.with_steps(FINER * study.steps)
    goal = study.goals[0]
    scale = max(abs(found.best.goal), 1e-9)
    best = _finer(Program(finer, goal, sides_of(study.limits), scale), found.best)
    chosen, margins = (best, None) if how.robust is None else safe_optimum(finer, best, how.robust, tell)
    tell("verifying by a single adaptive run")
    checked = verified(evaluator, chosen.design)
    if not math.isfinite(checked.fine[goal.measure]):
        required = (
            "a goal that the best design has: at finer steps it has none, because there a leg comes to be straight. "
            "Limit most_extension, or narrow the bounds"
        )
        raise ArgumentError(f"goals.{goal.measure}", checked.fine[goal.measure], required)
    tell("sensitivities and tolerances")
    names = [goal.measure for goal in study.goals]
    return Answer(
        study=study,
        choice=choice,
        search=found,
        best=chosen,
        verified=checked,
        given=as_given(given or study, checked.fine),
        swings=swings(evaluator, chosen.design, goal.measure),
        indices=indices(evaluator, goal.measure),
        tolerance=tolerance(evaluator, chosen.design, names, how.robust.spread if how.robust else how.spread),
        airborne=_airborne(study, checked),
        robust=how.robust,
        unguarded=best if how.robust else None,
        margins=margins,
        front=front(evaluator, tell, also=best.design[None], before=before, keep=keep) if len(names) > 1 else None,
    )


def _finer(program: Program, start: Solution) -> Solution:
    """The optimum at finer steps, from that of coarser ones; where the search is lost there, what it started from."""
    found, before = program.solve(start.design), program.at(start.design)
    lost = found.violation > max(ALLOWED, before.violation) or not math.isfinite(found.goal)
    worse = before.violation <= ALLOWED and (found.goal - before.goal) * program.sign > 0.0
    return replace(start, goal=before.goal, violation=before.violation) if lost or worse else found


def _airborne(study: Study, checked: Verified) -> float | None:
    """What the same sweep does to the robot in the air, in closed form [deg]."""
    design = checked.design
    sweep = float(design.motion.end[1])
    turned = planar_rotation(design.robot, study.tail_name, replace(design.motion, early=0.0, skew=0.0))
    return None if turned is None else -math.copysign(1.0, sweep) * math.degrees(turned)
