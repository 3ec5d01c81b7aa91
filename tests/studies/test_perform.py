"""Many designs at once: each design gives what it gives alone, whatever the company."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from few_links import few_links
from tailwork.algebra.columns import Column, columns, stacked
from tailwork.algebra.expression import cos, sin, sqrt
from tailwork.algebra.vectors import array, cross, dot
from tailwork.errors import ArgumentError, TailworkError, UnknownNameError
from tailwork.robots import Robot, liu2020
from tailwork.robots.paths import structure
from tailwork.simulation import RigidGround
from tailwork.simulation.batch import batch, kernels
from tailwork.studies import Outcomes, Scenario, measured, perform, perform_many
from tailwork.studies.compare.on_ground import perform_on_rigid_ground
from tailwork.studies.measures import shown_measures
from tailwork.studies.motions import coupled, pitch, roll, yaw
from tailwork.studies.structure_groups import design_groups, design_values

perform_module = sys.modules["tailwork.studies.perform"]  # beside the function of that name
LENGTHS = np.array([0.35, 0.8, -0.1, 0.5, 0.48, 0.6, 0.3])
MASSES = np.array([1.0, 2.2, 1.0, 0.5, 0.0, 0.9, 1.4])
TIPS = np.array([0.0, 0.0, 0.0, 0.0, 0.4, 0.0, 0.0])
THIGHS = np.array([0.25, 0.25, 0.25, 0.1, 0.25, 0.26, 0.25])
CHANGES = {"tail.length": LENGTHS, "tail.mass": MASSES, "tail.tip_mass": TIPS, "legs.thigh_length": THIGHS}
"""One that ends early, one that is not possible, one that cannot stand, one of another structure; others besides."""
SOME = {"tail.length": [0.35, 0.6], "legs.feet.1.y": 0.24, "stand.z": [0.4, 0.41], "torso.mass": [13.0, 12.0]}
MEASURES = ("yaw", "peak_tail_torque")
PENDULUM = Scenario(liu2020("pendulum"), yaw(40))


def small_usrt() -> Robot:
    """With a tail of two links and no legs: what is compiled for it is small."""
    robot = liu2020("usrt").without("legs")
    return robot.replace({"tail.links": 2, "tail.segments": 1, "tail.link_length": 0.2})


def one(scenario: Scenario, changes: Mapping[str, Any], k: int) -> Scenario:
    """The scenario with one of many designs."""
    own = {path: np.asarray(values).tolist() for path, values in changes.items()}
    chosen = {path: x[k] if isinstance(x, list) else x for path, x in own.items()}
    return replace(scenario, robot=scenario.robot.replace(chosen))


def assert_as_alone(found: Outcomes, scenario: Scenario, changes: Mapping[str, Any]) -> None:
    """Measures to rounding, the same reasons word by word."""
    for k, reason in enumerate(found.reasons):
        own = {name: values[k] for name, values in found.measures.items()}
        try:
            alone = one(scenario, changes, k)
            run = perform(alone)
        except TailworkError as error:
            assert reason == str(error)
            assert found.times[k] == 0.0 and all(map(math.isnan, own.values()))
            continue
        assert reason == ("" if run.stopped is None else run.stopped.reason)
        assert found.times[k] == pytest.approx(run.duration, abs=1e-12)
        wanted = measured(run, alone)
        for name, value in own.items():
            assert value == pytest.approx(wanted[name], rel=1e-9, abs=1e-11, nan_ok=True), name


# As alone


def test_designs_of_every_fate() -> None:
    """All measures of a tail whose motion is imposed, of designs that end in every way there is."""
    found = perform_many(PENDULUM, CHANGES)
    assert list(found.measures) == shown_measures()
    assert [reason.split(":")[0].split(" ")[0] for reason in found.reasons] == [
        "", "leg3", "tail.length", "q", "", "", "",
    ]  # fmt: skip
    assert 0.2 < found.times[1] < 0.3
    assert_as_alone(found, PENDULUM, CHANGES)


@pytest.mark.parametrize("policy", ["joint", "foot", "airborne"])
def test_what_the_legs_do_follows_the_design(policy: str) -> None:
    """Torques, rest angles and places, shapes in the air."""
    scenario = replace(PENDULUM, policy=policy)
    assert_as_alone(perform_many(scenario, SOME), scenario, SOME)


def test_motors_and_the_papers_torques() -> None:
    """A tail by motors; a robot that Eq. 85 does not balance is refused."""
    scenario = Scenario(liu2020("pendulum"), coupled(), "paper", drive="motors")
    changes = {"tail.mass": [0.8, 1.1, 0.9], "torso.mass": [12.5, 13.5, 30.0]}
    found = perform_many(scenario, changes)
    assert "Eq. 85" in found.reasons[2]
    assert_as_alone(found, scenario, changes)


def test_geared_tails() -> None:
    """All of these end early."""
    scenario = Scenario(liu2020("r3"), roll(80), "paper")
    changes = {"tail.link_length": [0.04, 0.038], "tail.link_com": [0.0327, 0.03], "tail.base_mass": 0.1}
    found = perform_many(scenario, changes)
    assert all(reason.startswith("leg") for reason in found.reasons)
    assert_as_alone(found, scenario, changes)


def test_tails_by_their_exact_centre_of_mass() -> None:
    """What these do depends on their links; some cannot do it."""
    scenario = Scenario(liu2020("r3"), replace(roll(105.5), angle="chain"))
    changes = {"tail.link_length": [0.04, 0.04, 0.03], "tail.link_com": [0.0327, 0.2, 0.15]}
    found = perform_many(scenario, changes)
    assert [reason.split(";")[0] for reason in found.reasons] == ["motion: got '105.5°'", "", ""]
    assert_as_alone(found, scenario, changes)


def test_tails_by_cables() -> None:
    """The stiffness that is fed forward is the design's; only stiff designs are simulated as such."""
    scenario = Scenario(small_usrt(), yaw(20, duration=0.03), "airborne")
    changes = {
        "tail.bending_stiffness": [10.0, 20.0],
        "tail.bending_damping": [0.01, 1.0],
        "tail.link_mass": [2.0, 0.2],
    }
    methods = {perform(one(scenario, changes, k)).method for k in range(2)}
    assert methods == {"dopri5", "rodas5p"}
    assert_as_alone(perform_many(scenario, changes), scenario, changes)


