"""One page of two comparisons: tails on a robot of today, and the study of a paper."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tailwork.format import fixed
from tailwork.simulation import Run
from tailwork.studies.compare.comparison import Comparison, Result, last_common, torso_degrees
from tailwork.studies.measures import AXES
from tailwork.studies.motions import TailMotion, motion_text
from tailwork.studies.possible import footnote, mark
from tailwork.view.figures.runs import torso_response
from tailwork.view.report.comparison import (
    TAIL_HEADER,
    comparison_method,
    conclusion,
    feet_text,
    sizes_text,
    tail_rows,
)
from tailwork.view.report.page import Picture, Playback, Report, Section, Table
from tailwork.view.scene.colors import printed

HEADER: tuple[str, ...] = (
    "motion", "tail", "about", "in the air [°]", "pinned feet [°]", "rigid ground [°]", "friction needed",
    "feet on rigid ground", "work of the tail [J]",
)  # fmt: skip
PAPER = "The motions of Liu & Ben-Tzvi 2020"
PAPER_SHOWN = "roll80"  # where pinned feet would have to pull


def demo_report(today: Comparison, paper: Comparison) -> Report:
    """The page: what tails do on a robot that stands, pinned and on rigid ground; then the same of a paper's motions.

    Args:
        today: the comparison that the page opens with.
        paper: that of the paper; both on rigid ground, too.
    """
    first, *others = today.plan.motions
    runs: dict[str, Run] = {}
    for tail, r in today.of(first).items():
        runs |= {f"{printed(tail)}, pinned": r.run, f"{printed(tail)}, rigid ground": _rigid(r)}
    said = f"Torso response in {first.name}, pinned and on rigid ground."
    drawings = {f"torso-{first.name}": (said, partial(torso_response, runs))}
    robot = next(iter(today.plan.robots.values())).name.partition("-")[0]

    def sections(drawn: Mapping[str, Picture]) -> list[Section]:
        (published,) = (motion for motion in paper.plan.motions if motion.name == PAPER_SHOWN)
        studied = Table(TAIL_HEADER, tail_rows(paper.plan), "The tails")
        return [
            Section("", tables=[ground_table(today)], playback=_played(today, first)),
            *(Section(f"{m.name}: the tail {motion_text(m)}", playback=_played(today, m)) for m in others),
            Section("Pinned and on rigid ground", "", list(drawn.values())),
            Section("How it was done", comparison_method(today), folded=True),
            Section(PAPER, _said(paper), tables=[ground_table(paper)], playback=_played(paper, published)),
            Section("How the paper's motions were done", comparison_method(paper), tables=[studied], folded=True),
        ]

    worst = max(r.measures["energy_balance"] for r in (*today.results, *paper.results))
    footer = f"Energy balances in every run on pinned feet to {worst:.1e} of what moved. Made by tailwork."
    title = f"Tails on a {robot.capitalize()}"
    return Report(title, f"{_said(today)} {sizes_text(today.plan)}", drawings, sections, footer)


def _rigid(result: Result) -> Run:
    assert result.rigid is not None, "comparisons of this page are on rigid ground, too"
    return result.rigid


def _turned(result: Result) -> tuple[float, float, float]:
    """About the motion's axis when the first of the two runs ends: pinned and on rigid ground [deg]; then [s]."""
    rigid, axis = _rigid(result), AXES.index(result.case.scenario.motion.axis)
    time, *angles = last_common(result.run, rigid)
    pinned, free = (now - torso_degrees(run)[0] for now, run in zip(angles, (result.run, rigid), strict=True))
    return float(pinned[axis]), float(free[axis]), time


def _said(comparison: Comparison) -> str:
    """The conclusion, and where pinned feet differ most from rigid ground."""
    most = max(comparison.results, key=lambda r: abs(_turned(r)[0] - _turned(r)[1]))
    (pinned, rigid, _), motion = _turned(most), most.case.scenario.motion
    return (
        f"{conclusion(comparison)} Pinned feet differ most from rigid ground in {motion.name} with the "
        f"{printed(most.case.tail)} tail: {fixed(pinned, 2)}° of {motion.axis} instead of {fixed(rigid, 2)}°."
    )


def _played(comparison: Comparison, motion: TailMotion) -> Playback:
    runs = {printed(tail): _rigid(r) for tail, r in comparison.of(motion).items()}
    friction = comparison.plan.friction
    return Playback(runs, f"{motion.name} on rigid ground of friction {friction:.2g}: the tail {motion_text(motion)}.")


def ground_table(comparison: Comparison) -> Table:
    """How far the torso turns about each motion's own axis: in the air, on pinned feet and on rigid ground."""
    rows, own = [], comparison.plan.friction
    for r in comparison.results:
        motion, (pinned, rigid, time) = r.case.scenario.motion, _turned(r)
        pulls = r.measures["least_normal_force"] <= 0.0
        friction = "none is enough" if pulls else fixed(r.measures["friction_needed"], 2)
        until = "" if r.run.stopped is None else f" (angles at {time:.3f} s, where the pinned run ends)"
        rows.append([
            motion.name, printed(r.case.tail), motion.axis, fixed(float(r.airborne[AXES.index(motion.axis)]), 1),
            mark(fixed(pinned, 1), "", r.measures, own), mark(fixed(rigid, 1), "tail_clearance", r.measures, own),
            friction, feet_text(_rigid(r)) + until, fixed(r.measures["tail_energy"], 2),
        ])  # fmt: skip
    pinned_only = [{n: x for n, x in r.measures.items() if n != "tail_clearance"} for r in comparison.results]
    below = [{"tail_clearance": r.measures["tail_clearance"]} for r in comparison.results]
    note = footnote(pinned_only, own).replace("not possible", "not possible as pinned")
    note = " ".join(filter(None, (note, footnote(below))))
    return Table(HEADER, rows, "How far the torso has turned about the motion's own axis, and what the feet do.", note)
