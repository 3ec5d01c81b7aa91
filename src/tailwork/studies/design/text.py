"""An answer in words, for the terminal and for the report."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tailwork.errors import ArgumentError
from tailwork.format import capitalised, headed, minus, rounded, shown_unit, with_unit
from tailwork.robots.tails.fit import tail_text
from tailwork.simulation.contact.ground import STATIC_FRICTION
from tailwork.studies.design.answer import Answer
from tailwork.studies.design.optimizer import MODEL_END, Solution, sides_of
from tailwork.studies.design.pareto import Front
from tailwork.studies.design.problem import Study
from tailwork.studies.design.variables import design_of, known_variables, value_in
from tailwork.studies.design.verify import AGREE
from tailwork.studies.measures import unit_of as measure_unit
from tailwork.studies.possible import ALLOWED, FOOT_CHECKS, impossible

PRICED = 1e-9
"""Prices below this are none."""
SMALL_STEP = 0.01
"""Of numbers without a unit, by which their prices are counted: 1 is no small step of friction or extension."""
OFTEN = 0.05
"""Share of a sample beyond a limit that is worth a margin."""
ALIKE = 0.02
"""Goals of a front that differ by less than this share of their size are all but the same."""
BEYOND = 1e-6
"""A step beyond a bound, as a share of the variable's range, that tells whether there is anything."""


def plain_name(name: str) -> str:
    """A measure as one says it."""
    return name.replace("_", " ")


def unit_text(measure: str) -> str:
    """Its unit as one writes it; empty: it has none."""
    return shown_unit(measure_unit(measure))


def measure_head(name: str) -> str:
    """A measure with its unit, as the head of a column or of an axis."""
    return headed(plain_name(name), unit_text(name))


def limit_words(side: str) -> str:
    """One side of a limit as one says it, from the words by which it is known."""
    return minus(plain_name(side))


def choice_words(choice: Mapping[str, Any]) -> str:
    """What was chosen, in words."""
    said = {path: value if isinstance(value, str) else minus(str(value)) for path, value in choice.items()}
    return ", ".join(f"{path} = {value}" for path, value in said.items())


def goal_words(study: Study) -> str:
    """What is wanted, in words."""
    return ", ".join(f"{goal.sense} {plain_name(goal.measure)}" for goal in study.goals)


def best_name(study: Study) -> str:
    """What the best design is called: of several goals, it is the best in the first one."""
    return "best design" if len(study.goals) == 1 else f"best in {plain_name(study.goals[0].measure)}"


def best_words(study: Study) -> str:
    """The same within a sentence."""
    return "the best design" if len(study.goals) == 1 else f"the design {best_name(study)}"


def problem_words(study: Study) -> str:
    """A problem in one line; a name that says no more than the goal is not said twice."""
    wanted = goal_words(study)
    named = wanted if study.name.casefold() == wanted.casefold() else f"{study.name}: {wanted}"
    return f"{named}; {scenario_words(study)}"


def scenario_words(study: Study) -> str:
    """What is done, in words."""
    scenario = study.scenario
    side = "to the right" if scenario.motion.axis == "yaw" else "down"
    sweep, time = _ranged(study, "sweep"), _ranged(study, "duration")
    words = f"the tail ({tail_text(scenario.tail_part)}, unless varied) sweeps {side} by {sweep}, in {time}; the legs: "
    words += scenario.leg_policy.text(scenario.robot)
    return words + scenario.push_text


def _ranged(study: Study, name: str) -> str:
    """A number of the motion, or its bounds."""
    unit = {"sweep": "deg", "duration": "s"}[name]
    varied = next((variable for variable in study.variables if variable.name == f"motion.{name}"), None)
    if varied is None:
        return with_unit(value_in(study.scenario, name), unit)
    return f"{rounded(varied.low)} to {rounded(varied.high)} {unit} (free)"


def motion_words(answer: Answer) -> str:
    """The numbers of the best design's motion."""
    design = answer.verified.design
    words = (
        f"sweep {with_unit(value_in(design, 'sweep'), 'deg')}, duration {with_unit(design.duration, 's')}, "
        f"early {rounded(value_in(design, 'early'))}, skew {rounded(value_in(design, 'skew'))}"
    )
    if "control.kp" in known_variables(answer.study):
        kp, kd = value_in(design, "kp"), value_in(design, "kd")
        words += f", kp {with_unit(kp, 'N m/rad')}, kd {with_unit(kd, 'N m s/rad')}"
    return words


