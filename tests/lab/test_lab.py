"""The lab without its page: designs, choices, what is simulated and what is drawn of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from real_robots import urdf
from tailwork.algebra.expression import Scalar
from tailwork.errors import ArgumentError, FileError, UnknownNameError
from tailwork.lab.charts import charts_of
from tailwork.lab.choice import (
    NO_TAIL,
    OWN,
    Choice,
    TailChoice,
    carriers,
    carrying,
    first_choice,
    policy_choices,
    robot_from_file,
    tail_choices,
)
from tailwork.lab.experiment import Experiment, performed, to_compile
from tailwork.lab.meshes import mesh_of
from tailwork.lab.page import REST, SPEEDS, Clock
from tailwork.lab.results import notes, playback_file, results_html, robot_file, rows, run_file
from tailwork.lab.stage import FREE, eye_for, places, thread_lines
from tailwork.lab.tails import (
    friction_slider,
    motion_sliders,
    redesigned,
    tail_sliders,
    torso_slider,
    value_of,
)
from tailwork.robots import biswal, liu2018, liu2020, load
from tailwork.robots.body import bar
from tailwork.robots.io.toml import as_text, from_text
from tailwork.robots.limb import FORWARD_FRAMES, Joint, Limb, Motor, Tip, placed
from tailwork.robots.quantities import Vector, positive, vector
from tailwork.robots.robot import Robot
from tailwork.robots.tails.fit import NAMED
from tailwork.robots.tails.tail import Tail
from tailwork.simulation import load_run
from tailwork.simulation.stopping import Stopped
from tailwork.studies.motions import KINDS
from tailwork.view.scene import Ball, Bar, Box, Thread, still_scene
from tailwork.view.scene.sample import SceneSample, samples_at
from tailwork.view.scene.scene import ARROW

ROBOTS = {name: carrying(liu2020(), name) for name in ("pendulum", "r3", "usrt")} | {"own": liu2018()}


def redesigned_tail(robot: Robot, design: dict[str, float]) -> Any:
    return redesigned(robot, design).part("tail")


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    """Two pendulums of which the second is longer, with the legs held by springs."""
    return performed(
        Choice(liu2020(), (TailChoice("pendulum"), TailChoice("pendulum", {"total_length": 0.6})), policy="joint")
    )


# Designs


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_sliders_start_at_the_tail_as_it_is(robot: Robot) -> None:
    sliders = tail_sliders(robot)
    assert redesigned(robot, {slider.name: slider.value for slider in sliders}) == robot
    labels = ["length [m]", "mass [kg]", "mount y [m]", "mount z [m]"]
    assert [slider.label for slider in sliders] == labels + {
        "pendulum": [], "r3": ["links per segment"], "usrt": ["links", "bending stiffness [N m/rad]"],
    }[robot.part("tail").kind]  # fmt: skip


def test_every_slider_can_stand_at_its_value_and_says_its_unit() -> None:
    found = [slider for robot in ROBOTS.values() for slider in tail_sliders(robot)]
    found += [slider for kind in KINDS for slider in motion_sliders(kind)]
    for slider in (*found, torso_slider(liu2020()), torso_slider(liu2018()), friction_slider()):
        assert slider.low < slider.high and slider.low <= slider.value <= slider.high, slider
        for end in (slider.low, slider.high):
            steps = (slider.value - end) / slider.step
            assert steps == pytest.approx(round(steps), abs=1e-6), slider
        assert f"[{slider.unit}]" in slider.label or slider.unit == ""


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_a_design_has_the_length_mass_and_mount_that_were_asked_for(robot: Robot) -> None:
    changed = redesigned_tail(robot, {"total_length": 0.7, "total_mass": 1.7, "mount.y": -0.3, "mount.z": 0.02})
    limb = changed.limbs("tail")["tail"]
    places: dict[str | None, np.ndarray] = {None: np.zeros(3)}
    for joint in limb.joints:
        places[joint.name] = places[joint.parent] + np.array(joint.offset)
    mount = places[limb.joints[0].name]
    assert mount == pytest.approx([0.0, -0.3, 0.02], abs=1e-15)
    assert places[limb.tip.joint] + limb.tip.point - mount == pytest.approx([0.0, -0.7, 0.0], abs=1e-15)
    assert sum(joint.body.mass for joint in limb.joints if joint.body) == pytest.approx(1.7, rel=1e-15)
    assert (changed.total_length(), changed.total_mass()) == pytest.approx((0.7, 1.7), rel=1e-15)


@pytest.mark.parametrize("name", ["r3", "usrt"])
def test_another_number_of_links_keeps_length_and_mass(name: str) -> None:
    tail = ROBOTS[name].part("tail")
    changed = redesigned_tail(ROBOTS[name], {"links_per_segment" if name == "r3" else "links": 4})
    assert len(changed.limbs("t")["t"].joints) < len(tail.limbs("t")["t"].joints)
    assert changed.total_length() == pytest.approx(tail.total_length(), rel=1e-15)
    assert changed.total_mass() == pytest.approx(tail.total_mass(), rel=1e-15)


def test_springs_of_a_usrt_carry_a_longer_and_heavier_tail_as_well_as_the_old_one() -> None:
    def carried(tail: Any) -> np.ndarray:
        """Moments of the extension springs about the joints of the straight tail, over that of its weight."""
        a, b = np.array(tail.point_a), np.array(tail.point_b) - [0.0, tail.link_length, 0.0]
        stretch = np.linalg.norm(b - a) - np.array(tail.extension_rest)
        arm = np.cross(a, b - a)[0] / np.linalg.norm(b - a)
        return np.array(tail.extension_stiffness) * stretch * arm / (tail.total_mass() * tail.total_length())

    changed = redesigned_tail(ROBOTS["usrt"], {"total_length": 0.8, "total_mass": 2.0, "links": 4})
    assert carried(changed) == pytest.approx(carried(ROBOTS["usrt"].part("tail")), rel=1e-12)
    assert redesigned_tail(ROBOTS["usrt"], {"bending_stiffness": 7.0}).bending_stiffness == 7.0


@dataclass(frozen=True, kw_only=True)
class Whip(Tail):
    """A tail of one's own: a bar that motors turn about two hinges."""

    kind: ClassVar[str] = "whip"
    length: Scalar = positive("m", 0.5)
    mass: Scalar = positive("kg", 0.8)
    mount: Vector = vector("m", (0.0, -0.2, 0.0))

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        side = Joint(name="swing", axis=(0.0, 0.0, 1.0))
        down = Joint(name="dip", axis=(1.0, 0.0, 0.0), parent="swing", body=bar(self.mass, self.length, 1))
        motors = tuple(Motor(name=joint, coordinate=joint) for joint in ("swing", "dip"))
        tip = Tip(joint="dip", point=(0.0, -self.length, 0.0))
        limb = Limb(joints=(side, down), coordinates=("swing", "dip"), actuators=motors, tip=tip)
        return {name: placed(limb, self.mount, FORWARD_FRAMES[forward])}


