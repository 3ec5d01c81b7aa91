"""`make bench`: speed and accuracy side by side with other engines, and how long a model takes to be ready."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import tables
from benchmarks.goals import (
    Goal,
    call_goals,
    design_goals,
    evaluation_goals,
    gradient_goals,
    rigid_goals,
    start_goals,
    trajectory_goals,
    walking_goals,
)
from benchmarks.machine import machine_description
from benchmarks.races.calls import call_races
from benchmarks.races.designs import TAILS, DesignRace, design_race
from benchmarks.races.evaluation import EngineTiming, Speed, evaluated
from benchmarks.races.gradients import METHODS, gradient_race
from benchmarks.races.growth import Growth, growths
from benchmarks.races.peak import measured_peak
from benchmarks.races.preparation import prepared
from benchmarks.races.rigid import rigid_race
from benchmarks.races.starts import first_results
from benchmarks.races.synthesis import LEAST_RATE, synthesis_race
from benchmarks.races.trajectories import races
from benchmarks.races.walking import trot_race, walking_race
from benchmarks.races.work_precision import Point, work_precision
from benchmarks.robots import ROBOTS
from benchmarks.timing import THREADS
from tailwork.cli.terminal import wide_console
from tailwork.errors import ArgumentError, FileError, TailworkError

QUICK = 5
"""Quick runs repeat a fifth as often."""
ALONE = 0.9
"""Share of as many times the peak of one thread that all threads together reach on an idle machine."""
KINDS = ("png", "svg")
"""Of figures, beside the JSON."""

Say = Callable[[str], None]
Measured = tuple[dict[str, Any], list[Goal]]
"""What a section measured, by key of the JSON, and its goals."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for; 0 if it was measured, 2 if the request was at fault."""
    command = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    command.add_argument("--repeats", type=int, default=60, help="interleaved repeats of short timings (default 60)")
    command.add_argument("--quick", action="store_true", help="a fifth of the repeats")
    command.add_argument("--only", action="append", choices=tuple(SECTIONS), help="a part of it; may be repeated")
    command.add_argument("--json", type=Path, metavar="FILE", help="write the results to a file, and figures beside it")
    try:
        return run(command.parse_args(arguments))
    except TailworkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def run(options: argparse.Namespace) -> int:
    """Measure, print tables, and write them if asked to."""
    console = wide_console(124)
    if options.repeats < 1:
        raise ArgumentError("--repeats", options.repeats, "at least 1")
    if options.json is not None and not options.json.parent.is_dir():
        raise FileError(options.json, "its folder does not exist")
    machine = machine_description()
    for key, value in machine.items():
        console.print(f"[dim]{key:>10}[/]  {value}")
    repeats = max(1, options.repeats // QUICK) if options.quick else options.repeats
    content: dict[str, Any] = {"machine": machine}
    goals: list[Goal] = []
    for name in options.only or SECTIONS:
        with console.status("") as status:
            found, reached = SECTIONS[name](console, repeats, lambda what: status.update(f"timing {what}"))
        content |= found
        goals += reached
    if goals:
        console.print(tables.goal_table(goals))
    if options.json is not None:
        content["goals"] = [asdict(goal) | {"met": goal.met} for goal in goals]
        try:
            options.json.write_text(json.dumps(content, indent=2) + "\n")
        except OSError as error:
            raise FileError(options.json, error.strerror or str(error)) from None
        _draw(content, options.json.parent)
    return 0


def _draw(content: dict[str, Any], folder: Path) -> None:
    """The figures of what was measured."""
    from benchmarks.figures.accuracy import accuracy_against_time
    from benchmarks.figures.growth import growth_figure
    from tailwork.view.draw.style import save

    if "work_precision" in content:
        points = [Point(**point) for point in content["work_precision"]]
        figure = accuracy_against_time(points, title="0.3 s of the quadruped: accuracy against time")
        save(figure, folder, "accuracy", KINDS)
    if "growth" in content:
        save(growth_figure([Growth(**kept) for kept in content["growth"]]), folder, "growth", KINDS)


def _seldom(repeats: int, share: int) -> int:
    """Repeats of something long."""
    return max(2, repeats // share)


def _evaluations(console: Console, repeats: int, say: Say) -> Measured:
    say("the machine's peak")
    peak = measured_peak(repeats)
    if peak.several < ALONE * THREADS * peak.one:
        console.print("[yellow]other work is using this machine: numbers on several threads are not to be trusted[/]")
    speeds: list[Speed] = []
    engines: list[EngineTiming] = []
    for name in ROBOTS:
        say(name)
        speed, others = evaluated(name, repeats)
        speeds.append(speed)
        engines += others
    console.print(tables.speed_table(speeds, peak))
    console.print(tables.engine_table(engines, False))
    console.print(tables.engine_table(engines, True))
    rows = []
    for s in speeds:
        one, several = s.share(peak)
        ratios = {"ratio_loop": s.ratio("loop"), "ratio_lanes": s.ratio("lanes")}
        rows.append(asdict(s) | ratios | {"share_of_peak": one, "share_of_peak_threads": several})
    content = {
        "forward_dynamics": rows,
        "engines": [asdict(r) | {"wrong": r.wrong} for r in engines],
        "peak": asdict(peak),
    }
    return content, evaluation_goals(speeds, engines, peak)


def _model(console: Console, repeats: int, say: Say) -> Measured:
    preparations = []
    for name in ROBOTS:
        say(f"the compilation of {name} in fresh processes")
        preparations.append(prepared(name, min(3, repeats)))
    console.print(tables.preparation_table(preparations))
    return {"model": [asdict(p) for p in preparations]}, []


def _trajectories(console: Console, repeats: int, say: Say) -> Measured:
    say("trajectories")
    found = races(_seldom(repeats, 6))
    console.print(tables.race_table(found))
    return {"trajectories": [asdict(r) | {"ratio": r.ratio} for r in found]}, trajectory_goals(found)


def _designs(console: Console, repeats: int, say: Say) -> Measured:
    found: list[DesignRace] = []
    for name, tenfold, swing in [*((name, False, False) for name in TAILS), ("usrt", True, False),
                                 ("pendulum", False, True)]:  # fmt: skip
        say(f"different designs, {name}")
        found.append(design_race(name, _seldom(repeats, 15), tenfold, swing=swing))
    console.print(tables.design_table(found))
    return {"designs": [asdict(r) | {"accuracy": r.accuracy} for r in found]}, design_goals(found)


def _gradients(console: Console, repeats: int, say: Say) -> Measured:
    found = []
    for name in METHODS:
        say(f"gradients, {name}")
        found.append(gradient_race(name, _seldom(repeats, 10)))
    console.print(tables.gradient_table(found))
    return {"gradients": [asdict(r) for r in found]}, gradient_goals(found)


def _precision(console: Console, repeats: int, say: Say) -> Measured:
    points: list[Point] = []
    for name in METHODS:
        say(f"accuracy against time, {name}")
        points += work_precision(name, _seldom(repeats, 30))
    console.print(tables.precision_table(points))
    return {"work_precision": [asdict(p) for p in points]}, []


def _walking(console: Console, repeats: int, say: Say) -> Measured:
    say("a walk")
    race = walking_race(_seldom(repeats, 30))
    console.print(tables.walk_table(race))
    say("many trots")
    trots = trot_race(_seldom(repeats, 30))
    console.print(tables.trot_table(trots))
    return {"walking": asdict(race) | {"ratio": race.ratio}, "trots": asdict(trots)}, walking_goals(race, trots)


def _rigid(console: Console, repeats: int, say: Say) -> Measured:
    say("a trot on rigid ground")
    race = rigid_race(_seldom(repeats, 12))
    console.print(tables.rigid_table(race))
    return {"rigid": asdict(race)}, rigid_goals(race)


def _calls(console: Console, repeats: int, say: Say) -> Measured:
    say("public calls")
    found = call_races(_seldom(repeats, 3))
    console.print(tables.call_table(found))
    return {"calls": [asdict(r) for r in found]}, call_goals(found)


def _starts(console: Console, repeats: int, say: Say) -> Measured:
    say("first results of fresh processes")
    found = first_results(min(3, repeats))
    console.print(tables.start_table(found))
    return {"starts": [asdict(r) for r in found]}, start_goals(found)


def _synthesis(console: Console, repeats: int, say: Say) -> Measured:
    say("tail synthesis")
    race = synthesis_race(_seldom(repeats, 6))
    console.print(tables.synthesis_table(race))
    goal = Goal("synthesis: designs a second with measures", race.rate, LEAST_RATE)
    return {"synthesis": asdict(race)}, [goal]


def _growth(console: Console, repeats: int, say: Say) -> Measured:
    found = growths(repeats, say)
    console.print(tables.growth_table(found))
    exponents = [{"exponent": g.exponent, "operations_exponent": g.operations_exponent} for g in found]
    return {"growth": [asdict(g) for g in found], "exponents": exponents}, []


SECTIONS: dict[str, Callable[[Console, int, Say], Measured]] = {
    "evaluations": _evaluations,
    "calls": _calls,
    "starts": _starts,
    "model": _model,
    "trajectories": _trajectories,
    "designs": _designs,
    "gradients": _gradients,
    "precision": _precision,
    "walking": _walking,
    "rigid": _rigid,
    "synthesis": _synthesis,
    "growth": _growth,
}
