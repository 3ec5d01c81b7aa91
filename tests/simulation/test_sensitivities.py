"""Runs differentiated forwards: whole paths by a few numbers."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tailwork.control import Constant, Tracking, point_to_point
from tailwork.errors import ArgumentError
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import gradient, gradients, sensitivities, simulate, simulate_batch

DURATION = 0.1
STARTS = ("phi_z", "v_z", "omega_x")
BatchInputs = tuple[tuple[np.ndarray, np.ndarray], dict[str, Any]]


@pytest.fixture(scope="module")
def model() -> Model:
    return Model(liu2020("pendulum"), prescribed=["tail"])


def asked(model: Model) -> BatchInputs:
    """A start in motion, legs that hold, and a tail that is swung to the side."""
    q = model.standing()
    motion = {"ta": point_to_point(0.0, 0.1, DURATION), "tb": point_to_point(0.0, 0.7, DURATION)}
    v = np.linspace(-0.1, 0.1, len(q))
    control = Constant(values=tuple(model.static_torques(q)) if model.foot_names else (0.3, -0.2))
    return (q, v), {"control": control, "motions": {"tail": motion}}


def two_tails() -> Model:
    """A torso in the air with a tail that is swung and another with motors: what is compiled for it is small."""
    robot = liu2020("pendulum").without("legs")
    return Model(robot.with_part("other", replace(robot.part("tail"), mount=(0.0, 0.25, 0.0))), prescribed=["tail"])


EVERY: dict[str, tuple[Callable[[], Model], tuple[str, ...], dict[str, Any]]] = {
    "dopri5": (
        lambda: Model(liu2020("pendulum"), prescribed=["tail"]),
        ("tail.mass", "legs.thigh_length", "gravity", "motion.tail.tb.end", "control.1.values.5"),
        {"method": "dopri5", "rtol": 1e-11, "atol": 1e-13},
    ),
    "rodas5p": (
        two_tails,
        ("tail.mass", "other.length", "gravity", "motion.tail.tb.end", "control.1.values.2"),
        {"method": "rodas5p", "step": 1e-3},
    ),
}
"""By method: a robot, the names of numbers of its design, its control and its motion, and how it is simulated."""


@pytest.mark.measured("derivatives")
@pytest.mark.parametrize("method", EVERY)
def test_forwards_and_backwards_agree(measured: Callable[..., None], method: str) -> None:
    """The steps differentiated forwards and backwards: the same number, by design, control, motion and start."""
    made, names, how = EVERY[method]
    model = made()
    start, arguments = asked(model)
    found = sensitivities(model, start, DURATION, by=names, start=STARTS, samples=5, **arguments, **how)
    back = gradient(model, start, DURATION, lambda end: end.coordinate("phi_z") + end.v[2], by=names,
                    **arguments, **how)  # fmt: skip
    wanted = dict(back.by_parameter) | {"phi_z": back.by_q[5], "v_z": back.by_v[2], "omega_x": back.by_v[3]}
    for name in (*names, *STARTS):
        at_end = found.q[name][0, -1, 5] + found.v[name][0, -1, 2]
        off = abs(at_end - wanted[name]) / max(abs(wanted[name]), 1e-3)
        measured("a run differentiated forwards beside backwards", off, at_most=1e-10)
    assert found.notes == ("",)
    np.testing.assert_array_equal(found.q["phi_z"][0, 0], np.eye(len(start[0]))[5])
    np.testing.assert_allclose(found.q["motion.tail.tb.end"][0, -1, 7], 1.0, rtol=1e-12)


@pytest.mark.parametrize("method", EVERY)
def test_over_time(method: str) -> None:
    """At all times, against differences of two runs."""
    made, _, how = EVERY[method]
    model = made()
    start, arguments = asked(model)
    found = sensitivities(model, start, DURATION, by=["tail.mass"], samples=21, **arguments, **how)
    h, paths = 1e-3, []
    for sign in (1.0, -1.0):
        changed = Model(model.robot.replace({"tail.mass": 1.0 + sign * h}), prescribed=["tail"])
        paths.append(simulate(changed, start, DURATION, samples=21, **arguments, **how).data)
    assert model.robot.part("tail").mass == 1.0
    for kind, values in (("q", found.q), ("v", found.v)):
        wanted = (paths[0][kind].to_numpy() - paths[1][kind].to_numpy()) / (2.0 * h)
        np.testing.assert_allclose(values["tail.mass"][0], wanted, atol=3e-6 * np.abs(wanted).max())


def test_many_at_once(model: Model) -> None:
    """Rows are what each run gives alone; designs that cannot be are said; after an end there is nothing."""
    (q, v), arguments = asked(model)
    rows = np.tile(v, (3, 1))
    rows[1, 2] = 3.0  # a leg is soon straight
    found = sensitivities(model, (q, rows), DURATION, by=["tail.length"], parameters={"tail.mass": [1.0, 1.2, -1.0]},
                          samples=11, method="dopri5", **arguments)  # fmt: skip
    alone = sensitivities(model, (q, v), DURATION, by=["tail.length"], samples=11, method="dopri5", **arguments)
    np.testing.assert_array_equal(found.q["tail.length"][0], alone.q["tail.length"][0])
    assert "nearly straight" in found.notes[1] and 0.0 < found.ends[1] < DURATION
    after = found.times > found.ends[1]
    assert np.isnan(found.q["tail.length"][1, after]).all() and np.isfinite(found.q["tail.length"][1, ~after]).all()
    assert "not possible: tail.mass" in found.notes[2] and np.isnan(found.v["tail.length"][2]).all()


def test_bad_names(model: Model) -> None:
    """What is asked for must exist, and be something."""
    start, arguments = asked(model)
    with pytest.raises(ArgumentError, match=r"by: got \[\]; required: names of numbers"):
        sensitivities(model, start, DURATION, **arguments)
    with pytest.raises(ArgumentError, match="start: got 'phi_w'; required: a known coordinate"):
        sensitivities(model, start, DURATION, start=["phi_w"], **arguments)
    with pytest.raises(ArgumentError, match=r"start: got 'tail\.tb'; required: a known coordinate"):
        sensitivities(model, start, DURATION, start=["tail.tb"], **arguments)


def test_by_the_duration_of_a_motion_that_is_imposed(model: Model) -> None:
    """Its acceleration jumps at the end. Where that is the end of the run, derivatives are those of longer motions,
    also backwards; where it is within the run, steps as they were do not know that the jump moves, and it is refused.
    A motion that a law follows has no such jump."""
    start, arguments = asked(model)
    name, how = "motion.tail.tb.duration", {"method": "dopri5", "rtol": 1e-12, "atol": 1e-14}
    found = sensitivities(model, start, DURATION, by=[name], samples=2, **arguments, **how)
    back = gradient(model, start, DURATION, lambda end: end.coordinate("phi_z"), by=[name], **arguments, **how)
    h = 1e-4
    longer = {name: DURATION + h * np.arange(4.0)}
    yaws = simulate_batch(model, start, DURATION, parameters=longer, **arguments, **how)["phi_z"]
    wanted = np.array([-11.0, 18.0, -9.0, 2.0]) @ yaws / (6.0 * h)
    assert found.q[name][0, -1, 5] == pytest.approx(wanted, rel=1e-6)
    assert back.by_parameter[name] == pytest.approx(wanted, rel=1e-6)
    for call in (
        lambda: sensitivities(model, start, 1.1 * DURATION, by=[name], **arguments),
        lambda: gradient(model, start, 1.1 * DURATION, lambda end: end.q[5], by=[name], **arguments),
        lambda: gradients(model, start, DURATION, lambda end: end.q[5], parameters={name: [0.09, 0.1]}, **arguments),
    ):
        with pytest.raises(ArgumentError, match=f"^by: got '{name}'; required: numbers that do not say when .* jumps"):
            call()
    law = Tracking(limb="other", coordinate="tb", profile=point_to_point(0.0, 0.7, 0.05), kp=300.0, kd=5.0)
    followed, motions = two_tails(), arguments["motions"]
    name, lasting = "control.1.profile.duration", {"control.1.profile.duration": 0.05 + 1e-5 * np.array([1.0, -1.0])}
    at_rest: dict[str, Any] = {"control": law, "motions": motions, **how}
    by = sensitivities(followed, followed.standing(), DURATION, by=[name], samples=2, **at_rest).q[name][0, -1, 5]
    yaws = simulate_batch(followed, followed.standing(), DURATION, parameters=lasting, **at_rest)["phi_z"]
    assert by == pytest.approx((yaws[0] - yaws[1]) / 2e-5, rel=1e-5)


def test_results_travel_and_are_compared_by_identity(model: Model) -> None:
    """Results hold arrays: pickled they are the same numbers and words; == and hash are those of the object."""
    start, arguments = asked(model)
    one = gradient(model, start, 0.01, lambda end: end.q[5], by=["tail.mass"], **arguments)
    many = gradients(model, start, 0.01, lambda end: end.q[5], parameters={"tail.mass": [1.0, 1.1]}, **arguments)
    paths = sensitivities(model, start, 0.01, by=["tail.mass"], samples=2, **arguments)
    for found in (one, many, paths, Model(liu2020("pendulum")).allocation(start[0], start[1], np.zeros(8))):
        again = pickle.loads(pickle.dumps(found))
        assert repr(again) == repr(found) and vars(again).keys() == vars(found).keys()
        assert again != found and len({found, again, found}) == 2
