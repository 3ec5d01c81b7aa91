"""What the report of a comparison says beside its numbers: sizes, laws, and where peaks come from."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from few_links import few_links
from tailwork.robots import go2, liu2020
from tailwork.robots.tails.fit import configured
from tailwork.simulation import RigidGround
from tailwork.studies.compare.comparison import Plan, compare
from tailwork.studies.motions import pitch, yaw
from tailwork.view.report.comparison import cables_text, comparison_figures, comparison_sections, sizes_text, tail_rows
from tailwork.view.report.overview import PINNED_HEADER, common_turns, conclusion, conclusion_notes

SINE, BEND = pitch(20, duration=0.05, period=1.2), yaw(20, duration=0.05)


def test_sections_say_what_is_played_and_by_which_law(tmp_path: Path) -> None:
    """Sizes stand above the table of rotations; the law of cables stands wherever their numbers do; and a motion that
    starts at speed says with which tails the largest effort is that of its first instant."""
    plan = Plan({tail: few_links(tail) for tail in ("pendulum", "usrt")}, (SINE, BEND), {}, "paper")
    comparison = compare(plan, tmp_path)
    glance, sine, bend, measures = comparison_sections(comparison, {})
    assert tuple(glance.tables[0].header) == PINNED_HEADER
    assert [row[-1] for row in glance.tables[0].rows[:2]] == ["1 kg, 0.48 m", "1.02 kg, 0.48 m"]
    law = cables_text(plan)
    assert law.endswith("bends the USRT.") and "feed-forward" in law
    captions = {name: caption for name, (caption, _) in comparison_figures(comparison).items()}
    assert all(law in text for text in (glance.text, measures.text, captions[f"curvature-{SINE.name}"]))
    first = []
    for tail, result in comparison.of(SINE).items():
        own = [k for k, name in enumerate(result.run.model.actuator_names) if name.startswith("tail.")]
        efforts = np.abs(result.run.data["tau"].to_numpy()[:, own])
        first += [tail] if efforts[0].max() == efforts.max() else []
    assert first and f"tensions of the tail: {', '.join(first)}." in sine.text
    assert "at speed" not in bend.text
    assert sine.playback is not None and sine.playback.caption.startswith("On pinned feet: the tail follows the first")


def test_published_tails_are_mounted_by_inference() -> None:
    """The paper does not state where its tails are mounted, and neither table nor text says that it does."""
    plan = Plan({"r3": liu2020("r3")}, (BEND,), {})
    assert [row[-1] for row in tail_rows(plan)] == ["as published (Liu & Ben-Tzvi 2020) but for the mount"]
    assert "but for their mount" in sizes_text(plan) and cables_text(plan) == ""


def test_conclusion_is_one_sentence_made_from_the_numbers(tmp_path: Path) -> None:
    """How much further, beside the pendulum of equal mass and length, for how much work, and on which friction."""
    robots = {tail: configured(go2(), tail, mass=0.6, length=0.4) for tail in ("pendulum", "r3")}
    comparison = compare(Plan(robots, (BEND,), {}, "joint"), tmp_path)
    pendulum, r3 = (comparison.of(BEND)[tail].measures for tail in robots)
    far, less = r3["peak_yaw"], pendulum["peak_yaw"]
    assert far > 1.05 * less, "the R3 turns it further"
    assert conclusion(comparison) == (
        f"In {BEND.name} the R3 turns the torso {100 * (far / less - 1):.0f} % further than the pendulum of equal mass "
        f"and length, by up to {far:.3g}° of yaw, for {r3['tail_energy'] / pendulum['tail_energy']:.2g} times the "
        f"work; all feet stay for friction ≥ {max(r3['friction_needed'], pendulum['friction_needed']):.2f}."
    )


def test_what_is_equal_is_said_once(tmp_path: Path) -> None:
    """Of the two tails that a sentence names, whatever a third one has no length of; and turns that differ in no digit
    shown are called the same."""
    robots = {tail: configured(go2(), tail, mass=0.6, length=0.4 if tail != "reaction_wheel" else None)
              for tail in ("pendulum", "r3", "reaction_wheel")}  # fmt: skip
    plan = Plan(robots, (BEND, pitch(10, duration=0.05)), {}, "joint", RigidGround(friction=0.6))
    comparison = compare(plan, tmp_path)
    said = conclusion(comparison)
    assert said.count("of equal mass and length") == said.count("and length") == 1
    turns = np.array([common_turns(r)[:2] for r in comparison.results])
    (note,) = (text for text in conclusion_notes(comparison) if "Pinned feet" in text)
    same = np.abs(np.diff(turns)).max() < 0.01
    assert same == (note == "Pinned feet lead to the same turn as rigid ground, to 0.01°.")
