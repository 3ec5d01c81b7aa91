"""An answer in words and rows of tables, for the terminal and for the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tailwork.design.answer import Answer
from tailwork.design.measures import MEASURES
from tailwork.design.nlp import sides_of
from tailwork.design.pareto import Front
from tailwork.design.problem import Study
from tailwork.design.variables import known_variables
from tailwork.design.verify import AGREE
from tailwork.robots.robot import PlateTorso

POLICY_WORDS = {
    "straight-down": "the legs hold constant torques, under which the feet push straight down at rest (an open loop)",
    "joint": "the legs hold constant torques, with springs and dampers at their joints",
    "foot": "the legs hold constant torques, with springs and dampers at their feet",
    "airborne": "no feet on the ground, the legs rigid",
}
DESIGN_HEADER = ("variable", "value", "unit", "from", "to", "note")
MEASURE_HEADER = ("measure", "value", "unit", "limit", "as given", "note")
VERIFIED_HEADER = ("measure", "unit", "search", "finer steps", "single run", "agree")
OPTIMA_HEADER = ("optimum", "times", "goal", "worst violation")
SWING_HEADER = ("variable", "from", "to", "unit", "goal from", "goal to")
TOLERANCE_HEADER = ("measure", "unit", "mean", "deviation", "5 %", "95 %", "beyond its limit")
TOTAL = 1e-9
"""Prices below this are none."""


def plain_name(name: str) -> str:
    """A measure as one says it."""
    return name.replace("_", " ")


def unit_of(measure: str) -> str:
    """Its unit as one writes it; empty: it has none."""
    return _shown_unit(MEASURES[measure].unit)


def _shown_unit(unit: str) -> str:
    return "" if unit == "1" else unit


def number(x: float | None, digits: int = 4) -> str:
    """A number for a table."""
    if x is None or math.isnan(x):
        return "—"
    return "∞" if math.isinf(x) else f"{x + 0.0:.{digits}g}"


def with_unit(x: float, unit: str) -> str:
    """A number and its unit."""
    return f"{number(x)} {unit}".strip() if unit != "1" else number(x)


def choice_words(choice: Mapping[str, Any]) -> str:
    """What was chosen, in words."""
    return ", ".join(f"{path} = {value}" for path, value in choice.items())


def goal_words(study: Study) -> str:
    """What is wanted, in words."""
    return ", ".join(f"{goal.sense} {plain_name(goal.measure)}" for goal in study.goals)


def scenario_words(study: Study) -> str:
    """What is done, in words."""
    varied = {variable.name for variable in study.variables}
    scenario = study.scenario
    sweep = "an angle that is varied" if "motion.sweep" in varied else f"{scenario.sweep:g}°"
    time = "a time that is varied" if "motion.duration" in varied else f"{scenario.duration:g} s"
    way = "to the right" if scenario.axis == "yaw" else "down"
    return f"the tail sweeps {way} by {sweep} in {time}; {POLICY_WORDS[scenario.policy]}"


def design_rows(answer: Answer) -> list[list[str]]:
    """The best design, a row a variable, and what a bound that stops it costs."""
    units = known_variables(answer.study)
    rows = []
    for variable, value in zip(answer.study.variables, answer.best.design.tolist(), strict=True):
        unit = units[variable.name]
        rows.append([
            variable.name, number(value, 5), _shown_unit(unit), number(variable.low), number(variable.high),
            _edge_words(answer, variable.name, unit),
        ])  # fmt: skip
    return rows


def _edge_words(answer: Answer, name: str, unit: str) -> str:
    """That a variable is at its bound, and what moving the bound would give."""
    price = answer.best.bound_multipliers.get(name)
    if price is None:
        return ""
    variable = next(one for one in answer.study.variables if one.name == name)
    value = answer.values[name]
    upper = abs(value - variable.high) < abs(value - variable.low)
    where = "at its upper bound" if upper else "at its lower bound"
    if name.endswith(".tip_share") and (variable.high if upper else variable.low) == float(upper):
        return f"{where}, which is all there is"
    if price <= TOTAL:
        return where
    if unit == "m":  # a metre is no small step of a robot's
        price, unit = price / 100.0, "cm"
    return f"{where}: {_gain(answer.study, price)} for each {_per(unit)} {'more' if upper else 'less'}"


def _per(unit: str) -> str:
    """One of a unit."""
    return "1" if unit in ("", "1") else unit


def _gain(study: Study, price: float) -> str:
    """So much of the goal."""
    goal = study.goals[0]
    better = "more" if goal.sense == "most" else "less"
    return f"{number(price, 3)} {unit_of(goal.measure)} {better} {plain_name(goal.measure)}".replace("  ", " ")


def price_words(answer: Answer) -> list[str]:
    """What the limits cost, a sentence each, the dearest first in the share of its bound."""
    found: list[tuple[float, str]] = []
    for side in sides_of(answer.study.limits):
        price = answer.best.multipliers.get(side.words, 0.0)
        if price <= TOTAL:
            continue
        measure = side.limit.measure
        looser = "allowed" if side.sign > 0.0 else "given up"
        words = f"{_gain(answer.study, price)} for each {_per(unit_of(measure))} of {plain_name(measure)} {looser}"
        found.append((-price * side.scale, words))
    return [words for _, words in sorted(found)]


def measure_rows(answer: Answer) -> list[list[str]]:
    """Goals and what is limited: at the best design, and of the robot as it is given."""
    study = answer.study
    limits = {limit.measure: limit for limit in study.limits}
    rows = []
    for name in asked_measures(study):
        bounds = []
        if name in limits:
            low, high = limits[name].least, limits[name].most
            bounds = [f"{sign} {bound:g}" for sign, bound in (("≥", low), ("≤", high)) if bound is not None]
        notes = [f"goal: {goal.sense}" for goal in study.goals if goal.measure == name]
        notes += ["active"] * any(
            answer.best.multipliers.get(side.words, 0.0) > TOTAL for side in sides_of(study.limits)
            if side.limit.measure == name
        )  # fmt: skip
        given = None if answer.given is None else answer.given.measures.get(name)
        rows.append([
            plain_name(name), number(answer.verified.fine[name], 5), unit_of(name), ", ".join(bounds), number(given),
            ", ".join(notes),
        ])  # fmt: skip
    return rows


def asked_measures(study: Study) -> list[str]:
    """Goals and what is limited, each once."""
    return list(dict.fromkeys([goal.measure for goal in study.goals] + [limit.measure for limit in study.limits]))


def verified_rows(answer: Answer, *, every: bool = False) -> list[list[str]]:
    """Measures at the steps of the search, at finer ones and from a single adaptive run."""
    checked = answer.verified
    wrong = checked.disagreements()
    names = list(checked.fine) if every else [*asked_measures(answer.study), *wrong]
    return [
        [plain_name(name), unit_of(name), number(checked.coarse[name], 6), number(checked.fine[name], 6),
         number(checked.alone[name], 6), "no" if name in wrong else "yes"]
        for name in dict.fromkeys(names)
    ]  # fmt: skip


def verified_words(answer: Answer) -> str:
    """Whether the single run agrees."""
    wrong = answer.verified.disagreements()
    many = len(answer.verified.fine)
    if not wrong:
        return (
            f"Verified: a single run by the adaptive method agrees in all {many} measures to {AGREE:g} of their size."
        )
    names = ", ".join(plain_name(name) for name in wrong)
    return (
        f"NOT verified: a single run by the adaptive method disagrees in {names}, by more than {AGREE:g} of their size."
    )


def airborne_words(answer: Answer) -> str:
    """The closed form of the airborne robot beside the result; empty: there is none."""
    turn = answer.verified.fine.get("turn")
    if answer.airborne is None or turn is None or not answer.airborne:
        return ""
    ratio = turn / answer.airborne
    words = f"In the air, in closed form, the same sweep turns the body by {answer.airborne:.4g}°; here {turn:.4g}°, "
    if answer.study.scenario.policy == "airborne":
        return words + f"{ratio:.6g} times that."
    return words + f"{ratio:.3g} times that: the rest is what ground and legs do."


def optima_rows(answer: Answer) -> list[list[str]]:
    """Ends of the searches, the best first."""
    unit = unit_of(answer.study.goals[0].measure)
    return [
        [str(k + 1), f"{one.times} of {answer.found.starts}", with_unit(one.solved.goal, unit),
         number(one.solved.violation, 2)]
        for k, one in enumerate(answer.found.optima)
    ]  # fmt: skip


def optima_words(answer: Answer) -> str:
    """How many ends the searches have come to."""
    count, starts = len(answer.found.optima), answer.found.starts
    lost = starts - sum(one.times for one in answer.found.optima)
    words = f"{starts} searches from starts that lie far apart came to {count} optim{'um' if count == 1 else 'a'}"
    words += f"; the best was found {answer.found.optima[0].times} times" if count > 1 else ""
    return words + (f"; {lost} ended beyond a limit." if lost else ".")


def swing_rows(answer: Answer) -> list[list[str]]:
    """What each variable alone does to the goal near the best design, the largest first."""
    units = known_variables(answer.study)
    return [
        [one.variable, number(one.low), number(one.high), _shown_unit(units[one.variable]), number(one.at_low, 5),
         number(one.at_high, 5)]
        for one in answer.swings
    ]  # fmt: skip


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
        for name in asked_measures(answer.study)
    ]  # fmt: skip


def tolerance_words(answer: Answer) -> str:
    """What scatter does, in words."""
    found = answer.tolerance
    words = (
        f"{found.count:,} designs whose variables scatter independently, by {100 * found.spread:g} % of their values "
        "(standard deviation)."
    )
    worst = max(found.violated.items(), key=lambda one: one[1], default=("", 0.0))
    if worst[1] > 0.0:
        words += f" {100 * worst[1]:.1f} % of them are beyond {worst[0].replace('_', ' ')}."
    return words


def robust_words(answer: Answer) -> str:
    """What the margins are and what they cost; empty: none were asked for."""
    if answer.robust is None or answer.margins is None or answer.unguarded is None:
        return ""
    goal = answer.study.goals[0]
    unit = unit_of(goal.measure)
    kept = [f"{words.replace('_', ' ')} by {number(answer.margins[words], 3)}" for words in answer.active]
    asked, worst = 1.0 - answer.robust.chance, max(answer.tolerance.violated.items(), key=lambda one: one[1])
    text = (
        f"Limits are kept with a margin against scatter: {', '.join(kept) or 'none is active'}. That costs "
        f"{plain_name(goal.measure)}: {with_unit(answer.best.goal, unit)} in the place of "
        f"{with_unit(answer.unguarded.goal, unit)}. Asked for: at most {100 * asked:.3g} % beyond each limit; found in "
        f"a sample: {100 * worst[1]:.1f} % beyond {worst[0].replace('_', ' ')}."
    )
    if worst[1] > 1.1 * asked:
        text += (
            " That is more than asked for: margins are of first order, and what is the worst along the path can be so "
            "at several moments. A higher chance in the problem makes up for it."
        )
    return text


def sorted_answers(answers: list[Answer]) -> list[Answer]:
    """Answers of all choices, the best first."""
    sign = -1.0 if answers and answers[0].study.goals[0].sense == "most" else 1.0
    return sorted(answers, key=lambda answer: sign * answer.best.goal)


def choice_table(answers: Sequence[Answer]) -> tuple[list[str], list[list[str]]]:
    """All choices with what is wanted and limited: heads and rows."""
    names = asked_measures(answers[0].study)
    rows = [[choice_words(one.choice), *(number(one.verified.fine[name]) for name in names)] for one in answers]
    return ["choice", *map(measure_head, names)], rows


def front_header(study: Study) -> list[str]:
    """Columns of the table of a front."""
    first = study.goals[0].measure
    names = [measure_head(goal.measure) for goal in study.goals]
    rates = [f"{plain_name(first)} for {plain_name(goal.measure)}" for goal in study.goals[1:]]
    units = known_variables(study)
    variables = [headed(variable.name, units[variable.name]) for variable in study.variables]
    return ["point", *names, *rates, *variables, "agrees"]


def measure_head(name: str) -> str:
    """A measure with its unit, as the head of a column or of an axis."""
    return headed(plain_name(name), unit_of(name))


def headed(name: str, unit: str) -> str:
    """A name with its unit, as the head of a column or of an axis."""
    return name if unit in ("", "1") else f"{name} [{unit}]"


def front_rows(study: Study, front: Front) -> list[list[str]]:
    """The points of a front, by the first goal."""
    columns = [front.measures[goal.measure] for goal in study.goals]
    columns += [front.rates[goal.measure] for goal in study.goals[1:]]
    return [
        [str(k + 1), *(number(float(x[k])) for x in columns), *(number(x) for x in front.designs[k].tolist()),
         "yes" if front.agree[k] else "no"]
        for k in range(len(front.designs))
    ]  # fmt: skip


def front_words(study: Study, front: Front) -> str:
    """How a front was found and how sure it is."""
    count, first = len(front.designs), plain_name(study.goals[0].measure)
    how = "spread by the evolutionary method NSGA-III" if front.method == "NSGA-III" else "the best of the screen"
    agree = front.agree.count(True)
    others = " and ".join(plain_name(goal.measure) for goal in study.goals[1:])
    return (
        f"{count} designs, of which none is better in one goal without being worse in another: {how}, then polished: "
        f"each has the best {first} for its {others} ({front.polished} were improved by that). Single adaptive runs "
        f"agree for {agree} of {count}; at finer steps, the worst limit is exceeded by {100 * front.excess:.2g} % of "
        f"its bound. Rates say how much {first} one gains for each unit given up in another goal."
    )


def literature_rows(answer: Answer) -> list[list[str]]:
    """Our tail beside those of the literature, in shares of the torso; empty: the torso has no length."""
    torso = answer.robot.torso
    if not isinstance(torso, PlateTorso):
        return []
    fine = answer.verified.fine
    given = None if answer.given is None else answer.given.measures
    length, mass = float(torso.length), float(torso.mass)
    rows = [["best design here", number(fine["tail_length"] / length, 3), number(fine["tail_mass"] / mass, 3), ""]]
    if given is not None:
        rows.append([
            "robot as given", number(given["tail_length"] / length, 3), number(given["tail_mass"] / mass, 3), "",
        ])  # fmt: skip
    return [
        *rows,
        ["Liu & Ben-Tzvi 2021", "2", "0.09", "optimum for righting in the air"],
        ["Heim 2016", "", "", "a long and light tail does better than a short and heavy one"],
        ["Fu 2024", "", "", "more joints help, each less than the one before"],
    ]
