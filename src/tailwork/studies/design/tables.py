"""An answer in tables: heads of columns and rows, for the terminal and for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tailwork.format import headed, rounded, shown_unit
from tailwork.robots.sizes import torso_size
from tailwork.studies.design.answer import Answer
from tailwork.studies.design.optimizer import sides_of
from tailwork.studies.design.pareto import Front
from tailwork.studies.design.problem import Study
from tailwork.studies.design.text import (
    PRICED,
    best_name,
    broken_limits,
    choice_words,
    edge_words,
    friction_of,
    limit_words,
    measure_head,
    plain_name,
    unit_text,
    unsettled_words,
)
from tailwork.studies.design.variables import known_variables
from tailwork.studies.measures import by_kind, whole_measure
from tailwork.studies.possible import ALLOWED, footnote, impossible, mark, marked

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
            variable.name, rounded(value, 5), shown_unit(unit), rounded(variable.low), rounded(variable.high),
            edge_words(answer, variable.name, unit),
        ])  # fmt: skip
    given = [variable.name for variable in answer.study.variables]
    for total, unit in (("mass", "kg"), ("length", "m")):
        path = f"{answer.study.tail_name}.total_{total}"
        if path not in given:
            rows.append([path, rounded(answer.verified.fine[f"tail_{total}"], 5), unit, "", "", "follows"])
    return rows


def measure_rows(answer: Answer) -> list[list[str]]:
    """Goals and what is limited: at the best design, and of the robot as it is given."""
    study, friction = answer.study, friction_of(answer.study)
    limits = {limit.measure: limit for limit in study.limits}
    fine, measures = _runs(answer)
    broken = broken_limits(study, measures)
    wrong = [*impossible(fine, friction), *impossible(measures, friction)]
    rows = []
    for own in by_kind(dict.fromkeys([*study.measures, *wrong]), (fine, measures)):
        name, bounds = own if own in study.measures else whole_measure(own), []
        if name in limits:
            low, high = limits[name].least, limits[name].most
            bounds = [f"{sign} {rounded(bound)}" for sign, bound in (("≥", low), ("≤", high)) if bound is not None]
        sides = [side for side in sides_of(study.limits) if side.limit.measure == name]
        active = any(answer.best.multipliers.get(side.words, 0.0) > PRICED for side in sides)
        beyond = any(limit_words(side.words) in broken for side in sides)
        notes = [f"goal: {goal.sense}" for goal in study.goals if goal.measure == name]
        notes += ["active"] * (active and _is_largest(own, fine))
        beyond = BROKEN if beyond and _is_largest(own, measures) else ""
        rows.append([
            plain_name(own), mark(rounded(fine.get(own), 5), own, fine, friction), unit_text(own), ", ".join(bounds),
            mark(rounded(measures.get(own)) + beyond, own, measures, friction), ", ".join(notes),
        ])  # fmt: skip
    return rows


def _is_largest(name: str, measures: Mapping[str, float]) -> bool:
    """Whether a measure of coordinates of one kind is that of all kinds, which the limit is on."""
    return whole_measure(name) == name or measures.get(name) == measures.get(whole_measure(name))


def _runs(answer: Answer) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Measures of the best design, and of the robot as it is given."""
    return answer.verified.fine, {} if answer.given is None else answer.given.measures


def measure_caption(answer: Answer) -> str:
    """What the marks in the table of measures mean; empty: there are none."""
    broken = any(BROKEN in row[4] for row in measure_rows(answer))
    said = [f"{BROKEN.strip()}: beyond a limit" if broken else "", footnote(_runs(answer), friction_of(answer.study))]
    return "; ".join(filter(None, said))


def verified_rows(answer: Answer, *, every: bool = False) -> list[list[str]]:
    """Measures at the steps of the search, at finer ones and from a single adaptive run."""
    checked = answer.verified
    wrong = checked.disagreements()
    names = list(checked.fine) if every else [*answer.study.measures, *wrong]
    return [
        [plain_name(name), unit_text(name), rounded(checked.coarse[name], 6), rounded(checked.fine[name], 6),
         rounded(checked.alone[name], 6), "no" if name in wrong else "yes"]
        for name in dict.fromkeys(names)
    ]  # fmt: skip


def optima_header(study: Study) -> tuple[str, ...]:
    """Heads of the table of ends; goals there are not those of finer steps."""
    name, unit = plain_name(study.goals[0].measure), unit_text(study.goals[0].measure)
    return ("end", "times", headed(f"{name} at the search's steps", unit), "worst violation", "note")