def headline(answer: Answer) -> str:
    """What was found, beside the robot as it is given."""
    study, goal = answer.study, answer.study.goals[0].measure
    chosen = f", with {choice_words(answer.choice)}," if answer.choice else ""
    value = with_unit(answer.verified.fine[goal], unit_text(goal))
    text = f"The {plain_name(goal)} of {best_words(study)}{chosen} is {value}"
    if answer.given is None:
        return f"{text}; the robot as it is given does not come to the end of the motion."
    measures = answer.given.measures
    if goal in measures:
        text += f"; that of the robot as it is given is {with_unit(measures[goal], unit_text(goal))}"
        broken = [f"{words}: {rounded(value, 3)}" for words, value in broken_limits(study, measures).items()]
        text += f", which breaks {'; '.join(broken)}" if broken else ""
    return f"{text}."


def broken_limits(study: Study, measures: Mapping[str, float]) -> dict[str, float]:
    """Sides of limits that some measures are beyond, in words, and these measures."""
    found = {}
    for side in sides_of(study.limits):
        value = measures.get(side.limit.measure)
        if value is not None and side.sign * (value - side.bound) > ALLOWED * side.scale:
            found[limit_words(side.words)] = value
    return found


def edge_words(answer: Answer, name: str, unit: str) -> str:
    """That a variable is at its bound, and what moving the bound would give; empty: it is not."""
    price = answer.best.bound_multipliers.get(name)
    if price is None:
        return ""
    variable = next(one for one in answer.study.variables if one.name == name)
    value = answer.values[name]
    upper = abs(value - variable.high) < abs(value - variable.low)
    where = "at its upper bound" if upper else "at its lower bound"
    if not _goes_on(answer, name, (variable.high - variable.low) * (BEYOND if upper else -BEYOND)):
        return f"{where}, which is all there is"
    if price <= PRICED:
        return where
    if unit == "m":  # a metre is no small step of a robot's
        price, unit = price / 100.0, "cm"
    return f"{where}: {_gain(answer.study, price)} for each {shown_unit(unit) or '1'} {'more' if upper else 'less'}"


def _goes_on(answer: Answer, name: str, step: float) -> bool:
    """Whether there are designs beyond a variable's bound: no mass is negative, no share is more than all."""
    try:
        design_of(answer.study, {**answer.values, name: answer.values[name] + step})
    except ArgumentError:
        return False
    return True


def _gain(study: Study, price: float) -> str:
    """So much of the goal."""
    goal = study.goals[0]
    better = "more" if goal.sense == "most" else "less"
    return f"{rounded(price, 3)} {unit_text(goal.measure)} {better} {plain_name(goal.measure)}".replace("  ", " ")


def price_words(answer: Answer) -> list[str]:
    """What the limits cost, a sentence each, the dearest first in the share of its bound."""
    found: list[tuple[float, str]] = []
    stated = sides_of(answer.study.limits)
    for side in stated:
        price = answer.best.multipliers.get(side.words, 0.0)
        if price <= PRICED:
            continue
        measure = side.limit.measure
        unit, step = unit_text(measure) or f"{SMALL_STEP:g}", 1.0 if unit_text(measure) else SMALL_STEP
        looser = "allowed" if side.sign > 0.0 else "given up"
        words = f"{_gain(answer.study, price * step)} for each {unit} of {plain_name(measure)} {looser}"
        found.append((-price * side.scale, words))
    end = answer.best.multipliers.get(MODEL_END.words, 0.0)
    if end > PRICED and MODEL_END.words not in [side.words for side in stated]:
        words = (
            f"{_gain(answer.study, end * SMALL_STEP)} for each {SMALL_STEP:g} of leg extension: the model ends at "
            f"{MODEL_END.bound:g}, legs all but straight"
        )
        found.append((-end * MODEL_END.scale, words))
    return [words for _, words in sorted(found)]


def verified_words(answer: Answer) -> str:
    """Whether finer steps and the single run agree."""
    both, wrong = "finer steps and a single run by the adaptive method", answer.verified.disagreements()
    if wrong:
        names = ", ".join(map(plain_name, wrong))
        return f"NOT verified: {both} disagree in {names}, by more than {AGREE:g} of their size."
    return f"Verified: {both} agree in all {len(answer.verified.fine)} measures, to {AGREE:g} of their size."


def airborne_words(answer: Answer) -> str:
    """The closed form of the airborne robot beside the result; empty: there is nothing to compare."""
    turn = answer.verified.fine.get("turn")
    if turn is None or any(answer.study.scenario.impulse) or answer.airborne == 0.0:  # an impulse turns the body, too
        return ""
    if answer.airborne is None:
        closed = "for tails of many links there is none in closed form"
        return f"What the same sweep does in the air is not set beside it: {closed}."
    aloft = answer.study.scenario.policy == "airborne"
    return (
        f"In the air, in closed form, the same sweep turns the body by {rounded(answer.airborne)} deg; here "
        f"{rounded(turn)} deg, {rounded(turn / answer.airborne, 6 if aloft else 3)} times that"
        f"{'' if aloft else ': the rest is what ground and legs do'}."
    )