def test_an_own_tail_has_sliders_and_can_be_redesigned() -> None:
    robot = liu2020().with_part("tail", Whip())
    names = ["total_length", "total_mass", "mount.y", "mount.z"]
    assert [slider.name for slider in tail_sliders(robot)] == names
    assert [value_of(Whip(), name) for name in names] == [0.5, 0.8, -0.2, 0.0]
    changed = redesigned_tail(robot, {"total_length": 0.25, "total_mass": 1.6, "mount.z": 0.1})
    assert changed == Whip(length=0.25, mass=1.6, mount=(0.0, -0.2, 0.1))
    assert redesigned(robot, {}) == robot


def test_an_own_tail_is_performed_beside_one_of_the_paper() -> None:
    robot = liu2020().with_part("tail", Whip(length=0.48, mass=1.0, mount=liu2020().part("tail").mount))
    assert tail_choices(robot) == (OWN, *NAMED)
    found = performed(Choice(robot, (TailChoice(OWN), TailChoice("pendulum")), policy="joint"))
    assert [one.label for one in found.outcomes] == ["own tail", "pendulum"]
    assert [one.run.stopped for one in found.outcomes] == [None, None]
    own, pendulum = (one.measures for one in found.outcomes)
    for name in ("yaw", "peak_yaw", "tail_energy", "friction_needed"):
        assert own[name] == pytest.approx(pendulum[name], rel=1e-6), f"{name}: the same bar, whatever its hinges"
    assert dict(rows(found, 0.6))["peak tail torque [N m]"][0] != "—"


def test_robots_that_face_x_do_what_those_that_face_y_do() -> None:
    """The same robot, turned: tails of the paper go where its own was, and the torso answers alike."""
    one, other = (
        performed(Choice(robot, (TailChoice("pendulum", {"total_length": 0.4}),), policy="joint")).outcomes[0]
        for robot in (liu2020(), facing_x(liu2020()))
    )
    for name in ("pitch", "roll", "yaw", "peak_tail_torque", "friction_needed"):
        assert other.measures[name] == pytest.approx(one.measures[name], rel=1e-6, abs=1e-6), name


