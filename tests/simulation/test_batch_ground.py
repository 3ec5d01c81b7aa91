"""Batches on compliant ground: each run is what it would be alone, with its own design, steps and contacts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tailwork.control import JointServo, held_posture, joint_table, trot, walking_start
from tailwork.errors import ArgumentError, StateError
from tailwork.model import Model
from tailwork.robots import biswal
from tailwork.simulation import Chunk, CompliantGround, Force, Pulse, simulate, simulate_batch
from tailwork.simulation.contact.ground import HeightField
from tailwork.typing import Floats

NUMBERS: dict[str, Any] = {"stiffness": 2e4, "damping": 1.0, "tangential_stiffness": 2e4, "tangential_damping": 20.0,
                           "static_friction": 0.8, "kinetic_friction": 0.6}  # fmt: skip
MASSES = np.array([0.05, 0.08, 0.1, 0.12, 0.2])  # of a shank [kg]
FEET = ("foot_force", "foot_impulse", "foot_work", "joint_work", "contact", "anchor")


def asked(friction: float = 0.8, surface: HeightField | None = None) -> tuple[Model, tuple[Floats, Floats], Any]:
    """The trot of the D-H quadruped: model, start and the rest."""
    robot = biswal()
    model = Model(robot, stance="none")
    gait = trot(robot, speed=0.15, frequency=2.0, lift=0.03)
    table = joint_table(model, gait)
    numbers = NUMBERS | {"static_friction": friction, "kinetic_friction": 0.7 * friction}
    how = {"ground": CompliantGround(**numbers, surface=surface), "control": JointServo(table=table, kp=30.0, kd=0.5)}
    return model, walking_start(model, gait, table), how


@pytest.mark.parametrize("friction", [0.8, 0.15])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_is_its_runs(friction: float, threads: int) -> None:
    """States, forces, impulses, work and contacts have the bits of single runs, also where feet slip; steps are chosen
    for each design."""
    model, start, how = asked(friction)
    measures = {name: lambda chunk, name=name: chunk.feet[name] for name in FEET}
    batch = simulate_batch(model, start, 0.3, parameters={"legs.shank_mass": MASSES}, measures=measures,
                           threads=threads, samples=31, **how)  # fmt: skip
    assert len(set(batch.steps.tolist())) > 1 and batch.method == "implicit-euler"
    for k, mass in enumerate(MASSES):
        own = Model(model.robot.replace({"legs.shank_mass": float(mass)}), stance="none")
        run = simulate(own, start, 0.3, samples=31, **how)
        np.testing.assert_array_equal(batch.q[k], run.final_state[0])
        np.testing.assert_array_equal(batch.v[k], run.final_state[1])
        assert (batch.reasons[k] == "") == (run.stopped is None)
        for name in FEET:
            np.testing.assert_array_equal(batch.measures[name][k], run.data[name].to_numpy(), err_msg=name)
    assert (batch.measures["contact"] == 2).any(axis=(1, 2)).all() or friction > 0.5  # all slip on slippery ground


def test_each_run_has_its_own_ground() -> None:
    """Stiffness and frictions of each run, with steps of its own and the bits that it has alone; a ground that holds
    less at rest than in motion refuses its run."""
    model, start, how = asked()
    numbers = {"ground.tangential_stiffness": [1e4, 4e4, 1e4], "ground.static_friction": [0.15, 0.6, 0.2],
               "ground.kinetic_friction": [0.1, 0.5, 0.3]}  # fmt: skip
    ground = how.pop("ground")
    batch = simulate_batch(model, start, 0.1, parameters=numbers, ground=ground, **how)
    assert batch.steps[0] < batch.steps[1]
    for k in range(2):
        own = ground.with_numbers({name.removeprefix("ground."): row[k] for name, row in numbers.items()})
        run = simulate(model, start, 0.1, ground=own, **how)
        np.testing.assert_array_equal(batch.q[k], run.final_state[0])
        np.testing.assert_array_equal(batch.v[k], run.final_state[1])
    assert batch.reasons[2].startswith("not possible: kinetic_friction: got 0.3; required: at most the static friction")


def test_a_batch_goes_on_where_another_has_ended() -> None:
    """Feet that stand in the ground, each at the end of its own spring: as single runs that go on."""
    model, (q, v), how = asked()
    rows, rates = np.tile(q, (3, 1)), np.tile(v, (3, 1))
    rates[:, 0] += np.array([0.0, 0.02, 0.04])
    first = simulate_batch(model, (rows, rates), 0.1, **how)
    later = simulate_batch(model, (first.q, first.v), 0.1, contact=first.final_contacts, **how)
    for k in range(3):
        run = simulate(model, (rows[k], rates[k]), 0.1, **how)
        np.testing.assert_array_equal(run.final_contact.anchors, first.final_contacts[k].anchors)
        further = simulate(model, run.final_state, 0.1, contact=run.final_contact, **how)
        np.testing.assert_array_equal(further.final_state[0], later.q[k])
    assert not any(first.reasons) and not any(later.reasons)


def test_the_order_of_runs_does_not_matter() -> None:
    """Lanes that take one run after the other leave nothing behind, also where feet slip."""
    model, start, how = asked(0.15)
    masses = np.linspace(0.05, 0.2, 21)
    order = np.random.default_rng(3).permutation(21)
    one = simulate_batch(model, start, 0.1, parameters={"legs.shank_mass": masses}, threads=1, **how)
    other = simulate_batch(model, start, 0.1, parameters={"legs.shank_mass": masses[order]}, threads=2, **how)
    np.testing.assert_array_equal(other.q, one.q[order])
    np.testing.assert_array_equal(other.v, one.v[order])


def test_efforts_of_servos() -> None:
    """A measure sees the efforts that the servos of each run give, to rounding of the times of samples; those of a gait
    that is entered later, too."""
    model, start, how = asked()
    how["start_time"] = 0.07

    def efforts(chunk: Chunk) -> Floats:
        return chunk.tau

    batch = simulate_batch(model, start, 0.1, measures={"tau": efforts}, samples=11, **how)
    run = simulate(model, start, 0.1, samples=11, **how)
    np.testing.assert_allclose(batch.measures["tau"][0], run.data["tau"].to_numpy(), rtol=0, atol=1e-12)


def test_a_run_that_ends_has_its_own_status() -> None:
    """One that leaves the height field ends there, the others go on; what cannot start is refused and says why."""
    field = HeightField(x=(-0.5, 0.5), y=(-0.5, 0.5), heights=np.zeros((3, 3)))
    model, (q, v), how = asked(surface=field)
    rows, rates = np.tile(q, (3, 1)), np.tile(v, (3, 1))
    rows[1, 2] -= 0.1
    rates[2, 0] = 8.0
    batch = simulate_batch(model, (rows, rates), 0.2, measures={"q": lambda chunk: chunk.q}, samples=41, **how)
    assert batch.reasons[0] == ""
    assert "under the ground" in batch.reasons[1] and batch.reasons[1].startswith("not possible")
    assert batch.reasons[2] == "a foot leaves the height field" and 0.0 < batch.times[2] < 0.2
    alone = simulate(model, (rows[2], rates[2]), 0.2, **how)
    assert alone.stopped is not None and alone.stopped.time == batch.times[2]
    np.testing.assert_array_equal(batch.q[2], alone.final_state[0])
    after = np.linspace(0.0, 0.2, 41) > batch.times[2]
    np.testing.assert_array_equal(np.isnan(batch.measures["q"][2]).all(axis=1), after)
    np.testing.assert_array_equal(batch.energy_balance_error()[2], alone.energy_balance_error())
    assert batch.warnings[:2] == ("", "")


def test_a_batch_says_what_is_wrong() -> None:
    """A robot whose motors give way has fallen, and says so as alone; energy balances as alone, with a force too."""
    model, start, how = asked()
    push = Force(x=Pulse(size=3.0, start=0.05, duration=0.1), point=(0.0, 0.0, 0.05))
    gains = {"control.1.kp": [30.0, 0.03], "control.1.kd": [0.5, 0.01]}
    batch = simulate_batch(model, start, 0.4, forces=push, parameters=gains, **how)
    weak = JointServo(table=how["control"].table, kp=0.03, kd=0.01)
    for k, servo in enumerate((how["control"], weak)):
        run = simulate(model, start, 0.4, forces=push, ground=how["ground"], control=servo)
        assert batch.energy_balance_error()[k] == run.energy_balance_error() < 0.01
        assert bool(batch.warnings[k]) == any("fallen" in what for _, what in run.events) == (k == 1)
    assert "the robot has fallen, or nothing holds that limb" in batch.warnings[1]


def test_a_batch_of_which_nothing_is_possible() -> None:
    """Each run says why; numbers are NaN."""
    model, start, how = asked()
    batch = simulate_batch(model, start, 0.3, parameters={"legs.shank_mass": MASSES}, step=1e-3, max_steps=10, **how)
    assert all("max_steps: got 10; required: at least 300" in reason for reason in batch.reasons)
    assert np.isnan(batch.q).all() and np.isnan(batch.energy_balance_error()).all() and batch.warnings == ("",) * 5


def test_designs_walk_by_their_own_tables() -> None:
    """Legs of other lengths start and walk by tables of their own, to the bits of single runs; tables that do not suit
    are refused."""
    model, _, how = asked()
    lengths, tables, starts, runs = [0.09, 0.1, 0.12], [], [], []
    for length in lengths:
        own = Model(model.robot.replace({"legs.shank_length": length}), stance="none")
        gait = trot(own.robot, speed=0.15, frequency=2.0, lift=0.03)
        tables.append(joint_table(own, gait))
        starts.append(walking_start(own, gait, tables[-1]))
        servo = JointServo(table=tables[-1], kp=30.0, kd=0.5)
        runs.append(simulate(own, starts[-1], 0.2, ground=how["ground"], control=servo, samples=11))
    states = tuple(np.stack(rows) for rows in zip(*starts, strict=True))
    varied: dict[str, Any] = {"legs.shank_length": lengths, "control.1.table": tables}
    batch = simulate_batch(model, states, 0.2, parameters=varied, samples=11,
                           measures={"tau": lambda chunk: chunk.tau}, **how)  # fmt: skip
    assert batch.reasons == ("", "", "")
    for k, run in enumerate(runs):
        np.testing.assert_array_equal(batch.q[k], run.final_state[0])
        np.testing.assert_allclose(batch.measures["tau"][k], run.data["tau"].to_numpy(), rtol=0, atol=1e-12)
    with pytest.raises(ArgumentError, match=r"control.1.table: .* required: a list of joint tables, one a run"):
        simulate_batch(model, states, 0.2, parameters=varied | {"control.1.table": 3.0}, **how)
    short = held_posture(model, states[0][0])
    with pytest.raises(ArgumentError, match=r"control.1.table: .* required: tables of 120 rows for leg1.ha, "):
        simulate_batch(model, states, 0.2, parameters=varied | {"control.1.table": [*tables[:2], short]}, **how)


def test_what_a_batch_on_ground_does_not_tell() -> None:
    """Feet of a batch without ground, and samples at other times on ground, are refused."""
    model, start, how = asked()

    def again(chunk: Chunk) -> Floats:
        return chunk.again(np.zeros((2, 3))).q

    with pytest.raises(StateError, match="on ground"):
        simulate_batch(model, start, 0.01, measures={"again": again}, **how)
    with pytest.raises(ArgumentError, match="to_end: got True; required: False on ground"):
        simulate_batch(model, start, 0.01, to_end=True, **how)
    with pytest.raises(StateError, match="required: a batch on ground"):
        simulate_batch(model, start, 0.01, measures={"feet": lambda chunk: chunk.feet["contact"]})
