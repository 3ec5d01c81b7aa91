"""Tails put on any robot: which kinds there are, how large they are by default, and where they are mounted.

A tail that is only named is as heavy and as long as the tail that it replaces; on a robot that has none, a twelfth of
the torso's mass and 0.96 of its length, the shares of Liu & Ben-Tzvi 2020. So all tails that are put on a robot have
the same total mass and length, unless they are taken as published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from tailwork.algebra.expression import Scalar
from tailwork.algebra.vectors import array, times
from tailwork.errors import ArgumentError, RobotError, UnknownNameError, is_finite_number
from tailwork.robots.limb import FORWARD_FRAMES, as_vector
from tailwork.robots.paths import rebuild
from tailwork.robots.presets.tails import cheetah_tail, gecko_tail, spirit_tail
from tailwork.robots.quantities import Kind, Vector, checked
from tailwork.robots.robot import Robot
from tailwork.robots.sizes import torso_size
from tailwork.robots.tails.articulated import Articulated
from tailwork.robots.tails.continuum import Continuum
from tailwork.robots.tails.pendulum import Pendulum
from tailwork.robots.tails.r3 import R3
from tailwork.robots.tails.reaction_wheel import ReactionWheel
from tailwork.robots.tails.tail import Tail, tail_name, tails_of
from tailwork.robots.tails.two_link import TwoLink
from tailwork.robots.tails.usrt import Usrt

PUBLISHED: dict[str, Tail] = {"pendulum": Pendulum(length=0.48, mass=1.0), "r3": R3(), "usrt": Usrt()}
"""The tails of Liu & Ben-Tzvi 2020, Table 1, by kind, at the origin of the torso frame."""
NAMED: dict[str, Tail] = PUBLISHED | {
    "articulated": Articulated(), "continuum": Continuum(), "two_link": TwoLink(), "reaction_wheel": ReactionWheel(),
    "cheetah": cheetah_tail(), "spirit": spirit_tail(), "gecko": gecko_tail(),
}  # fmt: skip
"""All tails that have a name, likewise: those of the paper, kinds with their defaults, and those of `presets.tails`."""
PAPER_ROBOT = "liu2020"
"""The preset whose tails they are."""
MASS_SHARE, LENGTH_SHARE = 1.0 / 12.0, 0.96
"""Mass and length of a tail, as shares of the torso's, where nothing else says them: 1 kg of 12, 0.48 m of 0.5 m."""
EXPONENTS = {
    "m": (0.0, 1.0), "kg": (1.0, 0.0), "kg m^2": (1.0, 2.0), "N": (1.0, 0.0), "N m": (1.0, 1.0), "N/m": (1.0, -1.0),
    "N m/rad": (1.0, 1.0), "N s/m": (1.0, -0.5), "N m s/rad": (1.0, 1.5), "N m^2": (1.0, 2.0), "N m^2 s": (1.0, 2.5),
    "kg m": (1.0, 1.0), "m^2": (0.0, 2.0),
}  # fmt: skip
"""By unit: how a number grows with mass and length in the same gravity, so that a tail hangs in the same shape and all
of its times go with the root of its length (Froude's law)."""
HERE = (0.0, 0.0, 0.0)


def tail_kinds() -> dict[str, type[Tail]]:
    """All kinds of tails by name: those of the library and own ones that are known by now."""
    from tailwork.robots.io.kinds import part_kinds  # here, because it imports all parts

    return {cls.kind: cls for cls in part_kinds() if issubclass(cls, Tail)}


def named_tail(kind: str) -> Tail:
    """A tail of a kind with the numbers of its paper, or of its defaults where it is not of one."""
    if kind in NAMED:
        return NAMED[kind]
    from tailwork.robots.io.kinds import imported, offered  # here, because it imports all parts

    if isinstance(kind, str) and kind in offered():
        imported(kind)
    kinds = tail_kinds()
    if kind not in kinds:
        valid = [known for known in dict.fromkeys((*NAMED, *kinds, *offered())) if known != "tail"]
        raise UnknownNameError.among("tail", str(kind), valid, "kind of tail")
    try:
        return kinds[kind]()
    except (TypeError, ArgumentError):
        required = f"a tail described in full, such as {kinds[kind].__name__}(…): not all of its numbers have defaults"
        raise RobotError("tail", kind, required) from None


