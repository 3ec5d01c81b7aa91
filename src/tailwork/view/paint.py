"""A robot in one pose as shaded polygons on the sheet, farthest first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex, to_rgb

from tailwork.kernels.kernel import Floats
from tailwork.view.camera import UP, Camera
from tailwork.view.solids import Bar, box_corners

TORSO, FRONT, LEG, JOINT, FOOT, SHADOW = "#c3ccd6", "#46525f", "#6f7f90", "#8f9dac", "#39434d", "#dde1e6"
AXES = np.eye(3)


@dataclass(frozen=True)
class Pose:
    """Where everything is: named points (inertial frame) and the torso's place and rotation."""

    points: dict[str, Floats]  # [m]
    place: Floats  # of the torso frame [m]
    rotation: Floats  # from the torso frame to the inertial frame


@dataclass(frozen=True)
class Solid:
    """The solids of a robot: box of the torso, bars of the limbs, and which way it faces."""

    lower: Floats
    upper: Floats
    bars: tuple[Bar, ...]
    forward: int  # axis of the torso frame
    tail_color: str

    @property
    def size(self) -> float:
        """Longest side of the torso [m]."""
        return float((self.upper - self.lower).max())


@dataclass(frozen=True)
class Patch:
    """A polygon on the sheet."""

    outline: Floats  # (corners, 2)
    face: str
    edge: str


Layer = tuple[float, list[Patch]]
"""Patches that are painted together, and how near the eye they are."""


def mixed(color: str, other: str, share: float) -> str:
    """A colour with a share of another one."""
    red, green, blue = ((1.0 - share) * a + share * b for a, b in zip(to_rgb(color), to_rgb(other), strict=True))
    return to_hex((red, green, blue))


def lit(color: str, light: float) -> str:
    """A colour made darker (light < 0) or brighter (light > 0)."""
    return mixed(color, "#ffffff" if light > 0 else "#10161d", abs(light))


def paint(axes: Axes, camera: Camera, solid: Solid, pose: Pose, *, faded: float = 0.0, zorder: float = 2.0) -> None:
    """Paint a robot in a pose; `faded` from 0 (as it is) to 1 (white)."""
    layers = torso_layers(camera, solid, pose) + limb_layers(camera, solid, pose)
    patches = [patch for _, layer in sorted(layers, key=lambda layer: layer[0]) for patch in layer]
    _collect(axes, patches, faded, 0.5, zorder)


def paint_shadow(axes: Axes, camera: Camera, solid: Solid, pose: Pose, *, faded: float = 0.0) -> None:
    """The shadow of a robot on the ground, under light from straight above."""
    if not camera.sees_ground:
        return
    outlines = [_flat(camera, _hull((_box(solid, pose))[:, :2]))]
    for bar in solid.bars:
        start, end = pose.points[bar.start][:2], pose.points[bar.end][:2]
        outlines.append(_flat(camera, capsule(start, end, bar.start_radius, bar.end_radius)))
    _collect(axes, [Patch(outline, SHADOW, SHADOW) for outline in outlines], faded, 0.0, 1.0)


def _collect(axes: Axes, patches: list[Patch], faded: float, width: float, zorder: float) -> None:
    axes.add_collection(
        PolyCollection(
            [patch.outline for patch in patches],
            facecolors=[mixed(patch.face, "#ffffff", faded) for patch in patches],
            edgecolors=[mixed(patch.edge, "#ffffff", faded) for patch in patches],
            linewidths=width,
            joinstyle="round",
            zorder=zorder,
        ),
        autolim=False,
    )


def _box(solid: Solid, pose: Pose) -> Floats:
    """Corners of the torso in the inertial frame, (8, 3)."""
    return pose.place + box_corners(solid.lower, solid.upper) @ pose.rotation.T


def torso_layers(camera: Camera, solid: Solid, pose: Pose) -> list[Layer]:
    """The sides of the torso that the eye sees, the front end darker."""
    light = camera.right * -0.35 + camera.toward * 0.25 + UP * 0.9
    light = light / np.linalg.norm(light)
    patches: list[Patch] = []
    for axis in range(3):
        for side in (0, 1):
            normal = pose.rotation @ (AXES[axis] * (2 * side - 1))
            if normal @ camera.toward <= 1e-9:
                continue
            bright = -0.42 + 0.62 * max(0.0, float(normal @ light))
            whole = (solid.lower, solid.upper)
            patches.append(_side(camera, pose, whole, axis, side, lit(TORSO, bright)))
            if axis == solid.forward and side == 1:
                patches.append(_side(camera, pose, whole, axis, side, lit(FRONT, bright)))
            elif axis != solid.forward:
                start = solid.lower.copy()
                start[solid.forward] += 0.9 * (solid.upper - solid.lower)[solid.forward]
                patches.append(_side(camera, pose, (start, solid.upper), axis, side, lit(FRONT, bright)))
    center = pose.place + pose.rotation @ ((solid.lower + solid.upper) / 2.0)
    return [(float(camera.depth(center)), patches)]


