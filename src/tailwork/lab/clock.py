"""The time that is shown: it goes on with the clock on the wall, slower, and starts again at the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

SPEEDS = {"1": 1.0, "1/2": 0.5, "1/5": 0.2, "1/10": 0.1, "1/20": 0.05, "1/50": 0.02}
"""By what is shown: seconds of the run in a second."""
REST = 0.7
"""How long the end stays before it starts again, on the wall [s]."""


@dataclass
class Clock:
    """The time within a run that is played again and again [s]."""

    duration: float = 0.0
    speed: float = 1.0
    playing: bool = True
    wall: Callable[[], float] = time.monotonic
    _at: float = field(default=0.0, init=False)  # the time shown at `_since`; beyond the duration while it rests
    _since: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._since = self.wall()

    def now(self) -> float:
        """The time shown, from 0 to the duration."""
        return min(self._reached(), self.duration)

    def restart(self, duration: float) -> None:
        """Play another run, from its start."""
        self.duration = duration
        self.seek(0.0)

    def seek(self, to: float) -> None:
        """Show another time."""
        self._at, self._since = min(max(to, 0.0), self.duration), self.wall()

    def play(self, playing: bool) -> None:
        """Go on, or stay."""
        self._at, self._since = self.now(), self.wall()
        self.playing = playing

    def go(self, speed: float) -> None:
        """Play faster or slower from here on."""
        self._at, self._since = self.now(), self.wall()
        self.speed = speed

    def _reached(self) -> float:
        if not self.playing:
            return self._at
        round_trip = self.duration + REST * self.speed
        return (self._at + self.speed * (self.wall() - self._since)) % round_trip if round_trip > 0 else 0.0
