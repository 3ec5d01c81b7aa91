"""Walking on compliant ground: a cockroach's tripod and a quadruped's trot go on, and momentum closes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.layout import Array
from tailwork.control.gait.gait import Gait, trot
from tailwork.control.gait.joint_table import JointTable, joint_table, walking_start
from tailwork.control.servo import JointServo
from tailwork.kernels import kernel as kernel_module
from tailwork.model import Model
from tailwork.papers.nelson_quinn.experiments import (
    ROWS,
    force_peaks,
    halves,
    reactions,
    simulate_walk,
    walking_gait,
)
from tailwork.robots import biswal
from tailwork.simulation import Run, load_run, simulate
from tailwork.simulation.contact.ground import CompliantGround, HeightField

AIR, STICK, SLIP = range(3)
STEP = 2.0**-13  # adds up without rounding [s]
TROT_SPEED, STRIDES = 0.15, 6  # m/s


@cache
def quadruped() -> Model:
    """Biswal's, with its feet free to touch."""
    return Model(biswal(), "none")


@cache
def trotting() -> tuple[Gait, JointTable]:
    """A slow trot, two strides a second."""
    gait = trot(biswal(), speed=TROT_SPEED, frequency=2.0, lift=0.03)
    return gait, joint_table(quadruped(), gait)


def firm(surface: HeightField | None = None, **changes: float) -> CompliantGround:
    """Ground for a quadruped of 3.4 kg."""
    numbers = {
        "stiffness": 2e4, "damping": 1.0, "tangential_stiffness": 2e4, "tangential_damping": 20.0,
        "static_friction": 0.8, "kinetic_friction": 0.6,
    }  # fmt: skip
    return CompliantGround(**(numbers | changes), surface=surface)


def trotted(strides: int = STRIDES, *, start: Any = None, on: CompliantGround | None = None, **more: Any) -> Run:
    """From the gait's own speed, or from another state."""
    gait, table = trotting()
    servo = JointServo(table=table, kp=30.0, kd=0.5)
    state = walking_start(quadruped(), gait, table) if start is None else start
    given = {"step": STEP, "samples": strides * 128 + 1} | more
    return simulate(quadruped(), state, strides * gait.period, ground=on or firm(), control=servo, **given)


@cache
def trot_run() -> Run:
    """A run that is only looked at."""
    return trotted()


@cache
def cockroach_run() -> Run:
    """Four strides of the tripod, with coarse steps."""
    return simulate_walk(4, step=2e-5)


RUNS = {"trot": trot_run, "cockroach": cockroach_run}
each_run = pytest.mark.parametrize("name", RUNS)


def test_impulses_of_a_stride_are_those_of_all_contact() -> None:
    """From a foot's first touch to its last, whatever the gait plans; the halves of a stride make up the whole; and in
    a steady walk all legs together neither brake nor drive."""
    run, gait = cockroach_run(), walking_gait()
    found = reactions(run, gait, settling=2)
    each = len(found.share)
    contact, impulse = run.data["contact"].to_numpy(), run.data["foot_impulse"].to_numpy()[..., 0]
    names = list(run.data["foot"].to_numpy())
    for row in ROWS:
        whole = []
        for leg in (f"{row}_left", f"{row}_right"):
            k, phase = names.index(leg), gait.phases[gait.legs.index(leg)]
            middle = round((1 + phase + (1 + gait.duty) / 2) * each)  # of a swing
            down = middle + np.flatnonzero(contact[middle : middle + each, k] != AIR)
            assert 0.5 * each < len(down) < 0.8 * each
            whole.append(impulse[down[-1] + 1, k] - impulse[down[0] - 1, k])
        assert np.mean(whole) == pytest.approx(found.stride[row].mean(), rel=0.02)
        assert sum(halves(found, row)) == pytest.approx(found.stride[row].mean(), abs=1e-12)
    assert sum(found.stride[row].mean() for row in ROWS) == pytest.approx(0.0, abs=0.03 * found.stride["hind"].mean())


def test_peaks_of_the_force_and_both_tripods() -> None:
    """A peak is a maximum of more than a tenth of the largest, in the stance of the gait; feet of both tripods touch
    around the change of tripods and never in the middle of a swing."""
    found, gait = reactions(cockroach_run(), walking_gait(), settling=2), walking_gait()
    for row in ROWS:
        force, peaks = found.force[row][:, 2], force_peaks(found, row)
        assert len(peaks) and peaks.max() < gait.duty
        for k in np.searchsorted(found.share, peaks):
            assert force[k - 1] < force[k] > force[k + 1] and force[k] > 0.1 * force.max()
    assert found.both[0] == found.both[round(0.5 * len(found.both))] == 1.0
    assert (found.both[(found.share > 0.7) & (found.share < 0.85)] == 0.0).all()