# Company


def test_company_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Order, number of designs, threads, shares and chunks."""
    whole = perform_many(PENDULUM, CHANGES, measures=MEASURES)
    order = np.array([5, 3, 1, 6, 2, 0])
    some = {path: values[order] for path, values in CHANGES.items()}
    monkeypatch.setattr(batch, "TILE", 3)
    monkeypatch.setattr(kernels, "SHARE", 2)
    fewer = perform_many(PENDULUM, some, measures=MEASURES, threads=3)
    assert fewer.reasons == tuple(whole.reasons[k] for k in order)
    np.testing.assert_allclose(fewer.times, whole.times[order], rtol=0, atol=1e-13)
    for name in MEASURES:
        np.testing.assert_allclose(fewer.measures[name], whole.measures[name][order], rtol=1e-11)


def test_only_what_is_asked_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the measures asked for alone something is compiled and computed; the torso's angles need the ends only."""
    asked: list[tuple[tuple[str, ...], int]] = []
    watched, simulated = perform_module.observer, perform_module.batch_of

    def observed(system: Any, tail: str, names: Any, **more: Any) -> Any:
        asked.append((tuple(names), samples[-1]))
        return watched(system, tail, names, **more)

    samples: list[int] = []
    monkeypatch.setattr(perform_module, "observer", observed)
    monkeypatch.setattr(
        perform_module, "batch_of", lambda problem, how, *more, **named: (
            samples.append(how.samples) or simulated(problem, how, *more, **named)
        ),
    )  # fmt: skip
    some = {"tail.length": LENGTHS[[0, 3]]}
    yaw_alone = perform_many(PENDULUM, some, measures=["yaw"])
    both = perform_many(PENDULUM, some, measures=MEASURES)
    assert asked == [(("yaw",), 2), (MEASURES, 301)]
    np.testing.assert_array_equal(yaw_alone.measures["yaw"], both.measures["yaw"])


def test_progress_is_told() -> None:
    """Designs that are refused count as done."""
    told: list[tuple[int, int]] = []
    perform_many(PENDULUM, CHANGES, measures=["yaw"], progress=lambda done, of: told.append((done, of)))
    assert told == sorted(told) and told[0] == (1, 7) and told[-1] == (7, 7)


