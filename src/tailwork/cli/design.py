"""`tailwork design`: a design problem, its best designs and why, with tables and a report."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from tailwork.cli.inputs import (
    CLUSTER_HELP,
    FILES,
    ROBOT_HELP,
    THREADS_HELP,
    add_import_options,
    add_tail,
    check_threads,
    import_options,
    measures_help,
    warn_angles,
    warn_motions,
    warn_postures,
)
from tailwork.cli.terminal import WARNED, print_table, progress_bar, wide_console
from tailwork.errors import ArgumentError, FileError
from tailwork.files import write_whole
from tailwork.robots import presets
from tailwork.robots.io.toml import parsed
from tailwork.studies.design import tables, text
from tailwork.studies.design.answer import Answer, DesignOptions, sorted_answers
from tailwork.studies.design.example import EXAMPLE, example_for, with_robot_table
from tailwork.studies.design.files import ProblemFile, load_problem, problem_from_text, robot_from
from tailwork.studies.design.folder import AnswerFolder, DesignCase, design_cases, open_kept
from tailwork.studies.design.multistart import STARTS, ImpossibleError
from tailwork.studies.design.uncertainty import SPREAD, checked_spread
from tailwork.studies.design.variables import SCALES
from tailwork.studies.measures import ENERGY_BALANCE


def add_design(command: argparse.ArgumentParser) -> None:
    """The command and its options."""
    command.description = (
        "Solves a design problem: what the tail must do, what may change, what is allowed. Leaves a "
        "folder: report.html, figures, the best designs as robots and their runs. Interrupted, the same command goes "
        "on."
    )
    command.epilog = f"Measures: {measures_help(but=ENERGY_BALANCE)}."
    command.add_argument("problem", nargs="?", type=Path, metavar="problem.toml", help="the problem file")
    command.add_argument(
        "--example", nargs="?", type=Path, const=Path("problem.toml"), metavar="FILE",
        help="write a problem file with comments to start from (default: problem.toml), and do nothing else",
    )  # fmt: skip
    command.add_argument(
        "--robot", help=f"{ROBOT_HELP}, in the place of the problem's; with --example, the robot that it is for"
    )
    add_tail(command)
    add_import_options(command)
    command.add_argument("--out", type=Path, default=Path("design"), help="the folder (default: design)")
    command.add_argument("--threads", type=int, help=THREADS_HELP)
    command.add_argument(
        "--starts", type=int, default=STARTS, help=f"searches, from designs that lie far apart (default {STARTS})"
    )
    command.add_argument(
        "--spread", type=float, default=None,
        help=f"how much what is made scatters, as a share of each value (default {SPREAD:g})",
    )  # fmt: skip
    command.add_argument("--cluster", metavar="ADDRESS", help=f"do the choices {CLUSTER_HELP}")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Solve, print the tables, write the report."""
    console = wide_console()
    if options.example is not None:
        return _example(console, options)
    if options.problem is None:
        raise ArgumentError("problem", None, "a problem file, or --example to write one")
    problem = load_problem(options.problem)
    if table := _robot_table(options, options.problem.parent):
        own = {} if options.robot else parsed(options.problem, problem.text)["robot"]
        changed = with_robot_table(problem.text, {**own, **table}, options.problem)
        problem = problem_from_text(changed, options.problem)
    every = design_cases(problem.study, _settings(options, problem))
    if problem.study.scenario.policy != "airborne":
        warn_postures([problem.study.robot])
    warn_motions([problem.study.scenario.motion])
    warn_angles({f"the upper bound of {v.name}": v.high for v in problem.study.variables if v.name in SCALES})
    kept = open_kept(options.out, problem.text)
    console.print(text.problem_words(problem.study))
    found = _solved(console, kept, every, options)
    answers = sorted_answers([one for one in found if isinstance(one, Answer)])
    if not answers:
        raise next(one for one in found if isinstance(one, ImpossibleError))
    if len(every) > 1:
        none = [(case.choice, one) for case, one in zip(every, found, strict=True) if isinstance(one, ImpossibleError)]
        print_choices(console, answers, none)
    print_answer(console, answers[0])
    if answers[0].front is not None:
        print_front(console, answers[0])
    with console.status("drawing") as status:
        from tailwork.view.report.design import report_files, write_design_report  # slow to import, for pictures only

        report = write_design_report(problem, answers, options.out, status.update)
        kept.note(*(file for file in report_files(answers[0], options.out) if file.is_file()))
    console.print(
        f"\nreport: {report}\nrobots: {options.out / 'robots'} (neither motion nor legs' torques are in them: the "
        "report says how to run the best one again)",
        soft_wrap=True,
    )
    return 0


def _example(console: Console, options: argparse.Namespace) -> int:
    if options.problem is not None:
        raise ArgumentError("--example", str(options.example), "no problem file beside it: it only writes one")
    if os.path.lexists(options.example):
        raise FileError(options.example, "is there already; give another name after --example")
    table = _robot_table(options, options.example.parent)
    if table and options.robot is None:
        raise ArgumentError("--example", str(options.example), "--robot with --tail: which robot shall carry it?")
    made = example_for(robot_from(table, options.example.parent), table) if table else EXAMPLE
    write_whole(options.example, made)
    console.print(f"{options.example} written; edit it, then: tailwork design {options.example}", soft_wrap=True)
    return 0


