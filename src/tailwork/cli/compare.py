"""`tailwork compare`: tails × motions on a robot, with a report."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from tailwork.cli.inputs import (
    ANGLE_HELP,
    MAPS,
    PAPER_ROBOT,
    POLICY_HELP,
    Once,
    add_robot,
    default_policy,
    numbers_in,
    robots_of,
    warn_motions,
    warn_postures,
)
from tailwork.cli.terminal import PROCESSES, print_table, progress_bar, wide_console
from tailwork.errors import ArgumentError
from tailwork.files import ready_folder
from tailwork.simulation.contact.ground import STATIC_FRICTION, RigidGround
from tailwork.studies.compare.comparison import (
    SWEPT,
    TAIL_NAMES,
    Comparison,
    Plan,
    compare,
    comparison_cases,
    paper_plan,
)
from tailwork.studies.leg_policies import POLICIES
from tailwork.studies.motions import TailMotion, motion_from_text, motion_text, roll, yaw

SWEEPS = {"yaw": yaw, "roll": roll}


def add_compare(command: argparse.ArgumentParser) -> None:
    """The command and its options."""
    command.description = (
        "Runs every motion with every tail and leaves a folder: report.html, figures, measures.csv and the "
        "runs. Without options: the study of Liu & Ben-Tzvi 2020. A study that was interrupted goes on where it was."
    )
    add_robot(command, optional=True, several=True)
    command.add_argument(
        "--motion", action="append", dest="motions", metavar="MOTION",
        help="a motion of the tail's centre of mass [deg, s]: yaw:40, yaw:40,duration=0.5, pitch:20,period=1.2, "
        "roll:40,angle=45 or coupled; may be repeated",
    )  # fmt: skip
    text = "net rotation against bends of 10° to 80°; may be repeated"
    command.add_argument("--sweep", action="append", choices=sorted(SWEEPS), help=text)
    command.add_argument("--policy", choices=POLICIES, action=Once, help=POLICY_HELP)
    command.add_argument("--map", choices=MAPS, default="arc", dest="angle", help=ANGLE_HELP)
    command.add_argument(
        "--ground", choices=("rigid", "none"), action=Once,
        help="make every motion on rigid ground, too, where feet lift, slip and land (default: none; the study of the "
        "paper: rigid)",
    )  # fmt: skip
    command.add_argument("--friction", action=Once, help=f"of that ground (default {STATIC_FRICTION:g})")
    command.add_argument("--out", type=Path, default=Path("comparison"), help="the folder (default: comparison)")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare, print a table, write the report."""
    console = wide_console()
    plan = _plan(options)
    comparison_cases(plan)  # what is impossible fails before anything is done
    if plan.policy != "airborne":
        warn_postures(plan.robots.values())
    warn_motions(plan.motions)
    ready_folder(options.out)
    ready_folder(options.out / "figures")
    with progress_bar(console, f"runs are kept in {options.out}: the same command goes on") as tell:
        comparison = compare(plan, options.out, tell)
    _print(console, comparison)
    with console.status("drawing") as status:
        from tailwork.view.report.comparison import comparison_report  # slow to import, and needed for pictures only
        from tailwork.view.report.page import write_report

        report = write_report(comparison_report(comparison), options.out, status.update, PROCESSES)
    console.print(f"\nreport: {report}\nmeasures: {options.out / 'measures.csv'}", soft_wrap=True)
    return 0


def _plan(options: argparse.Namespace) -> Plan:
    motions = tuple(motion_from_text(text) for text in options.motions or ())
    paper = paper_plan()
    if options.robot == PAPER_ROBOT and options.tail is None:
        options.tail = ",".join(TAIL_NAMES)
    robots = robots_of(options)
    sweeps: dict[str, tuple[TailMotion, ...]] = {
        axis: tuple(SWEEPS[axis](angle) for angle in SWEPT) for axis in options.sweep or ()
    }
    studied = (motions, sweeps) if motions or sweeps else (paper.motions, paper.sweeps)
    wanted = tuple(replace(motion, angle=options.angle) for motion in studied[0])
    swept = {axis: tuple(replace(motion, angle=options.angle) for motion in own) for axis, own in studied[1].items()}
    published = options.robot == PAPER_ROBOT and not (options.motions or options.sweep)
    rigid = options.ground or ("rigid" if published else "none")
    policy = default_policy(options)
    if rigid == "none" or (policy == "airborne" and options.ground is None):
        if options.friction is not None:
            raise ArgumentError("--friction", options.friction, "--ground rigid with it: pinned feet need none")
        return Plan(robots, wanted, swept, policy)
    friction = numbers_in("--friction", options.friction, "one number, such as 0.6") or [STATIC_FRICTION]
    if len(friction) != 1:
        raise ArgumentError("--friction", options.friction, "one number, such as 0.6")
    return Plan(robots, wanted, swept, policy, RigidGround(friction=friction[0]))


def _print(console: Console, comparison: Comparison) -> None:
    from tailwork.view.report.comparison import (
        TAIL_HEADER,
        rotation_table,
        sizes_text,
        tail_rows,
    )
    from tailwork.view.report.overview import conclusion, conclusion_notes, feet_text

    console.print(conclusion(comparison))
    print_table(console, "\nThe tails", TAIL_HEADER, tail_rows(comparison.plan))
    if said := sizes_text(comparison.plan):
        console.print(said)
    console.print(f"leg policy: {comparison.plan.policy_text}")
    for motion in comparison.plan.motions:
        results = comparison.of(motion)
        table = rotation_table(results, comparison.plan.friction)
        print_table(console, f"\n{motion.name}: the tail {motion_text(motion)}", table.header, table.rows, table.note)
        for tail, result in results.items():
            if result.note:
                console.print(f"{tail}: {result.note}", style="yellow")
            if result.rigid is not None:
                console.print(f"{tail} on rigid ground: {feet_text(result.rigid)}")
    for note in conclusion_notes(comparison):
        console.print(note)
    console.print(
        "\nlargest: how far the torso turns at most about the motion's axis; airborne: the same tail motion in the "
        "air; closed: the same in closed form, for a planar pendulum; effect: degrees that the torso turns for each "
        "degree that the tail moves; torque, cable tension, work: the largest ones and the work of the tail; least "
        "normal, friction: of the feet, the friction that they need",
        style="dim",
    )
