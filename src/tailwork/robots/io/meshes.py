"""Meshes of robot files as shapes to draw: STL, OBJ and COLLADA, with fewer triangles than they have.

Files are opened only where the user asks for meshes. They are data of limited size; nothing in them is evaluated.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from tailwork.errors import FileError
from tailwork.files import read_bytes
from tailwork.robots.body import Body
from tailwork.robots.io.from_tree import Imported
from tailwork.robots.io.tree import FileShape, exact_matrix, exact_vector, turned_about
from tailwork.robots.robot import Robot
from tailwork.robots.shapes import Shape
from tailwork.typing import Floats

LARGEST_MESH = 100_000_000  # bytes
MOST_TRIANGLES = 1000
"""Triangles that a body is drawn with; meshes with more are made coarser."""
DIGITS = 1e-5  # m: places of vertices are rounded to this
FINEST = 1000  # cells along a mesh, before it is made coarser

Triangles = Floats
"""Corners of triangles, (triangles, 3, 3) [m]."""
Faces = NDArray[np.int64]
"""Numbers of vertices, (triangles, 3)."""


def with_meshes(imported: Imported, path: str | os.PathLike[str]) -> Imported:
    """The robot of a file, drawn with the meshes of its bodies: those to look at, else those for collisions."""
    notes, shapes, read = list(imported.notes), {}, 0
    opened: dict[tuple[Any, ...], Triangles] = {}
    made_coarser: dict[tuple[Any, ...], tuple[Floats, Faces]] = {}
    for name, seen in imported.meshes.items():
        chosen = [mesh for mesh in seen if mesh.role == "visual"] or list(seen)
        found: list[tuple[FileShape, Triangles]] = []
        for mesh in chosen:
            try:
                key = (mesh.file, mesh.scale)
                if key not in opened:
                    opened[key] = _triangles(mesh, path)
                found.append((mesh, opened[key]))
            except FileError as error:
                notes.append(f"mesh left out: {error}")
        found = [(mesh, triangles) for mesh, triangles in found if len(triangles)]
        total = sum(len(triangles) for _, triangles in found)
        if found:
            shares = [max(20, MOST_TRIANGLES * len(triangles) // total) for _, triangles in found]
            for (mesh, triangles), most in zip(found, shares, strict=True):
                key = (mesh.file, mesh.scale, most)
                if key not in made_coarser:
                    made_coarser[key] = coarser(triangles, most)
                shapes[name] = (*shapes.get(name, ()), *_shapes(mesh, *made_coarser[key]))
            read += len(found)
    if read:
        notes.append(f"drawn with {read} meshes of at most {MOST_TRIANGLES} triangles a body")
    return dataclasses.replace(imported, robot=_drawn_with(imported.robot, shapes), notes=tuple(notes))


def _triangles(mesh: FileShape, path: str | os.PathLike[str]) -> Triangles:
    """Of a mesh of the file, scaled."""
    if mesh.triangles is not None:
        return mesh.triangles
    triangles = read_mesh(mesh_file(mesh.file, path)) * np.array(mesh.scale)
    return triangles[:, ::-1] if np.prod(mesh.scale) < 0.0 else triangles  # a mirror turns the inside out


def _shapes(mesh: FileShape, vertices: Floats, faces: Faces) -> tuple[Shape, ...]:
    """A mesh as a shape; none, if no triangle of it is left."""
    if not len(faces):
        return ()
    return (
        Shape(
            kind="mesh", place=exact_vector(mesh.pose.place), rotation=exact_matrix(mesh.pose.turn), color=mesh.color,
            vertices=tuple(map(tuple, vertices.tolist())), faces=tuple(map(tuple, faces.tolist())),
        ),
    )  # fmt: skip


def _drawn_with(robot: Robot, shapes: dict[str, tuple[Shape, ...]]) -> Robot:
    """The robot with other shapes on bodies, by "limb.joint" or "torso"."""

    def body(name: str, old: Body | None) -> Body | None:
        return dataclasses.replace(old, shapes=shapes[name]) if old is not None and shapes.get(name) else old

    parts: dict[str, Any] = {}
    for name, part in robot.parts.items():
        field = "limb" if hasattr(part, "limb") else "shape"
        limb = getattr(part, field)
        joints = tuple(dataclasses.replace(x, body=body(f"{name}.{x.name}", x.body)) for x in limb.joints)
        parts[name] = dataclasses.replace(part, **{field: dataclasses.replace(limb, joints=joints)})
    torso: Any = robot.torso
    if shapes.get("torso"):
        torso = dataclasses.replace(torso, shapes=shapes["torso"])
    return dataclasses.replace(robot, torso=torso, parts=parts)


def mesh_file(name: str, path: str | os.PathLike[str]) -> Path:
    """The file that a URDF calls "package://package/file", "file:///file" or by a path from its own folder.

    Packages are looked for beside the folders that hold the URDF, and among these.
    """
    here = Path(path).resolve().parent
    scheme, _, rest = name.rpartition("://")
    if scheme == "package":
        package, _, inside = rest.partition("/")
        above = [here, *here.parents]
        places = [folder / rest for folder in above] + [f / inside for f in above if f.name == package]
    else:
        places = [Path(rest) if scheme == "file" else here / rest]
    for place in places:
        if place.is_file():
            return place
    raise FileError(name, f"no such file from {here}")


def read_mesh(path: str | os.PathLike[str]) -> Triangles:
    """The triangles of an STL, OBJ or COLLADA (.dae) file [m].

    Raises:
        FileError: the file cannot be read, or is no such mesh.
    """
    kind = Path(path).suffix.lower()
    readers: dict[str, Callable[[bytes], Triangles]] = {".stl": _stl, ".obj": _obj, ".dae": _dae}
    if kind not in readers:
        raise FileError(path, f"a mesh of a kind that is not read; required: one of {', '.join(readers)}")
    content = read_bytes(path, LARGEST_MESH)
    try:
        found = readers[kind](content).reshape(-1, 3, 3)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, ElementTree.ParseError, StopIteration,
            RecursionError) as error:  # fmt: skip
        raise FileError(path, f"not {kind[1:].upper()} as it should be ({error})") from None
    if not np.isfinite(found).all() or np.abs(found).max(initial=0.0) > 1e6:
        raise FileError(path, "vertices that are not finite, or kilometres away")
    return found


def _stl(content: bytes) -> Triangles:
    count = int.from_bytes(content[80:84], "little") if len(content) >= 84 else -1
    if len(content) == 84 + 50 * count:
        rows = np.frombuffer(content, dtype=np.dtype([("floats", "<f4", 12), ("rest", "<u2")]), offset=84)
        return rows["floats"][:, 3:].astype(float)
    words = re.findall(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)", content)
    if not words or not content.lstrip().startswith(b"solid"):
        raise ValueError("neither binary nor text")
    return np.array(words, dtype=float)


def _obj(content: bytes) -> Triangles:
    vertices: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    for line in content.splitlines():
        words = line.split()
        if words[:1] == [b"v"]:
            vertices.append([float(x) for x in words[1:4]])
        elif words[:1] == [b"f"]:
            numbers = [int(word.split(b"/")[0]) for word in words[1:]]
            corners = [k - 1 if k > 0 else len(vertices) + k for k in numbers]
            faces += _fan(corners)
    return _cornered(np.array(vertices, dtype=float).reshape(-1, 3), faces)


def _fan(corners: Sequence[int]) -> list[tuple[int, int, int]]:
    """A polygon as triangles."""
    return [(corners[0], b, c) for b, c in pairwise(corners[1:])]


def _cornered(vertices: Floats, faces: Any) -> Triangles:
    numbers = np.array(faces, dtype=int).reshape(-1, 3)
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(vertices):
        raise ValueError("a face with a vertex that is not there")
    return vertices[numbers]


def _dae(content: bytes) -> Triangles:
    """COLLADA: geometries as the scene places them, in metres. The axis that is up is left as it is, as in ROS."""
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise ValueError("a DOCTYPE, which is not expanded")
    root = ElementTree.fromstring(content)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    unit = root.find("asset/unit")
    scale = 1.0 if unit is None else float(unit.get("meter", "1"))
    geometries = {f"#{g.get('id')}": _dae_geometry(g) for g in root.iterfind("library_geometries/geometry")}
    nodes = {f"#{n.get('id')}": n for n in root.iter("node") if n.get("id")}
    placed = [triangles for scene in root.iterfind("library_visual_scenes/visual_scene")
              for triangles in _dae_nodes(scene, np.eye(4), geometries, nodes, 0)]  # fmt: skip
    found = placed or list(geometries.values())
    return scale * np.concatenate([np.empty((0, 3, 3)), *found])


def _dae_nodes(
    parent: Any, before: Floats, geometries: dict[str, Triangles], nodes: dict[str, Any], depth: int
) -> Iterator[Triangles]:
    if depth > 64:
        raise ValueError("nodes within nodes without end")
    for element in parent:
        if element.tag == "node" or element.tag == "instance_node":
            node = element if element.tag == "node" else nodes[element.get("url")]
            turn = before
            for step in node:
                turn = turn @ _dae_transform(step)
            for instance in node.iterfind("instance_geometry"):
                triangles = geometries[instance.get("url")] @ turn[:3, :3].T + turn[:3, 3]
                yield triangles[:, ::-1] if np.linalg.det(turn[:3, :3]) < 0.0 else triangles
            yield from _dae_nodes(node, turn, geometries, nodes, depth + 1)


def _dae_transform(element: Any) -> Floats:
    matrix = np.eye(4)
    if element.tag not in ("matrix", "translate", "scale", "rotate"):
        return matrix
    values = np.array((element.text or "").split(), dtype=float)
    if element.tag == "matrix":
        return values.reshape(4, 4)
    if element.tag == "translate":
        matrix[:3, 3] = values
    elif element.tag == "scale":
        matrix[:3, :3] = np.diag(values)
    else:
        matrix[:3, :3] = turned_about(values[:3] / np.linalg.norm(values[:3]), np.radians(values[3]))
    return matrix


def _dae_geometry(geometry: Any) -> Triangles:
    mesh = geometry.find("mesh")
    if mesh is None:
        return np.empty((0, 3, 3))
    arrays = {f"#{s.get('id')}": s for s in mesh.iterfind("source")}
    position = next(x for x in mesh.find("vertices").iterfind("input") if x.get("semantic") == "POSITION")
    numbers = np.array((arrays[position.get("source")].find("float_array").text or "").split(), dtype=float)
    vertices, faces = numbers.reshape(-1, 3), []
    for tag in ("triangles", "polylist", "polygons"):
        for primitive in mesh.iterfind(tag):
            inputs = [(x.get("semantic"), int(x.get("offset", "0"))) for x in primitive.iterfind("input")]
            width = 1 + max(offset for _, offset in inputs)
            start = next(offset for semantic, offset in inputs if semantic == "VERTEX")
            lists = [np.array((p.text or "").split(), dtype=int).reshape(-1, width)[:, start]
                     for p in primitive.iterfind("p")]  # fmt: skip
            if tag == "triangles":
                faces += [tuple(row) for numbers in lists for row in numbers.reshape(-1, 3).tolist()]
            elif tag == "polylist":
                counts = np.array((primitive.find("vcount").text or "").split(), dtype=int)
                for corners in np.split(lists[0], np.cumsum(counts)[:-1]) if len(counts) else ():
                    faces += _fan(corners.tolist())
            else:
                for corners in lists:
                    faces += _fan(corners.tolist())
    return _cornered(vertices, faces)


def coarser(triangles: Triangles, most: int) -> tuple[Floats, Faces]:
    """Vertices and faces of about the same surface with at most so many triangles.

    Vertices in one cell of a grid become one, in their middle; what is left without an area is dropped (Rossignac &
    Borrel 1993). Cells are as fine as the number of triangles allows, by bisection.
    """
    points = triangles.reshape(-1, 3)
    if not len(points):
        return points, np.zeros((0, 3), dtype=np.int64)
    size = float((points.max(axis=0) - points.min(axis=0)).max())
    places, faces = _clustered(points, np.arange(len(points)).reshape(-1, 3), max(DIGITS, size / FINEST))
    if len(faces) <= most:
        return _used(places, faces)
    low, high, best = 0.0, 1.0, (places[:0], faces[:0])
    for _ in range(10):
        middle = 0.5 * (low + high)
        found = _clustered(places, faces, middle * size)
        if len(found[1]) <= most:
            high, best = middle, found
        else:
            low = middle
    return _used(*best)


def _clustered(places: Floats, faces: Faces, cell: float) -> tuple[Floats, Faces]:
    """Vertices and faces of a grid of cells [m]."""
    at = np.floor((places - places.min(axis=0)) / cell).astype(np.int64)
    _, own = np.unique((at[:, 0] << 42) + (at[:, 1] << 21) + at[:, 2], return_inverse=True)
    sums = np.stack([np.bincount(own, places[:, k]) for k in range(3)], axis=1)
    return np.asarray(sums / np.bincount(own)[:, None], dtype=float), _with_area(own[faces])


def _with_area(faces: Faces) -> Faces:
    """Faces of three different vertices, each once, beginning with the least number."""
    differ = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    kept = faces[differ]
    first = kept.argmin(axis=1)[:, None] if len(kept) else np.zeros((0, 1), dtype=int)
    turned = np.take_along_axis(kept, (first + np.arange(3)) % 3, axis=1)
    _, once = np.unique((turned[:, 0] << 42) + (turned[:, 1] << 21) + turned[:, 2], return_index=True)
    return turned[once]


def _used(vertices: Floats, faces: Faces) -> tuple[Floats, Faces]:
    """Only the vertices that faces have, rounded to the digits that are kept."""
    numbers, renumbered = np.unique(faces, return_inverse=True)
    return np.round(vertices[numbers], 5), renumbered.reshape(-1, 3)
