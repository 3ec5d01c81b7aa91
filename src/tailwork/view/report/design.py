"""The report of a design problem: the best designs and why, on one page."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from tailwork.format import capitalised, rounded, with_unit
from tailwork.simulation import Run
from tailwork.studies.design import tables, text
from tailwork.studies.design.answer import Answer, DesignOptions
from tailwork.studies.design.data import BEST
from tailwork.studies.design.files import ProblemFile
from tailwork.studies.design.folder import PROBLEM, AnswerFolder, design_cases
from tailwork.studies.design.pareto import Front
from tailwork.studies.design.variables import known_variables
from tailwork.view.draw.style import KINDS
from tailwork.view.figures.design import (
    parallel_coordinates,
    pareto_pairs,
    scatter_histograms,
    sobol_chart,
    tail_motion,
    tornado,
)
from tailwork.view.figures.runs import foot_forces
from tailwork.view.report.page import (
    FIGURES,
    REPORT,
    WARNING,
    Drawing,
    Drawings,
    Picture,
    Playback,
    Report,
    Section,
    Table,
    write_numbers,
    write_report,
)

PARETO = "pareto.csv"
MOST_PLAYED = 4  # runs in a player
MOST_LINES = 100  # designs of the screen that are drawn as lines
MOST_POINTS = 16  # of a front that are listed; all are in the file
SAME = 1e-3
"""Variables of a front that differ by less than this share of their range are the same in all of its designs."""
LITERATURE_HEADER = ("tail", "length / torso length", "mass / torso mass", "note")
FEET = (
    "The model pins the feet: they stay where they are. These are the forces that this takes. Where a foot would have "
    "to pull, or needs more friction than the ground has, a real foot would lift or slip."
)
REPEATED = (
    "A robot's file has neither the motion nor what the legs do. These lines read the run that is kept, and run the "
    "design again, from the folder in which the command was given. Its motion: {}."
)


def design_figures(answer: Answer) -> Drawings:
    """All figures of an answer by file name: captions and what draws them."""
    study, goal = answer.study, text.plain_name(answer.study.goals[0].measure)
    best, judged = text.best_words(study), text.judged_words(answer.indices.judged)
    found: dict[str, Drawing] = {
        "motion": (
            f"The tail's motion of {best}: {text.motion_words(answer)}; and as the problem states it. "
            f"{'Of a tail of many links, the angle of the last one. ' if study.tail.kind != 'pendulum' else ''}",
            partial(tail_motion, answer),
        ),
        "tornado": (
            f"What each variable alone does to the {goal} when it moves by 5 % of its range, within its bounds; its "
            "values stand at the bars. Limits are not kept.",
            partial(tornado, answer),
        ),
        "sobol": (
            f"Sobol indices over the whole bounds: which variables make designs differ in {goal}, alone and together "
            f"with others. {judged}",
            partial(sobol_chart, answer),
        ),
        "tolerance": (
            f"What becomes of {answer.tolerance.count:,} designs whose variables scatter by "
            f"{100 * answer.tolerance.spread:g} % of their values.",
            partial(scatter_histograms, answer),
        ),
    }
    screen = answer.search.screen
    within = screen.violation <= 0.0
    if within.sum() > 1:
        designs = screen.designs[within][:MOST_LINES]
        measures = {name: values[within][:MOST_LINES] for name, values in screen.measures.items()}
        found["screen"] = (
            f"The {len(designs)} best designs of the screen that keep all limits, each a line over all variables, and "
            f"{best} that was then found.",
            partial(parallel_coordinates, study, designs, measures, best=(answer.best.design, answer.verified.fine)),
        )
    if answer.verified.run.model.foot_names:
        said = "Normal force of each foot, and the friction that it needs to stay."
        found["feet"] = (said, partial(foot_forces, _runs(answer)))
    if answer.front is not None:
        third = "; the colour is the third goal" if len(study.goals) > 2 else ""
        found["pareto"] = (
            f"The designs of the front in pairs of goals{third}. Rings: designs to be played above, by their number in "
            "the table.",
            partial(pareto_pairs, study, answer.front),
        )
        found["front"] = (
            "The designs of the front, each a line over all variables and goals.",
            partial(parallel_coordinates, study, answer.front.designs, answer.front.measures),
        )
    return found


def report_files(answer: Answer, folder: Path) -> list[Path]:
    """All files that a report on an answer, the best one, writes."""
    drawn = [folder / FIGURES / f"{name}.{kind}" for name in design_figures(answer) for kind in KINDS]
    return [folder / REPORT, *([] if answer.front is None else [folder / PARETO]), *drawn]


def write_design_report(
    problem: ProblemFile, answers: Sequence[Answer], folder: Path, progress: Callable[[str], None] = lambda what: None
) -> Path:
    """Write the report on answers, the best first, and the designs of its front as CSV; the report's path."""
    best = answers[0]
    if best.front is not None:
        write_numbers(folder / PARETO, *tables.front_numbers(best.study, best.front))
    balance, coarse = rounded(best.verified.run.energy_balance_error(), 2), rounded(best.verified.balance, 2)
    footer = (
        f"Energy balances in the verifying run to {balance} of what moved, at the steps of the search to {coarse}. "
        "Made by tailwork; answers, robots and runs are kept in the folder."
    )
    sections, title = partial(_sections, problem, answers, folder), capitalised(problem.study.name)
    return write_report(Report(title, _summary(answers), design_figures(best), sections, footer), folder, progress)


