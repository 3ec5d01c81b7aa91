"""The results as a table for the page, and the files that one can save."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from tailwork.format import fixed, rounded
from tailwork.lab.experiment import Experiment, Outcome
from tailwork.robots.io.toml import as_text
from tailwork.studies.measures import AXES, by_kind, whole_measure
from tailwork.studies.possible import footnote, mark
from tailwork.view.player import playback_page

Row = tuple[str, tuple[str, ...]]  # what is measured, and how much for each tail

MEASURES = {
    "pitch": "torso pitch [°]",
    "roll": "torso roll [°]",
    "yaw": "torso yaw [°]",
    "peak_tail_torque": "peak tail torque [N m]",
    "peak_joint_torque": "peak torque on a joint [N m]",
    "peak_segment_torque": "peak torque on a segment [N m]",
    "peak_tension": "peak cable tension [N]",
    "curvature_error_rms": "curvature error, rms [1/m]",
    "tail_energy": "work of the tail [J]",
    "motor_load": "largest effort over its motor's limit",
    "least_normal_force": "least normal force of a foot [N]",
    "friction_needed": "friction needed",
}
"""What is shown of each measure."""
_CELL = "text-align:right;padding:0.1em 0 0.1em 0.7em;white-space:nowrap;font-variant-numeric:tabular-nums"
_SIGNS = {"yes": "✓ yes", "no": "✗ no"}
File = tuple[str, bytes]  # its name and what is in it


def rows(experiment: Experiment, friction: float) -> list[Row]:
    """All that is shown; measures that no tail has are left out."""
    found: list[Row] = []
    runs = [outcome.measures for outcome in experiment.outcomes]
    for name in by_kind(map(whole_measure, MEASURES), runs):
        if not all(math.isnan(own[name]) for own in runs):
            cells = [fixed(own[name], 2, signed=True) if name in AXES else rounded(own[name], 3) for own in runs]
            pairs = zip(cells, runs, strict=True)
            found.append((MEASURES[name], tuple(mark(cell, name, own, friction) for cell, own in pairs)))
    if all(outcome.run.model.foot_names for outcome in experiment.outcomes):
        stay = tuple("yes" if outcome.run.assumption_held(friction) else "no" for outcome in experiment.outcomes)
        found.append((f"would the feet have stayed, with friction {friction:.2f}?", stay))
    return found


def notes(experiment: Experiment, friction: float) -> list[str]:
    """What must be known: what is impossible, why a run has ended early, what is not as it seems."""
    marks = footnote((outcome.measures for outcome in experiment.outcomes), friction)
    said = [f"{outcome.label}: {note}" for outcome in experiment.outcomes for note in outcome.scene.caption.notes]
    return [marks, *said] if marks else said


def results_html(experiment: Experiment, friction: float) -> str:
    """Table and notes."""
    head = "".join(f'<th style="{_CELL}">{_swatch(outcome)}{escape(outcome.label)}</th>'
                   for outcome in experiment.outcomes)  # fmt: skip
    body = "".join(_line(text, values) for text, values in rows(experiment, friction))
    below = "".join(f'<p style="margin:0.4em 0 0">⚠ {escape(note)}</p>' for note in notes(experiment, friction))
    motion = escape(experiment.outcomes[0].scene.caption.motion)
    return (
        f'<div style="font-size:0.8em;padding:0.4em 0.9em;line-height:1.35"><p style="margin:0 0 0.3em">{motion}</p>'
        f'<table style="width:100%;border-collapse:collapse"><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>{below}</div>"
    )


def _line(text: str, values: Sequence[str]) -> str:
    cells = "".join(f'<td style="{_CELL}">{escape(_SIGNS.get(value, value))}</td>' for value in values)
    unbroken = escape(text).replace("N m", "N&nbsp;m")
    return f'<tr style="border-top:1px solid #8884"><td>{unbroken}</td>{cells}</tr>'


def _swatch(outcome: Outcome) -> str:
    """A square of the tail's colour."""
    color = outcome.scene.color
    return f'<span style="display:inline-block;width:0.7em;height:0.7em;margin-right:0.35em;background:{color}"></span>'


def robot_file(outcome: Outcome) -> File:
    """The robot as TOML."""
    robot = outcome.scenario.robot
    return f"{_plain(robot.name)}.toml", as_text(robot).encode()


def run_file(outcome: Outcome) -> File:
    """The run as NetCDF."""
    return f"{_plain(outcome.scenario.robot.name)}-{outcome.scenario.motion.name}.nc", outcome.run.as_netcdf()


def playback_file(outcomes: Sequence[Outcome]) -> File:
    """All runs as one page that plays them."""
    page = playback_page([outcome.scene for outcome in outcomes])
    return f"{outcomes[0].scenario.motion.name}.html", page.encode()


def _plain(name: str) -> str:
    """A name that every system takes for a file."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name).lstrip(".") or "robot"
