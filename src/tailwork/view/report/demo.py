"""One page of two comparisons: tails on a robot of today, and the study of a paper."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tailwork.simulation import Run
from tailwork.studies.compare.comparison import Comparison, Result
from tailwork.studies.motions import motion_text
from tailwork.view.figures.runs import torso_response
from tailwork.view.report.comparison import comparison_method, played, tails_table
from tailwork.view.report.overview import conclusion, overview_table
from tailwork.view.report.page import Picture, Report, Section
from tailwork.view.scene.colors import printed

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
        return [
            Section("", tables=[overview_table(today)], playback=played(today, first)),
            *(Section(f"{m.name}: the tail {motion_text(m)}", playback=played(today, m)) for m in others),
            Section("Pinned and on rigid ground", "", list(drawn.values())),
            Section("How it was done", comparison_method(today), tables=[tails_table(today.plan)], folded=True),
            Section(PAPER, conclusion(paper), tables=[overview_table(paper)], playback=played(paper, published)),
            Section(
                "How the paper's motions were done",
                comparison_method(paper),
                tables=[tails_table(paper.plan)],
                folded=True,
            ),
        ]

    worst = max(r.measures["energy_balance"] for r in (*today.results, *paper.results))
    footer = f"Energy balances in every run on pinned feet to {worst:.1e} of what moved. Made by tailwork."
    title = f"Tails on a {robot.capitalize()}"
    return Report(title, conclusion(today), drawings, sections, footer)


def _rigid(result: Result) -> Run:
    assert result.rigid is not None, "comparisons of this page are on rigid ground, too"
    return result.rigid
