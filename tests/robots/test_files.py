"""Robot files: exact round trips, and clear errors for whatever else a file may hold."""

from __future__ import annotations

import dataclasses
import math
import os
import stat
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

import tailwork
from real_robots import urdf
from tailwork import robots
from tailwork.algebra.expression import Tape
from tailwork.errors import ArgumentError, FileError, RobotError, TailworkError, UnknownNameError
from tailwork.robots import (
    BendingSpring,
    Body,
    Cable,
    ContactPoint,
    Foot,
    FreeLimb,
    Hole,
    InsectLeg,
    Joint,
    JointSpring,
    Limb,
    Motor,
    Pendulum,
    PlateTorso,
    PointSpring,
    Robot,
    Shape,
    Stops,
    StopSpring,
    ThreeHingeLegs,
    Tip,
    Torso,
)
from tailwork.robots.io.toml import LARGEST_FILE, MOST_WORDS

POINT = Body(mass=0.1, com=(0.0, -0.1, 0.0))
THIRD = math.sqrt(1 / 3)
SHAPES = (
    Shape(kind="box", size=(0.1, 0.2, 0.3), color=(1.0, 0.0, 1 / 3)),
    Shape(kind="capsule", size=(0.1, 0.2), place=(0.0, 0.0, 1 / 3), rotation=((0, -1, 0), (1, 0, 0), (0, 0, 1))),
    Shape(kind="mesh", vertices=((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)), faces=((0, 1, 2), (0, 2, 3))),
)


