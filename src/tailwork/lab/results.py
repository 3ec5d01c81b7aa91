"""The results as a table for the page, and the files that one can save."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from tailwork.format import fixed, number
from tailwork.lab.experiment import Experiment, Outcome
from tailwork.robots.io.toml import as_text
from tailwork.studies.measures import AXES
from tailwork.view.player import playback_page

Row = tuple[str, tuple[str, ...]]  # what is measured, and how much for each tail

MEASURES = {
    "torso pitch [°]": "pitch",
    "torso roll [°]": "roll",
    "torso yaw [°]": "yaw",
    "peak tail torque [N m]": "peak_tail_torque",
    "peak cable tension [N]": "peak_tension",
    "curvature error, rms [1/m]": "curvature_error_rms",
    "work of the tail [J]": "tail_energy",
    "least normal force of a foot [N]": "least_normal_force",
    "friction needed": "friction_needed",
}
"""What is shown, and the measure."""
_CELL = "text-align:right;padding:0.1em 0 0.1em 0.7em;white-space:nowrap;font-variant-numeric:tabular-nums"
_SIGNS = {"yes": "✓ yes", "no": "✗ no"}
File = tuple[str, bytes]  # its name and what is in it


def rows(experiment: Experiment, friction: float) -> list[Row]:
    """All that is shown; measures that no tail has are left out."""
    found: list[Row] = []
    for text, name in MEASURES.items():
        values = [outcome.measures[name] for outcome in experiment.outcomes]
        if not all(math.isnan(value) for value in values):
            angle = name in AXES
            found.append((text, tuple(fixed(x, 2, signed=True) if angle else number(x, 3) for x in values)))
    if all(outcome.run.model.foot_names for outcome in experiment.outcomes):
        stay = tuple("yes" if outcome.run.assumption_held(friction) else "no" for outcome in experiment.outcomes)
        found.append((f"would the feet have stayed, with friction {friction:.2f}?", stay))
    return found


def notes(experiment: Experiment) -> list[str]:
    """What must be known: why a run has ended early, what is not as it seems."""
    return [f"{outcome.label}: {note}" for outcome in experiment.outcomes for note in outcome.scene.caption.notes]


def results_html(experiment: Experiment, friction: float) -> str:
    """Table and notes."""
    head = "".join(f'<th style="{_CELL}">{_swatch(outcome)}{escape(outcome.label)}</th>'
                   for outcome in experiment.outcomes)  # fmt: skip
    body = "".join(_line(text, values) for text, values in rows(experiment, friction))
    below = "".join(f'<p style="margin:0.4em 0 0">⚠ {escape(note)}</p>' for note in notes(experiment))
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
    with TemporaryDirectory() as folder:
        file = Path(folder) / "run.nc"
        outcome.run.save(file)
        return f"{_plain(outcome.scenario.robot.name)}-{outcome.scenario.motion.name}.nc", file.read_bytes()


def playback_file(outcomes: Sequence[Outcome]) -> File:
    """All runs as one page that plays them."""
    page = playback_page([outcome.scene for outcome in outcomes])
    return f"{outcomes[0].scenario.motion.name}.html", page.encode()


def _plain(name: str) -> str:
    """A name that every system takes for a file."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name).lstrip(".") or "robot"
