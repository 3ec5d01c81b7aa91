"""A run computes what it is asked for, when it is asked; it survives pickling; a batch answers by names."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context

import numpy as np
import pytest

from pucks import thrown
from tailwork.control import Constant, HoldPosture, RestTorques, Tracking, point_to_point
from tailwork.errors import ArgumentError, StateError, UnknownNameError
from tailwork.mechanics.compliant.impedance import friction_ratio
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import Run, Standing, simulate, simulate_batch
from tailwork.simulation.batch.chunk import Chunk
from tailwork.simulation.batch.data import batch_dataset, batch_values
from tailwork.simulation.record import Arrays, SampledTrajectory


@cache
def model() -> Model:
    """The 2020 quadruped with the pendulum tail."""
    return Model(liu2020("pendulum"))


def control() -> Constant:
    """Efforts that hold the stand."""
    return Constant(values=tuple(float(x) for x in model().static_torques(model().standing())))


def swung(samples: int = 11) -> Run:
    """20 ms of the stand with the tail in motion."""
    return simulate(model(), (model().standing(), [0.0] * 6 + [1.0, 2.0]), 0.02, control=control(), samples=samples)


def test_a_run_answers_without_its_data() -> None:
    """Neither the dataset nor its arrays are made for what the trajectory can tell; the answers are those of the
    data."""
    run = swung()
    assert isinstance(run.record, SampledTrajectory) and run.record.samples == 11
    answers = (
        run.duration,
        run.min_normal_force(),
        run.friction_needed(),
        run.energy_balance_error(),
        run.assumption_held(),
    )
    assert run.final_state and run.summary() and run.stopped is None and run.events == ()
    assert "arrays" not in vars(run.record)
    assert "dataset" not in vars(run.record.arrays)
    force = run.data["foot_force"].to_numpy()
    assert run.data is run.data and run.titled("again").data is run.data
    assert answers[0] == float(run.data["time"][-1] - run.data["time"][0])
    assert answers[1] == force[..., 2].min() and answers[2] == friction_ratio(force).max()


def test_the_final_state_is_the_integrators() -> None:
    """To the last bit; the data's last sample is the same to rounding."""
    run = swung()
    assert run.trajectory is not None
    last = run.trajectory.pieces[-1].steps.states[-1]
    np.testing.assert_array_equal(np.concatenate(run.final_state), last)
    np.testing.assert_allclose(run.final_state[0], run.data["q"][-1], rtol=0, atol=1e-15)


def test_xarray_is_imported_for_data_alone() -> None:
    code = (
        "import sys; from tailwork.simulation import simulate; from tailwork import Model, robots\n"
        "model = Model(robots.liu2020('pendulum'), 'none'); run = simulate(model, model.standing(), 0.01)\n"
        "run.summary(), run.final_state; assert not {'xarray', 'casadi', 'pyarrow', 'rich'} & sys.modules.keys()\n"
        "run.data; assert 'xarray' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("kind", ["pinned", "compliant"])
def test_a_pickled_run(kind: str) -> None:
    """What comes back has the same data bit by bit, the same model and the same answers."""
    run = swung() if kind == "pinned" else thrown(duration=0.01, samples=5)
    again = pickle.loads(pickle.dumps(run.titled("there and back")))
    assert isinstance(again.record, Arrays) and again.trajectory is None
    assert again.model.robot == run.model.robot and again.model.layout.drive() == run.model.layout.drive()
    assert again.data.drop_attrs(deep=False).identical(run.data.drop_attrs(deep=False))
    assert (again.summary(), again.changes, again.title) == (run.summary(), run.changes, "there and back")
    assert repr(again) == repr(run) and 2 <= len(repr(run).splitlines()) <= 8


def _duration(run: Run) -> float:
    return run.duration


def test_runs_in_a_process_pool() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(_duration, [swung()])) == [swung().duration]


def test_quantities_by_name() -> None:
    """run["phi_z"] and run["tau", "tail.ta"] are rows of `data`; a name that is none gets the nearest ones."""
    run = swung()
    assert run["phi_z"].equals(run.data["q"].sel(coordinate="phi_z")) and run["tau"].equals(run.data["tau"])
    assert run["tau", "tail.ta"].equals(run.data["tau"].sel(actuator="tail.ta")) and run["v_x"].equals(run["v", "v_x"])
    for key, said in ((("q", "phi_zz"), "did you mean 'phi_z'"), ("phi_zz", "did you mean 'phi_z'"), (3, "a known")):
        with pytest.raises(UnknownNameError, match=said):
            run[key]  # type: ignore[index]


def test_unknown_names_in_sel_offer_the_nearest() -> None:
    run, batch = swung(), simulate_batch(model(), model().standing(), 0.01)
    for data in (run.data, batch.data, pickle.loads(pickle.dumps(run.data))):
        with pytest.raises(UnknownNameError, match="did you mean 'phi_z'"):
            data["q"].sel(coordinate="phi_zz")
        with pytest.raises(UnknownNameError, match="coordinate: got 'phi'"):
            data["q"].sel(coordinate=["phi_z", "phi"])
        assert np.array_equal(data["q"].sel(coordinate=["phi_z"])[..., 0], data["q"].sel(coordinate="phi_z"))