def everything() -> FreeLimb:
    """A limb written out with all that a limb can have."""
    limb = Limb(
        joints=(
            Joint(name="turn", axis=(1.0, 0.0, 0.0), offset=(0.0, -0.25, 1 / 3), armature=1e-5),
            Joint(name="bend", axis=(0.0, 0.0, 1.0), parent="turn", body=dataclasses.replace(POINT, shapes=SHAPES)),
            Joint(
                name="side branch [cm] = \"quoted\" 'α' \\ \t\n\x7f",
                axis=(THIRD, THIRD, THIRD),
                parent="turn",
                offset=(1e-300, -0.0, 5e-324),
                rotation=((0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
                body=Body(mass=math.pi, com=(0.1, 0.2, 0.3), inertia=(0.3, 0.4, 0.5, 0.01, -0.02, 0.03)),
                motion="slider",
                range=(0.0, 1 / 3),
                speed_limit=0.3,
                friction=0.2,
            ),
        ),
        coordinates=("first", "second"),
        gearing=((1.0, 0.0), (0.5, -1 / 3), (0.0, 1.0)),
        actuators=(
            Motor(name="motor", coordinate="first"),
            Motor(name="pulley", coordinate="second", ratio=0.025, unit="N"),
            Cable(name="cable", route=(Hole(joint=None, point=(0, 0, 0.1)), Hole(joint="bend", point=(0, -0.1, 0)))),
        ),
        springs=(
            JointSpring(joint="turn", stiffness=1.5, rest=-0.1, damping=0.2),
            StopSpring(joint="bend", lower=-1.0, upper=2.0, stiffness=20.0, damping=0.1),
            BendingSpring(first="turn", second="bend", stiffness=20.0, damping=1.0, blend=0.02),
            PointSpring(
                first=None, first_point=(0.0, 0.0, 0.0305), second="bend", second_point=(0.0, 0.02, 0.02),
                stiffness=2921.2, rest_length=0.038,
            ),
        ),
        foot=Foot(joint="bend", point=(0.0, -0.2, 0.0), place=(0.1, -0.4, 0.0), radius=0.02),
        contacts=(ContactPoint(name="heel", joint="bend", point=(0.0, -0.1, 0.0), friction=0.5, restitution=0.0),),
        tip=Tip(joint="bend", point=(0.0, -0.25, 0.0)),
    )  # fmt: skip
    return FreeLimb(limb=limb)


ROBOTS = {
    **{f"liu2020-{tail}": robots.liu2020(tail=tail) for tail in ("pendulum", "r3", "usrt", None)},
    **{name: build() for name, build in robots.presets().items()},
    "free": Robot(
        name="all \"of\" it: = [\n] # 'ω' \u2028 a.a.a",
        torso=Torso(mass=12.0, com=(0.0, 0.1, 0.0), inertia=(0.3, 0.2, 0.4, 0.0, 0.01, 0.0)),
        parts={"tail": everything(), "another arm": everything(), "legs": robots.biswal().part("legs")},
        gravity=0.0,
        forward="x",
        contacts=(ContactPoint(name="chin", point=(0.3, 0.0, -0.05), radius=0.01),),
        air=robots.Air(wind=(1.0, 0.0, 0.0)),
        stops=Stops(stiffness=100.0, damping=1 / 3, slider_stiffness=1e4),
    ),
    "continuum": robots.liu2020(None).with_part("tail", robots.Continuum(length=0.5, mass=1.0, rigidity=2.0)),
    "real legs": tailwork.load(urdf("solo12")),
    "own tail": robots.liu2020(None).with_part("tail", robots.FreeTail(shape=everything().limb)),
    "turned tail": robots.liu2020("pendulum").replace({"tail.mount_rotation": (0.0, math.pi / 2, 0.1)}),
    "bare": Robot(name="bare", torso=PlateTorso(mass=1.0, width=0.1, length=0.2), parts={}),
    "table": Robot(
        name="table",
        torso=PlateTorso(mass=1.0, width=0.1, length=0.2),
        parts={"arm": robots.DhChain(convention="classic", rows=(robots.DhRow(a=0.1, bar_mass=1.0),))},
    ),
    "articulated": robots.liu2020(None).with_part("tail", robots.Articulated(axes=("yaw",), drive="cables")),
    "two links": robots.liu2020(None).with_part(
        "tail",
        robots.TwoLink(first_length=0.3, second_length=0.2, first_mass=0.6, second_mass=0.3, second="passive"),
    ),
    "wheels": robots.liu2020(None).with_part("tail", robots.ReactionWheel(mass=0.3, radius=0.1, wheels=("yaw",))),
    "long": robots.liu2020("usrt").replace({"tail.links": 12, "tail.segments": 3, "tail.extension_rest": (0.01,)}),
}


def same(a: Robot, b: Robot) -> bool:
    """Equal in every bit: also in the order of the parts and the sign of zeros, which repr shows."""
    return a == b and all(repr(getattr(a, f.name)) == repr(getattr(b, f.name)) for f in dataclasses.fields(Robot))


@pytest.mark.parametrize("name", ROBOTS)
def test_round_trip(name: str, tmp_path: Path) -> None:
    file = tmp_path / "robot.toml"
    ROBOTS[name].save(file)
    assert same(tailwork.load(file), ROBOTS[name])
    assert same(tailwork.load(str(file)), ROBOTS[name])
    assert os.listdir(tmp_path) == ["robot.toml"]


def test_files_are_readable_by_people(tmp_path: Path) -> None:
    robots.liu2020().save(tmp_path / "robot.toml")
    text = (tmp_path / "robot.toml").read_text(encoding="utf-8")
    assert "stand = [0.0, 0.0, 0.4]\n" in text
    assert '[tail]\nkind = "pendulum"\nlength = 0.48\nmass = 1.0\n' in text
    assert "    [0.15, 0.25, 0.0],\n" in text


def test_defaults_may_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "robot.toml").write_text(
        '\ufeffname = "short"\n[torso]\nkind = "plate"\nmass = 12\nwidth = 0.3\nlength = 0.5\n[tail]\nkind = "r3"\n',
        encoding="utf-8",
    )
    expected = Robot(name="short", torso=PlateTorso(mass=12, width=0.3, length=0.5), parts={"tail": robots.r3()})
    assert same(tailwork.load(tmp_path / "robot.toml"), expected)


magnitudes = st.floats(1e-100, 1e100)
places = st.tuples(*[st.floats(-1e100, 1e100)] * 3)
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="."), min_size=1)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_any_numbers_and_names_come_back_exactly(data: st.DataObject) -> None:
    def size() -> float:
        return data.draw(magnitudes)

    joint = Joint(name=data.draw(words), axis=(0, 0, 1), body=Body(mass=size(), com=data.draw(places)))
    parts: dict[str, Any] = {
        "legs": ThreeHingeLegs(
            hips=(data.draw(places), data.draw(places)),
            feet=(data.draw(places), data.draw(places)),
            thigh_length=size(),
            shank_length=size(),
            thigh_mass=size(),
            shank_mass=size(),
        ),
        "tail": Pendulum(length=size(), mass=size(), tip_mass=size(), mount=data.draw(places)),
        "arm " + data.draw(words): FreeLimb(limb=Limb(joints=(joint,))),
    }
    robot = Robot(
        name=data.draw(words),
        torso=PlateTorso(mass=size(), width=size(), length=size()),
        parts=parts,
        gravity=size(),
        stand=data.draw(places),
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "robot.toml")
        robot.save(file)
        assert same(tailwork.load(file), robot)


