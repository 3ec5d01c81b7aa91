"""Runs differentiated forwards: whole paths by a few numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tailwork.errors import RobotError
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import Constant, gradient, point_to_point, sensitivities, simulate

DURATION = 0.1
METHODS: list[dict[str, Any]] = [{"method": "dopri5"}, {"method": "rodas5p", "step": 1e-3}]
NAMES = ("tail.mass", "legs.thigh_length", "gravity", "motion.tail.tb.end", "control.1.values.5")
STARTS = ("phi_z", "v_z", "omega_x")


@pytest.fixture(scope="module")
def model() -> Model:
    return Model(liu2020("pendulum"), prescribed=["tail"])


def asked(model: Model) -> tuple[tuple[np.ndarray, np.ndarray], dict[str, Any]]:
    """A start in motion, legs that hold, and a tail that is swung to the side."""
    q = model.standing()
    motion = {"ta": point_to_point(0.0, 0.1, DURATION), "tb": point_to_point(0.0, 0.7, DURATION)}
    v = np.linspace(-0.1, 0.1, 8)
    return (q, v), {"control": Constant(values=tuple(model.static_torques(q))), "tail": {"tail": motion}}


@pytest.mark.parametrize("how", METHODS, ids=["dopri5", "rodas5p"])
def test_forwards_and_backwards_agree(model: Model, how: dict[str, Any]) -> None:
    """The steps differentiated forwards and backwards: the same number, by design, control, motion and start."""
    start, arguments = asked(model)
    found = sensitivities(model, start, DURATION, by=NAMES, start=STARTS, samples=5, **arguments, **how)
    back = gradient(model, start, DURATION, lambda end: end.coordinate("phi_z") + end.v[2], parameters=NAMES,
                    **arguments, **how)  # fmt: skip
    wanted = dict(back.by_parameter) | {"phi_z": back.by_q[5], "v_z": back.by_v[2], "omega_x": back.by_v[3]}
    for name in (*NAMES, *STARTS):
        at_end = found.q[name][0, -1, 5] + found.v[name][0, -1, 2]
        assert at_end == pytest.approx(wanted[name], rel=1e-10, abs=1e-13)
    assert found.notes == ("",)
    np.testing.assert_array_equal(found.q["phi_z"][0, 0], np.eye(8)[5])
    np.testing.assert_allclose(found.q["motion.tail.tb.end"][0, -1, 7], 1.0, rtol=1e-12)


@pytest.mark.parametrize("how", METHODS, ids=["dopri5", "rodas5p"])
def test_over_time(model: Model, how: dict[str, Any]) -> None:
    """At all times, against differences of two runs."""
    start, arguments = asked(model)
    tight = {"rtol": 1e-11, "atol": 1e-13} if "step" not in how else {}
    found = sensitivities(model, start, DURATION, by=["tail.mass"], samples=21, **arguments, **how, **tight)
    h, paths = 1e-3, []
    for sign in (1.0, -1.0):
        changed = Model(model.robot.replace({"tail.mass": 1.0 + sign * h}), prescribed=["tail"])
        paths.append(simulate(changed, start, DURATION, samples=21, **arguments, **how, **tight).data)
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
    with pytest.raises(RobotError, match=r"by: got \(\); required: names of numbers"):
        sensitivities(model, start, DURATION, **arguments)
    with pytest.raises(RobotError, match="start: got 'phi_w'; required: a known coordinate"):
        sensitivities(model, start, DURATION, start=["phi_w"], **arguments)
    with pytest.raises(RobotError, match=r"start: got 'tail\.tb'; required: a known coordinate"):
        sensitivities(model, start, DURATION, start=["tail.tb"], **arguments)
