"""Legs of three hinges with a sideways offset: their closed form, for any axes, offsets and frames."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tailwork
from oracles.layout import relative, rotation
from oracles.pinocchio_oracle import PinocchioOracle
from oracles.states import random_state
from real_robots import urdf
from tailwork import Model
from tailwork.control.gait.foot_kinematics import foot_angles, foot_place
from tailwork.errors import ArgumentError, StateError
from tailwork.robots import Body, Foot, Joint, Limb, Motor, OffsetLeg, Robot, Torso, point_mass
from tailwork.robots.limb import FORWARD_FRAMES, as_matrix, as_vector, placed
from tailwork.simulation import FootNearHip, simulate


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.linalg.det(q)


def random_limb(rng: np.random.Generator, skew: float = 0.3) -> Limb:
    """Three hinges in random directions, the last two parallel or opposite, with random offsets and frames."""
    turns = [random_rotation(rng) for _ in range(3)]
    first, second = np.eye(3)[:2]
    while math.sqrt(1.0 - (first @ second) ** 2) < skew or np.abs(first @ second) < 1e-3:
        first, second = (v / np.linalg.norm(v) for v in rng.normal(size=(2, 3)))
    axes = (first, turns[1].T @ second, turns[2].T @ turns[1].T @ second * rng.choice([-1.0, 1.0]))
    names = ("a", "b", "c")
    joints = tuple(
        Joint(
            name=name, axis=as_vector(axis / np.linalg.norm(axis)), parent=None if k == 0 else names[k - 1],
            offset=as_vector(rng.uniform(-0.3, 0.3, 3)), rotation=as_matrix(turn),
            body=point_mass(1.0, (0.0, 0.1, 0.0)),
        )
        for k, (name, axis, turn) in enumerate(zip(names, axes, turns, strict=True))
    )  # fmt: skip
    return Limb(joints=joints, foot=Foot(joint="c", point=as_vector(rng.uniform(-0.3, 0.3, 3)), place=(0.0, 0.0, 0.0)))


def closed(leg: OffsetLeg) -> Limb:
    return leg.limbs("leg")["leg"]


@pytest.mark.measured("kinematics")
def test_forward_of_inverse_is_the_place_of_the_foot(measured: Callable[..., None]) -> None:
    """For 2,000 random legs and postures, all eight cases of signs, the closed form gives back the posture, and so the
    place of the foot, unless the leg is within 1 % of an end of its reach."""
    rng, signs, tried = np.random.default_rng(0), set(), 0
    for _ in range(2000):
        limb, angles = random_limb(rng), rng.uniform(-math.pi, math.pi, 3)
        leg = OffsetLeg.from_posture(limb, angles)
        form = closed(leg).closed_form
        assert form is not None
        foot = foot_place(limb, angles)
        place = as_vector(foot.tolist())
        folded, straight = form.reach()
        if form.clearance(place) < 0.01 or not folded + 0.01 < form.extension(place) < straight - 0.01:  # type: ignore[attr-defined]
            continue
        tried += 1
        signs.add((leg.side, leg.knee, form.sense))  # type: ignore[attr-defined]
        found = np.array([math.atan2(s, c) for c, s in form.angles(place)])
        assert np.abs(np.angle(np.exp(1j * (found - angles)))).max() < 1e-11
        apart = np.abs(foot_place(limb, found) - foot).max()
        measured("foot of a leg with an offset by its closed form, forward of inverse", apart, at_most=1e-14, unit="m")
    assert tried > 1500 and len(signs) == 8


def test_the_hip_ends_where_the_foot_is_level_with_it() -> None:
    """A foot nearer to the first axis than the offset has no posture: the clearance is zero there, the extension is a
    number, and the message says so; beyond it, clearance grows with the square root of the distance."""
    limb = simple_leg()
    leg = closed(OffsetLeg.from_posture(limb, (0.0, 0.8, -1.6)))
    form = leg.closed_form
    assert form is not None
    hip, offset = np.array(limb.joints[0].offset), limb.joints[1].offset[1]
    for beyond, clearance in ((-1e-3, 0.0), (1e-3, math.sqrt((offset + 1e-3) ** 2 - offset**2) / 0.426)):
        place = as_vector(hip + np.array([0.2, 0.0, -offset - beyond]))
        assert form.clearance(place) == pytest.approx(clearance, abs=1e-12)  # type: ignore[attr-defined]
        assert 0.4 < form.extension(place) < 0.6
    with pytest.raises(ArgumentError, match="too near to the axis of the hip"):
        foot_angles(leg, hip + np.array([0.2, 0.0, -offset + 1e-3]))


def test_a_run_ends_where_a_foot_comes_level_with_its_hip() -> None:
    """A torso that drops sideways, its legs without torques, stops at the clearance asked for; a state beyond says why
    it cannot be."""
    model = Model(by_hand("x"))
    q, v = model.standing(), np.zeros(6)
    v[:4] = (0.0, 0.0, -0.5, 3.0)
    run = simulate(model, (q, v), 1.0, events=(FootNearHip(clearance=0.3),))
    assert run.stopped is not None and "nearly level with its hip" in run.stopped.reason
    end = run.data["q"].values[-1]
    foot, form = model.robot.feet(), {name: limb.closed_form for name, limb in model.robot.limbs().items()}
    turn = rotation(end[3:6])
    left = [form[n].clearance(as_vector(turn.T @ (np.array(foot[n].place) - end[:3]))) for n in foot]  # type: ignore[union-attr]
    assert min(left) == pytest.approx(0.3, abs=1e-6)
    beyond = q.copy()
    beyond[:3] = (0.1, 0.05, 0.03)
    with pytest.raises(StateError, match="nearer to the axis of the first hinge"):
        model.forward_dynamics(beyond, np.zeros(6), np.zeros(12))


def simple_leg(turned: np.ndarray | None = None) -> Limb:
    """A leg written by hand, x forward: hip 0.1 m beside the axis, thigh and shank of 0.213 m."""
    shank = point_mass(0.2, (0.0, 0.0, -0.1))
    body = Body(mass=1.1, com=(0.01, -0.02, -0.03), inertia=(0.006, 0.0058, 0.001, 1e-4, -3e-4, 8e-4))
    limb = Limb(
        joints=(
            Joint(name="hip", axis=(1.0, 0.0, 0.0), offset=(0.19, 0.05, 0.0), body=dataclasses.replace(body, mass=0.7)),
            Joint(name="thigh", axis=(0.0, 1.0, 0.0), parent="hip", offset=(0.0, 0.1, 0.0), body=body, armature=0.01),
            Joint(name="shank", axis=(0.0, 1.0, 0.0), parent="thigh", offset=(0.0, 0.0, -0.213), body=shank),
        ),
        actuators=tuple(Motor(name=name, coordinate=name, limit=23.0) for name in ("hip", "thigh", "shank")),
        foot=Foot(joint="shank", point=(0.0, 0.0, -0.213), place=(0.19, 0.15, 0.02), radius=0.02),
    )  # fmt: skip
    return limb if turned is None else placed(limb, (0.0, 0.0, 0.0), as_matrix(turned))


def by_hand(forward: str) -> Robot:
    """A quadruped of such legs, mirrored left to right and front to back, on a torso that faces x or y."""
    torso = Torso(mass=7.0, com=(0.02, 0.0, -0.005), inertia=(0.03, 0.1, 0.11, 0.0, 0.0, 0.0))
    frame = np.array(FORWARD_FRAMES[forward]) @ np.array(FORWARD_FRAMES["x"]).T  # from x forward to `forward`
    parts = {}
    for name, along, across in (("FL", 1, 1), ("FR", 1, -1), ("RL", -1, 1), ("RR", -1, -1)):
        limb = simple_leg()

        def mirrored(v: tuple[float, ...], across: int = across) -> tuple[float, float, float]:
            return (v[0], v[1] * across, v[2])

        joints = []
        for k, joint in enumerate(limb.joints):
            assert joint.body is not None
            xx, yy, zz, xy, xz, yz = joint.body.inertia
            body = Body(
                mass=joint.body.mass, com=mirrored(joint.body.com), inertia=(xx, yy, zz, xy * across, xz, yz * across)
            )
            offset = mirrored(joint.offset)
            joints.append(
                dataclasses.replace(joint, body=body, offset=(along * offset[0], *offset[1:]) if k == 0 else offset)
            )
        foot = limb.foot
        assert foot is not None
        x, y, z = foot.place
        place = as_vector(frame @ np.array([along * x, across * y, z]))
        mirror = dataclasses.replace(limb, joints=tuple(joints), foot=dataclasses.replace(foot, place=place))
        parts[name] = OffsetLeg.from_posture(placed(mirror, (0.0, 0.0, 0.0), as_matrix(frame)), (0.0, 0.8, -1.6))
    return Robot(name="by hand", torso=torso, parts=parts, stand=(0.0, 0.0, 0.3), forward=forward)


@pytest.mark.parametrize("forward", ["x", "y"])
def test_a_leg_by_hand_stands_saves_and_loads(forward: str, tmp_path: Path) -> None:
    """Standing, its foot forces carry its weight, alike to the left and to the right; a file gives back an equal robot,
    and a change of a number needs no new posture."""
    robot = by_hand(forward)
    if forward == "x":
        model = Model(robot)
        q = model.standing()
        forces = model.foot_forces(q, np.zeros(6), model.static_torques(q)).reshape(4, 3)
        assert forces[:, 2].sum() == pytest.approx(robot.mass() * 9.81, rel=1e-12)
        assert forces[0::2, 2] == pytest.approx(forces[1::2, 2], rel=1e-9)
        longer = robot.replace({"FL.limb.joints.shank.offset.z": -0.22})
        assert longer.part("FL").knee == robot.part("FL").knee == -1.0
    robot.save(tmp_path / "robot.toml")
    assert tailwork.load(tmp_path / "robot.toml") == robot


@pytest.mark.measured("equations")
@pytest.mark.parametrize("name", ["go2", "anymal_b"])
def test_pinned_legs_beside_pinocchio(measured: Callable[..., None], name: str) -> None:
    """Accelerations and foot forces of real robots on four pinned feet, and on two, are those of a dense KKT solve."""
    robot = tailwork.load(urdf(name))
    legs = tuple(robot.limbs())
    for stance in (legs, legs[::3]):
        model, oracle, rng = Model(robot, stance), PinocchioOracle(robot, stance), np.random.default_rng(4)
        for _ in range(5):
            q, v, tau = random_state(robot, stance, rng)
            expected, feet = oracle.accelerations(q, v, tau)
            found = model.path(q, v, tau)
            apart = oracle.layout.difference(found.acceleration, expected)
            measured("accelerations of pinned real robots beside Pinocchio's matrices", apart, at_most=1e-11)
            measured("foot forces of pinned real robots", relative(found.foot_forces, feet), at_most=1e-11)


def test_what_is_no_such_leg_is_refused() -> None:
    """Axes that are not parallel, a first axis parallel to the second, two hinges, postures that decide nothing."""
    limb = simple_leg()
    hip, thigh, shank = limb.joints
    tilted = dataclasses.replace(shank, axis=(0.0, 0.8, 0.6))
    with pytest.raises(ArgumentError, match="parallel to that of thigh"):
        OffsetLeg(limb=dataclasses.replace(limb, joints=(hip, thigh, tilted)), side=-1.0, knee=-1.0)
    alike = dataclasses.replace(hip, axis=(0.0, 1.0, 0.0))
    with pytest.raises(ArgumentError, match="not parallel to that of hip"):
        OffsetLeg(limb=dataclasses.replace(limb, joints=(alike, thigh, shank)), side=-1.0, knee=-1.0)
    two = dataclasses.replace(
        limb, joints=(dataclasses.replace(thigh, parent=None), shank), coordinates=(), actuators=()
    )
    with pytest.raises(ArgumentError, match="three hinges in a row"):
        OffsetLeg.from_posture(two, (0.0, 0.0, 0.0))
    with pytest.raises(ArgumentError, match="bent knee"):
        OffsetLeg.from_posture(limb, (0.0, 0.4, 0.0))
    with pytest.raises(ArgumentError, match="level with the hip"):
        OffsetLeg.from_posture(limb, (0.0, math.pi / 2 - 0.5, 1.0))
    with pytest.raises(ArgumentError, match="1 or −1"):
        OffsetLeg(limb=limb, side=-1.0, knee=0.0)
