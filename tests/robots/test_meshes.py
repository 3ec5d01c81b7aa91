"""Meshes of robot files: read in three formats, placed as the file says, made coarser, and never by accident."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from real_robots import urdf
from tailwork.cli.main import main
from tailwork.errors import ArgumentError, FileError
from tailwork.robots import Robot, import_robot, liu2020, load
from tailwork.robots.io.meshes import MOST_TRIANGLES, coarser, mesh_file, read_mesh
from tailwork.typing import Floats

VERTICES = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0)])
FACES = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
TETRAHEDRON = VERTICES[FACES]


def volume(triangles: Floats) -> float:
    a, b, c = np.swapaxes(triangles, 0, 1)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def stl_text(triangles: Floats) -> str:
    """An STL as text."""
    rows = ["solid a"]
    for triangle in triangles:
        rows += ["facet normal 0 0 0", "outer loop", *(f"vertex {x} {y} {z}" for x, y, z in triangle), "endloop",
                 "endfacet"]  # fmt: skip
    return "\n".join([*rows, "endsolid a"])


def stl_binary(triangles: Floats) -> bytes:
    """An STL as numbers."""
    rows = np.zeros(len(triangles), dtype=[("floats", "<f4", 12), ("rest", "<u2")])
    rows["floats"][:, 3:] = triangles.reshape(-1, 9)
    return b"solid but binary".ljust(80) + len(triangles).to_bytes(4, "little") + rows.tobytes()


OBJ = "# a\nv 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nvn 0 0 1\nf 1//1 3//1 2//1\nf 1 2 4\nf -4 -1 -2\nf 2/1 3/1 4/1\n"
DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="0.01"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array count="12">0 0 0 1 0 0 0 2 0 0 0 3</float_array></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="2"><input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#n" offset="1"/>
<p>0 0 2 0 1 0 0 0 1 0 3 0</p></triangles>
<polylist count="2"><input semantic="VERTEX" source="#v" offset="0"/><vcount>3 3</vcount><p>0 3 2 1 2 3</p></polylist>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="a"><translate>100 0 0</translate><rotate>0 0 1 90</rotate>
<node><scale>100 100 100</scale><instance_geometry url="#g"/></node></node></visual_scene></library_visual_scenes>
</COLLADA>"""


def test_all_formats_give_the_same_triangles(tmp_path: Path) -> None:
    """STL as text and binary, OBJ with its ways to count, COLLADA with units, nodes, turns and two kinds of faces."""
    for name, content in (("a.stl", stl_text(TETRAHEDRON)), ("b.STL", stl_binary(TETRAHEDRON)), ("c.obj", OBJ)):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        np.testing.assert_array_equal(read_mesh(tmp_path / name), TETRAHEDRON)
    (tmp_path / "d.dae").write_text(DAE, encoding="utf-8")
    turned = TETRAHEDRON[..., [1, 0, 2]] * [-1.0, 1.0, 1.0] + [1.0, 0.0, 0.0]
    np.testing.assert_allclose(read_mesh(tmp_path / "d.dae"), turned, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.stl", "nothing"),
        ("a.stl", ""),
        ("a.obj", "v 1 2\nf 1 2 3\n"),
        ("a.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
        ("a.obj", "v 0 0 0\nf 1 2 7\n"),
        ("a.dae", "<COLLADA>"),
        ("a.dae", '<!DOCTYPE a [<!ENTITY b "c">]><COLLADA>&b;</COLLADA>'),
        ("a.dae", DAE.replace('url="#g"', 'url="#h"')),
        ("a.dae", DAE.replace("0 0 2 0 1 0", "0 0 9 0 1 0")),
        ("a.ply", "ply"),
    ],
)
def test_files_that_are_no_meshes_are_refused(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(FileError, match=name):
        read_mesh(tmp_path / name)


def test_a_coarser_mesh_has_about_the_same_volume() -> None:
    """A ball of 20,000 triangles as at most 1,000: within 5 % of its volume, each vertex within a cell of the surface;
    few triangles stay as they are."""
    angles, heights = np.linspace(0.0, 2.0 * np.pi, 101), np.linspace(0.0, np.pi, 101)
    grid = np.stack([np.outer(np.sin(heights), np.cos(angles)), np.outer(np.sin(heights), np.sin(angles)),
                     np.outer(np.cos(heights), np.ones(101))], axis=-1)  # fmt: skip
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    fine = np.concatenate([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)]).reshape(-1, 3, 3)
    vertices, faces = coarser(fine, 1000)
    assert 500 < len(faces) <= 1000 and len(faces) == len(np.unique(np.sort(faces, axis=1), axis=0))
    assert volume(vertices[faces]) == pytest.approx(volume(fine), rel=0.05)
    assert np.abs(np.linalg.norm(vertices, axis=1) - 1.0).max() < 0.05
    same, numbers = coarser(TETRAHEDRON, 4)
    assert volume(same[numbers]) == pytest.approx(1.0, rel=1e-12)


