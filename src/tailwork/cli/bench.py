"""`tailwork bench`: speed side by side with Pinocchio, and how long a model takes to be ready."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from tailwork.cli.tables import plain_table, wide_console
from tailwork.errors import FileError, RobotError
from tailwork.studies.benchmark import GOALS, ROBOTS, Speed, as_json, machine_description, measured, prepared
from tailwork.studies.trajectories import GOALS as TRAJECTORY_GOALS
from tailwork.studies.trajectories import Race, races
from tailwork.studies.walking_race import MOST_SECONDS, WalkingRace, walking_race


def add_bench(commands: Any) -> None:
    """The command and its options."""
    command = commands.add_parser("bench", help="measure speed side by side with Pinocchio")
    command.add_argument("--repeats", type=int, default=60, help="interleaved repeats of each timing (default 60)")
    command.add_argument("--json", type=Path, metavar="FILE", help="write the results to a file as well")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure, print tables, and write them if asked to."""
    console = wide_console(110)
    if options.repeats < 1:
        raise RobotError("--repeats", options.repeats, "at least 1")
    if options.json is not None and not options.json.parent.is_dir():
        raise FileError(options.json, "its folder does not exist")
    for key, value in machine_description().items():
        console.print(f"[dim]{key:>10}[/]  {value}")
    speeds: list[Speed] = []
    with console.status("") as status:
        for name in ROBOTS:
            status.update(f"timing {name}")
            speeds.append(measured(name, options.repeats))
        preparations = []
        for name in ROBOTS:
            status.update(f"compiling {name} in fresh processes")
            preparations.append(prepared(name))
        status.update("timing trajectories")
        trajectories = races()
        status.update("timing a walk")
        walk = walking_race()
    console.print(_speed_table(speeds))
    console.print(_ratio_table(speeds))
    console.print(_race_table(trajectories))
    console.print(_walk_table(walk))
    table = plain_table("Model(...) is ready after [ms]", "robot", "new structure", "from the cache", "changed number")
    for p in preparations:
        table.add_row(p.robot, *(f"{seconds * 1e3:.0f}" for seconds in (p.new, p.cached, p.changed)))
    console.print(table)
    if options.json is not None:
        more = {
            "trajectories": [asdict(r) | {"ratio": r.ratio} for r in trajectories],
            "walking": asdict(walk) | {"ratio": walk.ratio},
        }
        try:
            options.json.write_text(as_json(speeds, preparations, more))
        except OSError as error:
            raise FileError(options.json, error.strerror or str(error)) from None
    return 0


def _speed_table(speeds: list[Speed]) -> Table:
    table = plain_table(
        "\nOne evaluation of the forward dynamics [ns]: best of interleaved repeats", "robot", "n", "operations",
        "loop", "lanes", "evaluator", "checked", "Pinocchio", "difference", "spread",
    )  # fmt: skip
    for s in speeds:
        table.add_row(
            s.robot, str(s.velocities), str(s.operations), f"{s.loop:.0f}", f"{s.lanes:.0f}", f"{s.python:.0f}",
            f"{s.checked:.0f}", "—" if s.pinocchio is None else f"{s.pinocchio:.0f}",
            "—" if s.disagreement is None else f"{s.disagreement:.0e}", f"{s.spread:.0%}",
        )  # fmt: skip
    table.caption = (
        "loop: scalar kernel in a compiled loop; lanes: batch on one core; evaluator: one call from Python; checked: "
        "Model.forward_dynamics; Pinocchio: constraintDynamics (aba for the cockroach) net of its Python call"
    )
    table.caption_justify = "left"
    return table


def _ratio_table(speeds: list[Speed]) -> Table:
    table = plain_table("\nTimes faster than Pinocchio", "robot", "loop", "lanes")
    for s in speeds:
        table.add_row(s.robot, *(_ratio(s, ours) for ours in ("loop", "lanes")))
    return table


def _race_table(found: list[Race]) -> Table:
    table = plain_table("\nTrajectories of 0.3 s at rtol 1e-6 [ms]", "ours", "time", "steps")
    table.add_column("beside")
    for column in ("time", "difference", "times faster"):
        table.add_column(column, justify="right")
    for r in found:
        times = (f"{r.ours:.3f}", str(r.steps), r.peer, f"{r.theirs:.2f}", f"{r.difference:.0e}")
        table.add_row(r.name, *times, _judged(r.ratio, TRAJECTORY_GOALS[r.peer]))
    return table


def _walk_table(race: WalkingRace) -> Table:
    table = plain_table(
        f"\nA second of the cockroach's walk on compliant ground, steps of {race.step * 1e6:.1f} µs [s]",
        "ours", "MuJoCo", "times faster", "walks at [m/s]", "MuJoCo's",
    )  # fmt: skip
    color = "green" if race.ours <= MOST_SECONDS else "red"
    known = race.mujoco is not None and race.ratio is not None and race.mujoco_speed is not None
    theirs = (f"{race.mujoco:.2f}", f"{race.ratio:.1f}") if known else ("—", "—")
    speeds = (f"{race.speed:.4f}", f"{race.mujoco_speed:.4f}" if known else "—")
    table.add_row(f"{race.ours:.2f} [{color}](at most {MOST_SECONDS:g})[/]", *theirs, *speeds)
    return table


def _ratio(speed: Speed, ours: str) -> str:
    ratio, goal = speed.ratio(ours), GOALS.get((speed.robot, ours))
    if ratio is None:
        return "—"
    return _judged(ratio, goal)


def _judged(ratio: float, goal: float | None) -> str:
    said = "" if goal is None else f" [{'green' if ratio >= goal else 'red'}](goal {goal:.0f})[/]"
    return f"{ratio:.1f}{said}"