def default_size(robot: Robot) -> tuple[float, float]:
    """Total mass [kg] and length [m] of a tail that is put on a robot: those of its own tail, else shares of its torso
    (`MASS_SHARE`, `LENGTH_SHARE`)."""
    own = next(iter(tails_of(robot).values()), None)
    if own is not None and float(own.total_length()) > 0.0:
        return float(own.total_mass()), float(own.total_length())
    return MASS_SHARE * float(robot.torso_body().mass), LENGTH_SHARE * torso_size(robot).length


def similar(tail: Tail, *, mass: float | None = None, length: float | None = None) -> Tail:
    """The same design at another size: of a total mass [kg] and length [m], all else in proportion, see `EXPONENTS`.

    Unlike `Tail.with_totals`, which keeps bases, pulleys and joint springs as they are.
    """
    own_mass, own_length = float(tail.total_mass()), float(tail.total_length())
    for name, value, own in (("mass", mass, own_mass), ("length", length, own_length)):
        if value is not None and not (is_finite_number(value) and value > 0.0):
            raise RobotError(name, value, f"a {name} greater than 0 [{'kg' if name == 'mass' else 'm'}]")
        if value is not None and own == 0.0:
            raise RobotError(name, value, f"no {name} for a tail that says none of its own: its limb has no tip")
    heavier = 1.0 if mass is None else mass / own_mass
    longer = 1.0 if length is None else length / own_length

    def visit(path: str, value: Any, kind: Kind) -> Any:
        by_mass, by_length = EXPONENTS.get(kind.unit, (0.0, 0.0))
        return value if path.startswith("mount") else value * heavier**by_mass * longer**by_length

    found = tail if heavier == longer == 1.0 else rebuild(tail, visit)
    if found.mount_place("y") != (place := tail.mount_place("y")):
        found = found.mounted(place, "y")
    wanted = {"total_mass": mass, "total_length": length}
    off = {name: value for name, value in wanted.items() if value and abs(found.total(name) - value) > 1e-9 * value}
    return found.with_totals(off) if off else found


def _sized(tail: Tail, *, mass: float | None, length: float | None) -> Tail:
    """Of a total mass [kg] and length [m], for tails that have one."""
    return similar(tail, mass=mass, length=length if float(tail.total_length()) > 0.0 else None)


def _by_name(robot: Robot, kind: str, mass: float | None, length: float | None) -> Tail:
    """A tail of a kind, of a total mass [kg] and length [m]; None: of `default_size`."""
    usual = default_size(robot)
    made = _sized if length is None else similar  # a wheel has no length, unless somebody asks for one
    wanted = (own if given is None else given for given, own in zip((mass, length), usual, strict=True))
    return made(named_tail(kind), **dict(zip(("mass", "length"), wanted, strict=True)))


def _actuated(robot: Robot, tail: Tail) -> Tail:
    """The tail with actuators as heavy as those of the tail that it replaces."""
    own = next(iter(tails_of(robot).values()), tail)
    return replace(tail, actuator_mass=own.actuator_mass)


def with_tail(
    robot: Robot, tail: Tail | str, mount: Sequence[Scalar] | None = None, rotation: Sequence[float] | None = None, *,
    mass: float | None = None, length: float | None = None,
) -> Robot:  # fmt: skip
    """A copy of a robot with a tail, see `Robot.with_tail`."""
    if isinstance(tail, str):
        tail = _actuated(robot, _by_name(robot, tail, mass, length))
    elif isinstance(tail, Tail) and not mass is length is None:
        tail = similar(tail, mass=mass, length=length)
    part = tail
    if not isinstance(part, Tail):
        raise RobotError("tail", tail, "a tail, such as tailwork.robots.pendulum(length=0.5, mass=1.0), or its kind")
    own = tail_name(robot) if tails_of(robot) else None
    part = part if rotation is None else replace(part, mount_rotation=rotation)
    here = mount is None and part.mount_place(robot.forward) == HERE
    if here and rotation is None and own is not None and not any(part.mount_rotation):
        part = replace(part, mount_rotation=robot.part(own).mount_rotation)  # as the tail that it replaces
    if mount is not None or here:
        place = default_mount(robot) if mount is None else checked("mount", mount, Kind("m", (3,)))
        part = part.mounted(place, robot.forward)
    stem = robot.name if own is None else robot.name.removesuffix(f"-{robot.part(own).kind}")
    bare = robot if own is None else robot.without(own)
    return replace(bare, name=f"{stem}-{part.kind}", parts={**bare.parts, "tail": part})


