"""The tables of `make bench`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from benchmarks.goals import Goal
from benchmarks.races.calls import CallRace
from benchmarks.races.designs import DesignRace
from benchmarks.races.evaluation import EngineTiming, Speed
from benchmarks.races.gradients import GradientRace
from benchmarks.races.growth import Growth
from benchmarks.races.peak import Peak
from benchmarks.races.preparation import Preparation
from benchmarks.races.rigid import ALONE, FROM_EVENT_TO_EVENT, POINTS, RUNS, RigidRace
from benchmarks.races.starts import FirstResult
from benchmarks.races.synthesis import SynthesisRace
from benchmarks.races.trajectories import Race
from benchmarks.races.walking import TrotRace, WalkingRace
from benchmarks.races.work_precision import Point
from benchmarks.timing import THREADS, Ratio
from tailwork.cli.terminal import plain_table


def _captioned(table: Table, caption: str) -> Table:
    table.caption, table.caption_justify = caption, "left"
    return table


def _number(value: float | None, form: str) -> str:
    return "—" if value is None else format(value, form)


def _pairs(ratio: Ratio | None) -> str:
    return "—" if ratio is None else str(ratio)


def speed_table(speeds: Sequence[Speed], peak: Peak) -> Table:
    """Our kernels by themselves."""
    table = plain_table(
        "\nOne evaluation of the forward dynamics, ours [ns]: best of interleaved repeats", "robot", "n", "operations",
        "loop", "lanes", f"{THREADS} threads", "evaluator", "checked", "of the peak", f"{THREADS} threads", "spread",
    )  # fmt: skip
    for s in speeds:
        shares = [f"{share:.0%}" for share in s.share(peak)]
        times = [f"{t:.0f}" for t in (s.loop, s.lanes, s.threads, s.python, s.checked)]
        table.add_row(s.robot, str(s.velocities), str(s.operations), *times, *shares, f"{s.spread:.0%}")
    said = (
        "loop: scalar kernel in a compiled loop; lanes: batch on one core; evaluator: one call from Python; checked: "
        f"Model.forward_dynamics; peak: fused multiply-adds in registers, {peak.one / 1e9:.1f} Gflop/s on one thread, "
        f"{peak.several / 1e9:.1f} on {THREADS}; shares of it on {THREADS} threads by the best of each while all run"
    )
    return _captioned(table, said)


def engine_table(engines: Sequence[EngineTiming], many: bool) -> Table:
    """Other engines, one state at a time or many at once."""
    ours = f"lanes on {THREADS} threads" if many else "the scalar loop"
    title = "Many evaluations at once" if many else "One evaluation at a time"
    table = plain_table(f"\n{title}, other engines", "robot")
    table.add_column("engine")
    for column in ("time [ns]", f"times {ours}", "disagreement", "explained"):
        table.add_column(Text(column), justify="right")
    table.add_column("how")
    for r in engines:
        if r.many != many:
            continue
        apart = _number(r.disagreement, ".0e")
        apart = f"[red]{apart} wrong[/]" if r.wrong else apart
        table.add_row(
            r.robot, r.engine, _number(r.time, ".0f"), _pairs(r.ratio), apart, _number(r.limit, ".0e"), r.note
        )
    said = "ratios: median (quartiles) of interleaved pairs; disagreement: of accelerations, relative, with what the "
    return _captioned(table, said + "engine's arithmetic or soft constraints explain")


def race_table(races: Sequence[Race]) -> Table:
    """Single trajectories."""
    table = plain_table("\nTrajectories of 0.3 s at rtol 1e-6 [ms]", "ours", "time", "steps")
    table.add_column("beside")
    for column in ("time", "difference", "times faster", "pairs"):
        table.add_column(Text(column), justify="right")
    for r in races:
        times = (f"{r.ours:.3f}", str(r.steps), r.peer, f"{r.theirs:.2f}", f"{r.difference:.0e}")
        table.add_row(r.name, *times, f"{r.ratio:.1f}", _pairs(r.pairs))
    return table


def call_table(races: Sequence[CallRace]) -> Table:
    """Public calls."""
    table = plain_table("\nPublic calls: 0.3 s at rtol 1e-6, one thread [ms]", "call", "time", "compiled part",
                        "steps", "error")  # fmt: skip
    table.add_column("beside")
    for column in ("time", "error", "times faster"):
        table.add_column(Text(column), justify="right")
    for r in races:
        theirs = (r.peer or "—", _number(r.theirs, ".2f"), _number(r.peer_error, ".0e"), _pairs(r.pairs))
        table.add_row(
            f"{r.workload}: {r.call}", f"{r.ours:.3f}", f"{r.compiled:.3f}", str(r.steps), f"{r.error:.0e}", *theirs
        )
    said = "error: largest entry of the last state against a run at rtol 1e-12; the peer's: of the torso's place"
    return _captioned(table, said)


def start_table(found: Sequence[FirstResult]) -> Table:
    """First results of processes."""
    table = plain_table("\nFrom the start of a process to its first result [s]", "asked for", "empty caches",
                        "filled caches", "Python alone")  # fmt: skip
    for r in found:
        table.add_row(r.asked, f"{r.cold:.2f}", f"{r.warm:.2f}", f"{r.python:.2f}")
    return table


def design_table(races: Sequence[DesignRace]) -> Table:
    """Batches of trajectories of different designs."""
    table = plain_table(
        f"\nDifferent designs, 0.3 s each by simulate_batch at rtol 1e-6, {THREADS} threads", "robot", "designs/s",
        "steps", "failed", "error",
    )  # fmt: skip
    table.add_column("beside")
    for column in ("designs/s", "error", "times as many", "our rtol for that error", "then times as many"):
        table.add_column(Text(column), justify="right")
    table.add_column("varied")
    for r in races:
        failed = f"[red]{r.failed}[/]" if r.failed else "0"
        theirs = (r.peer or r.note, _number(r.peer_rate, ".0f"), _number(r.peer_error, ".0e"), _pairs(r.ratio))
        equal = (_number(r.equal_rtol, ".0e"), _pairs(r.equal))
        table.add_row(f"{r.robot}, {r.workload}", f"{r.rate:.0f}", f"{r.steps:.0f}", failed, f"{r.error:.0e}", *theirs,
                      *equal, r.varied)  # fmt: skip
    return _captioned(table, "error: largest entry of the last q and v against runs at rtol 1e-11 of the same designs")


def gradient_table(races: Sequence[GradientRace]) -> Table:
    """Gradients."""
    table = plain_table(
        "\nA gradient by the whole design, one thread", "robot", "parameters", "run [ms]", "run of a batch [ms]",
        "with gradient [ms]", "times the run", "times that of a batch", "by differences", "error",
    )  # fmt: skip
    for r in races:
        times = (f"{r.trajectory:.3f}", f"{r.lanes:.4f}", f"{r.gradient:.3f}", _pairs(r.ratio), _pairs(r.lane_ratio))
        table.add_row(r.robot, str(r.parameters), *times, f"{r.differences:.0f}", f"{r.error:.0e}")
    said = "a run of `gradients`, without what is done once a call; error: against five-point differences of tight "
    return _captioned(table, said + "runs, as shares of the largest p ∂/∂p")


def rigid_table(race: RigidRace) -> Table:
    """A trot on rigid ground, ours and MuJoCo's."""
    table = plain_table(
        "\nA trot on rigid ground, steps of 1 ms on one core", "how", "steps a second", "error after 1 s [m]"
    )
    table.add_row(f"one run of {ALONE:g} s", f"{race.one:,.0f}", f"{race.error:.1e}")
    table.add_row("runs in lanes, the driver alone", f"{race.lanes:,.0f}", f"{race.error:.1e}")
    table.add_row(f"{RUNS} runs by simulate_batch", f"{race.public:,.0f}", f"{race.error:.1e}")
    table.add_row(f"in lanes, {POINTS} points that touch", f"{race.points:,.0f}", "")
    table.add_row("MuJoCo rollout", _number(race.mujoco, ",.0f"), _number(race.mujoco_error, ".1e"))
    equal = _number(race.equal_error, ".0f")
    said = f"MuJoCo over lanes, a step: {_pairs(race.ratio)}; for an error of 1 cm: {equal}.\n"
    said += f"Each further point adds {race.further_point:.0f} ns to a step in lanes. From event to event "
    said += f"{FROM_EVENT_TO_EVENT:g} s of trot take {race.events:.2f} s.\n"
    said += f"A gradient by {race.parameters} numbers and the start: {_pairs(race.gradient)} times the run, "
    said += f"{_pairs(race.lane_gradient)} times the run in lanes"
    return _captioned(table, said)


