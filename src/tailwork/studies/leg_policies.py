"""Leg policies: what the legs do while the tail moves. The torso's answer depends on them more than on the tail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tailwork.control.context import Law
from tailwork.control.laws import Constant
from tailwork.control.standing import HoldPosture, RestTorques, gain_factors
from tailwork.errors import ArgumentError
from tailwork.model import Model
from tailwork.robots.robot import Robot
from tailwork.typing import Floats

EQUATION_85 = (0.0, 1.63, 7.7, 0.0, 1.63, 7.7, 0.0, 1.9, 7.16, 0.0, 1.9, 7.16)  # [N m], ha, hb, k of legs 1 to 4
NEARLY = 2.0  # [N m], how far the torques of Eq. 85 may be from those that balance a robot
GAINS = {"joint": (200.0, 5.0), "foot": (5000.0, 100.0)}
"""Stiffness and damping that hold the posture of the robot of 2020; others scale them by `gain_factors`."""
UNITS = {"joint": ("N m/rad", "N m s/rad"), "foot": ("N/m", "N s/m")}


@dataclass(frozen=True)
class LegPolicy:
    """What the legs do: torques at rest, and springs and dampers that hold the initial posture."""

    name: str  # of the policy
    meaning: str  # in words
    rest: str = ""  # torques at rest: "minimum-norm", "straight-down", "paper" (Eq. 85); empty: none
    hold: str = ""  # where springs and dampers hold the posture: "joint" or "foot"; empty: nowhere
    airborne: bool = False  # whether no foot is on the ground

    def laws(self, robot: Robot, tail: str) -> tuple[Law, ...]:
        """The laws of the legs; the initial posture and the torques at rest are equations of the robot, but for the
        torques of Liu & Ben-Tzvi 2020, Eq. 85, which are numbers."""
        laws: list[Law] = []
        if self.rest == "paper":
            legs = Model(robot, prescribed=[tail]).actuator_names
            laws.append(Constant(values=EQUATION_85, actuators=legs))
        elif self.rest:
            laws.append(RestTorques(distribution=self.rest))
        if self.hold:
            stiffness, damping = GAINS[self.hold]
            laws.append(HoldPosture(at=self.hold, stiffness=stiffness, damping=damping, scaled=True))
        return tuple(laws)

    def text(self, robot: Robot) -> str:
        """In words, with the gains that it has on a robot."""
        legs = list(robot.feet())
        if not self.hold or not legs:
            return self.meaning
        factors = [[float(x) for x in gain_factors(robot, leg, self.hold)] for leg in legs]
        said = []
        for gain, unit, own in zip(GAINS[self.hold], UNITS[self.hold], zip(*factors, strict=True), strict=True):
            least, most = (f"{float(f'{gain * factor:.3g}'):g}" for factor in (min(own), max(own)))
            said.append(f"{least if least == most else f'{least} to {most}'} {unit}")
        return f"{self.meaning}, of {' and '.join(said)}"


MINIMUM = "minimum-norm"
DOWN = "straight-down"
OPEN = "(an open loop, and unstable)"
AT_JOINTS, AT_FEET = (f"springs and dampers at the {where}" for where in ("joints", "feet"))
POLICIES: dict[str, LegPolicy] = {
    policy.name: policy
    for policy in (
        LegPolicy("paper", f"constant torques of Liu & Ben-Tzvi 2020, Eq. 85 {OPEN}", "paper"),
        LegPolicy("constant", f"the smallest constant torques that balance the robot at the start {OPEN}", MINIMUM),
        LegPolicy(DOWN, f"constant torques under which the feet push straight down at rest {OPEN}", DOWN),
        LegPolicy("joint", f"the smallest torques that balance, with {AT_JOINTS}", MINIMUM, "joint"),
        LegPolicy("foot", f"the smallest torques that balance, with {AT_FEET}", MINIMUM, "foot"),
        LegPolicy(f"{DOWN}-joint", f"straight-down torques, with {AT_JOINTS}", DOWN, "joint"),
        LegPolicy(f"{DOWN}-foot", f"straight-down torques, with {AT_FEET}", DOWN, "foot"),
        LegPolicy("airborne", "no feet on the ground; the legs keep their shape", airborne=True),
    )
}
"""By name."""


def check_paper(torques: Floats) -> None:
    """Refuses robots that Eq. 85 is far from balancing, by the smallest torques that do [N m]: it is of the quadruped
    of the paper, with any of its tails."""
    if len(torques) != len(EQUATION_85) or np.abs(torques - np.array(EQUATION_85)).max() > NEARLY:
        required = "'constant', 'joint' or 'foot': the torques of Eq. 85 do not balance this robot"
        raise ArgumentError("policy", "paper", required)
