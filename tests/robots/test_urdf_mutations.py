"""URDF files that say the same in other words are the same robot; broken ones say what is wrong, and none crashes,
hangs or loses a mass in silence."""

from __future__ import annotations

import copy
import math
import random
import re
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tailwork
from real_robots import urdf
from tailwork import Model
from tailwork.errors import FileError, TailworkError
from tailwork.robots import Imported, import_robot
from tailwork.robots.paths import robot_numbers

SEEDS = ("go2", "solo12", "b1_arm", "talos")
LONGEST = 5.0
"""No file may take longer than this [s]; each takes a few hundredths."""
BAD_NUMBERS = (
    "nan",
    "inf",
    "-inf",
    "1e400",
    "",
    "abc",
    "1,5",
    "0x10",
    "1_0",
    "${x}",
    "1 2",
    "-1",
    "0",
    "1e-320",
    "1e300",
)
BAD_WORDS = ("", "a", "base", "é", "x" * 3000, "torso", "name", "a.b", "../..", "fixed", "floating", "planar", "world")


@cache
def source(name: str) -> str:
    return urdf(name).read_text(encoding="utf-8")


# The same robot in other words


def names_of(root: ElementTree.Element, tag: str) -> list[str]:
    return [element.attrib["name"] for element in root.findall(tag)]


def in_other_words(root: ElementTree.Element, rng: np.random.Generator) -> tuple[dict[str, str], dict[str, str]]:
    """Turns the frames of all links but the root's, shuffles the elements, and gives links and joints other names,
    which it returns."""
    turned = {name: Rotation.random(rng=rng) for name in names_of(root, "link")}
    carried = {joint.find("child").attrib["link"] for joint in root.findall("joint")}  # type: ignore[union-attr]
    for name in turned.keys() - carried:
        turned[name] = Rotation.identity()

    def placed(element: ElementTree.Element, before: Rotation, after: Rotation) -> None:
        """origin → before⁻¹ · origin · after."""
        origin = element.find("origin")
        if origin is None:
            origin = ElementTree.SubElement(element, "origin")
        xyz, rpy = ([float(x) for x in origin.get(key, "0 0 0").split()] for key in ("xyz", "rpy"))
        turn = before.inv() * Rotation.from_euler("xyz", rpy) * after
        origin.set("xyz", " ".join(f"{x:.17g}" for x in before.inv().apply(xyz)))
        origin.set("rpy", " ".join(f"{x:.17g}" for x in turn.as_euler("xyz")))

    for link in root.findall("link"):
        for tag in ("inertial", "visual", "collision"):
            for element in link.findall(tag):
                placed(element, turned[link.attrib["name"]], Rotation.identity())
    for joint in root.findall("joint"):
        parent, child = (joint.find(end).attrib["link"] for end in ("parent", "child"))  # type: ignore[union-attr]
        placed(joint, turned[parent], turned[child])
        axis = joint.find("axis")
        if axis is not None:
            new = turned[child].inv().apply([float(x) for x in axis.attrib["xyz"].split()])
            axis.set("xyz", " ".join(f"{x:.17g}" for x in new))
    links = {name: f"l{k}" for k, name in enumerate(rng.permutation(names_of(root, "link")))}
    joints = {name: f"j{k}" for k, name in enumerate(rng.permutation(names_of(root, "joint")))}
    for element in root.iter():
        for key, words in (("link", links), ("joint", joints)):
            if key in element.attrib:
                element.set(key, words[element.attrib[key]])
        if element.tag in ("link", "joint") and "name" in element.attrib:
            element.set("name", (links if element.tag == "link" else joints).get(element.attrib["name"], "?"))
    elements = list(root)
    root[:] = [elements[k] for k in rng.permutation(len(elements))]
    return links, joints


def without_friction(found: Imported) -> Imported:
    dry = {path: 0.0 for path in robot_numbers(found.robot) if path.endswith(".friction") and ".joints." in path}
    return Imported(found.robot.replace(dry), found.notes, found.joints, found.meshes)