def _robot_table(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """What the options say of the robot, as a table [robot] of a problem file in a folder; empty: nothing."""
    table: dict[str, Any] = {}
    if options.robot is not None:
        file = options.robot and options.robot not in presets()
        table = {"file": os.path.relpath(options.robot, folder)} if file else {"preset": options.robot}
    table |= import_options(options)
    if options.tail is not None:
        tail = options.tail
        table["tail"] = os.path.relpath(tail, folder) if tail.endswith(FILES) else tail
    given = {"tail_mass": options.tail_mass, "tail_length": options.tail_length}
    given["as_published"] = options.as_published or None
    return table | {name: value for name, value in given.items() if value is not None}


def _settings(options: argparse.Namespace, problem: ProblemFile) -> DesignOptions:
    check_threads(options.threads, options.cluster)
    if options.spread is not None:
        checked_spread("--spread", options.spread)
        if problem.robust is not None:
            raise ArgumentError("--spread", options.spread, "none beside [robust] in the problem, which has its own")
    spread = SPREAD if options.spread is None else options.spread
    return DesignOptions(options.threads, options.starts, spread, problem.robust)


def _solved(
    console: Console, kept: AnswerFolder, every: Sequence[DesignCase], options: argparse.Namespace
) -> list[Answer | ImpossibleError]:
    """What was found for all cases; those that are kept are not done again."""
    before = {case.name: found for case in every if (found := kept.read(case)) is not None}
    left = [case for case in every if case.name not in before]
    if before:
        console.print(f"{len(before)} of {len(every)} done before")
    if left:
        resume = f"what is finished is kept in {options.out}: the same command goes on"
        with progress_bar(console, resume, every=1) as tell:
            done = len(before)
            if options.cluster is None:
                for k, case in enumerate(left):
                    label = f"{case.name}: " if len(every) > 1 else ""
                    kept.do(case, lambda what, k=k, label=label: tell(done + k, len(every), label + what))
            else:
                finished: list[DesignCase] = []
                tell(done, len(every), "waiting for the cluster")
                kept.do_on_cluster(
                    left, options.cluster,
                    lambda case: (finished.append(case), tell(done + len(finished), len(every), case.name))[1],
                    lambda said: console.print(said, soft_wrap=True),
                )  # fmt: skip
            tell(len(every), len(every), "")
    found = [before.get(case.name) or kept.read(case) for case in every]
    for case, one in zip(every, found, strict=True):
        if one is None:
            raise FileError(kept.path / case.answer_file, "cannot be read back; is something else writing there?")
    return [one for one in found if one is not None]


def print_answer(console: Console, answer: Answer) -> None:
    """The best design, its measures, prices, verification and how sure it is."""
    study = answer.study
    chosen = f" with {text.choice_words(answer.choice)}" if answer.choice else ""
    console.print(f"\n{text.headline(answer)}")
    for said in text.warnings(answer):
        console.print(f"\nwarning: {said}", style=WARNED)
    print_table(console, f"\n{text.best_name(study)}{chosen}", tables.DESIGN_HEADER, tables.design_rows(answer))
    rows, marks = tables.measure_rows(answer), tables.measure_caption(answer)
    print_table(console, "\nits measures (at finer steps)", tables.MEASURE_HEADER, rows, marks)
    prices = text.price_words(answer)
    if prices:
        console.print("\nwhat the limits cost", style="bold")
        for said in prices:
            console.print(f"  {said}")
    more = [text.robust_words(answer), "" if text.feet_pull(answer) else text.feet_words(answer)]
    more += [text.airborne_words(answer), "" if answer.verified.disagreements() else text.verified_words(answer)]
    for said in filter(None, more):
        console.print(f"\n{said}")
    print_table(console, "\nverification", tables.VERIFIED_HEADER, tables.verified_rows(answer))
    console.print(f"\n{text.optima_words(answer)}")
    if len(answer.search.optima) > 1:
        print_table(console, "", tables.optima_header(study), tables.optima_rows(answer))
    print_table(console, f"\n{text.swing_words(answer)}", tables.swing_header(study), tables.swing_rows(answer))
    print_table(console, "\ntolerance", tables.TOLERANCE_HEADER, tables.tolerance_rows(answer))
    console.print(text.tolerance_words(answer), style="dim")


def print_choices(
    console: Console, answers: Sequence[Answer], none: Sequence[tuple[dict[str, Any], ImpossibleError]]
) -> None:
    """All choices, the best first, and those for which there is no design."""
    print_table(console, "\nall choices, the best first", *tables.choice_table(answers))
    for choice, error in none:
        console.print(f"{text.choice_words(choice)}: {error}", style=WARNED)


def print_front(console: Console, answer: Answer) -> None:
    """The Pareto set; its variables are in the file."""
    assert answer.front is not None
    study = answer.study
    print_table(
        console, "\ntrade-off between the goals", tables.front_header(study), tables.front_rows(study, answer.front),
        tables.front_note(study, answer.front),
    )  # fmt: skip
    console.print(text.front_words(study, answer.front), style="dim")
