"""Tails that a robot's file brings along: they point, weigh and measure what the same tail of ours does."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from real_robots import urdf
from tailwork.control.tail_motion import TailMotion
from tailwork.errors import RobotError
from tailwork.robots import Robot, import_robot, load, pendulum
from tailwork.robots.tails.fit import with_named_tail
from tailwork.robots.tails.tail import Tail
from tailwork.studies import Scenario, measured, perform, perform_many, pitch, yaw
from tailwork.studies.compare.comparison import Plan, comparison_cases
from tailwork.studies.design.evaluate import Evaluator
from tailwork.studies.design.example import example_for
from tailwork.studies.design.files import study_from_text

LENGTH, MASS, MOUNT = 0.4, 0.5, (-0.25, 0.0, 0.02)
BAR = MASS * LENGTH**2 / 12.0
LINKS = f"""
<link name="tail_base"/>
<link name="tail_link"><inertial><origin xyz="{-LENGTH / 2} 0 0"/><mass value="{MASS}"/>
<inertia ixx="0" iyy="{BAR}" izz="{BAR}" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="tail_pitch_joint" type="revolute"><origin xyz="-0.25 0 0.02"/><parent link="base"/>
<child link="tail_base"/><axis xyz="AXIS"/><limit lower="-1.5" upper="1.5" effort="10" velocity="20"/></joint>
<joint name="tail_yaw_joint" type="revolute"><parent link="tail_base"/><child link="tail_link"/><axis xyz="0 0 1"/>
<limit lower="-1.5" upper="1.5" effort="10" velocity="20"/></joint>
"""
NAMES = ["yaw", "pitch", "roll", "peak_tail_torque", "tail_energy", "least_normal_force", "tail_mass", "tail_length"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A Go2 with a bar for a tail, on a joint about y and one about z: it faces x."""
    return with_tail(tmp_path, "0 1 0")


def with_tail(folder: Path, axis: str, more: str = "") -> Path:
    """The file of a Go2 with a tail whose first joint has an axis."""
    text = urdf("go2").read_text()
    (folder / "go2tail.urdf").write_text(text.replace("</robot>", f"{LINKS.replace('AXIS', axis)}{more}</robot>"))
    return folder / "go2tail.urdf"


def ours(robot: Robot) -> Robot:
    """The same robot with the same tail as tailwork describes it."""
    return robot.with_tail(pendulum(length=LENGTH, mass=MASS), MOUNT)


def test_a_tail_in_a_urdf_points_as_ours_does(file: Path) -> None:
    """The same coordinates for every direction, up to the sense of an axis; the same gains, mass and length."""
    robot = load(file)
    tail: Tail = robot.part("tail")
    bar: Tail = ours(robot).part("tail")
    for alpha, theta in ((0.0, 0.5), (-math.pi / 2.0, 0.7), (2.0, 1.1)):
        found, expected = tail.coordinates(alpha, theta), bar.coordinates(alpha, theta)
        np.testing.assert_allclose([-found["pitch"], found["yaw"]], list(expected.values()), atol=1e-12)
    assert tail.inertia_about_mount() == pytest.approx(bar.inertia_about_mount(), rel=1e-14)
    assert tail.total_mass() == pytest.approx(MASS, rel=1e-15)
    assert tail.total_length() == pytest.approx(LENGTH, rel=1e-15)


@pytest.mark.parametrize("motion", [yaw(40), pitch(20)], ids=["yaw", "pitch"])
def test_it_does_what_ours_does(file: Path, motion: TailMotion) -> None:
    """Imposed and by its own motors, the torso answers alike, for the same torque and work."""
    robot = load(file)
    for drive in ("prescribed", "motors"):
        own, other = (Scenario(r, motion, "joint", drive, kp=60.0, kd=3.0) for r in (robot, ours(robot)))
        found, expected = (measured(perform(s, samples=31), s, NAMES) for s in (own, other))
        for name in NAMES:
            assert found[name] == pytest.approx(expected[name], rel=1e-6, abs=1e-7), name


