"""`tailwork demo`: one page that shows what tailwork does."""

from __future__ import annotations

import argparse
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from tailwork.cli.terminal import PROCESSES, progress_bar, wide_console
from tailwork.files import ready_folder
from tailwork.progress import quiet
from tailwork.robots import go2
from tailwork.robots.tails.fit import configured
from tailwork.simulation.contact.ground import STATIC_FRICTION, RigidGround
from tailwork.studies.compare.comparison import TAIL_NAMES, Plan, compare, paper_plan
from tailwork.studies.motions import roll, yaw

MASS, LENGTH = 1.5, 0.6  # of each tail [kg], [m]: a tenth of the robot, and as long as its torso and head


def add_demo(command: argparse.ArgumentParser) -> None:
    """The command and its options."""
    command.description = (
        "A Go2 that stands, with three tails of equal mass and length, on pinned feet and on rigid ground, "
        "and the motions of Liu & Ben-Tzvi 2020: one page to open or to mail. Takes a minute or two; interrupted, the "
        "same command goes on."
    )
    command.add_argument("--out", type=Path, default=Path("demo"), help="the folder (default: demo)")
    command.set_defaults(run=run)


def demo_plan() -> Plan:
    """A Go2 whose legs hold, with three tails of equal mass and length, bent by where their links have their masses."""
    robots = {tail: configured(go2(), tail, mass=MASS, length=LENGTH) for tail in TAIL_NAMES}
    motions = tuple(replace(motion, angle="chain") for motion in (yaw(80), roll(-80)))  # up: down would hit the ground
    return Plan(robots, motions, {}, "joint", RigidGround(friction=STATIC_FRICTION))


def _paper(folder: Path) -> None:
    """The paper's motions, for a process of its own."""
    with quiet():
        compare(replace(paper_plan(), sweeps={}), folder)


def run(options: argparse.Namespace) -> int:
    """Both comparisons, each on a core of its own where there are two, and the page."""
    console, plan = wide_console(), replace(paper_plan(), sweeps={})
    ready_folder(options.out)
    beside = get_context("spawn").Process(target=_paper, args=(options.out / "paper",), daemon=True)
    if PROCESSES > 1:
        beside.start()
    with progress_bar(console, f"runs are kept in {options.out}: the same command goes on") as tell:
        today = compare(demo_plan(), options.out / "go2", tell)
        if PROCESSES > 1:
            beside.join()  # its runs are kept, and read below
        paper = compare(plan, options.out / "paper", tell)
    with console.status("drawing") as status:
        from tailwork.view.report.demo import demo_report  # slow to import, and needed for pictures only
        from tailwork.view.report.page import write_report

        report = write_report(demo_report(today, paper), options.out, status.update, PROCESSES)
    console.print(f"report: {report}", soft_wrap=True)
    return 0
