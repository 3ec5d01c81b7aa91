"""Robots that have shapes are drawn with them: on their frames, in pictures, in the player and in the lab."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from real_robots import urdf
from tailwork.lab.meshes import mesh_of
from tailwork.model import Model
from tailwork.robots import Body, FreeLimb, Joint, Limb, Robot, Shape, Torso, liu2020, load
from tailwork.simulation import simulate
from tailwork.view.draw.camera import camera as camera_of
from tailwork.view.draw.solids import drawn_parts, patches
from tailwork.view.draw.style import LIGHT
from tailwork.view.player import playback_page
from tailwork.view.scene import Ball, Bar, Box, Scene, Surface, scene_of
from tailwork.view.scene.sample import samples_at
from tailwork.view.scene.shapes import as_seen, drawn

TURN = tuple(map(tuple, Rotation.from_euler("xyz", (0.4, -0.3, 0.8)).as_matrix().tolist()))
PLACE = (0.1, -0.2, 0.3)
CORNERS = ((0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.4))
SHAPES = {
    "box": Shape(kind="box", size=(0.2, 0.1, 0.3), place=PLACE, rotation=TURN, color=(1.0, 0.5, 0.0)),
    "sphere": Shape(kind="sphere", size=(0.05,), place=PLACE, rotation=TURN),
    "cylinder": Shape(kind="cylinder", size=(0.04, 0.2), place=PLACE, rotation=TURN),
    "capsule": Shape(kind="capsule", size=(0.04, 0.2), place=PLACE, rotation=TURN),
    "mesh": Shape(kind="mesh", vertices=CORNERS, faces=((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)), place=PLACE,
                  rotation=TURN),
}  # fmt: skip
VOLUMES = {
    "box": 0.2 * 0.1 * 0.3, "sphere": 4 / 3 * np.pi * 0.05**3, "cylinder": np.pi * 0.04**2 * 0.2,
    "capsule": np.pi * 0.04**2 * 0.2 + 4 / 3 * np.pi * 0.04**3, "mesh": 0.2 * 0.3 * 0.4 / 6,
}  # fmt: skip
MIDDLES = {"mesh": np.array(PLACE) + np.array(TURN) @ np.array([0.05, 0.075, 0.1])}


@pytest.mark.parametrize("kind", SHAPES)
def test_every_kind_of_shape_is_where_its_body_has_it(kind: str) -> None:
    """Its surface, as the lab draws it, encloses the volume and has the middle of the shape, turned as it is."""
    corners, triangles = mesh_of(as_seen(SHAPES[kind]))
    a, b, c = np.swapaxes(corners[triangles], 0, 1)
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    assert volumes.sum() == pytest.approx(VOLUMES[kind], rel=0.05)  # round ones have 20 corners
    middle = (volumes[:, None] * (a + b + c) / 4.0).sum(axis=0) / volumes.sum()
    np.testing.assert_allclose(middle, MIDDLES.get(kind, PLACE), atol=1e-12)


@cache
def shaped_scene() -> Scene:
    """A robot of a torso and an arm, each with shapes of every kind, as a scene."""
    inertia, shapes = (0.01, 0.01, 0.01, 0.0, 0.0, 0.0), tuple(SHAPES.values())
    body = Body(mass=0.5, com=(0.0, 0.0, -0.1), inertia=inertia, shapes=shapes)
    limb = Limb(joints=(Joint(name="arm", axis=(1.0, 0.0, 0.0), offset=(0.2, 0.0, 0.0), body=body),))
    torso = Torso(mass=2.0, inertia=inertia, shapes=shapes)
    robot = Robot(name="shaped", torso=torso, parts={"arm": FreeLimb(limb=limb)}, stand=(0.0, 0.0, 1.0))
    model = Model(robot, "none")
    return scene_of(simulate(model, (model.standing(), np.full(7, 0.5)), 0.05, samples=3))


def test_a_scene_has_the_shapes_of_the_bodies() -> None:
    """Torso and arm are drawn by their shapes alone; colours are their own, or those of the part."""
    scene = shaped_scene()
    kinds = [Box, Ball, Bar, Bar, Surface]
    assert [type(solid.shape) for solid in scene.solids] == kinds * 2
    assert [solid.frame for solid in scene.solids] == [0] * 5 + [1] * 5
    assert [solid.role for solid in scene.solids] == ["torso"] * 5 + ["tail"] * 5
    assert scene.solids[0].color == scene.solids[5].color == "#db8000" and scene.solids[6].color == scene.color
    lower, upper = scene.extent()
    assert (upper - lower).max() >= scene.size > 0.3


def test_pictures_show_boxes_that_are_turned_and_meshes() -> None:
    """Of a box at an angle three sides are seen; of a mesh the triangles that face the eye: their areas on the sheet
    are those of the outline from both sides."""
    scene = shaped_scene()
    camera = camera_of("three-quarter", "y")
    only = replace(scene, solids=tuple(s for s in scene.solids[:5] if isinstance(s.shape, (Box, Surface))))
    painted = patches(drawn_parts(only, LIGHT), samples_at(only, [0.0])[0], camera, LIGHT)
    x, y = np.moveaxis(painted.outlines, -1, 0)
    areas = 0.5 * np.abs((x[:, :-1] * y[:, 1:] - x[:, 1:] * y[:, :-1]).sum(axis=1))
    turn = scene.frames[0].rotations()[0] @ np.array(TURN)
    sizes = np.array([0.1 * 0.3, 0.2 * 0.3, 0.2 * 0.1])
    box = float(sizes @ np.abs(camera.toward @ turn))
    corners = np.array(CORNERS) @ turn.T
    triangles = corners[np.array(SHAPES["mesh"].faces)]
    seen = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]) @ camera.toward / 2.0
    assert areas.sum() == pytest.approx(box + seen[seen > 0].sum(), rel=1e-9)
    assert len(areas) == 3 + (seen > 0).sum()


def test_the_player_gets_all_shapes() -> None:
    """Boxes with their axes, meshes as numbers in base 64."""
    html = playback_page([shaped_scene()])
    found = re.search(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    shapes = [solid["shape"] for solid in data["scenes"][0]["solids"]]
    assert [shape["kind"] for shape in shapes] == ["box", "ball", "bar", "bar", "surface"] * 2
    np.testing.assert_allclose(np.array(shapes[0]["axes"]).T, TURN)
    floats = np.frombuffer(base64.b64decode(data["floats"]), dtype="<f4")
    mesh = shapes[4]
    vertices = floats[mesh["vertices"] : mesh["vertices"] + 3 * mesh["count"]].reshape(-1, 3)
    np.testing.assert_allclose(vertices, np.array(PLACE) + np.array(CORNERS) @ np.array(TURN).T, atol=1e-7)
    assert mesh["faces"] == [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]


def test_real_robots_are_drawn_with_their_own_shapes() -> None:
    """ANYmal C by cylinders and boxes, its feet as feet; a robot without shapes as before."""
    robot = load(urdf("anymal_c"))
    solids = drawn(robot, "#000000").solids
    assert sum(solid.role == "foot" and isinstance(solid.shape, Ball) for solid in solids) == 4
    assert all(solid.role in ("torso", "leg", "foot") for solid in solids) and len(solids) > 40
    assert {solid.role for solid in drawn(liu2020("r3"), "#000000").solids} >= {"torso", "front", "joint", "tail"}
