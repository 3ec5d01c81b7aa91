"""`tailwork sweep`: one motion of the tail with many designs of a robot, with maps, tables and a report."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from tailwork.cli.inputs import (
    ANGLE_HELP,
    CLUSTER_HELP,
    MAPS,
    THREADS_HELP,
    Once,
    add_robot,
    check_threads,
    measures_help,
    robot_of,
    warn_motions,
    warn_postures,
)
from tailwork.cli.terminal import print_table, wide_console
from tailwork.errors import ArgumentError
from tailwork.format import capitalised
from tailwork.robots import tail_name
from tailwork.robots.paths import robot_numbers
from tailwork.robots.tails.fit import tail_text
from tailwork.studies.leg_policies import POLICIES
from tailwork.studies.measures import meaning_of, unit_of
from tailwork.studies.motions import motion_from_text
from tailwork.studies.scenario import Scenario
from tailwork.studies.sweep.axes import axis_from_text
from tailwork.studies.sweep.folder import Results, open_folder, read_results
from tailwork.studies.sweep.plan import CHUNK, SHORT, Sweep, measures_from_text, sampling_from_text
from tailwork.studies.sweep.run import designs_in, sweep_here, sweep_on_cluster
from tailwork.studies.sweep.tables import ended_text, ends, no_value_text, reason_rows, warning_text

OFTEN = 5.0  # [s], between lines where there is no terminal
SEED = 0
FAR = 100.0
"""Times the robot's own number from which on all varied values look like another unit."""
MOST_NAMES = 5
"""Damaged files that are named."""
MOST_REASONS = 8
"""Kinds of reasons that are printed."""


