"""What one can take home from the lab: files with their names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tailwork.lab.experiment import Outcome
from tailwork.robots.io.toml import as_text
from tailwork.view.player import playback_page

File = tuple[str, bytes]
"""Its name and what is in it."""


def robot_file(outcome: Outcome) -> File:
    """The robot as TOML."""
    robot = outcome.manoeuvre.robot
    return f"{_plain(robot.name)}.toml", as_text(robot).encode()


def run_file(outcome: Outcome) -> File:
    """The run as NetCDF."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "run.nc"
        outcome.run.save(file)
        return f"{_plain(outcome.manoeuvre.robot.name)}-{outcome.manoeuvre.motion.name}.nc", file.read_bytes()


def playback_file(outcomes: Sequence[Outcome]) -> File:
    """All runs as one page that plays them."""
    page = playback_page([outcome.scene for outcome in outcomes])
    return f"{outcomes[0].manoeuvre.motion.name}.html", page.encode()


def _plain(name: str) -> str:
    """A name that every system takes for a file."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name).lstrip(".") or "robot"
