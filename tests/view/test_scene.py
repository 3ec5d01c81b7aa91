"""Scenes: what is drawn is where the simulation says it is."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from pucks import DAMPED, bumpy, ground, tailed, thrown
from small_walks import small_biswal, small_nelson_quinn
from tailwork.control import held
from tailwork.control.gait.foot_kinematics import posed
from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.model import Model
from tailwork.robots import FreeLimb, liu2020
from tailwork.robots.springs import BendingSpring, PointSpring
from tailwork.simulation import RigidGround, Run, simulate
from tailwork.simulation.pose import run_torso_angles
from tailwork.simulation.record import arrays_of
from tailwork.studies.motions import coupled
from tailwork.studies.perform import perform
from tailwork.studies.scenario import Scenario
from tailwork.view.scene import Ball, Bar, Box, Scene, scene_of, scenes_of
from tailwork.view.scene.colors import TAILS, lit
from tailwork.view.scene.sample import quaternions
from tailwork.view.scene.shapes import drawn

ROUNDING = 1e-13  # [m], of places on robots of about a metre
KINDS = ("pendulum", "r3", "usrt", "cockroach", "biswal", "hills", "airborne", "fixed")


@cache
def run_of(kind: str) -> Run:
    """A short run of every kind of robot, tail, stance and ground."""
    match kind:
        case "cockroach":
            return small_nelson_quinn().walk
        case "biswal":
            return small_biswal().trot.run
        case "hills":
            return thrown((0.0, 0.0, 0.03), (1.0, 0.5, 0.0), 0.2, on=ground(surface=bumpy(), **DAMPED), samples=21)
        case "airborne":
            return perform(Scenario(liu2020("pendulum"), coupled(), "airborne"), samples=21)
        case "fixed":
            held = Model(liu2020("pendulum"), "none", torso="fixed")
            return simulate(held, held.standing(), 0.05, samples=11)
    return perform(Scenario(liu2020(kind), coupled(), "paper"), samples=21)


@cache
def scene_for(kind: str) -> Scene:
    return scene_of(run_of(kind), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_frames_feet_tips_and_centres_are_where_the_model_has_them(kind: str) -> None:
    run, scene = run_of(kind), scene_for(kind)
    model, points = run.model, run.data["points"].to_numpy()
    center = model.center_of_mass(run.data["q"].to_numpy())
    fall = np.zeros_like(center)
    if kind == "airborne":
        fall[:, 2] = center[:, 2] - center[0, 2]
        assert fall[-1, 2] < -0.4, "it falls for 0.3 s"
    if kind == "fixed":
        fall[:, 2] = points[..., 2].min()  # so high that nothing reaches below the ground
    for frame in scene.frames:
        assert frame.places == pytest.approx(points[:, model.point_names.index(frame.name)] - fall, abs=ROUNDING)
    ends = [(f"{name}.tip", frame, point) for name, frame, point in scene.tips]
    ends += [(f"{force.foot}.foot", force.frame, force.point) for force in scene.forces]
    assert ends
    for name, frame, point in ends:
        place = points[:, model.point_names.index(name)] - fall
        assert scene.frames[frame].path(point) == pytest.approx(place, abs=ROUNDING)
    assert scene.markers[0].places == pytest.approx(center - fall, abs=ROUNDING)


@pytest.mark.parametrize("kind", KINDS)
def test_turns_are_unit_quaternions_without_jumps(kind: str) -> None:
    for frame in scene_for(kind).frames:
        assert np.linalg.norm(frame.turns, axis=1) == pytest.approx(1.0, abs=1e-14)
        assert (np.einsum("ti,ti->t", frame.turns[1:], frame.turns[:-1]) > 0).all()
        assert np.linalg.det(frame.rotations()) == pytest.approx(1.0, abs=1e-13)


def test_quaternions_of_rotations_about_every_axis_by_every_angle() -> None:
    rng = np.random.default_rng(1)
    for axis in rng.normal(size=(20, 3)):
        axis /= np.linalg.norm(axis)
        half = np.linspace(0.0, 2.0 * np.pi, 50)  # the rotation goes round twice
        wanted = np.concatenate([np.cos(half)[:, None], np.sin(half)[:, None] * axis], axis=1)
        w, v = wanted[:, :1, None], wanted[:, 1:]
        across = np.cross(np.eye(3)[None], v[:, None])  # rows e_i × v
        turned = (
            (w * w - (v * v).sum(axis=1)[:, None, None]) * np.eye(3)
            + 2.0 * v[:, :, None] * v[:, None]
            + 2.0 * w * across
        )
        assert quaternions(turned) == pytest.approx(wanted, abs=1e-14)


def test_springs_are_drawn_as_long_as_their_energy_says() -> None:
    """Elastic energy = ½ Σ k (drawn length − rest)² + ½ Σ k sigma² (Liu & Ben-Tzvi 2020, Eqs. 48 and 63)."""
    run, scene = run_of("usrt"), scene_for("usrt")
    limb = run.model.layout.limbs["tail"]
    threads = [thread for thread in scene.threads if thread.kind == "spring"]
    springs = [spring for spring in limb.springs if isinstance(spring, PointSpring)]
    energy = np.zeros(len(scene.times))
    for thread, spring in zip(threads, springs, strict=True):
        first, second = (scene.frames[frame].path(point) for frame, point in thread.points)
        energy += (
            0.5 * float(spring.stiffness) * (np.linalg.norm(second - first, axis=1) - float(spring.rest_length)) ** 2
        )
    for spring in limb.springs:
        if isinstance(spring, BendingSpring):
            a, b = (run.data["q"].sel(coordinate=f"tail.{name}").to_numpy() for name in (spring.first, spring.second))
            energy += 0.5 * float(spring.stiffness) * np.arccos(np.cos(a) * np.cos(b)) ** 2
    assert energy == pytest.approx(run.data["elastic_energy"].to_numpy(), rel=1e-9)


def test_cables_shorten_by_the_work_they_do() -> None:
    """Power = −tension · rate of the drawn length, by central differences."""
    run = perform(Scenario(liu2020("usrt"), coupled(), "paper"), samples=1201)
    scene = scene_of(run)
    cables = [thread for thread in scene.threads if thread.kind == "cable"]
    assert [cable.name for cable in cables] == [f"tail.T_{j}" for j in range(1, 7)]
    for cable in cables:
        path = np.array([scene.frames[frame].path(point) for frame, point in cable.points])
        length = np.linalg.norm(np.diff(path, axis=0), axis=2).sum(axis=0)
        power = -run.data["tau"].sel(actuator=cable.name).to_numpy() * np.gradient(length, scene.times)
        wanted = run.data["power"].sel(source=cable.name).to_numpy()
        assert power[2:-2] == pytest.approx(wanted[2:-2], abs=2e-3 * np.abs(wanted).max())


def test_a_limb_without_a_tip_is_drawn_to_its_centre_of_mass() -> None:
    model = Model(tailed(), "none", torso="fixed")
    scene = scene_of(simulate(model, np.zeros(2), 0.01, samples=3))
    (bar,) = [s for s in scene.solids if s.role == "tail"]
    assert isinstance(bar.shape, Bar)
    drawn = scene.frames[bar.frame].path(bar.shape.end)
    (marker,) = [m for m in scene.markers if m.name == "centre of mass of the tail"]
    assert drawn == pytest.approx(marker.places, abs=ROUNDING)


def test_sizes_are_the_robots_own() -> None:
    robot = liu2020("usrt")
    boxes = [solid.shape for solid in scene_for("usrt").solids if isinstance(solid.shape, Box)]
    assert sum(box.size[1] for box in boxes) == pytest.approx(robot.torso.length)
    assert all(box.size[0] == pytest.approx(robot.torso.width) for box in boxes)
    discs = [s.shape for s in scene_for("usrt").solids if isinstance(s.shape, Bar) and not s.shape.rounded]
    assert len(discs) == robot.part("tail").links
    coxae = [s.shape for s in scene_for("cockroach").solids if isinstance(s.shape, Ball) and s.role == "leg"]
    leg = run_of("cockroach").model.robot.part("front_left")
    assert len(coxae) == 6 and (leg.coxa_length / 2, leg.coxa_height, leg.coxa_width) in [coxa.radii for coxa in coxae]


def test_an_own_tail_is_drawn_by_what_it_is_made_of() -> None:
    """A chain of links with a kind of its own: bars; with cables through holes: discs; on pulleys: drums."""
    usrt, r3 = liu2020("usrt"), liu2020("r3")
    for robot, flat in ((usrt, usrt.part("tail").links), (r3, 12), (liu2020("pendulum"), 0)):
        own = replace(robot, parts={**robot.parts, "tail": FreeLimb(limb=robot.limbs()["tail"])})
        tail = [solid.shape for solid in drawn(own, "#123456").solids if solid.role == "tail"]
        known = [solid.shape for solid in drawn(robot, "#123456").solids if solid.role == "tail"]
        assert tail == known
        assert sum(isinstance(shape, Bar) and not shape.rounded for shape in tail) == flat


@pytest.mark.parametrize("kind", KINDS)
def test_colours_mean_the_same_in_space_and_in_plots(kind: str) -> None:
    scene = scene_for(kind)
    plots = {plot.key: plot for plot in scene.plots}
    if scene.forces:
        assert {curve.name: curve.color for curve in plots["normal force"].curves} == {
            force.foot: force.color for force in scene.forces
        }
    if kind in TAILS:
        assert scene.color == TAILS[kind][0]
        assert scene.color in {s.color for s in scene.solids if s.role == "tail"} | {lit(scene.color, 0.0)}
        assert all(curve.color == scene.color for curve in plots["pitch"].curves)
    assert all(plot.unit and len(curve.values) == len(scene.times) for plot in scene.plots for curve in plot.curves)


def test_runs_side_by_side_have_colours_of_their_own() -> None:
    scenes = scenes_of({"a": run_of("pendulum"), "b": run_of("pendulum"), "c": run_of("r3"), "d": run_of("biswal")})
    colors = [scene.color for scene in scenes]
    assert len(set(colors)) == 4 and colors[0] == TAILS["pendulum"][0] and colors[2] == TAILS["r3"][0]
    assert [scene.label for scene in scenes] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("kind", KINDS)
def test_everything_lies_within_the_extent(kind: str) -> None:
    scene = scene_for(kind)
    lower, upper = scene.extent()
    for frame in scene.frames:
        on = [solid.shape for solid in scene.solids if scene.frames[solid.frame] is frame]
        for shape in on:
            if isinstance(shape, Bar):
                for path in (frame.path(shape.start), frame.path(shape.end)):
                    assert (path >= lower).all() and (path <= upper).all()
    assert (upper - lower > 0).all() and scene.size > 0


def test_the_ground_is_that_of_the_run() -> None:
    assert scene_for("pendulum").terrain.flat
    terrain, field = scene_for("hills").terrain, bumpy()
    assert not terrain.flat
    for i, j in ((0, 0), (10, 20), (-1, -1)):
        assert terrain.heights[i, j] == pytest.approx(field.height(terrain.x[i], terrain.y[j]), abs=1e-15)


def test_fewer_moments_keep_both_ends_and_say_so() -> None:
    run, whole = run_of("pendulum"), scene_for("pendulum")
    scene = scene_of(run, most=8)
    assert len(scene.times) == 8 and scene.times[[0, -1]].tolist() == whole.times[[0, -1]].tolist()
    assert ("samples shown", "8 of 21") in scene.caption.measures
    assert scene.frames[0].places[-1].tolist() == whole.frames[0].places[-1].tolist()
    for most in (1, 2.0, True):
        with pytest.raises(ArgumentError, match="at least 2"):
            scene_of(run, most=most)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="at least one run"):
        scenes_of({})


def test_samples_that_are_nan_are_left_out_and_noted() -> None:
    run = pickle.loads(pickle.dumps(run_of("pendulum")))  # its arrays alone
    q = run.data["q"].to_numpy().copy()
    q[15:] = np.nan
    broken = replace(run, record=arrays_of(run.data.assign(q=(("time", "coordinate"), q))))
    scene = scene_of(broken)
    assert len(scene.times) == 15 and "what follows is NaN" in scene.caption.notes[0]
    q[:] = np.nan
    with pytest.raises(ArgumentError, match="first sample is finite"):
        scene_of(replace(run, record=arrays_of(run.data.assign(q=(("time", "coordinate"), q)))))
    for wrong in (run, {}, {"a": 1}):
        with pytest.raises(ArgumentError, match="at least one run"):
            scenes_of(wrong)  # type: ignore[arg-type]


def test_arrows_have_a_measure_where_nothing_weighs() -> None:
    scene = replace(scene_for("pendulum"), weight=0.0)
    assert scene.force_unit == pytest.approx(max(np.abs(force.forces).max() for force in scene.forces))
    assert scene_for("pendulum").force_unit == scene_for("pendulum").weight


def test_captions_say_what_was_done_and_how_it_went() -> None:
    caption = scene_for("pendulum").caption
    assert caption.robot == "liu2020-pendulum" and caption.motion.startswith("coupled: the tail pitches from 20° to 0°")
    said = dict(caption.measures)
    assert said["time simulated"].endswith(" s") and float(said["largest torque on a joint of the tail [N m]"]) > 0.0
    assert "in the air: seen by an eye that falls with it" in scene_for("airborne").caption.notes
    assert dict(scene_for("hills").caption.measures)["feet"] == "some slipped or lifted"
    with pytest.raises(UnknownNameError, match=r"tail\.tb"):
        scene_for("pendulum").frame("tail.tc")


@pytest.mark.parametrize("kind", ["biswal", "cockroach", "hills"])
def test_phases_are_those_of_the_run(kind: str) -> None:
    """At every sample a foot is on the ground in its phases just where the run says so, and in the same state."""
    run = run_of(kind)
    scene, times = scene_of(run), run.data["time"].to_numpy()
    changes = np.array([time for time, _, _ in run.changes])
    assert len(scene.phases) == run.data.sizes["foot"]
    for phases, states in zip(scene.phases, run.data["contact"].to_numpy().T, strict=True):
        for time, state in list(zip(times, states, strict=True))[1:-1]:
            if len(changes) and np.abs(changes - time).min() < 1e-9:
                continue  # a sample on a change belongs to either side
            now = [said for start, end, said in phases.spans if start <= time <= end]
            assert now == ([] if state == 0 else [("air", "stick", "slip")[int(state)]])
    assert scene_of(run_of("pendulum")).phases == (), "pinned feet have none"


@pytest.mark.parametrize("method", ["auto", "event-driven"])
def test_impulses_are_those_of_the_impacts(method: str) -> None:
    """A robot that is dropped on rigid ground: of its impacts, all but the smallest are shown, at their times."""
    model = Model(liu2020("pendulum"), "none")
    q = posed(model)
    q[2] += 0.02
    run = simulate(model, q, 0.08, ground=RigidGround(friction=0.6), method=method)
    times, given = run.data["impact_time"].to_numpy(), run.data["impact_impulse"].to_numpy()
    feet, sizes = list(run.data["foot"].to_numpy()), np.linalg.norm(given, axis=2)
    shown = {(time, phases.point): impulse for phases in scene_of(run).phases for time, impulse in phases.impulses}
    assert shown == {
        (times[k], feet[foot]): tuple(given[k, foot]) for k, foot in np.argwhere(sizes > 0.02 * sizes.max())
    }
    assert {point for time, point in shown if time == times[0]} == set(model.layout.legs), "all feet land at once"


def test_angles_go_on_beyond_half_a_turn() -> None:
    """A robot that is thrown into the air at 20 rad/s pitches by more than half a turn, and its curve has no jump."""
    model = Model(liu2020("pendulum"), "none", attitude="quaternion", prescribed=["tail"])
    v = np.zeros(len(model.velocity_names))
    v[3] = 20.0
    still = {"tail": {"ta": held(0.0), "tb": held(0.0)}}
    run = simulate(model, (posed(model), v), 0.26, motions=still)
    pitch = run_torso_angles(run)["pitch"]
    assert np.abs(np.diff(pitch)).max() < 1.0 and abs(pitch[-1] - pitch[0]) > 3.3
