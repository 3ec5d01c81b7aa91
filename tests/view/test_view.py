"""Pictures: what they show is what the runs hold, and their files are the same each time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

import tailwork
from few_links import few_links
from tailwork import view
from tailwork.control import Constant, Polynomial, Tracking, point_to_point
from tailwork.errors import ArgumentError, FileError, UnknownNameError
from tailwork.simulation import Run, load_run
from tailwork.simulation.pose import run_torso_angles, torso_rates
from tailwork.studies.compare.curvature import segment_curvatures
from tailwork.studies.motions import pitch
from tailwork.studies.perform import measured, perform
from tailwork.studies.scenario import Scenario
from tailwork.view.draw.camera import VIEWS, camera, nice
from tailwork.view.draw.solids import CORNERS, TURNS, capsules
from tailwork.view.draw.stage import subject
from tailwork.view.draw.style import KINDS, LIGHT, RC, rendered
from tailwork.view.figures.runs import STOPPED
from tailwork.view.scene import Ball, Bar, Box, Scene, Solid, scene_of
from tailwork.view.scene.colors import TAILS, looks, printed
from tailwork.view.scene.curves import friction_ratio
from tailwork.view.scene.sample import SceneSample, coils, samples_at
from tailwork.view.scene.scene import SceneShape
from tailwork.view.scene.shapes import torso_box

UNIT = re.compile(r"\[(deg|deg/s|ms|N|1/m|1)\]$")


def yaw_swing(degrees: float, duration: float) -> Run:
    """The pendulum swings to the side; too far or too long, a leg becomes straight."""
    model = tailwork.Model(tailwork.robots.liu2020(tail="pendulum"))
    q = model.standing()
    swing = point_to_point(0.0, np.radians(degrees), duration)
    control = [
        Constant(values=(*model.static_torques(q)[:12], 0.0, 0.0)),
        Tracking(limb="tail", coordinate="ta", profile=Polynomial(coefficients=(0.0,)), kp=1000.0, kd=20.0),
        Tracking(limb="tail", coordinate="tb", profile=swing, kp=1000.0, kd=20.0),
    ]
    return tailwork.simulate(model, q, duration=duration, control=control)


def r3_swing() -> Run:
    """The R3 tail bends to the side as prescribed, with the legs as they were for the pendulum."""
    robot = tailwork.robots.liu2020(tail="r3")
    model = tailwork.Model(robot, prescribed=("tail",))
    q = model.standing()
    pendulum = tailwork.Model(tailwork.robots.liu2020(tail="pendulum"))
    torques = pendulum.static_torques(pendulum.standing())[:12]
    bend = point_to_point(0.0, 0.06, 0.3)
    tail = {"alpha": Polynomial(coefficients=(-np.pi / 2,)), "beta_1": bend, "beta_2": bend}
    return tailwork.simulate(model, q, duration=0.3, control=[Constant(values=tuple(torques))], motions={"tail": tail})


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    return {"pendulum": yaw_swing(40.0, 0.3), "r3": r3_swing()}


@pytest.fixture(scope="module")
def stopped() -> Run:
    run = yaw_swing(80.0, 0.6)
    assert run.stopped is not None
    return run


def lines_named(axes: Axes, name: str) -> list[np.ndarray]:
    return [np.array(line.get_data()) for line in axes.lines if line.get_gid() == name]


def labelled(axes: Axes) -> dict[str, np.ndarray]:
    """Data of the lines of an axes that have a label, by label."""
    lines = {str(line.get_label()): np.array(line.get_data()) for line in axes.lines}
    return {label: data for label, data in lines.items() if not label.startswith("_")}


def all_figures(runs: Mapping[str, Run], stopped: Run) -> dict[str, Figure]:
    t = np.linspace(0.0, 1.2, 50)
    asked = {"r3, segment 1": np.sin(t), "usrt, segment 1": np.sin(t)}
    return {
        "torso": view.torso_response({**runs, "stopped": stopped}, title="Torso"),
        "rotation": view.net_rotation([10, 20], {"pendulum": [-1.0, -2.0]}, axis="yaw", title="Net yaw"),
        "curvature": view.curvature_tracking(t, asked, {name: 0.9 * k for name, k in asked.items()}),
        "feet": view.foot_forces({**runs, "stopped": stopped}),
        "ghosts": view.time_lapse({"pendulum": runs["pendulum"]}, frames=3),
    }


@pytest.fixture(scope="module")
def figures(runs: dict[str, Run], stopped: Run) -> dict[str, Figure]:
    return all_figures(runs, stopped)


# What is shown


def test_every_axis_has_a_label_with_its_unit(figures: dict[str, Figure]) -> None:
    for name, figure in figures.items():
        if name == "ghosts":
            continue
        for axes in figure.axes:
            first_column, last_row = axes.get_subplotspec().is_first_col(), axes.get_subplotspec().is_last_row()
            if name != "feet" or first_column:  # its columns share their axes
                assert UNIT.search(axes.get_ylabel()), name
            if last_row:
                assert UNIT.search(axes.get_xlabel()), name


def test_no_legend_leaves_the_page_and_no_text_is_too_small(figures: dict[str, Figure]) -> None:
    """Whatever the labels and notes: nothing is cut off, and all can be read."""
    for name, figure in figures.items():
        with view.look():
            figure.draw_without_rendering()
        for text in figure.findobj(Text):
            if text.get_visible() and text.get_text().strip():
                assert text.get_fontsize() >= 7.0, (name, text.get_text())
        assert figure.get_figwidth() in (view.COLUMN, view.PAGE)
        for legend in figure.legends:
            box = legend.get_window_extent().transformed(figure.transFigure.inverted())
            assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= 1 and box.y1 <= 1, name


def test_torso_response_shows_the_data_of_the_runs(runs: dict[str, Run]) -> None:
    figure = view.torso_response(runs, title="Yaw bending")
    pitch, roll, yaw, pitch_rate, roll_rate, yaw_rate = figure.axes
    assert sum(len(labelled(axes)) for axes in (pitch, roll, yaw)) == 3 * len(runs)
    for label, run in runs.items():
        for axes, name in ((pitch, "phi_x"), (roll, "phi_y"), (yaw, "phi_z")):
            x, y = labelled(axes)[printed(label)]
            np.testing.assert_allclose(x, run.data["time"] * 1e3)
            np.testing.assert_allclose(y, np.degrees(run.data["q"].sel(coordinate=name)), atol=1e-12)
        for axes, angle in ((pitch_rate, "pitch"), (roll_rate, "roll"), (yaw_rate, "yaw")):
            times = run.data["time"].to_numpy()
            by_differences = np.gradient(np.degrees(run_torso_angles(run)[angle]), times)
            np.testing.assert_allclose(labelled(axes)[printed(label)][1][1:-1], by_differences[1:-1], atol=0.05)
    assert not any(lines_named(axes, STOPPED) for axes in figure.axes)


def test_a_stopped_run_is_marked_at_its_end(runs: dict[str, Run], stopped: Run) -> None:
    assert stopped.stopped is not None
    figure = view.torso_response({"pendulum": stopped, "r3": runs["r3"]})
    for axes in figure.axes:
        (cross,) = lines_named(axes, STOPPED)
        assert cross[0, 0] == pytest.approx(stopped.stopped.time * 1e3)
        assert cross[1, 0] == labelled(axes)["pendulum"][1][-1]
    texts = [text.get_text().replace("\n", " ") for text in figure.legends[0].get_texts()]
    assert texts[0].startswith("pendulum, stopped at") and stopped.stopped.reason in texts[0]
    assert texts[1] == "R3"


def test_net_rotation_leaves_runs_that_ended_early_hollow() -> None:
    turned = {"pendulum": [-1.0, -2.0, -3.0], "r3": [-1.5, -2.5, np.nan]}
    figure = view.net_rotation([10, 20, 30], turned, axis="yaw", ends={"r3": [False, True, False]})
    (axes,) = figure.axes
    np.testing.assert_array_equal(labelled(axes)["R3"], [[10, 20, 30], turned["r3"]])
    hollow = [line for line in axes.lines if line.get_gid() == "ended early" and len(line.get_xdata())]
    assert [list(line.get_xdata()) for line in hollow] == [[20.0]]
    assert hollow[0].get_markerfacecolor() == "white"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["pendulum", "R3", "ended early"]


@pytest.mark.parametrize("tail", ["pendulum", "r3", "usrt"])
def test_curvatures_of_segments(tail: str) -> None:
    """Desired is the even bend of the motion, actual that of the run: they differ by what the measures say."""
    scenario = Scenario(few_links(tail), pitch(20, period=1.2), "joint")
    run = perform(scenario, samples=31)
    segments = segment_curvatures(run, scenario)
    assert [name for name, _, _ in segments] == ([] if tail == "pendulum" else ["segment 1", "segment 2"])
    if tail == "pendulum":
        return
    desired, actual = (np.array([one[k] for one in segments]) for k in (1, 2))
    assert desired.shape == actual.shape == (2, 31)
    found = measured(run, scenario, ["curvature_error_peak", "curvature_error_rms"])
    assert np.abs(actual - desired).max() == pytest.approx(found["curvature_error_peak"], rel=1e-9)
    squares = np.trapezoid((actual - desired) ** 2, run.data["time"].to_numpy(), axis=1) / 0.3
    assert np.sqrt(squares.mean()) == pytest.approx(found["curvature_error_rms"], rel=1e-9)
    assert desired[0] == pytest.approx(desired[1], rel=1e-12) and desired[0, 0] == 0.0 < desired[0, -1]
    assert actual[:, 0] == pytest.approx(0.0, abs=1e-12)


def test_curvature_tracking_shows_the_error() -> None:
    t = np.linspace(0.0, 1.2, 61)
    wanted = {"r3, segment 1": np.sin(t), "usrt, segment 1": np.sin(t)}
    found = {"r3, segment 1": np.sin(t) + 0.1, "usrt, segment 1": np.sin(t[:40])}
    figure = view.curvature_tracking(t, wanted, found)
    above, below = figure.axes
    assert len(lines_named(above, "desired")) == 1, "two tails that are asked the same share their line"
    first, second = lines_named(below, "error")
    np.testing.assert_allclose(first[1], 0.1)
    np.testing.assert_allclose(second, [t[:40] * 1e3, np.zeros(40)], atol=1e-12)
    with pytest.raises(UnknownNameError, match="desired"):
        view.curvature_tracking(t, {}, found)
    own = {"r3, segment 1": t, "usrt, segment 1": t / 2}
    figure = view.curvature_tracking(own, wanted, {**wanted})
    assert [line[0, -1] for line in lines_named(figure.axes[0], "actual")] == pytest.approx([1200.0, 600.0])
    assert len(lines_named(figure.axes[0], "desired")) == 2


def test_foot_forces_shows_forces_and_friction(runs: dict[str, Run], stopped: Run) -> None:
    shown_runs = {**runs, "pendulum, long": stopped}
    figure = view.foot_forces(shown_runs)
    assert len(figure.axes) == 2 * len(shown_runs)
    for column, run in enumerate(shown_runs.values()):
        above, below = figure.axes[column], figure.axes[len(shown_runs) + column]
        for foot in run.model.foot_names:
            force = run.data["foot_force"].sel(foot=foot).to_numpy()
            (normal,), (needed,) = lines_named(above, foot), lines_named(below, foot)
            np.testing.assert_array_equal(normal[1], force[:, 2])
            np.testing.assert_array_equal(needed[1], friction_ratio(force))
        assert any("would pull" in text.get_text() for text in above.texts)
        assert "cut at 2" in below.get_title(loc="left"), "the long run asks for more"
        largest = max(float(line[1].max()) for foot in run.model.foot_names for line in lines_named(below, foot))
        assert largest == pytest.approx(run.friction_needed())
    assert figure.axes[0].get_ylim()[0] < 0
    figure = view.foot_forces(runs)
    assert not figure.axes[2].get_title(loc="left")
    assert figure.axes[2].get_ylim()[1] == pytest.approx(1.08 * max(run.friction_needed() for run in runs.values()))


def test_friction_is_infinite_where_a_foot_pulls() -> None:
    np.testing.assert_allclose(friction_ratio(np.array([[3.0, 4.0, 10.0], [1.0, 0.0, -1.0]])), [0.5, np.inf])


# Angles


def test_angles_of_a_quaternion_are_those_of_its_rotation() -> None:
    """A free fall of a turning torso: pitch about the axis across, nose up: with x forward about −y."""
    model = tailwork.Model(tailwork.robots.biswal(), stance="none", attitude="quaternion")
    v = np.zeros(len(model.velocity_names))
    v[3:6] = 0.0, -2.0, 0.0
    run = tailwork.simulate(model, (model.standing(), v), duration=0.05)
    angles, rates = run_torso_angles(run), torso_rates(run)
    assert np.degrees(angles["pitch"][-1]) > 3.0
    assert np.abs(angles["roll"]).max() < 1e-9 and np.abs(angles["yaw"]).max() < 1e-9
    by_differences = np.gradient(angles["pitch"], run.data["time"].to_numpy())
    np.testing.assert_allclose(rates["pitch"][1:-1], by_differences[1:-1], atol=1e-2)


# The robot on the sheet


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("forward", ["x", "y"])
def test_cameras_are_right_handed_frames(name: str, forward: str) -> None:
    eye = camera(name, forward)
    frame = np.array([eye.right, eye.up, eye.toward])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(frame) == pytest.approx(1.0)
    ahead = np.array({"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0)}[forward])
    if name in ("side", "top"):
        np.testing.assert_allclose(eye.project(ahead), [1.0, 0.0], atol=1e-12)
    assert eye.depth(ahead) < 1e-12, "seen from behind or from the side"


@pytest.mark.parametrize("view_name", [*VIEWS, "-120,50", "17,-20"])
def test_views_are_names_or_angles(view_name: str) -> None:
    eye = camera(view_name)
    turn, lift = VIEWS.get(view_name) or map(float, view_name.split(","))
    assert eye.toward[2] == pytest.approx(np.sin(np.radians(lift)))
    assert eye.right[1] == pytest.approx(np.sin(np.radians(turn)), abs=1e-12), "from the right, forward is to the right"


@pytest.mark.parametrize("view_name", ["44,32,1", "44,", "a,b", "nan,3", "0,91"])
def test_angles_that_are_none_are_refused(view_name: str) -> None:
    with pytest.raises(ArgumentError, match=r"view.*44,32"):
        camera(view_name)


def test_corners_of_the_torso_are_where_the_model_has_the_hips(stopped: Run) -> None:
    """The hips of this robot are at the corners of its plate, half way between its upper and lower side."""
    run, scene = stopped, scene_of(stopped)
    one, last = subject(scene, "three-quarter", LIGHT), samples_at(scene, [scene.times[-1]])[0]
    corners = one.parts.boxes.places(last).reshape(-1, 3)
    drawn = one.robot(last).outlines.reshape(-1, 2)
    points = dict(zip(run.model.point_names, run.data["points"].to_numpy()[-1], strict=True))
    seen = 0
    for leg in run.model.layout.legs:
        hip = points[f"{leg}.ha"]
        ends = corners[np.argsort(np.linalg.norm(corners - hip, axis=1))[:2]]
        np.testing.assert_allclose(ends.mean(axis=0), hip, atol=1e-9)
        seen += sum(np.linalg.norm(drawn - end, axis=1).min() < 1e-9 for end in one.camera.project(ends))
    assert seen == 7, "the eye sees three sides of a box and so seven of its corners"


def random_sample(scene: Scene) -> SceneSample:
    """Every frame somewhere, turned somehow."""
    random = np.random.default_rng(3)
    turns = random.normal(size=(len(scene.frames), 4))
    places = random.normal(size=(len(scene.frames), 3))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    return SceneSample(0.0, places, turns, np.zeros((0, 3)), np.zeros((0, 3)))


def solid_scene(run: Run, *shapes: SceneShape) -> Scene:
    """A torso that is hardly there, and other shapes, each on a frame of its own."""
    scene = scene_of(run)
    solids = [Solid(k, shape, "#0072b2", "tail") for k, shape in enumerate(shapes, start=1)]
    torso = Solid(0, Box((0.0, 0.0, 0.0), (1e-9, 1e-9, 1e-9)), "#0072b2", "torso")
    return replace(scene, solids=(torso, *solids), threads=())


@pytest.mark.parametrize("view_name", ["three-quarter", "side", "top", "200,-10"])
def test_outlines_are_the_shadows_of_the_solids(runs: dict[str, Run], view_name: str) -> None:
    """Support functions agree: how far an outline reaches is how far the solid reaches, in every direction."""
    box, ball = Box((0.1, 0.0, 0.2), (0.3, 0.2, 0.1)), Ball((0.0, 0.1, 0.0), (0.1, 0.2, 0.3))
    bar = Bar((0.0, 0.0, 0.1), (0.3, 0.1, 0.0), 0.1, 0.05)
    drum = Bar((0.0, 0.2, 0.0), (0.1, 0.0, 0.0), 0.1, 0.1, rounded=False)
    for shape in (box, ball, bar, drum):
        scene = solid_scene(runs["pendulum"], shape)
        one, moment = subject(scene, view_name, LIGHT), random_sample(scene)
        outlines = one.robot(moment).outlines
        outlines = outlines[np.ptp(outlines, axis=1).max(axis=1) > 1e-6]
        place, turn = moment.places[1], moment.rotations[1]
        for angle in np.linspace(0.0, 6.0, 13):
            along = np.cos(angle) * one.camera.right + np.sin(angle) * one.camera.up
            own = turn.T @ along
            if isinstance(shape, Box):
                reach = own @ shape.center + np.abs(own) @ shape.size / 2.0
            elif isinstance(shape, Ball):
                reach = own @ shape.center + np.linalg.norm(own * shape.radii)
            else:
                ends, radii = np.array([shape.start, shape.end]), np.array([shape.start_radius, shape.end_radius])
                axis = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
                reach = (ends @ own + radii * (1.0 if shape.rounded else np.linalg.norm(np.cross(axis, own)))).max()
            drawn = (outlines @ [np.cos(angle), np.sin(angle)]).max()
            tolerance = 1e-12 if isinstance(shape, Box) else 0.3 * (1.0 - np.cos(np.pi / 24))  # of a polygon
            assert place @ along + reach == pytest.approx(drawn, abs=tolerance)


def test_the_front_of_the_torso_is_drawn_in_its_place(runs: dict[str, Run]) -> None:
    scene = scene_of(runs["pendulum"])
    one = subject(scene, "top", LIGHT)
    body, front = one.parts.boxes.places(samples_at(scene, [0.0])[0])
    np.testing.assert_allclose(np.ptp(one.camera.project(body), axis=0), [0.45, 0.3], atol=1e-12)
    across = one.camera.project(front)[:, 0]
    assert across.min() == pytest.approx(0.2) and across.max() == pytest.approx(0.25), "forward is to the right"


def test_nearer_solids_are_painted_later(runs: dict[str, Run]) -> None:
    """From the right, the right feet come after the left ones, and the torso between them."""
    scene = scene_of(runs["r3"])
    one, moment = subject(scene, "side", LIGHT), samples_at(scene, [0.1])[0]
    painted = one.robot(moment)
    assert (np.diff(painted.depths) >= 0).all()
    middles = (painted.outlines.min(axis=1) + painted.outlines.max(axis=1)) / 2.0
    feet = moment.feet(scene)
    found = [int(np.linalg.norm(middles - place, axis=1).argmin()) for place in one.camera.project(feet)]
    right, left = ({k for k, foot in zip(found, feet, strict=True) if (foot[0] > 0) == side} for side in (True, False))
    assert min(right) > max(left)


def test_the_drawn_torso_has_the_size_of_the_plate_and_reaches_the_hips() -> None:
    lower, upper = torso_box(tailwork.robots.liu2020())
    np.testing.assert_allclose((upper - lower)[:2], [0.3, 0.5])
    lower, upper = torso_box(tailwork.robots.blaberus())
    size = upper - lower
    assert size[0] > size[1] > size[2] > 0, "long, broad, flat"
    for make in tailwork.robots.presets().values():
        robot = make()
        lower, upper = torso_box(robot)
        hips = [j.offset for limb in robot.limbs().values() if limb.foot for j in limb.joints if j.parent is None]
        assert (np.array(hips) >= lower - 1e-12).all() and (np.array(hips) <= upper + 1e-12).all()


def test_capsules_hold_both_circles() -> None:
    a, b = np.array([[0.0, 0.0]] * 2), np.array([[3.0, 4.0], [0.0, 0.1]])
    first, second = np.array([1.0, 0.2]), np.array([0.5, 0.3])
    far, near = capsules(a, b, first, second)
    reach = np.minimum(np.linalg.norm(far - a[0], axis=1) - 1.0, np.linalg.norm(far - b[0], axis=1) - 0.5)
    np.testing.assert_allclose(reach, 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(near - b[1], axis=1), 0.3, err_msg="one circle holds the other")
    np.testing.assert_allclose(far[0], far[-1], atol=1e-12)


def test_coils_wind_about_their_axis() -> None:
    a, b = np.array([[0.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 2.0]])
    (coil,) = coils(a, b, np.array([0.1]), TURNS, CORNERS)
    away = np.hypot(coil[:, 0], coil[:, 1])
    assert away[0] == away[-1] == 0.0 and away.max() == pytest.approx(0.1)
    np.testing.assert_allclose(coil[[0, -1]], [a[0], b[0]], atol=1e-15)
    assert (np.diff(coil[:, 2]) > 0).all()


def test_meshes_are_nice() -> None:
    assert [nice(x) for x in (0.09, 0.1, 0.11, 0.3, 0.7, 1.0)] == pytest.approx([0.1, 0.1, 0.2, 0.5, 1.0, 1.0])


def test_time_lapse_shows_the_frames_and_their_times(runs: dict[str, Run]) -> None:
    figure = view.time_lapse(runs, frames=4, title="Both tails")
    texts = [text.get_text() for text in figure.texts]
    assert [text for text in texts if text.endswith(" ms")] == ["0 ms", "100 ms", "200 ms", "300 ms"] * 2
    assert {"Both tails", "pendulum", "R3"} <= set(texts)
    assert len(figure.axes) == 2 * (1 + 4)
    ghosts = figure.axes[0]
    (trace,) = lines_named(ghosts, "centre of mass of the tail")
    center = runs["pendulum"].data["part_center"].sel(part="tail").to_numpy()
    np.testing.assert_allclose(trace.T, camera("three-quarter").project(center))
    painted = [c for c in ghosts.collections if isinstance(c, PolyCollection)]
    assert len(painted) == 1 + 4, "a shadow and four poses"
    pale = [np.mean(to_rgb(c.get_facecolor()[0][:3])) for c in sorted(painted[1:], key=lambda c: c.get_zorder())]
    assert pale == sorted(pale, reverse=True), "older ghosts are paler"


def test_nothing_of_a_robot_is_cut_off(runs: dict[str, Run]) -> None:
    for name in VIEWS:
        figure = view.time_lapse({"r3": runs["r3"]}, frames=2, view=name)
        for axes in figure.axes:
            (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
            for patches in (c for c in axes.collections if isinstance(c, PolyCollection)):
                corners = np.concatenate([path.vertices for path in patches.get_paths()])
                assert corners[:, 0].min() >= x0 and corners[:, 0].max() <= x1
                assert corners[:, 1].min() >= y0 and corners[:, 1].max() <= y1


def test_time_lapse_of_a_run_that_stopped(runs: dict[str, Run], stopped: Run) -> None:
    assert stopped.stopped is not None
    figure = view.time_lapse({"pendulum": runs["pendulum"], "long": stopped}, frames=6)
    texts = [text.get_text() for text in figure.texts]
    ended = f"{stopped.stopped.time * 1e3:.0f} ms"
    assert texts.count(ended) == 1
    assert any(stopped.stopped.reason in text.replace("\n", " ") for text in texts)
    assert texts.count("300 ms") == 1, "the shorter run ends with its last moment"


def test_runs_read_from_a_file_are_drawn_alike(runs: dict[str, Run], tmp_path: Path) -> None:
    runs["pendulum"].save(tmp_path / "run.nc")
    again = load_run(tmp_path / "run.nc")
    for draw in (view.torso_response, lambda runs: view.time_lapse(runs, frames=2)):
        assert rendered(draw({"pendulum": again}), "svg") == rendered(draw({"pendulum": runs["pendulum"]}), "svg")


def test_what_cannot_be_drawn_is_said(runs: dict[str, Run]) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'side'"):
        view.time_lapse(runs, view="sid")
    with pytest.raises(ArgumentError, match="frames"):
        view.time_lapse(runs, frames=1)
    with pytest.raises(ArgumentError, match="at least one run"):
        view.time_lapse({})
    with pytest.raises(ArgumentError, match="at least one run"):
        view.foot_forces({})


# The look


def test_a_tail_looks_the_same_in_every_picture() -> None:
    alone, among = looks(["usrt"]), looks(["none", "pendulum", "r3", "usrt", "pendulum, 80°"])
    assert alone["usrt"] == among["usrt"]
    assert {among[tail].color for tail in TAILS} == {color for color, _, _ in TAILS.values()}
    assert among["pendulum, 80°"].color == among["pendulum"].color
    assert among["pendulum, 80°"].line != among["pendulum"].line
    many = looks(["pendulum", "r3", "usrt", "a", "b", "c", "d"])
    assert len({look.color for look in many.values()}) == len(many)
    assert [printed(label) for label in ("pendulum", "r3", "usrt, segment 2")] == ["pendulum", "R3", "USRT, segment 2"]


def test_settings_are_left_as_they_were(runs: dict[str, Run]) -> None:
    before = dict(rcParams)
    view.torso_response(runs)
    with view.look():
        assert all(rcParams[key] == RC[key] for key in ("font.size", "svg.hashsalt"))
    assert dict(rcParams) == before


# Files


def test_files_are_the_same_each_time(
    figures: dict[str, Figure], runs: dict[str, Run], stopped: Run, tmp_path: Path
) -> None:
    """Made twice, and written twice: not one byte differs."""
    starts = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
    whole = ("rotation",)  # of the others only the SVG: time
    for name, other in all_figures(runs, stopped).items():
        figure = figures[name]
        assert rendered(figure, "svg") == rendered(other, "svg"), name
        if name not in whole:
            continue
        paths = view.save(figure, tmp_path / "one" / "deep", name)
        assert list(paths) == list(KINDS)
        for kind, path in paths.items():
            content = path.read_bytes()
            assert path == tmp_path / "one" / "deep" / f"{name}.{kind}" and content.startswith(starts[kind])
            assert content == rendered(figure, kind) == rendered(other, kind), (name, kind)
    assert len(list((tmp_path / "one" / "deep").iterdir())) == len(whole) * len(KINDS), "and nothing else is left there"


def test_a_folder_that_cannot_be_written_to(runs: dict[str, Run], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    figure = view.net_rotation([1.0], {"r3": [1.0]}, axis="yaw")
    for folder in (tmp_path / "file", tmp_path / "file" / "deeper"):
        with pytest.raises(FileError, match="file"):
            view.save(figure, folder, "picture")
    with pytest.raises(FileError, match="missing"):
        view.write_page(tmp_path / "missing" / "report.html", "")