def without_tail(robot: Robot) -> Robot:
    """A copy of a robot without its tail, if it has one."""
    if not tails_of(robot):
        return robot
    own = tail_name(robot)
    return replace(robot.without(own), name=robot.name.removesuffix(f"-{robot.part(own).kind}"))


def with_named_tail(
    robot: Robot, tail: str, *, mass: float | None = None, length: float | None = None, published: bool = False
) -> Robot:
    """A copy of a robot with a tail by name, as commands and problem files give it.

    Args:
        robot: that carries it.
        tail: "own" (the one that the robot has, as it is), "none", a kind of tail, or a robot file, whose tail it is.
        mass: in total [kg]; by default `default_size`.
        length: in total [m]; by default `default_size`.
        published: whether the tail keeps its own numbers by default, and, of a file, its mount.
    """
    if tail == "own":
        tail_name(robot)
        return robot
    if tail == "none":
        return without_tail(robot)
    if "." not in tail and "/" not in tail and "\\" not in tail:
        if published:
            return with_tail(robot, similar(named_tail(tail), mass=mass, length=length))
        return with_tail(robot, tail, mass=mass, length=length)
    usual = (None, None) if published else default_size(robot)
    mass, length = (own if given is None else given for given, own in zip((mass, length), usual, strict=True))
    from tailwork.robots.io.toml import load_toml  # here, because it imports all parts

    other = load_toml(tail)
    part: Tail = other.part(tail_name(other))
    mount = default_mount(robot)
    if published:  # right, forward and up as the other has them
        there, here = (array(FORWARD_FRAMES[one.forward]) for one in (other, robot))
        mount = as_vector(times(here, times(there.T, array(part.mount_place(other.forward)))))
    return with_tail(robot, similar(part, mass=mass, length=length), mount)


def configured(
    robot: Robot, tail: str | None = None, changes: Mapping[str, Any] = MappingProxyType({}), *,
    mass: float | None = None, length: float | None = None, published: bool = False, preset: str = "",
) -> Robot:  # fmt: skip
    """A robot with changes by path and a tail by name, as `with_named_tail` puts it on [kg], [m]. Changes outside the
    tail are made first, so that default sizes follow them. The preset of Liu & Ben-Tzvi 2020 has the tails of its paper
    as published, unless a mass or a length is given."""
    if tail is None:
        if mass is not None or length is not None or published:
            raise RobotError("tail", None, "a tail that is put on: its mass, its length and its paper are of that one")
        return robot.replace(changes) if changes else robot
    if published and (mass is not None or length is not None):
        raise RobotError("as published", True, "neither mass nor length of the tail: they are other numbers")
    of_tail = {path: value for path, value in changes.items() if path.split(".")[0] == "tail"}
    rest = {path: value for path, value in changes.items() if path not in of_tail}
    robot = robot.replace(rest) if rest else robot
    published = published or (preset == PAPER_ROBOT and mass is None and length is None)
    found = with_named_tail(robot, tail, mass=mass, length=length, published=published)
    return found.replace(of_tail) if of_tail else found


def default_mount(robot: Robot) -> Vector:
    """Where a tail is mounted, in the torso frame [m]: where the robot's own tail is, else at the middle of the rear of
    its torso (see `tailwork.robots.sizes.torso_size`)."""
    for name, part in robot.parts.items():
        if isinstance(part, Tail):
            return robot.limbs()[name].joints[0].offset
    return torso_size(robot).rear


def tail_text(tail: Tail) -> str:
    """A tail in a few words: kind, total mass and length, and whether it is as published."""
    length = float(tail.total_length())
    size = f"{tail.kind} of {float(tail.total_mass()):.3g} kg" + (f" and {length:.3g} m" if length else "")
    size += f", with actuators of {float(tail.actuator_mass):.3g} kg" if tail.actuator_mass else ""
    return f"{size} (as published)" if as_published(tail) else size


def as_published(tail: Tail) -> bool:
    """Whether a tail has the numbers of its paper, wherever it is mounted."""
    return tail.kind in PUBLISHED and tail.mounted(HERE, "y") == PUBLISHED[tail.kind]


def as_named(tail: Tail) -> bool:
    """Whether a tail has the numbers of one that has a name, wherever it is mounted."""
    return tail.mounted(HERE, "y") in NAMED.values()