# Input

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "unknown path": ({"changes": {"tail.lenght": [0.4]}}, r"tail.lenght: got 'tail.lenght'.*tail.length"),
    "unknown measure": ({"measures": ["yawn"]}, r"measures: got 'yawn'.*yaw"),
    "two lengths": ({"changes": {"tail.mass": [1.0] * 3, "tail.length": [0.4] * 2}}, r"changes: got \[2, 3\]"),
    "empty": ({"changes": {"tail.mass": []}}, r"changes.tail.mass: got \[\]"),
    "nothing": ({"changes": {}}, r"changes: got \{\}"),
    "no threads": ({"threads": 0}, r"threads: got 0"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_input(what: str) -> None:
    changes, message = WRONG[what]
    arguments: dict[str, Any] = {"changes": {"tail.mass": [1.0]}, "measures": ["yaw"]} | changes
    with pytest.raises(ArgumentError, match=message):
        perform_many(PENDULUM, **arguments)
    if "unknown" in what:
        with pytest.raises(UnknownNameError):
            perform_many(PENDULUM, **arguments)


def test_all_designs_are_impossible() -> None:
    """Each says why."""
    found = perform_many(PENDULUM, {"tail.mass": [-1.0, math.inf]}, measures=["yaw"])
    assert all(reason.startswith("tail.mass: got") for reason in found.reasons)
    assert np.isnan(found.measures["yaw"]).all() and (found.times == 0.0).all()


HUGE, TINY = 1e200, 1e-200
DESIGNS: dict[str, tuple[Robot, dict[str, Any]]] = {
    # The bodies of the last of these have no finite, or no positive, inertia.
    "pendulum": (liu2020("pendulum"), {"tail.length": [0.3, 0.4, -1.0, math.nan, 0.5, HUGE], "tail.mass": 1.0}),
    "legs": (liu2020("pendulum"), {"legs.hips.2.x": [0.1, 0.2, math.inf, 0.3, 0.4, 1], "legs.hip_mass": [0, 0.1] * 3}),
    "r3": (liu2020("r3"), {"tail.link_inertia.xx": [8e-5, 9e-5, 1.0, -1.0, 1e-4, TINY], "gravity": [9.8, -1.0] * 3}),
    "usrt": (liu2020("usrt"), {"tail.links": [6.0, 4.0, 2.5, 6.0, 0.0, 6.0], "tail.link_com": [0.04] * 5 + [HUGE]}),
    "torso": (liu2020("pendulum"), {"torso.mass": [1.0, 2.0, 3.0, HUGE, 4.0, 5.0], "torso.width": [0.3, HUGE] * 3}),
    "words": (liu2020("pendulum"), {"legs.knee": ["forward", "backward", "sideways", "forward"]}),
    "whole vectors": (liu2020("pendulum"), {"tail.mount": [[0.0, -0.2, 0.0], [0.0, -0.3, 0.1], [0.0, 0.0, math.nan]]}),
}  # fmt: skip


@pytest.mark.parametrize("name", DESIGNS)
def test_designs_are_checked_as_robots_are(name: str) -> None:
    """What Robot.replace refuses is refused in its words; groups are of one structure, and hold all others."""
    robot, changes = DESIGNS[name]
    values = design_values(robot, changes)
    groups, refused = design_groups(robot, values)
    count = len(next(iter(values.values())))
    grouped = {int(k): group for group in groups for k in group.rows}
    assert sorted([*grouped, *refused]) == list(range(count))
    for k in range(count):
        own = {path: x[k] for path, x in values.items()}
        if k in refused:
            with pytest.raises(ArgumentError) as caught:
                robot.replace(own)
            assert refused[k] == str(caught.value)
            continue
        found, group = robot.replace(own), grouped[k]
        place = int(np.flatnonzero(group.rows == k)[0])
        chosen = {path: float(column[place]) for path, column in group.columns.items()}
        assert group.robot.replace(chosen) == found
        assert structure(found) == structure(group.robot)


def test_columns_compute_as_numbers_do() -> None:
    """Equations of the algebra, for many numbers at once."""
    rng = np.random.default_rng(3)
    a, b = rng.uniform(0.5, 1.5, (2, 4, 3))

    def equations(x: Any, y: Any) -> list[Any]:
        first, second = array(list(x)), array(list(y))
        product = cross(first, second) * 2.0 - first / 3.0
        return [dot(product, first), sqrt(x[0]) / y[1], 1.0 - x[2], 2.0 / x[0], cos(x[1]) * sin(y[0]), -abs(y[2])]

    found = stacked(equations(columns(a), columns(b)), (4,))
    wanted = [equations(x.tolist(), y.tolist()) for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(found, np.array(wanted, dtype=float), rtol=1e-14)
    with pytest.raises(TypeError, match="no truth value"):
        assert Column([1.0])


def test_airborne_designs_whose_legs_cannot_reach_are_refused() -> None:
    """Their measures are NaN, and the reason is the error of a single run; the others are what they are."""
    scenario = replace(PENDULUM, policy="airborne")
    changes = {"legs.thigh_length": [0.1, 0.25]}
    found = perform_many(scenario, changes, measures=["yaw"])
    with pytest.raises(TailworkError, match="leg1 cannot reach its foot") as caught:
        perform(one(scenario, changes, 0))
    assert math.isnan(found.measures["yaw"][0]) and found.times[0] == 0.0
    assert found.reasons == (str(caught.value), "") and math.isfinite(found.measures["yaw"][1])


def sine_rate(scenario: Scenario) -> float:
    """The rate with which a pendulum begins a sine about across [rad/s]."""
    motion = scenario.motion
    return 2.0 * np.pi / float(motion.period) * (float(motion.end[1]) - float(motion.start[1]))


@pytest.mark.parametrize("policy", ["joint", "airborne"])
def test_a_tail_that_follows_a_sine_starts_as_fast(policy: str) -> None:
    """So that its largest torque is not that of a jerk at the start; in the air the robot has no momentum."""
    scenario = Scenario(liu2020("pendulum"), pitch(20, 1.2, 1.2), policy)
    run = perform(scenario, samples=241)
    v, torque = (run.data[name].to_numpy() for name in ("v", "tau"))
    rate, motor = run.model.velocity_names.index("tail.ta rate"), run.model.actuator_names.index("tail.ta")
    assert v[0, rate] == pytest.approx(sine_rate(scenario), rel=1e-12)
    later = np.abs(torque[10:, motor]).max()
    assert np.abs(torque[:10, motor]).max() <= later
    at_rest = replace(scenario, start="rest")
    assert measured(perform(at_rest), at_rest, ["peak_tail_torque"])["peak_tail_torque"] > 10.0 * later
    if policy == "airborne":
        assert np.abs(run.data["angular_momentum"].to_numpy()).max() < 1e-7
        assert np.abs(run.data["linear_momentum"].to_numpy()[0]).max() < 1e-12
    else:
        np.testing.assert_array_equal(np.delete(v[0], rate), 0.0)


def test_how_a_tail_starts() -> None:
    """Motions from rest start at rest; others in motion, but with the policy of the paper, whose study starts from
    rest; either can be chosen."""
    robot, sine = liu2020("pendulum"), pitch(20, period=1.2)
    assert Scenario(robot, yaw(40), start="motion").starts == "rest"
    assert Scenario(robot, sine).starts == Scenario(robot, sine, "airborne").starts == "motion"
    assert Scenario(robot, sine, "paper").starts == Scenario(robot, sine, start="rest").starts == "rest"
    assert Scenario(robot, sine, "paper", start="motion").starts == "motion"
    assert "it starts in motion" in Scenario(robot, sine).text and "in motion" not in Scenario(robot, yaw(40)).text
    with pytest.raises(UnknownNameError, match="start: got 'moving'; required: a known start; did you mean 'motion'"):
        Scenario(robot, sine, start="moving")


def test_designs_that_start_in_motion_do_what_they_do_alone() -> None:
    """The initial rates are equations of the robot and its motion: struck, on pinned feet, on rigid ground."""
    for tail in ("pendulum", "r3"):
        scenario = Scenario(few_links(tail), pitch(20, 0.1, 1.2), "joint", impulse=(0.0, 0.2, 0.0))
        changes = {"tail.total_length": [0.4, 0.48], "torso.mass": [11.0, 12.0]}
        many = perform_many(scenario, changes, measures=["pitch", "peak_tail_speed"])
        for k in range(2):
            own = scenario.with_robot(scenario.robot.replace({path: x[k] for path, x in changes.items()}))
            alone = measured(perform(own), own, ["pitch", "peak_tail_speed"])
            for name, value in alone.items():
                assert many.measures[name][k] == pytest.approx(value, rel=1e-6), (tail, name)
    own = Scenario(liu2020("pendulum"), pitch(20, 0.05, 1.2), "joint")
    run = perform_on_rigid_ground(own, RigidGround(friction=0.6), samples=3)
    rate = run.model.velocity_names.index("tail.ta rate")
    assert run.data["v"].to_numpy()[0, rate] == pytest.approx(sine_rate(own), rel=1e-12)