def by_stride(run: Run, name: str) -> np.ndarray:
    """Numbers of the samples at which strides begin and end."""
    period = {"trot": trotting()[0], "cockroach": walking_gait()}[name].period
    times = run.data["time"].to_numpy()
    return np.searchsorted(times, np.arange(0.0, run.duration + 1e-9, period) - 1e-9)


def unexplained(run: Run) -> tuple[Array, float]:
    """Momentum that neither the feet's impulses nor the weight's explain, over time [N s], and the weight [N]."""
    model, times = run.model, run.data["time"].to_numpy()
    q, v = (run.data[part].to_numpy() for part in ("q", "v"))
    momentum = model.centroidal_momentum(q, v).linear
    weight = float(model.part_momenta(q[0], v[0]).masses.sum()) * model.robot.gravity
    impulse = run.data["foot_impulse"].to_numpy().sum(axis=1) - np.outer(times, [0.0, 0.0, weight])
    return momentum - momentum[0] - impulse, weight


@pytest.mark.measured("walking")
@each_run
def test_momentum_closes(measured: Callable[..., None], name: str) -> None:
    """Over the run and over every stride, to millionths of the weight's impulse; the run says so itself."""
    run = RUNS[name]()
    left, weight = unexplained(run)
    assert run.stopped is None
    assert run.momentum_balance_error() == pytest.approx(np.abs(left).max() / (weight * run.duration), rel=1e-6)
    measured(f"momentum that impulses do not explain, {name}", run.momentum_balance_error(), at_most=2e-6)
    ends = by_stride(run, name)
    assert len(ends) > 4
    period = run.duration / (len(ends) - 1)
    assert np.abs(np.diff(left[ends], axis=0)).max() < 4e-6 * weight * period


def test_momentum_closes_at_first_order() -> None:
    """What is left halves with the step."""
    errors = [trotted(2, step=STEP / 2**k).momentum_balance_error() for k in range(3)]
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(2.0, abs=0.3)


@pytest.mark.measured("walking")
@each_run
def test_feet_bear_the_weight(measured: Callable[..., None], name: str) -> None:
    """Vertical impulses of the later strides are the weight's: each to a hundredth, their mean to 2 thousandths."""
    run = RUNS[name]()
    ends = by_stride(run, name)[1:]
    impulse = run.data["foot_impulse"].to_numpy().sum(axis=1)[ends, 2]
    _, weight = unexplained(run)
    share = np.diff(impulse) / (weight * np.diff(run.data["time"].to_numpy()[ends]))
    assert share == pytest.approx(1.0, abs=1e-2)
    measured(f"vertical impulse over the weight's, less 1, {name}", abs(share.mean() - 1.0), at_most=2e-3)


@each_run
def test_feet_only_push(name: str) -> None:
    """No foot pulls in any sample, nor has more friction than there is, nor any force in the air."""
    run = RUNS[name]()
    assert run.ground is not None
    force, mode = run.data["foot_force"].to_numpy(), run.data["contact"].to_numpy()
    across = np.hypot(force[..., 0], force[..., 1])
    assert force[..., 2].min() >= 0.0
    assert (force[mode == AIR] == 0.0).all()
    assert (across <= run.ground.static_friction * force[..., 2] * (1.0 + 1e-8)).all()
    slips = mode == SLIP
    np.testing.assert_allclose(across[slips], run.ground.kinetic_friction * force[..., 2][slips], rtol=1e-8)


