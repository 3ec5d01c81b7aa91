"""Runs that tell the truth: where the equations end, how well energy balances, what a controller really asked for."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from few_links import few_links
from tailwork.control import Constant, point_to_point
from tailwork.errors import ArgumentError, RobotError, StateError
from tailwork.model import Model
from tailwork.robots import biswal, liu2018, liu2020, pendulum
from tailwork.robots.robot import Robot
from tailwork.simulation import Force, LegFolded, LegStraight, Run, When, load_run, simulate, simulate_batch
from tailwork.simulation.events import DEFAULT_EVENTS
from tailwork.simulation.integrate.balance import PER_TOLERANCE, TRUSTED, poor_balance, unbalanced


@cache
def standing() -> Model:
    """The 2020 quadruped with the pendulum tail."""
    return Model(liu2020("pendulum"))


# Legs that fold


def falling(robot: Robot, **more) -> Run:
    """A robot without torques, which sinks until its legs are folded."""
    model = Model(robot)
    return simulate(model, model.standing(), 0.3, **more)


@pytest.mark.parametrize("robot", [liu2018(), liu2020("pendulum"), biswal()], ids=lambda robot: robot.name)
def test_a_leg_that_folds_ends_the_run(robot: Robot) -> None:
    """By default, at a tenth of the way from folded to straight, with a reason; energy balances to the end."""
    run = falling(robot)
    assert run.stopped is not None and run.stopped.time < 0.3
    assert run.stopped.reason.endswith("nearly folded onto its hip (extension 0.1)")
    leg = run.model.foot_names.index(run.stopped.reason.split()[0])
    assert run.path(np.array([run.stopped.time])).extensions[0, leg] == pytest.approx(0.1, abs=1e-12)
    assert run.energy_balance_error() < 1e-6 and run.warnings == ()
    assert f"{run.stopped.reason}; no motor did anything: `control` says what drives the legs\n" in run.summary()
    model = Model(robot)
    batch = simulate_batch(model, model.standing(), 0.3)
    assert batch.reasons == (run.stopped.reason,) and batch.times[0] == run.stopped.time


def test_where_legs_of_unequal_bars_are_folded() -> None:
    """The way from folded to straight counts: bars of 0.3 and 0.2 m are folded at a fifth of their length."""
    robot = liu2020("pendulum").replace({"legs.thigh_length": 0.3, "legs.shank_length": 0.2})
    run = falling(robot.replace({"stand.z": 0.35}), events=(LegFolded(extension=0.25),))
    assert run.stopped is not None
    assert run.data["extension"].isel(time=-1).min() == pytest.approx(0.2 + 0.8 * 0.25, abs=1e-12)


# Energy that does not balance


def test_a_bad_energy_balance_is_a_warning() -> None:
    """A run that leaps over a singularity says so: in its warnings, its summary, its file; a good one does not."""
    run = falling(liu2018(), events=(LegStraight(),))
    assert run.stopped is None and run.energy_balance_error() > 0.5
    assert run.trusted == PER_TOLERANCE * 1e-6
    (said,) = run.warnings
    assert said.startswith("energy balances to 9.") and "only, 1e-03 was expected: do not trust" in said
    assert f"warning: {said}" in run.summary().splitlines()
    assert pickle.loads(pickle.dumps(run)).warnings == run.warnings
    assert "warning" not in falling(liu2018()).summary()


def test_the_warning_is_in_the_file(tmp_path) -> None:
    run = falling(liu2018(), events=(LegStraight(),), rtol=1e-7)
    run.save(tmp_path / "run.nc")
    again = load_run(tmp_path / "run.nc")
    assert again.trusted == run.trusted == pytest.approx(1e-4) and again.warnings == run.warnings != ()


def test_what_is_expected_of_fixed_steps() -> None:
    """Nobody asked for a tolerance: two hundredths."""
    model = standing()
    run = simulate(model, model.standing(), 0.01, method="rk4", step=1e-3)
    assert run.trusted == TRUSTED and run.warnings == ()


def test_warnings_of_a_batch() -> None:
    """Runs whose energy does not balance are pointed out, without being asked; they are those of single runs."""
    model = Model(liu2018())
    q = np.stack([model.standing(), model.standing()])
    held = tuple(model.static_torques(model.standing()))
    batch = simulate_batch(model, q, 0.3, control=Constant(values=held), events=(LegStraight(),),
                           parameters={"torso.mass": [float(model.robot.torso_body().mass), 1000.0]})  # fmt: skip
    good, bad = batch.warnings
    assert good == "" and "do not trust" in bad
    assert repr(batch).endswith("warning: 1 are not to be trusted, see `warnings`")
    assert batch.data["warning"].to_numpy().tolist() == list(batch.warnings)
    alone = simulate_batch(model, model.standing(), 0.3, events=(LegStraight(),))
    single = falling(liu2018(), events=(LegStraight(),))
    assert alone.energy_balance_error()[0] == single.energy_balance_error()


def test_a_pickled_batch_keeps_its_energy_balances() -> None:
    model = standing()
    batch = simulate_batch(model, model.standing(), 0.01)
    error = batch.energy_balance_error()
    assert np.isfinite(error).all()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(batch)).energy_balance_error(), error)


@pytest.mark.parametrize(("kind", "method"), [("pendulum", "dopri5"), ("usrt", "rodas5p")])
def test_work_is_what_quadrature_finds(kind: str, method: str) -> None:
    """The work that is integrated with the motion, of springs, dampers and an outside force too, is the integral of the
    powers along the run and what springs gave back, in single runs and, to the bit, in batches; also where an event
    cuts a step short."""
    model = Model(few_links(kind))
    q, v = model.standing(), 0.2 * np.cos(np.arange(len(model.velocity_names)))
    push = Force(x=point_to_point(0.0, 30.0, 0.05))
    held = Constant(values=tuple(1.05 * model.allocation(q, 0.0 * v, 0.0 * v).efforts))
    settings: Any = {"control": held, "forces": push, "method": method, "rtol": 1e-10, "atol": 1e-12}
    late = When(name="late", quantity=lambda context: 0.0403 - context.t, action="stop")
    for events in (DEFAULT_EVENTS, (*DEFAULT_EVENTS, late)):
        run = simulate(model, (q, v), 0.05, events=events, **settings)
        assert run.trajectory is not None and (run.stopped is None) == (events is DEFAULT_EVENTS)
        moments = run.trajectory.moments()
        nodes, weights = np.polynomial.legendre.leggauss(5)
        for end, work, *_ in moments[1:]:
            edges = np.unique(np.minimum(run.trajectory.times, end))
            h = np.diff(edges)
            path = run.path((edges[:-1, None] + h[:, None] * (nodes + 1.0) / 2.0).ravel())
            rate = (path.powers.sum(axis=-1) + path.outside_power - path.dissipation).reshape(len(h), -1)
            full = run.trajectory.full(np.array([0.0, end]))
            stored = np.diff(model.energy(full[0], full[1]).elastic)[0]
            assert work == pytest.approx(((rate @ weights) * h / 2.0).sum() - stored, rel=1e-8, abs=1e-10)
        batch = simulate_batch(model, (np.stack([q] * 3), v), 0.05, events=events, **settings)
        np.testing.assert_array_equal(batch.energy_balance_error(), run.energy_balance_error())
        assert run.energy_balance_error() < 1e-8


def test_flight_without_gravity_balances() -> None:
    """Energy that stays in motion counts: rounding and tolerance are judged against it, not against what it varies."""
    model = Model(liu2020("pendulum").replace({"gravity": 0.0}), "none")
    v = np.zeros(len(model.velocity_names))
    v[:6] = 1.0, 0.3, 0.2, 0.5, 0.2, 0.8
    run = simulate(model, (model.standing(), v), 1.0)
    assert run.energy_balance_error() < 1e-7 and run.warnings == ()
    batch = simulate_batch(model, (model.standing(), v), 1.0)
    assert batch.energy_balance_error()[0] < 1e-7


def test_shares_of_energy() -> None:
    """Of the energy that moved, or of the kinetic energy where that is more; of a millionth of what is there."""
    still = np.array([[1.0, 5.0], [1.0, 5.0 + 1e-3]])
    assert unbalanced(still, np.zeros(2)) == pytest.approx(1e-3)
    moved = np.array([[0.0, 5.0], [2.0, 3.5]])
    assert unbalanced(moved, np.zeros(2)) == pytest.approx(0.5 / 2.0)
    resting = np.array([[0.0, 5.0], [0.0, 5.0 + 1e-9]])
    assert unbalanced(resting, np.zeros(2)) == pytest.approx(1e-9 / 5e-6, rel=1e-3)
    assert poor_balance(np.nan, 1e-3) == "" and poor_balance(np.inf, 1e-3)


# Controllers


def test_a_controller_may_use_one_array_again() -> None:
    """What is recorded is what it said at each time: efforts, powers and foot forces."""
    model = standing()
    q = model.standing()
    held, buffer = np.asarray(model.static_torques(q)), np.zeros(14)

    def fresh(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return held * (1.0 + 0.1 * np.sin(40.0 * t))

    def reused(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        buffer[:] = fresh(t, q, v)
        return buffer

    one, other = (simulate(model, q, 0.05, control=law).data for law in (fresh, reused))
    assert float(np.ptp(one["tau"].to_numpy(), axis=0).max()) > 0.5
    for name in ("tau", "power", "foot_force", "q"):
        np.testing.assert_array_equal(one[name], other[name])


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
from tailwork import Model, robots, simulate, simulate_batch
from tailwork.simulation import RigidGround

sys.path.append(sys.argv[1])
from pucks import ground, puck

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
tail, q = Model(robots.liu2020("pendulum").without("legs"), "none", torso="fixed"), np.array([0.5, 0.3])
long = {"max_steps": 10**9}
disc, flat, rigid = Model(puck(), "none"), np.zeros(7), RigidGround(friction=0.5)
held = {"control": lambda t, q, v: np.zeros(1), "step": 1e-3, "samples": 2}
runs = {
    "compliant": lambda duration: simulate(disc, flat, min(duration, 1e5), ground=ground(), **held, **long),
    "rigid": lambda duration: simulate(disc, flat, min(duration, 1e5), ground=rigid, **held, **long),
    "event-driven": lambda duration: simulate(disc, flat, duration, ground=rigid, method="event-driven", **long),
    "batch on ground": lambda duration: simulate_batch(
        disc, np.tile(flat, (8, 1)), min(duration, 1e5), ground=rigid, step=1e-3, **long
    ),
    "dopri5": lambda duration: simulate(tail, q, duration, method="dopri5", **long),
    "rodas5p": lambda duration: simulate(tail, q, duration, method="rodas5p", **long),
    "controller": lambda duration: simulate(tail, q, min(duration, 1e5), control=lambda t, q, v: (0.0, 0.0), **long),
    "batch": lambda duration: simulate_batch(tail, np.tile(q, (8, 1)), min(duration, 1e5), **long),
    "compiling": lambda duration: simulate_batch(
        usrt, usrt.standing(), 100.0, parameters={"torso.mass": np.linspace(10.0, 12.0, 500)}, events=(), **long
    ),
}
usrt = Model(robots.liu2020("usrt"))
pressed = []
def press():
    time.sleep(0.3)
    pressed.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
for what in sys.argv[2:]:
    if what != "compiling":
        runs[what](0.01)  # compiled
    threading.Thread(target=press, daemon=True).start()
    try:
        runs[what](1e7)
    except KeyboardInterrupt:
        print(f"{what}: {time.perf_counter() - pressed[-1]}", flush=True)
os._exit(0)
"""


