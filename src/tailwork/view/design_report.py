"""The report of a design problem: the best designs and why, on one page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from tailwork.design import words
from tailwork.design.answer import Answer
from tailwork.design.files import Problem
from tailwork.design.pareto import Front
from tailwork.simulation import Run
from tailwork.view.comparison import Drawing, Drawings, drawn_pictures
from tailwork.view.design import parallel_coordinates, pareto_pairs, scatter_histograms, sobol_shares, tornado
from tailwork.view.feet import foot_forces
from tailwork.view.numbers import write_numbers
from tailwork.view.report import Picture, Playback, Section, Table, page, write_page

REPORT, PARETO = "report.html", "pareto.csv"
MOST_PLAYED = 4
"""Runs in a player."""
MOST_LINES = 100
"""Designs of the screen that are drawn as lines."""
LISTING = "THE PROBLEM FILE STANDS HERE"
"""What the text of the problem takes the place of, with its lines as they are."""
LISTED = (
    "overflow-x:auto;padding:0.9rem 1.1rem;background:var(--tint);border-radius:8px;font-size:0.85rem;line-height:1.45"
)
FEET = (
    "The model pins the feet: they stay where they are. These are the forces that this takes. Where a foot would have "
    "to pull, or needs more friction than the ground has, a real foot would lift or slip."
)


def figures(answer: Answer) -> Drawings:
    """All figures of an answer by file name: captions and what draws them."""
    study, goal = answer.study, words.plain_name(answer.study.goals[0].measure)
    found: dict[str, tuple[str, Drawing]] = {
        "tornado": (
            f"What each variable alone does to the {goal} when it moves by 5 % of its range, within its bounds; its "
            "values stand at the bars. Limits are not kept.",
            lambda: tornado(answer),
        ),
        "sobol": (
            f"Sobol indices over the whole bounds: which variables make designs differ in {goal}, alone and together "
            f"with others. {100 * answer.indices.judged:.0f} % of the designs can be judged.",
            lambda: sobol_shares(answer),
        ),
        "tolerance": (
            f"What becomes of {answer.tolerance.count:,} designs whose variables scatter by "
            f"{100 * answer.tolerance.spread:g} % of their values.",
            lambda: scatter_histograms(answer),
        ),
    }
    screen = answer.found.screen
    within = screen.violation <= 0.0
    if within.sum() > 1:
        designs = screen.designs[within][:MOST_LINES]
        measures = {name: values[within][:MOST_LINES] for name, values in screen.measures.items()}
        found["screen"] = (
            f"The {len(designs)} best designs of the screen that keep all limits, each a line over all variables, and "
            "the best design that was then found.",
            lambda: parallel_coordinates(study, designs, measures, best=(answer.best.design, answer.verified.fine)),
        )
    if answer.verified.run.model.foot_names:
        runs = _runs(answer)
        found["feet"] = (
            "Normal force of each foot, and the friction that it needs to stay.",
            lambda: foot_forces(runs),
        )
    if answer.front is not None:
        front = answer.front
        found["pareto"] = (
            "The designs of the front in pairs of goals; the colour is the third goal. Rings: designs to be played "
            "above, by their number in the table.",
            lambda: pareto_pairs(study, front),
        )
        found["front"] = (
            "The designs of the front, each a line over all variables and goals.",
            lambda: parallel_coordinates(study, front.designs, front.measures),
        )
    return found


def write_report(
    problem: Problem, answers: Sequence[Answer], folder: Path, progress: Callable[[str], None] = lambda what: None
) -> Path:
    """Draw and save all figures, and write the report on answers, the best first; its path."""
    best = answers[0]
    drawn = drawn_pictures(figures(best), folder, progress)
    progress("writing the page")
    sections = [_best(answers), _why(best)]
    if len(answers) > 1:
        sections.insert(1, _choices(answers))
    if best.front is not None:
        sections.append(_front(best, best.front, drawn))
        write_numbers(folder / PARETO, *_front_numbers(best, best.front))
    sections += [_sensitivity(best, drawn), _tolerance(best, drawn), _found(best, drawn)]
    if "feet" in drawn:
        sections.append(Section("Feet", FEET, [drawn["feet"]]))
    sections += [_verification(best), _literature(best), Section("The problem", LISTING)]
    html = page(problem.study.name.capitalize(), _summary(answers), sections, _footer(best))
    listing = f'<pre style="{LISTED}" tabindex="0">{escape(problem.text)}</pre>'
    write_page(folder / REPORT, html.replace(f"<p>{LISTING}</p>", listing))
    return folder / REPORT


def _summary(answers: Sequence[Answer]) -> str:
    best = answers[0]
    study, goal = best.study, best.study.goals[0]
    value = words.with_unit(best.verified.fine[goal.measure], words.unit_of(goal.measure))
    name = words.plain_name(goal.measure)
    chosen = f", with {words.choice_words(best.choice)}" if best.choice else ""
    text = (
        f"Wanted: {words.goal_words(study)}, of the robot {study.robot.name}: {words.scenario_words(study)}. "
        f"The best design{chosen} has a {name} of {value}"
    )
    if best.given is not None:
        given = words.with_unit(best.given.measures[goal.measure], words.unit_of(goal.measure))
        text += f"; the robot as it is given, {given}"
    prices = words.price_words(best)
    text += f". What holds it back: {'; '.join(prices)}." if prices else ". No limit holds it back."
    return "\n\n".join([text, " ".join(filter(None, [words.airborne_words(best), words.verified_words(best)]))])


def _runs(answer: Answer) -> dict[str, Run]:
    """The best design and the robot as it is given."""
    runs = {"best design": answer.verified.run}
    return runs if answer.given is None else {"as given": answer.given.run, **runs}


def _best(answers: Sequence[Answer]) -> Section:
    best = answers[0]
    runs = _runs(best)
    for other in answers[1 : MOST_PLAYED + 1 - len(runs)]:
        runs[words.choice_words(other.choice)] = other.verified.run
    playback = Playback(runs, "The runs that verify the designs, to be played.")
    tables = [
        Table(words.DESIGN_HEADER, words.design_rows(best), "The variables of the best design"),
        Table(words.MEASURE_HEADER, words.measure_rows(best), "What is wanted and what is limited"),
    ]
    return Section("The best design", "", (), tables, playback)


def _choices(answers: Sequence[Answer]) -> Section:
    goal = words.plain_name(answers[0].study.goals[0].measure)
    return Section("All choices", f"Sorted by their {goal}, the best first.", (), [Table(*words.choice_table(answers))])


def _why(answer: Answer) -> Section:
    prices = words.price_words(answer)
    goal = words.plain_name(answer.study.goals[0].measure)
    text = (
        f"At the best design, these limits hold the {goal} back. A price is what the {goal} gains for a small step by "
        "which a limit is loosened; variables that stand at a bound have one, too, in the table above."
        if prices
        else f"No limit holds the {goal} back: only the bounds of the variables do, with prices in the table above."
    )
    tables = [Table(("price",), [[price[:1].upper() + price[1:]] for price in prices])] if prices else []
    more = "\n\n".join(filter(None, [text, words.robust_words(answer)]))
    return Section("What limits it", more, (), tables)


def _sensitivity(answer: Answer, drawn: dict[str, Picture]) -> Section:
    table = Table(words.SWING_HEADER, words.swing_rows(answer), "Each variable alone, around the best design")
    return Section("What moves it", "", [drawn["tornado"], drawn["sobol"]], [table])


def _tolerance(answer: Answer, drawn: dict[str, Picture]) -> Section:
    table = Table(words.TOLERANCE_HEADER, words.tolerance_rows(answer))
    return Section("What scatter does", words.tolerance_words(answer), [drawn["tolerance"]], [table])


def _found(answer: Answer, drawn: dict[str, Picture]) -> Section:
    pictures = [drawn["screen"]] if "screen" in drawn else []
    return Section(
        "How it was found",
        words.optima_words(answer),
        pictures,
        [Table(words.OPTIMA_HEADER, words.optima_rows(answer))],
    )


def _verification(answer: Answer) -> Section:
    table = Table(words.VERIFIED_HEADER, words.verified_rows(answer, every=True))
    return Section("Verification", words.verified_words(answer), (), [table])


def _literature(answer: Answer) -> Section:
    rows = words.literature_rows(answer)
    header = ("tail", "length / torso length", "mass / torso mass", "note")
    return Section("Beside the literature", "", (), [Table(header, rows)])


def _front(answer: Answer, front: Front, drawn: dict[str, Picture]) -> Section:
    study = answer.study
    runs = {f"point {k + 1}": one.run for k, one in list(front.samples.items())[:MOST_PLAYED]}
    table = Table(words.front_header(study), words.front_rows(study, front))
    playback = Playback(runs, "Designs of the front: the best in each goal, and one between them.")
    text = words.front_words(study, front) + f" The same numbers are in {PARETO}."
    return Section("Trade-off", text, [drawn["pareto"], drawn["front"]], [table], playback)


def _front_numbers(answer: Answer, front: Front) -> tuple[list[str], list[list[str | float]]]:
    """The front as a file: all goals, all that is limited, all variables."""
    study = answer.study
    names = words.asked_measures(study)
    header = words.front_header(study)
    head = ["point", *(words.measure_head(name) for name in names), *header[-1 - len(study.variables) :]]
    rows: list[list[str | float]] = [
        [str(k + 1), *(float(front.measures[name][k]) for name in names), *front.designs[k].tolist(),
         "yes" if front.agree[k] else "no"]
        for k in range(len(front.designs))
    ]  # fmt: skip
    return head, rows


def _footer(answer: Answer) -> str:
    balance = answer.verified.run.energy_balance_error()
    return (
        f"Energy balances in the verifying run to {balance:.1e} of what moved. Made by tailwork; answers, robots and "
        "runs are kept in the folder."
    )
