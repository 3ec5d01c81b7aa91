"""Light and dark: the colours of what is no part of the robot."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.colors import to_rgb

from tailwork.typing import Floats
from tailwork.view.draw.style import FAINT, RULE, WARNING, look
from tailwork.view.scene.colors import INK, mixed

DARKEST = 0.1
"""Luminance below which a colour is made brighter on dark paper."""


@dataclass(frozen=True)
class Theme:
    """Colours of paper, text, grid, shadow and warnings."""

    paper: str
    ink: str
    faint: str
    rule: str
    shadow: str
    warning: str
    dark: bool = False

    def readable(self, color: str) -> str:
        """A colour of a scene as it is seen on this paper: on dark paper the darkest ones are made brighter."""
        return mixed(color, "#ffffff", 0.35) if self.dark and luminance(color) < DARKEST else color


LIGHT = Theme("#ffffff", INK, FAINT, RULE, "#dde1e6", WARNING)
DARK = Theme("#14181d", "#e3e7eb", "#9aa4ae", "#323a43", "#090b0e", "#ff8a80", dark=True)


def luminance(color: str) -> float:
    """Relative luminance of a colour, from 0 (black) to 1 (white), as the web's rules of contrast have it."""
    channels = np.array(to_rgb(color))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def blend(colors: Floats, other: str, share: Floats | float) -> Floats:
    """Colours (…, 3) with a share, one for all or one each, of another one."""
    share = np.asarray(share)[..., None]
    return (1.0 - share) * colors + share * np.array(to_rgb(other))


@contextlib.contextmanager
def drawing(theme: Theme) -> Iterator[None]:
    """While it lasts, matplotlib draws in our look on this paper."""
    inks = {name: theme.ink for name in ("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor")}
    papers = {name: theme.paper for name in ("figure.facecolor", "axes.facecolor", "savefig.facecolor")}
    with look(), matplotlib.rc_context(inks | papers | {"grid.color": theme.rule, "text.parse_math": False}):  # pyright: ignore[reportArgumentType]
        yield