@pytest.mark.filterwarnings("ignore:Gimbal lock")  # of the angles of a right angle, which are still those of its turn
@pytest.mark.parametrize(("name", "seed"), [("go2", 0), ("go2", 1), ("anymal_b", 2)])
def test_names_order_and_frames_of_links_change_no_physics(name: str, seed: int, tmp_path: Path) -> None:
    """With all link frames turned at random, elements shuffled and everything renamed: the same accelerations, joint by
    joint, in the air and on its feet, and the same stance."""
    first = without_friction(import_robot(urdf(name)))
    rng = np.random.default_rng(seed)
    root = ElementTree.fromstring(source(name))
    for element in [*root.findall("gazebo"), *root.findall("transmission")]:
        root.remove(element)
    links, joints = in_other_words(root, rng)
    file = tmp_path / "other.urdf"
    file.write_text(ElementTree.tostring(root, encoding="unicode"), encoding="utf-8")
    from tailwork.robots.io.urdf import read_urdf

    posture = read_urdf(urdf(name)).postures["standing"]
    feet = [links[link] for link in names_of(ElementTree.fromstring(source(name)), "link") if "foot" in link.lower()]
    second = without_friction(
        import_robot(file, feet=feet, posture={joints[joint]: value for joint, value in posture.items()})
    )
    same = {first.joints[joint]: second.joints[joints[joint]] for joint in first.joints}
    limbs = {one.split(".")[0]: two.split(".")[0] for one, two in same.items()}
    np.testing.assert_allclose(second.robot.stand, first.robot.stand, rtol=0, atol=1e-14)
    for one, two in limbs.items():
        np.testing.assert_allclose(second.robot.feet()[two].place, first.robot.feet()[one].place, rtol=0, atol=1e-14)
    for stance in ("none", "all"):
        models = [Model(found.robot, stance) for found in (first, second)]
        base = [*models[0].coordinate_names[:6]]
        order = [models[1].coordinate_names.index(n if n in base else same[n]) for n in models[0].coordinate_names]
        efforts = [models[1].actuator_names.index(same[n]) for n in models[0].actuator_names]
        q = models[0].standing() + rng.uniform(-0.03, 0.03, len(order))
        v, tau = rng.normal(size=len(order)), rng.normal(size=len(efforts))
        other = [np.empty(len(x)) for x in (q, v, tau)]
        for values, mine, index in zip(other, (q, v, tau), (order, order, efforts), strict=True):
            values[index] = mine
        expected = models[0].forward_dynamics(q, v, tau)
        found = models[1].forward_dynamics(*other)[order]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


# Broken files