def test_trot_goes_on() -> None:
    """At nearly the gait's speed, level, as high as it stands, straight ahead; feet in turn, as the gait wants."""
    run, (gait, _) = trot_run(), trotting()
    later = run.data.isel(time=slice(run.data.sizes["time"] // 2, None))
    x, t = later["q"].sel(coordinate="x").to_numpy(), later["time"].to_numpy()
    assert (x[-1] - x[0]) / (t[-1] - t[0]) == pytest.approx(TROT_SPEED, rel=0.05)
    assert later["q"].sel(coordinate="z").to_numpy() == pytest.approx(biswal().stand[2], abs=6e-3)
    assert np.degrees(np.abs(later["q"].sel(coordinate=["phi_x", "phi_y", "phi_z"]).to_numpy())).max() < 5.0
    touching = later["contact"].to_numpy() != AIR
    wanted = np.array([gait.in_stance(leg, t) for leg in run.data["foot"].to_numpy()]).T
    assert (touching == wanted).mean() > 0.85


def test_joints_follow_the_table() -> None:
    """What the servos give is their law of the recorded state, and the joints stay near the table."""
    run, (_, table) = trot_run(), trotting()
    values, rates = table.at(run.data["time"].to_numpy())
    q = run.data["q"].sel(coordinate=list(table.coordinates)).to_numpy()
    v = run.data["v"].sel(velocity=[f"{name} rate" for name in table.coordinates]).to_numpy()
    tau = run.data["tau"].sel(actuator=list(table.coordinates)).to_numpy()
    np.testing.assert_allclose(tau, 30.0 * (values - q) + 0.5 * (rates - v), atol=1e-9)
    assert np.abs(values - q).max() < 0.1


def test_trot_has_the_same_bits_again() -> None:
    again = trotted()
    for name, values in trot_run().data.data_vars.items():
        np.testing.assert_array_equal(values, again.data[name], err_msg=str(name))
    assert again.changes == trot_run().changes


def test_going_on_after_a_stride() -> None:
    """A run that goes on from the end of a stride is one long run, to rounding."""
    first = trotted(2)
    rest = trotted(STRIDES - 2, start=first.final_state, contact=first.final_contact)
    for one, other in zip(trot_run().final_state, rest.final_state, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
    assert trot_run().final_contact.states == rest.final_contact.states
    np.testing.assert_allclose(trot_run().final_contact.anchors, rest.final_contact.anchors, atol=1e-9)


def test_speed_gait_and_ground_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another gait, another ground, a heavier robot: numbers of the same kernels."""
    trot_run()

    def refuse(*_: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(kernel_module, "compiled", refuse)
    heavier = Model(biswal().replace({"torso.mass": 2.5, "legs.thigh_length": 0.102}), "none")
    gait = trot(heavier.robot, speed=0.1, frequency=1.6, lift=0.02, duty=0.6)
    table = joint_table(heavier, gait)
    servo = JointServo(table=table, kp=40.0, kd=0.4)
    run = simulate(heavier, walking_start(heavier, gait, table), 0.3, ground=firm(stiffness=1e4), control=servo)
    assert run.stopped is None


def hills() -> HeightField:
    """Gentle: a centimetre from valley to hill, all below the plane z = 0 and level with it where the feet start."""
    return HeightField.sampled(
        lambda x, y: -0.005 * (1.0 - np.cos(2.0 * np.pi * x / 0.36) * np.cos(2.0 * np.pi * y / 0.8)),
        (-1.0, 2.0), (-1.0, 1.0), 0.02,
    )  # fmt: skip


def test_trot_over_hills(tmp_path: Path) -> None:
    """It walks on over gentle hills; momentum closes; its feet are where the hills are; and the file keeps it all."""
    field = hills()
    gait, table = trotting()
    q, v = walking_start(quadruped(), gait, table)
    run = trotted(start=(q, v), on=firm(field))
    assert run.stopped is None and run.momentum_balance_error() < 5e-6
    x = run.data["q"].sel(coordinate="x").to_numpy()
    assert 0.7 * TROT_SPEED < (x[-1] - x[0]) / run.duration < 1.2 * TROT_SPEED
    assert np.degrees(np.abs(run.data["q"].sel(coordinate=["phi_x", "phi_y"]).to_numpy())).max() < 12.0
    feet = run.data["points"].sel(point=[f"{leg}.foot" for leg in run.data["foot"].to_numpy()]).to_numpy()
    height = np.array([[field.height(p[0], p[1]) for p in places] for places in feet[::8]])
    depth, stands = height - feet[::8, :, 2], run.data["contact"].to_numpy()[::8] != AIR
    assert np.ptp(height[stands]) > 5e-3, "feet stand on hills and in valleys"
    assert depth.max() < 5e-3
    assert depth[~stands].max() < 1e-3, "feet in the air are above the ground, but for the step that ends a stance"
    run.save(tmp_path / "hills.nc")
    again = load_run(tmp_path / "hills.nc")
    assert again.summary() == run.summary() and again.changes == run.changes
    assert again.ground is not None and run.ground is not None
    assert again.ground.as_text() == run.ground.as_text()


def test_summary_tells_how_feet_touched() -> None:
    """How each foot spent its time, and when it first slipped and left the ground."""
    told = trot_run().summary()
    assert "momentum balance to" in told
    for leg in trot_run().data["foot"].to_numpy():
        assert any(
            line.startswith(f"{leg}: air ") and "first leaves the ground at" in line for line in told.splitlines()
        )
    assert not trot_run().assumption_held()