def optima_rows(answer: Answer) -> list[list[str]]:
    """Ends of the searches, the best first."""
    return [
        [str(k + 1), f"{one.times} of {answer.search.starts}", rounded(one.solved.goal),
         "none" if one.solved.violation <= ALLOWED else rounded(one.solved.violation, 2),
         unsettled_words(one.solved)]
        for k, one in enumerate(answer.search.optima)
    ]  # fmt: skip


def swing_header(study: Study) -> tuple[str, ...]:
    """Heads of the table of single variables."""
    name, unit = plain_name(study.goals[0].measure), unit_text(study.goals[0].measure)
    return ("variable", "from", "to", "unit", headed(f"{name} from", unit), headed("to", unit))


def swing_rows(answer: Answer) -> list[list[str]]:
    """What each variable alone does to the goal near the best design, the largest first."""
    units = known_variables(answer.study)
    return [
        [one.variable, rounded(one.low), rounded(one.high), shown_unit(units[one.variable]), rounded(one.at_low, 5),
         rounded(one.at_high, 5)]
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
        [plain_name(name), unit_text(name), rounded(found.mean[name]), rounded(found.deviation[name], 3),
         rounded(found.low[name]), rounded(found.high[name]), " / ".join(beyond.get(name, []))]
        for name in answer.study.measures
    ]  # fmt: skip


def choice_table(answers: Sequence[Answer]) -> tuple[list[str], list[list[str]], str]:
    """All choices with what is wanted and limited, mass and length of the tail: heads, rows, and what marks mean."""
    runs, friction = [one.verified.fine for one in answers], friction_of(answers[0].study)
    names = by_kind([*answers[0].study.measures, "tail_mass", "tail_length"], runs)
    rows = [
        marked([choice_words(one.choice), *(rounded(own.get(name)) for name in names)], names, own, friction)
        for one, own in zip(answers, runs, strict=True)
    ]
    return ["choice", *map(measure_head, names)], rows, footnote(runs, friction)


def front_header(study: Study) -> list[str]:
    """Heads of the table of a front: goals, and rates between them."""
    first = study.goals[0].measure
    rates = []
    for goal in study.goals[1:]:
        above, below = unit_text(first), unit_text(goal.measure)
        within = f"({below})" if {" ", "/"} & set(below) else below
        unit = f"{above or '1'}/{within}" if below else above
        rates.append(headed(f"{plain_name(first)} for {plain_name(goal.measure)}", unit))
    return ["point", *(measure_head(goal.measure) for goal in study.goals), *rates, "agrees"]


def front_rows(study: Study, front: Front, points: Sequence[int] | None = None) -> list[list[str]]:
    """Points of a front, by the first goal; all by default. A rate of nothing, or that is not known: —."""
    names = [goal.measure for goal in study.goals]
    rates = [front.rates[name].tolist() for name in names[1:]]
    rows = []
    for k in range(len(front.designs)) if points is None else points:
        own, agrees = _point(front, k), "yes" if front.agree[k] else "no"
        cells = marked([str(k + 1), *(rounded(own[name]) for name in names)], names, own, friction_of(study))
        rows.append([*cells, *(rounded(x[k] if x[k] > PRICED else None) for x in rates), agrees])
    return rows


def _point(front: Front, k: int) -> dict[str, float]:
    return {name: float(values[k]) for name, values in front.measures.items()}


def front_note(study: Study, front: Front) -> str:
    """What the marks in the table of a front mean; empty: there are none."""
    return footnote((_point(front, k) for k in range(len(front.designs))), friction_of(study))


def variable_heads(study: Study) -> list[str]:
    """Heads of columns of variables."""
    units = known_variables(study)
    return [headed(variable.name, units[variable.name]) for variable in study.variables]


def front_numbers(study: Study, front: Front) -> tuple[list[str], list[list[str | float]]]:
    """The front as a file: all goals, all that is limited, all variables."""
    rows: list[list[str | float]] = [
        [str(k + 1), *(float(front.measures[name][k]) for name in study.measures), *front.designs[k].tolist(),
         "yes" if front.agree[k] else "no"]
        for k in range(len(front.designs))
    ]  # fmt: skip
    return ["point", *map(measure_head, study.measures), *variable_heads(study), "agrees"], rows


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
        rows.append([label, rounded(float(length), 3), rounded(float(mass), 3), ""])
    return [
        *rows,
        ["Liu & Ben-Tzvi 2021", "2", "0.09", "optimum for righting in the air"],
        ["Heim 2016", "", "", "a long and light tail does better than a short and heavy one"],
        ["Fu 2024", "", "", "more joints help, each less than the one before"],
    ]