# Files that are no robots

HEAD = 'name = "r"\n'
TORSO = '[torso]\nkind = "plate"\nmass = 12.0\nwidth = 0.3\nlength = 0.5\n'
TAIL = '[tail]\nkind = "pendulum"\nlength = 0.5\n'
USRT = '[tail]\nkind = "usrt"\n'
LEGS = (
    '[legs]\nkind = "three_hinge_legs"\nthigh_length = 0.25\nshank_length = 0.25\nthigh_mass = 1.2\nshank_mass = 1.2\n'
    "hips = [[0.0, 0.0, 0.0]]\n"
)
LIMB = '[tail]\nkind = "limb"\n[[tail.limb.joints]]\nname = "a"\naxis = [1.0, 0.0, 0.0]\n'
GOOD = HEAD + TORSO


@pytest.mark.parametrize(
    ("text", "error", "path", "message"),
    [
        # What is missing
        ("", RobotError, "name", "got nothing"),
        (HEAD, RobotError, "torso", "a table [torso]"),
        (TORSO, RobotError, "name", "a name for the robot"),
        (HEAD + "[torso]\nmass = 1.0\n", RobotError, "torso.kind", "one of 'torso', 'plate'"),
        (HEAD + '[torso]\nkind = "plate"\nmass = 1\nwidth = 1\n', RobotError, "torso.length", "a finite number [m]"),
        (GOOD + "[tail]\nlength = 0.5\n", RobotError, "tail.kind", "'reaction_wheel', 'tail', 'limb'"),
        (GOOD + TAIL, RobotError, "tail.mass", "got nothing; required: a finite number [kg], not negative"),
        (GOOD + '[tail]\nkind = "limb"\n', RobotError, "tail.limb", "a table of fields"),
        (GOOD + '[tail]\nkind = "limb"\n[tail.limb]\n', RobotError, "tail.limb.joints", "a list of tables"),
        (GOOD + '[tail]\nkind = "limb"\n[[tail.limb.joints]]\n', RobotError, "tail.limb.joints.1.name", "text"),
        # Names that are not known
        ("gravitty = 9.8\n" + GOOD, UnknownNameError, "gravitty", "did you mean 'gravity'"),
        (GOOD + TAIL + "lenght = 0.5\n", UnknownNameError, "tail.lenght", "did you mean 'length'"),
        (HEAD + '[torso]\nkind = "plait"\n', UnknownNameError, "torso.kind", "did you mean 'plate'"),
        (GOOD + '[tail]\nkind = "pendulumm"\n', UnknownNameError, "tail.kind", "did you mean 'pendulum'"),
        (GOOD + "[tail]\nkind = 3\n", UnknownNameError, "tail.kind", "did you mean 'r3'"),
        (GOOD + '[tail]\nkind = ["r3"]\n', UnknownNameError, "tail.kind", "kind"),
        (GOOD + LIMB + "axes = [1]\n", UnknownNameError, "tail.limb.joints.a.axes", "did you mean 'axis'"),
        (GOOD + LIMB + 'kind = "hinge"\n', UnknownNameError, "tail.limb.joints.a.kind", "a known field of 'joint'"),
        (GOOD + LIMB + "body = {mas = 1.0}\n", UnknownNameError, "tail.limb.joints.a.body.mas", "'mass'"),
        (GOOD + LIMB + "[tail.limb.closed_form]\n", UnknownNameError, "tail.limb.closed_form", "field of 'limb'"),
        (GOOD + LIMB + 'body = {mass = 1}\n[[tail.limb.springs]]\nkind = "joint"\njoint = "b"\n', UnknownNameError,
         "tail.limb.springs.1.joint", "valid: a"),
        (GOOD + LIMB + 'body = {mass = 1}\n[[tail.limb.actuators]]\nname = "m"\n', RobotError,
         "tail.limb.actuators.m.kind", "'motor', 'cable'"),
        # Values of the wrong kind
        (GOOD + TAIL + 'mass = "12 kg"\n', RobotError, "tail.mass", "a plain number in kg, without quotes or a unit"),
        (GOOD + TAIL + "mass = true\n", RobotError, "tail.mass", "a finite number [kg]"),
        (GOOD + TAIL + "mass = [1.0]\n", RobotError, "tail.mass", "a finite number [kg]"),
        (GOOD + TAIL + "mass = {kg = 1.0}\n", RobotError, "tail.mass", "a finite number [kg]"),
        (GOOD + TAIL + "mass = 1979-05-27\n", RobotError, "tail.mass", "a finite number [kg]"),
        (GOOD + TAIL + "mass = nan\n", RobotError, "tail.mass", "a finite number [kg]"),
        (GOOD + TAIL + "mass = inf\n", RobotError, "tail.mass", "a finite number [kg]"),
        (GOOD + TAIL + "mass = 1e999\n", RobotError, "tail.mass", "a finite number [kg]"),
        (GOOD + TAIL + "mass = 0x" + "f" * 5000 + "\n", RobotError, "tail.mass", "a finite number [kg]"),
        (GOOD + TAIL + "mass = -1.0\n", RobotError, "tail.mass", "not negative"),
        (GOOD + TAIL + "mass = 1.0\nmount = 1.0\n", RobotError, "tail.mount", "three finite numbers [m]"),
        (GOOD + TAIL + "mass = 1.0\nmount = [1.0, 2.0]\n", RobotError, "tail.mount", "three finite numbers [m]"),
        (GOOD + TAIL + 'mass = 1.0\nmount = [1.0, "2 cm", 0.0]\n', RobotError, "tail.mount.y", "a plain number in m"),
        (GOOD + TAIL + "mass = 1.0\nmount = {x = 1, y = 2, z = 3}\n", RobotError, "tail.mount", "three finite numbers"),
        (GOOD + USRT + "links = 1_000_000_000\n", RobotError, "tail.links", "from 1 to 128"),
        (GOOD + USRT + "links = 6.0\n", RobotError, "tail.links", "an integer"),
        (GOOD + USRT + "links = true\n", RobotError, "tail.links", "an integer"),
        (GOOD + USRT + "links = -2\n", RobotError, "tail.links", "from 1 to 128"),
        (GOOD + USRT + "link_inertia = [1, 1, 3, 0, 0, 0]\n", RobotError, "tail.link_inertia", "that a body can have"),
        (GOOD + LEGS + "feet = [0.0, 0.0, 0.0]\n", RobotError, "legs.feet", "a list of vectors"),
        (GOOD + LEGS + "feet = []\n", RobotError, "legs.feet", "as many feet as hips"),
        (GOOD + LEGS + "feet = [[0, 0, 0]]\nknee = 3\n", RobotError, "legs.knee", "text"),
        (GOOD + LEGS + 'feet = [[0, 0, 0]]\nknee = "up"\n', RobotError, "legs.knee", "'forward' or 'backward'"),
        ("name = 3\n" + TORSO, RobotError, "name", "text"),
        ('name = ""\n' + TORSO, RobotError, "name", "a name"),
        ('stand = "here"\n' + GOOD, RobotError, "stand", "three finite numbers [m]"),
        ('torso = "plate"\n' + HEAD, RobotError, "torso", "a table of fields"),
        ('tail = "pendulum"\n' + GOOD, UnknownNameError, "tail", "a table for a part"),
        (GOOD + '[[tail]]\nkind = "r3"\n', UnknownNameError, "tail", "a table for a part"),
        (GOOD + '["a.b"]\nkind = "r3"\n', RobotError, "parts.a.b", "another name"),
        (GOOD + '[tail]\nkind = "limb"\nlimb = 3\n', RobotError, "tail.limb", "a table of fields"),
        (GOOD + '[tail]\nkind = "limb"\n[tail.limb]\njoints = 3\n', RobotError, "tail.limb.joints", "a list of tables"),
        (GOOD + '[tail]\nkind = "limb"\nlimb = {joints = [3]}\n', RobotError, "tail.limb.joints.1", "a table"),
        (GOOD + LIMB + "body = 3\n", RobotError, "tail.limb.joints.a.body", "a table of fields"),
        # Robots that are not possible
        (HEAD + TORSO.replace("12.0", "-12.0"), RobotError, "torso.mass", "greater than 0"),
        (GOOD + LIMB, RobotError, "tail.limb.joints.a.body", "a body"),
        (GOOD + LIMB.replace("[1.0", "[0.0"), RobotError, "tail.limb.joints.a.axis", "a unit vector"),
        (GOOD + LIMB + 'body = {mass = 1.0}\n[[tail.limb.joints]]\nname = "a"\naxis = [1, 0, 0]\n', RobotError,
         "tail.limb.joints.a.name", "no other joint"),
        (GOOD + LIMB + 'parent = "b"\nbody = {mass = 1.0}\n', UnknownNameError, "tail.limb.joints.a.parent", "joint"),
        (GOOD + LEGS + "feet = [[0, 0, 0]]\n" + TAIL.replace("tail", "leg1") + "mass = 1\n", RobotError, "leg1",
         "limb names that differ"),
    ],
)  # fmt: skip
def test_bad_descriptions(text: str, error: type[ArgumentError], path: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "robot.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ArgumentError) as caught:
        tailwork.load(file)
    assert type(caught.value) is error
    assert caught.value.path == path
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}: got ")
    assert any(str(file) in note for note in caught.value.__notes__)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"name = \xff", "not UTF-8 text (line 1)"),
        (b"name = 'x'\nmass 12", "line 2"),
        (b"name = 'x'\nname = 'y'", "Cannot overwrite a value (at the end, line 2)"),
        (b"[torso]\n[torso]\n", "line 2"),
        (b"\x80\x04\x95", "not UTF-8"),
        (b"a = " + b"[" * 100_000, "nested too deeply"),
        (b"a.b = 1\n" + b"a." * (MOST_WORDS + 1) + b"a = 1", "nested too deeply"),
        (b"\"a\". 'b.' ." * 400_00 + b"a = 1", "nested too deeply"),
        (b"a = " + b"1" * 10_000, "too many digits"),
        (b"#" * (LARGEST_FILE + 1), "too large"),
    ],
)
def test_bad_contents(content: bytes, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "robot.toml"
    file.write_bytes(content)
    with pytest.raises(FileError) as caught:
        tailwork.load(file)
    assert reason in caught.value.reason
    assert caught.value.file == str(file)


def test_unreadable_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reason(path: Any) -> str:
        with pytest.raises(FileError) as caught:
            tailwork.load(path)
        return caught.value.reason

    assert reason(tmp_path / "none.toml") == "no such file or directory"
    assert reason(tmp_path) == "a directory, not a file"
    assert "path" in reason("a\0b")
    assert "path" in reason(None)
    os.mkfifo(tmp_path / "pipe")
    assert reason(tmp_path / "pipe") == "not a regular file"

    (tmp_path / "robot.toml").write_text(GOOD)

    def denied(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", denied)  # file modes do not stop the superuser
    assert reason(tmp_path / "robot.toml") == "no permission"


@settings(deadline=None, max_examples=100)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace"))))
def test_no_bytes_raise_anything_but_our_errors(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "robot.toml")
        file.write_bytes(content)
        with pytest.raises(TailworkError):
            tailwork.load(file)


toml_values = st.recursive(
    st.one_of(
        st.integers(),
        st.floats(),
        st.booleans(),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
        st.dates(),
        st.sampled_from(["pendulum", "usrt", "limb", "plate", "x", "forward"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=7),
        st.dictionaries(st.sampled_from(["kind", "name", "mass", "limb", "joints", "x"]), inner, max_size=3),
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=120)
@given(data=st.data(), name=st.sampled_from(["liu2020-pendulum", "liu2020-usrt", "free"]))
def test_no_value_anywhere_raises_anything_but_our_errors(data: st.DataObject, name: str) -> None:
    """One value of a good file exchanged for any other, or removed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "robot.toml")
        ROBOTS[name].save(file)
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        node: Any = content
        while True:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            key = data.draw(st.sampled_from(keys))
            if not isinstance(node[key], (dict, list)) or not node[key] or data.draw(st.integers(0, 3)) == 0:
                break
            node = node[key]
        if data.draw(st.booleans()):
            node[key] = data.draw(toml_values)
        else:
            del node[key]
        file.write_text(tomli_w.dumps(content), encoding="utf-8")
        try:
            robot = tailwork.load(file)
        except TailworkError:
            return
        robot.save(file)
        assert same(tailwork.load(file), robot)


# Saving


def test_what_a_file_cannot_hold(tmp_path: Path) -> None:
    leg = robots.liu2020().limbs()["leg1"]
    symbol = Tape().inputs(1, 0)[0]

    class Odd(Pendulum):
        """A part of a kind that files do not know."""

    cases = {
        "leg.limb.closed_form": robots.liu2018().with_part("leg", FreeLimb(limb=leg)),
        "tail.length": robots.liu2018().replace({"tail.length": symbol}),
        "tail.mount.y": robots.liu2018().replace({"tail.mount.y": symbol}),
        "tail": robots.liu2018().with_part("tail", Odd(length=1.0, mass=1.0)),
    }
    for path, robot in cases.items():
        with pytest.raises(RobotError) as caught:
            robot.save(tmp_path / "robot.toml")
        assert caught.value.path == path
    with pytest.raises(FileError, match="UTF-8"):
        robots.liu2018().replace({"name": "\ud800"}).save(tmp_path / "robot.toml")
    huge = FreeLimb(limb=robots.usrt(links=128, segments=128).limbs("tail")["tail"])
    with pytest.raises(FileError, match="too large"):
        robots.liu2018().with_part("tail", huge).save(tmp_path / "robot.toml")
    assert os.listdir(tmp_path) == []


def test_saving_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "robot.toml"
    robots.liu2018().save(file)
    before = file.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(FileError, match="No space left on device"):
            robots.biswal().save(file)
    assert file.read_bytes() == before
    assert os.listdir(tmp_path) == ["robot.toml"]


def test_saving_over_a_file_keeps_its_mode_and_links(tmp_path: Path) -> None:
    file, link = tmp_path / "robot.toml", tmp_path / "link.toml"
    robots.liu2018().save(file)
    file.chmod(0o600)
    link.symlink_to(file)
    robots.biswal().save(link)
    assert link.is_symlink()
    assert tailwork.load(file).name == "biswal"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    robot = robots.liu2018()
    for path in (tmp_path / "none" / "robot.toml", tmp_path, "a\0b"):
        with pytest.raises(FileError):
            robot.save(path)
    assert os.listdir(tmp_path) == []


def test_every_kind_is_in_a_round_trip() -> None:
    """So that a new kind of part does not go untested here."""
    from tailwork.robots.io.kinds import PARTS
    from tailwork.robots.io.toml import TORSOS

    used = {type(part) for robot in ROBOTS.values() for part in (robot.torso, *robot.parts.values())}
    assert used == set(PARTS + TORSOS)
    assert InsectLeg in used
    assert all(dataclasses.is_dataclass(cls) and cls.kind for cls in used)
    for field in dataclasses.fields(Robot):  # each has in some robot another value than it has by itself
        assert any(getattr(robot, field.name) != field.default for robot in ROBOTS.values())


def test_the_file_in_the_readme(tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (tmp_path / "robot.toml").write_text(readme.split("```toml\n")[1].split("```")[0], encoding="utf-8")
    robot = tailwork.load(tmp_path / "robot.toml")
    assert list(robot.parts) == ["tail", "legs"]
    assert robot.forward == "x"
    assert robot.part("tail") == dataclasses.replace(robots.liu2020().part("tail"), mount=(-0.25, 0.0, 0.0))