def size_of(robot: Robot) -> Floats:
    """Sides of the box about the meshes of the torso [m]."""
    shapes = robot.torso_body().shapes
    return np.ptp([v for s in shapes for v in np.array(s.vertices) @ np.array(s.rotation).T + s.place], axis=0)


def test_meshes_are_read_only_on_request() -> None:
    """Go2, whose file has nothing else, is then drawn with at most 1,000 triangles a body, and moves as before."""
    plain, found = load(urdf("go2")), import_robot(urdf("go2"), meshes=True)
    assert not plain.torso_body().shapes
    bodies = [found.robot.torso_body(), *(j.body for limb in found.robot.limbs().values() for j in limb.joints)]
    counts = [sum(len(shape.faces) for shape in body.shapes) for body in bodies]
    assert len(counts) == 13 and 100 < min(counts) <= max(counts) <= MOST_TRIANGLES
    assert any("17 meshes" in note for note in found.notes)
    hull = read_mesh(urdf("go2").parent.parent / "collisions" / "base_convex.stl").reshape(-1, 3)
    np.testing.assert_allclose(
        size_of(found.robot), np.ptp(hull, axis=0), atol=0.02
    )  # COLLADA, coarser, beside its hull
    assert found.robot.mass() == plain.mass() and "mesh" not in str(plain.parts)


def test_meshes_of_exported_robots_come_back(tmp_path: Path) -> None:
    """A robot with meshes, exported as URDF and as MJCF and read again with meshes, has them again."""
    robot = import_robot(urdf("solo12"), meshes=True).robot
    before = sum(len(shape.faces) for shape in robot.torso_body().shapes)
    for name in ("solo.urdf", "solo.xml"):
        robot.export(tmp_path / name)
        again = load(tmp_path / name, meshes=True)
        after = sum(len(shape.faces) for shape in again.torso_body().shapes)
        assert after == pytest.approx(before, rel=0.1)
        np.testing.assert_allclose(size_of(again), size_of(robot), atol=2e-3)


def test_packages_are_found_beside_the_file(tmp_path: Path) -> None:
    """package:// means a folder above the URDF, or beside one of them; a missing mesh is noted, not an error."""
    folder = tmp_path / "share" / "my_robot"
    (folder / "meshes").mkdir(parents=True)
    (folder / "urdf").mkdir()
    (folder / "meshes" / "a.obj").write_text(OBJ, encoding="utf-8")
    file = folder / "urdf" / "robot.urdf"
    for name in ("package://my_robot/meshes/a.obj", "../meshes/a.obj", f"file://{folder}/meshes/a.obj"):
        assert mesh_file(name, file).resolve() == (folder / "meshes" / "a.obj").resolve()
    with pytest.raises(FileError, match="no such file"):
        mesh_file("package://other/meshes/a.obj", file)
    liu2020("pendulum").save(tmp_path / "robot.toml")
    with pytest.raises(ArgumentError, match="meshes"):
        load(tmp_path / "robot.toml", meshes=True)


def test_the_command_reads_meshes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`tailwork import --meshes` writes them into the robot's own file."""
    assert main(["import", str(urdf("solo12")), "--meshes", "--out", str(tmp_path / "solo.toml")]) == 0
    assert "meshes of at most 1000 triangles" in capsys.readouterr().out
    assert load(tmp_path / "solo.toml").torso_body().shapes[0].kind == "mesh"