def test_a_start_in_degrees_is_pointed_out() -> None:
    """An angle of more than a turn at the start; the same state in radians warns of nothing."""
    q = model().standing()
    for angle, count in ((60.0, 1), (np.radians(60.0), 0)):
        q[-1] = angle
        run = simulate(model(), q, 1e-3)
        assert sum("degrees" in said for said in run.warnings) == count
    for angle, count in ((60.0, 1), (np.radians(60.0), 0)):
        law = Tracking(limb="tail", coordinate="tb", profile=point_to_point(0.0, angle, 0.2), kp=300.0, kd=10.0)
        held = [RestTorques(), HoldPosture(at="joint", stiffness=200.0, damping=5.0)]
        run = simulate(model(), Standing(), 0.2, control=[*held, law])
        assert sum("degrees" in said for said in run.warnings) == count
    for angle in (60.0, np.radians(60.0)):  # legs so soft that they are torn straight before the tail has turned far
        law = Tracking(limb="tail", coordinate="tb", profile=point_to_point(0.0, angle, 0.2), kp=1000.0, kd=20.0)
        stopped = simulate(model(), Standing(), 0.2, control=[RestTorques(), law]).stopped
        assert ("tail.tb is to go around 9.55 times, to 60 rad: was it meant in degrees?" in str(stopped)) == (
            angle > 2
        )


def test_a_state_of_other_feet_is_pointed_out() -> None:
    """Of the same robot with no foot pinned, or with all: where to start. Any other length says no such thing."""
    pinned, free = model(), Model(model().robot, stance="none")
    with pytest.raises(StateError, match=r"it has the angles of the legs: start from Standing\(\) or posed\(model\)"):
        simulate(free, pinned.standing(), 0.01)
    with pytest.raises(StateError, match=r"it has no angles: start from Standing\(\) or model.standing\(\)"):
        simulate(pinned, free.standing(), 0.01)
    with pytest.raises(StateError, match=r"got shape \(7,\); required: \(8,\), or \(runs, 8\)$"):
        simulate(pinned, pinned.standing()[:-1], 0.01)


def test_a_tail_in_grams_is_pointed_out() -> None:
    """Of a robot whose number was exchanged, which warns of nothing by itself."""
    heavy = Model(model().robot.replace({"tail.mass": 600.0}))
    said = "the tail weighs 600 kg on a robot of 21.6 kg; masses are in kg: 600 g are 0.6"
    assert simulate(heavy, heavy.standing(), 1e-3).warnings == (said,)


def test_the_friction_ratio() -> None:
    """Tangential over normal force; infinite where a foot pulls or hangs."""
    forces = np.array([[[3.0, 4.0, 10.0], [0.0, 0.0, 1.0]], [[1.0, 0.0, -2.0], [0.0, 0.0, 0.0]]])
    np.testing.assert_array_equal(friction_ratio(forces), [[0.5, 0.0], [np.inf, np.inf]])


def test_a_batch_by_names() -> None:
    """Columns and measures by name; a dataset with parameters as coordinates."""
    masses, m = [0.5, 0.6, -1.0], model()

    def heights(chunk: Chunk) -> np.ndarray:
        return chunk.q[:, [0, -1], 2]

    batch = simulate_batch(m, (m.standing(), [0.0] * 6 + [1.0, 2.0]), 0.02, parameters={"tail.mass": masses},
                           control=control(), measures={"heights": heights})  # fmt: skip
    np.testing.assert_array_equal(batch_values(batch, "phi_z"), batch.q[:, 5])
    np.testing.assert_array_equal(batch_values(batch, "omega_x"), batch.v[:, 3])
    np.testing.assert_array_equal(batch_values(batch, "heights"), batch.measures["heights"])
    for name in ("phiz", "yaw"):
        with pytest.raises(UnknownNameError, match="did you mean 'phi_z'"):
            batch_values(batch, name)
    assert "ended early: 1 of 3: not possible: tail.mass: got -1" in batch.summary()
    data = batch_dataset(batch, {"tail.mass": masses})
    assert data.sizes == {"run": 3, "coordinate": 8, "velocity": 8, "heights_1": 2}
    np.testing.assert_array_equal(data["q"].sel(coordinate="phi_z"), batch.q[:, 5])
    assert data["tail.mass"].dims == ("run",) and data["tail.mass"].to_numpy().tolist() == masses
    assert data["stopped"].to_numpy().tolist() == list(batch.reasons) and data["q"].attrs["units"] == "m, rad"
    clash = simulate_batch(m, m.standing(), 0.001, control=control(), measures={"q": heights})
    with pytest.raises(ArgumentError, match="measures: got 'q'"):
        batch_dataset(clash)