def unsettled_words(solved: Solution) -> str:
    """That a search has not converged, and why; empty: it has."""
    if solved.converged:
        return ""
    why = solved.why.strip().rstrip(".")
    ended = "there is still something to gain" if not why or "success" in why.casefold() else why[:1].lower() + why[1:]
    return f"not converged: {ended}"


def optima_words(answer: Answer) -> str:
    """How many ends the searches have come to."""
    ends, starts = answer.search.optima, answer.search.starts
    count, loose = len(ends), sum(not one.solved.converged for one in ends)
    lost = starts - sum(one.times for one in ends)
    one, several = ("end", "ends") if loose else ("optimum", "optima")
    words = f"{starts} searches from starts that lie far apart" if starts > 1 else "1 search"
    words += f" came to {count} {one if count == 1 else several}"
    if count > 1:
        words += f"; the best was found {'once' if ends[0].times == 1 else f'{ends[0].times} times'}"
    if loose:
        words += "; it has not converged" if count == 1 else f"; {loose} of {count} have not converged"
    return words + (f"; {lost} ended beyond a limit." if lost else ".")


def swing_words(answer: Answer) -> str:
    """What the table of single variables shows."""
    ended = any(math.isnan(end) for swing in answer.swings for end in (swing.at_low, swing.at_high))
    return (
        f"what each variable alone does to {plain_name(answer.study.goals[0].measure)} near {best_words(answer.study)} "
        f"(limits are not kept, so that a sign may differ from that of a price{'; —: a leg is straight' * ended})"
    )


def judged_words(share: float) -> str:
    """Which share of some designs can be judged, and why the others cannot; empty: all can."""
    if share >= 1.0:
        return ""
    return (
        f"{rounded(100.0 * (1.0 - share), 2)} % of these designs cannot be judged: a leg comes to be all but straight, "
        "where the model ends."
    )


def tolerance_words(answer: Answer) -> str:
    """What scatter does, in words."""
    found = answer.tolerance
    said = [
        f"{found.count:,} designs whose variables scatter independently, by {100 * found.spread:g} % of their values "
        "(standard deviation).",
        judged_words(found.judged),
    ]
    side, share = max(found.violated.items(), key=lambda one: one[1], default=("", 0.0))
    if share > 0.0:
        said.append(f"{100 * share:.1f} % are beyond {limit_words(side)}.")
    if share > OFTEN and answer.robust is None:
        table = "A table" if len(answer.study.goals) == 1 else "For one goal alone, a table"
        said.append(f"{table} [robust] in the problem keeps a margin to the limits.")
    return " ".join(filter(None, said))


def robust_words(answer: Answer) -> str:
    """What the margins are and what they cost; empty: none were asked for."""
    if answer.robust is None or answer.margins is None or answer.unguarded is None:
        return ""
    goal = answer.study.goals[0]
    unit = unit_text(goal.measure)
    kept = [
        f"{limit_words(words)} by {rounded(answer.margins[words], 3)}"
        for words in answer.active
        if words in answer.margins
    ]
    chance, worst = 1.0 - answer.robust.chance, max(answer.tolerance.violated.items(), key=lambda one: one[1])
    text = (
        f"Limits are kept with a margin against scatter: {', '.join(kept) or 'none is active'}. That costs "
        f"{plain_name(goal.measure)}: {with_unit(answer.best.goal, unit)} in the place of "
        f"{with_unit(answer.unguarded.goal, unit)}. Asked for: at most {100 * chance:.3g} % beyond each limit; "
        f"found in a sample: {100 * worst[1]:.1f} % beyond {limit_words(worst[0])}."
    )
    if worst[1] > 1.1 * chance:
        text += (
            " That is more than asked for: margins are of first order, and what is the worst along the path can be so "
            "at several moments. A higher chance in the problem makes up for it."
        )
    return text