GROUNDS = ("compliant", "rigid", "event-driven", "batch on ground")


@pytest.mark.parametrize("runs", [("dopri5", "rodas5p", "controller", "batch", *GROUNDS), ("compiling",)])
def test_ctrl_c(runs: tuple[str, ...], tmp_path: Path) -> None:
    """It is raised as KeyboardInterrupt, within a second, on every ground, with controllers in Python (those on
    compliant and rigid ground), and also while equations are compiled; one run after the other in a process."""
    command = [sys.executable, "-c", INTERRUPTED, str(Path(__file__).parents[1]), *runs]
    more = {"TAILWORK_CACHE": str(tmp_path)} if runs == ("compiling",) else {}
    found = subprocess.run(command, capture_output=True, text=True, timeout=100.0, env=os.environ | more)
    assert found.returncode == 0, found.stderr
    took = dict(line.split(": ") for line in found.stdout.splitlines())
    assert tuple(took) == runs and all(float(seconds) < 1.0 for seconds in took.values()), took


# Wrong arguments


@pytest.mark.parametrize("duration", [0.0, -1.0, np.nan, np.inf, "1", None, True])
def test_a_wrong_duration_is_a_wrong_argument(duration: object) -> None:
    """Not a wrong robot."""
    model = standing()
    with pytest.raises(ArgumentError, match=r"^duration: got .*; required: a finite number greater than 0") as caught:
        simulate(model, model.standing(), duration)  # type: ignore[arg-type]
    assert not isinstance(caught.value, RobotError) and isinstance(caught.value, ValueError)


def test_a_force_that_is_not_a_number() -> None:
    """It is named by its field; a force is no robot, but a tail is a part of one."""
    with pytest.raises(ArgumentError, match=r"^y: got nan; required: a finite number \[N\]") as caught:
        Force(y=float("nan"))
    assert not isinstance(caught.value, RobotError)
    with pytest.raises(RobotError, match=r"^length: got nan"):
        pendulum(length=float("nan"), mass=1.0)


def test_a_start_by_name() -> None:
    """The error says what to write instead."""
    with pytest.raises(StateError, match=r"q: got 'standing'; required: .*equations such as Standing\(\)"):
        simulate(standing(), "standing", 0.1)
