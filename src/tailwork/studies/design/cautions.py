"""What a designer must know before an answer is believed, in words."""

from __future__ import annotations

from tailwork.format import number
from tailwork.studies.design.answer import Answer
from tailwork.studies.design.words import best_words, unsettled_words, verified_words

SWUNG_BACK = 1.0 / 3.0
"""A turn at the end that is less than this share of the peak: the torso has swung back."""
LEAST_PEAK = 1e-3
"""Peaks below this are none [deg]."""


def cautions(answer: Answer) -> list[str]:
    """All that is to be pointed out, a paragraph each; empty: nothing is."""
    checked = verified_words(answer)
    said = [
        checked if answer.verified.disagreements() else "", unsettled_best(answer),
        feet_words(answer) if feet_pull(answer) else "", turn_words(answer),
    ]  # fmt: skip
    return [text for text in said if text]


def feet_pull(answer: Answer) -> bool:
    """Whether a foot of the best design would have to pull."""
    return answer.verified.fine.get("least_normal_force", 1.0) <= 0.0


def feet_words(answer: Answer) -> str:
    """Whether all feet push, and what friction they need; empty: none is on the ground."""
    fine = answer.verified.fine
    if "least_normal_force" not in fine:
        return ""
    least = fine["least_normal_force"]
    if feet_pull(answer):
        return (
            f"A foot of {best_words(answer.study)} pulls at the ground, by {number(-least, 3)} N at most. The model "
            "pins the feet and lets it; on real ground it would lift. A limit least_normal_force = { least = 0.0 } "
            "keeps it from that."
        )
    return (
        f"All feet push, each by at least {number(least, 3)} N; to stay where they are they need a friction of "
        f"{number(fine['friction_needed'], 3)}."
    )


def unsettled_best(answer: Answer) -> str:
    """That the best design may not be an optimum; empty: it is one."""
    why = unsettled_words(answer.best)
    return f"The search for {best_words(answer.study)} has {why}. There may be a better one." if why else ""


def turn_words(answer: Answer) -> str:
    """That the torso has swung back by the end, where `turn` is asked for; empty: it has not."""
    study, fine = answer.study, answer.verified.fine
    peak_name = f"peak_{study.scenario.motion.axis}"
    if "turn" not in study.asked or peak_name not in fine:
        return ""
    turn, peak = fine["turn"], fine[peak_name]
    if peak < LEAST_PEAK or turn >= SWUNG_BACK * peak:
        return ""
    return (
        f"By the end of the motion the torso has swung back: its turn is {number(turn)} deg there, after a peak of "
        f"{number(peak)} deg. `turn` is what is left at the end; did you mean {peak_name}?"
    )
