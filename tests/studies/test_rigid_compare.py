"""Comparisons on rigid ground: what becomes of motions whose pinned feet would slip or pull."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tailwork.errors import ArgumentError
from tailwork.robots import liu2020
from tailwork.simulation import RigidGround
from tailwork.studies.compare.comparison import Plan, compare, comparison_cases, last_common
from tailwork.studies.motions import roll, yaw
from tailwork.view.report.overview import conclusion, feet_text

ROBOTS = {"pendulum": liu2020("pendulum")}
GROUND = RigidGround(friction=0.6)


def test_what_actually_happens(tmp_path: Path) -> None:
    """Where pinned feet only push and friction is enough, nothing changes; else feet slip and lift at about the time
    when the pinned ones ask for more than there is, and a leg that would have to pull lifts instead of ending the run.
    """
    plan = Plan(ROBOTS, (yaw(20), yaw(80), roll(80)), {}, "paper", GROUND)
    comparison = compare(plan, tmp_path)
    calm, slipping, lifting = (comparison.of(motion)["pendulum"] for motion in plan.motions)
    assert calm.rigid is not None and slipping.rigid is not None and lifting.rigid is not None
    assert feet_text(calm.rigid) == "all stay"
    _, pinned, rigid = last_common(calm.run, calm.rigid)
    np.testing.assert_allclose(rigid, pinned, rtol=0, atol=5e-3)  # deg; steps of 1 ms
    force, times = slipping.run.data["foot_force"].to_numpy(), slipping.run.data["time"].to_numpy()
    over = (np.hypot(force[..., 0], force[..., 1]) > 0.6 * force[..., 2]).any(axis=1)
    first = min(time for time, _, state in slipping.rigid.changes if state == "slip")
    assert first == pytest.approx(times[over.argmax()], abs=2e-3)
    assert lifting.run.stopped is not None and lifting.rigid.stopped is None, "the leg lifts before it is straight"
    assert "lifts" in feet_text(lifting.rigid)
    assert "feet slip or lift in 2 of 3 runs" in conclusion(comparison)
    assert compare(plan, tmp_path).results[1].rigid is not None, "kept runs are read again"


def test_no_ground_in_the_air() -> None:
    """A robot in the air has no ground to stand on: refused before anything is done."""
    with pytest.raises(ArgumentError, match="airborne"):
        comparison_cases(Plan(ROBOTS, (yaw(20),), {}, "airborne", GROUND))
