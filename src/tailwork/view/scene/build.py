"""From a run to its scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tailwork.algebra.columns import columns, stacked
from tailwork.errors import ArgumentError
from tailwork.mechanics.kinematics import at_rest, bodies
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.observe import center_of_mass
from tailwork.model.summary import pinnable
from tailwork.robots import Robot
from tailwork.simulation import Run
from tailwork.simulation.contact.ground import CONTACT_NAMES
from tailwork.typing import Floats
from tailwork.view.scene.colors import CENTER, OTHERS, OUTSIDE, TAILS, lit
from tailwork.view.scene.curves import caption_of, foot_color, plots_of
from tailwork.view.scene.sample import quaternions
from tailwork.view.scene.scene import (
    FLAT,
    Caption,
    ContactPhases,
    ForceArrow,
    Marker,
    RowIndices,
    Scene,
    SceneFrame,
    Terrain,
    Triple,
    point_of,
)
from tailwork.view.scene.shapes import Drawn, drawn

LEAST_IMPULSE = 0.02  # of an impact, as a share of the largest of its run: what is shown
Placed = tuple[Floats, Floats]
"""Places of a frame's origin, (times, 3) [m], and rotations to the inertial frame, (times, 3, 3)."""


def check_runs(runs: Mapping[str, Run]) -> None:
    """Raises an error for what is no run by label."""
    if not isinstance(runs, Mapping) or not runs or not all(isinstance(run, Run) for run in runs.values()):
        raise ArgumentError("runs", runs, "at least one run, by label: {'pendulum': run}")


def scenes_of(runs: Mapping[str, Run], *, most: int | None = None) -> tuple[Scene, ...]:
    """Scenes of runs by label, each with a colour of its own: that of its tail, unless another has it already."""
    check_runs(runs)
    colors: list[str] = []
    for run in runs.values():
        spare = [color for color, _, _ in (*TAILS.values(), *OTHERS) if color not in colors] or [OTHERS[0][0]]
        own = _tail_color(run.model.robot)
        others = [color for color in spare if color not in {taken for taken, _, _ in TAILS.values()}] or spare
        colors.append(own if own in spare else others[0])
    return tuple(
        scene_of(run, label, color=color, most=most) for (label, run), color in zip(runs.items(), colors, strict=True)
    )


def scene_of(run: Run, label: str = "", *, color: str = "", most: int | None = None) -> Scene:
    """The scene of a run.

    Args:
        run: the run.
        label: its name among others; the robot's, if empty.
        color: of the tail and the curves; that of the kind of tail, if empty.
        most: at most so many samples, evenly; None: all samples of the run.
    """
    if not isinstance(run, Run):
        raise ArgumentError("run", run, "a Run, as `simulate` gives it")
    robot, layout = run.model.robot, run.model.layout
    label, color = label or robot.name, color or _tail_color(robot) or OTHERS[0][0]
    sound = _sound(run)
    rows = _even(sound, most)
    q = run.data["q"].to_numpy()[rows]
    masses = robot.masses()
    parts = [str(part) for part in run.data["part"].to_numpy()]
    centers = run.data["part_center"].to_numpy()[rows]
    weights = np.array([masses[part] for part in parts])
    middle = weights @ centers / weights.sum()
    placed = frame_motions(layout, q)
    fall, notes = _fall(run, middle, placed)
    if sound < len(run.data["time"]):
        notes = (*notes, f"shown until {run.data['time'].to_numpy()[sound - 1]:.4g} s: what follows is NaN")
    caption = caption_of(run, notes)
    if len(rows) < sound:
        caption = replace(caption, measures=(*caption.measures, ("samples shown", f"{len(rows)} of {sound}")))
    shapes = drawn(robot, color)
    forces = _forces(run, shapes, rows)
    tips = tuple(
        (name, shapes.on(name, limb.tip.joint), point_of(limb.tip.point))
        for name, limb in layout.limbs.items()
        if limb.foot is None and limb.tip is not None
    )
    return Scene(
        label=label,
        color=color,
        forward=robot.forward,
        times=run.data["time"].to_numpy()[rows],
        frames=tuple(SceneFrame(name, placed[name][0] - fall, quaternions(placed[name][1])) for name in shapes.frames),
        solids=tuple(shapes.solids),
        threads=tuple(shapes.threads),
        forces=forces,
        phases=_phases(run, forces),
        markers=(
            Marker("centre of mass", middle - fall, CENTER, shapes.thickness),
            *(
                Marker(f"centre of mass of the {part}", centers[:, k] - fall, lit(color, -0.35), 0.8 * shapes.thickness)
                for k, part in enumerate(parts)
                if part != "torso" and part not in layout.legs
            ),
        ),
        terrain=_terrain(run),
        weight=sum(masses.values()) * float(robot.gravity),
        plots=plots_of(run, label, color, rows),
        events=run.events,
        tips=tips,
        caption=caption,
    )