def facing_x(robot: Robot) -> Robot:
    """A robot that faces y, turned to the right by a right angle."""
    legs, tail = robot.part("legs"), robot.part("tail")
    hips, feet = (tuple((y, -x, z) for x, y, z in places) for places in (legs.hips, legs.feet))
    tail = replace(tail, mount=(tail.mount[1], -tail.mount[0], tail.mount[2]))
    return replace(robot, forward="x", parts={"legs": replace(legs, hips=hips, feet=feet), "tail": tail})


def test_a_design_says_what_it_does_not_know() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean 'tail\.length'"):
        redesigned(ROBOTS["pendulum"], {"lenght": 1.0})
    with pytest.raises(ArgumentError, match="total_length"):
        redesigned(ROBOTS["pendulum"], {"total_length": -1.0})


# Choices


def test_robots_of_the_lab_carry_tails() -> None:
    found = carriers()
    real = ["go2", "a1", "anymal_c", "solo12", "spot", "spirit40"]
    assert list(found) == ["liu2020", "liu2018", "biswal", *real]
    assert tail_choices(found["go2"]) == tail_choices(found["liu2020"]) and tail_choices(found["spirit40"])[0] == OWN
    assert tail_choices(found["liu2020"]) == tuple(NAMED)
    assert tail_choices(found["liu2018"])[0] == OWN
    assert "paper" in policy_choices(found["liu2020"]) and "paper" not in policy_choices(found["liu2018"])
    assert [*first_choice().scenarios] == ["pendulum", "R3"]