def test_it_is_compared_swept_and_designed(file: Path, tmp_path: Path) -> None:
    """With other tails of its mass and length; its mass and length are varied like ours, alone and side by side; the
    example of a design suits it. All of that after it is written as TOML, too."""
    load(file).save(tmp_path / "go2tail.toml")
    robot = load(tmp_path / "go2tail.toml")
    assert robot == load(file)
    other = with_named_tail(robot, "r3").part("tail")
    assert (other.total_mass(), other.total_length()) == pytest.approx((MASS, LENGTH), rel=1e-12)
    chosen, _ = comparison_cases(Plan({"own": robot, "r3": with_named_tail(robot, "r3")}, (yaw(40),), {}, "joint"))
    assert [case.tail for case in chosen] == ["own", "r3"]
    changes = {"tail.total_mass": [0.3, 0.6], "tail.total_length": [0.5, 0.4]}
    own, bars = (
        perform_many(Scenario(r, yaw(40), "joint"), changes, measures=NAMES).measures for r in (robot, ours(robot))
    )
    for name in NAMES:
        np.testing.assert_allclose(own[name], bars[name], rtol=1e-5, atol=1e-7, err_msg=name)
    text = example_for(robot, {"file": str(file)})
    study = study_from_text(text, tmp_path / "problem.toml")
    bounds = {variable.name: (variable.low, variable.high) for variable in study.variables}
    assert bounds["tail.total_length"] == pytest.approx((0.4 * LENGTH, 1.7 * LENGTH))
    assert all(low < high for low, high in bounds.values())
    assert "peak_tail_torque = { most = 2.5 }" in text
    Evaluator(study)


def test_its_end_is_known_by_a_name_or_by_shapes(tmp_path: Path) -> None:
    """A frame that is called a tip; else what its shapes reach; else a bar of its mass and inertia. A note says it."""
    tip = '<link name="tail_tip"/><joint name="tail_tip_joint" type="fixed"><origin xyz="-0.45 0 0.01"/>'
    tip += '<parent link="tail_link"/><child link="tail_tip"/></joint>'
    found = import_robot(with_tail(tmp_path, "0 1 0", tip))
    assert found.robot.part("tail").limb.tip.point == (-0.45, 0.0, 0.01)
    assert any(note.endswith("at tail_tip") for note in found.notes)
    shape = '<origin xyz="-0.25 0 0"/><geometry><box size="0.5 0.04 0.04"/></geometry>'
    file = with_tail(tmp_path, "0 1 0")
    file.write_text(file.read_text().replace("</inertial></link>\n<joint name=\"tail_pitch",
                    f"</inertial><collision>{shape}</collision></link>\n<joint name=\"tail_pitch"))  # fmt: skip
    found = import_robot(file)
    assert found.robot.part("tail").total_length() == pytest.approx(0.5, rel=1e-12)
    assert any("0.5 m from its last joint, as far as its frames and shapes reach" in note for note in found.notes)


def test_a_tail_that_rolls_instead_of_pitching(tmp_path: Path) -> None:
    """Its joints cannot carry the centre of mass both ways from straight behind: refused, with what is needed."""
    robot = load(with_tail(tmp_path, "1 0 0"))
    with pytest.raises(RobotError, match="pitch it, about the axis across the robot, and others that yaw it"):
        Scenario(robot, yaw(40), "joint").problem()


def test_ours_read_back_from_mjcf(tmp_path: Path) -> None:
    """A pendulum in an MJCF of ours has its length and does the same."""
    robot = load(urdf("go2")).with_tail("pendulum")
    robot.export(tmp_path / "s.xml")
    back = load(tmp_path / "s.xml")
    assert back.part("tail").total_length() == pytest.approx(robot.part("tail").total_length(), rel=1e-12)
    found, expected = (measured(perform(s, samples=31), s, NAMES) for s in (Scenario(r, yaw(40), "joint")
                                                                           for r in (back, robot)))  # fmt: skip
    for name in NAMES:
        assert found[name] == pytest.approx(expected[name], rel=1e-5, abs=1e-7), name


def test_wheels_have_no_length_in_the_example() -> None:
    """What a tail does not have stays a comment, and so does a limit that follows from it."""
    robot = load(urdf("go2")).with_tail("reaction_wheel")
    text = example_for(robot, {"preset": "go2", "tail": "reaction_wheel"})
    assert '\n# "tail.total_length"' in text and "\n# peak_tail_torque" in text and '\n"tail.total_mass"' in text