def still_scene(robot: Robot, label: str = "", color: str = "") -> Scene:
    """A robot as it stands, its other limbs at zero: what can be shown of it before anything is compiled."""
    stance = tuple(pinnable(robot))
    layout = Layout(robot, stance, tuple(name for name in robot.limbs() if name not in stance))
    color = color or _tail_color(robot) or OTHERS[0][0]
    q = np.zeros((2, len(layout.coordinate_names)))
    q[:, :3] = robot.stand
    placed, shapes = frame_motions(layout, q), drawn(robot, color)
    middle = np.array([[float(x) for x in center_of_mass(layout, [float(x) for x in row])] for row in q])
    return Scene(
        label=label or robot.name, color=color, forward=robot.forward, times=np.array([0.0, 1.0]),
        frames=tuple(SceneFrame(name, placed[name][0], quaternions(placed[name][1])) for name in shapes.frames),
        solids=tuple(shapes.solids), threads=tuple(shapes.threads), forces=(), phases=(),
        markers=(Marker("centre of mass", middle, CENTER, shapes.thickness),), terrain=FLAT,
        weight=sum(robot.masses().values()) * float(robot.gravity), plots=(), events=(), tips=(),
        caption=Caption(robot.name, "", (), ()),
    )  # fmt: skip


def _tail_color(robot: Robot) -> str:
    """The colour of a robot's kind of tail; empty: it has none that is known, or several."""
    kinds = {part.kind for part in robot.parts.values() if part.kind in TAILS}
    return TAILS[kinds.pop()][0] if len(kinds) == 1 else ""


def _even(count: int, most: int | None) -> RowIndices:
    """Numbers of the samples that are shown, the first and the last among them."""
    if most is not None and (not isinstance(most, int) or most < 2):
        raise ArgumentError("most", most, "an integer, at least 2")
    if most is None or count <= most:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, most).round().astype(np.intp))


def _fall(run: Run, middle: Floats, frames: Mapping[str, Placed]) -> tuple[Floats, tuple[str, ...]]:
    """What is taken off all places, (times, 3) [m]: how far a robot in the air has come down with its centre of mass.

    A torso that is held has no height of its own: it is shown so high that nothing reaches below the ground.
    """
    fall = np.zeros_like(middle)
    if not run.model.layout.torso_free:
        paths = [places for name, (places, _) in frames.items() if name != "torso"]
        for name, limb in run.model.layout.limbs.items():
            for end in filter(None, (limb.foot, limb.tip)):
                places, rotations = frames[f"{name}.{end.joint}"]
                paths.append(places + rotations @ np.array(end.point, dtype=float))
        fall[:, 2] = min(0.0, *(float(places[:, 2].min()) for places in paths)) if paths else 0.0
        return fall, ("the torso is held: shown above the ground, at a height that means nothing",)
    if run.model.foot_names or run.ground is not None:
        return fall, ()
    fall[:, 2] = middle[:, 2] - middle[0, 2]
    return fall, (("in the air: seen by an eye that falls with it",) if np.abs(fall).max() > 0 else ())


def _sound(run: Run) -> int:
    """How many samples of a run, from its start, hold finite coordinates and places.

    Raises:
        ArgumentError: not even the first does.
    """
    held = ("q", "part_center", "foot_force")
    rows = [run.data[name].to_numpy().reshape(len(run.data["time"]), -1) for name in held if name in run.data]
    fine: np.ndarray = np.asarray(np.isfinite(np.concatenate(rows, axis=1)).all(axis=1))
    if not fine[0]:
        raise ArgumentError("run", run.model.robot.name, "a run whose first sample is finite; this one shows nothing")
    return len(fine) if fine.all() else int(np.argmin(fine))


