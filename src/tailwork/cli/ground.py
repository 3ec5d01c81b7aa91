"""`tailwork ground`: a scenario on compliant ground beside the same one on pinned feet, with a report."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from tailwork.cli.inputs import (
    POLICY_HELP,
    Once,
    add_robot,
    default_policy,
    numbers_in,
    robot_of,
    warn_motions,
    warn_postures,
)
from tailwork.cli.terminal import PROCESSES, print_table, progress_bar, wide_console
from tailwork.errors import ArgumentError
from tailwork.files import ready_folder
from tailwork.robots.tails.fit import tail_text
from tailwork.simulation.contact.ground import KINETIC_FRICTION, STATIC_FRICTION, RigidGround
from tailwork.studies.compare.ground_comparison import (
    GroundComparison,
    check_possible,
    compare_grounds,
    grounds_for,
)
from tailwork.studies.compare.on_ground import STANDING_POLICIES
from tailwork.studies.motions import motion_from_text, motion_text
from tailwork.studies.scenario import Scenario

MOTION = "yaw:80"
OWN_FIGURES = ("feet-slipping", "feet", "torso", "convergence")
"""Those of `tailwork.view.report.ground.ground_report`; not every study has all."""
TWO_FRICTIONS = "static friction, or static and kinetic, such as 0.6,0.5"


def add_ground(command: argparse.ArgumentParser) -> None:
    """The command and its options."""
    command.description = (
        "Makes one motion of the tail with pinned feet and on compliant ground, where feet may slip and "
        "lift. Prints when they do, and how the ground's answer nears that of pinned feet as it stiffens. Leaves a "
        "folder: report.html, figures and the runs."
    )
    add_robot(command, optional=True)
    command.add_argument(
        "--motion", action=Once, help=f"of the tail's centre of mass [deg, s], as for `compare` (default {MOTION})"
    )
    command.add_argument("--policy", choices=STANDING_POLICIES, action=Once, help=POLICY_HELP)
    command.add_argument(
        "--stiffness", action=Once, metavar="K,K,…",
        help="of the ground below a foot [N/m], one or more (default: three that suit the robot, such as 1e4,1e5,1e6)",
    )  # fmt: skip
    command.add_argument(
        "--friction", action=Once, metavar="STATIC[,KINETIC]",
        help=f"of the ground (default {STATIC_FRICTION:g},{KINETIC_FRICTION:g}; one alone: kinetic is 5/6 of it)",
    )  # fmt: skip
    command.add_argument("--rigid", action="store_true", help="look at rigid ground of the same static friction, too")
    command.add_argument(
        "--out", type=Path, default=Path("compliant-ground"), help="the folder (default: compliant-ground)"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare, print the tables, save the runs, write the report."""
    console = wide_console()
    motion = motion_from_text(options.motion or MOTION)
    scenario = Scenario(robot_of(options), motion, default_policy(options))
    stiffnesses = numbers_in("--stiffness", options.stiffness, "stiffnesses [N/m], such as 1e4,1e5,1e6") or []
    friction = numbers_in("--friction", options.friction, TWO_FRICTIONS) or []
    if len(friction) > 2:
        raise ArgumentError("--friction", options.friction, TWO_FRICTIONS)
    if len(set(stiffnesses)) != len(stiffnesses):
        raise ArgumentError("--stiffness", options.stiffness, "stiffnesses that differ")
    grounds = grounds_for(scenario.robot, stiffnesses, *friction)
    check_possible(scenario)  # what is impossible fails before anything is done
    warn_postures([scenario.robot])
    warn_motions([motion])
    for needed in (options.out, options.out / "runs", options.out / "figures"):
        ready_folder(needed)
    with progress_bar(console, "nothing is kept: run the command again") as tell:
        rigid = RigidGround(friction=grounds[0].static_friction) if options.rigid else None
        comparison = compare_grounds(scenario, grounds, tell, rigid)
    comparison.save(options.out / "runs")
    for old in (options.out / "figures").iterdir():
        if old.stem in OWN_FIGURES:  # of another study
            old.unlink()
    _print(console, comparison)
    with console.status("drawing") as status:
        from tailwork.view.report.ground import ground_report  # slow to import, and needed for pictures only
        from tailwork.view.report.page import write_report

        report = write_report(ground_report(comparison), options.out, status.update, PROCESSES)
    console.print(f"\nreport: {report}", soft_wrap=True)
    return 0


def _print(console: Console, comparison: GroundComparison) -> None:
    from tailwork.view.report.ground import (
        CONVERGENCE_HEADER,
        conclusion,
        convergence_rows,
        ground_notes,
        ground_text,
        rolling_text,
        time_note,
        time_rows,
    )

    scenario = comparison.scenario
    console.print(f"{conclusion(comparison)}\n")
    console.print(f"{scenario.robot.name}, {scenario.motion.name}: the tail {motion_text(scenario.motion)}")
    console.print(f"tail: {tail_text(scenario.tail_part)}")
    console.print(f"leg policy: {scenario.leg_policy.text(scenario.robot)}")
    console.print(f"ground: {ground_text(comparison)}")
    feet = time_rows(comparison)
    header = ("foot", "needs", *comparison.runs)
    print_table(console, "\nWhen feet first slip and lift [ms]", header, feet, time_note(comparison))
    for note in ground_notes(comparison):
        console.print(note, style="yellow")
    _, *names = CONVERGENCE_HEADER
    title = "\nHow far the torso is from the one on pinned feet"
    print_table(console, title, ("N/m", *names), convergence_rows(comparison))
    if said := rolling_text(comparison):
        console.print(said)
    console.print(
        "\nneeds: largest friction that a pinned foot needs; pinned: when it needs more than there is, and when it "
        "would have to pull; sinks: how much lower the torso starts; sticking: largest as long as all feet stick "
        f"(until {comparison.sticking * 1e3:.1f} ms), and in the first half of that time; slope −1: as 1/stiffness",
        style="dim",
    )