LINK = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1e-2" iyy="1e-2" izz="1e-2"/></inertial></link>'
JOINT = '<joint name="{0}{1}" type="{2}"><parent link="{0}"/><child link="{1}"/>{3}</joint>'
TWO = LINK.format("a") + LINK.format("b")
GOOD = TWO + JOINT.format("a", "b", "revolute", '<axis xyz="0 1 0"/>')
BOMB = "<!DOCTYPE l [" + "".join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 10}">' for k in range(9)) + "]><robot>&e9;</robot>"
BROKEN = {
    "an entity bomb": (BOMB, "DOCTYPE"),
    "an external entity": ('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot>&x;</robot>', "DOCTYPE"),
    "xacro": ('<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="m"/></robot>', "xacro FILE"),
    "a xacro number": (GOOD.replace('value="1"', 'value="${m}"', 1), "xacro"),
    "two roots": (TWO, "2 root links"),
    "no links": ("", "no links"),
    "a cycle": (GOOD + JOINT.format("b", "a", "fixed", ""), "no root link"),
    "a cycle beside the root": (
        GOOD
        + LINK.format("c")
        + LINK.format("d")
        + JOINT.format("c", "d", "fixed", "")
        + JOINT.format("d", "c", "fixed", ""),
        "circle",
    ),
    "two parents": (GOOD + JOINT.format("a", "b", "fixed", "").replace("ab", "other"), "two parents"),
    "two links alike": (GOOD + LINK.format("a"), "second link"),
    "two joints alike": (
        GOOD + LINK.format("c") + JOINT.format("b", "c", "fixed", "").replace('"bc"', '"ab"'),
        "second joint",
    ),
    "an unknown link": (TWO + JOINT.format("a", "bb", "revolute", ""), "did you mean 'b'"),
    "no mass at an end": (GOOD.replace(LINK.format("b"), '<link name="b"/>'), "carries nothing that has one"),
    "no mass of the base": (GOOD.replace(LINK.format("a"), '<link name="a"/>'), "mass of the base"),
    "mass missing in an inertial": (GOOD.replace('<mass value="1"/>', "", 1), "no <mass>"),
    "a negative mass": (GOOD.replace('value="1"', 'value="-1"'), "not negative"),
    "a negative inertia": (GOOD.replace('ixx="1e-2"', 'ixx="-1e-2"'), "moments of inertia"),
    "an inertia that no body has": (GOOD.replace('ixx="1e-2"', 'ixx="3e-2"'), "moments of inertia"),
    "NaN": (GOOD.replace('ixx="1e-2"', 'ixx="nan"', 1), "finite number"),
    "no axis": (GOOD.replace("0 1 0", "0 0 0"), "length 0"),
    "a ball joint": (GOOD.replace("revolute", "spherical"), "three continuous joints"),
    "a planar joint": (GOOD.replace("revolute", "planar"), "two prismatic joints"),
    "a joint that mimics itself": (GOOD.replace("<axis", '<mimic joint="ab"/><axis'), "in a circle"),
    "a joint that mimics nothing": (GOOD.replace("<axis", '<mimic joint="x"/><axis'), "joint to follow"),
    "a range upside down": (GOOD.replace("<axis", '<limit lower="1" upper="-1"/><axis'), "above upper"),
    "negative friction": (GOOD.replace("<axis", '<dynamics friction="-1"/><axis'), "friction is -1"),
    "deep nesting": ("<a>" * 3000 + "</a>" * 3000, "too deeply"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_wrong_is_said(what: str, tmp_path: Path) -> None:
    """With the line and what is required."""
    text, said = BROKEN[what]
    whole = text if "<robot" in text else f'<robot name="r">\n{text}</robot>'
    (tmp_path / "robot.urdf").write_text(whole, encoding="utf-8")
    with pytest.raises(TailworkError, match=said):
        tailwork.load(tmp_path / "robot.urdf", feet=[])


def test_what_is_no_xml(tmp_path: Path) -> None:
    """Not XML, an empty file, noise, a folder, nothing at all, too large."""
    file = tmp_path / "robot.urdf"
    for content in (
        b"",
        b"robot",
        b"\x00\xff" * 50,
        b"<robot><link></robot>",
        b'<?xml version="1.0" encoding="x"?><robot/>',
    ):
        file.write_bytes(content)
        with pytest.raises(FileError, match="not XML"):
            tailwork.load(file)
    (tmp_path / "folder.urdf").mkdir()
    with pytest.raises(FileError, match="directory"):
        tailwork.load(tmp_path / "folder.urdf")
    with pytest.raises(FileError, match="no such file"):
        tailwork.load(tmp_path / "none.urdf")


def test_sliders_gears_and_offsets(tmp_path: Path) -> None:
    """A joint that mimics another with an offset follows it by gears, from where the offset puts it; sliders slide."""
    text = GOOD + LINK.format("c") + LINK.format("d")
    text += JOINT.format(
        "b",
        "c",
        "continuous",
        '<origin xyz="0 0 1"/><axis xyz="0 1 0"/><mimic joint="ab" multiplier="-2" offset="0.5"/>',
    )
    text += JOINT.format(
        "c",
        "d",
        "prismatic",
        '<origin xyz="0 0 1"/><axis xyz="0 0 1"/><limit lower="0" upper=".2" effort="9" velocity="1"/>',
    )
    (tmp_path / "robot.urdf").write_text(f'<robot name="r">{text}</robot>', encoding="utf-8")
    robot = tailwork.load(tmp_path / "robot.urdf", feet=[])
    (limb,) = robot.limbs().values()
    assert limb.gearing == ((1.0, 0.0), (-2.0, 0.0), (0.0, 1.0)) and limb.joints[2].range == (0.0, 0.2)
    model = Model(robot, "none")
    assert model.layout.coordinate_units[6:] == ("rad", "m") and model.actuator_units == ("N m", "N")
    turn, slide = 0.3, 0.1
    place = model.points(np.array([0.0] * 6 + [turn, slide]))[model.point_names.index("b.cd")]
    tilt = turn + 0.5 - 2.0 * turn  # of the third body: the offset, and twice the turn the other way
    expected = [math.sin(turn) + (1 + slide) * math.sin(tilt), 0.0, math.cos(turn) + (1 + slide) * math.cos(tilt)]
    np.testing.assert_allclose(place, expected, atol=1e-15)


def mutated(text: str, rng: random.Random) -> str:
    """A URDF with some of its text, elements, numbers or names broken."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        text = rng.choice((_number, _number, _word, _word, _element, _element, _text))(text, rng)
    return text


def _number(text: str, rng: random.Random) -> str:
    """A number becomes another, or none."""
    found = list(re.finditer(r'(?<=[" ])-?\d[\d.eE+-]*(?=[" ])', text))
    if not found:
        return text
    at = rng.choice(found)
    other = rng.choice((*BAD_NUMBERS, str(-float(at[0])) if re.fullmatch(r"-?\d+\.?\d*", at[0]) else "1"))
    return text[: at.start()] + other + text[at.end() :]


def _word(text: str, rng: random.Random) -> str:
    """A name or a type becomes another."""
    found = list(re.finditer(r'(?<=(?:name|link|type|oint)=")[^"]*(?=")', text))
    if not found:
        return text
    at, other = rng.choice(found), rng.choice(found)
    return text[: at.start()] + rng.choice((*BAD_WORDS, other[0], other[0], other[0])) + text[at.end() :]


def _element(text: str, rng: random.Random) -> str:
    """An element goes, comes twice, or comes elsewhere."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return text
    parents = [element for element in root.iter() if len(element)]
    if not parents:
        return text
    parent = rng.choice(parents)
    child = rng.choice(list(parent))
    if rng.random() < 0.6:
        parent.remove(child)
    if rng.random() < 0.6:
        rng.choice(parents).append(copy.deepcopy(child))
    return ElementTree.tostring(root, encoding="unicode")


def _text(text: str, rng: random.Random) -> str:
    """A piece goes, comes twice, or is noise."""
    start = rng.randrange(len(text) or 1)
    stop = min(len(text), start + rng.choice((1, 3, 20, 200)))
    noise = "".join(rng.choice("<>\"'/&=; aé\x00\n") for _ in range(rng.randrange(6)))
    return text[:start] + rng.choice(("", text[start:stop] * 2, noise)) + text[stop:]


def mass_of_links(text: str) -> float:
    """All masses of a file, summed by another reader."""
    root = ElementTree.fromstring(text)
    return math.fsum(float(mass.attrib["value"]) for mass in root.findall("link/inertial/mass"))


def outcome(text: str, file: Path) -> str:
    """What becomes of a broken file: "read", or the kind of the error."""
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    start = time.perf_counter()
    try:
        robot = tailwork.load(file)
    except TailworkError as error:
        assert str(error) and len(str(error)) < 20_000, text
        return type(error).__name__
    finally:
        assert time.perf_counter() - start < LONGEST, text
    assert all(math.isfinite(value) for value in robot_numbers(robot).values())
    assert robot.mass() == pytest.approx(mass_of_links(text), rel=1e-12), text  # no mass is lost or repaired
    return "read"


def survey(count: int, seed: int) -> Counter[str]:
    """Outcomes of many broken files."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "broken.urdf"
        return Counter(outcome(mutated(source(SEEDS[k % len(SEEDS)]), rng), file) for k in range(count))


def test_broken_files_are_read_or_say_what_is_wrong() -> None:
    """300 of them; `python -m tests.robots.test_urdf_mutations 20000` tries more."""
    found = survey(300, 0)
    assert found["read"] > 60 and found["FileError"] > 50 and found["RobotError"] > 0


if __name__ == "__main__":
    begun = time.perf_counter()
    result = survey(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print(dict(result), f"{time.perf_counter() - begun:.0f} s")