def trot_table(race: TrotRace) -> Table:
    """A batch of trots."""
    table = plain_table(
        f"\n{race.runs} trots of 2 s on compliant ground by simulate_batch, {race.steps} steps each, one thread [ms]",
        "a run alone", "a run of the batch", "times the rate",
    )  # fmt: skip
    table.add_row(f"{race.alone * 1e3:.1f}", f"{race.together * 1e3:.2f}", str(race.ratio))
    return table


def precision_table(points: Sequence[Point]) -> Table:
    """Every method at its usual setting."""
    table = plain_table("\nAccuracy against time, at usual settings (all in the figure)", "robot")
    table.add_column("method")
    for column in ("time of a run [ms]", "error of the torso's pose"):
        table.add_column(Text(column), justify="right")
    for p in points:
        if p.usual:
            table.add_row(p.robot, p.method, f"{p.time:.3g}", f"{p.error:.0e}")
    return table


def walk_table(race: WalkingRace) -> Table:
    """A walk."""
    table = plain_table(
        f"\nA second of the cockroach's walk on compliant ground, steps of {race.step * 1e6:.1f} µs [s]",
        "ours", "MuJoCo", "times faster", "walks at [m/s]", "MuJoCo's",
    )  # fmt: skip
    theirs = (_number(race.mujoco, ".2f"), _number(race.ratio, ".1f"))
    table.add_row(f"{race.ours:.2f}", *theirs, f"{race.speed:.4f}", _number(race.mujoco_speed, ".4f"))
    return table