def _sections(
    problem: ProblemFile, answers: Sequence[Answer], folder: Path, drawn: Mapping[str, Picture]
) -> list[Section]:
    best = answers[0]
    goal, words = text.plain_name(best.study.goals[0].measure), text.motion_words(best)
    runs, name = _runs(best), text.best_words(best.study)
    for other in answers[1 : MOST_PLAYED + 1 - len(runs)]:
        runs[text.choice_words(other.choice)] = other.verified.run
    played = Playback(runs, "The runs that verify the designs.")
    variables = Table(tables.DESIGN_HEADER, tables.design_rows(best), f"The variables of {name}")
    how = Section("How it was done", _method(best), folded=True)
    sections = [Section("", tables=[variables], playback=played), how, _best(best, drawn, name)]
    if len(answers) > 1:
        heads, cells, note = tables.choice_table(answers)
        table = Table(list(map(_whole_unit, heads)), cells, note=note)
        sections.append(Section("All choices", f"Sorted by their {goal}, the best first.", (), [table]))
    sections.append(_limits(best, goal))
    if best.front is not None:
        sections.append(_front(best, best.front, drawn))
    swings = capitalised(text.swing_words(best))
    moved = [
        Table(tables.swing_header(best.study), tables.swing_rows(best), swings),
        Table(tables.INDICES_HEADER, tables.indices_rows(best), f"Sobol indices: shares of the variance of {goal}"),
    ]
    scatter = Table(tables.TOLERANCE_HEADER, tables.tolerance_rows(best))
    optima = Table(tables.optima_header(best.study), tables.optima_rows(best))
    screen = [drawn["screen"]] if "screen" in drawn else []
    sections += [
        Section("What moves it", "", [drawn["tornado"], drawn["sobol"]], moved, folded=True),
        Section("What scatter does", text.tolerance_words(best), [drawn["tolerance"]], [scatter], folded=True),
        Section("How it was found", text.optima_words(best), screen, [optima], folded=True),
    ]
    if "feet" in drawn:
        sections.append(Section("Feet", f"{text.feet_words(best)}\n\n{FEET}", [drawn["feet"]], folded=True))
    verified = Table(tables.VERIFIED_HEADER, tables.verified_rows(best, every=True))
    sections.append(Section("Verification", text.verified_words(best), (), [verified], folded=True))
    if known := tables.literature_rows(best):
        sections.append(Section("Beside the literature", "", (), [Table(LITERATURE_HEADER, known)], folded=True))
    return [
        *sections,
        Section("To run it again", REPEATED.format(words), listing=_code(problem, best, folder), folded=True),
        Section("The problem", listing=problem.text, folded=True),
    ]


def _summary(answers: Sequence[Answer]) -> str:
    best = answers[0]
    prices = text.price_words(best)
    held = f"What holds it back: {'; '.join(prices)}." if prices else "No limit holds it back."
    return "\n\n".join([f"{text.headline(best)} {held}", *(WARNING + caution for caution in text.warnings(best))])


