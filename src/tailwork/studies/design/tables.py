"""An answer in tables: heads of columns and rows, for the terminal and for the report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tailwork.format import headed, number, shown_unit
from tailwork.robots.sizes import torso_size
from tailwork.studies.design.answer import Answer
from tailwork.studies.design.nlp import sides_of
from tailwork.studies.design.pareto import Front
from tailwork.studies.design.problem import Study
from tailwork.studies.design.search import ALLOWED
from tailwork.studies.design.text import (
    PRICED,
    best_name,
    broken_limits,
    choice_words,
    edge_words,
    limit_words,
    measure_head,
    plain_name,
    unit_of,
    unsettled_words,
)
from tailwork.studies.design.variables import known_variables

DESIGN_HEADER = ("variable", "value", "unit", "from", "to", "note")
MEASURE_HEADER = ("measure", "value", "unit", "limit", "as given", "note")
VERIFIED_HEADER = ("measure", "unit", "search", "finer steps", "single run", "last two agree")
INDICES_HEADER = ("variable", "alone", "with interactions")
TOLERANCE_HEADER = ("measure", "unit", "mean", "deviation", "5 %", "95 %", "beyond its limit")
BROKEN = " ×"
"""Stands at a number that is beyond a limit."""


def design_rows(answer: Answer) -> list[list[str]]:
    """The best design, a row a variable, and what a bound that stops it costs; mass and length of its tail."""
    units = known_variables(answer.study)
    rows = []
    for variable, value in zip(answer.study.variables, answer.best.design.tolist(), strict=True):
        unit = units[variable.name]
        rows.append([
            variable.name, number(value, 5), shown_unit(unit), number(variable.low), number(variable.high),
            edge_words(answer, variable.name, unit),
        ])  # fmt: skip
    given = [variable.name for variable in answer.study.variables]
    for total, unit in (("mass", "kg"), ("length", "m")):
        path = f"{answer.study.tail_name}.total_{total}"
        if path not in given:
            rows.append([path, number(answer.verified.fine[f"tail_{total}"], 5), unit, "", "", "follows"])
    return rows


def measure_rows(answer: Answer) -> list[list[str]]:
    """Goals and what is limited: at the best design, and of the robot as it is given."""
    study = answer.study
    limits = {limit.measure: limit for limit in study.limits}
    measures = {} if answer.given is None else answer.given.measures
    broken = broken_limits(study, measures)
    rows = []
    for name in study.asked:
        bounds = []
        if name in limits:
            low, high = limits[name].least, limits[name].most
            bounds = [f"{sign} {number(bound)}" for sign, bound in (("≥", low), ("≤", high)) if bound is not None]
        sides = [side for side in sides_of(study.limits) if side.limit.measure == name]
        notes = [f"goal: {goal.sense}" for goal in study.goals if goal.measure == name]
        notes += ["active"] * any(answer.best.multipliers.get(side.words, 0.0) > PRICED for side in sides)
        mark = BROKEN if any(limit_words(side.words) in broken for side in sides) else ""
        rows.append([
            plain_name(name), number(answer.verified.fine[name], 5), unit_of(name), ", ".join(bounds),
            number(measures.get(name)) + mark, ", ".join(notes),
        ])  # fmt: skip
    return rows


def measure_caption(answer: Answer) -> str:
    """What the marks in the table of measures mean; empty: there are none."""
    marked = any(row[4].endswith(BROKEN) for row in measure_rows(answer))
    return f"{BROKEN.strip()}: beyond a limit" if marked else ""


def verified_rows(answer: Answer, *, every: bool = False) -> list[list[str]]:
    """Measures at the steps of the search, at finer ones and from a single adaptive run."""
    checked = answer.verified
    wrong = checked.disagreements()
    names = list(checked.fine) if every else [*answer.study.asked, *wrong]
    return [
        [plain_name(name), unit_of(name), number(checked.coarse[name], 6), number(checked.fine[name], 6),
         number(checked.alone[name], 6), "no" if name in wrong else "yes"]
        for name in dict.fromkeys(names)
    ]  # fmt: skip


def optima_header(study: Study) -> tuple[str, ...]:
    """Heads of the table of ends; goals there are not those of finer steps."""
    name, unit = plain_name(study.goals[0].measure), unit_of(study.goals[0].measure)
    return ("end", "times", headed(f"{name} at the search's steps", unit), "worst violation", "note")


def optima_rows(answer: Answer) -> list[list[str]]:
    """Ends of the searches, the best first."""
    return [
        [str(k + 1), f"{one.times} of {answer.found.starts}", number(one.solved.goal),
         "none" if one.solved.violation <= ALLOWED else number(one.solved.violation, 2),
         unsettled_words(one.solved)]
        for k, one in enumerate(answer.found.optima)
    ]  # fmt: skip


def swing_header(study: Study) -> tuple[str, ...]:
    """Heads of the table of single variables."""
    name, unit = plain_name(study.goals[0].measure), unit_of(study.goals[0].measure)
    return ("variable", "from", "to", "unit", headed(f"{name} from", unit), headed("to", unit))


def swing_rows(answer: Answer) -> list[list[str]]:
    """What each variable alone does to the goal near the best design, the largest first."""
    units = known_variables(answer.study)
    return [
        [one.variable, number(one.low), number(one.high), shown_unit(units[one.variable]), number(one.at_low, 5),
         number(one.at_high, 5)]
        for one in answer.swings
    ]  # fmt: skip


def indices_rows(answer: Answer) -> list[list[str]]:
    """Sobol indices, the largest first."""
    found = answer.indices
    order = np.argsort(-found.total, kind="stable")
    return [[found.variables[k], *(f"{x[k]:.3f}".replace("-", "−") for x in (found.first, found.total))] for k in order]


def tolerance_rows(answer: Answer) -> list[list[str]]:
    """What becomes of what is made: goals and limits."""
    found = answer.tolerance
    beyond: dict[str, list[str]] = {}
    for side in sides_of(answer.study.limits):
        share = 100.0 * found.violated[side.words]
        beyond.setdefault(side.limit.measure, []).append(f"{share:.1f} %" if share else "none")
    return [
        [plain_name(name), unit_of(name), number(found.mean[name]), number(found.deviation[name], 3),
         number(found.low[name]), number(found.high[name]), " / ".join(beyond.get(name, []))]
        for name in answer.study.asked
    ]  # fmt: skip


def choice_table(answers: Sequence[Answer]) -> tuple[list[str], list[list[str]]]:
    """All choices with what is wanted and limited, mass and length of the tail: heads and rows."""
    names = list(dict.fromkeys([*answers[0].study.asked, "tail_mass", "tail_length"]))
    rows = [[choice_words(one.choice), *(number(one.verified.fine[name]) for name in names)] for one in answers]
    return ["choice", *map(measure_head, names)], rows


def front_header(study: Study) -> list[str]:
    """Heads of the table of a front: goals, and rates between them."""
    first = study.goals[0].measure
    rates = []
    for goal in study.goals[1:]:
        above, below = unit_of(first), unit_of(goal.measure)
        within = f"({below})" if {" ", "/"} & set(below) else below
        unit = f"{above or '1'}/{within}" if below else above
        rates.append(headed(f"{plain_name(first)} for {plain_name(goal.measure)}", unit))
    return ["point", *(measure_head(goal.measure) for goal in study.goals), *rates, "agrees"]


def front_rows(study: Study, front: Front, points: Sequence[int] | None = None) -> list[list[str]]:
    """Points of a front, by the first goal; all, unless told which. A rate of nothing, or that is not known: —."""
    goals = [front.measures[goal.measure] for goal in study.goals]
    rates = [front.rates[goal.measure].tolist() for goal in study.goals[1:]]
    return [
        [str(k + 1), *(number(float(x[k])) for x in goals), *(number(x[k] if x[k] > PRICED else None) for x in rates),
         "yes" if front.agree[k] else "no"]
        for k in (range(len(front.designs)) if points is None else points)
    ]  # fmt: skip


def variable_heads(study: Study) -> list[str]:
    """Heads of columns of variables."""
    units = known_variables(study)
    return [headed(variable.name, units[variable.name]) for variable in study.variables]


def front_numbers(study: Study, front: Front) -> tuple[list[str], list[list[str | float]]]:
    """The front as a file: all goals, all that is limited, all variables."""
    rows: list[list[str | float]] = [
        [str(k + 1), *(float(front.measures[name][k]) for name in study.asked), *front.designs[k].tolist(),
         "yes" if front.agree[k] else "no"]
        for k in range(len(front.designs))
    ]  # fmt: skip
    return ["point", *map(measure_head, study.asked), *variable_heads(study), "agrees"], rows


def literature_rows(answer: Answer) -> list[list[str]]:
    """Our tail beside those of the literature, in shares of the torso; empty: the torso has no length."""
    rows = []
    robots = {f"{best_name(answer.study)} here": (answer.robot, answer.verified.fine)}
    if answer.given is not None:
        robots["robot as given"] = (answer.given.run.model.robot, answer.given.measures)
    for label, (robot, measures) in robots.items():
        own_length, own_mass = torso_size(robot).length, float(robot.torso_body().mass)
        if own_length == 0.0:
            return []
        length, mass = measures["tail_length"] / own_length, measures["tail_mass"] / own_mass
        rows.append([label, number(float(length), 3), number(float(mass), 3), ""])
    return [
        *rows,
        ["Liu & Ben-Tzvi 2021", "2", "0.09", "optimum for righting in the air"],
        ["Heim 2016", "", "", "a long and light tail does better than a short and heavy one"],
        ["Fu 2024", "", "", "more joints help, each less than the one before"],
    ]