def front_words(study: Study, front: Front) -> str:
    """How a front was found and how sure it is."""
    count, first = len(front.designs), plain_name(study.goals[0].measure)
    how = "spread by the evolutionary method NSGA-III" if front.method == "NSGA-III" else "the best of the screen"
    agree = front.agree.count(True)
    others = " and ".join(plain_name(goal.measure) for goal in study.goals[1:])
    kept = "all limits are kept"
    if front.excess > ALLOWED:
        kept = f"the worst limit is exceeded by {rounded(100 * front.excess, 2)} % of its bound"
    text = (
        f"{count} designs, of which none is better in one goal without being worse in another: {how}, then polished: "
        f"each has the best {first} for its {others} ({front.polished} were improved by that). Single adaptive runs "
        f"agree for {agree} of {count}; at finer steps, {kept}. Rates say how much {first} one gains for each "
        "unit given up in another goal; —: nothing, or it is not known."
    )
    goals = [front.measures[goal.measure] for goal in study.goals]
    if any(np.ptp(values) >= ALIKE * np.abs(values).max(initial=0.0) > 0.0 for values in goals):
        return text
    alike = f"the best designs differ by less than {100 * ALIKE:g} % in each of them, and any one will do"
    return f"These goals do not conflict: {alike}. {text}"


SWUNG_BACK = 1.0 / 3.0
"""A turn at the end that is less than this share of the peak: the torso has swung back."""
LEAST_PEAK = 1e-3
"""Peaks below this are none [deg]."""


def friction_of(study: Study) -> float:
    """Of the ground by which designs are judged: what the problem allows, if it says so."""
    allowed = [limit.most for limit in study.limits if limit.measure == "friction_needed" and limit.most is not None]
    return allowed[0] if allowed else STATIC_FRICTION


def warnings(answer: Answer) -> list[str]:
    """All that is to be pointed out, a paragraph each; empty: nothing is."""
    said = [verified_words(answer)] if answer.verified.disagreements() else []
    said += map(capitalised, answer.verified.warnings())
    if not answer.best.converged:
        why, best = unsettled_words(answer.best), best_words(answer.study)
        said.append(f"The search for {best} has {why}. There may be a better one.")
    said += [feet_words(answer)] if feet_pull(answer) else []
    wrong = impossible(answer.verified.fine, friction_of(answer.study))
    beyond = [words for name, words in wrong.items() if not (feet_pull(answer) and name in FOOT_CHECKS)]
    said += [f"{best_words(answer.study).capitalize()} is not possible: {'; '.join(beyond)}."] if beyond else []
    return [*said, *filter(None, [turn_words(answer)])]


def feet_pull(answer: Answer) -> bool:
    """Whether a foot of the best design would have to pull."""
    return answer.verified.fine.get("least_normal_force", 1.0) <= 0.0


def feet_words(answer: Answer) -> str:
    """Whether all feet push, and what friction they need; empty: none is on the ground."""
    fine = answer.verified.fine
    if "least_normal_force" not in fine:
        return ""
    least = fine["least_normal_force"]
    if feet_pull(answer):
        return (
            f"A foot of {best_words(answer.study)} pulls at the ground, by {rounded(-least, 3)} N at most. The model "
            "pins the feet and lets it; on real ground it would lift. A limit least_normal_force = { least = 0.0 } "
            "keeps it from that."
        )
    return (
        f"All feet push, each by at least {rounded(least, 3)} N; to stay where they are they need a friction of "
        f"{rounded(fine['friction_needed'], 3)}."
    )


def turn_words(answer: Answer) -> str:
    """That the torso has swung back by the end, where `turn` is asked for; empty: it has not."""
    study, fine = answer.study, answer.verified.fine
    peak_name = f"peak_{study.scenario.motion.axis}"
    if "turn" not in study.measures or peak_name not in fine:
        return ""
    turn, peak = fine["turn"], fine[peak_name]
    if peak < LEAST_PEAK or turn >= SWUNG_BACK * peak:
        return ""
    return (
        f"By the end of the motion the torso has swung back: its turn is {rounded(turn)} deg there, after a peak of "
        f"{rounded(peak)} deg. `turn` is what is left at the end; did you mean {peak_name}?"
    )


CODE = """\
import tailwork
from tailwork.studies.design import load_study
from tailwork.studies.design.variables import design_of
from tailwork.studies.design.verify import simulated

kept = tailwork.load_run({run!r})  # the robot, and all that happens over time
print(kept.summary())

study = load_study({problem!r}){beside}
design = design_of(study, {values!r})
again = simulated(study, design, samples=201)
print(again.summary())
"""


def repeat_code(answer: Answer, run: Path, problem: Path, robot_file: str = "") -> str:
    """Lines that read the verifying run of an answer and run its best design again, from the files of both; a robot's
    file is looked for beside the problem's, empty: a preset."""
    beside = f"  # with {robot_file} beside it" if robot_file else ""
    return CODE.format(run=str(run), problem=str(problem), values=answer.values, beside=beside)