def _method(best: Answer) -> str:
    """What was wanted, and what else there is to know, in a paragraph each."""
    study = best.study
    said = f"Wanted: {text.goal_words(study)}, of the robot {study.robot.name}: {text.scenario_words(study)}."
    feet = "" if text.feet_pull(best) else text.feet_words(best)
    checked = "" if best.verified.disagreements() else text.verified_words(best)
    return "\n\n".join([said, " ".join(filter(None, [feet, text.airborne_words(best), checked]))])


def _code(problem: ProblemFile, best: Answer, folder: Path) -> str:
    """Lines that run the best design again."""
    case = next(case for case in design_cases(problem.study, DesignOptions()) if case.choice == best.choice)
    robot_file = str(tomllib.loads(problem.text)["robot"].get("file", ""))
    return text.repeat_code(best, AnswerFolder(folder).run_file(case, BEST), folder / PROBLEM, robot_file)


def _runs(answer: Answer) -> dict[str, Run]:
    """The best design and the robot as it is given."""
    runs = {text.best_name(answer.study): answer.verified.run}
    return runs if answer.given is None else {"as given": answer.given.run, **runs}


def _best(best: Answer, drawn: Mapping[str, Picture], name: str) -> Section:
    shown = [
        Table(tables.MEASURE_HEADER, tables.measure_rows(best), "What is wanted and what is limited",
              tables.measure_caption(best)),
    ]  # fmt: skip
    return Section(capitalised(name), "", [drawn["motion"]], shown)


def _whole_unit(head: str) -> str:
    """A head whose unit is not broken between two lines."""
    before, bracket, unit = head.partition(" [")
    return before + bracket + unit.replace(" ", "\u00a0")


def _limits(answer: Answer, goal: str) -> Section:
    prices = text.price_words(answer)
    said = (
        f"These limits hold the {goal} of {text.best_words(answer.study)} back. A price is what the {goal} gains for "
        "a small step by which a limit is loosened; variables that stand at a bound have one, too, in the table above."
        if prices
        else f"No limit holds the {goal} back: only the bounds of the variables do, with prices in the table above."
    )
    shown = [Table(("price",), [[capitalised(price)] for price in prices])] if prices else []
    return Section("What limits it", "\n\n".join(filter(None, [said, text.robust_words(answer)])), (), shown)


def _front(answer: Answer, front: Front, drawn: Mapping[str, Picture]) -> Section:
    study = answer.study
    runs = {f"point {k + 1}": one.run for k, one in list(front.samples.items())[:MOST_PLAYED]}
    points = listed_points(len(front.designs), list(front.samples))
    playback = Playback(runs, "Designs of the front: the best in each goal, and one between them.")
    said = f"{text.front_words(study, front)} All {len(front.designs)} are in {PARETO}"
    said += "." if len(points) == len(front.designs) else f"; {len(points)} of them are listed here."
    heads = list(map(_whole_unit, tables.front_header(study)))
    rows, note = tables.front_rows(study, front, points), tables.front_note(study, front)
    shown = [Table(heads, rows, note=note), _designs(answer, front, points)]
    return Section("Trade-off", said, [drawn["pareto"], drawn["front"]], shown, playback)


def _designs(answer: Answer, front: Front, points: Sequence[int]) -> Table:
    """The variables of some points of a front; those that are the same in all are in the caption."""
    study, units = answer.study, known_variables(answer.study)
    span = np.array([variable.high - variable.low for variable in study.variables])
    differ = np.ptp(front.designs, axis=0) > SAME * span
    alike = [
        f"{variable.name} {with_unit(float(front.designs[:, k].mean()), units[variable.name])}"
        for k, variable in enumerate(study.variables)
        if not differ[k]
    ]
    heads = [head for head, other in zip(tables.variable_heads(study), differ, strict=True) if other]
    cells = [[str(k + 1), *(rounded(x) for x in front.designs[k][differ].tolist())] for k in points]
    caption = "The same designs" + (f"; in all of the front: {', '.join(alike)}" if alike else "")
    return Table(["point", *heads], cells, caption)


def listed_points(count: int, samples: Sequence[int]) -> list[int]:
    """Points of a front that are listed, evenly spread, those that are played among them."""
    if count <= MOST_POINTS:
        return list(range(count))
    spread = np.linspace(0, count - 1, MOST_POINTS - len(samples)).round().astype(int)
    return sorted({*samples, *spread.tolist()})
