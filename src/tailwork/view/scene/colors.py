"""Colours and lines that mean the same in every picture: tails, feet, parts of the robot."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

INK = "#24292f"

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE = (
    "#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7",
)  # fmt: skip
"""The colours of Okabe and Ito, which most colour-blind people tell apart."""

LINES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (6, 1.6, 1.2, 1.6)), (0, (1.4, 1.4)))
"""Line styles as matplotlib takes them: a name, or (offset, lengths of dashes and gaps in line widths)."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

TAILS = {"pendulum": (BLUE, 0, "o"), "r3": (VERMILION, 1, "s"), "usrt": (GREEN, 2, "^")}
"""Colour, line style and marker that a tail has in every picture."""
OTHERS = ((PURPLE, 3, "D"), (ORANGE, 0, "v"), (SKY, 1, "P"), (INK, 2, "X"))

STATE_COLORS = {"stick": BLUE, "slip": ORANGE}
"""Of feet on the ground, in every picture and in the player (`contacts.ts`); a foot in the air has none."""
FEET = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)
"""Of the feet, in order; again from the start with the next line style."""

TORSO, FRONT, LEG, JOINT, FOOT = "#c3ccd6", "#46525f", "#6f7f90", "#8f9dac", "#39434d"
CABLE, SPRING = "#2b3036", "#a9782a"
OUTSIDE = VERMILION  # of outside forces
CENTER = "#f0c419"  # of the whole robot's centre of mass


@dataclass(frozen=True)
class Look:
    """How a line is drawn."""

    color: str
    line: Any
    marker: str

    @property
    def stroke(self) -> dict[str, Any]:
        """Colour and line style, as matplotlib takes them."""
        return {"color": self.color, "linestyle": self.line}


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """A look for each label. A label that starts with the name of a tail has its colour; other names cycle."""
    result: dict[str, Look] = {}
    seen: dict[str, int] = {}
    others = 0
    for label in labels:
        tail = next(iter(label.replace(",", " ").casefold().split()), "")
        if tail not in TAILS:
            color, line, marker = OTHERS[others % len(OTHERS)]
            line += others // len(OTHERS)
            others += 1
        else:
            color, line, marker = TAILS[tail]
            again = seen.get(tail, 0)  # a second line of the same tail: the same colour, another style
            line, marker = line + again, MARKERS[(MARKERS.index(marker) + 3 * again) % len(MARKERS)]
            seen[tail] = again + 1
        result[label] = Look(color, LINES[line % len(LINES)], marker)
    return result


def printed(label: str) -> str:
    """A label as it is printed: R3 and USRT are abbreviations."""
    return re.sub(r"(?<!\S)(r3|usrt)(?=,|\s|$)", lambda found: found[0].upper(), label)


def mixed(color: str, other: str, share: float) -> str:
    """A colour with a share of another one."""
    pairs = zip(channels(color), channels(other), strict=True)
    return "#" + "".join(f"{round((1.0 - share) * a + share * b):02x}" for a, b in pairs)


def lit(color: str, light: float) -> str:
    """A colour made darker (light < 0) or brighter (light > 0)."""
    return mixed(color, "#ffffff" if light > 0 else "#10161d", abs(light))


def channels(color: str) -> tuple[int, int, int]:
    """Red, green and blue of a colour "#rrggbb", from 0 to 255."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)
