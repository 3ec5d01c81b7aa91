"""What a person has chosen in the lab: a robot, one or two tails with their designs, a motion, what the legs do."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tailwork.errors import ArgumentError, FileError, UnknownNameError
from tailwork.lab.tails import redesigned
from tailwork.model.summary import pinnable
from tailwork.robots import liu2020, load, presets
from tailwork.robots.io.load import is_import
from tailwork.robots.io.toml import LARGEST_FILE, from_text
from tailwork.robots.robot import Robot
from tailwork.robots.tails.fit import NAMED, PUBLISHED, with_named_tail
from tailwork.robots.tails.tail import tail_name, tails_of
from tailwork.studies.leg_policies import POLICIES
from tailwork.studies.motions import KINDS, TailMotion
from tailwork.studies.scenario import Scenario
from tailwork.view.scene.colors import printed

OWN = "own"  # the tail that the robot has itself
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
    def scenarios(self) -> dict[str, Scenario]:
        """By label of the tail: what is simulated.

        Raises:
            ArgumentError: it is not possible.
        """
        if not 1 <= len(self.tails) <= 2:
            raise ArgumentError("tails", [tail.name for tail in self.tails], "one tail or two")
        motion, found = self.tail_motion(), {}
        for tail in self.tails:
            if tail.name == NO_TAIL:
                raise ArgumentError("tails", tail.name, "a tail to move")
            label = printed(tail.name) if tail.name != OWN else "own tail"
            robot = self._with(tail)
            found[label if label not in found else f"{label} 2"] = Scenario(robot, motion, self.policy)
        return found

    def _with(self, tail: TailChoice) -> Robot:
        """The robot with a tail, which its name tells."""
        robot = redesigned(carrying(self.robot, tail.name), tail.design)
        if self.torso_mass not in (None, robot.torso_body().mass):
            robot = robot.replace({"torso.mass": self.torso_mass})
        return robot


def carrying(robot: Robot, tail: str) -> Robot:
    """A robot with its own tail, or with one by its kind: of the same total mass and length, or, on the robot of Liu &
    Ben-Tzvi 2020, as published."""
    return with_named_tail(robot, tail, published=robot == liu2020())


def tail_choices(robot: Robot) -> tuple[str, ...]:
    """The tails that a robot can be given: its own, where it has one that is not one of the paper's, and all others."""
    kinds = tuple(NAMED)
    if not tails_of(robot):
        return kinds
    own = robot.part(tail_name(robot))
    return kinds if own in [carrying(robot, name).part("tail") for name in PUBLISHED] else (OWN, *kinds)


def policy_choices(robot: Robot) -> tuple[str, ...]:
    """What the legs can do: the torques of the 2020 paper are of its own robot."""
    return tuple(name for name in POLICIES if name != "paper" or robot.name.startswith("liu2020"))


def carriers() -> dict[str, Robot]:
    """The presets that have a tail or can stand with one, by name; that of 2020 comes first."""
    found = {name: make() for name, make in presets().items()}
    able = {name: robot for name, robot in found.items() if tails_of(robot) or pinnable(robot)}
    return dict(sorted(able.items(), key=lambda item: item[0] != "liu2020"))


def robot_from_file(name: str, content: bytes) -> Robot:
    """The robot in a file that was handed in, TOML, URDF or MJCF.

    Raises:
        TailworkError: it is none.
    """
    if len(content) > LARGEST_FILE:
        raise ArgumentError(name, f"{len(content)} bytes", f"a robot file of at most {LARGEST_FILE} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ArgumentError(
            name, "bytes that are no text", "a robot file: TOML, URDF or MJCF, saved as UTF-8"
        ) from None
    if not is_import(name):
        return from_text(text, name)
    with tempfile.TemporaryDirectory() as folder:  # readers of these formats look for what lies beside the file
        file = Path(folder, f"robot{Path(name).suffix.lower()}")
        file.write_bytes(content)
        try:
            return load(file)
        except FileError as error:
            raise FileError(name, error.reason) from None


def first_choice(robot: Robot | None = None, tails: Sequence[str] = ()) -> Choice:
    """What the lab starts with: a robot, by default that of Liu & Ben-Tzvi 2020, and one or two tails."""
    robot = robot or liu2020()
    first, *others = tail_choices(robot)
    return Choice(robot, tuple(map(TailChoice, tails or (first, "r3" if "r3" in others else others[0]))))