def frame_motions(layout: Layout, q: Floats) -> dict[str, Placed]:
    """The frames "torso" and "limb.joint" over states q."""
    with np.errstate(invalid="ignore", divide="ignore"):
        seen = bodies(layout, columns(q), at_rest(layout))
    found: dict[str, Placed] = {}
    for name, moving in seen.items():
        joints = [f"{name}.{joint.name}" for joint in layout.limbs[name].joints] if name in layout.limbs else [name]
        shape = (len(q),)
        found |= {
            key: (stacked(x.place, shape), stacked(x.rotation, shape)) for key, x in zip(joints, moving, strict=True)
        }
    return found


def _forces(run: Run, shapes: Drawn, rows: RowIndices) -> tuple[ForceArrow, ...]:
    """The forces of the ground on the feet, and those from outside."""
    found = []
    if "outside_force" in run.data:
        outside, points = (run.data[name].to_numpy() for name in ("outside_force", "outside_local_point"))
        for k, name in enumerate(str(force) for force in run.data["force"].to_numpy()):
            limb, _, joint = name.partition(": ")[2].partition(".")
            frame = shapes.on(limb, joint or None)
            x, y, z = map(float, points[k])
            found.append(ForceArrow(f"force {k + 1}", frame, (x, y, z), outside[rows, k], OUTSIDE))
    if "foot_force" not in run.data:
        return tuple(found)
    points, force = run.model.layout.contact_points, run.data["foot_force"].to_numpy()[rows]
    for k, name in enumerate(str(foot) for foot in run.data["foot"].to_numpy()):
        limb, point = points[name]
        frame = shapes.on(limb, point.joint)
        found.append(ForceArrow(name, frame, point_of(point.point), force[:, k], foot_color(list(points), name)))
    return tuple(found)


def _phases(run: Run, forces: tuple[ForceArrow, ...]) -> tuple[ContactPhases, ...]:
    """When each point on the ground sticks and slips, from how it starts and its changes; what impacts give it."""
    if "contact" not in run.data:
        return ()
    times, found, impulses = run.data["time"].to_numpy(), [], _impulses(run)
    at_start = dict(zip(run.data["foot"].to_numpy(), run.data["contact"].to_numpy()[0], strict=True))
    for arrow in forces:
        if arrow.foot not in at_start:
            continue  # from outside
        own = [(float(times[0]), CONTACT_NAMES[int(at_start[arrow.foot])])]
        own += [(time, state) for time, point, state in run.changes if point == arrow.foot]
        ends = [*(time for time, _ in own[1:]), float(times[-1])]
        spans = tuple((start, end, state) for (start, state), end in zip(own, ends, strict=True)
                      if state != "air" and end > start)  # fmt: skip
        own_impulses = tuple(impulses.get(arrow.foot, ()))
        found.append(ContactPhases(arrow.foot, arrow.frame, arrow.point, arrow.color, spans, own_impulses))
    return tuple(found)


def _impulses(run: Run) -> dict[str, list[tuple[float, Triple]]]:
    """Impulses of impacts by point, (time [s], impulse [N s]), without those too small to be seen."""
    if "impact_impulse" not in run.data:
        return {}
    values = run.data["impact_impulse"].to_numpy()
    sizes = np.linalg.norm(values, axis=2)
    found: dict[str, list[tuple[float, Triple]]] = {}
    for impact, k in np.argwhere(sizes > LEAST_IMPULSE * sizes.max()):
        time, point = float(run.data["impact_time"][impact]), str(run.data["foot"].to_numpy()[k])
        found.setdefault(point, []).append((time, point_of(values[impact, k])))
    return found


def _terrain(run: Run) -> Terrain:
    """The ground under a run."""
    field = None if run.ground is None else run.ground.surface
    if field is None:
        return FLAT
    columns, rows = field.heights.shape
    return Terrain(np.linspace(*field.x, columns), np.linspace(*field.y, rows), field.heights)
