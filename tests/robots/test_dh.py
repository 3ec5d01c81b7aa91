"""Denavit–Hartenberg tables: the limb that a table becomes, against the transforms straight from the table."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tailwork
from oracles.layout import Array, relative
from tailwork.errors import ArgumentError, StateError, UnknownNameError
from tailwork.mechanics import inverse, kinematics, observe
from tailwork.mechanics.forward import Inputs
from tailwork.mechanics.layout import Layout, make_layout
from tailwork.model import Model
from tailwork.papers.spatial import rotation_x, rotation_y, rotation_z, tensor
from tailwork.robots import Body, DhChain, DhRow, Joint, PlateTorso, Robot, dh_frames, dh_transform
from tailwork.robots.limb import IDENTITY
from tailwork.robots.paths import robot_numbers, structure

QUARTER = math.pi / 2
FIRST = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # central differences of order 8


def robot_with(chain: DhChain) -> Robot:
    return Robot(name="arm", torso=PlateTorso(mass=5.0, width=0.2, length=0.3), parts={"arm": chain}, gravity=9.8)


def held(chain: DhChain) -> Layout:
    """The chain on a torso that does not move."""
    return make_layout(robot_with(chain), "none", (), "fixed", "rpy", ())


def at(point: Array, frame: Array) -> Array:
    """A point of a frame, where that frame is placed."""
    return frame[:3, :3] @ np.asarray(point) + frame[:3, 3]


lengths = st.one_of(st.just(0.0), st.floats(-1.0, 1.0))
angles = st.one_of(st.integers(-4, 4).map(lambda k: k * QUARTER), st.floats(-3.0, 3.0))
moments = st.tuples(*[st.floats(0.1, 1.0)] * 3)


@st.composite
def bodies(draw: st.DrawFn) -> Body:
    """A body with its centre of mass and its principal axes anywhere."""
    spread, (x, y, z) = np.array(draw(moments)), draw(st.tuples(*[st.floats(-3.0, 3.0)] * 3))
    turn = rotation_z(z) @ rotation_y(y) @ rotation_x(x)
    i = turn @ np.diag(spread.sum() - spread) @ turn.T
    inertia = (i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
    return Body(mass=draw(st.floats(0.1, 2.0)), com=draw(st.tuples(lengths, lengths, lengths)), inertia=inertia)


@st.composite
def chains(draw: st.DrawFn, *, fixed: bool = True) -> DhChain:
    """A table of one to five hinges, each with a body, with rows that do not move in between if `fixed`."""
    rows: list[DhRow] = []
    for _ in range(draw(st.integers(1, 5))):
        size = {"alpha": draw(angles), "a": draw(lengths), "d": draw(lengths), "theta": draw(angles)}
        rows.append(DhRow(**size, body=draw(bodies())))
        if fixed and draw(st.booleans()):
            rows.insert(draw(st.integers(0, len(rows))), DhRow(**size, moving="none"))
    x, y, z = draw(st.tuples(angles, angles, angles))
    return DhChain(
        convention=draw(st.sampled_from(["classic", "modified"])),
        rows=tuple(rows),
        mount=draw(st.tuples(lengths, lengths, lengths)),
        rotation=(rotation_z(z) @ rotation_y(y) @ rotation_x(x)).tolist(),
    )


def postures(chain: DhChain) -> st.SearchStrategy[Array]:
    count = len(chain.limb().joints)
    return st.lists(st.floats(-3.0, 3.0), min_size=count, max_size=count).map(np.array)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_joints_bodies_and_end_are_where_the_table_puts_them(data: st.DataObject) -> None:
    """Every hinge on its axis, every body in its D-H frame, the tip in the last origin: by the engine and by 4×4s."""
    chain = data.draw(chains())
    q = data.draw(postures(chain))
    layout, frames = held(chain), dh_frames(chain, q)
    points = np.array(kinematics.points(layout, q), dtype=float).reshape(-1, 3)
    assert [name.split(".")[-1] for name in kinematics.point_names(layout)][-1] == "tip"
    moving = [(row, frame) for row, frame in zip(chain.rows, frames[1:], strict=True) if row.moving == "theta"]
    back = {"modified": 0.0, "classic": 1.0}[chain.convention]
    hinges = [at(np.array([-row.a * back, 0.0, 0.0]), frame) for row, frame in moving]
    assert np.abs(points[1:] - [*hinges, frames[-1][:3, 3]]).max() < 1e-13
    masses = [row.body.mass for row, _ in moving]
    center = np.average([at(row.body.com, frame) for row, frame in moving], axis=0, weights=masses)
    assert np.abs(np.array(observe.center_of_mass(layout, q), dtype=float) - center).max() < 1e-13


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_kinetic_energy_is_that_of_bodies_in_the_frames_of_the_table(data: st.DataObject) -> None:
    """Velocities of the frames by differences of the transforms: inertias are turned as the frames are."""
    chain = data.draw(chains())
    q, v = data.draw(postures(chain)), data.draw(postures(chain))
    here, step = dh_frames(chain, q), 1e-2
    rates = sum(w * (dh_frames(chain, q + k * step * v) - dh_frames(chain, q - k * step * v)) for k, w in FIRST.items())
    energy = 0.0
    for row, frame, rate in zip(chain.rows, here[1:], rates[1:] / step, strict=True):
        if row.moving == "theta":
            spin = frame[:3, :3].T @ rate[:3, :3]
            omega, velocity = np.array([spin[2, 1], spin[0, 2], spin[1, 0]]), at(row.body.com, rate)
            energy += 0.5 * (row.body.mass * velocity @ velocity + omega @ tensor(row.body.inertia) @ omega)
    found = observe.energy(held(chain), q, v)[0]
    assert abs(found - energy) < 1e-9 * max(energy, 1.0)


def as_modified(classic: DhChain) -> DhChain:
    """The modified table of the same mechanism: each twist and length a row later, and a last row without a joint."""
    rows, alpha, a = [], 0.0, 0.0
    for row in classic.rows:
        body = row.body
        if body is not None:
            turn = rotation_x(row.alpha)
            i = turn @ tensor(body.inertia) @ turn.T
            inertia = (i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
            com = turn @ np.array(body.com) + np.array([row.a, 0.0, 0.0])
            body = Body(mass=body.mass, com=tuple(com), inertia=inertia)
        rows.append(DhRow(alpha=alpha, a=a, d=row.d, theta=row.theta, body=body, bar_mass=row.bar_mass))
        alpha, a = row.alpha, row.a
    rows.append(DhRow(alpha=alpha, a=a, moving="none"))
    return DhChain(convention="modified", rows=tuple(rows), mount=classic.mount, rotation=classic.rotation)


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_classic_and_modified_tables_of_one_mechanism_are_one_limb(data: st.DataObject) -> None:
    """Same end, same hinges, same mass matrix, same torques of velocities and gravity."""
    found = data.draw(chains(fixed=False))
    classic = DhChain(convention="classic", rows=found.rows, mount=found.mount, rotation=found.rotation)
    modified, q = as_modified(classic), data.draw(postures(found))
    assert np.abs(dh_frames(classic, q)[-1] - dh_frames(modified, q)[-1]).max() < 1e-13
    first, second = held(classic), held(modified)
    places = [np.array(kinematics.points(layout, q), dtype=float) for layout in (first, second)]
    assert np.abs(places[0] - places[1]).max() < 1e-13
    masses = [inverse.mass_matrix(layout, q).astype(float) for layout in (first, second)]
    assert relative(masses[0], masses[1]) < 1e-13
    rates, still = data.draw(postures(found)), [0.0] * len(q)
    needs = [
        np.array(inverse.generalised_force(layout, Inputs(list(q), list(rates), [], [], []), still), dtype=float)
        for layout in (first, second)
    ]
    assert np.abs(needs[0] - needs[1]).max() < 1e-13 * max(1.0, np.abs(needs[0]).max(), np.abs(masses[0]).max() * 9.0)


def test_bars_lead_from_hinge_to_hinge_in_both_conventions() -> None:
    """An ideal bar has its centre midway between its ends, and inertia across itself only."""
    rows = (
        DhRow(alpha=QUARTER, a=0.1, d=0.2, bar_mass=0.3),
        DhRow(alpha=-0.4, a=0.3, d=-0.1, theta=0.7, bar_mass=0.5),
        DhRow(alpha=0.3, a=0.2, d=0.15, bar_mass=0.2),
    )
    classic = DhChain(convention="classic", rows=rows, mount=(0.01, 0.02, 0.03))
    q = np.array([0.3, -0.8, 1.1])
    for chain in (classic, as_modified(classic)):
        limb = chain.limb()
        ends = [*(joint.offset for joint in limb.joints[1:]), limb.tip.point]
        for joint, far, mass in zip(limb.joints, ends, (0.3, 0.5, 0.2), strict=True):
            far = np.array(far)
            assert np.abs(np.array(joint.body.com) - far / 2).max() < 1e-15
            across = mass / 12 * (far @ far * np.eye(3) - np.outer(far, far))
            assert joint.body.mass == mass and np.abs(tensor(joint.body.inertia) - across).max() < 1e-16
    masses = [inverse.mass_matrix(held(chain), q).astype(float) for chain in (classic, as_modified(classic))]
    assert relative(masses[0], masses[1]) < 1e-14
    rotor = DhChain(convention="classic", rows=(*rows[:2], DhRow(a=0.2, bar_mass=0.2, armature=0.01)))
    plain = DhChain(convention="classic", rows=(*rows[:2], DhRow(a=0.2, bar_mass=0.2)))
    added = inverse.mass_matrix(held(rotor), q) - inverse.mass_matrix(held(plain), q)
    assert np.abs(added.astype(float) - np.diag([0.0, 0.0, 0.01])).max() < 1e-16


@pytest.mark.measured("kinematics")
def test_the_transforms_are_those_of_the_books(measured: Callable[..., None]) -> None:
    """Both matrices written out, as Craig and as Denavit & Hartenberg have them."""
    alpha, a, d, theta = 0.3, 0.2, -0.4, 1.1
    ca, sa, ct, st_ = math.cos(alpha), math.sin(alpha), math.cos(theta), math.sin(theta)
    classic = [
        [ct, -st_ * ca, st_ * sa, a * ct], [st_, ct * ca, -ct * sa, a * st_], [0, sa, ca, d], [0, 0, 0, 1]
    ]  # fmt: skip
    modified = [
        [ct, -st_, 0, a], [st_ * ca, ct * ca, -sa, -sa * d], [st_ * sa, ct * sa, ca, ca * d], [0, 0, 0, 1]
    ]  # fmt: skip
    for name, matrix in (("classic", classic), ("modified", modified)):
        apart = np.abs(dh_transform(alpha, a, d, theta, name) - matrix).max()
        measured("D-H transforms beside the matrices of the books", apart, at_most=1e-15)


# Structure and numbers

LINK = Body(mass=0.4, com=(-0.1, 0.02, 0.03), inertia=(2e-3, 3e-3, 4e-3, 1e-4, 2e-4, 3e-4))
ARM = DhChain(
    convention="classic",
    rows=(
        DhRow(name="yaw", alpha=-QUARTER, d=0.1, body=LINK),
        DhRow(a=0.2, theta=-QUARTER, body=LINK, armature=1e-3),
        DhRow(alpha=QUARTER, a=0.05, moving="none"),
        DhRow(name="wrist", a=0.1, d=0.02, bar_mass=0.2),
    ),
    mount=(0.0, 0.1, 0.2),
    rotation=((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)),
    torque_limit=3.0,
)


def test_lengths_are_numbers_and_angles_are_structure() -> None:
    robot = robot_with(ARM)
    paths = set(robot_numbers(robot))
    assert {"arm.rows.yaw.d", "arm.rows.2.a", "arm.rows.2.body.mass", "arm.rows.3.a", "arm.mount.z"} <= paths
    assert {"arm.rows.wrist.bar_mass", "arm.rows.2.armature", "arm.torque_limit"} <= paths
    assert not [path for path in paths if "alpha" in path or "theta" in path or "rotation" in path]
    longer = robot.replace({"arm.rows.2.a": 0.25, "arm.rows.wrist.d": 0.03})
    assert structure(longer.parts) == structure(robot.parts)
    assert longer.limbs()["arm"].joints[2].offset != robot.limbs()["arm"].joints[2].offset
    assert structure(robot.replace({"arm.rows.2.alpha": 0.1}).parts) != structure(robot.parts)


def test_quarter_turns_leave_exact_zeros() -> None:
    """Every entry of a rotation by quarter turns is 0 or ±1, whatever the last digit of the angle."""
    for k in range(-9, 10):
        rows = (DhRow(alpha=k * QUARTER, theta=math.nextafter(k * QUARTER, 9.0), a=0.1, d=0.2, bar_mass=1.0),)
        (joint,) = DhChain(convention="modified", rows=rows).limb().joints
        assert {abs(x) for row in joint.rotation for x in row} == {0.0, 1.0}
        exact = dh_transform(rows[0].alpha, 0.1, 0.2, rows[0].theta, "modified")
        assert np.abs(np.array(joint.rotation) - exact[:3, :3]).max() < 1e-14
    (joint,) = DhChain(convention="modified", rows=(DhRow(alpha=1e-9, bar_mass=1.0, a=1.0),)).limb().joints
    assert joint.rotation != IDENTITY


def test_a_compiled_chain_is_the_chain() -> None:
    """Lengths, offsets and bodies as inputs of kernels give what they give as numbers; so does a changed length."""
    q = np.array([0.4, -0.7, 1.3])
    for robot in (robot_with(ARM), robot_with(ARM).replace({"arm.rows.2.a": 0.3, "arm.rows.yaw.body.com.x": 0.05})):
        model = Model(robot, "none", torso="fixed")
        assert model.coordinate_names == ("arm.yaw", "arm.theta2", "arm.wrist")
        assert model.actuator_names == model.coordinate_names
        expected = inverse.mass_matrix(model.layout, list(q)).astype(float)
        assert relative(model.mass_matrix(q), expected) < 1e-14
    assert "arm.rows.3.a" in model.parameter_names and "arm.rows.yaw.body.inertia.xy" in model.parameter_names


# Files


def test_round_trip(tmp_path: Path) -> None:
    foot = DhChain(convention="modified", rows=ARM.rows, end="foot", foot=(0.1, 1 / 3, 0.0))
    robot = robot_with(ARM).with_part("leg", foot)
    robot.save(tmp_path / "robot.toml")
    read = tailwork.load(tmp_path / "robot.toml")
    assert read == robot and repr(read.parts) == repr(robot.parts)
    assert read.limbs()["leg"].foot.place == (0.1, 1 / 3, 0.0) and read.limbs()["leg"].tip is None


FILE = """
name = "arm"
[torso]
kind = "plate"
mass = 5.0
width = 0.2
length = 0.3
[arm]
kind = "dh_chain"
convention = "modified"
mount = [0.0, 0.1, 0.2]
[[arm.rows]]
bar_mass = 0.1
[[arm.rows]]
alpha = 1.5707963267948966
a = 0.07
[arm.rows.body]
mass = 0.15
com = [0.05, 0.0, 0.0]
[[arm.rows]]
a = 0.1
moving = "none"
"""


def test_a_table_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "arm.toml").write_text(FILE, encoding="utf-8")
    expected = DhChain(
        convention="modified",
        rows=(
            DhRow(bar_mass=0.1),
            DhRow(alpha=QUARTER, a=0.07, body=Body(mass=0.15, com=(0.05, 0.0, 0.0))),
            DhRow(a=0.1, moving="none"),
        ),
        mount=(0.0, 0.1, 0.2),
    )
    assert tailwork.load(tmp_path / "arm.toml").part("arm") == expected


@pytest.mark.parametrize(
    ("old", "new", "error", "path", "message"),
    [
        ('moving = "none"', 'moving = "d"', ArgumentError, "arm.rows.3.moving", "a sliding joint"),
        ('convention = "modified"\n', "", ArgumentError, "arm.convention", "got nothing"),
        ("a = 0.07", 'a = "7 cm"', ArgumentError, "arm.rows.2.a", "a plain number in m"),
        ("a = 0.07", "r = 0.07", UnknownNameError, "arm.rows.2.r", "known field"),
        ("alpha = 1.5707963267948966", "alpha = nan", ArgumentError, "arm.rows.2.alpha", "a finite number"),
    ],
)
def test_files_that_are_no_tables(
    tmp_path: Path, old: str, new: str, error: type[ArgumentError], path: str, message: str
) -> None:
    assert old in FILE
    (tmp_path / "arm.toml").write_text(FILE.replace(old, new), encoding="utf-8")
    with pytest.raises(error, match=message) as caught:
        tailwork.load(tmp_path / "arm.toml")
    assert caught.value.path == path


# What is refused

BAR = DhRow(a=0.1, bar_mass=1.0)


@pytest.mark.parametrize(
    ("fields", "path", "message"),
    [
        ({"moving": "d"}, "moving", "all joints are hinges"),
        ({"moving": "prismatic"}, "moving", "'theta' for a hinge, 'none' for a row without a joint"),
        ({"moving": "none", "bar_mass": 1.0}, "moving", "no body, bar_mass or armature on a row that does not move"),
        ({"moving": "none", "body": LINK}, "moving", "give them to the last row that does"),
        ({"moving": "none", "armature": 1.0}, "moving", "does not move"),
        ({"body": LINK, "bar_mass": 1.0}, "bar_mass", "0 where a body is given"),
        ({"bar_mass": -1.0}, "bar_mass", "not negative"),
        ({"alpha": math.inf}, "alpha", "a finite number"),
        ({"name": "a.b"}, "name", "has no dot"),
        ({"name": "2"}, "name", "a name that is no number"),
    ],
)
def test_rows_that_are_refused(fields: dict[str, Any], path: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message) as caught:
        DhRow(**fields)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("fields", "path", "message"),
    [
        ({"convention": "craig"}, "convention", "'classic' .* or 'modified'"),
        ({"rows": ()}, "rows", "at least one row that moves"),
        ({"rows": (DhRow(moving="none"),)}, "rows", "at least one row that moves"),
        ({"rows": (BAR, DhRow())}, "rows.2.body", "a body or a bar_mass on the last row that moves"),
        ({"rows": (BAR, DhRow(name="end"))}, "rows.end.body", "a body or a bar_mass"),
        ({"rows": (BAR, DhRow(name="theta1", bar_mass=1.0))}, "rows.2.name", "a name that no other row has"),
        ({"rows": (BAR,) * 257}, "rows", "at most 256 rows"),
        ({"rows": (BAR, Joint(name="a", axis=(0, 0, 1)))}, "rows.a", "a DhRow"),
        ({"end": "hand"}, "end", "'tip' or 'foot'"),
        ({"rotation": ((1, 0, 0), (0, 1, 0), (0, 0, -1))}, "rotation", "not a reflection"),
        ({"rotation": ((1, 0, 0), (0, 2, 0), (0, 0, 1))}, "rotation", "orthonormal"),
    ],
)
def test_chains_that_are_refused(fields: dict[str, Any], path: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message) as caught:
        DhChain(**{"convention": "classic", "rows": (BAR,)} | fields)
    assert caught.value.path == path


def test_a_foot_of_a_chain_swings_or_rides_in_the_configuration() -> None:
    """There is no closed form of its joint angles; of fewer than three hinges it cannot be pinned."""
    robot = robot_with(DhChain(convention="classic", rows=(BAR, BAR, BAR), end="foot"))
    assert make_layout(robot, "none", (), "free", "rpy", ()).legs == ("arm",)
    assert make_layout(robot, "all", (), "free", "rpy", ()).stance == ("arm",)
    with pytest.raises(ArgumentError, match="at least three hinges"):
        short = robot_with(DhChain(convention="classic", rows=(BAR, BAR), end="foot"))
        make_layout(short, "all", (), "free", "rpy", ())


def test_postures_of_another_length_are_refused() -> None:
    with pytest.raises(StateError, match=r"required: \(3,\)"):
        dh_frames(ARM, [0.0, 0.0])
    with pytest.raises(ArgumentError, match="'classic'"):
        dh_transform(0.0, 0.0, 0.0, 0.0, "Classic")