def _side(camera: Camera, pose: Pose, box: tuple[Floats, Floats], axis: int, side: int, color: str) -> Patch:
    """One side of a box in the torso frame."""
    first, second = (k for k in range(3) if k != axis)
    corners = np.tile(box[side], (4, 1))
    for corner, (a, b) in zip(corners, ((0, 0), (0, 1), (1, 1), (1, 0)), strict=True):
        corner[first], corner[second] = box[a][first], box[b][second]
    return Patch(camera.project(pose.place + corners @ pose.rotation.T), color, lit(color, -0.35))


def limb_layers(camera: Camera, solid: Solid, pose: Pose) -> list[Layer]:
    """Bars with a bright stripe, and balls on hips, knees and feet."""
    layers: list[Layer] = []
    base = float(camera.depth(pose.place))
    for bar in solid.bars:
        start, end = pose.points[bar.start], pose.points[bar.end]
        depth = float(camera.depth((start + end) / 2.0))
        far = min(0.28, max(0.0, (base - depth) / solid.size * 0.5))  # what is farther off is paler
        color = LEG if bar.kind == "leg" else lit(solid.tail_color, 0.12 if bar.number % 2 else 0.0)
        layers.append((depth, _round_bar(camera, start, end, bar, mixed(color, "#ffffff", far))))
        if bar.kind == "leg":
            ends = [(start, 1.15 * bar.start_radius, JOINT)]
            ends += [(end, 1.2 * bar.end_radius, FOOT)] if bar.end.endswith(".foot") else []
            for place, radius, shade in ends:  # on top of their bar
                layers.append((max(float(camera.depth(place)), depth + 1e-6), _ball(camera, place, radius, shade, far)))
    return layers


def _round_bar(camera: Camera, start: Floats, end: Floats, bar: Bar, color: str) -> list[Patch]:
    a, b = camera.project(start), camera.project(end)
    along = b - a
    length = float(np.hypot(*along))
    across = np.array([-along[1], along[0]]) / length if length > 1e-9 else np.array([-0.7, 0.7])
    if across @ (-0.5, 0.85) < 0:
        across = -across
    stripe = [
        a + 0.34 * bar.start_radius * across,
        b + 0.34 * bar.end_radius * across,
    ]
    bright = lit(color, 0.35)
    return [
        Patch(capsule(a, b, bar.start_radius, bar.end_radius), color, lit(color, -0.4)),
        Patch(capsule(stripe[0], stripe[1], 0.3 * bar.start_radius, 0.3 * bar.end_radius), bright, bright),
    ]


def _ball(camera: Camera, center: Floats, radius: float, color: str, far: float) -> list[Patch]:
    place = camera.project(center)
    color = mixed(color, "#ffffff", far)
    bright = lit(color, 0.35)
    spot = place + 0.3 * radius * np.array([-0.5, 0.85])
    return [
        Patch(capsule(place, place, radius, radius), color, lit(color, -0.4)),
        Patch(capsule(spot, spot, 0.3 * radius, 0.3 * radius), bright, bright),
    ]


def capsule(a: Floats, b: Floats, first: float, second: float) -> Floats:
    """Outline of two circles about a and b and all between them, in a plane, (corners, 2)."""
    along = b - a
    length = float(np.hypot(*along))
    if length <= abs(first - second) + 1e-12:
        center, radius = (a, first) if first >= second else (b, second)
        return center + radius * _circle(0.0, 2.0 * np.pi, 18)
    heading = float(np.arctan2(along[1], along[0]))
    tilt = float(np.arccos((first - second) / length))
    return np.concatenate([
        a + first * _circle(heading + tilt, heading + 2.0 * np.pi - tilt, 9),
        b + second * _circle(heading - tilt, heading + tilt, 9),
    ])  # fmt: skip


def _circle(start: float, end: float, corners: int) -> Floats:
    angles = np.linspace(start, end, corners)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _flat(camera: Camera, outline: Floats) -> Floats:
    """An outline on the ground, on the sheet."""
    return camera.project(np.concatenate([outline, np.zeros((len(outline), 1))], axis=1))


def _hull(points: Floats) -> Floats:
    """Convex hull of points in a plane, counter-clockwise."""
    ordered = sorted(map(tuple, points.tolist()))

    def half(row: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
        kept: list[tuple[float, ...]] = []
        for p in row:
            while len(kept) > 1 and (kept[-1][0] - kept[-2][0]) * (p[1] - kept[-2][1]) <= (
                kept[-1][1] - kept[-2][1]
            ) * (p[0] - kept[-2][0]):
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))