def test_a_choice_makes_robots_that_tell_their_tails_apart() -> None:
    tails = (TailChoice("r3"), TailChoice("r3", {"total_mass": 2.0}))
    choice = Choice(liu2018(), tails, "pitch", {"angle": 20.0, "duration": 0.5}, "airborne", 20.0)
    first, second = choice.scenarios.values()
    assert [*choice.scenarios] == ["R3", "R3 2"]
    assert first.robot.name == second.robot.name == "liu2018-r3"
    assert second.tail_part.total_mass() == pytest.approx(2.0, rel=1e-15)
    assert first.robot.torso_body().mass == 20.0
    assert first.tail_part.mount == liu2018().part("tail").mount
    assert first.motion.axis == "pitch" and first.motion.duration == 0.5 and first.policy == "airborne"
    (own,) = Choice(liu2018(), (TailChoice(OWN),)).scenarios.values()
    assert own.robot == liu2018()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tails": ()}, "one tail or two"),
        ({"tails": (TailChoice(NO_TAIL),)}, "tails: got 'none'"),
        ({"angles": {"angle": 0.0}}, "an angle other than 0"),
        ({"motion": "jaw"}, "did you mean 'yaw'"),
        ({"torso_mass": -1.0}, "torso.mass"),
        ({"policy": "fly"}, "policy"),
    ],
)
def test_an_impossible_choice_says_why(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        to_compile(replace(Choice(liu2020(), (TailChoice("pendulum"),)), **change))


def test_a_robot_file_is_read_and_its_mistakes_are_told() -> None:
    text = as_text(liu2018())
    assert robot_from_file("my.toml", text.encode()) == liu2018()
    with pytest.raises(ArgumentError, match=r"tail\.length: got -1.0"):
        robot_from_file("my.toml", text.replace("length = 0.6", "length = -1.0").encode())
    with pytest.raises(FileError, match="not TOML"):
        robot_from_file("my.toml", b"name = ")
    with pytest.raises(ArgumentError, match="UTF-8"):
        robot_from_file("my.toml", b"\xff\xfe\xff")
    with pytest.raises(ArgumentError, match="at most"):
        robot_from_file("my.toml", b"#" * 2_000_000)
    assert tail_choices(robot_from_file("my.toml", as_text(liu2020(None)).encode())) == tuple(NAMED)
    real = urdf("go2")
    robot = robot_from_file("own.urdf", real.read_bytes())
    assert robot.mass() == load(real).mass() and OWN not in tail_choices(robot), "URDF, too"
    with pytest.raises(FileError, match=r"^broken.urdf: "):
        robot_from_file("broken.urdf", b"<robot><link></robot>")
    other = replace(biswal(), parts={**biswal().parts, "tail": ROBOTS["pendulum"].part("tail")})
    assert robot_from_file("my.toml", as_text(other).encode()) == other, "robots may face x, too"
    assert [slider.name for slider in tail_sliders(other)][2:] == ["mount.x", "mount.z"]


# What is simulated


def test_a_robot_is_seen_before_it_is_compiled(experiment: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standing, drawn without a kernel: its frames are those of the first sample of a run that starts so."""
    first = experiment.outcomes[0]
    monkeypatch.setattr("tailwork.kernels.kernel.Kernel.__init__", lambda *rest: pytest.fail("compiled"))
    still = still_scene(first.scenario.robot)
    for frame, moving in zip(still.frames, first.scene.frames, strict=True):
        np.testing.assert_allclose(frame.places[0], moving.places[0], rtol=0, atol=1e-12)
    assert [solid.frame for solid in still.solids] == [solid.frame for solid in first.scene.solids]


def test_only_another_structure_is_compiled(experiment: Experiment) -> None:
    choice = experiment.choice
    assert to_compile(choice) == ()
    numbers = {"total_length": 0.3, "total_mass": 2.2, "mount.y": -0.2}
    assert to_compile(replace(choice, tails=(TailChoice("pendulum", numbers),), torso_mass=15.0)) == ()
    assert to_compile(replace(choice, angles={"angle": -70.0, "duration": 0.9})) == ()
    assert to_compile(replace(choice, tails=(TailChoice("pendulum", {"mount.z": 0.05}),))) == ("pendulum",)
    assert to_compile(replace(choice, tails=(TailChoice("r3", {"links_per_segment": 3}),), policy="airborne")) == (
        "R3",
    )


def test_what_is_the_same_is_not_done_again(experiment: Experiment) -> None:
    tails = (TailChoice("pendulum", {"total_length": 0.5}), experiment.choice.tails[1])
    again = performed(replace(experiment.choice, tails=tails), experiment)
    assert again.outcomes[1] is experiment.outcomes[1]
    afresh = performed(again.choice)
    for one, other in zip(again.outcomes, afresh.outcomes, strict=True):
        assert one.run.data["q"].equals(other.run.data["q"])
        assert (one.scene.label, one.scene.color) == (other.scene.label, other.scene.color)


def test_a_longer_tail_turns_the_torso_more(experiment: Experiment) -> None:
    short, long = experiment.outcomes
    assert (short.label, long.label) == ("pendulum", "pendulum 2")
    assert 1.2 < long.measures["yaw"] / short.measures["yaw"] < (0.6 / 0.48) ** 2 * 1.2
    assert short.scene.color != long.scene.color
    assert long.run.model.robot.part("tail").length == pytest.approx(0.6, rel=1e-15)


def test_the_table_says_whether_feet_would_have_stayed(experiment: Experiment) -> None:
    needed = [outcome.measures["friction_needed"] for outcome in experiment.outcomes]
    assert needed[0] < needed[1]
    for friction, answers in ((0.0, ("no", "no")), (sum(needed) / 2, ("yes", "no")), (needed[1], ("yes", "yes"))):
        words, said = rows(experiment, friction)[-1]
        assert words.startswith("would the feet have stayed") and said == answers
    table = dict(rows(experiment, 0.6))
    assert "peak cable tension [N]" not in table
    assert float(table["torso yaw [°]"][0].replace("−", "-")) == pytest.approx(
        experiment.outcomes[0].measures["yaw"], abs=5e-3
    )
    assert "✓ yes" in results_html(experiment, 2.0) and "✗ no" in results_html(experiment, 0.0)
    assert "†" not in results_html(experiment, 2.0) and "† not possible" in results_html(experiment, 0.0)


def test_a_run_that_ended_early_is_told_and_its_curves_end(experiment: Experiment) -> None:
    first, second = experiment.outcomes
    early = "stopped at 150 ms: a leg is <straight>"
    caption = replace(second.scene.caption, notes=(early,))
    half = slice(None, 151)
    frames = tuple(replace(f, places=f.places[half], turns=f.turns[half]) for f in second.scene.frames)
    plots = tuple(
        replace(p, curves=tuple(replace(c, values=c.values[half]) for c in p.curves)) for p in second.scene.plots
    )
    scene = replace(second.scene, times=second.scene.times[half], frames=frames, plots=plots, caption=caption)
    ended = replace(second, scene=scene, run=replace(second.run, stopped=Stopped(0.15, "a leg is <straight>")))
    shown = replace(experiment, outcomes=(first, ended))
    assert notes(shown, 0.6) == [f"pendulum 2: {early}"]
    assert "&lt;straight&gt;" in results_html(shown, 0.6)
    yaw = next(chart for chart in charts_of([first.scene, scene]) if chart.title == "yaw [°]")
    whole, cut = yaw.values
    assert np.isfinite(whole).all() and np.isfinite(cut[yaw.times <= 150.0]).all() and np.isnan(cut[-1])
    assert yaw.times[-1] == pytest.approx(300.0)


def test_plots_have_units_and_the_colours_of_tails_and_feet(experiment: Experiment) -> None:
    scenes = [outcome.scene for outcome in experiment.outcomes]
    charts = charts_of(scenes)
    titles = [chart.title for chart in charts]
    assert titles[:3] == ["pitch [°]", "roll [°]", "yaw [°]"]
    assert {"tail torques, pendulum [N m]", "normal force, pendulum 2 [N]"} <= set(titles)
    assert [curve.color for curve in charts[2].curves] == [scene.color for scene in scenes]
    feet = charts[titles.index("normal force, pendulum [N]")]
    assert [curve.color for curve in feet.curves] == [force.color for force in scenes[0].forces]


def test_what_is_saved_can_be_read_again(experiment: Experiment, tmp_path: Any) -> None:
    outcome = experiment.outcomes[1]
    name, text = robot_file(outcome)
    assert name == "liu2020-pendulum.toml" and from_text(text.decode(), name) == outcome.scenario.robot
    name, content = run_file(outcome)
    (tmp_path / name).write_bytes(content)
    assert load_run(tmp_path / name).data["q"].equals(outcome.run.data["q"])
    odd = replace(outcome.scenario, robot=replace(outcome.scenario.robot, name="../a b"))
    assert robot_file(replace(outcome, scenario=odd))[0] == "_a_b.toml"
    name, page = playback_file(experiment.outcomes)
    assert name == "yaw40.html" and page.lstrip().lower().startswith(b"<!doctype html>")


# What is drawn


def test_poses_are_those_of_the_run_and_go_evenly_between_its_samples(experiment: Experiment) -> None:
    scene = experiment.outcomes[0].scene
    limb, frame, point = scene.tips[0]
    path = scene.frames[frame].path(point)
    assert limb == "tail"
    for k in (0, 100, 300):
        (pose,) = samples_at(scene, [scene.times[k]])
        assert pose.points(frame, point) == pytest.approx(path[k], abs=1e-12)
        assert pose.markers[0] == pytest.approx(scene.markers[0].places[k], abs=1e-15)
    halfway, late = samples_at(scene, [scene.times[100:102].mean(), 99.0])
    assert halfway.points(frame, point) == pytest.approx(path[100:102].mean(axis=0), abs=1e-5)
    assert late.points(frame, point) == pytest.approx(path[-1], abs=1e-12)


def test_arrows_start_at_the_feet_and_together_carry_the_weight(experiment: Experiment) -> None:
    scene = experiment.outcomes[0].scene
    start, end = samples_at(scene, [0.0])[0].arrows(scene).transpose(1, 0, 2)
    assert start[:, 2] == pytest.approx(0.0, abs=1e-12)
    lifted = (end - start).sum(axis=0)[2] / (ARROW * scene.size)
    assert lifted == pytest.approx(sum(force.forces[0, 2] for force in scene.forces) / scene.weight, rel=1e-12)


def test_threads_lead_through_their_points() -> None:
    turn = np.array([[1.0, 0.0, 0.0, 0.0], [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]])  # the second a quarter about z
    pose = SceneSample(0.0, np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), turn, np.zeros((0, 3)), np.zeros((0, 3)))
    points = ((0, (0.0, 0.0, 0.1)), (1, (1.0, 0.0, 0.0)))
    cable = thread_lines([Thread("cable", "c", points, "#000000", 0.001)], pose)
    assert cable == pytest.approx(np.array([[[0.0, 0.0, 0.1], [1.0, 1.0, 0.0]]]), abs=1e-15)
    coil = thread_lines([Thread("spring", "s", points, "#000000", 0.01)], pose)
    assert (coil[0, 0], coil[-1, 1]) == (pytest.approx(cable[0, 0]), pytest.approx(cable[0, 1]))
    assert coil[1:, 0] == pytest.approx(coil[:-1, 1], abs=0)
    along = (cable[0, 1] - cable[0, 0]) / np.linalg.norm(cable[0, 1] - cable[0, 0])
    beside = np.linalg.norm(np.cross(coil[1:, 0] - cable[0, 0], along), axis=1)
    assert beside == pytest.approx(0.01, rel=1e-12)


def volume(corners: np.ndarray, triangles: np.ndarray) -> float:
    """Of a closed surface; negative if its triangles look inwards."""
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    assert np.cross(b - a, c - a).sum(axis=0) == pytest.approx(0.0, abs=1e-12)  # closed
    return float(np.einsum("ti,ti->", a, np.cross(b, c)) / 6.0)


def test_meshes_are_closed_and_as_large_as_their_shapes() -> None:
    polygon = 10.0 * np.sin(2.0 * np.pi / 20.0)  # area of one of 20 corners on the unit circle
    assert volume(*mesh_of(Box((1.0, 2.0, 3.0), (0.1, 0.2, 0.3)))) == pytest.approx(0.006, rel=1e-12)
    flat = mesh_of(Bar((0.1, 0.2, 0.3), (0.1, 1.2, 0.3), 0.3, 0.1, rounded=False))
    assert volume(*flat) == pytest.approx(polygon / 3.0 * (0.09 + 0.03 + 0.01), rel=1e-12)
    ball = volume(*mesh_of(Ball((0.0, 0.0, 1.0), (0.1, 0.2, 0.3))))
    assert 0.93 < ball / (4.0 / 3.0 * np.pi * 0.006) < 1.0
    capsule = volume(*mesh_of(Bar((0.0, 0.0, 0.0), (0.0, -1.0, 0.0), 0.1, 0.1)))
    assert 0.95 < capsule / (np.pi * 0.01 + 4.0 / 3.0 * np.pi * 0.001) < 1.0


def test_robots_stand_apart() -> None:
    extents = [(np.array([-0.2, -0.8, 0.0]), np.array([0.5, 0.3, 0.5])), (np.array([-0.4, 0.0, 0.0]), np.ones(3))]
    left, right = places(extents, gap=0.25)
    turned = [(np.array([0.0, -high[0], 0.0]), np.array([0.0, -low[0], 0.0])) for low, high in extents]
    assert places(turned, gap=0.25, forward="x") == [left, right], "to the right of a robot that faces x is −y"
    assert left == -right
    assert (right - 0.4) - (left + 0.5) >= 0.25
    assert places(extents[:1], gap=0.25) == [0.0]


@pytest.mark.parametrize("forward", ["x", "y"])
@pytest.mark.parametrize("aspect", [0.45, 0.7, 1.6])
def test_all_is_seen_in_the_free_part_of_the_window(aspect: float, forward: str) -> None:
    middle, radius, field = np.array([0.1, -0.2, 0.3]), 0.7, 1.3
    eye, look_at = eye_for(middle, radius, aspect, field, forward)
    assert (eye - middle)["xy".index(forward)] < 0, "behind the robots"
    ahead = (look_at - eye) / np.linalg.norm(look_at - eye)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    seen = middle - eye
    across, high = (seen @ axis / (seen @ ahead) / np.tan(field / 2.0) for axis in (right, up))
    phone = aspect < 0.6
    assert across == pytest.approx(0.0, abs=1e-12)
    assert high == pytest.approx(1.0 - FREE if phone else 0.0, abs=1e-12)
    half = np.arcsin(radius / np.linalg.norm(seen))
    assert np.tan(half) <= min(aspect, FREE if phone else 1.0) * np.tan(field / 2.0) * (1.0 + 1e-12)


def test_the_clock_follows_the_wall_and_starts_again() -> None:
    wall = [100.0]
    clock = Clock(duration=0.3, speed=SPEEDS["1/10"], wall=lambda: wall[0])
    wall[0] += 1.0
    assert clock.now() == pytest.approx(0.1)
    clock.go(SPEEDS["1/50"])
    wall[0] += 5.0
    assert clock.now() == pytest.approx(0.2)
    clock.play(False)
    wall[0] += 50.0
    assert clock.now() == pytest.approx(0.2)
    clock.seek(9.0)
    assert clock.now() == pytest.approx(0.3)
    clock.play(True)
    wall[0] += REST + 1.0  # it rests at the end, then starts again
    assert clock.now() == pytest.approx(0.02)
    clock.restart(0.5)
    assert (clock.now(), clock.duration) == (0.0, 0.5)
