"""Whatever is given, errors are tailwork's own and say what was wrong and what is required."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tailwork.control import (
    TailTracking,
    Tracking,
    foot_angles,
    foot_place,
    held,
    held_posture,
    posed,
    posture_warnings,
)
from tailwork.errors import ArgumentError, ControllerError, TailworkError, UnknownNameError
from tailwork.model import Model
from tailwork.robots import bar, dh_transform, liu2020, placed, slender_drag, tail_name
from tailwork.simulation import (
    CompliantGround,
    FootSlips,
    LegFolded,
    LegStraight,
    RigidGround,
    Standing,
    When,
    gradient,
    sensitivities,
    simulate,
    simulate_batch,
    stride,
)  # fmt: skip
from tailwork.studies import Scenario, add_measure, measured, motion_from_text, perform, perform_many, pitch, yaw
from tailwork.studies.compare.ground_comparison import grounds_for
from tailwork.studies.design import DesignOptions
from tailwork.studies.design.example import EXAMPLE
from tailwork.studies.design.files import problem_from_text
from tailwork.view import footfall, picture, time_lapse, torso_response
from tailwork.view.player import playback_page
from tailwork.view.scene import scene_of

HUGE: Any = 10**400  # an integer that no float can hold


@cache
def model() -> Model:
    """The 2020 quadruped with the pendulum tail."""
    return Model(liu2020("pendulum"))


def run(duration: Any = 0.01, **more: Any) -> Any:
    """A short run with something unusual."""
    return simulate(model(), model().standing(), duration, **more)


@pytest.mark.parametrize(
    "call",
    [
        lambda: run(HUGE), lambda: run(start_time=HUGE), lambda: run(rtol=HUGE), lambda: run(step=HUGE, method="rk4"),
        lambda: run(max_steps=HUGE), lambda: run(samples=HUGE), lambda: run(samples=10**8),
        lambda: simulate(model(), [HUGE] * 8, 0.01),
        lambda: simulate_batch(model(), [[HUGE] * 8], 0.01), lambda: yaw(HUGE), lambda: yaw(40, duration=HUGE),
        lambda: simulate_batch(model(), model().standing(), 0.01, parameters={"tail.length": [HUGE, 0.5]}),
        lambda: model().forward_dynamics(model().standing(), [HUGE] * 8, np.zeros(14)),
        lambda: model().robot.replace({"tail.length": HUGE}),
    ],
)  # fmt: skip
def test_numbers_that_are_too_large(call: Callable[[], Any]) -> None:
    with pytest.raises(TailworkError, match="required"):
        call()


@pytest.mark.parametrize("wrong", [3, "tail.mass", {"tail.mass"}, [["tail.mass"]], (k for k in ["tail.mass"]), print])
def test_what_is_no_list_and_no_mapping(wrong: Any) -> None:
    """Names are lists, parameters and motions are by name, also right after a run without any; nothing else is taken
    for none of them."""
    q = model().standing()
    run()
    for argument, call in {
        "by": lambda: gradient(model(), q, 0.01, lambda end: end.q[1], by=wrong),
        "start": lambda: sensitivities(model(), q, 0.01, start=wrong),
        "parameters": lambda: simulate_batch(model(), q, 0.01, parameters=wrong),
        "motions": lambda: run(motions=wrong),
    }.items():
        with pytest.raises(ArgumentError, match=f"^{argument}: got .*; required: (a list|values by|profiles by)"):
            call()
    for name in ("method", "progress"):
        with pytest.raises(ArgumentError, match=f"^{name}: got .*; required: a"):
            run(**{name: ["auto"]})


@pytest.mark.parametrize(
    "answer", [[HUGE] * 14, np.zeros(14, complex), ["1.0"] * 14, [None] * 14, "1", {"tail.tb": 1j}]
)
def test_answers_of_controllers_that_are_no_real_numbers(answer: Any) -> None:
    """Nothing is rounded, parsed or cut: complex numbers and text are refused."""
    with pytest.raises(ControllerError, match="required: 14 finite efforts"):
        run(control=lambda t, q, v: answer)


@pytest.mark.parametrize("wrong", [HUGE, 1j, "x", [[]], np.zeros((2, 2)), print, None])
def test_arguments_of_another_kind(wrong: Any) -> None:
    """Events, tables, places, frames and names say what they need, whatever stands there."""
    robot, q = model().robot, model().standing()
    free, leg = Model(robot, "none"), robot.limbs()["leg1"]
    table = held_posture(free, posed(free))
    calls: list[Callable[[], Any]] = [
        lambda: FootSlips(friction=wrong), lambda: LegStraight(extension=wrong), lambda: LegFolded(action=wrong),
        lambda: run(events=[When(name="so", quantity=lambda context: wrong)]), lambda: run(control=[wrong, wrong]),
        lambda: run(control=np.array(3.0)),
        lambda: replace(table, coordinates=wrong), lambda: replace(table, period=wrong),
        lambda: held_posture(free, wrong), lambda: posed(free, legs=[wrong]),
        lambda: foot_place(wrong, [0.0, 0.1, 0.2]), lambda: foot_place(leg, wrong), lambda: foot_angles(wrong, q[:3]),
        lambda: placed(leg, wrong, ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))), lambda: bar(1.0, wrong, 1),
        lambda: bar(1.0, 0.5, wrong), lambda: slender_drag((0.0, -0.3, 0.0), 0.01, 1.1, wrong),
        lambda: tail_name(wrong), lambda: dh_transform(0.1, wrong, 0.0, 0.0, "classic"),
        lambda: posture_warnings(wrong), lambda: robot.part(wrong), lambda: robot.replace(wrong),
        lambda: robot.with_contact(wrong), lambda: robot.export("robot.urdf", wrong), lambda: robot.export(wrong),
        lambda: model().export_c("folder", wrong),
        lambda: stride(free, posed(free), ground=RigidGround(friction=0.6), period=0.01, swap=[wrong]),  # type: ignore
        lambda: gradient(model(), q, 0.01, lambda end: wrong, by=["tail.mass"]),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(TailworkError):
            call()


@pytest.mark.parametrize("wrong", [HUGE, 1j, [[]], np.zeros((2, 2)), print, None])
def test_questions_to_runs_of_another_kind(wrong: Any) -> None:
    """Titles, names, frictions and what is drawn."""
    short = run()
    for call in (
        lambda: short.titled(wrong), lambda: short[wrong], lambda: short.assumption_held(wrong), lambda: picture(wrong),
        lambda: picture({"a": short}, wrong), lambda: torso_response(wrong), lambda: torso_response({"a": wrong}),
        lambda: time_lapse(wrong), lambda: picture({"a": short}, view=wrong), lambda: footfall(wrong),
        lambda: scene_of(wrong), lambda: playback_page(wrong), lambda: CompliantGround.for_robot(wrong),
        lambda: CompliantGround.for_robot(short.model.robot, static_friction=wrong),
        lambda: grounds_for(short.model.robot, [wrong]),
    ):  # fmt: skip
        with pytest.raises(TailworkError):
            call()


def test_durations_are_any_real_numbers() -> None:
    """A share of a second is a duration like any other."""
    assert run(Fraction(1, 100)).duration == run(0.01).duration
    found = sensitivities(model(), model().standing(), Fraction(1, 100), start=["phi_z"], samples=3)
    assert found.times[-1] == 0.01


@pytest.mark.parametrize("start", [1e18, -1e18, 1e11])
def test_a_start_so_late_that_the_duration_is_lost(start: float) -> None:
    """Clocks have sixteen digits: at 1e11 s steps of a run of 0.01 s are not told apart."""
    with pytest.raises(ArgumentError, match=r"start_time: .* required: at most 1e\+10 s from 0"):
        run(start_time=start)
    assert run(start_time=1e5).duration == pytest.approx(0.01, abs=1e-10)


def test_a_rate_beyond_the_clock() -> None:
    """Ticks of a controller that are closer than the clock can tell are refused; others are all made."""
    times: list[float] = []

    def control(t: float, q: Any, v: Any) -> Any:
        times.append(t)
        return np.zeros(14)

    assert run(1e-9, control=control, control_rate=1e11, start_time=1000.0).stopped is None
    assert len(set(times)) == len(times) == 100
    with pytest.raises(ArgumentError, match=r"control_rate: .* required: at most 2.2e\+12 Hz"):
        run(1e-9, control=control, control_rate=1e13, start_time=1000.0)
    with pytest.raises(ArgumentError, match=r"control_rate: .* required: at most 1e\+09 Hz: .*max_steps"):
        run(1e-3, control=control, control_rate=1e12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("gain", [1e154, 1e308])
def test_gains_beyond_all_measure(gain: float) -> None:
    """No step is small enough: the run says so."""
    law = Tracking(limb="tail", coordinate="tb", kp=gain, kd=gain, profile=held(0.3))
    assert run(control=law).stopped.reason.startswith("no step is small enough")


@pytest.mark.filterwarnings("error")
def test_ground_beyond_all_measure() -> None:
    own = Model(liu2020("pendulum"), "none")
    ground = CompliantGround(stiffness=1e308, damping=1.0, tangential_stiffness=1e308, tangential_damping=20.0,
                             static_friction=0.8, kinetic_friction=0.6)  # fmt: skip
    with pytest.raises(ArgumentError, match="ground that is less stiff"):
        simulate(own, posed(own), 0.01, ground=ground)


@pytest.mark.parametrize("more", [{"limb": "nope"}, {"coordinates": ("nope",)}, {"coordinates": ()}, {"kp": (1.0,)}])
def test_laws_of_tails_with_other_names_and_counts(more: dict[str, Any]) -> None:
    law = TailTracking(**{"limb": "tail", "coordinates": ("ta", "tb"), **more})
    with pytest.raises(ArgumentError):
        run(control=law, motions={"tail": yaw(20)})


def test_batches_on_ground_in_which_no_run_is_possible() -> None:
    """Each run says why, as where some are possible."""
    own = Model(liu2020("pendulum"), "none")
    for ground in (RigidGround(friction=0.6), CompliantGround.for_robot(own.robot)):
        batch = simulate_batch(own, posed(own), 0.002, ground=ground, parameters={"tail.mass": [-1.0, np.nan]})
        assert all(reason.startswith("not possible: tail.mass: got") for reason in batch.reasons)


def test_a_number_and_the_total_that_it_follows_from() -> None:
    """A mass beside the whole tail's is refused in batches and derivatives, as in a changed copy of the robot: it would
    have no effect."""
    both = {"tail.mass": [1.0, 1.1], "tail.total_mass": [1.0, 1.2]}
    required = r"^tail\.mass: got 1\.0; required: either mass or total_mass"
    with pytest.raises(ArgumentError, match=required):
        simulate_batch(model(), Standing(), 0.01, parameters=both)
    with pytest.raises(ArgumentError, match=required):
        gradient(model(), Standing(), 0.01, lambda end: end.q[1], by=list(both))


def test_problems_with_tables_in_the_place_of_words() -> None:
    lines = [line for line in EXAMPLE.splitlines() if line.split(" = ")[0] in ("policy", "file", "preset", "tail")]
    assert lines
    for line in lines:
        with pytest.raises((ArgumentError, UnknownNameError)):
            problem_from_text(EXAMPLE.replace(line, f"{line.split(' = ')[0]} = {{}}"), "problem.toml")


@pytest.mark.parametrize("wrong", [HUGE, 1j, "x", [[]], np.zeros((2, 2)), print, {"x": 1}])
def test_problems_of_design_made_of_something_else(wrong: Any) -> None:
    """Parts of a problem say what they need, as those of a file do."""
    study = problem_from_text(EXAMPLE, "problem.toml").study
    if not isinstance(wrong, str):
        with pytest.raises(ArgumentError, match=r"^text: "):
            problem_from_text(wrong, "problem.toml")
    for part, names in (
        (study, ("scenario", "variables", "goals", "limits", "choices", "steps", "seed")),
        (study.variables[0], ("low", "high")), (study.goals[0], ("measure", "sense")),
        (study.limits[0], ("measure", "most")), (DesignOptions(), ("threads", "starts", "spread")),
    ):  # fmt: skip
        for name in names:
            with pytest.raises(TailworkError):
                replace(part, **{name: wrong})


def test_memory_of_long_runs() -> None:
    """A step of rk4 keeps five stages of 16 numbers, its state and time, 800 bytes; a tick of a controller a few kB."""
    tracemalloc.start()
    try:
        run(0.02, method="rk4", step=1e-6)
        assert tracemalloc.get_traced_memory()[1] < 20_000 * 2500
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        kept = run(0.2, control=lambda t, q, v: np.zeros(14), control_rate=1e4, rtol=1e-4)
        assert tracemalloc.get_traced_memory()[1] - before < 2000 * 6000
        assert len(kept.trajectory.pieces) > 1000
    finally:
        tracemalloc.stop()


def test_names_are_no_formulas(tmp_path: Path) -> None:
    """A dollar in the name of a robot or of a run is a dollar in its pictures."""
    robot = replace(liu2020("pendulum"), name="$\\frac{$")
    own = Model(robot)
    runs = {"$\\frac{$": simulate(own, own.standing(), 0.01), "$x$": run()}
    for k, figure in enumerate((picture(runs, "strip"), torso_response(runs))):
        figure.savefig(tmp_path / f"{k}.png")
        assert (tmp_path / f"{k}.png").stat().st_size > 1000


@pytest.mark.parametrize("wrong", [None, 3, {"nope": 1}, ["nope"], print])
def test_what_is_no_scenario_no_run_and_no_measure(wrong: Any) -> None:
    scenario = Scenario(liu2020("pendulum"), yaw(40))
    calls = [
        lambda: perform(wrong), lambda: perform_many(wrong, {"tail.mass": 1.0}), lambda: measured(wrong, scenario),
        lambda: measured(perform_r3(), wrong), lambda: add_measure(wrong), lambda: motion_from_text(wrong),
        lambda: perform(scenario, rtoll=1.0), lambda: measured(perform_r3(), scenario), lambda: pitch(20, period="x"),
    ]  # fmt: skip
    if wrong is not None:
        calls.append(lambda: perform_many(scenario, {"tail.mass": 1.0}, measures=wrong))
    for call in calls:
        with pytest.raises(TailworkError, match="required: "):
            call()


@cache
def perform_r3() -> Any:
    """A run of another robot."""
    return perform(Scenario(liu2020("r3"), yaw(40)), samples=2)