def add_sweep(command: argparse.ArgumentParser) -> None:
    """The command and its options."""
    command.description = (
        "Makes one motion of the tail with many designs of a robot. Leaves a folder: results.parquet, maps "
        "and report.html. A sweep that was interrupted goes on where it was, by the same command."
    )
    command.epilog = (
        f"Measures: {measures_help()}. Short words: "
        + f"{', '.join(f'{short} = {name}' for short, name in SHORT.items())}. Paths of a robot's numbers are those of "
        "its file (Robot.save)."
    )
    add_robot(command)
    command.add_argument(
        "--vary", action="append", required=True, metavar="PATH=FROM:TO:COUNT",
        help="a number to vary, such as tail.length=0.2:0.8:50, tail.mass=0.2:2:50:log (each the same multiple of the "
        "one before) or tail.mass=0.5,1,2; may be repeated",
    )  # fmt: skip
    command.add_argument(
        "--sample", default="grid", metavar="grid|random:N|sobol:N",
        help="all of the grid (default), or N designs that fill the ranges, then given as PATH=FROM:TO",
    )  # fmt: skip
    command.add_argument("--seed", type=int, action=Once, help=f"of random and sobol (default {SEED})")
    command.add_argument(
        "--motion", action=Once, required=True, help="of the tail's centre of mass [deg, s], as for `compare`: yaw:40"
    )
    command.add_argument(
        "--measure", action=Once, metavar="NAME,NAME,…",
        help="what is measured, see below: yaw, peak_tail_torque, tail_energy, … (default: the torso's rotation about "
        "the motion's axis, and the largest torque of the tail, or tension of its cables)",
    )  # fmt: skip
    command.add_argument("--policy", choices=POLICIES, action=Once, help="what the legs do (default: constant)")
    command.add_argument("--map", choices=MAPS, default="arc", dest="angle", help=ANGLE_HELP)
    command.add_argument("--out", type=Path, default=Path("sweep"), help="the folder (default: sweep)")
    command.add_argument("--threads", type=int, help=THREADS_HELP)
    command.add_argument(
        "--chunk", type=int, default=CHUNK, help=f"designs that are kept together in a file (default {CHUNK})"
    )
    command.add_argument("--cluster", metavar="ADDRESS", help=f"do it {CLUSTER_HELP}")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Sweep, print the tables, write results and report."""
    console = wide_console()
    sweep = _sweep(options)
    if sweep.scenario.policy != "airborne":
        warn_postures([sweep.scenario.robot])
    warn_motions([sweep.scenario.motion])
    folder = open_folder(options.out, sweep)
    done, damaged = folder.finished()
    many = f"{sweep.designs:,} design{'' if sweep.designs == 1 else 's'}"
    console.print(f"{many} of {sweep.scenario.robot.name}: {sweep.scenario.motion.name}")
    console.print(f"varied: {'; '.join(one.text for one in sweep.varied)}", soft_wrap=True)
    numbers = robot_numbers(sweep.scenario.robot)
    for one in sweep.varied:
        own = abs(numbers.get(one.path, 0.0))
        if own > 0.0 and min(map(abs, one.values)) > FAR * own:
            wrong = f"{one.path}: all values are more than {FAR:g} times the robot's own, {own:g} {one.unit}"
            console.print(f"{wrong}; is the unit right?", style="yellow", soft_wrap=True)
    console.print(f"tail: {tail_text(sweep.scenario.tail_part)}, unless varied")
    console.print(f"leg policy: {sweep.scenario.leg_policy.text(sweep.scenario.robot)}")
    if damaged:
        names = [folder.part(chunk).name for chunk in sorted(damaged)]
        more = f" and {len(names) - MOST_NAMES} others" if len(names) > MOST_NAMES else ""
        console.print(f"damaged, and done again: {', '.join(names[:MOST_NAMES])}{more}", soft_wrap=True)
    with rate_bar(console, sweep.designs, designs_in(folder, done), options.out) as tell:
        if options.cluster is None:
            sweep_here(folder, done, options.threads, tell)
        else:
            sweep_on_cluster(folder, done, options.cluster, tell, lambda text: console.print(text, soft_wrap=True))
    table = folder.gather()
    results = read_results(folder)
    _print(console, results)
    if not results.times.any():
        console.print(f"\nresults: {table}", soft_wrap=True)
        raise ArgumentError("--vary", "no design that is possible", "at least one; see the reasons above")
    with console.status("drawing") as status:
        from tailwork.view.report.page import write_report  # slow to import, and needed for pictures only
        from tailwork.view.report.sweep import sweep_report

        report = write_report(sweep_report(results), options.out, status.update)
    console.print(f"\nreport: {report}\nresults: {table}", soft_wrap=True)
    return 0


def _sweep(options: argparse.Namespace) -> Sweep:
    sampling, drawn = sampling_from_text(options.sample)
    if options.seed is not None and sampling == "grid":
        raise ArgumentError("--seed", options.seed, "none for a grid; with --sample random:N or sobol:N")
    check_threads(options.threads, options.cluster)
    robot = robot_of(options)
    tail_name(robot)  # one to move
    varied = tuple(axis_from_text(text, robot, drawn=sampling != "grid") for text in options.vary)
    motion = replace(motion_from_text(options.motion), angle=options.angle)
    scenario = Scenario(robot, motion, options.policy or "constant")
    measures = measures_from_text(options.measure, motion, scenario.tail_part)
    return Sweep(
        scenario, varied, measures, sampling, drawn, SEED if options.seed is None else options.seed, options.chunk
    )


@contextmanager
def rate_bar(console: Console, total: int, before: int, out: Path) -> Iterator[Callable[[int], None]]:
    """A bar: a function of how many designs are done, with the rate and the time left; a line now and then without a
    terminal. Some were done before; they are kept in the folder `out`."""
    columns = (SpinnerColumn(), BarColumn(24), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    if before:
        console.print(f"{before:,} of them were done before")
    start = printed = time.monotonic()
    first = last = before  # the first designs are not of the rate: a new kind of robot is compiled with them
    try:
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task("a new kind is compiled first, once", total=total, completed=before)
            since = start

            def tell(done: int) -> None:
                nonlocal printed, last, first, since
                last, now = done, time.monotonic()
                if first == before:
                    first, since = done, now
                text = rate_text(done - first, total - done, now - since)
                progress.update(task, completed=done, description=text)
                if not console.is_terminal and now - printed > OFTEN and done < total:
                    printed = now
                    console.print(f"{done:,} of {total:,}: {text}")

            yield tell
    except KeyboardInterrupt:
        console.print(f"interrupted after {last:,} of {total:,}; what is finished is kept in {out}: the same command "
                      "goes on", soft_wrap=True)  # fmt: skip
        raise
    if last > before:
        took = time.monotonic() - start
        console.print(f"{last - before:,} designs in {took:.1f} s, {_a_second((last - before) / took)}")


def rate_text(done: int, left: int, seconds: float) -> str:
    """How fast it goes and how long it will take."""
    if done <= 0 or seconds <= 0.0:
        return ""
    rate = done / seconds
    rest = left / rate
    shown = f"{rest:.0f} s" if rest < 120 else f"{rest / 60:.0f} min" if rest < 7200 else f"{rest / 3600:.1f} h"
    return f"{_a_second(rate)}, {shown} left"


def _a_second(rate: float) -> str:
    return f"{rate:,.0f} a second" if rate >= 10.0 else f"{rate:.2g} a second"


def _print(console: Console, results: Results) -> None:
    paths = [one.path for one in results.sweep.varied]
    for name, found in ends(results).items():
        if not found.rows:
            console.print(f"\n{name}: {no_value_text(results)}", soft_wrap=True)
            continue
        header = ("", "design", *paths, *found.heads, name)
        print_table(console, f"\n{name} [{unit_of(name)}]: {meaning_of(name)}", header, found.rows, found.note)
    ended = reason_rows(results)
    if ended:
        console.print(f"\n{capitalised(ended_text(results))}:", style="yellow")
        for count, example, reason in ended[:MOST_REASONS]:
            console.print(f"{count:>8,}  {reason} (design {example})", soft_wrap=True)
        if len(ended) > MOST_REASONS:
            console.print(f"          and {len(ended) - MOST_REASONS} other reasons: see the report")
    if results.warned:
        console.print(f"\nWarning: {warning_text(results)}", style="yellow", soft_wrap=True)
