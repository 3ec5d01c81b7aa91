"""What a person has chosen in the lab: a robot, one or two tails with their designs, a motion, what the legs do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tailwork.errors import RobotError, UnknownNameError
from tailwork.lab.tails import redesigned
from tailwork.robots import presets
from tailwork.robots.io.toml import LARGEST_FILE, from_text
from tailwork.robots.robot import Robot
from tailwork.studies.compare.comparison import TAIL_NAMES, with_tail
from tailwork.studies.manoeuvre import Manoeuvre, tail_name
from tailwork.studies.motions import KINDS, TailMotion
from tailwork.studies.policies import POLICIES
from tailwork.view.scene.colors import shown

OWN = "own"
"""The tail that the robot has itself."""
NO_TAIL = "none"


@dataclass(frozen=True)
class TailChoice:
    """A tail by name, and what of its design was changed."""

    name: str
    design: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Choice:
    """All that a run in the lab follows from."""

    robot: Robot
    tails: tuple[TailChoice, ...]  # one or two
    motion: str = "yaw"
    angles: Mapping[str, float] = field(
        default_factory=lambda: {"angle": 40.0}
    )  # of the motion [deg], and duration [s]
    policy: str = "constant"
    torso_mass: float | None = None  # [kg]; None: as the robot has it

    def tail_motion(self) -> TailMotion:
        """What the tails do."""
        if self.motion not in KINDS:
            raise UnknownNameError.among("motion", self.motion, KINDS, "kind of motion")
        return KINDS[self.motion](**self.angles)

    @cached_property
    def manoeuvres(self) -> dict[str, Manoeuvre]:
        """By label of the tail: what is simulated.

        Raises:
            RobotError: it is not possible.
        """
        if not 1 <= len(self.tails) <= 2:
            raise RobotError("tails", [tail.name for tail in self.tails], "one tail or two")
        motion, found = self.tail_motion(), {}
        for tail in self.tails:
            label = shown(tail.name) if tail.name != OWN else "own tail"
            robot = self._with(tail)
            found[label if label not in found else f"{label} 2"] = Manoeuvre(robot, motion, self.policy)
        return found

    def _with(self, tail: TailChoice) -> Robot:
        """The robot with a tail, which its name tells."""
        own = tail_name(self.robot)
        name, torso = self.robot.name, self.robot.torso
        if tail.name != OWN:
            name = f"{name.removesuffix(f'-{self.robot.part(own).kind}')}-{tail.name}"
        if self.torso_mass not in (None, self.robot.torso_body().mass):
            torso = self.robot.replace({"torso.mass": self.torso_mass}).torso
        part = redesigned(tail_part(self.robot, tail.name), tail.design)
        return replace(self.robot, name=name, torso=torso, parts={**self.robot.parts, own: part})


def tail_part(robot: Robot, tail: str) -> Any:
    """A robot's own tail, or one of the 2020 paper in its place."""
    return (robot if tail == OWN else with_tail(robot, tail)).part(tail_name(robot))


def tail_choices(robot: Robot) -> tuple[str, ...]:
    """The tails that a robot can be given: its own, where that is not one of the others, and those of the paper."""
    others = [tail_part(robot, name) for name in TAIL_NAMES]
    return TAIL_NAMES if tail_part(robot, OWN) in others else (OWN, *TAIL_NAMES)


def policy_choices(robot: Robot) -> tuple[str, ...]:
    """What the legs can do: the torques of the 2020 paper are of its own robot."""
    return POLICIES if robot.name.startswith("liu2020") else tuple(name for name in POLICIES if name != "paper")


def carriers() -> dict[str, Robot]:
    """The robots of the papers that can carry a tail, by name; the one for which there are most tails comes first."""
    found = {name: make() for name, make in presets().items()}
    able = {name: robot for name, robot in found.items() if _carries(robot)}
    return dict(sorted(able.items(), key=lambda item: len(tail_choices(item[1]))))


def robot_from_file(name: str, content: bytes) -> Robot:
    """The robot in a file that was handed in.

    Raises:
        TailworkError: it is none, or none that can carry a tail.
    """
    if len(content) > LARGEST_FILE:
        raise RobotError(name, f"{len(content)} bytes", f"a robot file of at most {LARGEST_FILE} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RobotError(name, "bytes that are no text", "a robot file: TOML, saved as UTF-8") from None
    robot = from_text(text, name)
    tail_name(robot)
    return robot


def _carries(robot: Robot) -> bool:
    try:
        tail_name(robot)
    except RobotError:
        return False
    return True


def first_choice() -> Choice:
    """What the lab starts with."""
    return Choice(next(iter(carriers().values())), (TailChoice("pendulum"), TailChoice("r3")))