def synthesis_table(race: SynthesisRace) -> Table:
    """Designs judged, and a problem solved."""
    table = plain_table(
        f"\nTail synthesis: a pendulum whose motion is imposed, 30 steps, {race.threads} threads",
        "designs a second", "measures each", "problem solved in [s]", "its best turn [°]",
    )  # fmt: skip
    table.add_row(f"{race.rate:,.0f}", str(race.measures), f"{race.seconds:.2f}", f"{race.goal:.4f}")
    return table


def preparation_table(preparations: Sequence[Preparation]) -> Table:
    """How long models take to be ready."""
    table = plain_table(
        "\nModel(...) is ready after [ms]", "robot", "new structure", "from the cache", "changed number"
    )
    for p in preparations:
        table.add_row(p.robot, *(f"{seconds * 1e3:.0f}" for seconds in (p.new, p.cached, p.changed)))
    return table


def goal_table(goals: Sequence[Goal]) -> Table:
    """All goals, green where they are met."""
    table = plain_table("\nWhat we hold ourselves to", "what", "measured", "goal", "")
    for goal in goals:
        color, sign = ("green" if goal.met else "red"), ("≥" if goal.least else "≤")
        said = f"[{color}]{'met' if goal.met else 'missed'}[/]"
        table.add_row(Text(goal.what), f"{goal.value:.3g}", f"{sign} {goal.bound:g}", said)
    return table


def growth_table(growths: Sequence[Growth]) -> Table:
    """How cost grows."""
    columns = ("against", "from", "to", "time [ns]", "time ~ n^", "operations ~ n^")
    table = plain_table("\nHow cost grows", "robot", *columns)
    for g in growths:
        times = f"{g.times[0]:.0f} … {g.times[-1]:.0f}"
        own = g.operations_exponent if g.against in ("links", "legs") else None
        exponent = None if math.isnan(g.exponent) else g.exponent
        table.add_row(g.name, g.against, str(g.sizes[0]), str(g.sizes[-1]), times, _number(exponent, ".2f"),
                      _number(own, ".2f"))  # fmt: skip
    said = "exponents fitted to the larger half of the sizes; every link and leg takes the same number of operations"
    return _captioned(table, said)
