"""What the report of a comparison says beside its numbers: sizes, laws, and where peaks come from."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tailwork.robots import liu2020
from tailwork.studies.compare.comparison import Plan, compare
from tailwork.studies.motions import pitch, yaw
from tailwork.view.report.comparison import cables_text, comparison_figures, comparison_sections, sizes_text, tail_rows

SINE, BEND = pitch(20, duration=0.05, period=1.2), yaw(20, duration=0.05)


def test_sections_say_what_is_played_and_by_which_law(tmp_path: Path) -> None:
    """Sizes stand above the table of rotations; the law of cables stands wherever their numbers do; and a motion that
    starts at speed says with which tails the largest effort is that of its first instant."""
    plan = Plan({tail: liu2020(tail) for tail in ("pendulum", "usrt")}, (SINE, BEND), {}, "paper")
    comparison = compare(plan, tmp_path)
    glance, sine, bend, measures = comparison_sections(comparison, {})
    assert tuple(glance.tables[0].header) == (
        "motion", "tail", "pitch [°]", "roll [°]", "yaw [°]", "about", "airborne [°]", "feet stay",
    )  # fmt: skip
    assert "pendulum 1 kg, 0.48 m; usrt 1.02 kg, 0.48 m" in glance.text
    law = cables_text(plan)
    assert law.endswith("bends the USRT tail.") and "feed-forward" in law
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
